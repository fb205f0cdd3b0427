"""A person visits a page of an authorization server: what is asked of whoever shows it, and what comes back.

The flow knows no browser. It is told beforehand where the browser will come back (`Visit.prepare`), because a client is
registered with that address, and gets what the browser brought (`Visit.visit`).

Above: the flows; implementations are the host's. Source: RFC 6749 section 4.1, RFC 8252, RFC 9207.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol
from urllib.parse import parse_qsl, urlsplit

from jupyter_mcp.errors import AuthorizationFailed

__all__ = ["Prepare", "Redirect", "RedirectParams", "Visit", "VisitRequest", "read_redirect"]

STEP = "the answer of the browser"
_LONGEST = 16_384
_READ = ("code", "state", "iss", "error", "error_description", "error_uri")


@dataclass(frozen=True, slots=True)
class Prepare:
    """What is known before a page is shown.

    Attributes:
        server: name of the MCP server.
        issuer: of the authorization server.
        resource: URL of the MCP server.
        assumed: nobody said that one could log in there; it is where servers of 2025-03-26 would be logged in to.
    """

    server: str
    issuer: str
    resource: str
    assumed: bool = False


@dataclass(frozen=True, slots=True)
class Redirect:
    """Where the browser will come back.

    Attributes:
        uri: the redirect URI, to the letter.
        kind: "loopback" (a listener of this machine), "jupyter" (the Jupyter Server's own page), "paste" (a person
            brings the address by hand).
        state_prefix: with what `state` has to begin, so that whoever receives it knows whom it is for.
    """

    uri: str
    kind: Literal["loopback", "jupyter", "paste"] = "loopback"
    state_prefix: str = ""


@dataclass(frozen=True, slots=True)
class VisitRequest:
    """A page to be visited. Its URL holds no secret, only what a browser's history may hold.

    Attributes:
        server: name of the MCP server.
        authorize_url: the page.
        issuer: whose page it is.
        scopes: what is asked for; empty when the authorization server chooses.
        redirect_uri: where it comes back.
        state: what it brings back, by which it is known.
    """

    server: str
    authorize_url: str = field(repr=False)
    issuer: str
    scopes: tuple[str, ...]
    redirect_uri: str
    state: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class RedirectParams:
    """What the browser brought back; None for what was not there."""

    code: str | None = field(default=None, repr=False)
    state: str | None = field(default=None, repr=False)
    iss: str | None = None
    error: str | None = None
    error_description: str | None = None
    error_uri: str | None = None


class Visit(Protocol):
    """Shows pages to a person. Called on the event loop."""

    async def prepare(self, context: Prepare) -> Redirect:
        """Say where the browser will come back, and be ready for it.

        Raises:
            AuthorizationFailed: nobody can visit a page here (headless); says what to set instead.
        """
        ...

    async def visit(self, request: VisitRequest) -> RedirectParams | str:
        """Show the page and wait; returns what came back, or the whole address the browser came back to.

        Raises:
            AuthorizationFailed: with `declined` when the person said no.
        """
        ...


def read_redirect(url: str, redirect_uri: str | None = None) -> RedirectParams:
    """What the address says that a browser came back to.

    Args:
        url: with its query; a person may have pasted it.
        redirect_uri: where it was to come back; None does not look.

    Raises:
        AuthorizationFailed: it is another address, or says something twice.
    """
    url = url.strip()
    try:
        parts = urlsplit(url) if len(url) <= _LONGEST else None
        expected = None if redirect_uri is None else urlsplit(redirect_uri)
    except ValueError:
        parts = expected = None
    if parts is None or (expected is not None and (parts.scheme, parts.netloc, parts.path) != expected[:3]):
        raise AuthorizationFailed(
            "This is not the address the browser came back to.",
            step=STEP,
            hint=None if redirect_uri is None else f"It begins with {redirect_uri}.",
        )
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    found = {name: value for name, value in pairs if name in _READ}
    if len(found) != sum(name in _READ for name, _ in pairs):
        raise AuthorizationFailed("The browser came back with an answer that says something twice.", step=STEP)
    return RedirectParams(**found)
