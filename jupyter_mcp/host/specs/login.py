"""How a person wants to log in to an HTTP server, as written: who we are there, by which grant. Pure.

Texts are unexpanded until the moment of connecting, so what is kept and shown holds no secret that came from the
environment. What it means is `client.auth.settings`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.errors import UsageError
from jupyter_mcp.protocol.shapes import as_list, is_mapping

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from jupyter_mcp.client.auth.settings import OAuthSettings

__all__ = ["AS_ANYBODY", "LOGIN_KEYS", "LoginWay", "read_login"]

LOGIN_KEYS = (
    *("oauth_client_id", "oauth_client_secret", "oauth_private_key", "oauth_issuer", "oauth_scopes", "oauth_grant"),
)
GRANTS = {"person": "person", "client-credentials": "client-credentials", "client_credentials": "client-credentials"}
_ENTRY = {
    "oauth_client_id": ("clientId", "client_id", "CLIENT_ID"),
    "oauth_client_secret": ("clientSecret", "client_secret", "CLIENT_SECRET"),
    "oauth_private_key": ("privateKey", "private_key"),
    "oauth_issuer": ("issuer", "authorizationServer"),
    "oauth_scopes": ("scopes", "scope"),
    "oauth_grant": ("grant", "grantType", "grant_type"),
}


@dataclass(frozen=True)
class LoginWay:
    """
    Attributes:
        client_id: ours, where somebody registered us; "" registers us.
        client_secret: that goes with it.
        private_key: a file with a key (PEM or JWK) that signs for us instead of a secret.
        issuer: the authorization server that the client id belongs to.
        scopes: what to ask for instead of what the server says; None asks for that.
        grant: "person" (a browser) or "client-credentials" (nobody is there).
    """

    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    private_key: str = ""
    issuer: str = ""
    scopes: tuple[str, ...] | None = None
    grant: str = "person"

    def expanded(self, fill: Callable[[str, str], str], folder: Callable[[str], str]) -> LoginWay:
        """The same with placeholders filled and the path absolute. See `Way.expanded`."""
        if self == AS_ANYBODY:
            return self
        return replace(
            self,
            client_id=fill(self.client_id, "oauth.clientId"),
            client_secret=fill(self.client_secret, "oauth.clientSecret"),
            private_key=folder(fill(self.private_key, "oauth.privateKey")) if self.private_key else "",
            issuer=fill(self.issuer, "oauth.issuer"),
        )

    def describe(self) -> str:
        """What is not as usual, in brackets; no secrets."""
        said = [
            f"client: {self.client_id}" if self.client_id else "",
            f"issuer: {self.issuer}" if self.issuer else "",
            "client credentials" if self.grant != "person" else "",
        ]
        return f"({', '.join(filter(None, said))})" if any(said) else ""

    def settings(self) -> OAuthSettings:
        """What it means; of an expanded one. Raises `UsageError` for a key that cannot be read."""
        from jupyter_mcp.client.auth.settings import OAuthSettings

        return OAuthSettings(
            client_id=self.client_id or None,
            client_secret=self.client_secret or None,
            private_key=_key(self.private_key) if self.private_key else None,
            issuer=self.issuer or None,
            scopes=self.scopes,
            grant=_grant(self.grant),
        )


AS_ANYBODY = LoginWay()


def read_login(name: str, given: Mapping[str, Any], base: LoginWay = AS_ANYBODY) -> LoginWay:
    """What of `given` is about logging in (`LOGIN_KEYS`), over `base`. Raises `UsageError`."""
    changes: dict[str, Any] = {}
    for key in ("oauth_client_id", "oauth_client_secret", "oauth_private_key", "oauth_issuer"):
        if key in given:
            value = given[key]
            if not isinstance(value, str) or not value:
                raise UsageError(f"{name}: {key} is a text.")
            changes[key.removeprefix("oauth_")] = value
    if "oauth_scopes" in given:
        changes["scopes"] = _scopes(name, given["oauth_scopes"])
    if "oauth_grant" in given:
        grant = GRANTS.get(str(given["oauth_grant"]))
        if grant is None:
            raise UsageError(f"{name}: oauth_grant is person or client-credentials, not {given['oauth_grant']!r:.40}.")
        changes["grant"] = grant
    found = replace(base, **changes)
    if found.grant != "person" and not (found.client_id and (found.client_secret or found.private_key)):
        raise UsageError(
            f"{name}: client credentials need a client id, and its secret or private key.",
            hint="--oauth-client-id ID --oauth-client-secret ${SECRET}",
        )
    if (found.client_secret or found.private_key) and not found.client_id:
        raise UsageError(f"{name}: a client's secret or key says nothing without its id (oauth_client_id).")
    return found


def read_entry(name: str, entry: Mapping[str, Any]) -> LoginWay:
    """What an entry of a configuration file says: `oauth`, or `auth` as Cursor writes it. Raises `UsageError`."""
    table = entry.get("oauth", entry.get("auth"))
    if not is_mapping(table):
        return AS_ANYBODY
    given = {
        key: table[spelt] for key, spellings in _ENTRY.items() for spelt in spellings if table.get(spelt) is not None
    }
    return read_login(name, given)


def _scopes(name: str, value: Any) -> tuple[str, ...]:
    words: Sequence[Any] = (
        [value]
        if isinstance(value, str)
        else as_list(list(cast("tuple[Any, ...]", value)) if isinstance(value, tuple) else value)
    )
    found = [part for word in words if isinstance(word, str) for part in word.split()]
    if not found or not all(isinstance(word, str) for word in words):
        raise UsageError(f"{name}: oauth_scopes are words, in one text or as a list.")
    return tuple(found)


def _grant(grant: str) -> Any:
    if grant == "person":
        return None
    from jupyter_mcp.client.auth.clientcredentials import ClientCredentials

    return ClientCredentials()


def _key(path: str) -> str:
    from pathlib import Path

    from jupyter_mcp.host.specs.files import read_text

    return read_text(Path(path))
