"""The bridge before a real notebook: found in its folder, read while a cell runs, found again after a restart."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tests.runtime.kernels import live_kernel

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    import pytest

SERVE = "from jupyter_mcp.kernel.serving import serve; serving = serve(get_ipython()); del serve; print(serving.slug)"


class Agent:
    """A client of 2025-11-25 on the bridge's pipes."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._id = 0
        self.told: list[dict[str, Any]] = []

    def send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._process.stdin.flush()

    def next(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the bridge has ended"
        return json.loads(line)

    def request(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        self._id += 1
        self.send({"id": self._id, "method": method, "params": params or {}})
        while (message := self.next()).get("id") != self._id:
            self.told.append(message)
        return message["result"]

    def until_told(self, method: str) -> dict[str, Any]:
        """The next notification of that kind."""
        while True:
            message = self.told.pop(0) if self.told else self.next()
            if message.get("method") == method:
                return message.get("params", {})

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return self.request("tools/call", {"name": tool, "arguments": arguments})


@contextmanager
def agent(folder: Path) -> Generator[Agent]:
    """An agent that works in that folder."""
    with subprocess.Popen(
        [sys.executable, "-m", "jupyter_mcp.cli", "stdio"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.getcwd()},
    ) as process:
        made = Agent(process)
        info = {"name": "a", "version": "1"}
        made.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info})
        made.send({"method": "notifications/initialized"})
        yield made
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(20) == 0


def test_a_notebook_is_found_read_and_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / "sales.ipynb"))
    with agent(tmp_path) as one:
        assert one.call("list_variables")["isError"] is True
        one.request("tools/list")
        with live_kernel(setup="total = 41") as kernel:
            kernel.run(SERVE)
            one.until_told("notifications/tools/list_changed")
            listed = one.call("list_variables", notebook="sales")["structuredContent"]
            assert [variable["name"] for variable in listed["variables"]] == ["total"]
            running = kernel.start("print('begun', flush=True)\nwhile not globals().get('stop'): pass")
            kernel.until(lambda: "begun" in running.text)
            read = one.call("read_variable", name="total")
            assert read["structuredContent"]["text"] == "41"
            one.request("resources/subscribe", {"uri": "notebook://sales/variables/total"})
            kernel.interrupt()
            kernel.finish(running)
            kernel.run("total = 42")
            assert one.until_told("notifications/resources/updated")["uri"] == "notebook://sales/variables/total"
        one.until_told("notifications/tools/list_changed")
        assert one.call("read_variable", name="total")["isError"] is True
        with live_kernel(setup="total = 43") as kernel:
            kernel.run(SERVE)
            one.until_told("notifications/tools/list_changed")
            assert one.call("read_variable", name="total")["structuredContent"]["text"] == "43"
