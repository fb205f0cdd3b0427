"""What each side declares, and what follows from it: may this be sent, must that be refused.

Functions of dicts in the shape of the wire. They forgive odd shapes (`"tasks": true`, `"logging": null`), because one
odd entry must not cost the connection. Nothing is sent or decided for a person here.

Above: connection (gating both ways), server (never ask beyond what is declared), modern.rounds.
Source: spec "Lifecycle / Capability negotiation"; "Elicitation", "Sampling", "Roots" / errors; 2026-07-28 "MRTR".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.protocol.jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND
from jupyter_mcp.protocol.methods import TABLE
from jupyter_mcp.protocol.revisions import LATEST_LEGACY, era, features
from jupyter_mcp.protocol.shapes import is_mapping, is_object

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jupyter_mcp.protocol.methods import Role


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a client does not do what a server asks.

    Attributes:
        code: the JSON-RPC code of the legacy answer (-32601 unknown or undeclared, -32602 undeclared mode).
        message: one sentence.
        required: the capability that was not declared, in the shape of ClientCapabilities (for -32021).
    """

    code: int
    message: str
    required: dict[str, Any] | None = None


def client_capabilities(
    revision: str,
    *,
    elicitation_form: bool = True,
    elicitation_url: bool = True,
    sampling: bool = True,
    sampling_tools: bool = False,
    sampling_context: bool = False,
    roots: bool = True,
    roots_list_changed: bool = False,
    experimental: Mapping[str, Any] | None = None,
    extensions: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The client's capabilities in the shape of `revision`; what that revision cannot say is left out."""
    can = features(revision)
    caps: dict[str, Any] = {}
    if roots:
        caps["roots"] = {"listChanged": True} if roots_list_changed and era(revision) == "legacy" else {}
    if sampling:
        parts = {"tools": sampling_tools, "context": sampling_context} if can.sampling_tools else {}
        caps["sampling"] = {name: {} for name, wanted in parts.items() if wanted}
    if can.elicitation_modes:
        modes: dict[str, Any] = {"form": {}} if elicitation_form else {}
        if elicitation_url:
            modes["url"] = {}
        if modes:
            caps["elicitation"] = modes
    elif can.elicitation and elicitation_form:
        caps["elicitation"] = {}
    if experimental:
        caps["experimental"] = dict(experimental)
    if extensions:  # newer than the legacy revisions, whose capabilities are an open set: hosts do send it there
        caps["extensions"] = dict(extensions)
    return caps


def declared(caps: object, path: Sequence[str]) -> bool:
    """Whether a capability is declared: every step of `path` is there and neither null nor false."""
    here = caps
    for step in path:
        if not (is_object(here) or is_mapping(here)):  # the quick test first
            return here is True  # `"resources": true`: generous words for "all of it"
        here = here.get(step)
        if here is None or here is False:
            return False
    return True


def extension(caps: object, id: str) -> Mapping[str, Any] | None:
    """The settings under which an extension is declared ({} when it is declared without); None when it is not."""
    if not declared(caps, ("extensions", id)):
        return None
    extensions = cast("Mapping[str, Any]", caps)["extensions"]
    settings: object = cast("Mapping[str, Any]", extensions).get(id) if isinstance(extensions, Mapping) else None
    return cast("Mapping[str, Any]", settings) if isinstance(settings, Mapping) else {}


def server_allows(caps: object, method: str, revision: str = LATEST_LEGACY) -> bool:
    """Whether a client may send `method` to a server that declared `caps`.

    Methods that are not in the table are allowed: the server will say whether it knows them.
    """
    row = TABLE.get(method)
    if row is None:
        return True
    if method == "completion/complete" and not features(revision).completions_capability:
        return True
    path = row.capability_in(era(revision))
    return path is None or row.owner == "client" or declared(caps, path)


def may_notify(caps: object, method: str, revision: str, sender: Role) -> bool:
    """Whether `sender`, having declared `caps` itself, may send this notification."""
    row = TABLE.get(method)
    path = row.capability_in(era(revision)) if row else None
    return path is None or row is None or row.owner not in (sender, "receiver") or declared(caps, path)


def client_allows(caps: object, method: str, params: object = None) -> Refusal | None:
    """Whether a client that declared `caps` answers a server's request; None means yes.

    Used by the client on what arrives, and by the server before it asks.
    """
    given: Mapping[str, Any] = cast("Mapping[str, Any]", params) if isinstance(params, Mapping) else {}
    if method == "ping":
        return None
    if method == "elicitation/create":
        return _elicitation_allowed(caps, given)
    if method == "sampling/createMessage":
        return _sampling_allowed(caps, given)
    if method == "roots/list":
        return None if declared(caps, ("roots",)) else _undeclared("roots", method)
    row = TABLE.get(method)
    if row is not None and row.legacy == "both" and row.capability and declared(caps, row.capability):
        return None  # tasks of 2025-11-25, once declared
    return Refusal(METHOD_NOT_FOUND, f"Method not found: {method}")


def _undeclared(capability: str, method: str) -> Refusal:
    return Refusal(METHOD_NOT_FOUND, f"{method}: this client did not declare {capability}", {capability: {}})


def _elicitation_allowed(caps: object, params: Mapping[str, Any]) -> Refusal | None:
    if not declared(caps, ("elicitation",)):
        return _undeclared("elicitation", "elicitation/create")
    mode = params.get("mode") or "form"
    modes = cast("Mapping[str, Any]", caps)["elicitation"] if isinstance(caps, Mapping) else None
    if mode == "form":
        # `elicitation: {}` means form; only `{url: {}}` alone excludes it
        only_url = declared(modes, ("url",)) and not declared(modes, ("form",)) and modes is not True
        return _mode_refusal("form") if only_url else None
    if mode == "url":
        return (
            None if isinstance(modes, Mapping) and declared(cast("object", modes), ("url",)) else _mode_refusal("url")
        )
    return Refusal(INVALID_PARAMS, f"Unknown elicitation mode {str(mode)[:40]!r}")


def _mode_refusal(mode: str) -> Refusal:
    return Refusal(
        INVALID_PARAMS, f"This client did not declare elicitation in {mode} mode", {"elicitation": {mode: {}}}
    )


def _sampling_allowed(caps: object, params: Mapping[str, Any]) -> Refusal | None:
    if not declared(caps, ("sampling",)):
        return _undeclared("sampling", "sampling/createMessage")
    wants_tools = params.get("tools") is not None or params.get("toolChoice") is not None
    if wants_tools and not declared(caps, ("sampling", "tools")):
        return Refusal(INVALID_PARAMS, "This client did not declare sampling with tools", {"sampling": {"tools": {}}})
    return None
