"""What a person may set about logging in to one server; values only."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from jupyter_mcp.client.auth.clientcredentials import ClientCredentials
    from jupyter_mcp.client.auth.enterprise import Enterprise
    from jupyter_mcp.client.auth.workload import Workload

__all__ = ["OAuthSettings"]


@dataclass(frozen=True, slots=True)
class OAuthSettings:
    """How to log in. A repr shows no secret.

    Attributes:
        client_name: who we say we are, where we register ourselves.
        client_id: ours, where somebody registered us; None registers us.
        client_secret: that goes with it.
        auth_method: how the token endpoint learns it ("client_secret_basic", "client_secret_post", "none"); None
            chooses by what the authorization server takes.
        private_key: a key that signs for us instead of a secret (private_key_jwt): PEM, or a JWK as JSON. Needs the
            extra [auth].
        algorithm: in which it signs; None is that of the key.
        issuer: the authorization server that `client_id` belongs to; None is the first that the server names.
        document: https URL of a document about this client, which is then its id where such are taken.
        scopes: what to ask for, instead of what the server says; None asks for that.
        grant: how tokens are had; None is by a person in a browser.
        dpop: tokens bound to a key of this process: "auto" where the server insists on them, "always", "never".
            Needs the extra [auth].
        offline: ask for tokens that last beyond the session, where they can be had (`offline_access`).
        anywhere: let metadata name addresses of our own network, whoever the server is.
    """

    client_name: str = "Jupyter MCP"
    client_id: str | None = None
    client_secret: str | None = field(default=None, repr=False)
    auth_method: str | None = None
    private_key: str | None = field(default=None, repr=False)
    algorithm: str | None = None
    issuer: str | None = None
    document: str | None = None
    scopes: tuple[str, ...] | None = None
    grant: ClientCredentials | Enterprise | Workload | None = None
    dpop: Literal["auto", "always", "never"] = "auto"
    offline: bool = True
    anywhere: bool = False
