"""This process's own stdin and stdout as a transport: what a stdio server serves.

While it is open, the two belong to the protocol alone: file descriptors 0 and 1 are moved aside, and in their places
stand the null device and stderr, so that a stray `print`, a chatty C library or a child process can neither break the
protocol nor eat its input. All is put back on close.

Pipes and sockets are read and written by the loop. Regular files (`server < requests.jsonl`), terminals, and everything
on Windows, where the loop cannot watch inherited handles, go through one reader and one writer thread.
"""

from __future__ import annotations

import asyncio
import os
import stat
import sys
import threading
from collections import deque
from typing import TYPE_CHECKING, Any, TextIO

from jupyter_mcp.errors import ConnectionFailed, ConnectionLost
from jupyter_mcp.protocol.framing import LineDecoder, parse_line
from jupyter_mcp.protocol.jsonrpc import PARSE_ERROR, encode
from jupyter_mcp.transport.base import Closed, Noise, Receiver

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_CHUNK = 65536
_HIGH_WATER = 1 << 20  # bytes that may wait for a client that reads slowly, before senders wait too
_CLOSE_SECONDS = 2.0


class StdioServerTransport:
    """The server's end of stdio. It takes stdin and stdout when it is made, and gives them back on `close`.

    Make it before the event loop: a process that was started without stdin and stdout would find the loop's own
    descriptors in their places.

    Raises:
        ConnectionFailed: the process has no stdin and stdout.
    """

    kind = "stdio"
    answers_after_eof = True
    stderr: Sequence[str] = ()

    def __init__(self) -> None:
        self._guard: _Guard | None = _Guard()
        self._ends = self._guard.take()
        self._reader: _LoopReader | _ThreadReader | None = None
        self._writer: _LoopWriter | _ThreadWriter | None = None
        self._receiver: Receiver | None = None
        self._decoder = LineDecoder()
        self._reported = False

    async def open(self, receiver: Receiver) -> None:
        """Begin to read and write."""
        self._receiver = receiver
        source, sink = self._ends
        loop = asyncio.get_running_loop()
        self._writer = _LoopWriter(sink) if _loop_can_watch(sink) else _ThreadWriter(sink, loop)
        await self._writer.open()
        self._reader = _LoopReader(source, self._feed) if _loop_can_watch(source) else _ThreadReader(source, self._feed)
        await self._reader.open()

    async def send(self, message: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> int:
        """Send one message (or a batch answer) as one line."""
        data = encode(message)
        if self._writer is None:
            raise ConnectionLost("stdout is closed.", may_have_run=False)
        await self._writer.write(data + b"\n")
        return len(data)

    def cancel(self, request_id: int | str) -> None:
        """Nothing is held for one request."""

    async def close(self) -> None:
        """Write what is left, and give stdin and stdout back."""
        reader, self._reader = self._reader, None
        writer, self._writer = self._writer, None
        if reader is not None:
            reader.close()
        if writer is not None:
            await writer.close()
        if self._guard is not None:
            self._guard.give_back()
            self._guard = None
        self._report("was closed")

    def _feed(self, data: bytes) -> None:
        """Bytes from the reader, on the loop; none at the end."""
        lines = self._decoder.feed(data) if data else self._decoder.eof()
        for line in lines:
            self._line(line)
        if not data:
            self._report("closed its end")

    def _line(self, line: bytes) -> None:
        receiver = self._receiver
        if receiver is None:
            return
        parsed = parse_line(line)
        if parsed.batch:
            receiver.on_batch(parsed.messages, len(line))
            return
        for message in parsed.messages:
            receiver.on_message(message, len(line))
        if parsed.noise is not None and not parsed.messages:
            receiver.on_noise(Noise("parse" if parsed.code == PARSE_ERROR else "invalid", parsed.noise))

    def _report(self, reason: str) -> None:
        if not self._reported and self._receiver is not None:
            self._reported = True
            self._receiver.on_closed(Closed(reason))


class _Guard:
    """Moves the protocol's descriptors away from 0 and 1 for as long as it lasts."""

    def __init__(self) -> None:
        self._saved: tuple[int, int] | None = None
        self._stdout: TextIO | None = None

    def take(self) -> tuple[int, int]:
        """Descriptors of the real stdin and stdout, for the transport to own."""
        _flush(sys.stdout)
        try:
            saved_in, saved_out = os.dup(0), os.dup(1)
        except OSError:
            raise ConnectionFailed("This process has no stdin and stdout to serve on.") from None
        self._saved = (saved_in, saved_out)
        nothing = os.open(os.devnull, os.O_RDWR)
        try:
            os.dup2(nothing, 0)
            try:
                os.dup2(2, 1)
            except OSError:  # no stderr either
                os.dup2(nothing, 1)
        finally:
            os.close(nothing)
        self._stdout = sys.stdout
        sys.stdout = sys.stderr or sys.stdout
        return os.dup(saved_in), os.dup(saved_out)

    def give_back(self) -> None:
        """Put everything back where it was."""
        if self._saved is None:
            return
        _flush(sys.stdout)
        if self._stdout is not None:
            _flush(self._stdout)
            sys.stdout = self._stdout
        for fd, saved in enumerate(self._saved):
            _set_blocking(saved)
            os.dup2(saved, fd)
            os.close(saved)
        self._saved = None


def _flush(stream: TextIO | None) -> None:
    try:
        if stream is not None:
            stream.flush()
    except (OSError, ValueError):
        pass


def _loop_can_watch(fd: int) -> bool:
    """Pipes and sockets, on POSIX. Not terminals: to watch one would make the shell's stderr non-blocking."""
    if sys.platform == "win32":
        return False
    mode = os.fstat(fd).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


class _LoopReader(asyncio.Protocol):
    """Reads a pipe on the loop."""

    def __init__(self, fd: int, feed: Any) -> None:
        self._file = os.fdopen(fd, "rb", buffering=0)
        self._feed = feed
        self._ended = False
        self._transport: asyncio.ReadTransport | None = None

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        self._transport, _ = await loop.connect_read_pipe(lambda: self, self._file)

    def data_received(self, data: bytes) -> None:
        self._feed(data)

    def eof_received(self) -> None:
        self._end()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end()

    def _end(self) -> None:
        if not self._ended:
            self._ended = True
            self._feed(b"")

    def close(self) -> None:
        self._ended = True
        if self._transport is not None:
            self._transport.close()


class _ThreadReader:
    """Reads a file, a terminal or a Windows pipe on a daemon thread; a read that never returns holds up nobody."""

    def __init__(self, fd: int, feed: Any) -> None:
        self._fd = fd
        self._feed = feed
        self._closed = False
        self._loop = asyncio.get_running_loop()

    async def open(self) -> None:
        threading.Thread(target=self._read, name="mcp-stdin", daemon=True).start()

    def _read(self) -> None:
        data = b"-"
        while data and not self._closed:
            try:
                data = os.read(self._fd, _CHUNK)
            except OSError:
                data = b""
            try:
                self._loop.call_soon_threadsafe(self._give, data)
            except RuntimeError:
                return  # the loop is closed

    def _give(self, data: bytes) -> None:
        if not self._closed:
            self._closed = not data
            self._feed(data)

    def close(self) -> None:
        # The descriptor stays open: closing it under a blocked read is undefined. It is a duplicate, one per process.
        self._closed = True


class _LoopWriter(asyncio.BaseProtocol):
    """Writes a pipe on the loop; senders wait when the client reads too slowly."""

    def __init__(self, fd: int) -> None:
        self._file = os.fdopen(fd, "wb", buffering=0)
        self._transport: asyncio.WriteTransport | None = None
        self._lost = False
        self._gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._drained: asyncio.Future[None] | None = None

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        self._transport, _ = await loop.connect_write_pipe(lambda: self, self._file)
        self._transport.set_write_buffer_limits(_HIGH_WATER)

    async def write(self, data: bytes) -> None:
        if self._lost or self._transport is None:
            raise ConnectionLost("The client is gone.", may_have_run=False)
        self._transport.write(data)
        if self._drained is not None:
            await asyncio.shield(self._drained)

    def pause_writing(self) -> None:
        self._drained = asyncio.get_running_loop().create_future()

    def resume_writing(self) -> None:
        drained, self._drained = self._drained, None
        if drained is not None and not drained.done():
            drained.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost = True
        self.resume_writing()
        if not self._gone.done():
            self._gone.set_result(None)

    async def close(self) -> None:
        """Closing a pipe transport sends what is left first; a client that does not read has two seconds."""
        if self._transport is None:
            return
        self._transport.close()
        await asyncio.wait({self._gone}, timeout=_CLOSE_SECONDS)
        if not self._gone.done():
            self._transport.abort()


class _ThreadWriter:
    """Writes a file, a terminal or a Windows pipe on a daemon thread, in order."""

    def __init__(self, fd: int, loop: asyncio.AbstractEventLoop) -> None:
        self._fd = fd
        self._loop = loop
        self._queue: deque[bytes | None] = deque()
        self._ready = threading.Condition()
        self._size = 0
        self._lost = False
        self._room = asyncio.Event()
        self._room.set()
        self._done = asyncio.Event()

    async def open(self) -> None:
        threading.Thread(target=self._run, name="mcp-stdout", daemon=True).start()

    async def write(self, data: bytes) -> None:
        if self._lost:
            raise ConnectionLost("The client is gone.", may_have_run=False)
        with self._ready:
            self._queue.append(data)
            self._size += len(data)
            self._ready.notify()
        if self._size > _HIGH_WATER:
            self._room.clear()
            await self._room.wait()

    def _run(self) -> None:
        while (data := self._next()) is not None:
            try:
                view = memoryview(data)
                while view:
                    view = view[os.write(self._fd, view) :]
            except OSError:
                self._lost = True
            with self._ready:
                self._size -= len(data)
            self._on_loop(self._room.set)
            if self._lost:
                break
        self._on_loop(self._done.set)

    def _next(self) -> bytes | None:
        with self._ready:
            while not self._queue:
                self._ready.wait()
            return self._queue.popleft()

    def _on_loop(self, call: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(call)
        except RuntimeError:
            pass  # the loop is closed

    async def close(self) -> None:
        with self._ready:
            self._queue.append(None)
            self._ready.notify()
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self._done.wait()
        except TimeoutError:
            return  # the thread still holds the descriptor
        os.close(self._fd)


def _set_blocking(fd: int) -> None:
    """Pipes are shared with whoever gave them to us; they leave as they came."""
    if sys.platform != "win32":
        try:
            os.set_blocking(fd, True)
        except OSError:
            pass
