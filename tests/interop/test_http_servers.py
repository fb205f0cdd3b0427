"""Servers over HTTP beyond what every row of servers.toml is put through: data, errors of theirs, and their end."""

from __future__ import annotations

import asyncio
import os
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import ConnectionFailed, ConnectionLost, MCPError
from tests.interop import programs
from tests.interop.hosted import Hosted, hosted
from tests.interop.launch import Listening, free_port, listening
from tests.interop.rows import Place, Row, prepare

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

pytestmark = [pytest.mark.interop, pytest.mark.anyio, pytest.mark.timeout(240)]

ROWS = programs.rows()
NAMES = ["everything-streamableHttp", "everything-sse", "datasette-mcp", "motherduck-http"]


@dataclass
class Server:
    """A row's server on a port of its own; it can be ended and started again at the same place."""

    row: Row
    place: Place
    port: int
    running: ExitStack = field(default_factory=ExitStack)

    @property
    def url(self) -> str:
        return self.place.filled(self.row["url"], self.port)

    @property
    def arguments(self) -> dict[str, Any]:
        return self.place.filled(self.row["arguments"])

    def up(self) -> None:
        env = {**os.environ, **self.place.environment(self.row, self.port)}
        command = self.place.command(self.row, self.port)
        start: AbstractContextManager[Listening] = listening(command, self.url, env=env, cwd=self.place.work)
        self.running.enter_context(start)

    def down(self) -> None:
        self.running.close()


def started(name: str, work: Path) -> Server:
    row = ROWS[name]
    (programs.npm_server if row["locked"] == "npm" else programs.python_server)(row["command"][0])
    server = Server(row, Place(programs.home(name, ROWS), prepare(work), "test"), free_port())
    server.up()
    return server


@pytest.fixture(params=NAMES)
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[Server]:
    found = started(request.param, tmp_path / "work")
    yield found
    found.down()


@pytest.fixture
def datasette(tmp_path: Path) -> Generator[Server]:
    found = started("datasette-mcp", tmp_path / "work")
    yield found
    found.down()


async def test_a_server_that_ends_is_told_and_used_again_once_it_is_back(server: Server) -> None:
    tool, says = server.row["tool"], server.row["says"]
    async with hosted(server.url) as it:
        assert says in (await it.host.call_tool("it", tool, server.arguments)).text
        await asyncio.to_thread(server.down)
        with pytest.raises((ConnectionLost, ConnectionFailed)) as lost:
            await it.host.call_tool("it", tool, server.arguments)
        assert "refuses connections" in str(lost.value)
        assert it.entry.state == "lost"
        await asyncio.to_thread(server.up)
        assert says in await answered(it, tool, server.arguments)
        assert it.entry.connection is not None
        assert it.entry.connection.ready


async def answered(it: Hosted, tool: str, arguments: dict[str, Any]) -> str:
    """What a call says to a server that is there again: after an attempt that failed the next has to wait a little."""
    async with asyncio.timeout(10):
        while True:
            try:
                return (await it.host.call_tool("it", tool, arguments)).text
            except ConnectionFailed as early:
                if "tried again" not in (early.hint or ""):
                    raise
                await asyncio.sleep(0.1)


async def test_a_server_that_was_restarted_meanwhile_is_met_anew(server: Server) -> None:
    """Its sessions are forgotten, and each server says so in its own way; the first call succeeds all the same."""
    async with hosted(server.url) as it:
        await it.listed("tools")
        await asyncio.to_thread(server.down)
        await asyncio.to_thread(server.up)
        assert server.row["says"] in (await it.host.call_tool("it", server.row["tool"], server.arguments)).text


@pytest.mark.parametrize("era", ["modern", "legacy"])
async def test_datasette_gives_rows_and_its_own_words_about_wrong_sql(era: str, datasette: Server) -> None:
    async with hosted(datasette.url, era=era) as it:
        rows = await it.host.call_tool("it", "execute_sql", {"database": "t", "sql": "select * from cities"})
        assert rows.df().to_dict("records") == [{"name": "Paris", "pop": 2_100_000}, {"name": "Oslo", "pop": 700_000}]
        with pytest.raises(MCPError, match="no such table"):
            await it.host.call_tool("it", "execute_sql", {"database": "t", "sql": "select * from nowhere"})
        assert (await it.host.call_tool("it", "execute_sql", {"database": "t", "sql": "select 1 as a"})).data


async def test_many_calls_at_once_are_each_answered_with_their_own(datasette: Server) -> None:
    async with hosted(datasette.url) as it:

        async def ask(number: int) -> int:
            sql = f"select {number} as a"
            result = await it.host.call_tool("it", "execute_sql", {"database": "t", "sql": sql})
            return result.data["rows"][0]["a"]

        assert await asyncio.gather(*(ask(number) for number in range(40))) == list(range(40))


async def test_a_page_that_is_no_server_is_told_from_one(datasette: Server) -> None:
    with pytest.raises(ConnectionFailed) as failed:
        async with hosted(f"http://127.0.0.1:{datasette.port}/t/cities"):
            pass
    assert "HTTP 500" in str(failed.value)
    assert "Datasette" in str(failed.value)


async def test_a_database_server_keeps_what_was_made_between_calls(tmp_path: Path) -> None:
    server = started("motherduck-http", tmp_path / "work")
    try:
        async with hosted(server.url) as it:
            for sql in ("create table t as select 1 as a union all select 2", "insert into t values (3)"):
                await it.host.call_tool("it", "execute_query", {"sql": sql})
            total = await it.host.call_tool("it", "execute_query", {"sql": "select sum(a) as total from t"})
            assert [int(value) for value in total.df()["total"]] == [6]
    finally:
        await asyncio.to_thread(server.down)
