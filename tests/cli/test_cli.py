"""The command line: what it says, and that it starts without loading anything heavy."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import socket
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp import __version__
from jupyter_mcp.cli import SERVERS, main
from jupyter_mcp.kernel import identity
from tests.cli.stand_in import notebook

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from jupyter_mcp.kernel.identity import Live


@pytest.fixture(autouse=True)
def _runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Live]:
    """A notebook that is served, as its runtime file says."""
    monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / "sales.ipynb"))
    claimed = identity.claim(identity.identify(object()))
    stop, ready = threading.Event(), threading.Event()

    async def serve() -> None:
        async with notebook().serve_http(grace=0.2) as running:
            claimed.publish(running.url, running.token or "")
            ready.set()
            await asyncio.to_thread(stop.wait)

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    assert ready.wait(20)
    yield claimed.record
    stop.set()
    thread.join()
    claimed.release(forget=True)


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


def test_list_names_the_notebooks_that_are_served(served: Live, capsys: pytest.CaptureFixture[str]):
    assert main(["list"]) == 0
    out = capsys.readouterr().out
    assert f"sales.ipynb in {served.folder}  (jupyter-mcp-host stdio --notebook sales)" in out
    assert served.token not in out


def test_list_says_how_a_notebook_is_served_when_none_is(capsys: pytest.CaptureFixture[str]):
    main(["list"])
    assert "%mcp serve" in capsys.readouterr().out


def test_no_command_shows_the_help(capsys: pytest.CaptureFixture[str]):
    assert main([]) == 2
    assert "stdio" in capsys.readouterr().out


def test_an_unknown_command_is_a_usage_error(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as caught:
        main(["deploy"])
    assert caught.value.code == 2
    assert "invalid choice: 'deploy'" in capsys.readouterr().err


def test_the_bridge_answers_on_stdin_and_stdout_before_there_is_a_notebook():
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "list_variables"}},
    ]
    done = bridge(lines)
    assert [one["id"] for one in done] == [1, 2]
    assert "No notebook is being served" in done[1]["result"]["content"][0]["text"]


def test_the_bridge_finds_a_notebook_by_its_runtime_file(served: Live):
    call: dict[str, Any] = {"name": "list_variables", "arguments": {}}
    envelope: dict[str, Any] = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    (answer,) = bridge(
        [{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {**call, "_meta": envelope}}], served.folder
    )
    assert answer["result"]["structuredContent"] == {"notebook": "sales", "here": "sales"}


def bridge(messages: list[dict[str, Any]], folder: str = ".") -> list[dict[str, Any]]:
    """What a bridge in that folder answers."""
    given = "".join(json.dumps(one) + "\n" for one in messages).encode()
    command = [sys.executable, "-m", "jupyter_mcp.cli", "stdio"]
    done = subprocess.run(command, input=given, capture_output=True, timeout=60, check=True, cwd=folder)
    assert done.stderr == b""
    return [json.loads(line) for line in done.stdout.splitlines()]


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
