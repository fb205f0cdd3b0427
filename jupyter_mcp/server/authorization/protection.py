"""A server as a protected resource: its metadata, the challenges it answers with, audience and scopes.

Functions of values but for the verifier. RULES

- A token is taken from the `Authorization` header only, never from the query or a form (RFC 6750 2.2, 2.3).
- A token for somebody else is no token here, however valid: that is what keeps one server from using the tokens that
  it was given at another one (RFC 8707; spec "Token Audience Binding").
- Whoever is refused learns what to ask for (`scope`) and where (`resource_metadata`), nothing of the token.

Above: `server.http`. Below: `server.access`.
"""

from __future__ import annotations

import re
import time
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from jupyter_mcp.errors import ConnectionFailed, UsageError
from jupyter_mcp.server.authorization.urls import canonical, same_resource, wrong_url
from jupyter_mcp.server.http.guard import Refusal

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from jupyter_mcp.server.access import Access, Verifier

WELL_KNOWN = "/.well-known/oauth-protected-resource"
_SCOPE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+")  # RFC 6749, 3.3
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")  # RFC 6750, 2.1
_LONGEST_TOKEN = 16_384


class Protection:
    """What an endpoint needs to know to be a protected resource.

    Args:
        verifier: says what a token allows.
        resource: the URL of the endpoint as clients use it (behind a proxy: the proxy's).
        audiences: names of this server in tokens, for providers that do not name it by its URL; by default the URL.
        scopes: what a token must allow for anything at all.
        tool_scopes: what it must allow besides, to call tools: by name or pattern ("book_*").
        users: whose tokens are taken: subjects, or verified mail addresses; by default everybody's.
        scopes_supported: what clients are told there is; by default all scopes named here.
        name: of the resource, for people.
        documentation: URL of a page about it.

    Raises:
        UsageError: a URL or a scope that cannot be one.
    """

    def __init__(
        self,
        verifier: Verifier,
        *,
        resource: str,
        audiences: Sequence[str] = (),
        scopes: Sequence[str] = (),
        tool_scopes: Mapping[str, Sequence[str]] | None = None,
        users: Sequence[str] = (),
        scopes_supported: Sequence[str] | None = None,
        name: str | None = None,
        documentation: str | None = None,
    ) -> None:
        if problem := wrong_url(resource):
            raise UsageError(f"The resource is the URL of the endpoint as clients use it; {problem}.")
        if any(isinstance(one, str) for one in (audiences, scopes, users)):
            raise UsageError("audiences, scopes and users are lists of strings.")
        self.verifier = verifier
        self.resource = canonical(resource)
        self.audiences = tuple(audiences) or (self.resource,)
        self.users = frozenset(users)
        self.scopes = _checked(scopes)
        self.tool_scopes = {pattern: _checked(needed) for pattern, needed in (tool_scopes or {}).items()}
        every = (*self.scopes, *(scope for needed in self.tool_scopes.values() for scope in needed))
        self.scopes_supported = _checked(scopes_supported if scopes_supported is not None else every)
        self._about = {"resource_name": name, "resource_documentation": documentation}
        if not verifier.issuers:
            raise UsageError("The verifier names no issuer, so clients would not know where to get a token.")

    def __repr__(self) -> str:
        return f"<Protection of {self.resource} by {', '.join(self.verifier.issuers)}>"

    # --- metadata (RFC 9728)

    @property
    def host(self) -> str:
        """The name under which clients come, without a port."""
        return urlsplit(self.resource).hostname or ""

    @property
    def metadata_path(self) -> str:
        """Where its metadata is, below the origin: the well-known path goes before the resource's own (RFC 9728, 3)."""
        return WELL_KNOWN + urlsplit(self.resource).path.rstrip("/")

    @property
    def metadata_url(self) -> str:
        """The same as a URL."""
        parts = urlsplit(self.resource)
        return f"{parts.scheme}://{parts.netloc}{self.metadata_path}"

    def metadata(self) -> dict[str, Any]:
        """The protected-resource metadata."""
        found: dict[str, Any] = {
            "resource": self.resource,
            "authorization_servers": list(self.verifier.issuers),
            "bearer_methods_supported": ["header"],
        }
        if self.scopes_supported:
            found["scopes_supported"] = list(self.scopes_supported)
        return found | {key: value for key, value in self._about.items() if value}

    # --- a request

    async def admit(self, authorizations: Sequence[str]) -> Access | Refusal:
        """What a request with these `Authorization` headers may do, or why it is not taken."""
        if not authorizations:
            return Refusal(401, "This server wants an access token (Authorization: Bearer).", self._challenge())
        token = _bearer(authorizations)
        if token is None:
            return self._malformed()
        try:
            access = await self.verifier.verify(token)
        except ConnectionFailed:
            return Refusal(503, "The authorization server cannot be asked now whether this token is valid.")
        if access is None or _is_over(access):
            return self._invalid("The access token is not valid, or has ended.")
        if not any(same_resource(given, own) for given in access.audience for own in self.audiences):
            return self._invalid("The access token was issued for another server.")
        if self.users and not access.is_of(self.users):
            return Refusal(403, "This is not served to whoever the access token was issued for.")
        return self._lacks(self.scopes, access) or access

    def check_messages(self, access: Access, message: object) -> Refusal | None:
        """Whether the token allows what a message, or any of a batch, asks for."""
        if not self.tool_scopes:
            return None
        messages = cast("list[object]", message) if isinstance(message, list) else [message]
        needed = [scope for one in messages for scope in self._needed(one)]
        return self._lacks(tuple(dict.fromkeys((*self.scopes, *needed))), access) if needed else None

    def _needed(self, message: object) -> Iterable[str]:
        if not isinstance(message, dict):
            return
        request = cast("dict[str, Any]", message)
        params = request.get("params")
        if request.get("method") != "tools/call" or not isinstance(params, dict):
            return
        name = cast("dict[str, Any]", params).get("name")
        for pattern, scopes in self.tool_scopes.items():
            if isinstance(name, str) and fnmatchcase(name, pattern):
                yield from scopes

    # --- refusals

    def _lacks(self, needed: Collection[str], access: Access) -> Refusal | None:
        missing = [scope for scope in needed if scope not in access.scopes]
        if not missing:
            return None
        text = f"This needs more than the access token allows: {' '.join(missing)}."
        return Refusal(403, text, self._challenge("insufficient_scope", text, needed))

    def _invalid(self, text: str) -> Refusal:
        return Refusal(401, text, self._challenge("invalid_token", text))

    def _malformed(self) -> Refusal:
        text = "Send one Authorization header: Bearer, a blank, the token."
        return Refusal(400, text, self._challenge("invalid_request", text))

    def _challenge(self, error: str = "", text: str = "", scopes: Collection[str] | None = None) -> str:
        """The `WWW-Authenticate` header. Whoever sent no token is told of no error (RFC 6750, 3.1)."""
        given = {
            "error": error,
            "error_description": text,
            "scope": " ".join(self.scopes if scopes is None else scopes),
            "resource_metadata": self.metadata_url,
        }
        return "Bearer " + ", ".join(f'{key}="{value}"' for key, value in given.items() if value)


def _bearer(authorizations: Sequence[str]) -> str | None:
    if len(authorizations) != 1:
        return None
    scheme, _, token = authorizations[0].strip().partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or len(token) > _LONGEST_TOKEN or not _TOKEN.fullmatch(token):
        return None
    return token


def _is_over(access: Access) -> bool:
    return access.expires_at is not None and access.expires_at <= time.time()


def _checked(scopes: Iterable[str]) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(scopes))
    if wrong := [scope for scope in found if not _SCOPE.fullmatch(scope)]:
        raise UsageError(f"A scope is printable ASCII without blanks, quotes and backslashes: {wrong[0]!r}.")
    return found
