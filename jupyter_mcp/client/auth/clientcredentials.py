"""Nobody is there: the client logs in as itself, with a secret or a signature. A flow.

Source: the extension `io.modelcontextprotocol/oauth-client-credentials`; RFC 6749 section 4.4, RFC 7523 section 2.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jupyter_mcp.client.auth.tokens import ask

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jupyter_mcp.client.auth.steps import Flow
    from jupyter_mcp.client.auth.store import Tokens
    from jupyter_mcp.client.auth.tokens import Asking

__all__ = ["ClientCredentials"]


@dataclass(frozen=True, slots=True)
class ClientCredentials:
    """The grant; what it needs (`client_id`, and `client_secret` or `private_key`) stands in the settings."""

    def tokens(self, asking: Asking, resource: str, scopes: Sequence[str]) -> Flow[Tokens]:
        """Tokens for ourselves. Raises `AuthorizationFailed`."""
        form = {"grant_type": "client_credentials", "resource": resource}
        if scopes:
            form["scope"] = " ".join(scopes)
        return ask(asking, form, scopes)
