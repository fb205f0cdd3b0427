"""Which addresses a login may go to. Pure: nothing is resolved here.

Metadata comes from servers, and says where to send requests next. A server must not learn in this way what only we can
reach. RULES

- https; http only on this machine, or where the MCP server itself is spoken to without TLS, on its very host.
- As far away as the server is, or farther: what a server on the internet names is not on our network, and what a server
  on our network names is not on this machine. Names are looked at again when they are resolved (`Reach.may_connect`).
- No user information, no fragment, nothing that two readers of the URL could read in two ways.

Source: spec 2026-07-28 "Authorization / Security Considerations"; RFC 8252 7.3; RFC 9728 7.7.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from enum import IntEnum
from urllib.parse import SplitResult, urlsplit, urlunsplit

from jupyter_mcp.client.auth.failing import shown
from jupyter_mcp.errors import AuthorizationFailed

__all__ = ["Near", "Reach", "canonical", "near", "near_host", "origin", "same_server", "within"]

_LONGEST = 4096
_PORTS = {"http": 80, "https": 443}
_PLAIN = re.compile(r"[\x21\x23-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]+\Z")  # what stands in a URL as it is
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?\.?\Z|\[[0-9A-Fa-f:.]+\]\Z")
_NUMBERS = re.compile(r"(0[xX][0-9a-fA-F]*|\d+)(\.(0[xX][0-9a-fA-F]*|\d+))*\.?\Z")  # some read these as addresses
_TRANSLATED = ipaddress.ip_network("64:ff9b::/96")  # NAT64: an IPv4 address in other words


class Near(IntEnum):
    """How near an address is."""

    PUBLIC = 0
    PRIVATE = 1
    """Of a private network."""
    HERE = 2
    """This machine, or its own link; a cloud's metadata service is there too."""


def near(address: str) -> Near:
    """How near an IP address is. Raises ValueError for what is none."""
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour
        if inner is None and found in _TRANSLATED:
            inner = ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
        found = inner or found
    if found.is_loopback or found.is_link_local or found.is_unspecified or found.is_multicast:
        return Near.HERE
    return Near.PUBLIC if found.is_global else Near.PRIVATE


def near_host(host: str) -> Near | None:
    """How near a host is, where its name says so; None when it has to be resolved."""
    name = host.lower().rstrip(".").strip("[]")
    if name == "localhost" or name.endswith(".localhost"):
        return Near.HERE
    try:
        return near(name)
    except ValueError:
        return None


def canonical(url: str) -> str:
    """The URL of an MCP server as a resource: scheme and host in small letters, no default port, user or fragment, and
    no slash that is all of the path (RFC 8707, section 2; spec "Canonical Server URI").
    """
    parts = urlsplit(url)
    scheme = parts.scheme.lower()
    path = "" if parts.path == "/" and not parts.query else parts.path
    return urlunsplit((scheme, _host_and_port(parts), path, parts.query, ""))


def origin(url: str) -> str:
    """Scheme, host and port."""
    parts = urlsplit(url)
    return f"{parts.scheme.lower()}://{_host_and_port(parts)}"


def _host_and_port(parts: SplitResult) -> str:
    host = (parts.hostname or "").lower()
    shown_host = f"[{host}]" if ":" in host else host
    port = parts.port
    return shown_host if port in (None, _PORTS.get(parts.scheme.lower())) else f"{shown_host}:{port}"


def same_server(one: str, other: str) -> bool:
    """Whether `one` is of the origin of `other`, or of the same host with TLS where `other` has none."""
    if origin(one) == origin(other):
        return True
    ours, theirs = urlsplit(one), urlsplit(other)
    upgraded = (ours.scheme.lower(), theirs.scheme.lower()) == ("https", "http")
    same_port = ours.port == theirs.port or (ours.port in (None, 443) and theirs.port in (None, 80))
    return upgraded and same_port and (ours.hostname or "") == (theirs.hostname or "")


def within(url: str, resource: str) -> bool:
    """Whether a resource's identifier is the server's URL, or one that stands above it on the same origin."""
    if origin(url) != origin(resource):
        return False
    ours, theirs = urlsplit(url), urlsplit(resource)
    if theirs.query and theirs.query != ours.query:
        return False
    above = theirs.path.rstrip("/")
    return ours.path.rstrip("/") == above or ours.path.startswith(above + "/")


@dataclass(frozen=True, slots=True)
class Reach:
    """What the server at `server_url` may make us ask.

    Attributes:
        server_url: of the MCP server.
        nearest: how near the server itself is.
        anywhere: the person allows addresses of our own network, whoever names them.
    """

    server_url: str
    nearest: Near = Near.PUBLIC
    anywhere: bool = False

    def may_connect(self, address: str) -> bool:
        """Whether an address that a name stands for may be connected to."""
        try:
            return self.anywhere or near(address) <= self.nearest
        except ValueError:
            return False

    def may_stay(self, address: str) -> bool:
        """Whether the server's own name may stand for this address: it stays as near as it was found to be, so that
        one that pretends to be near gains nothing.
        """
        try:
            return near(address) >= self.nearest
        except ValueError:
            return False

    def check(self, url: str, step: str, what: str) -> str:
        """The URL as it was given.

        Args:
            step: during which it is looked at.
            what: it is said to be ("the token endpoint").

        Raises:
            AuthorizationFailed: it must not be used.
        """
        problem = self._problem(url)
        if problem is None:
            return url
        where = shown(url)
        text = f"Logging in failed at {step}: {what} is given as {where}, {problem}."
        raise AuthorizationFailed(text, step=step, url=where)

    def _problem(self, url: str) -> str | None:
        """Why it must not be used, as a clause; None when it may be."""
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port
        except ValueError:
            return "which is no URL"
        scheme = parts.scheme.lower()
        if scheme not in _PORTS:
            return "which is no https URL"
        if len(url) > _LONGEST or not _PLAIN.match(url) or port == 0 or not _valid(parts):
            return "which is no valid URL"
        if "@" in parts.netloc or "#" in url:
            return "which holds a user or a fragment"
        found = near_host(host)
        if found is not None and found > self.nearest and not self.anywhere:
            return "an address of this machine or a private network, which the server is not on"
        if scheme == "http" and found is not Near.HERE and not self._is_plain_host(host):
            return "which is not https"
        return None

    def _is_plain_host(self, host: str) -> bool:
        """Whether the MCP server is spoken to without TLS on this host: then nothing is lost."""
        server = urlsplit(self.server_url)
        return server.scheme.lower() == "http" and (server.hostname or "").lower() == host.lower()


def _valid(parts: SplitResult) -> bool:
    """Whether its host means the same to all who read it."""
    host = parts.netloc.rpartition("@")[2]
    name = host if host.endswith("]") else host.rpartition(":")[0] or host
    if not _HOST.match(name) or ".." in name:
        return False
    return not _NUMBERS.match(name) or near_host(name) is not None
