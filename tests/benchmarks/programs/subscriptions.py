"""Very many idle subscriptions on one server: `python subscriptions.py COUNT SERVER COMMAND …`

prints {"count", "each": KiB of the server's memory for one, "open": CPU seconds of the server for one, "idle": CPU
seconds of the server in one second with all of them open, "told": how many heard of a change, "tell": the server's CPU
seconds for one of those}. The client's side is bare sockets, so that its own limits are not measured. A server that
has the tool `grow` is made to tell all of them of a change.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
from typing import Any
from urllib.parse import urlsplit

import psutil
from raw_http_client import BOTH, META, MODERN
from serving import serving

LIMIT = 60.0  # seconds for one answer
AT_ONCE = 50  # openings at a time: a listening socket has a queue
IDLE = 3.0  # seconds that everybody is left alone
KIND = "toolsListChanged"


class Stream:
    """One POST, whose answer is read piece by piece."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    @staticmethod
    async def post(url: str, message: dict[str, Any], name: str = "") -> Stream:
        place = urlsplit(url)
        reader, writer = await asyncio.open_connection(place.hostname, place.port)
        meta = {f"{META}protocolVersion": MODERN, f"{META}clientCapabilities": {}}
        message = {"jsonrpc": "2.0", **message, "params": {**message["params"], "_meta": meta}}
        body = json.dumps(message).encode()
        head = [
            f"POST {place.path} HTTP/1.1",
            f"Host: {place.netloc}",
            "Content-Type: application/json",
            f"Content-Length: {len(body)}",
            f"Accept: {BOTH}",
            f"MCP-Protocol-Version: {MODERN}",
            f"Mcp-Method: {message['method']}",
            *([f"Mcp-Name: {name}"] if name else []),
        ]
        writer.write("\r\n".join(head).encode() + b"\r\n\r\n" + body)
        return Stream(reader, writer)

    async def until(self, words: bytes) -> None:
        """Wait until these words have come."""
        await asyncio.wait_for(self.reader.readuntil(words), LIMIT)

    def close(self) -> None:
        self.writer.close()


async def subscribe(url: str, number: int) -> Stream:
    params = {"notifications": {KIND: True}}
    stream = await Stream.post(url, {"id": number, "method": "subscriptions/listen", "params": params})
    await stream.until(b"subscriptions/acknowledged")
    await stream.until(b"\n")
    return stream


async def grow(url: str) -> bool:
    """Make the server change its tools; False when it cannot."""
    stream = await Stream.post(
        url, {"id": 0, "method": "tools/call", "params": {"name": "grow", "arguments": {}}}, "grow"
    )
    try:
        await stream.until(b'"grown"')
    except asyncio.IncompleteReadError:
        return False
    finally:
        stream.close()
    return True


def spent(server: psutil.Process) -> float:
    times = server.cpu_times()
    return times.user + times.system


async def main(count: int, command: list[str]) -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # the server inherits it
    async with serving(command) as running:
        server = psutil.Process(running.pid)
        streams = [await subscribe(running.url, number) for number in range(1, 11)]  # what is loaded at first use
        memory, cpu = server.memory_info().rss, spent(server)
        for start in range(11, count + 11, AT_ONCE):
            numbers = range(start, min(start + AT_ONCE, count + 11))
            streams += await asyncio.gather(*(subscribe(running.url, number) for number in numbers))
        opened = spent(server) - cpu
        each = (server.memory_info().rss - memory) / count / 1024
        cpu = spent(server)
        await asyncio.sleep(IDLE)
        row = {"count": count, "each": each, "open": opened / count, "idle": (spent(server) - cpu) / IDLE}
        row |= await tell(running.url, server, streams)
        for stream in streams:
            stream.close()
    print(json.dumps(row))


async def tell(url: str, server: psutil.Process, streams: list[Stream]) -> dict[str, float]:
    cpu = spent(server)
    if not await grow(url):
        return {}
    await asyncio.gather(*(stream.until(b"tools/list_changed") for stream in streams))
    return {"told": len(streams), "tell": (spent(server) - cpu) / len(streams)}


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), sys.argv[2:]))
