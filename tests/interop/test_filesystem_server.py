"""`server-filesystem`, in TypeScript: tools with an output schema each, and folders that come from our roots."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from jupyter_mcp.errors import MCPError
from tests.interop import programs
from tests.interop.hosted import PATIENCE, hosted

pytestmark = [pytest.mark.interop, pytest.mark.anyio]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = (tmp_path / "files").resolve()
    folder.mkdir()
    (folder / "hello.txt").write_text("hello\n", encoding="utf-8")
    (folder / "data.csv").write_text("city,days\n", encoding="utf-8")
    return folder


def server(*folders: Path) -> list[str]:
    return [programs.npm_server("mcp-server-filesystem"), *map(str, folders)]


async def test_it_offers_tools_only(folder: Path) -> None:
    async with hosted(server(folder), roots=[]) as it:
        assert (it.entry.era, it.entry.revision) == ("legacy", "2025-11-25")
        assert len(await it.listed("tools")) == 14
        assert [await it.listed(kind) for kind in ("resources", "templates", "prompts")] == [[], [], []]


async def test_it_lists_and_reads_files(folder: Path) -> None:
    async with hosted(server(folder), roots=[]) as it:
        listing = await it.host.call_tool("it", "list_directory", {"path": str(folder)})
        assert sorted(listing.text.splitlines()) == ["[FILE] data.csv", "[FILE] hello.txt"]
        read = await it.host.call_tool("it", "read_text_file", {"path": str(folder / "hello.txt")})
        assert read.text == "hello\n"
        assert read.data == {"content": "hello\n"}


async def test_it_writes_where_it_may(folder: Path) -> None:
    async with hosted(server(folder), roots=[]) as it:
        await it.host.call_tool("it", "write_file", {"path": str(folder / "new.txt"), "content": "new"})
    assert (folder / "new.txt").read_text(encoding="utf-8") == "new"


async def test_it_refuses_what_is_outside(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    async with hosted(server(folder), roots=[]) as it:
        with pytest.raises(MCPError, match="denied"):
            await it.host.call_tool("it", "read_text_file", {"path": str(tmp_path / "secret.txt")})


async def test_a_folder_given_in_its_command_stays_allowed_beside_the_notebooks(folder: Path) -> None:
    async with hosted(server(folder)) as it:
        async with asyncio.timeout(PATIENCE):
            while str(Path.cwd()) not in (await it.host.call_tool("it", "list_allowed_directories")).text:
                pass
        listing = await it.host.call_tool("it", "list_directory", {"path": str(folder)})
        assert "hello.txt" in listing.text


async def test_our_roots_become_its_folders(folder: Path, tmp_path: Path) -> None:
    other = (tmp_path / "other").resolve()
    other.mkdir()
    async with hosted(server(other), roots=[folder]) as it:
        async with asyncio.timeout(PATIENCE):  # it asks for them in its own time
            while str(folder) not in (await it.host.call_tool("it", "list_allowed_directories")).text:
                pass
        listing = await it.host.call_tool("it", "list_directory", {"path": str(folder)})
        assert "hello.txt" in listing.text
