"""Lists: pages, odd items, changes, sharing."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.client import listings
from jupyter_mcp.errors import ConnectionLost, RequestError
from jupyter_mcp.transport.mock import client, server
from tests.client.peer import FakePeer, process, scripted, text
from tests.fakes import OWN_TOOLS

if TYPE_CHECKING:
    from collections.abc import Callable

    from jupyter_mcp.client.connection import Connection

pytestmark = pytest.mark.anyio


def names(connection: Connection, kind: Any = "tools") -> list[str]:
    listing = connection.listing(kind)
    assert listing is not None
    return [item["name"] for item in listing.items]


def tool(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}, **more}


def page(*tools: Any, cursor: Any = None, **more: Any) -> Any:
    return server(result={"tools": list(tools), **({} if cursor is None else {"nextCursor": cursor}), **more})


async def test_all_pages_are_read_and_kept() -> None:
    async with process(page=4) as (connection, _):
        assert connection.listing("tools") is None
        listing = await connection.list("tools")
        assert len(listing.items) == OWN_TOOLS
        assert listing.complete
        assert listing.problems == []
        assert await connection.list("tools") is listing
        assert connection.listing("tools") is listing
        assert (await text(connection, "seen")).count("tools/list") == 5


async def test_an_empty_cursor_means_more() -> None:
    async with scripted(
        client("tools/list"), page(tool("a"), cursor=""),
        client("tools/list", params={"cursor": ""}), page(tool("b")),
    ) as (connection, _, _peer):  # fmt: skip
        await connection.list("tools")
        assert names(connection) == ["a", "b"]


async def test_a_cursor_that_repeats_ends_the_list_with_a_warning_and_no_doubles() -> None:
    async with process(cursor="stuck") as (connection, _):
        listing = await connection.list("tools")
        assert len(listing.items) == OWN_TOOLS
        assert [problem.name for problem in listing.problems] == ["tools/list"]
        assert "cursor repeats" in listing.problems[0].reason
        assert not listing.complete
        assert (await text(connection, "seen")).count("tools/list") == 2


async def test_a_cursor_of_two_that_alternate_ends_too() -> None:
    pages = {None: "a", "a": "b", "b": "a"}

    def answer(message: dict[str, Any]) -> list[dict[str, Any]]:
        params: dict[str, Any] = message.get("params") or {}
        cursor = params.get("cursor")
        result = {"tools": [tool(f"t{cursor}")], "nextCursor": pages[cursor]}
        return [{"jsonrpc": "2.0", "id": message["id"], "result": result}]

    async with scripted(answer=answer) as (connection, script, _):
        await connection.list("tools")
        assert names(connection) == ["tNone", "ta", "tb"]
        assert script.methods().count("tools/list") == 3


async def test_a_page_that_repeats_under_new_cursors_ends_too() -> None:
    count = 0

    def answer(message: dict[str, Any]) -> list[dict[str, Any]]:
        nonlocal count
        count += 1
        result = {"tools": [tool("a"), tool("b")], "nextCursor": f"c{count}"}
        return [{"jsonrpc": "2.0", "id": message["id"], "result": result}]

    async with scripted(answer=answer) as (connection, _, _peer):
        listing = await connection.list("tools")
        assert names(connection) == ["a", "b"]
        assert len(listing.problems) == 1
        assert count == 2


async def test_pages_without_end_end() -> None:
    from jupyter_mcp.client.connection import ConnectOptions

    async with process(choose=ConnectOptions(max_pages=7), cursor="endless") as (connection, _):
        listing = await connection.list("tools")
        assert len(listing.items) == 7
        assert "stopped after 7 pages" in listing.problems[0].reason


async def test_a_cursor_gone_bad_begins_anew_once_and_keeps_what_it_got() -> None:
    bad = server(error={"code": -32602, "message": "Invalid cursor"})
    async with scripted(
        client("tools/list"), page(tool("old"), cursor="1"), client("tools/list"), bad,
        client("tools/list"), page(tool("new"), cursor="2"), client("tools/list", params={"cursor": "2"}), bad,
    ) as (connection, _, _peer):  # fmt: skip
        listing = await connection.list("tools")
        assert names(connection) == ["new"]
        assert "page 2 could not be read: Invalid cursor" in listing.problems[0].reason


async def test_one_bad_tool_costs_that_tool() -> None:
    tools: list[Any] = [
        tool("good"),
        {"name": "nullschema", "inputSchema": None},
        {"name": "listprops", "inputSchema": {"type": "object", "properties": []}},
        {"name": "noschema"},
        {"inputSchema": {}},
        "text",
        tool("good", description="again"),
        tool("odd", annotations={"readOnlyHint": "yes"}, title=5),
    ]
    async with process(only=True, tools=tools) as (connection, _):
        listing = await connection.list("tools")
        assert names(connection) == ["good", "nullschema", "listprops", "noschema", "odd"]
        assert all(item["inputSchema"]["type"] == "object" for item in listing.items)
        assert {"good", "#5", "#6"} <= {problem.name for problem in listing.problems}
        assert await text(connection, "nullschema") == "nullschema"


@pytest.mark.parametrize("raw", [7, "x", {"a": 1}])
async def test_a_list_that_is_none_is_empty_with_a_problem(raw: Any) -> None:
    async with scripted(client("tools/list"), server(result={"tools": raw})) as (connection, _, _peer):
        listing = await connection.list("tools")
        assert listing.items == []
        assert len(listing.problems) == 1


async def test_resources_without_templates_are_no_problem() -> None:
    none = server(error={"code": -32601, "message": "Method not found"})
    async with scripted(
        client("resources/templates/list"), none, client("resources/list"), none, capabilities={"resources": {}}
    ) as (connection, _, _peer):
        assert (await connection.list("templates")).problems == []
        assert len((await connection.list("resources")).problems) == 1


async def test_another_error_is_the_callers() -> None:
    async with scripted(client("tools/list"), server(error={"code": -32000, "message": "no token"})) as (
        connection,
        _,
        _p,
    ):
        with pytest.raises(RequestError, match="no token"):
            await connection.list("tools")


async def test_readers_at_the_same_time_share_one_reading() -> None:
    async with process() as (connection, _):
        first, *rest = await asyncio.gather(*(connection.list("tools") for _ in range(10)))
        assert all(listing is first for listing in rest)
        assert (await text(connection, "seen")).count("tools/list") == 1


async def test_a_reader_that_is_cancelled_leaves_the_others() -> None:
    async with scripted(client("tools/list")) as (connection, script, _):
        one = asyncio.ensure_future(connection.list("tools"))
        two = asyncio.ensure_future(connection.list("tools"))
        await script.until(lambda: script.methods()[-1] == "tools/list")
        one.cancel()
        await asyncio.wait([one])
        script.say({"jsonrpc": "2.0", "id": script.sent[-1]["id"], "result": {"tools": [tool("a")]}})
        assert [item["name"] for item in (await two).items] == ["a"]


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_burst_of_changes_is_read_at_most_three_times(era: str) -> None:
    async with process(era=era) as (connection, peer):
        await connection.list("tools")
        await connection.call_tool("grow", {"name": "late_tool", "burst": 200})
        await peer.until(lambda: "late_tool" in names(connection))
        await asyncio.sleep(0.5)  # whatever would still be read
        assert (await text(connection, "seen")).count("tools/list") <= 3
        assert "late_tool" in names(connection)


async def test_changes_one_after_the_other_are_read_once() -> None:
    async with process() as (connection, peer):
        await connection.list("tools")
        for number in range(8):
            await connection.call_tool("grow", {"name": f"new{number}"})
            await asyncio.sleep(0.03)
        await peer.until(lambda: "new7" in names(connection))
        assert (await text(connection, "seen")).count("tools/list") <= 3


async def test_changes_that_never_pause_are_read_in_between() -> None:
    async with process() as (connection, peer):
        await connection.list("tools")
        done = asyncio.Event()

        async def keep_changing() -> None:
            while not done.is_set():
                await connection.call_tool("grow", {"name": "x"})
                await asyncio.sleep(0.05)

        task = asyncio.ensure_future(keep_changing())
        await peer.until(lambda: "x" in names(connection), 3)
        done.set()
        await task


async def test_a_changed_list_is_read_at_once_by_whoever_asks() -> None:
    async with process() as (connection, _):
        await connection.list("tools")
        await connection.call_tool("grow", {"name": "new"})
        assert "new" in [item["name"] for item in (await connection.list("tools")).items]


async def test_a_change_of_a_list_nobody_read_asks_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listings, "DEBOUNCE", 0.01)
    async with process() as (connection, peer):
        await connection.call_tool("grow", {"name": "new", "burst": 3})
        await peer.until(lambda: len(peer.notices) >= 3)
        await asyncio.sleep(0.1)
        assert "tools/list" not in await text(connection, "seen")


async def test_refresh_reads_again() -> None:
    async with process() as (connection, _):
        await connection.list("tools")
        await connection.list("tools", refresh=True)
        assert (await text(connection, "seen")).count("tools/list") == 2


def modern_page(ttl: int) -> Any:
    return page(tool("a"), resultType="complete", ttlMs=ttl, cacheScope="private")


async def test_a_modern_list_without_notice_of_changes_lives_as_long_as_it_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(listings, "REREAD", 0.05)
    async with scripted(
        client("tools/list"), modern_page(0), client("tools/list"), modern_page(60_000), era="modern"
    ) as (connection, script, _):
        await connection.list("tools")
        await connection.list("tools")
        assert script.methods().count("tools/list") == 1  # not older than a moment
        await asyncio.sleep(0.06)
        await connection.list("tools")
        await asyncio.sleep(0.06)
        await connection.list("tools")  # fresh for a minute
        assert script.methods().count("tools/list") == 2


async def test_the_host_is_told_when_a_list_was_read() -> None:
    told: list[int] = []

    class Peer(FakePeer):
        def changed(self, connection: Connection) -> None:
            listing = connection.listing("tools")
            told.append(len(listing.items) if listing else -1)
            super().changed(connection)

    peer = Peer()
    async with process(peer) as (connection, _):
        await connection.list("tools")
        await connection.call_tool("grow", {"name": "new"})
        await peer.until(lambda: told[-1] == OWN_TOOLS + 1)


async def test_a_list_stays_to_be_looked_at_after_the_end_but_is_not_read() -> None:
    async with process() as (connection, _):
        await connection.list("tools")
        await connection.close()
        assert len(names(connection)) == OWN_TOOLS
        with pytest.raises(ConnectionLost):
            await connection.list("tools")


async def test_two_thousand_tools_are_listed_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    many: Callable[[int], dict[str, Any]] = lambda number: tool(f"t{number}")  # noqa: E731
    async with scripted(client("tools/list"), page(*(many(number) for number in range(2000)))) as (connection, _, _p):
        assert len((await connection.list("tools")).items) == 2000


async def test_null_is_an_empty_list_and_a_missing_one_is_said() -> None:
    async with scripted(client("tools/list"), server(result={"tools": None})) as (connection, _, _peer):
        listing = await connection.list("tools")
        assert (listing.items, listing.problems) == ([], [])
    async with scripted(client("tools/list"), server(result={})) as (connection, _, _peer):
        listing = await connection.list("tools")
        assert [(problem.name, problem.reason) for problem in listing.problems] == [
            ("tools/list", "the answer has no tools")
        ]


async def test_a_list_of_empty_pages_ends() -> None:
    pages = [
        part
        for at in range(listings.MOST_EMPTY)
        for part in (client("tools/list", params={"cursor": str(at)}), page(cursor=str(at + 1)))
    ]
    async with scripted(client("tools/list"), page(tool("a"), cursor="0"), *pages) as (connection, _, _peer):
        listing = await connection.list("tools")
        assert [item["name"] for item in listing.items] == ["a"]
        assert not listing.complete
        assert "empty pages" in listing.problems[0].reason
