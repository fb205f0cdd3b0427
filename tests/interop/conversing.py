"""Other people's clients, one step at a time, while the test does something in between.

`Conversation` keeps one connection open (drivers/steps.py); `Inspector` is a command that connects for each step. Both
take a step and give its outcome, in the words of drivers/steps.py.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import tempfile
import threading
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

from tests.interop import programs

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

LIMIT = 90.0  # seconds for one step
_KINDS = {"tools": "tools", "resources": "resources", "templates": "resourceTemplates", "prompts": "prompts"}


class Conversation:
    """A driver that plays steps as they are given.

    Attributes:
        error: why it could not connect; "" when it could.
    """

    def __init__(self, process: subprocess.Popen[str], stderr: IO[str]) -> None:
        self._process = process
        self._stderr = stderr
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()
        self.error: str = self._next().get("error", "")

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)

    def _next(self) -> dict[str, Any]:
        try:
            return json.loads(self._lines.get(timeout=LIMIT))
        except queue.Empty:
            raise AssertionError(f"no outcome in {LIMIT:g} s; {self.complaints()}") from None

    def do(self, do: str, **step: Any) -> dict[str, Any]:
        """The outcome of a step."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"do": do, **step}) + "\n")
        self._process.stdin.flush()
        return self._next()

    def close(self) -> dict[str, Any]:
        """End it; `revision` and `server`, as it knew them."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        last = self._next() if not self.error else {}
        assert self._process.wait(LIMIT) == 0, self.complaints()
        return last

    def complaints(self) -> str:
        """What it wrote to its standard error."""
        self._stderr.seek(0)
        return self._stderr.read()


@contextmanager
def conversation(command: Sequence[str], plan: dict[str, Any], home: Path) -> Generator[Conversation]:
    """A driver that has connected, or says why it cannot.

    Args:
        command: the driver's.
        plan: without steps.
        home: the person's home folder.
    """
    with tempfile.TemporaryFile("w+") as stderr:
        environment = {**os.environ, "HOME": str(home)}
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, text=True, env=environment
        )
        try:
            assert process.stdin is not None
            process.stdin.write(json.dumps(plan) + "\n")
            process.stdin.flush()
            yield Conversation(process, stderr)
        finally:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                assert stream is not None
                stream.close()


class Inspector:
    """The official Inspector on the command line.

    Args:
        target: how it is told where the server is.
        home: the person's home folder.
        era: what it is told to speak, if anything.
    """

    error = ""

    def __init__(self, target: Sequence[str], home: Path, era: str | None = None) -> None:
        self._target = [*target, *(["--protocol-era", era] if era else [])]
        self._home = home
        self._complaints = ""

    def run(self, *options: str) -> subprocess.CompletedProcess[str]:
        """One run of it."""
        environment = {**os.environ, "HOME": str(self._home), "MCP_INSPECTOR_SECRET_STORE": "memory"}
        command = [*programs.inspector(), *self._target, *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT, env=environment)
        self._complaints += "".join(
            f"{line}\n" for line in done.stderr.splitlines() if not line.startswith(("[mcp-inspector] ", '{"error":'))
        )
        return done

    def do(self, do: str, **step: Any) -> dict[str, Any]:
        """The outcome of a step."""
        if do in _KINDS:
            key = _KINDS[do]
            method = "resources/templates/list" if do == "templates" else f"{do}/list"
            found = self._printed("--method", method)
            named = {"resources": "uri", "templates": "uriTemplate"}.get(do, "name")
            return {"items": [item[named] for item in found[key]]} if key in found else found
        if do == "schema":
            listed = self._printed("--method", "tools/list")["tools"]
            return {"result": next(tool["inputSchema"] for tool in listed if tool["name"] == step["name"])}
        if do == "call":
            arguments = json.dumps(step["arguments"])
            options = ["--method", "tools/call", "--tool-name", step["name"], "--tool-args-json", arguments]
        else:
            assert do == "read"
            options = ["--method", "resources/read", "--uri", step["uri"]]
        found = self._printed(*options)
        return found if "error" in found else {"result": found}

    def _printed(self, *options: str) -> dict[str, Any]:
        """The result that it printed, or the error."""
        done = self.run(*options)
        if done.stdout.strip():
            return json.loads(done.stdout)
        return {"error": json.loads(done.stderr.splitlines()[-1])["error"]["message"]}

    def complaints(self) -> str:
        """What it wrote to its standard error, without what it says of itself and of results that are errors."""
        return self._complaints
