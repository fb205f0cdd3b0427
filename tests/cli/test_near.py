"""The bridge's own HTTP: bodies of every kind in any pieces, connections used again, ends told for what they are."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from jupyter_mcp.cli.bridge.near import NearWire
from jupyter_mcp.errors import ConnectionLost
from jupyter_mcp.transport.http import HttpOptions
from tests.fakes.http import FakeHttp, Reply, Request

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

pytestmark = pytest.mark.anyio
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\n"


class Peer:
    """A server that answers each request by the next of its scripts, piece by piece; b"" is not sent: it hangs up."""

    def __init__(self, *answers: Sequence[bytes]) -> None:
        self.answers = list(answers)
        self.requests: list[bytes] = []
        self.connections = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while self.answers:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
                self.requests.append(head + await reader.readexactly(length))
                for piece in self.answers.pop(0):
                    if not piece:
                        return
                    writer.write(piece)
                    await writer.drain()
                    await asyncio.sleep(0)
            await reader.read()
        except EOFError:
            pass
        finally:
            writer.close()


@asynccontextmanager
async def wired(peer: Peer) -> AsyncGenerator[NearWire]:
    server = await asyncio.start_server(peer.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    wire = NearWire(f"http://127.0.0.1:{port}/mcp", HttpOptions(headers={"Authorization": "Bearer t"}))
    wire.open()
    try:
        yield wire
    finally:
        await wire.close()
        server.close()


def pieces(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


LENGTH = OK + b'Content-Length: 9\r\n\r\n{"a": 10}'
CHUNKED = OK + b'Transfer-Encoding: chunked\r\n\r\n3\r\n{"a\r\n6;x=y\r\n": 10}\r\n0\r\nTrailer: x\r\n\r\n'


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
@pytest.mark.parametrize("answer", [LENGTH, CHUNKED], ids=["length", "chunked"])
async def test_a_body_is_the_same_in_any_pieces_and_its_connection_is_used_again(answer: bytes, size: int) -> None:
    peer = Peer(*[pieces(answer, size)] * 3)
    async with wired(peer) as wire:
        for _ in range(3):
            found = await wire.send("POST", {"X": "y"}, b"{}")
            assert (found.status, found.media_type) == (200, "application/json")
            assert await found.all(100) == b'{"a": 10}'
        assert peer.connections == 1
        assert peer.requests[0].startswith(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:")
        assert b"Authorization: Bearer t\r\n" in peer.requests[0] and b"X: y\r\n" in peer.requests[0]


async def test_a_body_without_a_length_lasts_to_the_end_of_the_connection() -> None:
    async with wired(Peer([OK + b"\r\nab", b"cd", b""], [LENGTH])) as wire:
        assert await (await wire.send("POST", {}, b"")).all(100) == b"abcd"
        assert await (await wire.send("POST", {}, b"")).all(100) == b'{"a": 10}'


@pytest.mark.parametrize(
    "answer",
    [
        [b""],
        [b"HTTP/1.1 200", b""],
        [b"SSH-2.0 hello\r\n\r\n"],
        [OK + b"Content-Length: many\r\n\r\n"],
        [b"HTTP/1.1 200 OK\r\n" + b"X: " + b"y" * 2**19],
    ],
    ids=["none", "half a line", "not HTTP", "no number", "a head without end"],
)
async def test_an_answer_that_is_none_is_a_lost_connection_that_may_have_run(answer: list[bytes]) -> None:
    async with wired(Peer(answer)) as wire:
        with pytest.raises(ConnectionLost) as caught:
            await wire.send("POST", {}, b"{}")
        assert caught.value.may_have_run


@pytest.mark.parametrize(
    "body",
    [
        b"Content-Length: 9\r\n\r\n{",
        b"Transfer-Encoding: chunked\r\n\r\n9\r\n{",
        b"Transfer-Encoding: chunked\r\n\r\nx\r\n",
    ],
)
async def test_a_body_that_breaks_off_is_a_lost_connection(body: bytes) -> None:
    async with wired(Peer([OK + body, b""])) as wire:
        found = await wire.send("POST", {}, b"{}")
        with pytest.raises(ConnectionLost, match="middle of its answer"):
            await found.all(100)


async def test_nobody_there_has_not_run() -> None:
    async with wired(Peer()) as wire:
        pass
    again = NearWire(f"http://{wire.where}/mcp", HttpOptions())
    again.open()
    with pytest.raises(ConnectionLost) as caught:
        await again.send("POST", {}, b"{}")
    assert not caught.value.may_have_run


async def test_a_body_that_is_not_wanted_any_more_costs_the_connection() -> None:
    peer = Peer([OK + b"Content-Length: 9\r\n\r\n{"], [LENGTH])
    async with wired(peer) as wire:
        (await wire.send("POST", {}, b"{}")).close()
        assert await (await wire.send("POST", {}, b"{}")).all(100) == b'{"a": 10}'
        assert peer.connections == 2


@pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer x"}])
async def test_an_answer_says_whether_we_had_said_who_we_are(headers: dict[str, str]) -> None:
    async with FakeHttp(refusing) as fake:
        wire = NearWire(fake.url, HttpOptions(headers=headers))
        wire.open()
        answer = await wire.send("POST", {}, b"{}")
        assert (answer.status, answer.authorized) == (401, bool(headers))
        assert await answer.all(100) == b"who?"
        await wire.close()


async def refusing(request: Request, reply: Reply) -> None:
    await reply.send(401, b"who?")
