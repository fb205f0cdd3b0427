"""Real processes behind `StdioTransport`: what they say, how they end, what is left of them."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from jupyter_mcp.errors import ConnectionFailed, ConnectionLost, LocalProtocolError
from jupyter_mcp.transport import stdio
from jupyter_mcp.transport.stdio import StdioTransport
from tests import fakes
from tests.transport.recorder import Recorder

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform == "win32", reason="process trees of POSIX")]


@asynccontextmanager
async def server(env: dict[str, str] | None = None, **options: Any) -> AsyncGenerator[tuple[StdioTransport, Recorder]]:
    command, args = fakes.command(**options)
    transport, recorder = StdioTransport(command, args, env=env), Recorder()
    await transport.open(recorder)
    try:
        yield transport, recorder
    finally:
        await transport.close()


async def call(transport: StdioTransport, recorder: Recorder, tool: str, id: int = 1, **arguments: Any) -> Any:
    params = {"name": tool, "arguments": arguments}
    await transport.send({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})

    def answer() -> Any:
        return next((m for m in recorder.messages if m.get("id") == id and "method" not in m), None)

    await recorder.until(answer)
    return answer()["result"]["content"][0]["text"]


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def gone(pids: list[int], seconds: float = 20.0) -> list[int]:
    """Those of `pids` still alive after at most `seconds`."""
    deadline = time.monotonic() + seconds
    while (left := [pid for pid in pids if alive(pid)]) and time.monotonic() < deadline:  # noqa: ASYNC110
        await asyncio.sleep(0.05)  # the end of a foreign process makes no event here
    return left


async def test_messages_go_both_ways_with_their_size() -> None:
    async with server() as (transport, recorder):
        size = await transport.send({"jsonrpc": "2.0", "id": 7, "method": "ping"})
        await recorder.until(lambda: recorder.messages)
        assert recorder.messages == [{"jsonrpc": "2.0", "id": 7, "result": {}}]
        assert size == len('{"jsonrpc":"2.0","id":7,"method":"ping"}')
        assert recorder.sizes == [len('{"jsonrpc": "2.0", "id": 7, "result": {}}')]
    assert [closed.exit_code for closed in recorder.closed] == [0]


async def test_noise_blank_lines_and_colours_on_stdout_are_skipped_and_reported() -> None:
    banner = '\x1b[32mStarting\x1b[0m\n\n[info] 3 plugins\n{"level":30,"msg":"x"}\n123\nnull\n'
    async with server(start={"stdout": banner}, noise=["DEBUG: work"]) as (transport, recorder):
        assert await call(transport, recorder, "echo", text="fine") == "fine"
        texts = [noise.text for noise in recorder.noise]
        assert texts[0] == "Starting"
        assert len(texts) == 6
        assert not any("\x1b" in text for text in texts)


async def test_bom_and_crlf_are_no_matter() -> None:
    async with server(bom=True, crlf=True) as (transport, recorder):
        assert await call(transport, recorder, "echo", text="fine") == "fine"
        assert recorder.noise == []


async def test_a_line_of_megabytes_arrives_whole_and_quickly() -> None:
    async with server() as (transport, recorder):
        started = time.monotonic()
        assert len(await call(transport, recorder, "big", n=5_000_000)) == 5_000_000
        assert time.monotonic() - started < 5


async def test_a_message_of_megabytes_is_sent_whole_while_the_pipe_is_full() -> None:
    async with server() as (transport, recorder):
        text = "é" * 3_000_000
        assert await call(transport, recorder, "echo", text=text) == text


async def test_many_messages_at_once_keep_their_order() -> None:
    async with server() as (transport, recorder):
        await asyncio.gather(*(transport.send({"jsonrpc": "2.0", "id": i, "method": "ping"}) for i in range(500)))
        await recorder.until(lambda: len(recorder.messages) == 500)
        assert [message["id"] for message in recorder.messages] == list(range(500))


async def test_invalid_utf8_on_stdout_and_stderr_costs_nothing_else() -> None:
    async with server(start={"stdout": "caf\udce9\n", "stderr": "warn \udcff\n"}) as (transport, recorder):
        assert await call(transport, recorder, "echo", text="fine") == "fine"
        await recorder.until(lambda: recorder.stderr)
        assert recorder.stderr == ["warn \N{REPLACEMENT CHARACTER}"]


async def test_the_last_words_of_a_server_need_no_newline() -> None:
    async with server() as (transport, recorder):
        assert await call(transport, recorder, "last", text="last words") == "last words"
        await recorder.until(lambda: recorder.closed)
        assert recorder.closed[0].exit_code == 0


async def test_a_big_last_answer_arrives_before_the_end_is_told() -> None:
    async with server() as (transport, recorder):
        assert len(await call(transport, recorder, "last", text="x" * 8_000_000)) == 8_000_000
        await recorder.until(lambda: recorder.closed)


async def test_an_exit_is_told_with_its_code_and_all_of_stderr() -> None:
    text = "loading settings\nfatal: setting WEATHER_TOKEN is missing"  # no line end
    async with server(start={"stderr": text, "exit": 3}) as (transport, recorder):
        await recorder.until(lambda: recorder.closed, 3)
        closed = recorder.closed[0]
        assert closed.exit_code == 3
        assert closed.reason == "exited with code 3"
        assert closed.stderr == ("loading settings", "fatal: setting WEATHER_TOKEN is missing")
        assert recorder.stderr == list(closed.stderr)
        with pytest.raises(ConnectionLost) as lost:
            await transport.send({"jsonrpc": "2.0", "id": 1, "method": "ping"})
        assert lost.value.may_have_run is False
        assert lost.value.exit_code == 3


async def test_a_signal_is_told_by_its_name() -> None:
    async with server() as (transport, recorder):
        assert transport.tree is not None
        os.kill(transport.tree.pid, signal.SIGKILL)
        await recorder.until(lambda: recorder.closed, 3)
        assert recorder.closed[0].reason == "was ended by signal SIGKILL"


async def test_only_the_last_200_lines_of_stderr_are_kept_and_all_are_told() -> None:
    async with server() as (transport, recorder):
        await call(transport, recorder, "stderr", text="".join(f"\x1b[31mline {i}\x1b[0m\n" for i in range(450)))
        await recorder.until(lambda: len(recorder.stderr) == 450)
        assert len(transport.stderr) == 200
        assert transport.stderr[-1] == "\x1b[31mline 449\x1b[0m"


async def test_a_server_that_closes_its_output_is_gone() -> None:
    async with server(ignore_eof=True) as (transport, recorder):
        pid = json.loads(await call(transport, recorder, "pids"))[0]
        params = {"name": "close_stdout"}
        await transport.send({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params})
        await recorder.until(lambda: recorder.closed, 3)
        assert recorder.closed[0].reason == "closed its output"
        assert await gone([pid]) == []


async def test_an_exit_is_told_although_a_child_holds_the_output_open() -> None:
    async with server(children=["stubborn"]) as (transport, recorder):
        pids = json.loads(await call(transport, recorder, "pids"))
        await transport.send(
            {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "die", "arguments": {"code": 4}}}
        )
        await recorder.until(lambda: recorder.closed, 3)
        assert recorder.closed[0].exit_code == 4
        assert await gone(pids) == []


@pytest.mark.parametrize("children", [["plain"], ["stubborn"], ["session"], ["daemon"], ["stubborn", "session"]])
@pytest.mark.parametrize("stubborn", [False, True])
async def test_nothing_of_the_tree_is_alive_after_close(
    children: list[str], stubborn: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if children != ["stubborn"]:  # one with the real times, the others in less
        monkeypatch.setattr(stdio, "EOF_GRACE", 0.3)
        monkeypatch.setattr(stdio, "TERM_GRACE", 0.3)
    if "daemon" in children and not sys.platform.startswith("linux"):
        pytest.skip("a daemon is found by its environment, on Linux only")
    command, args = fakes.command(children=children, ignore_eof=stubborn, ignore_term=stubborn)
    transport, recorder = StdioTransport(command, args), Recorder()
    await transport.open(recorder)
    pids = json.loads(await call(transport, recorder, "pids"))
    assert all(alive(pid) for pid in pids)
    started = time.monotonic()
    await transport.close()
    assert time.monotonic() - started < 6
    assert await gone(pids, 0.5) == []
    assert len(recorder.closed) == 1


async def test_a_server_that_ends_at_the_end_of_its_input_is_not_signalled() -> None:
    command, args = fakes.command()
    transport, recorder = StdioTransport(command, args), Recorder()
    await transport.open(recorder)
    await call(transport, recorder, "echo", text="up")
    started = time.monotonic()
    await transport.close()
    assert time.monotonic() - started < 1.5
    assert recorder.closed[0].exit_code == 0


async def test_closing_twice_and_from_several_tasks_is_one_end() -> None:
    async with server() as (transport, recorder):
        await call(transport, recorder, "echo", text="up")
        await asyncio.gather(transport.close(), transport.close(), transport.close())
        await transport.close()
        assert len(recorder.closed) == 1


async def test_a_cancelled_close_still_ends_the_server() -> None:
    async with server(ignore_eof=True) as (transport, recorder):
        pids = json.loads(await call(transport, recorder, "pids"))
        closing = asyncio.ensure_future(transport.close())
        await asyncio.sleep(0)
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        await recorder.until(lambda: recorder.closed)
        assert await gone(pids) == []


async def test_closing_before_opening_is_nothing() -> None:
    await StdioTransport("whatever").close()


async def test_the_servers_own_session_keeps_our_interrupt_away() -> None:
    async with server() as (transport, recorder):
        pid = json.loads(await call(transport, recorder, "pids"))[0]
        assert os.getsid(pid) == pid


async def test_nan_is_refused_before_anything_is_written() -> None:
    async with server() as (transport, recorder):
        with pytest.raises(LocalProtocolError, match=r"NaN"):
            await transport.send({"jsonrpc": "2.0", "id": 1, "method": "x", "params": {"x": float("nan")}})
        assert await call(transport, recorder, "seen") == '["tools/call"]'


async def test_a_server_gets_allowed_and_given_variables_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARENT_SECRET_KEY", "s")
    monkeypatch.setenv("HOME", "/home/x")
    async with server(env={"CASE_TOKEN": "abc"}) as (transport, recorder):
        got = json.loads(
            await call(transport, recorder, "env", names=["PATH", "HOME", "CASE_TOKEN", "PARENT_SECRET_KEY"])
        )
    assert got == {"PATH": os.environ["PATH"], "HOME": "/home/x", "CASE_TOKEN": "abc", "PARENT_SECRET_KEY": None}


async def test_a_missing_command_is_named_with_what_to_do() -> None:
    with pytest.raises(ConnectionFailed, match=r"command 'no-such-server-xyz' not found.*folders of PATH"):
        await StdioTransport("no-such-server-xyz").open(Recorder())


async def test_a_missing_npx_says_what_brings_it() -> None:
    with pytest.raises(ConnectionFailed, match=r"command 'npx' not found.*Node\.js"):
        await StdioTransport("npx", ["-y", "x"], env={"PATH": "/nonexistent"}).open(Recorder())


async def test_a_file_that_is_not_executable_is_said_to_be(tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    script.write_text("print()")
    with pytest.raises(ConnectionFailed, match="is not executable"):
        await StdioTransport(str(script)).open(Recorder())


@pytest.mark.parametrize(
    ("name", "first", "runs"),
    [("server", "#!/usr/bin/env -S node --quiet", "node"), ("it.mjs", "", "node"), ("it.py", "", "python")],
)
async def test_a_script_that_is_not_executable_names_what_runs_it(
    tmp_path: Path, name: str, first: str, runs: str
) -> None:
    script = tmp_path / name
    script.write_text(f"{first}\n")
    with pytest.raises(ConnectionFailed, match=f"name its interpreter: {runs} "):
        await StdioTransport(str(script)).open(Recorder())


async def test_a_script_with_a_missing_interpreter_is_explained(tmp_path: Path) -> None:
    script = tmp_path / "server"
    script.write_text("#!/no/such/python\n")
    script.chmod(0o755)
    with pytest.raises(ConnectionFailed, match="interpreter"):
        await StdioTransport(str(script)).open(Recorder())


async def test_a_file_that_is_no_program_is_explained(tmp_path: Path) -> None:
    script = tmp_path / "server"
    script.write_bytes(b"\x00\x01\x02")
    script.chmod(0o755)
    with pytest.raises(ConnectionFailed, match="is not a program"):
        await StdioTransport(str(script)).open(Recorder())


async def test_a_folder_as_command_and_a_missing_working_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConnectionFailed, match="is a folder"):
        await StdioTransport(str(tmp_path)).open(Recorder())
    with pytest.raises(ConnectionFailed, match="working folder '/no/where' does not exist"):
        await StdioTransport(sys.executable, cwd="/no/where").open(Recorder())


async def test_a_relative_command_is_looked_up_in_the_working_folder(tmp_path: Path) -> None:
    script = tmp_path / "server.sh"
    script.write_text("#!/bin/sh\npwd >&2\nexit 5\n")
    script.chmod(0o755)
    recorder = Recorder()
    await StdioTransport("./server.sh", cwd=str(tmp_path)).open(recorder)
    await recorder.until(lambda: recorder.closed)
    assert recorder.closed[0].exit_code == 5
    assert recorder.stderr == [os.path.realpath(tmp_path)]  # noqa: ASYNC240


_HOST = """
import asyncio, json, sys
from jupyter_mcp.transport.stdio import StdioTransport
from tests import fakes
from tests.transport.recorder import Recorder
async def main():
    command, args = fakes.command(children=["stubborn", "session"], ignore_eof=True, ignore_term=True)
    transport, recorder = StdioTransport(command, args), Recorder()
    await transport.open(recorder)
    await transport.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "pids"}})
    await recorder.until(lambda: recorder.messages)
    print(recorder.messages[0]["result"]["content"][0]["text"], flush=True)
    END
asyncio.run(main())
"""


@pytest.mark.parametrize(
    ("end", "kill"),
    [("return", False), ("sys.exit(3)", False), ("import os; os._exit(0)", False), ("await asyncio.sleep(60)", True)],
)
async def test_no_orphan_is_left_however_the_interpreter_ends(end: str, kill: bool) -> None:
    """A return or sys.exit is met by the loop's end and atexit; os._exit and SIGKILL only by the guard."""
    root = Path(__file__).parents[2]
    host = subprocess.Popen(  # noqa: ASYNC220
        [sys.executable, "-c", _HOST.replace("END", end)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=root
    )
    assert host.stdout is not None
    pids: list[int] = json.loads(await asyncio.to_thread(host.stdout.readline))
    if kill:
        host.kill()
    await asyncio.to_thread(host.wait, 10)
    host.stdout.close()
    own_session = pids[2]  # out of the guard's reach, but not out of ours
    hard = kill or "_exit" in end
    assert await gone(pids[:2] if hard else pids) == []
    if hard and alive(own_session):
        os.kill(own_session, signal.SIGKILL)


async def test_kill_all_ends_what_runs_from_any_thread() -> None:
    command, args = fakes.command(children=["stubborn"], ignore_eof=True, ignore_term=True)
    transport, recorder = StdioTransport(command, args), Recorder()
    await transport.open(recorder)
    pids = json.loads(await call(transport, recorder, "pids"))
    await asyncio.to_thread(stdio.kill_all, 0.2)
    assert await gone(pids) == []
    await transport.close()
