"""One request while it is being handled: who asks, at which revision, and how its handler talks back.

The two eras meet here and nowhere above: a question is a request on the pipe in the legacy era, and the end of the
round in the modern one. `Peer` is the client as this request knows it; a session holds one for its lifetime, a
stateless request brings its own. Handlers see an `Exchange` only through their `Context`.

Below: `rounds`, `questions`. Above: `context`, `dispatch`. No transport is known here; messages leave by `post`.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from jupyter_mcp.errors import Cancelled, InputRefused, RemoteProtocolError, RequestError, UsageError
from jupyter_mcp.protocol import jsonrpc
from jupyter_mcp.protocol.modern import LOG_LEVELS
from jupyter_mcp.protocol.revisions import Era, Features, era, features
from jupyter_mcp.server.forms import InvalidAnswer
from jupyter_mcp.server.questions import Elicit, Question, check_allowed, digest_of
from jupyter_mcp.server.rounds import MAX_ATTEMPTS, Ledger, NeedInput
from jupyter_mcp.server.values import plain

AskClient = Callable[[str, "dict[str, Any] | None"], Awaitable[Mapping[str, Any]]]
_DEFAULT_LEVEL = "info"


@dataclass
class Peer:
    """The client, as far as it declared itself.

    Attributes:
        revision: the protocol revision spoken with it.
        capabilities: what it declared.
        info: its name and version; for display only.
        principal: who it is to the transport's authentication; "" on a pipe.
        ask: sends it a request and brings the bare result (legacy); None where the era has no such requests.
        log_level: the least level it wants (legacy `logging/setLevel`); None when it did not say.
    """

    revision: str
    capabilities: Mapping[str, Any]
    info: Mapping[str, Any] = field(default_factory=dict[str, Any])
    principal: str = ""
    ask: AskClient | None = None
    log_level: str | None = None

    @property
    def features(self) -> Features:
        return features(self.revision)

    @property
    def era(self) -> Era:
        return era(self.revision)


class Exchange:
    """One request.

    Args:
        method, params, id: the request.
        peer: who sent it.
        post: takes a notification that belongs to this request; callable on the loop only.
        log_level: modern: the level this request asked for, None for no messages.
        progress_token: put into progress notifications; None sends none.
        ledger: what earlier rounds answered.
        ask: sends the client a question that belongs to this request (legacy); by default the peer's own way.

    Attributes:
        cancelled: the client gave the request up, or is gone: no response will be sent.
    """

    def __init__(
        self,
        method: str,
        params: dict[str, Any],
        id: jsonrpc.Id,
        peer: Peer,
        post: Callable[[dict[str, Any]], Awaitable[None]],
        *,
        log_level: str | None = None,
        progress_token: jsonrpc.Id | None = None,
        ledger: Ledger | None = None,
        ask: AskClient | None = None,
    ) -> None:
        self.method = method
        self.params = params
        self.id = id
        self.peer = peer
        self.features = peer.features
        self.ledger = ledger or Ledger()
        self.cancelled = False
        self.loop = asyncio.get_running_loop()
        self.post = post
        self.ask_client = ask or peer.ask
        self._log_level = log_level
        self._progress_token = progress_token
        self._progress = -math.inf
        self._asked = 0
        self._on_cancel: set[Callable[[], object]] = set()

    # --- cancelling

    def cancel(self) -> None:
        """The client gave up: whatever waits in the handler's context ends (on the loop)."""
        self.cancelled = True
        for callback in list(self._on_cancel):
            callback()

    def on_cancel(self, callback: Callable[[], object]) -> Callable[[], None]:
        """Have `callback` called when the request is cancelled; returns how to take it back. Any thread."""
        self._on_cancel.add(callback)
        if self.cancelled:
            callback()
        return lambda: self._on_cancel.discard(callback)

    def check(self) -> None:
        """Raises `Cancelled` when the client gave this request up."""
        if self.cancelled:
            raise Cancelled("The client cancelled this call.")

    # --- progress and log

    def progress(self, done: float, total: float | None, message: str | None) -> dict[str, Any] | None:
        """The progress notification to send, or None: nobody asked for it, or it does not go forward."""
        self.check()
        if self._progress_token is None or not math.isfinite(done) or done <= self._progress:
            return None
        self._progress = done
        params: dict[str, Any] = {"progressToken": self._progress_token, "progress": done}
        if total is not None and math.isfinite(total):
            params["total"] = total
        if message is not None and self.features.progress_message:
            params["message"] = message
        return jsonrpc.notification("notifications/progress", params)

    def log(self, level: str, data: Any, logger: str | None) -> dict[str, Any] | None:
        """The log notification to send, or None when the client does not want this level."""
        if level not in LOG_LEVELS:
            raise UsageError(f"There is no log level {level!r}; the levels are {', '.join(LOG_LEVELS)}.")
        self.check()
        least = self._log_level if self.peer.era == "modern" else self.peer.log_level or _DEFAULT_LEVEL
        if least is None or LOG_LEVELS.index(level) < LOG_LEVELS.index(least):
            return None
        params = {"level": level, **({"logger": logger} if logger else {}), "data": plain(data)}
        return jsonrpc.notification("notifications/message", params)

    # --- questions

    def replay(self, questions: Mapping[str | None, Question]) -> dict[str | None, Any]:
        """Modern: the answers that earlier rounds brought.

        Args:
            questions: key -> question; the key None is made from the order of asking.

        Raises:
            NeedInput: some are missing or do not fit; it carries them through the handler.
            MissingCapability: the client does not answer such questions.
            RemoteProtocolError: the client's answers did not fit again and again.
        """
        self.check()
        answers: dict[str | None, Any] = {}
        missing: dict[str, tuple[str, dict[str, Any] | None]] = {}
        asked: dict[str, str] = {}
        for given_key, question in questions.items():
            key = given_key if given_key is not None else self._next_key()
            params = check_allowed(question, self.peer.capabilities, self.features)
            digest = digest_of(question.method, params)
            recorded = self.ledger.answer(key, digest, named=given_key is not None)
            if recorded is not None:
                try:
                    answers[given_key] = question.read(recorded)
                    continue
                except InvalidAnswer as error:
                    if self.ledger.refuse(key) >= MAX_ATTEMPTS:
                        raise _never_fits(question, error) from None
                    params = _again(question, params, error)
            missing[key] = (question.method, params)
            asked[key] = digest
        if missing:
            raise NeedInput(missing, asked)
        return answers

    async def ask(self, questions: Mapping[str | None, Question]) -> dict[str | None, Any]:
        """Put questions to the client and wait for all answers.

        Raises:
            NeedInput: modern: the round ends here (see `replay`).
            MissingCapability, RemoteProtocolError: as in `replay`.
            InputRefused: the client answered with an error.
            ConnectionLost: it went away meanwhile.
        """
        if self.ask_client is None:
            return self.replay(questions)
        self.check()
        prepared = {
            key: (question, check_allowed(question, self.peer.capabilities, self.features))
            for key, question in questions.items()
        }
        try:
            if len(prepared) == 1:
                key, (question, params) = next(iter(prepared.items()))
                return {key: await self._ask_one(question, params)}
            async with asyncio.TaskGroup() as group:
                tasks = {key: group.create_task(self._ask_one(*pair)) for key, pair in prepared.items()}
            return {key: task.result() for key, task in tasks.items()}
        except BaseExceptionGroup as several:
            raise several.exceptions[0] from None

    async def collect(self, requests: Mapping[str, tuple[str, dict[str, Any] | None]]) -> dict[str, Any]:
        """Legacy: the bare answers to several requests, for a handler that asks by its own hand."""
        ask = self.ask_client
        assert ask is not None
        try:
            answers = await asyncio.gather(*(ask(method, params) for method, params in requests.values()))
        except RequestError as error:
            raise InputRefused(f"The client refused to answer: {error.message}") from None
        return dict(zip(requests, answers, strict=True))

    async def _ask_one(self, question: Question, params: dict[str, Any] | None) -> Any:
        ask = self.ask_client
        assert ask is not None
        attempts = 0
        while True:
            self.check()
            try:
                result = await ask(question.method, params)
            except RequestError as error:
                raise InputRefused(f"The client refused {_noun(question)}: {error.message}") from None
            try:
                return question.read(result)
            except InvalidAnswer as error:
                attempts += 1
                if attempts >= MAX_ATTEMPTS:
                    raise _never_fits(question, error) from None
                params = _again(question, question.params(self.features), error)

    def _next_key(self) -> str:
        self._asked += 1
        return f"q{self._asked}"


def _noun(question: Question) -> str:
    return {"elicitation/create": "the question", "sampling/createMessage": "to sample"}.get(
        question.method, "its roots"
    )


def _never_fits(question: Question, error: InvalidAnswer) -> RemoteProtocolError:
    return RemoteProtocolError(f"The client's answer to {question.method} does not fit, {MAX_ATTEMPTS} times: {error}.")


def _again(question: Question, params: dict[str, Any] | None, error: InvalidAnswer) -> dict[str, Any] | None:
    """The question once more, saying what was wrong with the answer."""
    if params is None or not isinstance(question, Elicit):
        return params
    return {**params, "message": f"{question.message}\n\nThe last answer did not fit: {error}."}
