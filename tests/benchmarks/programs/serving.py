"""A server that listens, for the length of a measurement: any command whose first line of stdout is its URL."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

START_LIMIT = 60.0  # seconds until the URL is there
END_LIMIT = 10.0


@dataclass(frozen=True)
class Serving:
    """Where it is, and which process."""

    url: str
    pid: int


@asynccontextmanager
async def serving(command: list[str]) -> AsyncGenerator[Serving]:
    """Start it, give it, end it."""
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    try:
        line = await asyncio.wait_for(process.stdout.readline(), START_LIMIT)
        url = line.decode().strip()
        assert url.startswith("http://127.0.0.1:"), f"{command} said {line!r}"
        yield Serving(url, process.pid)
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        try:
            await asyncio.wait_for(process.wait(), END_LIMIT)
        except TimeoutError:  # some wait for their streams to end
            process.kill()
            await process.wait()
