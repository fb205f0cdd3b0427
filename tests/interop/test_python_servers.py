"""`mcp-server-time` and `mcp-server-git`, on the official SDK: each in both eras."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from jupyter_mcp.errors import ConnectionFailed, MCPError, UsageError
from tests.interop import programs
from tests.interop.hosted import hosted

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.interop, pytest.mark.anyio]

ERAS = {"auto": ("modern", "2026-07-28"), "modern": ("modern", "2026-07-28"), "legacy": ("legacy", "2025-11-25")}
era_and_revision = pytest.mark.parametrize("era", ERAS)
both = pytest.mark.parametrize("era", ["modern", "legacy"])


def time_server() -> list[str]:
    return [programs.python_server("mcp-server-time"), "--local-timezone", "Europe/Paris"]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A git repository with one commit that is the same everywhere."""
    folder = tmp_path / "repo"
    folder.mkdir()
    person = {"NAME": "Ada", "EMAIL": "ada@example.org", "DATE": "2026-01-02T03:04:05Z"}
    identity = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in person.items()}
    environment = {**os.environ, **identity, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    (folder / "poem.txt").write_text("first line\n", encoding="utf-8")
    for command in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "A first line"]):
        subprocess.run(["git", *command], cwd=folder, env=environment, check=True, timeout=30)
    return folder


@era_and_revision
async def test_the_time_server_is_met_in_the_era_that_was_asked_for(era: str) -> None:
    async with hosted(time_server(), era=era) as it:
        assert (it.entry.era, it.entry.revision) == ERAS[era]
        assert it.entry.info["name"] == "mcp-time"


@both
async def test_the_time_server_lists_what_it_has_and_nothing_where_it_has_nothing(era: str) -> None:
    async with hosted(time_server(), era=era) as it:
        assert await it.listed("tools") == ["get_current_time", "convert_time"]
        for kind in ("resources", "templates", "prompts"):
            assert await it.listed(kind) == []


@both
async def test_the_time_server_converts(era: str) -> None:
    arguments = {"source_timezone": "Asia/Kolkata", "time": "12:00", "target_timezone": "Asia/Tokyo"}
    async with hosted(time_server(), era=era) as it:
        result = await it.host.call_tool("it", "convert_time", arguments)
        assert result.data["time_difference"] == "+3.5h"
        assert result.data["target"]["datetime"].endswith("T15:30:00+09:00")


@both
async def test_the_time_server_says_what_is_wrong_with_a_zone(era: str) -> None:
    async with hosted(time_server(), era=era) as it:
        with pytest.raises(MCPError, match="Nowhere/Land"):
            await it.host.call_tool("it", "get_current_time", {"timezone": "Nowhere/Land"})
        assert "Asia/Tokyo" in (await it.host.call_tool("it", "get_current_time", {"timezone": "Asia/Tokyo"})).text


@both
async def test_a_misspelt_tool_is_answered_with_the_nearest(era: str) -> None:
    async with hosted(time_server(), era=era) as it:
        with pytest.raises(UsageError, match="convert_time"):
            await it.host.call_tool("it", "convert_tme", {})


async def test_a_server_that_rejects_its_arguments_shows_its_own_words() -> None:
    command = [programs.python_server("mcp-server-time"), "--no-such-option"]
    with pytest.raises(ConnectionFailed) as failed:
        async with hosted(command):
            pass
    assert failed.value.exit_code == 2
    assert any("--no-such-option" in line for line in failed.value.stderr)


@both
async def test_the_git_server_reads_a_repository(era: str, repository: Path) -> None:
    command = [programs.python_server("mcp-server-git"), "--repository", str(repository)]
    async with hosted(command, era=era) as it:
        assert len(await it.listed("tools")) == 12
        path = {"repo_path": str(repository)}
        log = await it.host.call_tool("it", "git_log", {**path, "max_count": 3})
        assert "A first line" in log.text
        (repository / "poem.txt").write_text("first line\nsecond line\n", encoding="utf-8")
        assert "poem.txt" in (await it.host.call_tool("it", "git_status", path)).text
        assert "+second line" in (await it.host.call_tool("it", "git_diff_unstaged", path)).text


@both
async def test_the_git_server_refuses_another_folder(era: str, repository: Path, tmp_path: Path) -> None:
    command = [programs.python_server("mcp-server-git"), "--repository", str(repository)]
    async with hosted(command, era=era) as it:
        with pytest.raises(MCPError):
            await it.host.call_tool("it", "git_log", {"repo_path": str(tmp_path)})
