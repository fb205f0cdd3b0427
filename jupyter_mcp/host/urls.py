"""A URL that a server wants the person to open: may it be opened, where does it lead, does it pretend. Pure.

Nothing is fetched, resolved or opened. What is not plainly an http or https address is refused with a reason; what is
one is told apart (the host as it is written, as DNS knows it, as it reads), with a warning for everything by which
addresses are known to deceive. Whatever a browser would read otherwise than we do is refused, not guessed.

Source: spec "Elicitation / URL mode, safe URL handling" (2025-11-25, 2026-07-28); RFC 3986; RFC 3492.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MAX_URL", "Address", "read"]

MAX_URL = 8_000
"""Longer ones cannot be shown in full to whoever has to judge them."""

_LOCAL = ("localhost", "127.0.0.1", "::1")
_PORTS = {"http": 80, "https": 443}
_NAME = re.compile(r"[A-Za-z0-9_-]{1,63}\Z")
_NUMBER = re.compile(r"[\d.]+|0[xX][0-9a-fA-F.xX]+|[0-9a-fA-F:]*:[0-9a-fA-F:.]*\Z")
_KEPT_BY_BROWSERS = frozenset("\u00df\u1e9e\u03c2")  # letters that Python's codec (IDNA 2003) makes others of
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")


@dataclass(frozen=True, slots=True)
class Address:
    """What may be said about a URL.

    Attributes:
        url: as sent ("" when it was no text).
        refusal: why it must not be opened, one sentence; None when it may be.
        before, host, after: the URL in three parts, so that the host can be set apart; `before` ends with the slashes
            or the @, `after` begins with the port or the path.
        site: host (and port, if given) as DNS knows it: punycode stays punycode.
        reads: the same as a person reads it, when that is something else (decoded punycode); else "".
        warnings: one sentence for each thing by which it may deceive.
    """

    url: str
    refusal: str | None = None
    before: str = ""
    host: str = ""
    after: str = ""
    site: str = ""
    reads: str = ""
    warnings: tuple[str, ...] = ()


def read(url: Any) -> Address:
    """Look at an address of a server; it may be anything."""
    if not isinstance(url, str) or not url.strip():
        return Address("", "It gives no address.")
    refusal = _refusal(url)
    if refusal is not None:
        return Address(url, refusal)
    parts = urlsplit(url)
    host = (parts.hostname or "").removesuffix(".")
    ascii_host, reads = _ascii(host), _unicode(host)
    if ascii_host is None:
        return Address(url, f"{host} is no name that DNS could know.")
    shown = f"[{host}]" if ":" in host else ascii_host
    port = f":{parts.port}" if parts.port is not None else ""
    before, after = _around(url, parts)
    return Address(
        url,
        None,
        before,
        url[len(before) : len(url) - len(after)],
        after,
        f"{shown}{port}",
        "" if reads == ascii_host else f"{reads}{port}",
        tuple(_warnings(parts, ascii_host, reads)),
    )


# --- may it be opened ------------------------------------------------------------------------------------------------


def _refusal(url: str) -> str | None:
    if len(url) > MAX_URL:
        return f"The address has {len(url):,} characters, too many to be looked at."
    scheme = _SCHEME.match(url)
    if scheme is None or scheme[1].lower() not in _PORTS:
        what = f"{scheme[1][:20].lower()}: addresses" if scheme else "an address without a scheme"
        return f"Only http and https pages are opened, not {what}."
    odd = next((char for char in url if _invisible(char) or char in '\\<>"^`{|}'), None)
    if odd is not None:
        name = unicodedata.name(odd, "").lower() or f"U+{ord(odd):04X}"
        return f"The address holds a character that does not belong into one ({name})."
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "The address is not valid."
    if not url[len(parts.scheme) :].startswith("://") or not host or not host.strip(".") or "%" in host:
        return "The address names no site."
    if ":" not in host and not all(_NAME.match(label) for label in _labels(host) if label.isascii()):
        return "The address names no valid site."
    return None


def _invisible(char: str) -> bool:
    """White space, control and formatting characters: what is not seen cannot be judged."""
    return char.isspace() or unicodedata.category(char) in ("Cc", "Cf", "Cs", "Cn", "Co")


def _around(url: str, parts: SplitResult) -> tuple[str, str]:
    """What stands before and after the host, to the letter."""
    start = url.index("://") + 3
    end = start + len(parts.netloc)
    start = url.rfind("@", start, end) + 1 or start
    colon = url.rfind(":", start, end)
    return url[:start], url[colon if colon > url.rfind("]", start, end) and colon >= 0 else end :]


# --- does it pretend -------------------------------------------------------------------------------------------------


def _warnings(parts: SplitResult, host: str, reads: str) -> Iterator[str]:
    local = host in _LOCAL
    if reads != host:
        yield f"{reads} is spelt {host} in DNS: letters outside ASCII can imitate a name you know."
    for label in _labels(reads):
        if len(found := _scripts(label)) > 1:
            yield f"{label} mixes {' and '.join(found)} letters, which few honest names do."
    if "@" in parts.netloc:
        yield f"What stands before the @ is not the site: this leads to {host}."
    if _NUMBER.match(host) and not local:
        yield f"The site is a bare number ({host}), not a name."
    if parts.port is not None and parts.port not in _PORTS.values() and not local:
        yield f"The port {parts.port} is an unusual one for a web page."
    if parts.scheme == "http" and not local:
        yield "The connection is not encrypted (http): others can read and change what you see and type."


def _scripts(label: str) -> list[str]:
    """The scripts of a label's letters, by the first word of their names; those that go together count as one."""
    found: dict[str, None] = {}
    for char in label:
        if char.isalpha():
            name = unicodedata.name(char, "unknown").split()[0].title()
            found["Japanese" if name in ("Cjk", "Hiragana", "Katakana") else name] = None
    return list(found)


# --- names -----------------------------------------------------------------------------------------------------------


def _labels(host: str) -> list[str]:
    """The parts of a name, at all the dots that browsers take for one."""
    return [label for label in re.split("[.\u3002\uff0e\uff61]", host) if label] or [host]


def _ascii(host: str) -> str | None:
    """The name as DNS knows it; None when there is no such thing."""
    if host.isascii():
        return host
    try:
        if not _KEPT_BY_BROWSERS.intersection(host):
            return host.encode("idna").decode("ascii")
    except UnicodeError:
        pass
    try:
        labels = [unicodedata.normalize("NFKC", label).lower() for label in _labels(host)]
        coded = [one if one.isascii() else "xn--" + one.encode("punycode").decode("ascii") for one in labels]
    except UnicodeError:
        return None
    return ".".join(coded) if all(_NAME.match(label) for label in coded) else None


def _unicode(host: str) -> str:
    """The name as it reads, punycode decoded where that can be done."""
    return ".".join(map(_decoded, _labels(host))) if ":" not in host else host


def _decoded(label: str) -> str:
    if not label.lower().startswith("xn--"):
        return label
    try:
        reads = label[4:].encode("ascii").decode("punycode")
    except (UnicodeError, ValueError, OverflowError):
        return label
    return label if any(map(_invisible, reads)) else reads
