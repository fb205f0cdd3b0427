"""The two ways of a request to a kernel's endpoint: by HTTP on this machine, and by the kernel's control channel.

Both give an `Answer` inside a block; leaving the block gives it up, also half-way.
"""

from __future__ import annotations

import base64
import contextlib
import io
import re
import secrets
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from jupyter_mcp.protocol.shapes import as_list
from jupyter_mcp.serverextension.reach import KernelSaidNo, KernelSilent

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence

    from aiohttp import ClientSession

    from jupyter_mcp.serverextension.endpoints import Endpoint
    from jupyter_mcp.serverextension.line import Line

__all__ = ["Answer", "BrokenOff", "Request", "Unreachable", "by_control", "by_http"]

_CHUNK = 2**16
_NOT_ADDED = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")  # what the client did not say
_LINE = re.compile(r"[\x20-\x7e]*")
_WAIT = 20.0  # seconds that a kernel waits for more before it says that there is none
_PATIENCE = 30.0


class Unreachable(Exception):
    """The request has not been taken by anybody: it may be sent again."""


class BrokenOff(Exception):
    """The answer has ended before its end, or never came; what was asked may have been done."""


@dataclass(frozen=True, slots=True)
class Request:
    """What goes on to the endpoint. `headers` is a list, since what came twice goes on twice."""

    method: str
    headers: Sequence[tuple[str, str]]
    body: bytes | None


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: `headers` by their names in small letters, `chunks` of the body as they come."""

    status: int
    headers: Mapping[str, str]
    chunks: AsyncIterator[bytes]


@contextlib.asynccontextmanager
async def by_http(session: ClientSession, endpoint: Endpoint, request: Request) -> AsyncGenerator[Answer]:
    """To an endpoint on this machine, with its token.

    Raises:
        Unreachable: nobody listens there.
        BrokenOff: also while the chunks are read.
    """
    import aiohttp

    async def chunks(response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
        try:
            async for chunk in response.content.iter_chunked(_CHUNK):
                yield chunk
        except aiohttp.ClientError as error:
            raise BrokenOff from error

    try:
        response = await session.request(
            request.method,
            endpoint.url,
            headers=[*request.headers, ("Authorization", f"Bearer {endpoint.token}")],
            data=None if request.body is None else io.BytesIO(request.body),  # so it goes out in parts
            allow_redirects=False,
            skip_auto_headers=_NOT_ADDED,
        )
    except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
        raise Unreachable from error
    except aiohttp.ClientError as error:
        raise BrokenOff from error
    async with response:
        headers = {name.lower(): value for name, value in response.headers.items()}
        yield Answer(response.status, headers, chunks(response))


@contextlib.asynccontextmanager
async def by_control(line: Line, request: Request) -> AsyncGenerator[Answer]:
    """To a kernel anywhere, which hands it to its own endpoint (`kernel/relay.py`).

    Raises:
        Unreachable: it does not serve any more.
        BrokenOff: also while the chunks are read.
    """
    exchange = _Exchange(line)
    try:
        said = await exchange.open(request)
        yield Answer(_status(said["status"]), _headers(said.get("headers")), exchange.chunks(said))
    finally:
        await exchange.close()


def _status(said: object) -> int:
    """What a kernel says is not to be trusted: it is no other kernel's, and may still be nonsense."""
    return said if type(said) is int and 200 <= said <= 599 else HTTPStatus.BAD_GATEWAY


def _headers(said: object) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in as_list(said):
        name, value = [*as_list(pair), None, None][:2]
        if isinstance(name, str) and isinstance(value, str) and _LINE.fullmatch(value):
            found[name.lower()] = value
    return found


def _decoded(said: object) -> bytes:
    """Raises BrokenOff."""
    try:
        return base64.b64decode(said, validate=True) if isinstance(said, str) else b""
    except ValueError as error:
        raise BrokenOff from error


class _Exchange:
    """One exchange with a kernel, which can be closed at any time, also before it was answered."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._name = secrets.token_hex(16)
        self._done = False

    async def open(self, request: Request) -> dict[str, Any]:
        """Send it; what comes back first. Raises `Unreachable`, `BrokenOff`."""
        body = None if request.body is None else base64.b64encode(request.body).decode()
        headers = [list(pair) for pair in request.headers]
        try:
            said = await self._ask("open", method=request.method, headers=headers, body=body, seconds=_WAIT)
        except KernelSaidNo as error:
            self._done = True
            raise Unreachable(str(error)) from error
        except KernelSilent as error:
            raise BrokenOff from error
        while "status" not in said:  # it works on it still, for a client that reads no stream
            said = await self._more()
        return said

    async def chunks(self, said: dict[str, Any]) -> AsyncIterator[bytes]:
        """The body, from what came first on."""
        while True:
            if data := _decoded(said.get("data")):
                yield data
            if said.get("broken"):
                raise BrokenOff
            if self._done:
                return
            said = await self._more()

    async def _more(self) -> dict[str, Any]:
        if self._done:
            raise BrokenOff
        try:
            return await self._ask("more", seconds=_WAIT)
        except (KernelSilent, KernelSaidNo) as error:
            raise BrokenOff from error

    async def close(self) -> None:
        """Give it up, unless it is done."""
        if not self._done:
            self._done = True
            with contextlib.suppress(KernelSilent, KernelSaidNo):
                await self._line.ask("mcp", {"act": "close", "exchange": self._name}, _PATIENCE)

    async def _ask(self, act: str, **more: Any) -> dict[str, Any]:
        said = await self._line.ask("mcp", {"act": act, "exchange": self._name, **more}, _PATIENCE)
        self._done = bool(said.get("done"))
        return said
