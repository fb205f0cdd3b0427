"""An endpoint with a port of its own."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import signal
import socket
import sys
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tornado.httpserver import HTTPServer

from jupyter_mcp.errors import ConnectionFailed, UsageError
from jupyter_mcp.server.authorization.protection import Protection
from jupyter_mcp.server.http.endpoint import Endpoint
from jupyter_mcp.server.http.guard import LOOPBACK_NAMES, is_loopback, new_token
from jupyter_mcp.server.http.guarded import MAX_HEAD

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator, Sequence

    from jupyter_mcp.server.access import Verifier
    from jupyter_mcp.server.server import Server

_WILDCARDS = ("", "0.0.0.0", "::")  # noqa: S104
_HEAD_SECONDS = 120.0  # for the next request of a kept connection
_MAX_HEAD = 4 * MAX_HEAD  # so much is read, so that the answer arrives; beyond it the connection is closed
_RESTING = 1_000  # connections that are kept between requests
_PROTECTING = (
    *("resource", "audiences", "scopes", "tool_scopes", "users"),
    *("scopes_supported", "name", "documentation"),
)
_SPARE_FILES = 64  # of those that a process may open, for everything that is no connection


@dataclass(frozen=True, slots=True)
class Running:
    """A server that listens.

    Attributes:
        url: of its endpoint.
        token: what clients must bring; None when it wants none.
        port: where it listens.
        endpoint: all else.
    """

    url: str
    token: str | None
    port: int
    endpoint: Endpoint

    def __repr__(self) -> str:
        return f"<Running {self.url}{'' if self.token is None else ', with a token'}>"

    @property
    def headers(self) -> dict[str, str]:
        """What a client must send along."""
        return {} if self.token is None else {"Authorization": f"Bearer {self.token}"}


@asynccontextmanager
async def serve_http(
    server: Server,
    *,
    port: int = 0,
    host: str = "127.0.0.1",
    token: bool | str = True,
    verifier: Verifier | None = None,
    hosts: Sequence[str] = (),
    grace: float = 5.0,
    **options: Any,
) -> AsyncGenerator[Running]:
    """Listen for the length of an `async with`; see `Server.serve_http`."""
    secret = _own_token(token, verifier)
    protecting = {key: value for key in _PROTECTING if (value := options.pop(key, None))}
    if protecting and verifier is None:
        raise UsageError(f"{', '.join(protecting)}: these are for a server with a verifier.")
    if not is_loopback(host):
        if secret is None and verifier is None:
            raise UsageError(f"Without a token a server listens on loopback addresses only, not on {host!r}.")
        if verifier is not None and not protecting.get("resource"):
            raise UsageError("Beyond this machine a protected server needs resource=…, its URL as clients use it.")
    names = (*LOOPBACK_NAMES, *hosts, *(() if host in _WILDCARDS else (host,)))
    with _listening(host, port) as (listening, origin):
        if verifier is not None:
            resource = protecting.pop("resource", origin + options.get("path", "/mcp"))
            options["protection"] = Protection(verifier, resource=resource, **protecting)
        endpoint = Endpoint(server, token=secret, hosts=names, **options)
        http = _HTTPServer(
            endpoint.application(),
            max_header_size=_MAX_HEAD,
            idle_connection_timeout=_HEAD_SECONDS,
            max_buffer_size=2**20,
            max_body_size=endpoint.max_body,
        )
        http.most = _most_connections(endpoint.max_open + _RESTING)
        http.add_socket(listening)
        try:
            yield Running(origin + endpoint.path, secret, listening.getsockname()[1], endpoint)
        finally:
            http.stop()
            await endpoint.close(grace)
            await http.close_all_connections()


def _own_token(token: bool | str, verifier: Verifier | None) -> str | None:
    """The token that clients may bring; None: there is none. Raises UsageError."""
    if not token and token is not False:  # a variable that was not set, above all
        raise UsageError("An empty token protects nothing; token=False says that none is wanted.")
    if token is True:
        return new_token() if verifier is None else None
    return token or None


@contextmanager
def _listening(host: str, port: int) -> Generator[tuple[socket.socket, str]]:
    """A socket that listens, and its origin as a URL; closed at the end. Raises ConnectionFailed."""
    try:
        listening = _bind(host, port)
    except OSError as error:
        why = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror or error
        taken = "port=0 takes one that is free." if error.errno == errno.EADDRINUSE else None
        raise ConnectionFailed(f"Cannot listen on {host}:{port}: {why}.", hint=taken) from None
    shown = f"[{host}]" if ":" in host else "127.0.0.1" if host in _WILDCARDS else host
    try:
        yield listening, f"http://{shown}:{listening.getsockname()[1]}"
    finally:
        listening.close()


class _HTTPServer(HTTPServer):
    """tornado's, with a bound: whoever may connect could otherwise take every file that the process may open.

    Attributes:
        most: connections at one time; those beyond it are closed at once.
    """

    most = 0
    _held = 0

    def handle_stream(self, stream: Any, address: Any) -> None:
        """tornado's: somebody has connected."""
        if self._held >= self.most:
            stream.close()
            return
        self._held += 1
        super().handle_stream(stream, address)  # pyright: ignore[reportUnknownMemberType]

    def on_close(self, server_conn: object) -> None:
        """tornado's: a connection is over."""
        self._held -= 1
        super().on_close(server_conn)


def _most_connections(wanted: int) -> int:
    try:
        import resource
    except ImportError:  # Windows
        return wanted
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return wanted if most < 0 else min(wanted, max(most - _SPARE_FILES, most // 2))


def _bind(host: str, port: int) -> socket.socket:
    """Raises OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.create_server((host, port), family=family, backlog=256)
    listening.setblocking(False)
    return listening


def run_http(server: Server, *, port: int, host: str, token: bool | str, **options: Any) -> None:
    """Listen until Ctrl-C or SIGTERM; see `Server.run_http`."""

    async def serve() -> None:
        ended = asyncio.Event()
        with suppress(NotImplementedError, ValueError, RuntimeError):  # Windows; another thread than the main one
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
        async with serve_http(server, port=port, host=host, token=token, **options) as running:
            _announce(server, running, told=running.token is not None and token is True)
            await ended.wait()

    try:
        asyncio.run(serve())
    except KeyboardInterrupt:
        pass


def _announce(server: Server, running: Running, *, told: bool) -> None:
    protection = running.endpoint.protection
    lines = [announcement(server.name, protection.resource if protection else running.url, running.token, told=told)]
    if protection is not None:
        lines.append(f"it wants access tokens of {', '.join(protection.verifier.issuers)}")
    print("\n".join(lines), file=sys.stderr, flush=True)  # noqa: T201


def announcement(name: str, url: str, token: str | None, *, told: bool) -> str:
    """What the person who started a server reads once: where it is, and the token, when it was made for them.

    Args:
        name: the server's.
        token: what clients must bring; None when it wants none.
        told: whether the token is new to the person.
    """
    bearer = f" --bearer {token}" if told else " --bearer TOKEN" if token is not None else ""
    lines = [f"{name} listens at {url}", f"in a notebook:   %mcp connect {_handle(name)} {url}{bearer}"]
    if told:
        lines.append(f"any MCP client:  with the header  Authorization: Bearer {token}")
    elif token is not None:
        lines.append(
            "any MCP client:  with the header  Authorization: Bearer TOKEN, the one that was given to the server"
        )
    return "\n".join(lines)


def _handle(name: str) -> str:
    """A name that a notebook takes for a server: 1 to 32 letters, digits, - and _."""
    return re.sub(r"[^a-z0-9_-]+", "-", name.lower())[:32].strip("-") or "server"
