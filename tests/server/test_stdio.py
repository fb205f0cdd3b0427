"""The stdio endpoint, as a real process: raw bytes in, raw bytes out."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="descriptors of POSIX")
SERVER = """
import os, subprocess, sys, time
from jupyter_mcp.server import Context, Server
server = Server("noisy")

@server.tool
def chatty() -> str:
    print("a stray print")
    os.write(1, b"from C, as it were\\n")
    subprocess.run([sys.executable, "-c", "print('from a child')"], check=True)
    return "fine"

@server.tool
def greedy() -> str:
    code = "import sys; print(repr(sys.stdin.read()), file=sys.stderr)"
    child = subprocess.run([sys.executable, "-c", code], check=True)
    try:
        return input("name? ")
    except EOFError:
        return "nothing to read"

@server.tool
def big(n: int) -> str:
    return "x" * n

@server.tool
async def echo(text: str) -> str:
    return text

@server.tool
def stuck() -> str:
    time.sleep(600)
    return "never"

@server.tool
def patient(ctx: Context) -> str:
    ctx.sleep(0.2)
    return "late but here"

print("before serving", file=sys.stderr)
server.run_stdio()
print("after serving")
"""


class Process:
    """A server process and the two ends of its pipes."""

    def __init__(self, path: Path, **options: Any) -> None:
        self.popen = subprocess.Popen(
            [sys.executable, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            stderr=options.pop("stderr", subprocess.PIPE),
            **options,
        )
        assert self.popen.stdin is not None
        assert self.popen.stdout is not None
        self.stdin, self.stdout = self.popen.stdin, self.popen.stdout
        self._lines: list[bytes] = []
        self._rest = b""

    def write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[self.stdin.write(view) or 0 :]

    def send(self, message: Any) -> None:
        self.write(json.dumps(message).encode() + b"\n")

    def read(self) -> Any:
        while not self._lines:
            assert select.select([self.stdout], [], [], 20)[0], "no answer in 20 s"
            *self._lines, self._rest = (self._rest + os.read(self.stdout.fileno(), 1 << 20)).split(b"\n")
        return json.loads(self._lines.pop(0))

    def wait_until_full(self) -> None:
        """Wait until the server has filled the pipe that we do not read."""
        import fcntl
        import termios

        held, deadline = bytearray(4), time.monotonic() + 20
        while int.from_bytes(held, sys.byteorder) < 65536:
            assert time.monotonic() < deadline
            time.sleep(0.005)
            fcntl.ioctl(self.stdout.fileno(), termios.FIONREAD, held)

    def initialize(self) -> None:
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        self.send({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
        assert self.read()["result"]["protocolVersion"] == "2025-06-18"
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call(self, name: str, id: int = 1, **arguments: Any) -> str:
        self.send(call(name, id, **arguments))
        answer = self.read()
        assert answer["id"] == id
        return answer["result"]["content"][0]["text"]

    def end(self, seconds: float = 10) -> tuple[int, str, str]:
        """Close its input; exit code, what is left of stdout, stderr."""
        self.stdin.close()
        out = self.stdout.read().decode()
        err = self.popen.stderr.read().decode() if self.popen.stderr else ""
        return self.popen.wait(seconds), out, err


def call(name: str, id: int, **arguments: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "server.py"
    path.write_text(SERVER)
    return path


@pytest.fixture
def process(script: Path):
    process = Process(script)
    process.initialize()
    yield process
    process.popen.kill()
    process.popen.wait(10)
    for stream in (process.stdin, process.stdout, process.popen.stderr):
        if stream is not None:
            stream.close()


def test_stray_prints_go_to_stderr_and_stdout_comes_back_afterwards(process: Process):
    assert process.call("chatty") == "fine"
    code, out, err = process.end()
    assert code == 0
    assert out == "after serving\n"
    assert {"before serving", "a stray print", "from C, as it were", "from a child"} <= set(err.splitlines())


def test_tools_and_their_children_cannot_eat_the_protocols_input(process: Process):
    process.send(call("greedy", 1))
    process.send({"jsonrpc": "2.0", "id": 2, "method": "ping"})
    answers = {one["id"]: one for one in (process.read(), process.read())}
    assert answers[1]["result"]["content"][0]["text"] == "nothing to read"
    assert answers[2]["result"] == {}
    assert "''" in process.end()[2], "the child saw an empty input"


def test_bytes_may_come_in_any_pieces_with_any_line_ends(process: Process):
    line = json.dumps(call("echo", 1, text="ä☃\u2028" * 3)).encode()
    for at in range(0, len(line), 7):
        process.write(line[at : at + 7])
    process.write(b"\r\n\r\n   \n" + b"\xef\xbb\xbf" + json.dumps(call("echo", 2, text="bom")).encode() + b"\n")
    first, second = sorted((process.read(), process.read()), key=lambda one: one["id"])
    assert first["result"]["content"][0]["text"] == "ä☃\u2028" * 3
    assert second["result"]["content"][0]["text"] == "bom"


def test_what_is_not_json_is_answered_and_the_pipe_lives_on(process: Process):
    process.write(b'{"jsonrpc": "2.0", "id": 11, "method": \n')
    answer = process.read()
    assert (answer["id"], answer["error"]["code"]) == (None, -32700)
    process.write(b"[]\n[1]\n3\n")
    assert [process.read()["error"]["code"] for _ in range(3)] == [-32600] * 3
    process.write(
        b'{"jsonrpc":"2.0","id":12,"method":"tools/call","params":{"name":"echo","arguments":{"text":"\xff\\ud800"}}}\n'
    )
    assert process.read()["result"]["content"][0]["text"] == "\ufffd\ud800"
    assert process.call("echo", 13, text="alive") == "alive"


@pytest.mark.parametrize(
    "line",
    [
        {"id": 7, "method": "ping"},
        {"jsonrpc": "1.0", "id": 7, "method": "ping"},
        {"jsonrpc": "2.0", "id": 7, "method": 5},
        {"jsonrpc": "2.0", "id": 7, "method": None},
        {"jsonrpc": "2.0", "id": 7, "params": {}},
        {"jsonrpc": "2.0", "id": 7},
    ],
)
def test_a_request_that_is_none_is_refused_under_its_own_id(process: Process, line: dict[str, Any]):
    process.write(json.dumps(line).encode() + b"\n")
    answer = process.read()
    assert (answer["id"], answer["error"]["code"]) == (7, -32600)
    assert process.call("echo", 13, text="alive") == "alive"


def test_large_messages_pass_both_ways(process: Process):
    assert len(process.call("big", n=5_000_000)) == 5_000_000
    assert len(process.call("echo", text="y" * 3_000_000)) == 3_000_000


@POSIX
def test_a_client_that_does_not_read_is_waited_for(process: Process):
    for n in range(30):
        process.send(call("big", n, n=300_000))
    process.wait_until_full()
    assert sorted(process.read()["id"] for _ in range(30)) == list(range(30))


def test_answers_to_what_was_sent_arrive_after_the_end_of_input(process: Process):
    process.send(call("patient", 1))
    process.write(json.dumps(call("echo", 2, text="last")).encode())  # without a newline
    code, out, _ = process.end()
    assert code == 0
    answers = [json.loads(line) for line in out.splitlines()[:-1]]
    assert {one["id"]: one["result"]["content"][0]["text"] for one in answers} == {1: "late but here", 2: "last"}


def test_a_stuck_thread_does_not_keep_the_process_alive(process: Process):
    process.send(call("stuck", 1))
    assert process.call("echo", 2, text="x") == "x"
    started = time.monotonic()
    code, _, _ = process.end()
    assert code == 0
    assert time.monotonic() - started < 8


def test_the_process_ends_when_the_client_is_gone_in_the_middle(tmp_path: Path):
    path = tmp_path / "server.py"
    path.write_text(SERVER.replace('print("after serving")', ""))
    process = Process(path)
    process.initialize()
    for n in range(20):
        process.send(call("big", n, n=300_000))
    process.stdout.close()
    process.stdin.close()
    assert process.popen.wait(10) == 0
    assert process.popen.stderr is not None
    assert b"Traceback" not in process.popen.stderr.read()
    process.popen.stderr.close()


@POSIX
def test_a_server_can_be_fed_from_a_file_and_answer_into_one(script: Path, tmp_path: Path):
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    lines = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        call("chatty", 1),
        call("big", 2, n=200_000),
    ]
    source, sink = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text("\n".join(json.dumps(line) for line in lines))
    with source.open("rb") as given, sink.open("wb") as out:
        subprocess.run(
            [sys.executable, str(script)], stdin=given, stdout=out, stderr=subprocess.DEVNULL, timeout=60, check=True
        )
    *answers, last = sink.read_text().splitlines()
    assert last == "after serving"
    assert sorted(json.loads(one)["id"] for one in answers) == [0, 1, 2]


@POSIX
def test_the_pipes_are_given_back_as_they_came(tmp_path: Path):
    path = tmp_path / "server.py"
    path.write_text(
        "import os, sys\nfrom jupyter_mcp.server import Server\nServer('x').run_stdio()\n"
        "print([os.get_blocking(fd) for fd in (0, 1)], sys.stdin.read())\n"
    )
    done = subprocess.run([sys.executable, str(path)], input=b"", capture_output=True, timeout=60, check=True)
    assert done.stdout == b"[True, True] \n"


@POSIX
def test_a_terminal_stays_blocking(script: Path):
    import pty

    master, slave = pty.openpty()
    process = subprocess.Popen([sys.executable, str(script)], stdin=slave, stdout=slave, stderr=slave)
    try:
        os.write(master, b'{"jsonrpc":"2.0","id":7,"method":"ping"}\n')
        seen = b""
        while b'"result":{}' not in seen:
            assert select.select([master], [], [], 20)[0], seen
            seen += os.read(master, 65536)
        assert os.get_blocking(slave)
    finally:
        process.kill()
        process.wait(10)
        os.close(master)
        os.close(slave)


@POSIX
def test_without_stdin_and_stdout_there_is_one_clear_error(script: Path):
    code = f"import os, runpy; os.close(0); os.close(1); runpy.run_path({str(script)!r})"
    done = subprocess.run([sys.executable, "-c", code], stderr=subprocess.PIPE, timeout=60)
    assert done.returncode != 0
    assert b"no stdin and stdout to serve on" in done.stderr


@POSIX
def test_interrupting_ends_it_quietly(process: Process):
    import signal

    process.popen.send_signal(signal.SIGINT)
    code, _, err = process.end()
    assert code == 0
    assert "Traceback" not in err
