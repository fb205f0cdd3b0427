"""An organisation's identity provider before a notebook: who comes through a proxy, with an access token.

The notebook's own token stays what it is for clients on the same machine. Nobody is let in by the provider who is not
named: a kernel is a person's own, and an organisation has many.

Above: `serving`. Below: `server.authorization`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jupyter_mcp.errors import UsageError

__all__ = ["EVERYBODY", "Provider"]

EVERYBODY = "*"


@dataclass(frozen=True, slots=True)
class Provider:
    """Who may come besides the clients on this machine.

    Attributes:
        issuer: the identity provider, as its tokens name it; its published keys check them.
        resource: the notebook's URL as clients outside use it (the proxy's). Tokens must be issued for it.
        users: subjects of tokens (`sub`), or verified mail addresses; `*` is everybody who gets a token for it.
        scopes: what a token must allow.
        port: where to listen, so that the proxy knows; 0: where it listened before, or any.
    """

    issuer: str
    resource: str
    users: tuple[str, ...]
    scopes: tuple[str, ...] = ()
    port: int = 0

    def options(self) -> dict[str, Any]:
        """For `serve_http`. Raises UsageError: something is missing, or cannot be what it is said to be."""
        from jupyter_mcp.server.authorization import JwtVerifier
        from jupyter_mcp.server.authorization.protection import Protection

        if not self.resource:
            raise UsageError(
                "An issuer needs the notebook's URL as clients outside use it.", hint="Say it with --resource URL."
            )
        if not self.users:
            raise UsageError(
                "An issuer needs to be told who may come.",
                hint="Say --user NAME (the subject of their tokens, or their mail address), or --user '*' for all.",
            )
        if not 0 <= self.port < 65_536:
            raise UsageError(f"A port is a number up to 65535, not {self.port}.")
        users = () if EVERYBODY in self.users else self.users
        options: dict[str, Any] = {"resource": self.resource, "scopes": self.scopes, "users": users}
        verifier = JwtVerifier(self.issuer)
        Protection(verifier, **options)  # what is wrong is said now, and not when everything else has been ended
        return {"verifier": verifier, **options}
