"""What a server does with a message: the ladder from "is this JSON-RPC" to "call this method with these params".

A pure function of the message and of what is known about the connection. It checks shape, era, revision, direction,
capability and the params every handler relies on; it runs nothing. The codes are those of the specification's error
table, so that a client can tell the eras apart.

A stdio connection is locked to the era of its first routed request: the caller keeps `Route.era` and passes it as
`locked`. Above: server dispatch. Source: spec 2026-07-28 "Versioning", "Errors"; 2025-11-25 "Lifecycle".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from jupyter_mcp.protocol import jsonrpc
from jupyter_mcp.protocol.capabilities import server_allows
from jupyter_mcp.protocol.jsonrpc import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, Id, RpcError
from jupyter_mcp.protocol.legacy import unsupported
from jupyter_mcp.protocol.methods import TABLE, known
from jupyter_mcp.protocol.modern import LOG_LEVELS, Envelope, is_enveloped, read_envelope
from jupyter_mcp.protocol.revisions import ALL, LATEST_LEGACY, LATEST_MODERN, MODERN, Era, era, features

MOST_IN_BATCH = 1_000


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """What the ladder must know about the server.

    Attributes:
        versions: the revisions it speaks.
        capabilities: what it declares, in the shape of ServerCapabilities.
        extra_methods: methods of its own, beyond the protocol.
    """

    versions: Sequence[str] = ALL
    capabilities: Mapping[str, Any] = field(default_factory=dict[str, Any])
    extra_methods: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Route:
    """A message to act on. `id` is None for a notification; `envelope` is there for a modern request."""

    era: Era
    revision: str
    method: str
    params: dict[str, Any]
    id: Id | None = None
    envelope: Envelope | None = None


@dataclass(frozen=True, slots=True)
class Rejection:
    """A request to answer with an error. `id` is None when it could not be read."""

    id: Id | None
    code: int
    message: str
    data: Any = None

    def reply(self) -> dict[str, Any]:
        """The error response."""
        return jsonrpc.error(self.id, self.code, self.message, self.data)


@dataclass(frozen=True, slots=True)
class Ignore:
    """Nothing to do: a notification that means nothing here, or a response (which is the caller's to match)."""

    reason: str


Routed = Route | Rejection | Ignore


def route(
    message: object,
    *,
    locked: Era | None,
    initialized: bool,
    server: ServerFacts,
    revision: str | None = None,
) -> Routed:
    """Where a decoded message goes.

    Args:
        message: any JSON value. Batches are for `route_batch`.
        locked: the era of the connection's first routed request; None before it, and always on stateless HTTP.
        initialized: legacy: whether `initialize` has been answered.
        server: what it speaks and declares.
        revision: legacy: the negotiated revision, from then on.
    """
    kind = jsonrpc.kind(message)
    if kind == "request":
        request = cast("dict[str, Any]", message)
        if request.get("jsonrpc") != "2.0":
            return Rejection(request["id"], INVALID_REQUEST, 'Invalid request: "jsonrpc" must be "2.0"')
        return _route_request(request, locked, initialized, server, revision or LATEST_LEGACY)
    if kind == "notification":
        return _route_notification(cast("dict[str, Any]", message), locked, initialized, revision or LATEST_LEGACY)
    if kind == "invalid":
        return malformed(message)
    return Ignore("a response")


def malformed(message: object) -> Rejection:
    """What JSON that is no message deserves."""
    return Rejection(_readable_id(message), INVALID_REQUEST, "Invalid request: this is not a JSON-RPC message")


def route_batch(messages: Sequence[object], *, revision: str | None) -> Rejection | None:
    """Whether a batch is taken apart (None: yes, answer it as ONE array) or refused as a whole.

    Batches are part of 2025-03-26 only. Before a revision is negotiated they are refused.
    """
    if not messages:
        return Rejection(None, INVALID_REQUEST, "Invalid request: an empty batch")
    if revision is None or not features(revision).batches_accepted:
        return Rejection(None, INVALID_REQUEST, "Invalid request: batches are not part of this protocol revision")
    if len(messages) > MOST_IN_BATCH:
        return Rejection(None, INVALID_REQUEST, f"Invalid request: a batch has {MOST_IN_BATCH} messages at most")
    if any(isinstance(m, Mapping) and cast("Mapping[str, Any]", m).get("method") == "initialize" for m in messages):
        return Rejection(None, INVALID_REQUEST, "Invalid request: initialize cannot be part of a batch")
    return None


def parse_failure() -> dict[str, Any]:
    """The answer to a line that is not JSON."""
    return jsonrpc.error(None, jsonrpc.PARSE_ERROR, "Parse error: this is not JSON")


def _readable_id(message: object) -> Id | None:
    id_ = cast("Mapping[str, Any]", message).get("id") if isinstance(message, Mapping) else None
    return id_ if type(id_) is int or type(id_) is str else None


# --- requests --------------------------------------------------------------------------------------------------------


def _route_request(
    request: dict[str, Any], locked: Era | None, initialized: bool, server: ServerFacts, revision: str
) -> Routed:
    if is_enveloped(request) and _speaks_modern(server):  # else the envelope is a member of _meta like any other
        if locked == "legacy":
            text = "This connection began with initialize; requests with a modern envelope are not accepted on it"
            return Rejection(request["id"], INVALID_REQUEST, text)
        return _route_modern(request, server, locked)
    if request["method"] == "initialize":
        return _route_initialize(request, locked, server)
    if locked == "modern":
        return _route_modern(request, server, locked)
    return _route_legacy(request, initialized, server, revision)


def _speaks_modern(server: ServerFacts) -> bool:
    return any(version in MODERN for version in server.versions)


def _route_initialize(request: dict[str, Any], locked: Era | None, server: ServerFacts) -> Routed:
    params = request.get("params")
    offered = cast("dict[str, Any]", params).get("protocolVersion") if isinstance(params, dict) else None
    modern = [version for version in server.versions if version in MODERN]
    if locked == "modern" or len(modern) == len(server.versions):
        return _rejection(request, unsupported(offered, modern))
    return _with_params(request, "legacy", LATEST_LEGACY, None)


def _route_modern(request: dict[str, Any], server: ServerFacts, locked: Era | None) -> Routed:
    envelope = read_envelope(request)
    if isinstance(envelope, RpcError):
        return _rejection(request, envelope)
    if envelope.revision not in MODERN or envelope.revision not in server.versions:
        spoken = [version for version in server.versions if version in MODERN or not locked]
        return _rejection(request, unsupported(envelope.revision, spoken))
    return _gated(request, "modern", envelope.revision, envelope, server)


def _route_legacy(request: dict[str, Any], initialized: bool, server: ServerFacts, revision: str) -> Routed:
    if not initialized and request["method"] != "ping":
        other = ", or the modern envelope in params._meta" if _speaks_modern(server) else ""
        text = f"Invalid params: send initialize first{other}"
        return Rejection(request["id"], INVALID_PARAMS, text)
    return _gated(request, "legacy", revision, None, server)


def _gated(request: dict[str, Any], name: Era, revision: str, envelope: Envelope | None, server: ServerFacts) -> Routed:
    method: str = request["method"]
    row = known(method, revision, "client")
    served = row is not None and row.kind == "request" and server_allows(server.capabilities, method, revision)
    if not served and method not in server.extra_methods:
        return Rejection(request["id"], METHOD_NOT_FOUND, f"Method not found: {method}")
    return _with_params(request, name, revision, envelope)


def _with_params(request: dict[str, Any], name: Era, revision: str, envelope: Envelope | None) -> Routed:
    method: str = request["method"]
    params = request.get("params")
    if params is None or params == []:
        params = {}
    if not isinstance(params, dict):
        return Rejection(request["id"], INVALID_PARAMS, "Invalid params: params must be an object")
    given = cast("dict[str, Any]", params)
    if problem := check_params(method, given):
        return Rejection(request["id"], INVALID_PARAMS, f"Invalid params: {problem}")
    return Route(name, revision, method, given, request["id"], envelope)


_WANTED: Mapping[str, tuple[tuple[str, type, str], ...]] = {
    "initialize": (("protocolVersion", str, "a string"),),
    "tools/call": (("name", str, "a string"),),
    "resources/read": (("uri", str, "a string"),),
    "resources/subscribe": (("uri", str, "a string"),),
    "resources/unsubscribe": (("uri", str, "a string"),),
    "prompts/get": (("name", str, "a string"),),
    "completion/complete": (("ref", dict, "an object"), ("argument", dict, "an object")),
    "logging/setLevel": (("level", str, "a string"),),
    "subscriptions/listen": (("notifications", dict, "an object"),),
    "tasks/get": (("taskId", str, "a string"),),
    "tasks/update": (("taskId", str, "a string"), ("inputResponses", dict, "an object")),
    "tasks/cancel": (("taskId", str, "a string"),),
}
_OPTIONAL: Mapping[str, tuple[type, str]] = {
    "arguments": (dict, "an object"),
    "cursor": (str, "a string"),
    "inputResponses": (dict, "an object"),
    "requestState": (str, "a string"),
    "context": (dict, "an object"),
}


def check_params(method: str, params: Mapping[str, Any]) -> str | None:
    """What is wrong with the params that every handler of `method` relies on; None when nothing is."""
    for key, kind, words in _WANTED.get(method, ()):
        if not isinstance(params.get(key), kind):
            return f"{method} needs `{key}`, {words}"
    if method not in TABLE:
        return None
    if method == "logging/setLevel" and params["level"] not in LOG_LEVELS:
        return f"unknown log level; known: {', '.join(LOG_LEVELS)}"
    for key, value in params.items():
        wanted = _OPTIONAL.get(key)
        if wanted is not None and value is not None and not isinstance(value, wanted[0]):
            return f"`{key}` must be {wanted[1]}"
    return None


def _rejection(request: Mapping[str, Any], error: RpcError) -> Rejection:
    return Rejection(request["id"], error.code, error.message, error.data)


# --- notifications ---------------------------------------------------------------------------------------------------


def _route_notification(message: dict[str, Any], locked: Era | None, initialized: bool, revision: str) -> Routed:
    method: str = message["method"]
    if locked is None and not initialized:
        return Ignore(f"{method} before the first request")
    name: Era = locked or "legacy"
    at = revision if name == "legacy" else LATEST_MODERN
    row = known(method, at, "client")
    if row is None or row.kind != "notification":
        return Ignore(f"the notification {method} means nothing here")
    params = message.get("params")
    return Route(name, at, method, cast("dict[str, Any]", params) if isinstance(params, dict) else {})


def lock(routed: Routed, locked: Era | None) -> Era | None:
    """The era a pipe is locked to after this message: that of its first routed request other than a bare ping."""
    if locked is not None or not isinstance(routed, Route) or routed.id is None or routed.method == "ping":
        return locked
    return era(routed.revision)
