"""The modern era (2026-07-28): the envelope of a request, MRTR rounds, what a complete result carries.

Both roles. Every request names its revision, capabilities and client in `_meta`; nothing is remembered in between.
A server that needs something answers `input_required` and the client sends the same request again with the answers:
`rounds` is that exchange as a generator, free of loop and clock. Subscriptions are in `listen`.

Above: connection, server dispatch, inbound. Source: spec 2026-07-28 "Lifecycle / _meta", "MRTR", "Caching".
"""

from __future__ import annotations

import itertools
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from jupyter_mcp.errors import InputRefused, LocalProtocolError, RemoteProtocolError
from jupyter_mcp.protocol.capabilities import client_allows
from jupyter_mcp.protocol.jsonrpc import INVALID_PARAMS, RpcError
from jupyter_mcp.protocol.methods import INPUT_METHODS, TABLE
from jupyter_mcp.protocol.shapes import is_mapping, is_object

REVISION_KEY = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
CLIENT_INFO_KEY = "io.modelcontextprotocol/clientInfo"
SERVER_INFO_KEY = "io.modelcontextprotocol/serverInfo"
LOG_LEVEL_KEY = "io.modelcontextprotocol/logLevel"
SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId"
LOG_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")

MAX_ROUNDS = 10
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 0.25  # seconds between state-only rounds


# --- the envelope ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Envelope:
    """What a modern request says about itself.

    Attributes:
        revision: the protocol revision it is written in.
        capabilities: the client's capabilities for this request.
        client_info: name and version of the client, for display only; {} when it gave none.
        log_level: send log messages of this level and above on this request's stream; None: send none.
        progress_token: put it into progress notifications; None: send none.
    """

    revision: str
    capabilities: dict[str, Any]
    client_info: dict[str, Any] = field(default_factory=dict[str, Any])
    log_level: str | None = None
    progress_token: int | str | None = None


def envelope(
    params: Mapping[str, Any] | None,
    *,
    revision: str,
    client_info: Mapping[str, Any],
    capabilities: Mapping[str, Any],
    log_level: str | None = None,
    progress_token: int | str | None = None,
) -> dict[str, Any]:
    """A copy of `params` with the `_meta` that a modern request must carry; other `_meta` keys are kept."""
    given = dict(params) if params else {}
    own = given.get("_meta")
    meta: dict[str, Any] = dict(own) if own else {}
    meta[REVISION_KEY] = revision
    meta[CLIENT_INFO_KEY] = client_info
    meta[CAPABILITIES_KEY] = capabilities
    if log_level is not None:
        meta[LOG_LEVEL_KEY] = log_level
    if progress_token is not None:
        meta["progressToken"] = progress_token
    given["_meta"] = meta
    return given


def meta_of(holder: object) -> dict[str, Any]:
    """The `_meta` of params or of a result; {} when it has none or an odd one. Not a copy."""
    meta = holder.get("_meta") if is_object(holder) or is_mapping(holder) else None  # the quick test first
    return meta if is_object(meta) else {}


def is_enveloped(message: Mapping[str, Any]) -> bool:
    """Whether a request claims the modern era."""
    meta = meta_of(message.get("params"))
    return REVISION_KEY in meta or CAPABILITIES_KEY in meta


def read_envelope(message: Mapping[str, Any]) -> Envelope | RpcError:
    """The envelope of a request, or the error to answer with (-32602)."""
    meta = meta_of(message.get("params"))
    revision, capabilities = meta.get(REVISION_KEY), meta.get(CAPABILITIES_KEY)
    if not isinstance(revision, str) or not revision:
        return _missing(REVISION_KEY, "a string")
    if not isinstance(capabilities, dict):
        return _missing(CAPABILITIES_KEY, "an object")
    level = meta.get(LOG_LEVEL_KEY)
    if level is not None and level not in LOG_LEVELS:
        return RpcError(INVALID_PARAMS, f"Unknown log level {str(level)[:40]!r}; known: {', '.join(LOG_LEVELS)}")
    token, info = meta.get("progressToken"), meta.get(CLIENT_INFO_KEY)
    return Envelope(
        revision,
        cast("dict[str, Any]", capabilities),
        cast("dict[str, Any]", info) if isinstance(info, dict) else {},
        level,
        token if type(token) is int or type(token) is str else None,
    )


def _missing(key: str, wants: str) -> RpcError:
    return RpcError(INVALID_PARAMS, f"Missing or malformed _meta {key!r}: every request needs {wants} there")


# --- results ---------------------------------------------------------------------------------------------------------


def complete(
    method: str,
    result: Mapping[str, Any],
    *,
    server_info: Mapping[str, Any] | None = None,
    ttl_ms: int = 0,
    cache_scope: str = "private",
) -> dict[str, Any]:
    """Server role: a copy of `result` as a modern result of `method`: `resultType`, cache hints, serverInfo.

    What the result already says is kept.
    """
    done: dict[str, Any] = {"resultType": "complete", **result}
    row = TABLE.get(method)
    if row is not None and row.cacheable and done["resultType"] == "complete":
        done.setdefault("ttlMs", ttl_ms)
        done.setdefault("cacheScope", cache_scope)
    if server_info is not None:
        done["_meta"] = {SERVER_INFO_KEY: server_info, **meta_of(result)}
    return done


def input_required(requests: Mapping[str, Mapping[str, Any]] | None, state: str | None) -> dict[str, Any]:
    """Server role: the result that asks. Raises `LocalProtocolError` when it would ask for nothing."""
    if not requests and state is None:
        raise LocalProtocolError("An input_required result needs inputRequests or requestState.")
    asked: dict[str, Any] = {"resultType": "input_required"}
    if requests:
        asked["inputRequests"] = {key: dict(request) for key, request in requests.items()}
    if state is not None:
        asked["requestState"] = state
    return asked


def cache_hints(result: Mapping[str, Any]) -> tuple[int, str]:
    """How long a result stays fresh (milliseconds; 0 when it says nothing valid) and its scope."""
    ttl = result.get("ttlMs")
    fresh = int(ttl) if isinstance(ttl, (int, float)) and not isinstance(ttl, bool) and 0 < ttl < 1e15 else 0
    return fresh, "public" if result.get("cacheScope") == "public" else "private"


# --- rounds ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Send:
    """Send the request with these params (under a new id, in a new envelope); the flow wants the result dict back."""

    params: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Ask:
    """Fulfil these requests; the flow wants {same key: bare result} back.

    To refuse (sampling, roots: there is no wire form) throw `InputRefused` into the flow or let it end.
    """

    requests: dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Wait:
    """The server only wants to be asked again: wait so many seconds, then go on with None."""

    seconds: float


Step = Send | Ask | Wait


def rounds(
    method: str,
    params: Mapping[str, Any] | None = None,
    *,
    cap: int = MAX_ROUNDS,
    capabilities: Mapping[str, Any] | None = None,
    result_types: frozenset[str] = frozenset(("complete",)),
) -> Generator[Step, Any, dict[str, Any]]:
    """One request with as many input rounds as the server needs; returns the final result.

    Each round sends the original params plus only that round's answers and the byte-exact `requestState`, if one came.

    Args:
        method: the request's method.
        params: its params, without envelope.
        cap: so many input_required answers are followed.
        capabilities: what this client declared; what a server asks beyond it ends the call. None: not checked.
        result_types: other final `resultType`s that the caller understands ("task").

    Raises:
        RemoteProtocolError: the server's result breaks the protocol, or it never comes to an end.
        InputRefused: it asks for something that this client did not declare or does not know.
    """
    original = dict(params) if params else {}
    extra: dict[str, Any] = {}
    pause = _FIRST_PAUSE
    for count in itertools.count():
        result = _checked(method, (yield Send({**original, **extra})))
        if result.get("resultType") != "input_required":
            return _final(method, result, result_types)
        if count == cap:
            break
        requests, extra = _read_round(method, result, capabilities)
        if requests:
            extra["inputResponses"] = _answers(requests, (yield Ask(requests)))
            pause = _FIRST_PAUSE
        else:
            yield Wait(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
    raise RemoteProtocolError(f"The server asked for more input {cap + 1} times during {method} and came to no result.")


def _checked(method: str, result: object) -> dict[str, Any]:
    if not isinstance(result, dict):
        raise RemoteProtocolError(f"The server's result of {method} is not an object.")
    return cast("dict[str, Any]", result)


def _final(method: str, result: dict[str, Any], known: frozenset[str]) -> dict[str, Any]:
    kind = result.get("resultType")
    if kind is None or kind == "complete" or (isinstance(kind, str) and kind in known):
        return result
    raise RemoteProtocolError(f"The server's result of {method} is of the unknown type {str(kind)[:60]!r}.")


def _read_round(
    method: str, result: dict[str, Any], capabilities: Mapping[str, Any] | None
) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    row = TABLE.get(method)
    if row is None or not row.input_required_allowed:
        raise RemoteProtocolError(f"The server asked for input during {method}, which the protocol does not allow.")
    raw, state = result.get("inputRequests"), result.get("requestState")
    if state is not None and not isinstance(state, str):
        raise RemoteProtocolError(f"The server's requestState during {method} is not a string.")
    if raw is not None and not isinstance(raw, dict):
        raise RemoteProtocolError(f"The server's inputRequests during {method} are not an object.")
    asked = cast("dict[str, Any]", raw or {})
    requests = {key: input_request(key, item, capabilities) for key, item in asked.items()}
    if not requests and state is None:
        raise RemoteProtocolError(f"The server asked for input during {method} without saying what for.")
    return requests, {} if state is None else {"requestState": state}


def input_request(key: str, item: object, capabilities: Mapping[str, Any] | None) -> dict[str, Any]:
    """One of the server's input requests, checked: `{"method", "params"}`.

    Raises:
        RemoteProtocolError: it is none.
        InputRefused: it asks for something that this client did not declare or does not know.
    """
    request = cast("dict[str, Any]", item) if isinstance(item, dict) else {}
    method, params = request.get("method"), request.get("params")
    if not isinstance(method, str):
        raise RemoteProtocolError(f"The server's input request {key[:60]!r} names no method.")
    if method not in INPUT_METHODS:
        raise InputRefused(f"The server asked for {method[:60]!r}, which a client does not answer; the call was ended.")
    given: dict[str, Any] = cast("dict[str, Any]", params) if isinstance(params, dict) else {}
    if capabilities is not None and (refusal := client_allows(capabilities, method, given)):
        raise InputRefused(f"The call was ended: {refusal.message}, but the server asked for it.")
    return {"method": method, "params": given}


def _answers(requests: Mapping[str, Any], responses: object) -> dict[str, Any]:
    given: Mapping[str, Any] = cast("Mapping[str, Any]", responses) if isinstance(responses, Mapping) else {}
    missing = [key for key in requests if key not in given]
    if missing:
        raise LocalProtocolError(f"No answer for the server's input request {missing[0]!r}.")
    return {key: given[key] for key in requests}
