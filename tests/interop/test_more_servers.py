"""The servers of servers.toml, one after the other: found out, listed, called, refused, closed without a trace."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import ConnectionFailed, UsageError
from jupyter_mcp.host.host import Host
from jupyter_mcp.host.specs import ServerSpec
from tests.interop.programs import BUILD

if TYPE_CHECKING:
    from jupyter_mcp.host.entry import ServerEntry

pytestmark = [pytest.mark.interop, pytest.mark.slow, pytest.mark.anyio, pytest.mark.timeout(180)]

MORE = BUILD / "more"
SERVERS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("servers.toml").read_text(encoding="utf-8"))
WORKING = [name for name, server in SERVERS.items() if "breaks" not in server]
BREAKING = [name for name in SERVERS if name not in WORKING]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """What `{work}` means: a folder with something of each kind to read."""
    (tmp_path / "a.txt").write_text("hello\nworld\n", encoding="utf-8")
    (tmp_path / "a.html").write_text("<h1>Title</h1>", encoding="utf-8")
    with sqlite3.connect(tmp_path / "t.db") as database:
        database.execute("create table cities (name text, pop integer)")
        database.executemany("insert into cities values (?, ?)", [("Paris", 2_100_000), ("Oslo", 700_000)])
    database.close()
    return tmp_path


def filled(value: Any, work: Path) -> Any:
    """The same with `{work}` replaced, at any depth."""
    if isinstance(value, str):
        return value.replace("{work}", str(work))
    if isinstance(value, list):
        return [filled(item, work) for item in value]  # pyright: ignore[reportUnknownVariableType]
    return {key: filled(item, work) for key, item in value.items()} if isinstance(value, dict) else value  # pyright: ignore[reportUnknownVariableType]


def program(name: str, server: dict[str, Any]) -> Path:
    """Its program, or a skip."""
    if "npm" in server and shutil.which("node") is None:
        pytest.skip(f"{name} needs Node, which is not installed")
    scripts = "Scripts" if sys.platform == "win32" else "bin"
    folder = MORE / "npm" / "node_modules" / ".bin" if "npm" in server else MORE / name / scripts
    found = folder / server["command"][0]
    if not found.exists():
        pytest.skip(f"{name} is not installed in build/more (make test-all puts it there)")
    return found


async def connected(host: Host, name: str, work: Path, era: str = "auto") -> ServerEntry:
    server = SERVERS[name]
    command = [str(program(name, server)), *filled(server["command"][1:], work)]
    return await host.connect(ServerSpec.parse("it", command, era=era, env=filled(server.get("env", {}), work)))


@pytest.mark.parametrize("name", WORKING)
async def test_it_is_found_out_listed_called_and_closed(name: str, work: Path) -> None:
    server = SERVERS[name]
    host = Host()
    try:
        entry = await connected(host, name, work)
        assert (entry.state, entry.era) == ("ready", server["era"])
        assert entry.connection is not None
        for kind in ("tools", "resources", "templates", "prompts"):
            listing = await entry.connection.list(kind)
            assert not listing.problems
        assert host.catalogue.tools("it")
        if "tool" in server:
            await calls(host, server, work)
            assert entry.era == server.get("after", server["era"])
    finally:
        await host.aclose()


async def calls(host: Host, server: dict[str, Any], work: Path) -> None:
    """The good call, then the wrong one."""
    arguments = filled(server.get("arguments", {}), work)
    result = await host.call_tool("it", server["tool"], arguments, check=not server.get("fails"))
    assert result.is_error is bool(server.get("fails"))
    assert server["says"] in result.text
    if "columns" in server:
        assert list(result.df().columns) == server["columns"]
    with pytest.raises(UsageError, match=server["tool"]):
        await host.call_tool("it", server["tool"], server["wrong"])


@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize("name", [name for name in WORKING if SERVERS[name].get("both")])
async def test_it_speaks_both_eras(name: str, era: str, work: Path) -> None:
    host = Host()
    try:
        entry = await connected(host, name, work, era)
        assert (entry.state, entry.era) == ("ready", era)
        assert host.catalogue.tools("it") or (await entry.connection.list("tools")).items  # type: ignore[union-attr]
    finally:
        await host.aclose()


@pytest.mark.parametrize("name", BREAKING)
async def test_it_says_what_to_do_about_a_server_that_breaks(name: str, work: Path) -> None:
    host = Host()
    try:
        with pytest.raises(ConnectionFailed, match=SERVERS[name]["breaks"]) as caught:
            await connected(host, name, work)
        assert caught.value.exit_code and caught.value.stderr
    finally:
        await host.aclose()


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks into /proc")
async def test_no_process_is_left(work: Path) -> None:
    """One of npm, whose program is a script that starts another."""
    host = Host()
    entry = await connected(host, "memory", work)
    assert entry.state == "ready"
    mark = str(work).encode()  # in its environment, and nobody else's

    def left() -> list[str]:
        found: list[str] = []
        for place in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (place / "environ").read_bytes() and int(place.name) != os.getpid():
                    found.append((place / "cmdline").read_text())
            except OSError:
                continue
        return found

    assert left()
    await host.aclose()
    assert not left()
