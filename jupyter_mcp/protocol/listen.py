"""`subscriptions/listen` of the modern era: filters, and telling the streams apart on one pipe. Both roles.

Values only: opening, re-opening after a restart and delivery are the connection's and the server's work.
Source: spec 2026-07-28 "Subscriptions".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from jupyter_mcp.protocol.capabilities import declared
from jupyter_mcp.protocol.jsonrpc import INVALID_PARAMS, Id, RpcError, match_id
from jupyter_mcp.protocol.methods import LISTEN_KEYS
from jupyter_mcp.protocol.modern import SUBSCRIPTION_KEY, meta_of

ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
MOST_WATCHED = 10_000
"""Server role: what one client, or one stream, may ask to hear of; a list in a request could be of any length."""
_LISTS = {"toolsListChanged": "tools", "promptsListChanged": "prompts", "resourcesListChanged": "resources"}


def build_filter(capabilities: object, uris: Sequence[str] = (), *, lists: bool = True) -> dict[str, Any] | None:
    """Client role: ask for every list change the server declared, and for these resources; None: nothing to ask for."""
    wanted: dict[str, Any] = {}
    if lists:
        wanted = {key: True for key, kind in _LISTS.items() if declared(capabilities, (kind, "listChanged"))}
    if uris and declared(capabilities, ("resources", "subscribe")):
        wanted["resourceSubscriptions"] = list(uris)
    return wanted or None


def read_filter(params: Mapping[str, Any]) -> dict[str, Any] | RpcError:
    """Server role: the filter a client sent, or the error to answer with."""
    raw = params.get("notifications")
    if not isinstance(raw, dict):
        return RpcError(INVALID_PARAMS, "subscriptions/listen needs `notifications`, an object")
    wanted = cast("dict[str, Any]", raw)
    for key in ("resourceSubscriptions", "taskIds"):
        if not _is_strings(wanted.get(key, [])):
            return RpcError(INVALID_PARAMS, f"subscriptions/listen: `{key}` must be a list of strings")
        if len(wanted.get(key, [])) > MOST_WATCHED:
            return RpcError(INVALID_PARAMS, f"subscriptions/listen: `{key}` may name {MOST_WATCHED}")
    return wanted


def _is_strings(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in cast("list[object]", value))


def honoured(wanted: Mapping[str, Any], capabilities: object) -> dict[str, Any]:
    """Server role: the part of a filter that a server with these capabilities serves, for the acknowledgement."""
    kept: dict[str, Any] = {
        key: True
        for key, kind in _LISTS.items()
        if wanted.get(key) is True and declared(capabilities, (kind, "listChanged"))
    }
    uris = wanted.get("resourceSubscriptions")
    if uris and declared(capabilities, ("resources", "subscribe")):
        kept["resourceSubscriptions"] = list(uris)
    return kept


def wants(kept: Mapping[str, Any], method: str, params: Mapping[str, Any] | None = None) -> bool:
    """Whether a (honoured) filter asks for this notification. A watched URI covers what lies below it."""
    key = LISTEN_KEYS.get(method)
    value = kept.get(key) if key else None
    if not isinstance(value, list):
        return value is True
    name = (params or {}).get("uri" if key == "resourceSubscriptions" else "taskId")
    items = cast("list[str]", value)
    return name in items or (isinstance(name, str) and any(name.startswith(item.rstrip("/") + "/") for item in items))


def stamp(params: Mapping[str, Any] | None, subscription: Id) -> dict[str, Any]:
    """Server role: a copy of a notification's params (or of the final result) with the subscription's id in `_meta`."""
    given = dict(params) if params else {}
    given["_meta"] = {**meta_of(given), SUBSCRIPTION_KEY: subscription}
    return given


@dataclass(slots=True)
class Subscription:
    """Client role: one open stream. `kept` is what the server acknowledged, None before it did."""

    id: Id
    wanted: dict[str, Any]
    kept: dict[str, Any] | None = None


@dataclass(slots=True)
class Demux:
    """Client role: which subscription a notification belongs to."""

    open: dict[Id, Subscription] = field(default_factory=dict[Id, Subscription])

    def add(self, id: Id, wanted: dict[str, Any]) -> Subscription:
        """A listen request was sent under this id."""
        self.open[id] = Subscription(id, wanted)
        return self.open[id]

    def receive(self, method: str, params: object) -> Subscription | None:
        """The subscription a notification belongs to, noting an acknowledgement; None when it belongs to none.

        A notification without an id belongs to the only open subscription, if there is one only.
        """
        mark = meta_of(params).get(SUBSCRIPTION_KEY)
        if mark is None:
            key = next(iter(self.open)) if len(self.open) == 1 else None
        else:
            key = match_id(self.open, mark)
        found = self.open.get(key) if key is not None else None
        if found is not None and method == ACKNOWLEDGED:
            kept = cast("Mapping[str, Any]", params).get("notifications") if isinstance(params, Mapping) else None
            found.kept = cast("dict[str, Any]", kept) if isinstance(kept, dict) else {}
        return found

    def end(self, id: object) -> Subscription | None:
        """The listen request with this id got its answer, or was cancelled: the stream is over."""
        key = match_id(self.open, id)
        return None if key is None else self.open.pop(key)
