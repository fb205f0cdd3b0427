"""What was agreed with a server, for as long as one link to it lives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.protocol.capabilities import server_allows
from jupyter_mcp.protocol.modern import envelope

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.client.link import Link
    from jupyter_mcp.protocol.revisions import Era


@dataclass(eq=False, slots=True)
class Session:
    """Everything a request needs to know about the connection it goes over.

    Attributes:
        link: what carries it.
        era, revision, info, instructions, capabilities: of the server.
        client_info, client_capabilities: ours, as declared.
        log_level: what modern requests ask for, if anything was set.
        proven: the methods that were answered in the modern way; a half modern server may know only some of them.
    """

    link: Link
    era: Era
    revision: str
    info: dict[str, Any]
    instructions: str | None
    capabilities: dict[str, Any]
    client_info: Mapping[str, Any]
    client_capabilities: Mapping[str, Any]
    log_level: str | None = None
    proven: set[str] = field(default_factory=set[str])

    def allows(self, method: str) -> bool:
        """Whether the server declared what `method` needs."""
        return server_allows(self.capabilities, method, self.revision)

    def learn(self, discovered: Mapping[str, Any]) -> None:
        """Take what a new answer to server/discover says; what it leaves out, or says oddly, stays as it was."""
        capabilities, text = discovered.get("capabilities"), discovered.get("instructions")
        if isinstance(capabilities, dict):
            self.capabilities = cast("dict[str, Any]", capabilities)
        if isinstance(text, str):
            self.instructions = text

    def shape(
        self, params: Mapping[str, Any] | None, *, token: int | str | None = None, log_level: str | None = None
    ) -> Mapping[str, Any] | None:
        """The params as they go out in this era: modern ones in their envelope, legacy ones with the token only."""
        if self.era == "modern":
            return envelope(
                params,
                revision=self.revision,
                client_info=self.client_info,
                capabilities=self.client_capabilities,
                log_level=log_level or self.log_level,
                progress_token=token,
            )
        if token is None:
            return params
        given = dict(params or {})
        given["_meta"] = {**(given.get("_meta") or {}), "progressToken": token}
        return given
