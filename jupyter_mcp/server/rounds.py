"""Several rounds of one call (2026-07-28): what was answered so far, and the signed state that carries it.

The server need not hold anything between rounds. What earlier rounds answered travels through the client in
`requestState`, which is signed (HMAC-SHA256) and bound to the method, the name and arguments, the principal and a time,
so that it serves no other call. It is readable by the client, who gave those answers.

`Ledger` is the replay: the handler runs again from the top, and each question it asks finds its recorded answer by its
key. A key made from the order of the questions is only good for the very same question; a key the author gave
(`key="seat"`) is good for any wording of it. Where the handler waits for the answer instead (`parking`), the state
says which one it is (`held`), and the ledger is kept all the same: another process can go on with it.

Above: `run`, `parking`. Source: spec 2026-07-28 "Multi Round-Trip Requests".
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.server.values import plain

if TYPE_CHECKING:
    from jupyter_mcp.server.detached import DetachedRun

_VERSION = "v1"
STATE_SECONDS = 900.0
"""How long a client may take to answer."""
MAX_ATTEMPTS = 3
"""How often one question is put again when the answer does not fit."""


class InvalidState(Exception):
    """A requestState that is not ours, not for this call, or too old."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it is asked: method, params, and the digest of what it is (see `questions.digest_of`)."""

    method: str
    params: dict[str, Any] | None
    digest: str

    def request(self) -> dict[str, Any]:
        """As one of the `inputRequests`."""
        return {"method": self.method} if self.params is None else {"method": self.method, "params": self.params}


class NeedInput(BaseException):
    """A round ends with questions (BaseException: a handler's `except Exception` must not stop it on its way).

    Attributes:
        questions: key -> what to ask.
        run: the handler that waits for the answers (a `DetachedRun`); None when it is to be run again with them.
    """

    def __init__(self, questions: Mapping[str, Asked], run: DetachedRun | None = None) -> None:
        super().__init__()
        self.questions = dict(questions)
        self.run = run


@dataclass
class Ledger:
    """The answers of earlier rounds, and what the last round asked.

    Attributes:
        answers: key -> [digest of the question, the client's bare result].
        asked: key -> digest, what the round before asked; None when the client sent answers without a state.
        attempts: key -> how many answers to it did not fit.
        state: the author's own state (`InputRequired.state`).
        responses: what this request brought, by key.
        held: which waiting handler the state belongs to; None when there is none.
    """

    answers: dict[str, list[Any]] = field(default_factory=dict[str, "list[Any]"])
    asked: dict[str, str] | None = None
    attempts: dict[str, int] = field(default_factory=dict[str, int])
    state: Any = None
    responses: dict[str, Any] = field(default_factory=dict[str, Any])
    held: str | None = None

    def receive(self, responses: Mapping[str, Any]) -> None:
        """Take this round's answers; what nobody asked for is ignored."""
        for key, response in responses.items():
            if not isinstance(response, Mapping) or (self.asked is not None and key not in self.asked):
                continue
            self.responses[key] = response
            self.answers[key] = ["" if self.asked is None else self.asked[key], response]

    def answer(self, key: str, digest: str, *, named: bool) -> Mapping[str, Any] | None:
        """The recorded answer to a question, if there is one that may be used for it.

        Args:
            named: the author chose the key, so that another wording of the question is still the same question.
        """
        recorded = self.answers.get(key)
        if recorded is None or not (named or recorded[0] in ("", digest)):
            return None
        return cast("Mapping[str, Any]", recorded[1])

    def refuse(self, key: str) -> int:
        """The answer under `key` does not fit: forget it. Returns how often that happened to this key."""
        self.answers.pop(key, None)
        self.attempts[key] = self.attempts.get(key, 0) + 1
        return self.attempts[key]


class StateKeeper:
    """Signs and opens `requestState`.

    Args:
        key: the secret; by default random, so that a state is good in this process only. Servers that run in several
            processes share one of at least 32 bytes.
        server: the server's name; another server with the same key does not take its states.
        seconds: how long a state is good.
        clock: for tests.
    """

    def __init__(
        self,
        key: bytes | None = None,
        *,
        server: str = "",
        seconds: float = STATE_SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        shared = key if key is not None else secrets.token_bytes(32)
        self._key = hmac.new(shared, f"requestState of {server}".encode(), hashlib.sha256).digest()
        self._seconds = seconds
        self._clock = clock

    @property
    def seconds(self) -> float:
        """How long a state is good."""
        return self._seconds

    def seal(self, ledger: Ledger, asked: Mapping[str, str], binding: str, *, held: str | None = None) -> str:
        """The state to send with questions; `binding` is what `bind` made of the request."""
        body = {
            "b": binding,
            "e": int(self._clock() + self._seconds),
            "a": ledger.answers,
            "w": dict(asked),
            **({"t": ledger.attempts} if ledger.attempts else {}),
            **({"u": plain(ledger.state)} if ledger.state is not None else {}),
            **({"h": held} if held is not None else {}),
        }
        payload = _b64(json.dumps(body, separators=(",", ":")).encode())
        return f"{_VERSION}.{payload}.{self._sign(payload)}"

    def open(self, state: object, binding: str) -> Ledger:
        """The ledger a state holds. Raises `InvalidState`."""
        if not isinstance(state, str):
            raise InvalidState("requestState must be a string")
        parts = state.split(".")
        if len(parts) != 3 or parts[0] != _VERSION or not state.isascii():
            raise InvalidState("requestState was not made by this server")
        if not hmac.compare_digest(parts[2], self._sign(parts[1])):
            raise InvalidState("requestState was changed, or was not made by this server process")
        try:
            body = json.loads(_unb64(parts[1]))
        except (ValueError, binascii.Error):
            raise InvalidState("requestState was not made by this server") from None
        if body["e"] < self._clock():
            raise InvalidState("requestState has expired; call again from the beginning")
        if not hmac.compare_digest(str(body["b"]), binding):
            raise InvalidState("requestState belongs to another call")
        return Ledger(body["a"], body["w"], body.get("t", {}), body.get("u"), held=body.get("h"))

    def _sign(self, payload: str) -> str:
        return _b64(hmac.new(self._key, f"{_VERSION}.{payload}".encode(), hashlib.sha256).digest())


def bind(method: str, params: Mapping[str, Any], principal: str) -> str:
    """What a state is good for: this method on this thing with these arguments by this principal."""
    salient: list[Any] = [method, params.get("name"), params.get("uri"), params.get("arguments") or {}, principal]
    text = json.dumps(salient, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _unb64(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
