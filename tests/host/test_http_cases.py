"""The collected cases of HTTP, each from the host down to the wire; what is right stands in their LOG."""

from __future__ import annotations

import asyncio
import base64
import json
import sys
import time
import urllib.request
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.client import opening
from jupyter_mcp.errors import ConnectionLost, MCPError
from jupyter_mcp.host.host import Host
from jupyter_mcp.host.specs import ServerSpec
from tests.shared import shared_path

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from jupyter_mcp.host.entry import ServerEntry

pytestmark = pytest.mark.anyio

Entry = list[Any]  # HTTP method, path, JSON-RPC method, headers, body


@pytest.fixture(autouse=True)
def _nothing_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "_remembered", {})


class Case:
    """A running case; `connect` gives the host's view of it."""

    def __init__(self, url: str, host: Host) -> None:
        self.url = url
        self.host = host

    async def connect(self, path: str = "/mcp", **options: Any) -> ServerEntry:
        """Connect as `case`, with the product's own patience."""
        spec = ServerSpec.parse("case", self.url.removesuffix("/mcp") + path, **options)
        started = time.monotonic()
        entry = await self.host.connect(spec)
        assert time.monotonic() - started < 12
        return entry

    async def tools(self) -> list[str]:
        connection = self.host.servers["case"].connection
        assert connection is not None
        return [item["name"] for item in (await connection.list("tools", refresh=True)).items]

    async def probe(self, **more: Any) -> str:
        return (await self.host.call_tool("case", "probe", {}, **more)).text

    async def log(self) -> list[Entry]:
        """What the server has received so far."""

        def fetch() -> list[Entry]:
            with urllib.request.urlopen(self.url.removesuffix("/mcp") + "/_log") as answer:
                return json.load(answer)

        return await asyncio.to_thread(fetch)

    async def logged(self, found: Callable[[Entry], bool], seconds: float = 40.0) -> Entry:
        """Wait until something is in the log (the server tells nobody)."""
        async with asyncio.timeout(seconds):
            while True:
                for entry in await self.log():
                    if found(entry):
                        return entry
                await asyncio.sleep(0.02)


@asynccontextmanager
async def case(name: str) -> AsyncGenerator[Case]:
    path = str(shared_path(f"cases/{name}.py"))
    process = await asyncio.create_subprocess_exec(sys.executable, path, stdout=asyncio.subprocess.PIPE)
    host = Host()
    try:
        assert process.stdout is not None
        yield Case((await process.stdout.readline()).decode().strip(), host)
    finally:
        await host.aclose()
        process.kill()
        await process.wait()


async def test_16_an_empty_event_comes_first() -> None:
    async with case("16-http-empty-priming-event") as server:
        entry = await server.connect()
        assert entry.era == "legacy"
        assert await server.probe() == "fine"
        assert entry.lines() == []


async def test_18_every_byte_in_its_own_chunk() -> None:
    async with case("18-http-utf8-split-chunks") as server:
        await server.connect()
        assert await server.probe() == "é漢字🎉\u2028x\u0085✅"


@pytest.mark.parametrize("path", ["/mcp0", "/mcp1", "/mcp2", "/mcp3"])
async def test_19_what_a_notification_is_answered_with_means_nothing(path: str) -> None:
    async with case("19-http-202-variants") as server:
        entry = await server.connect(path)
        assert await server.tools() == ["probe"]
        assert await server.probe() == "fine"
        assert entry.lines() == []


async def test_22_redirects_keep_what_was_sent_and_give_no_secret_away() -> None:
    async with case("22-http-307-redirects") as server:
        await server.connect(bearer="s3cr3t-t0ken")
        assert await server.probe() == "fine"
        log = await server.log()
        assert {entry[1] for entry in log if entry[0] == "POST"} == {"/mcp", "/mcp/"}
        followed = [entry for entry in log if entry[1] == "/mcp/" and entry[0] == "POST"]
        assert all(entry[3]["Authorization"] == "Bearer s3cr3t-t0ken" and entry[4] for entry in followed)

        before = len(log)
        with pytest.raises(MCPError, match="redirect") as caught:
            await server.connect("/away", bearer="s3cr3t-t0ken")
        assert "s3cr3t" not in str(caught.value)
        elsewhere = [entry for entry in (await server.log())[before:] if entry[1] == "/other-host"]
        assert all("Authorization" not in entry[3] for entry in elsewhere)


async def test_24_a_stream_that_ends_early_costs_one_call() -> None:
    async with case("24-http-sse-ends-early") as server:
        entry = await server.connect()
        started = time.monotonic()
        with pytest.raises(ConnectionLost, match=r"ended without a response .*It may have been run\.") as caught:
            await server.probe()
        assert time.monotonic() - started < 5
        assert caught.value.may_have_run
        assert entry.state == "ready"
        assert await server.tools() == ["probe"]


async def test_26_a_proxys_page_is_a_status_and_a_few_words() -> None:
    async with case("26-http-502-html") as server:
        await server.connect()
        with pytest.raises(ConnectionLost, match="502") as caught:
            await server.probe()
        assert caught.value.status == 502
        assert "script" not in str(caught.value)
        assert "<" not in str(caught.value) + str(caught.value.body)
        assert len(str(caught.value)) < 400
        assert await server.probe() == "fine"
        assert sum(entry[2] == "initialize" for entry in await server.log()) == 1


async def test_28_a_gateway_that_speaks_its_own_json_leads_to_the_handshake() -> None:
    async with case("28-http-discover-400-foreign-json") as server:
        entry = await server.connect()
        assert entry.era == "legacy"
        assert await server.probe() == "fine"
        assert entry.lines() == []


async def test_30_names_that_no_header_can_carry() -> None:
    async with case("30-http-mcp-name-unicode") as server:
        entry = await server.connect()
        assert entry.era == "modern"
        names = await server.tools()
        assert len(names) == 4
        for name in names:
            assert (await server.host.call_tool("case", name, {})).text == f"called {name}"
        sent = {entry[3]["Mcp-Name"] for entry in await server.log() if entry[2] == "tools/call"}
        assert "plain_name" in sent
        assert f"=?base64?{base64.b64encode(b'=?base64?aGk=?=').decode()}?=" in sent


@pytest.mark.parametrize("how", ["interrupted", "too slow"])
async def test_78_a_slow_call_that_is_given_up_is_cancelled_and_nothing_else(how: str) -> None:
    async with case("78-http-interrupt-slow-call") as server:
        await server.connect()
        other = asyncio.ensure_future(server.probe())
        first = (await server.logged(lambda entry: entry[2] == "tools/call"))[4]["id"]
        mine = asyncio.ensure_future(server.probe(timeout=0.3 if how == "too slow" else None))
        await server.logged(lambda entry: entry[2] == "tools/call" and entry[4]["id"] != first)
        calls = [entry[4]["id"] for entry in await server.log() if entry[2] == "tools/call"]
        if how == "interrupted":
            mine.cancel()
        given_up = time.monotonic()
        cancelled = await server.logged(lambda entry: entry[2] == "notifications/cancelled")
        assert time.monotonic() - given_up < 1.5
        assert cancelled[4]["params"]["requestId"] == calls[1]
        with pytest.raises((asyncio.CancelledError, TimeoutError)):
            await mine
        assert await server.tools() == ["probe"]
        log = await server.log()
        assert [entry[4]["id"] for entry in log if entry[2] == "tools/call"] == calls  # nothing is sent again
        assert sum(entry[2] == "notifications/cancelled" for entry in log) == 1
        assert not other.done()
        other.cancel()


async def test_81_a_large_event() -> None:
    async with case("81-http-sse-large-event") as server:
        await server.connect()
        started = time.monotonic()
        assert len(await server.probe()) == 3145728
        assert time.monotonic() - started < 10
        assert await server.tools() == ["probe"]
