"""A page that a test plays: it sends messages to a bridge and reads what comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.host.apps.bridge import Bridge
from jupyter_mcp.host.apps.context import STYLE_VARIABLES
from jupyter_mcp.host.apps.events import Event, Send

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jupyter_mcp.host.apps.limits import Limits

HOST = {"name": "jupyter-mcp", "version": "1"}
INIT: dict[str, Any] = {
    "appInfo": {"name": "a page", "version": "2"},
    "appCapabilities": {},
    "protocolVersion": "2026-01-26",
}
STYLES = dict.fromkeys(STYLE_VARIABLES, "serif")
READY = "ui/notifications/sandbox-proxy-ready"
INITIALIZED = "ui/notifications/initialized"


class Talk:
    """A bridge with a page at its other end; the clock is the test's."""

    def __init__(self, limits: Limits | None = None, **more: Any) -> None:
        resource = {"html": "<!doctype html>", "sandbox": "allow-scripts"}
        self.bridge = Bridge(resource, host=HOST, capabilities={"logging": {}}, limits=limits, **more)
        self.now = 0.0
        self._id = 0

    def note(self, method: str, **params: Any) -> list[Event]:
        """A notification of the page."""
        return self.raw({"jsonrpc": "2.0", "method": method, "params": params})

    def ask(self, method: str, **params: Any) -> list[Event]:
        """A request of the page, with the next id."""
        self._id += 1
        return self.raw({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})

    def raw(self, message: object) -> list[Event]:
        """Whatever a page may send."""
        return self.bridge.receive(message, self.now)

    def open(self, **capabilities: Any) -> list[Event]:
        """The whole handshake; returns what followed `initialized`."""
        self.note(READY)
        self.ask("ui/initialize", **{**INIT, "appCapabilities": capabilities})
        return self.note(INITIALIZED)


def sent(events: Sequence[Event]) -> list[Any]:
    """The messages among events."""
    return [event.message for event in events if isinstance(event, Send)]


def methods(events: Sequence[Event]) -> list[str]:
    """The methods of the messages among events, "result" and "error" for answers."""
    return [one.get("method") or ("error" if "error" in one else "result") for one in sent(events)]


def error(events: Sequence[Event]) -> tuple[int, str]:
    """Code and words of the one error."""
    (message,) = sent(events)
    return message["error"]["code"], message["error"]["message"]
