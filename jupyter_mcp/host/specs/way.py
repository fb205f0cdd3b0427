"""The way to an HTTP server as a person writes it: proxy, certificates, socket, limits. Pure; no file is looked at."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast
from urllib.parse import unquote, urlsplit

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.specs import describe as words

__all__ = ["AS_USUAL", "WAY_KEYS", "Way", "check_url", "from_unix_url", "nearly_url", "read_way"]

WAY_KEYS = ("socket", "proxy", "ca", "cert", "insecure", "max_event")
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}


@dataclass(frozen=True, repr=False)
class Way:
    """How to get there; texts are unexpanded.

    Attributes:
        socket: path of a Unix socket to connect to instead of the URL's host.
        proxy: URL of a proxy; "env" is what HTTP_PROXY and the like say; "" is none.
        ca: file or folder of certificates to trust instead of the system's.
        cert: our own certificate: a PEM file that holds the key too, or certificate and key.
        insecure: do not check the server's certificate.
        max_event: bytes that one message of the server may have; None is 64 MiB on a stream, 256 MiB as an answer.
    """

    socket: str | None = None
    proxy: str = "env"
    ca: str | None = None
    cert: str | tuple[str, str] | None = None
    insecure: bool = False
    max_event: int | None = None

    def expanded(self, fill: Callable[[str, str], str], folder: Callable[[str], str]) -> Way:
        """The same with placeholders filled and paths absolute.

        Args:
            fill: fills the placeholders of a text; its second argument is the key for errors.
            folder: makes a path absolute.
        """

        def path(text: str | None, key: str) -> str | None:
            return folder(fill(text, key)) if text else None

        if isinstance(self.cert, tuple):
            cert: Any = tuple(path(text, "cert") for text in self.cert)
        else:
            cert = path(self.cert, "cert")
        return replace(
            self, socket=path(self.socket, "socket"), proxy=fill(self.proxy, "proxy"), ca=path(self.ca, "ca"), cert=cert
        )

    def describe(self) -> str:
        """What is not as usual, in brackets; no secrets."""
        said = [
            f"socket: {self.socket}" if self.socket else "",
            f"proxy: {words.url(self.proxy)}" if self.proxy not in ("env", "") else "",
            "no proxy" if not self.proxy else "",
            f"ca: {self.ca}" if self.ca else "",
            "own certificate" if self.cert else "",
            "certificate not checked" if self.insecure else "",
        ]
        return f"({', '.join(filter(None, said))})" if any(said) else ""

    def __repr__(self) -> str:
        return f"<Way {self.describe() or 'as usual'}>"


AS_USUAL = Way()


def read_way(name: str, given: Mapping[str, Any], base: Way = AS_USUAL) -> Way:
    """What of `given` is about the way (`WAY_KEYS`), over `base`. Raises `UsageError` saying what is wrong with it."""
    changes: dict[str, Any] = {}
    for key in ("socket", "ca"):
        if key in given:
            changes[key] = _path(name, key, given[key])
    if "proxy" in given:
        changes["proxy"] = _proxy(name, given["proxy"])
    if "cert" in given:
        changes["cert"] = _cert(name, given["cert"])
    if "insecure" in given:
        if not isinstance(given["insecure"], bool):
            raise UsageError(f"{name}: insecure is true or false, not {given['insecure']!r}.")
        changes["insecure"] = given["insecure"]
    if "max_event" in given:
        changes["max_event"] = _bytes(name, given["max_event"])
    return replace(base, **changes)


_NEARLY = re.compile(
    r"(?:(https?):/?)?(localhost|[\w.-]+\.[\w-]+|\[[0-9A-Fa-f:]+\])(:\d{1,5})?(/\S*)?\Z", re.IGNORECASE
)


def nearly_url(text: str) -> str | None:
    """The URL that was meant by an address without its beginning (`localhost:8000/mcp`); None for anything else."""
    found = _NEARLY.match(text)
    if found is None or not (found[1] or found[3]):
        return None
    return f"{found[1] or 'http'}://{found[2]}{found[3] or ''}{found[4] or ''}"


def check_url(name: str, url: str) -> str:
    """The URL itself. Raises `UsageError` that says why it cannot be one; what placeholders stand for is not known."""
    if "${" in url:
        return url
    try:
        parts = urlsplit(url)
        port_is_right = parts.port is None or parts.port > 0
    except ValueError as reason:
        port_is_right = "port" not in str(reason).lower()
        parts = None
    if not port_is_right:
        why = "a port is a number from 1 to 65535"
    elif parts is None or not parts.hostname:
        why = "there is no host in it"
    elif re.search(r"[\x00-\x20\x7f]", url):
        why = "an address holds no blanks; a command is written without http://"
    else:
        return url
    raise UsageError(f"{name}: {words.url(url)} is not the URL of a server: {why}.")


def from_unix_url(name: str, text: str) -> tuple[str, str]:
    """URL and socket that `unix:///path/to.sock#/mcp` means (VS Code's spelling; what follows # is the path there)."""
    parts = urlsplit(text)
    socket = unquote(parts.path)
    if parts.netloc or not socket.startswith("/"):
        raise UsageError(f"{name}: a Unix socket is written unix:///path/to.sock or unix:///path/to.sock#/mcp.")
    return "http://localhost/" + parts.fragment.lstrip("/"), socket


def _path(name: str, key: str, value: Any) -> str:
    if isinstance(value, os.PathLike):
        value = os.fspath(cast("os.PathLike[str]", value))
    if not isinstance(value, str) or not value:
        raise UsageError(f"{name}: {key} is the path of a file, not {value!r}.")
    return value


def _proxy(name: str, value: Any) -> str:
    if value is False or value in ("", "none"):
        return ""
    text = str(value)
    if not isinstance(value, str) or re.search(r"\s", text):
        raise UsageError(f"{name}: proxy is a URL, env or none.")
    return text


def _cert(name: str, value: Any) -> str | tuple[str, str]:
    """One file, or two of them: as a sequence, or as one text with a comma."""
    if isinstance(value, str) and value.count(",") == 1:
        value = value.split(",")
    if isinstance(value, Sequence) and not isinstance(value, str):
        files = [_path(name, "cert", item) for item in cast("Sequence[Any]", value)]
        if len(files) != 2:
            raise UsageError(f"{name}: cert is one file, or a certificate and its key.")
        return files[0], files[1]
    return _path(name, "cert", value)


def _bytes(name: str, value: Any) -> int:
    match = re.fullmatch(r"(\d{1,15})\s*([kKmMgG]?)i?[bB]?", str(value)) if not isinstance(value, bool) else None
    size = int(match[1]) * _UNITS[match[2].lower()] if match else 0
    if not size:
        raise UsageError(f"{name}: max_event is a number of bytes such as 67108864 or 64M, not {value!r}.")
    return size
