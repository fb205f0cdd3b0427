"""Servers as a page sees and moves them: the acts of the panel's section."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import MCPError, UsageError
from jupyter_mcp.notebook.panel import servers
from jupyter_mcp.runtime import state
from jupyter_mcp.runtime.thread import get_runtime
from jupyter_mcp.server import Server

if TYPE_CHECKING:
    from pathlib import Path

    from tests.notebook.conftest import Cells

DEMO = f"{sys.executable} -m jupyter_mcp.demo"


def ask(act: str, **data: Any) -> Any:
    return get_runtime().submit(servers.ACTS[act], data).result(60)


def test_a_kernel_that_used_no_server_has_none_and_no_host_is_made(cells: Cells) -> None:
    assert ask("servers") == {"servers": []}
    assert state.existing_host() is None
    with pytest.raises(UsageError, match="has no servers"):
        ask("server_log", server="demo")


def test_a_command_is_connected_stopped_and_connected_again(cells: Cells) -> None:
    assert ask("server_connect", server="demo", target=DEMO) == {"done": True}
    (one,) = ask("servers")["servers"]
    assert (one["name"], one["state"], one["problem"]) == ("demo", "ready", "")
    assert one["said"].startswith("Demo ")
    with pytest.raises(UsageError, match="demo is connected already"):
        ask("server_connect", server="demo", target=DEMO)
    connection = state.get_host().servers["demo"].connection
    assert connection is not None
    before = connection.link
    assert ask("server_reconnect", server="demo") == {"done": True}
    assert connection.link is not before
    assert ask("server_stop", server="demo") == {"done": True}
    assert ask("servers") == {"servers": []}


def test_what_does_not_start_is_said_and_stays_with_its_problem(cells: Cells) -> None:
    with pytest.raises(MCPError):
        ask("server_connect", server="none", target="no-such-program-anywhere --flag")
    (one,) = ask("servers")["servers"]
    assert one["state"] == "failed"
    assert "no-such-program-anywhere" in one["problem"]


def test_the_persons_rules_hold_for_a_button_too(cells: Cells) -> None:
    cells.run("%mcp deny demo")
    with pytest.raises(MCPError):
        ask("server_connect", server="demo", target=DEMO)


def test_the_end_of_a_log_is_told_with_how_much_was_before(cells: Cells, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "MAX_LINES", 3)
    cells.put(s=Server("s"))
    cells.run("%mcp connect s $s ;")
    entry = state.get_host().servers["s"]
    for number in range(5):
        entry.say("server", f"line {number}\x1b[31m", level="warning")
    said = ask("server_log", server="s")
    assert [one["text"] for one in said["lines"]] == ["line 2", "line 3", "line 4"]
    assert said["earlier"] == entry.logged - 3
    assert said["lines"][0]["level"] == "warning"


def test_no_secret_of_a_command_is_told(cells: Cells) -> None:
    secret = "sk-ant-api03-" + "z9Q4" * 12
    cells.put(server=Server("s"), secret=secret)
    cells.run("%mcp connect s $server ;")
    with pytest.raises(MCPError):
        cells.run("%mcp connect t --env KEY=$secret -- no-such-program-anywhere")
    said = ask("servers")["servers"]
    assert [one["name"] for one in said] == ["s", "t"]
    assert secret not in json.dumps(said)


def test_what_files_name_is_offered_and_a_page_cannot_say_what_is_started(
    cells: Cells, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / ".mcp.json"
    command = {"command": sys.executable, "args": ["-m", "jupyter_mcp.demo"]}
    file.write_text(json.dumps({"mcpServers": {"near": command, "odd": {"command": 3}}}))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("jupyter_mcp.notebook.configuring.here", lambda: tmp_path)
    (near,) = [one for one in ask("servers_found")["found"] if one["file"] == str(file)]
    assert (near["server"], near["asks"]) == ("near", True)
    with pytest.raises(UsageError, match="does not name a server far"):
        ask("server_connect", server="far", file=str(file))
    with pytest.raises(UsageError, match="does not name a server near"):
        ask("server_connect", server="near", file="/etc/passwd")
    with pytest.raises(MCPError):  # a project's server wants a yes, and nobody is asked here
        ask("server_connect", server="near", file=str(file))


@pytest.mark.parametrize("odd", [{}, {"server": 3}, {"server": "a b", "target": "x"}, {"server": "a", "target": ""}])
def test_what_makes_no_sense_is_refused_in_a_sentence(cells: Cells, odd: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        ask("server_connect", **odd)
