"""What should be said about the way a server is reached: secrets written down, and credentials sent in the open. Pure.

Advice is no refusal: it is shown on the server's card and in its log. No value stands in it, only names.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, parse_qsl, urlsplit

from jupyter_mcp.protocol import secrets

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from jupyter_mcp.host.specs.spec import ServerSpec

__all__ = ["advice", "written_out"]

_PLACEHOLDER = re.compile(r"\$\{[^{}]*\}")
_PASSWORD = "the password in the address"  # noqa: S105 - a name
_SCHEMES = ("", "bearer", "basic", "token")


def advice(written: ServerSpec, filled: ServerSpec) -> tuple[str, ...]:
    """One sentence for each thing.

    Args:
        written: the spec as the person wrote it.
        filled: the same with its placeholders filled.
    """
    return (*_written_down(written), *_in_the_open(filled))


def _written_down(spec: ServerSpec) -> Iterator[str]:
    """Secrets that stand in the notebook (or file) itself, where everybody who gets it can read them."""
    where = spec.source or "the notebook"
    found = [name for name in written_out(spec) if name not in spec.elsewhere]
    for name in filter(found.__contains__, _literal(spec.headers)):
        how = "--bearer ${NAME}" if name.lower() == "authorization" else f"--header {name}=${{NAME}}"
        yield f"The value of {name} stands in {where} itself; {how} takes it from the environment instead."
    for name in filter(found.__contains__, _literal(spec.env)):
        yield f"The value of {name} stands in {where} itself; --env {name} passes your own variable of that name."
    address = _in_the_address(spec.url)
    if _PASSWORD in address and _PASSWORD in found:
        yield f"A password stands in the address in {where} itself; ${{NAME}} takes it from the environment."
    for name in address:
        if name != _PASSWORD and name in found:
            yield f"The value of {name} stands in the address in {where}; ${{NAME}} takes it from the environment."


def written_out(spec: ServerSpec) -> dict[str, str]:
    """The secrets of a spec that are no placeholders, by name. Never keep or show the result."""
    values = {**spec.headers, **spec.env}
    found = {name: _without_scheme(values[name]) for name in (*_literal(spec.headers), *_literal(spec.env))}
    return {**found, **_in_the_address(spec.url)}


def _in_the_address(url: str) -> dict[str, str]:
    parts = _split(url)
    found: dict[str, str] = {}
    password = parts.netloc.rpartition("@")[0].rpartition(":")[2]
    if "@" in parts.netloc and not _placeholders_only(password):
        found[_PASSWORD] = password
    for name, value in parse_qsl(parts.query):
        if secrets.looks_secret(name) and not _placeholders_only(value):
            found[name] = value
    return found


def _in_the_open(spec: ServerSpec) -> Iterator[str]:
    parts = _split(spec.url)
    site = parts.hostname or ""
    if parts.scheme == "http" and not spec.way.socket and not _is_here(site):
        named = [name for name in spec.headers if secrets.looks_secret(name)]
        if named or "@" in parts.netloc or any(secrets.looks_secret(name) for name, _ in parse_qsl(parts.query)):
            what = f" ({', '.join(named)})" if named else ""
            yield f"Credentials{what} go to {site} without encryption: others can read them on the way. Use https."
    if parts.scheme == "https" and spec.way.insecure:
        yield f"The certificate of {site} is not checked (insecure): somebody else may answer in its place."


def _literal(values: Mapping[str, str]) -> list[str]:
    """Names of secrets whose value is written out."""
    return [name for name, value in values.items() if secrets.looks_secret(name) and not _placeholders_only(value)]


def _without_scheme(value: str) -> str:
    scheme, _, rest = value.partition(" ")
    return rest.strip() if scheme.lower() in _SCHEMES else value


def _placeholders_only(value: str) -> bool:
    return _PLACEHOLDER.sub("", value).strip().lower() in _SCHEMES


def _is_here(host: str) -> bool:
    return (
        host in ("localhost", "::1") or host.endswith(".localhost") or re.fullmatch(r"127(\.\d+){3}", host) is not None
    )


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.hostname
    except ValueError:
        return urlsplit("")
    return parts
