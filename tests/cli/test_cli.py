"""The command line: what it says, and that it starts without loading anything heavy."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from jupyter_mcp import __version__
from jupyter_mcp.cli import SERVERS, main


def test_version_is_the_packages(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"jupyter-mcp-host {__version__}\n"


def test_list_names_every_server_with_its_command(capsys: pytest.CaptureFixture[str]):
    assert main(["list"]) == 0
    out = capsys.readouterr().out
    for name in SERVERS:
        assert f"jupyter-mcp-host {name}" in out


def test_help_is_honest_about_what_is_not_there(capsys: pytest.CaptureFixture[str]):
    assert main([]) == 2
    assert "Not there yet" in capsys.readouterr().out


def test_an_unknown_command_is_a_usage_error(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as caught:
        main(["stdio"])
    assert caught.value.code == 2
    assert "invalid choice: 'stdio'" in capsys.readouterr().err


def test_the_demo_command_serves_the_demo():
    given = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
    command = [sys.executable, "-m", "jupyter_mcp.cli", "demo"]
    done = subprocess.run(command, input=given, capture_output=True, timeout=60, check=True)
    assert json.loads(done.stdout) == {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert done.stderr == b""


def test_it_starts_without_anything_heavy():
    code = """
import sys
from jupyter_mcp.cli import main
main(["list"])
heavy = {"pydantic", "pydantic_core", "asyncio", "anyio", "httpx", "IPython", "tornado"} & set(sys.modules)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, stdout=subprocess.DEVNULL)
