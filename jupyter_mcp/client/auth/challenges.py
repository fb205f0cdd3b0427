"""`WWW-Authenticate`, read with patience: several challenges in one header, several headers, quoted or not.

Source: RFC 9110 section 11.6.1, RFC 6750 section 3, RFC 9728 section 5.1, RFC 9449 section 7.1.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = ["Scheme", "Wanted", "read", "wanted"]

_LONGEST = 16_384
_NAME = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_PARAMETER = re.compile(rf"({_NAME})\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|([^\s,\"]*))")
_SCHEME = re.compile(rf"({_NAME})(?=\s|,|\Z)")
_TOKEN68 = re.compile(r"[A-Za-z0-9\-._~+/]+=*(?=\s*(?:,|\Z))")


@dataclass(frozen=True, slots=True)
class Scheme:
    """One challenge: the scheme in lower case, its parameters by name in lower case (the first of each counts)."""

    name: str
    parameters: Mapping[str, str] = field(default_factory=dict[str, str])


def read(headers: Iterable[str]) -> list[Scheme]:
    """All challenges of an answer's `WWW-Authenticate` headers. What cannot be read is skipped."""
    return [scheme for header in headers for scheme in _read(header[:_LONGEST])]


def _read(header: str) -> Iterator[Scheme]:
    name: str | None = None
    parameters: dict[str, str] = {}
    at = 0
    while at < len(header):
        if header[at] in " \t,":
            at += 1
        elif name is not None and (found := _PARAMETER.match(header, at)):
            value = found[3] if found[2] is None else re.sub(r"\\(.)", r"\1", found[2])
            parameters.setdefault(found[1].lower(), value)
            at = found.end()
        elif found := _SCHEME.match(header, at):
            if name is not None:
                yield Scheme(name, parameters)
            name, parameters = found[1].lower(), {}
            at = _after_credentials(header, found.end())
        else:
            at = max(header.find(",", at), at + 1)
    if name is not None:
        yield Scheme(name, parameters)


def _after_credentials(header: str, at: int) -> int:
    """Behind the one value that some schemes have instead of parameters."""
    start = at + len(header[at:]) - len(header[at:].lstrip(" \t"))
    found = _TOKEN68.match(header, start) if start > at else None
    return found.end() if found else at


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a refusal wants of us.

    Attributes:
        metadata_url: where the protected resource's metadata is said to be; "" when it is not said.
        scopes: what a token must allow; None when it is not said.
        error: "invalid_token", "insufficient_scope", "use_dpop_nonce" …; "" when none is said.
        dpop: only tokens that are bound to a key are taken.
        bearer: a bearer token is among what it takes.
    """

    metadata_url: str = ""
    scopes: tuple[str, ...] | None = None
    error: str = ""
    dpop: bool = False
    bearer: bool = False


def wanted(headers: Iterable[str]) -> Wanted:
    """What the challenges say that are about access tokens (`Bearer`, `DPoP`)."""
    found = [scheme for scheme in read(headers) if scheme.name in ("bearer", "dpop")]
    joined: dict[str, str] = {}
    for scheme in found:
        for name, value in scheme.parameters.items():
            joined.setdefault(name, value)
    names = {scheme.name for scheme in found}
    return Wanted(
        joined.get("resource_metadata", ""),
        tuple(dict.fromkeys(joined["scope"].split())) if joined.get("scope", "").strip() else None,
        joined.get("error", ""),
        names == {"dpop"},
        "bearer" in names,
    )
