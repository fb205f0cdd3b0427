"""The collected cases of stdio and JSON-RPC, each through the client; what is right stands in their LOG."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import psutil
import pytest

from jupyter_mcp.client.connection import Connection, ConnectOptions
from jupyter_mcp.errors import ConnectionFailed, RequestError
from jupyter_mcp.transport.stdio import StdioTransport
from tests.client.peer import FakePeer, Told, text
from tests.shared import shared_path

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def case(name: str, *args: str, env: dict[str, str] | None = None) -> AsyncGenerator[tuple[Connection, FakePeer]]:
    """The case's server with the product's own patience, connected within its limit."""
    path, peer = str(shared_path(f"cases/{name}.py")), FakePeer()
    connection = Connection(
        "case", lambda: StdioTransport(sys.executable, [path, *args], env=env), ConnectOptions(), peer
    )
    started = time.monotonic()
    await connection.open()
    assert time.monotonic() - started < 12
    try:
        yield connection, peer
    finally:
        await connection.close()


async def tools(connection: Connection) -> list[str]:
    return [item["name"] for item in (await connection.list("tools")).items]


async def test_01_noise_on_stdout() -> None:
    async with case("01-stdio-stdout-noise") as (connection, peer):
        assert await tools(connection) == ["probe", "report"]
        assert await text(connection, "probe") == "fine"
        assert len(connection.notes) == 1
        assert "'Starting demo server v0'" in connection.notes[0]
        assert list(connection.noise)[1:5] == [
            "[info] 3 plugins loaded",
            '{"level":30,"msg":"json style log line"}',
            "123",
            "null",
        ]
        assert connection.noise[5] == "DEBUG: about to work"
        assert peer.notes == connection.notes


async def test_03_huge_line() -> None:
    async with case("03-stdio-huge-line") as (connection, _):
        started = time.monotonic()
        assert len(await text(connection, "probe")) == 3_145_728
        assert time.monotonic() - started < 5


async def test_05_crlf_and_bom() -> None:
    started = time.monotonic()
    async with case("05-stdio-crlf-bom") as (connection, _):
        assert time.monotonic() - started < 2.9  # less than the probe waits
        assert await text(connection, "probe") == "fine"


async def test_06_exit_at_once() -> None:
    started = time.monotonic()
    with pytest.raises(ConnectionFailed, match="WEATHER_TOKEN is missing") as error:
        async with case("06-stdio-exit-at-once"):
            pass
    assert time.monotonic() - started < 3
    assert error.value.exit_code == 3
    assert error.value.stderr[-1] == "fatal: setting WEATHER_TOKEN is missing"


async def test_09_orphan_tree() -> None:
    async with case("09-stdio-orphan-tree") as (connection, _):
        pids = json.loads(await text(connection, "probe"))
        started = time.monotonic()
    assert time.monotonic() - started < 6
    assert not any(psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie" for pid in pids)


async def test_11_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARENT_SECRET_KEY", "x")
    async with case("11-stdio-env-merge", env={"CASE_TOKEN": "abc"}) as (connection, _):
        got = json.loads(await text(connection, "probe"))
        assert got == {"PATH": True, "HOME": True, "CASE_TOKEN": "abc", "parent_secret": False}


async def test_15_no_final_newline() -> None:
    async with case("15-stdio-no-final-newline") as (connection, _):
        assert await text(connection, "probe") == "last words"


async def test_32_id_as_text() -> None:
    async with case("32-jsonrpc-id-as-string") as (connection, _):
        assert connection.era == "legacy"
        assert await asyncio.gather(*(text(connection, "probe") for _ in range(10))) == ["fine"] * 10


async def test_34_traffic_before_the_answer_to_initialize() -> None:
    async with case("34-jsonrpc-traffic-before-init-reply") as (connection, _):
        assert await tools(connection) == ["probe", "report"]
        assert "reply:s1" in await text(connection, "report")


async def test_36_duplicate_and_late_replies() -> None:
    async with case("36-jsonrpc-duplicate-late-replies") as (connection, _):
        assert await text(connection, "probe") == "first"
        assert json.loads(await text(connection, "report"))[-1] == "tools/call"
        assert connection.notes == []


async def test_38_bad_error_objects() -> None:
    async with case("38-jsonrpc-bad-error-objects") as (connection, _):
        for mode, said in ((1, "quota"), (2, "-32000"), (3, "quota"), (5, "quota"), (6, "empty reply")):
            started = time.monotonic()
            with pytest.raises(RequestError, match=said):
                await connection.call_tool("probe", {"mode": mode})
            assert time.monotonic() - started < 3
        assert await text(connection, "probe", mode=4) == "fine"
        assert await text(connection, "report")


async def test_40_odd_progress() -> None:
    got = Told()
    async with case("40-progress-odd") as (connection, _):
        result = await connection.call_tool("probe", on_progress=got)
        assert result["content"][0]["text"] == "fine"
        assert got.all == [
            (5, 10, None),
            (3, 10, None),
            (7.5, None, None),
            (7, None, None),
            (12, 10, None),
            (1, None, "<b>hi</b>"),
        ]
        assert await text(connection, "report")
        assert len(got.all) == 6


async def test_41_cursor_stuck() -> None:
    async with case("41-list-cursor-stuck") as (connection, _):
        listing = await connection.list("tools")
        assert len({item["name"] for item in listing.items}) == len(listing.items) == 8
        assert ["cursor repeats" in problem.reason for problem in listing.problems] == [True]
        assert json.loads(await text(connection, "report")).count("tools/list") == 2


async def test_43_burst_of_changes() -> None:
    async with case("43-list-changed-burst") as (connection, _):
        await connection.list("tools")
        await text(connection, "probe")
        await asyncio.sleep(2)
        assert int((await text(connection, "report")).removeprefix("lists=")) <= 3
        listing = connection.listing("tools")
        assert listing is not None
        assert "late_tool" in [item["name"] for item in listing.items]


async def test_45_schemas_of_nothing() -> None:
    async with case("45-schema-null-properties") as (connection, _):
        assert await tools(connection) == ["good", "bare", "empty", "nullprops", "listprops", "nullschema", "noschema"]
        assert await text(connection, "good", q="x") == "fine"
        assert await text(connection, "noschema") == "fine"


async def test_49_a_name_twice() -> None:
    async with case("49-duplicate-tool-names", "A") as (connection, _):
        assert await tools(connection) == ["send", "onlyA"]
        listing = await connection.list("tools")
        assert [problem.name for problem in listing.problems] == ["send"]
        assert await text(connection, "send") == "A"


async def test_51_an_error_with_an_output_schema() -> None:
    async with case("51-iserror-with-output-schema") as (connection, _):
        for arguments in ({}, {"structured": True}):
            result = await connection.call_tool("probe", arguments)
            assert result["isError"] is True
            assert result["content"][0]["text"] == "table is locked"


async def test_53_nan() -> None:
    async with case("53-nan-infinity") as (connection, _):
        result = await connection.call_tool("probe")
        data = result["structuredContent"]
        assert data["sd"] != data["sd"]
        assert data["max"] == float("inf")


async def test_55_uris_verbatim() -> None:
    async with case("55-resource-uris-verbatim") as (connection, _):
        listing = await connection.list("resources")
        assert len(listing.items) == 10
        for item in listing.items:
            assert (await connection.read(item["uri"]))["contents"][0]["text"] == "exact"


async def test_77_silent_on_discover() -> None:
    async with case("77-silent-on-discover") as (connection, _):
        assert connection.era == "legacy"
        assert len(connection.notes) <= 1
        assert await text(connection, "probe") == "fine"
    started = time.monotonic()
    async with case("77-silent-on-discover"):
        assert time.monotonic() - started < 2.9
