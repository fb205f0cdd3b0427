"""The Content Security Policy of a page: from the origins that it declares, each checked, nothing else. Pure.

    declared nothing    scripts and styles that stand in the page itself, pictures and sounds as `data:`; no network
    declared origins    those as well, each for what it was declared for; `blob:` and `data:`, which reach no network

There is no `'self'`: a page without an origin has none, and a browser that took the notebook's for it would open the
Jupyter server to the page. There is no `'unsafe-eval'`. What is no plain origin is left out, with the reason: whatever
could end a directive, name a keyword, or stand for everything; and what is near the notebook rather than out in the
world (loopback, private networks, names without a dot), unless the person trusts the server.

Source: SEP-1865 "Host Behavior", "Content Security Policy Enforcement"; CSP Level 3, section 2.3.1 (source lists).
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jupyter_mcp.protocol.framing import printable
from jupyter_mcp.protocol.shapes import is_list, mapping_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Policy", "origin_of", "read"]

_MOST = 64  # origins of one kind
_SHOWN = 80
_KINDS = {
    "connectDomains": ("https", "wss"),
    "resourceDomains": ("https",),
    "frameDomains": ("https",),
    "baseUriDomains": ("https",),
}
_PLAIN = {"https": "http", "wss": "ws"}  # as they are where nothing can listen in between: on this machine
_ORIGIN = re.compile(r"(?:([a-z]+)://)?((?:\*\.)?)([a-z0-9.-]{1,253})(?::(\d{1,5}))?/?\Z")
_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\Z")
_LOCAL_ENDINGS = ("localhost", "local", "internal", "intranet", "lan", "home", "corp", "arpa")


@dataclass(frozen=True, slots=True)
class Policy:
    """What a page may reach.

    Attributes:
        connect, resources, frames, bases: origins for requests; for scripts, styles, pictures, fonts and sounds; for
            frames inside the page; for the base of its addresses.
        declared: the page said what it needs, if only that it needs nothing.
        refused: what it declared and does not get, a sentence each.
    """

    connect: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()
    bases: tuple[str, ...] = ()
    declared: bool = False
    refused: tuple[str, ...] = field(default=())

    @property
    def origins(self) -> tuple[str, ...]:
        """All origins of whatever kind, each once."""
        return tuple(dict.fromkeys((*self.connect, *self.resources, *self.frames, *self.bases)))

    @property
    def text(self) -> str:
        """The policy as a header or a `meta` element holds it."""
        return "; ".join(f"{name} {' '.join(sources)}" for name, sources in self._directives())

    def wire(self) -> dict[str, list[str]]:
        """What was granted, as `McpUiResourceCsp`."""
        kinds = zip(_KINDS, (self.connect, self.resources, self.frames, self.bases), strict=True)
        return {name: list(origins) for name, origins in kinds if origins}

    def _directives(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        local = ("blob:", "data:") if self.declared else ()
        none = ("'none'",)
        yield "default-src", none
        yield "script-src", ("'unsafe-inline'", *local, *self.resources)
        yield "style-src", ("'unsafe-inline'", *local, *self.resources)
        yield "img-src", ("data:", *local[:1], *self.resources)
        yield "media-src", ("data:", *local[:1], *self.resources)
        yield "font-src", (*local, *self.resources) or none
        yield "worker-src", local[:1] or none
        yield "connect-src", self.connect or none
        yield "frame-src", self.frames or none
        yield "object-src", none
        yield "base-uri", self.bases or none
        yield "form-action", none


def read(declared: object, *, local: bool = False) -> Policy:
    """The policy for what a page declares.

    Args:
        declared: its `_meta.ui.csp`, untrusted; None when it has none.
        local: the person trusts the server, whose pages may reach this machine and its network then.
    """
    given = mapping_of(declared)
    refused: list[str] = []
    connect, resources, frames, bases = (tuple(_origins(given, kind, local, refused)) for kind in _KINDS)
    return Policy(connect, resources, frames, bases, declared is not None, tuple(dict.fromkeys(refused)))


def _origins(given: Mapping[str, object], kind: str, local: bool, refused: list[str]) -> Iterator[str]:
    listed = given.get(kind)
    if listed is None:
        return
    if not is_list(listed):
        refused.append(f"{kind} is no list")
        return
    seen: set[str] = set()
    for entry in listed[:_MOST]:
        origin, why = origin_of(entry, _KINDS[kind], local=local)
        if origin is None:
            refused.append(f"{printable(entry if isinstance(entry, str) else repr(entry), _SHOWN)} ({kind}): {why}")
        elif origin not in seen:
            seen.add(origin)
            yield origin
    if len(listed) > _MOST:
        refused.append(f"{kind} lists {len(listed):,} origins; {_MOST} are the most")


def origin_of(entry: object, schemes: tuple[str, ...], *, local: bool = False) -> tuple[str | None, str]:
    """One declared origin as it may stand in a policy, or None and why not.

    Args:
        entry: as declared, untrusted.
        schemes: that are allowed; the first one where none is given.
        local: also what is near the notebook, also unencrypted there.
    """
    if not isinstance(entry, str):
        return None, "no text"
    found = _ORIGIN.match(entry.lower()) if entry.isascii() else None
    if found is None:
        return None, "not a plain origin like https://example.com"
    scheme, wildcard, host, port = found[1] or schemes[0], found[2], found[3], found[4]
    near = _is_near(host)
    allowed = (*schemes, *(_PLAIN[one] for one in schemes)) if near and local else schemes
    if scheme not in allowed:
        return None, f"only {' and '.join(f'{one}:' for one in schemes)} can be allowed"
    if port is not None and not 0 < int(port) < 65_536:
        return None, "no such port"
    if not all(_LABEL.match(label) for label in host.split(".")):
        return None, "no valid name of a site"
    if wildcard and (near or host.count(".") < 1 or host.replace(".", "").isdigit()):
        return None, "it stands for too much"
    if near and not local:
        return None, "it is on this machine or in its network (connect the server with --trust to allow that)"
    return f"{scheme}://{wildcard}{host}{f':{port}' if port else ''}", ""


def _is_near(host: str) -> bool:
    """This machine, a private network, or a name that only a private network knows."""
    labels = host.split(".")
    if labels[-1] in _LOCAL_ENDINGS:
        return True
    if labels[-1].isdigit() or re.fullmatch(r"0x[0-9a-f]*", labels[-1]):  # a number, in one of its spellings
        try:
            return not ipaddress.IPv4Address(host).is_global
        except ValueError:
            return True  # browsers read 127.1 and 0x7f000001 as addresses, too
    return len(labels) == 1
