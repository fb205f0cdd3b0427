"""MCP for a kernel that a Jupyter Server reaches by its control channel only: whole HTTP exchanges in messages.

    {"act": "open", "exchange", "method", "headers": [[name, value]], "body": base64, "seconds"}
        -> {"status", "headers", "data": base64, "done", "broken"}
    {"act": "more", "exchange", "seconds"}  -> the same                        waits until there is more, or so long
    {"act": "close", "exchange"}            -> {}

Status and headers come once, with the first answer after they are known. A body that is no stream comes whole, if it
is not large; a large one comes in parts.

A request goes on to the notebook's own endpoint, with its token, so that just what `%mcp serve` offers is offered here,
by the same rules. Who asks names the exchange, and so can close it before it was answered. Nothing is kept of one that
is done, and one that nobody asks about any more is given up.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import io
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import UsageError
from jupyter_mcp.kernel import serving
from jupyter_mcp.protocol.shapes import as_list, is_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aiohttp import ClientResponse, ClientSession

__all__ = ["answer"]

MOST = 512
"""Exchanges at one time."""
MOST_KEPT = 2**20
"""Bytes of one exchange that wait to be fetched; then its endpoint waits."""
MOST_SECONDS = 25.0
"""That one "more" waits."""
FORGOTTEN_SECONDS = 90.0
"""After which an exchange that nobody asks about is given up."""
_CHUNK = 2**16
_NOT_ADDED = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")  # what the client did not say
_OURS = ("authorization", "host", "content-length")
_METHODS = ("GET", "POST", "DELETE")

_exchanges: dict[str, _Exchange] = {}
_sessions: list[ClientSession] = []


async def answer(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Do one of the acts above. On the runtime's loop.

    Raises:
        UsageError: the notebook is not served, the act is none, or its exchange is not there any more.
    """
    act = data.get("act")
    if act == "open":
        return await _open(data)
    exchange = _exchanges.get(str(data.get("exchange")))
    if exchange is None or act not in ("more", "close"):
        raise UsageError("There is no such exchange any more.")
    if act == "close":
        exchange.end()
        return {}
    return await exchange.more(_seconds(data) or 0.0)


async def _open(data: Mapping[str, Any]) -> Mapping[str, Any]:
    found = serving.current()
    if found is None or not found.token:
        raise UsageError("This notebook is not served.")
    if len(_exchanges) >= MOST:
        raise UsageError(f"There are {MOST} exchanges with this notebook already.")
    method, body, named = data.get("method"), data.get("body"), data.get("exchange")
    if not isinstance(named, str) or not 16 <= len(named) <= 64 or named in _exchanges:
        raise UsageError("An exchange has a name of its own.")
    if method not in _METHODS:
        raise UsageError("The method is GET, POST or DELETE.")
    headers = [*_headers(data), ("Authorization", f"Bearer {found.token}")]
    exchange = _exchanges[named] = _Exchange(named)
    try:
        exchange.begin(str(method), found.url, headers, _decoded(body))
        return await exchange.more(_seconds(data))
    except BaseException:
        exchange.end()
        raise


def _seconds(data: Mapping[str, Any]) -> float | None:
    said = data.get("seconds")
    return max(0.0, min(MOST_SECONDS, said)) if is_number(said) else None


def _headers(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for pair in as_list(data.get("headers")):
        name, value = [*as_list(pair), None, None][:2]
        if isinstance(name, str) and isinstance(value, str) and name.lower() not in _OURS:
            found.append((name, value))
    return found


def _decoded(body: object) -> bytes | None:
    try:
        return base64.b64decode(body, validate=True) if isinstance(body, str) else None
    except binascii.Error as error:
        raise UsageError("The body is not base64.") from error


async def _session() -> ClientSession:
    """Connections to the endpoint of this very process; no proxy, no cookies."""
    import aiohttp

    if not _sessions or _sessions[0].closed:
        from jupyter_mcp.runtime.thread import get_runtime

        made = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0),
            timeout=aiohttp.ClientTimeout(total=None),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
        )
        _sessions[:] = [made]
        get_runtime().on_stop(made.close)
    return _sessions[0]


class _Exchange:
    """One request on its way, and what has come of its answer."""

    def __init__(self, name: str) -> None:
        self._id = name
        self._work: asyncio.Task[None] | None = None
        self._head: dict[str, Any] = {}
        self._data = bytearray()
        self._streams = self._done = self._broken = False
        self._failed: UsageError | None = None
        self._news = asyncio.Event()
        self._room = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, method: str, url: str, headers: list[tuple[str, str]], body: bytes | None) -> None:
        """Send it."""
        self._work = asyncio.ensure_future(self._run(method, url, headers, body))

    async def _run(self, method: str, url: str, headers: list[tuple[str, str]], body: bytes | None) -> None:
        import aiohttp

        try:
            session = await _session()
            response = await session.request(
                method,
                url,
                headers=headers,
                data=None if body is None else io.BytesIO(body),
                allow_redirects=False,
                skip_auto_headers=_NOT_ADDED,
            )
            async with response:
                self._heard(response)
                await self._read(response)
        except aiohttp.ClientError as error:
            self._failed = UsageError("This notebook is just being served anew.")
            self._failed.__cause__ = error
        except ValueError as error:
            self._failed = UsageError("The headers of this request are none that HTTP can carry.")
            self._failed.__cause__ = error
        finally:
            self._done = True
            self._news.set()

    def _heard(self, response: ClientResponse) -> None:
        self._head = {"status": response.status, "headers": [[name, value] for name, value in response.headers.items()]}
        self._streams = "event-stream" in response.headers.get("Content-Type", "")
        self._news.set()

    async def _read(self, response: ClientResponse) -> None:
        self._broken = True  # until it is whole
        with contextlib.suppress(Exception):  # whatever aiohttp says of a connection that ended
            async for chunk in response.content.iter_chunked(_CHUNK):
                self._data += chunk
                self._news.set()
                if len(self._data) > MOST_KEPT:
                    self._room.clear()
                    await self._room.wait()
            self._broken = False

    @property
    def _ready(self) -> bool:
        """Whether there is something to tell: of a body that is no stream all, or as much as is kept."""
        there = self._streams and bool(self._head or self._data)
        return self._done or there or len(self._data) > MOST_KEPT

    async def more(self, seconds: float | None) -> dict[str, Any]:
        """What has come since; waits for it at most so long (None: as long as it takes).

        Raises:
            UsageError: it has not reached the endpoint.
        """
        self._wind()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not self._ready:
                    self._news.clear()
                    await self._news.wait()
        if self._failed is not None:
            self.end()
            raise self._failed
        data, self._data = self._data, bytearray()
        self._room.set()
        head, self._head = self._head, {}
        done = self._done
        if done:
            self.end()
        self._wind()
        broken = done and self._broken
        return {**head, "data": base64.b64encode(data).decode(), "done": done, "broken": broken}

    def end(self) -> None:
        """Nobody wants more of it."""
        _exchanges.pop(self._id, None)
        if self._timer is not None:
            self._timer.cancel()
        if self._work is not None:
            self._work.cancel()

    def _wind(self) -> None:
        """It is asked about now."""
        if self._timer is not None:
            self._timer.cancel()
        if self._id in _exchanges:
            self._timer = asyncio.get_running_loop().call_later(FORGOTTEN_SECONDS, self.end)
