"""The legacy era (2024-11-05 … 2025-11-25): the initialize handshake of both roles, without I/O.

The client's part is two functions, around which `probe` is the exchange; the server's part is `ServerSession`, which
knows how far the handshake has come and so what may be sent. What a server may receive is `inbound`'s business.

Above: probe, connection, server dispatch. Source: spec 2025-11-25 "Lifecycle".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast

from jupyter_mcp.protocol import capabilities as caps
from jupyter_mcp.protocol import jsonrpc
from jupyter_mcp.protocol.jsonrpc import INVALID_PARAMS, UNSUPPORTED_VERSION, RpcError
from jupyter_mcp.protocol.revisions import (
    ALL,
    LATEST_LEGACY,
    accept_legacy_client,
    features,
    lists_sentence,
    negotiate_legacy_server,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

INITIALIZED = "notifications/initialized"


def initialized() -> dict[str, Any]:
    """Client role: the notification that ends the handshake."""
    return jsonrpc.notification(INITIALIZED)


def implementation(info: Mapping[str, Any], revision: str) -> dict[str, Any]:
    """Name and version of a side, without what `revision` cannot say (title, icons, description, websiteUrl)."""
    can = features(revision)
    dropped: tuple[str, ...] = () if can.icons else ("icons", "description", "websiteUrl")
    dropped = dropped if can.titles else (*dropped, "title")
    return {key: value for key, value in info.items() if key not in dropped}


# --- client role -----------------------------------------------------------------------------------------------------


def initialize_params(revision: str, client_info: Mapping[str, Any], capabilities: Mapping[str, Any]) -> dict[str, Any]:
    """The params of `initialize`, offering `revision`."""
    return {
        "protocolVersion": revision,
        "capabilities": dict(capabilities),
        "clientInfo": implementation(client_info, revision),
    }


@dataclass(frozen=True, slots=True)
class Handshake:
    """What a server answered to `initialize`, read with tolerance.

    Attributes:
        revision: the revision to go on with; None when this side does not speak the one that was answered.
        answered: the revision as the server wrote it.
        notes: what was odd about the answer, one sentence each.
    """

    revision: str | None
    answered: object
    info: dict[str, Any]
    capabilities: dict[str, Any]
    instructions: str | None
    notes: tuple[str, ...] = ()


def read_initialize(result: object, offered: str, versions: Iterable[str] = ALL) -> Handshake | None:
    """Read the result of `initialize`; None when it is not an object at all."""
    if not isinstance(result, dict):
        return None
    answer = cast("dict[str, Any]", result)
    notes: list[str] = []
    answered = answer.get("protocolVersion")
    if answered is None:
        notes.append(f"The server's answer to initialize names no protocol version; going on with {offered}.")
        answered = offered
    return Handshake(
        accept_legacy_client(answered, versions),
        answered,
        _object(answer, "serverInfo", notes),
        _object(answer, "capabilities", notes),
        text if isinstance(text := answer.get("instructions"), str) else None,
        tuple(notes),
    )


def _object(answer: Mapping[str, Any], key: str, notes: list[str]) -> dict[str, Any]:
    value = answer.get(key)
    if isinstance(value, dict):
        return cast("dict[str, Any]", value)
    if value is not None:
        notes.append(f"The server's {key} is not an object; it was ignored.")
    return {}


# --- server role -----------------------------------------------------------------------------------------------------

Phase = Literal["new", "answered", "ready"]
# what a server may send before the client's `initialized`
_BEFORE_READY = frozenset(("ping", "notifications/message", "notifications/progress", "notifications/cancelled"))


@dataclass(slots=True)
class ServerSession:
    """How far one client's handshake has come, and what it declared.

    Attributes:
        phase: "new" (no initialize yet), "answered" (initialize was answered), "ready" (initialized came).
        revision: negotiated; meaningful from "answered" on.
    """

    phase: Phase = "new"
    revision: str = LATEST_LEGACY
    capabilities: dict[str, Any] = field(default_factory=dict[str, Any])
    client_info: dict[str, Any] = field(default_factory=dict[str, Any])

    def initialize(
        self,
        params: Mapping[str, Any],
        *,
        versions: Iterable[str],
        capabilities: Mapping[str, Any],
        server_info: Mapping[str, Any],
        instructions: str | None = None,
    ) -> dict[str, Any] | RpcError:
        """The client's `initialize`: the result to answer with, or the error. A repeated one starts afresh."""
        spoken = tuple(versions)
        offered = params.get("protocolVersion")
        if not isinstance(offered, str):
            return RpcError(INVALID_PARAMS, "initialize needs `protocolVersion`, a string")
        revision = negotiate_legacy_server(offered, spoken)
        if revision is None:
            return unsupported(offered, spoken)
        declared, info = params.get("capabilities"), params.get("clientInfo")
        self.revision = revision
        self.capabilities = cast("dict[str, Any]", declared) if isinstance(declared, dict) else {}
        self.client_info = cast("dict[str, Any]", info) if isinstance(info, dict) else {}
        self.phase = "answered"
        result: dict[str, Any] = {
            "protocolVersion": revision,
            "capabilities": server_capabilities(revision, capabilities),
            "serverInfo": implementation(server_info, revision),
        }
        if instructions:
            result["instructions"] = instructions
        return result

    def initialized(self) -> None:
        """The client's `notifications/initialized`; before an initialize it means nothing."""
        if self.phase == "answered":
            self.phase = "ready"

    def may_send(self, method: str, params: object = None) -> caps.Refusal | None:
        """Whether the server may send this request now; None means yes (the message says why not)."""
        if self.phase != "ready" and method not in _BEFORE_READY:
            return caps.Refusal(jsonrpc.INVALID_REQUEST, f"{method} cannot be sent before the client is initialized")
        if not method.startswith("notifications/"):
            return caps.client_allows(self.capabilities, method, params)
        return None


def server_capabilities(revision: str, capabilities: Mapping[str, Any]) -> dict[str, Any]:
    """A server's capabilities without what `revision` cannot say (completions, tasks)."""
    can = features(revision)
    dropped = {"tasks"} if not can.tool_tasks else set[str]()
    if not can.completions_capability:
        dropped.add("completions")
    return {key: value for key, value in capabilities.items() if key not in dropped}


def unsupported(requested: object, versions: Iterable[str]) -> RpcError:
    """-32022, naming what this side speaks (newest first) and what was asked for."""
    spoken = sorted(versions, reverse=True)
    data = {"supported": spoken, "requested": requested if isinstance(requested, str) else str(requested)}
    return RpcError(UNSUPPORTED_VERSION, f"Unsupported protocol version: {lists_sentence([requested], spoken)}", data)
