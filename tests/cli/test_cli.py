"""The command line: what it says, and that it starts without loading anything heavy."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import socket
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


async def _call_over_http(url: str, token: str) -> str:
    from jupyter_mcp.host.host import Host
    from jupyter_mcp.host.specs import ServerSpec

    host = Host()
    try:
        await host.connect(ServerSpec.parse("demo", url, bearer=token))
        return (await host.call_tool("demo", "add", {"a": 1, "b": 2})).text
    finally:
        await host.aclose()


def test_the_demo_over_http_prints_what_to_connect_with_and_ends_at_ctrl_c():
    command = [sys.executable, "-m", "jupyter_mcp.cli", "demo", "--http", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None and process.stdout is not None
        try:
            lines = [process.stderr.readline() for _ in range(3)]
            found = re.search(r"%mcp connect \S+ (http://127\.0\.0\.1:\d+/mcp) --bearer (\S+)", lines[1])
            assert found is not None, lines
            assert asyncio.run(_call_over_http(found[1], found[2])).startswith("3")
            process.send_signal(signal.SIGINT)
            assert process.wait(20) == 0
            assert process.stdout.read() + process.stderr.read() == ""
        finally:
            process.kill()


def test_a_port_that_is_taken_is_one_sentence(capsys: pytest.CaptureFixture[str]):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert main(["demo", "--http", str(taken.getsockname()[1])]) == 1
    err = capsys.readouterr().err
    assert err.startswith("Cannot listen on 127.0.0.1:") and err.count("\n") == 1


@pytest.mark.parametrize("port", ["x", "-1", "65536"])
def test_a_port_that_is_none_is_a_usage_error(port: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as caught:
        main(["demo", f"--http={port}"])
    assert caught.value.code == 2
    assert "port" in capsys.readouterr().err


def test_it_starts_without_anything_heavy():
    code = """
import sys
from jupyter_mcp.cli import main
main(["list"])
heavy = {"pydantic", "pydantic_core", "asyncio", "anyio", "httpx", "IPython", "tornado"} & set(sys.modules)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, stdout=subprocess.DEVNULL)
