"""Who came to a notebook's server, what they read, and how much of it they may.

A client is known by what it says about itself, which is its own word: good for a card, not for a decision about trust
(the token is that). Everything kept is bounded, shortened and without secrets. Loop only, but for reading.
"""

from __future__ import annotations

import logging
import math
import time
from collections import OrderedDict, deque
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.errors import MCPError
from jupyter_mcp.host.listeners import tell
from jupyter_mcp.kernel.masking import redact
from jupyter_mcp.protocol.shapes import mapping_of
from jupyter_mcp.server.exchange import Exchange
from jupyter_mcp.server.failures import Failure

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jupyter_mcp.server.exchange import AskClient
    from jupyter_mcp.server.http.guard import Refusal

__all__ = ["TOO_MANY", "Act", "Visitor", "Visitors"]

TOO_MANY = -31429
"""JSON-RPC code of "too many requests"; outside the range that the specification keeps for itself."""
RATE, BURST = 500.0, 2_000.0
RATE_OF_ALL, BURST_OF_ALL = 2_000.0, 8_000.0
MOST_RUNNING = 32
"""Requests of one client that run at once."""
MOST_VISITORS = 100
MOST_ACTS = 200
MOST_ASKED = 200
"""Rounds of questions whose answers may still come."""
_LONGEST = 120
_WATCHING = ("subscriptions/listen", "resources/subscribe")
_ASKED = {"sampling/createMessage": "a model's answer", "roots/list": "its folders"}
_OUTCOMES = {"accept": "accepted", "decline": "declined", "cancel": "cancelled"}
_ENDS = ("denied", "busy", "interrupted")  # of calls that ended without a result, and did not fail by themselves
_KEPT = {"tools/call": "call", "resources/read": "read", "resources/subscribe": "watch", "prompts/get": "prompt"}

log = logging.getLogger("jupyter_mcp.kernel")
clock = time.monotonic


@dataclass(slots=True)
class Bucket:
    """So many a second, and some at once."""

    rate: float
    burst: float
    level: float = 0.0
    since: float = field(default_factory=lambda: clock())

    def take(self) -> float:
        """Seconds to wait for the next; 0.0 when one was taken."""
        now = clock()
        self.level = max(0.0, self.level - (now - self.since) * self.rate)
        self.since = now
        if self.level + 1 > self.burst:
            return (self.level + 1 - self.burst) / self.rate
        self.level += 1
        return 0.0


@dataclass(slots=True)
class Visitor:
    """One client.

    Attributes:
        name, version: its own words, shortened.
        first, last: when it was heard of, in seconds since 1970.
        requests, refused: how many it made, and how many of them were too many.
    """

    name: str
    version: str
    first: float
    last: float
    requests: int = 0
    refused: int = 0
    bucket: Bucket = field(default_factory=lambda: Bucket(RATE, BURST), repr=False)
    running: set[Exchange] = field(default_factory=set[Exchange], repr=False)


@dataclass(frozen=True, slots=True)
class Act:
    """Something that was done, or refused.

    Attributes:
        at: when, in seconds since 1970.
        client: whose name; "" when nobody got that far.
        kind: "read", "call", "watch", "prompt", "refused", or "asked": what a call of this client asked it back.
        what: the address within the notebook, the tool and what it was called for, what was asked, or why it was
            refused.
        ok: whether it was answered without an error.
        outcome: of a question: "no answer yet", "accepted", "declined", "cancelled", "answered", "refused"; of a
            call that was not done: "denied", "busy", "interrupted"; else "".
    """

    at: float
    client: str
    kind: str
    what: str
    ok: bool
    outcome: str = ""


class Visitors:
    """The book of one server.

    Args:
        base: what the addresses of the notebook begin with; not repeated in what is kept.

    Attributes:
        on_event: called when there is something new to show; on the loop.
        on_watch: called when a client began to watch something; on the loop.
    """

    def __init__(self, base: str) -> None:
        self._base = base
        self._visitors: OrderedDict[tuple[str, str, str], Visitor] = OrderedDict()
        self._acts: deque[Act] = deque(maxlen=MOST_ACTS)
        self._asked: OrderedDict[str, dict[str, Act]] = OrderedDict()  # by the state that comes back with the answers
        self._all = Bucket(RATE_OF_ALL, BURST_OF_ALL)
        self.on_event: list[Callable[[], object]] = []
        self.on_watch: Callable[[], object] | None = None

    def clients(self) -> list[Visitor]:
        """Who came, the last one first. Any thread."""
        return sorted(self._visitors.copy().values(), key=lambda one: -one.last)

    def acts(self) -> list[Act]:
        """What was done, the last first. Any thread."""
        return list(self._acts.copy())[::-1]

    # --- what the server calls

    def admit(self, exchange: Exchange) -> None:
        """A request has come. Raises Failure when there are too many."""
        visitor = self._visitor(exchange)
        visitor.last = time.time()
        visitor.requests += 1
        wait = visitor.bucket.take() or self._all.take()
        if wait:
            wait = math.ceil(wait * 10) / 10
            text = f"Too many requests: this notebook takes {RATE:.0f} a second; try again in {wait:g} s."
            raise self._too_many(visitor, text, wait)
        if exchange.method in _KEPT:
            if len(visitor.running) >= MOST_RUNNING:
                text = f"Too many requests: {MOST_RUNNING} of this client are running; wait until one has its answer."
                raise self._too_many(visitor, text, 1.0)
            visitor.running.add(exchange)
            exchange.on_cancel(lambda: visitor.running.discard(exchange))
            self._hear_answers(exchange)
        if exchange.method in _WATCHING and self.on_watch is not None:
            exchange.loop.call_soon(self.on_watch)  # when it has been worked on
        if exchange.method == "subscriptions/listen":
            self._listens(visitor, exchange.params)
        elif visitor.requests == 1:
            self._tell()

    def answered(self, exchange: Exchange, message: Mapping[str, Any]) -> None:
        """A request has its answer."""
        kind = _KEPT.get(exchange.method)
        if kind is None:
            return
        visitor = self._visitor(exchange)
        visitor.running.discard(exchange)
        result = mapping_of(message.get("result"))
        if result.get("resultType") == "input_required":
            self._asks(visitor, exchange, result)
            return  # the act goes on
        failed = result.get("isError") is True
        what = self._subject(exchange.method, exchange.params)
        status = mapping_of(result.get("structuredContent")).get("status")
        outcome = str(status) if failed and status in _ENDS else ""
        self._note(Act(time.time(), visitor.name, kind, what, "error" not in message and not failed, outcome))

    def refused(self, refusal: Refusal) -> None:
        """Somebody was turned away at the door."""
        self._note(Act(time.time(), "", "refused", _short(f"{refusal.status}: {refusal.text}"), False))

    # --- what a call asks its client

    def _asks(self, visitor: Visitor, exchange: Exchange, result: Mapping[str, Any]) -> None:
        """A round ended with questions (2026-07-28); the client comes back with the answers and this state."""
        state, requests = result.get("requestState"), mapping_of(result.get("inputRequests"))
        asked = {key: self._question(visitor, exchange, mapping_of(request)) for key, request in requests.items()}
        if isinstance(state, str) and asked:
            self._asked[state] = asked
            if len(self._asked) > MOST_ASKED:
                self._asked.popitem(last=False)

    def _hear_answers(self, exchange: Exchange) -> None:
        """A call has come: it may bring answers, and in the legacy era it may ask while it runs."""
        state = exchange.params.get("requestState")
        asked = self._asked.pop(state, {}) if isinstance(state, str) else {}
        answers = mapping_of(exchange.params.get("inputResponses"))
        for key, act in asked.items():
            if key in answers:
                self._replace(act, _outcome(mapping_of(answers[key])))
        if exchange.ask_client is not None:
            exchange.ask_client = self._heard(exchange, exchange.ask_client)

    def _heard(self, exchange: Exchange, ask: AskClient) -> AskClient:
        async def heard(method: str, params: dict[str, Any] | None) -> Mapping[str, Any]:
            act = self._question(self._visitor(exchange), exchange, {"method": method, "params": params})
            outcome = "cancelled"
            try:
                answer = await ask(method, params)
                outcome = _outcome(answer)
                return answer
            except MCPError:
                outcome = "refused"
                raise
            finally:
                self._replace(act, outcome)

        return heard

    def _question(self, visitor: Visitor, exchange: Exchange, request: Mapping[str, Any]) -> Act:
        said = mapping_of(request.get("params")).get("message")
        what = f"“{said}”" if isinstance(said, str) else _ASKED.get(str(request.get("method")), "something")
        text = _short(f"by {self._subject(exchange.method, exchange.params)}: {what}")
        act = Act(time.time(), visitor.name, "asked", text, True, "no answer yet")
        self._note(act)
        return act

    def _replace(self, act: Act, outcome: str) -> None:
        """The same line says how it ended, if it is still there."""
        for place, one in enumerate(self._acts):
            if one is act:
                self._acts[place] = replace(act, outcome=outcome, ok=outcome != "refused")
                self._tell()
                return

    # --- inside

    def _too_many(self, visitor: Visitor, text: str, wait: float) -> Failure:
        visitor.refused += 1
        if visitor.refused == 1 or visitor.refused % 100 == 0:
            self._note(Act(time.time(), visitor.name, "refused", f"{visitor.refused} requests too many", False))
        return Failure(TOO_MANY, text, {"retryAfter": wait})

    def _visitor(self, exchange: Exchange) -> Visitor:
        info = exchange.peer.info
        if exchange.method == "initialize":
            given = exchange.params.get("clientInfo")
            info = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
        name, version = _short(info.get("name")) or "a client", _short(info.get("version"))
        key = (exchange.peer.principal, name, version)
        found = self._visitors.get(key)
        if found is None:
            now = time.time()
            found = self._visitors[key] = Visitor(name, version, now, now)
            if len(self._visitors) > MOST_VISITORS:
                self._visitors.popitem(last=False)
        self._visitors.move_to_end(key)
        return found

    def _listens(self, visitor: Visitor, params: Mapping[str, Any]) -> None:
        wanted: Any = params.get("notifications")
        uris: Any = cast("dict[str, Any]", wanted).get("resourceSubscriptions") if isinstance(wanted, dict) else None
        for uri in cast("list[Any]", uris)[:20] if isinstance(uris, list) else ():
            self._note(Act(time.time(), visitor.name, "watch", self._address(uri), True))

    def _subject(self, method: str, params: Mapping[str, Any]) -> str:
        if method in ("resources/read", "resources/subscribe"):
            return self._address(params.get("uri"))
        arguments: Any = params.get("arguments")
        about: Any = cast("dict[str, Any]", arguments).get("name") if isinstance(arguments, dict) else None
        return _short(f"{params.get('name')} {about}" if isinstance(about, str) else params.get("name"))

    def _address(self, uri: object) -> str:
        return _short(uri.removeprefix(f"{self._base}/") if isinstance(uri, str) else "")

    def _note(self, act: Act) -> None:
        self._acts.append(act)
        self._tell()

    def _tell(self) -> None:
        tell(self.on_event, log=log, what="the visitors")


def _outcome(answer: Mapping[str, Any]) -> str:
    """Of a question, by the client's answer; what it holds is not kept."""
    return _OUTCOMES.get(str(answer.get("action")), "answered")


def _short(text: object) -> str:
    """A client's word as it may be shown: one line, no control characters, no secrets, not long."""
    return _shown(text[: 4 * _LONGEST]) if isinstance(text, str) else ""


@lru_cache(maxsize=1024)
def _shown(text: str) -> str:
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    shown = str(redact(" ".join(plain.split())))
    return shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1] + "…"
