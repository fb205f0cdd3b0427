"""Who may speak to an endpoint: Host, Origin and token, as functions of values.

A page that a person has open in a browser can reach servers on their machine: by its own requests (Origin says who),
or by a name that it points at 127.0.0.1 (Host says which). A server on loopback therefore answers to its own names
only, takes no foreign Origin, and wants a token.

Source: spec 2026-07-28 "Streamable HTTP / Security Warning"; RFC 6750.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jupyter_mcp.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
_HOST = re.compile(r"([A-Za-z0-9._-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::([0-9]{0,5}))?")  # RFC 9110, 7.2


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is not taken. `challenge` is the `WWW-Authenticate` header."""

    status: int
    text: str
    challenge: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Token:
    """A bearer token as this side keeps it: only its digest, which is also who the client is."""

    digest: bytes = field(repr=False)

    @classmethod
    def of(cls, token: str) -> Token:
        """Raises UsageError when this cannot be a bearer token."""
        if not token or not token.isascii() or not token.isprintable() or " " in token:
            raise UsageError("A token is printable ASCII without blanks, and not empty.")
        return cls(_digest(token.encode()))

    def __repr__(self) -> str:
        return "<Token>"

    @property
    def principal(self) -> str:
        """Who the bearer is: part of a digest of the token, which says nothing about the token."""
        return hashlib.sha256(b"principal" + self.digest).hexdigest()[:32]

    def check(self, authorizations: Sequence[str]) -> Refusal | None:
        """Whether the `Authorization` headers carry this token; the time it takes says nothing about it."""
        if len(authorizations) != 1:
            return Refusal(401, "This server wants a token (Authorization: Bearer).", "Bearer")
        scheme, _, given = authorizations[0].strip().partition(" ")
        sent = _digest(given.strip().encode("latin-1", "replace"))
        if scheme.lower() != "bearer" or not hmac.compare_digest(sent, self.digest):
            return Refusal(401, "This is not the token of this server.", 'Bearer error="invalid_token"')
        return None


def new_token() -> str:
    """A random token (256 bits)."""
    return secrets.token_urlsafe(32)


def _digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()


class Names:
    """Which `Host` and `Origin` an endpoint answers to.

    Args:
        hosts: names without a port ("localhost", "[::1]", "example.org"); the port is not looked at, because tunnels
            and proxies change it.
        origins: whole origins ("https://example.org") of pages that may call it beside its own.
    """

    def __init__(self, hosts: Iterable[str], origins: Iterable[str] = ()) -> None:
        self.hosts = frozenset(_bare(host) for host in hosts)
        self._origins = frozenset(origin.rstrip("/").lower() for origin in origins)
        self._known: set[tuple[str, str]] = set()  # pairs that passed: requests repeat themselves

    def check(self, hosts: Sequence[str], origins: Sequence[str]) -> Refusal | None:
        """Whether a request with these `Host` and `Origin` headers is for this endpoint, and not from elsewhere."""
        if len(hosts) != 1 or len(origins) > 1:
            return Refusal(400, "One Host header, and one Origin at most.")
        host, origin = hosts[0], origins[0] if origins else ""
        if (host, origin) in self._known:
            return None
        if _name_of(host) not in self.hosts:
            text = f"This server does not answer to the name {_shown(host)}; its author can allow it by hosts=…"
            return Refusal(421, text)
        if origin and not self._own(origin, host):
            return Refusal(403, f"Requests from pages of {_shown(origin)} are not taken; see origins=…")
        if len(self._known) < 64:
            self._known.add((host, origin))
        return None

    def _own(self, origin: str, host: str) -> bool:
        lowered = origin.lower()
        return lowered in self._origins or lowered in (f"http://{host.lower()}", f"https://{host.lower()}")


def is_loopback(host: str) -> bool:
    """Whether an address (or the name localhost) reaches this machine only."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _name_of(host: str) -> str:
    """The name in a `Host` header; "" when it holds anything else."""
    match = _HOST.fullmatch(host)
    return _bare(match[1]) if match is not None and int(match[2] or 0) < 2**16 else ""


def _bare(name: str) -> str:
    return name.strip().lower().strip("[]").rstrip(".")


def _shown(text: str) -> str:
    return repr(text[:80])
