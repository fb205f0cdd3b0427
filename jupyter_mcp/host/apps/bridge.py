"""The bridge between one page and us: a state machine. What comes in is a message, what comes out is a list of events.

    new  --proxy ready-->  loading  --ui/initialize-->  initializing  --initialized-->  open  -->  closing  -->  closed
                              ^                              |                            |
                              +----- the frame is made anew, or the page loads itself again

Nothing but answers is sent before the page has said that it is initialized; then the arguments of the call, once, and
after them its result or that it was cancelled. A page that begins again (a notebook that is scrolled makes its frames
anew) is told again. What is not known is answered by an error, what is too much by one, too, or is dropped.

No I/O and no clock: `session` does what `Asked` says and brings the answer back by `answer` or `refuse`.

Source: SEP-1865 "Communication Protocol", "Lifecycle", revision 2026-01-26.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeGuard

from jupyter_mcp.host.apps import context, messages
from jupyter_mcp.host.apps.events import (
    Asked,
    Ended,
    Flooded,
    Logged,
    Opened,
    Reported,
    Resized,
    Send,
    WantsToGo,
    Withdrawn,
)
from jupyter_mcp.host.apps.limits import Bucket, Limits
from jupyter_mcp.host.apps.messages import ERROR, Refusal
from jupyter_mcp.host.apps.meta import PROTOCOL_VERSION
from jupyter_mcp.protocol.jsonrpc import INVALID_REQUEST
from jupyter_mcp.protocol.shapes import is_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.host.apps.events import Event, Id

__all__ = ["Bridge", "Phase"]

Phase = Literal["new", "loading", "initializing", "open", "closing", "closed"]
_DISPLAY_MODES = ("inline", "fullscreen")
_LONGEST_ID = 200


class Bridge:
    """One page.

    Args:
        resource: the params of `ui/notifications/sandbox-resource-ready` (see `sandbox`).
        host: `hostInfo`.
        capabilities: `hostCapabilities`.
        tool: `toolInfo` of the call that it shows, or None.
        limits: how much it may send.

    Attributes:
        phase: where it stands.
    """

    def __init__(
        self,
        resource: Mapping[str, Any],
        *,
        host: Mapping[str, Any],
        capabilities: Mapping[str, Any],
        tool: Mapping[str, Any] | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.phase: Phase = "new"
        self._resource = resource
        self._host = host
        self._capabilities = capabilities
        self._limits = limits or Limits()
        self._context: dict[str, Any] = {
            **({"toolInfo": tool} if tool is not None else {}),
            "displayMode": "inline",
            "availableDisplayModes": list(_DISPLAY_MODES),
            "userAgent": str(host.get("name", "")),
            "platform": "web",
        }
        self._modes: list[str] | None = None
        self._who = ("", "")
        self._pending: set[Id] = set()
        self._written: Mapping[str, Any] | None = None
        self._input: Mapping[str, Any] | None = None
        self._outcome: Mapping[str, Any] | None = None
        self._teardown: str | None = None
        self._number = 0
        self._messages = Bucket(self._limits.rate, self._limits.burst)
        self._data = Bucket(self._limits.data_rate, self._limits.data_burst)
        self._dropped = 0

    # --- from the page -----------------------------------------------------------------------------------------------

    def receive(self, message: object, now: float) -> list[Event]:
        """A message from the frame, untrusted.

        Args:
            message: as it came.
            now: seconds of a clock that never goes back.
        """
        if self.phase == "closed" or not is_mapping(message) or message.get("jsonrpc") != "2.0":
            return []
        id, method = message.get("id"), message.get("method")
        asks = "id" in message and isinstance(method, str)
        if asks and not _is_id(id):
            return []  # nobody could be answered
        try:
            self._bounded(message, now)
            if asks and isinstance(method, str) and _is_id(id):
                return self._request(id, method, message.get("params"))
            if isinstance(method, str):
                return self._notification(method, message.get("params"))
            return self._response(id)
        except Refusal as refusal:
            if asks and _is_id(id):
                return [*self._flooded(), _error(id, refusal)]
            return self._flooded()

    def _bounded(self, message: Mapping[str, Any], now: float) -> None:
        size = messages.size_of(message)
        if size > self._limits.message:
            raise Refusal(f"A message may have {self._limits.message:,} characters, not {size:,}.", ERROR)
        if not self._messages.take(now) or not self._data.take(now, size):
            self._dropped += 1
            raise Refusal("Too many messages; send fewer, later.", ERROR)
        self._dropped = max(0, self._dropped - 1)

    def _flooded(self) -> list[Event]:
        return [Flooded()] if self._dropped == self._limits.dropped else []

    def _request(self, id: Id, method: str, params: object) -> list[Event]:
        given = messages.request(method, params)
        if method == "ping":
            return [_result(id, {})]
        if method == "ui/initialize":
            return self._initialize(id, given)
        if self.phase in ("new", "loading"):
            raise Refusal("ui/initialize comes first.", INVALID_REQUEST)
        if id in self._pending:
            raise Refusal("This id is in use.", INVALID_REQUEST)
        if method == "ui/request-display-mode" and not self._can_be(given["mode"]):
            return [_result(id, {"mode": self._context["displayMode"]})]
        if method == "ui/update-model-context":
            return self._reported(id, given)
        if len(self._pending) >= self._limits.pending:
            raise Refusal(f"{self._limits.pending} requests are being worked on already.", ERROR)
        self._pending.add(id)
        return [Asked(id, method, given)]

    def _initialize(self, id: Id, given: Mapping[str, Any]) -> list[Event]:
        if self.phase == "closing":
            raise Refusal("The page is being closed.", ERROR)
        gone = self._forget()
        self.phase = "initializing"
        self._modes, self._who = given["modes"], (given["name"], given["version"])
        result = {
            "protocolVersion": PROTOCOL_VERSION,
            "hostInfo": self._host,
            "hostCapabilities": self._capabilities,
            "hostContext": dict(self._context),
        }
        return [*gone, _result(id, result)]

    def _reported(self, id: Id, given: Mapping[str, Any]) -> list[Event]:
        size = messages.size_of([given["content"], given["structured"]])
        if size > self._limits.context:
            raise Refusal(f"Models may be told {self._limits.context:,} characters, not {size:,}.", ERROR)
        return [Reported(given["content"], given["structured"]), _result(id, {})]

    def _can_be(self, mode: str) -> bool:
        """Whether the page could be shown in this mode, and is not yet."""
        known = mode in _DISPLAY_MODES and (self._modes is None or mode in self._modes)
        return known and mode != self._context["displayMode"]

    def _notification(self, method: str, params: object) -> list[Event]:
        given = messages.notification(method, params)
        if given is None:
            return []
        match method:
            case "ui/notifications/sandbox-proxy-ready":
                return self._load()
            case "ui/notifications/initialized":
                return self._initialized()
            case "ui/notifications/size-changed":
                return [Resized(given.get("width"), given.get("height"))] if given else []
            case "ui/notifications/request-teardown":
                return [WantsToGo()] if self.phase == "open" else []
            case "notifications/message":
                return [Logged(given["level"], given["logger"], given["data"])]
            case _:
                return self._withdraw(given["requestId"])

    def _load(self) -> list[Event]:
        """The outer document stands, perhaps for the second time: it gets the page."""
        if self.phase == "closing":
            self.phase = "closed"
            return [*self._forget(), Ended()]
        self.phase = "loading"
        return [*self._forget(), _note("ui/notifications/sandbox-resource-ready", self._resource)]

    def _initialized(self) -> list[Event]:
        if self.phase != "initializing":
            return []
        self.phase = "open"
        return [Opened(*self._who), *self._history()]

    def _history(self) -> list[Event]:
        """What is known of the call, in the order in which a page has to hear of it."""
        told: list[Event] = []
        if self._input is not None:
            told.append(_note("ui/notifications/tool-input", {"arguments": self._input}))
        elif self._written is not None:
            told.append(_note("ui/notifications/tool-input-partial", {"arguments": self._written}))
        if self._outcome is not None:
            told.append(Send(self._outcome))
        return told

    def _withdraw(self, id: object) -> list[Event]:
        if _is_id(id) and id in self._pending:
            self._pending.discard(id)
            return [Withdrawn(id)]
        return []

    def _forget(self) -> list[Event]:
        """Whoever asked is not there any more."""
        gone: list[Event] = [Withdrawn(id) for id in self._pending]
        self._pending.clear()
        return gone

    def _response(self, id: object) -> list[Event]:
        if self.phase == "closing" and id == self._teardown:
            self.phase = "closed"
            return [*self._forget(), Ended()]
        return []

    # --- answers -----------------------------------------------------------------------------------------------------

    def answer(self, id: Id, result: Mapping[str, Any]) -> list[Event]:
        """The result of what was asked; nothing happens when nobody waits for it any more."""
        if id not in self._pending:
            return []
        try:
            size = messages.size_of(result)
        except Refusal as refusal:
            return self.refuse(id, refusal)
        if size > self._limits.result:
            return self.refuse(id, Refusal(f"The answer has {size:,} characters, too many for a page.", ERROR))
        self._pending.discard(id)
        return [_result(id, result)]

    def refuse(self, id: Id, refusal: Refusal) -> list[Event]:
        """What was asked is not done, or failed."""
        if id not in self._pending:
            return []
        self._pending.discard(id)
        return [_error(id, refusal)]

    # --- what a page is told -----------------------------------------------------------------------------------------

    def partial(self, arguments: Mapping[str, Any]) -> list[Event]:
        """Arguments that are still being written; a page that is not ready hears of them as they are when it is.

        One that has the whole ones, or whose call is over, is not told, and nobody is told the same twice.
        """
        if self._input is not None or self._outcome is not None or arguments == self._written:
            return []
        self._written = dict(arguments)
        if self.phase != "open":
            return []
        return [_note("ui/notifications/tool-input-partial", {"arguments": arguments})]

    def input(self, arguments: Mapping[str, Any]) -> list[Event]:
        """The arguments of the call, once."""
        if self._input is not None:
            return []
        self._input = dict(arguments)
        return self._history() if self.phase == "open" else []

    def result(self, raw: Mapping[str, Any]) -> list[Event]:
        """The result of the call, as the server sent it; after `input`, once."""
        params = {key: value for key, value in raw.items() if key != "resultType"}
        params.setdefault("content", [])
        return self._end("ui/notifications/tool-result", params)

    def cancelled(self, reason: str) -> list[Event]:
        """The call was cancelled, or failed without a result; after `input`, once."""
        return self._end("ui/notifications/tool-cancelled", {"reason": reason})

    def _end(self, method: str, params: Mapping[str, Any]) -> list[Event]:
        if self._outcome is not None:
            return []
        told = self.input({}) if self._input is None else []
        event = _note(method, params)
        self._outcome = event.message
        return [*told, event] if self.phase == "open" else told

    def stands(self, reported: object) -> list[Event]:
        """Where the page stands now (see `context.read`); it is told of what is another."""
        return self._tell(context.read(reported))

    def shown_as(self, mode: str) -> list[Event]:
        """How the page is shown now: "inline" or "fullscreen"."""
        return self._tell({"displayMode": mode}) if mode in _DISPLAY_MODES else []

    def _tell(self, now: Mapping[str, Any]) -> list[Event]:
        changed = context.changes(self._context, now)
        self._context |= changed
        if not changed or self.phase != "open":
            return []
        return [_note("ui/notifications/host-context-changed", changed)]

    def teardown(self) -> list[Event]:
        """The page is to go: it is told, and `Ended` comes with its answer (or at once when it never was there).

        Whoever waits for that should not wait for long.
        """
        if self.phase == "closed" or self.phase == "closing":
            return []
        if self.phase != "open":
            self.phase = "closed"
            return [*self._forget(), Ended()]
        self.phase = "closing"
        self._number += 1
        self._teardown = f"teardown-{self._number}"
        message = {"jsonrpc": "2.0", "id": self._teardown, "method": "ui/resource-teardown"}
        return [Send({**message, "params": {}})]

    def close(self) -> list[Event]:
        """The page is gone."""
        self.phase = "closed"
        return self._forget()


def _is_id(id: object) -> TypeGuard[Id]:
    return (isinstance(id, int) and not isinstance(id, bool)) or (isinstance(id, str) and len(id) <= _LONGEST_ID)


def _note(method: str, params: Mapping[str, Any]) -> Send:
    return Send({"jsonrpc": "2.0", "method": method, "params": params})


def _result(id: Id, result: Mapping[str, Any]) -> Send:
    return Send({"jsonrpc": "2.0", "id": id, "result": result})


def _error(id: Id, refusal: Refusal) -> Send:
    return Send({"jsonrpc": "2.0", "id": id, "error": {"code": refusal.code, "message": refusal.message}})
