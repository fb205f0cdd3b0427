"""What running code prints, as progress of the call: as it comes, in whole lines, bounded, with secrets masked."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from jupyter_mcp.errors import MCPError
from jupyter_mcp.kernel.contexts import clean
from jupyter_mcp.runtime.thread import on_loop

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from jupyter_mcp.server.context import AsyncContext

__all__ = ["Reporter"]

_EVERY = 0.1
"""Seconds between two messages at least."""
_MOST_AT_ONCE = 2_000
_MOST = 64 * 1024
_OVER_LINES = "PRIVATE KEY"  # a secret of several lines could not be masked line by line


class Reporter:
    """Progress of one call. Made on the server's loop; `heard` is for any thread.

    Args:
        ctx: of the call.
    """

    def __init__(self, ctx: AsyncContext) -> None:
        self._ctx = ctx
        self._loop = asyncio.get_running_loop()
        self._begun = time.monotonic()
        self._text = ""
        self._sent = 0
        self._silent = False
        self._lock = threading.Lock()
        self._new = asyncio.Event()

    def heard(self, _stream: str, text: str) -> None:
        """Something was printed."""
        with self._lock:
            if self._silent:
                return
            self._text += text
            if _OVER_LINES in self._text or self._sent + len(self._text) > _MOST:
                self._silent, self._text = True, ""
                return
        on_loop(self._loop, self._new.set)

    async def word(self, _seconds: float, text: str) -> None:
        """A word of ours about the call."""
        await self._ctx.progress(time.monotonic() - self._begun, None, text)

    @asynccontextmanager
    async def reporting(self) -> AsyncGenerator[None]:
        """Report inside; what is left is reported at the end."""
        task = self._loop.create_task(self._report())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait({task})
            if not self._ctx.cancelled:
                await self._send(self._take(everything=True))

    async def _report(self) -> None:
        while True:
            await self._new.wait()
            self._new.clear()
            while text := self._take():
                await self._send(text)
            await asyncio.sleep(_EVERY)

    def _take(self, *, everything: bool = False) -> str:
        """Whole lines; part of one only when it is too long, or the last."""
        with self._lock:
            end = len(self._text) if everything else self._text.rfind("\n") + 1
            if len(self._text) > _MOST_AT_ONCE:
                end = self._text.rfind("\n", 0, _MOST_AT_ONCE) + 1 or _MOST_AT_ONCE
            text, self._text = self._text[:end], self._text[end:]
            self._sent += len(text)
            return text

    async def _send(self, text: str) -> None:
        if not text.strip():
            return
        try:
            await self._ctx.progress(time.monotonic() - self._begun, None, str(clean(text.rstrip("\n"))))
        except MCPError:  # the client is gone; the call ends elsewhere
            return
