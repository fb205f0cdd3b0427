"""The rows of servers.toml that the locks install, each played as `make interop` plays all of them; and the player."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.interop import programs
from tests.interop.launch import NotStarted, free_port, listening
from tests.interop.rows import Played, play

pytestmark = [pytest.mark.interop, pytest.mark.timeout(240)]

ROWS = programs.rows()
CORE = [name for name, row in ROWS.items() if "locked" in row]
DEMO = {
    "command": ["python", "-m", "jupyter_mcp.demo"],
    "era": "modern",
    "both": True,
    "tools": 5,
    "tool": "add",
    "arguments": {"a": 2, "b": 3},
    "says": "5",
    "wrong": {"a": "two", "b": 3},
}
# A server that listens and has a child: it writes the child's id to a file, then serves the folder.
PARENT = """
import http.server, pathlib, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
pathlib.Path("child").write_text(str(child.pid))
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), http.server.SimpleHTTPRequestHandler).serve_forever()
"""


async def played(name: str, work: Path, **changes: Any) -> Played:
    row = {**ROWS[name], **changes}
    if row["locked"] == "npm":
        programs.npm_server(row["command"][0])
    else:
        programs.python_server(row["command"][0])
    return await play(name, row, programs.home(name, ROWS), work / "work")


@pytest.mark.anyio
@pytest.mark.parametrize("name", CORE)
async def test_it_is_found_out_listed_called_refused_and_closed(name: str, tmp_path: Path) -> None:
    outcome = await played(name, tmp_path)
    assert outcome.problem is None


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, None),
        ({"era": "legacy"}, "era"),
        ({"transport": "http"}, "transport"),
        ({"tools": 1000}, "tools, not 1000"),
        ({"says": "no such words"}, "no such words"),
        ({"tool": "no_such_tool"}, "no_such_tool"),
        ({"fails": True}, "is_error"),
        ({"columns": ["nothing"]}, "no table"),
        ({"after": "legacy"}, "era after the call"),
        ({"wrong": {"a": 2, "b": 3}}, "not refused"),
        ({"command": ["no-such-program"]}, "no-such-program is not in"),
        ({"breaks": "anything"}, "it started"),
    ],
    ids=str,
)
async def test_what_does_not_go_as_its_row_says_is_a_problem(
    changes: dict[str, Any], said: str | None, tmp_path: Path
) -> None:
    outcome = await play("demo", {**DEMO, **changes}, Path(sys.prefix), tmp_path / "work")
    assert said in (outcome.problem or "") if said else outcome.problem is None


def test_every_row_says_how_it_is_installed_and_what_to_call() -> None:
    for name, row in ROWS.items():
        assert len({"locked", "pip", "npm"} & row.keys()) == 1, name
        assert "breaks" in row or {"era", "tools", "tool", "says"} <= row.keys(), name


def test_rows_of_the_same_packages_share_an_environment() -> None:
    assert programs.home("playwright-mcp", ROWS) == programs.home("context7", ROWS)
    assert programs.home("mcp-server-sqlite", ROWS) != programs.home("sqlite-alone", ROWS)
    assert programs.home("motherduck-http", ROWS) == programs.BUILD / "servers"


def test_a_server_that_listens_is_ended_with_its_children(tmp_path: Path) -> None:
    port = free_port()
    command = [sys.executable, "-c", PARENT, str(port)]
    with listening(command, f"http://127.0.0.1:{port}/", env={}, cwd=tmp_path) as server:
        child = psutil.Process(int((tmp_path / "child").read_text()))
        assert child.is_running()
    assert server.process.returncode is not None
    assert not child.is_running()


def test_a_server_that_ends_instead_of_listening_is_told_with_its_last_words(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import sys; sys.exit('no licence')"]
    with pytest.raises(NotStarted, match="no licence"):
        listening(command, f"http://127.0.0.1:{free_port()}/", env={}, cwd=tmp_path).__enter__()


def test_a_server_that_never_listens_is_given_up_and_ended(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import time; print('busy', flush=True); time.sleep(600)"]
    before = {child.pid for child in psutil.Process().children()}
    with pytest.raises(NotStarted, match=r"(?s)within 1 s.*busy"):
        listening(command, f"http://127.0.0.1:{free_port()}/", env={}, cwd=tmp_path, limit=1.0).__enter__()
    assert {child.pid for child in psutil.Process().children()} <= before


def test_the_program_prints_a_table_and_writes_its_rows(tmp_path: Path) -> None:
    programs.python_server("mcp-server-time")
    out = tmp_path / "interop.json"
    command = [sys.executable, str(programs.ROOT / "scripts" / "interop.py"), "mcp-server-time", "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout
    row = json.loads(out.read_text(encoding="utf-8"))["servers"][0]
    assert (row["name"], row["era"], row["tools"], row["call"]) == ("mcp-server-time", "modern", 2, "answered")
    assert "mcp-server-time  stdio" in done.stdout
