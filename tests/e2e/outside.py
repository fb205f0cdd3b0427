"""A client outside of Jupyter that is not ours: one call by the official SDK, whose questions the test answers."""

from __future__ import annotations

import json
import subprocess
import threading
from typing import Any

from tests.interop import programs

SECONDS = 60.0


class OutsideCall:
    """One call by a client in a process of its own. Use as a context manager; skips where there is no such client.

    Args:
        plan: whom to call and what; see the driver.
    """

    def __init__(self, **plan: Any) -> None:
        command = [programs.peer_python("mcp2"), str(programs.DRIVERS / "mcp2_asked.py")]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
        self._limit = threading.Timer(SECONDS, self._process.kill)
        self.say(plan)

    def __enter__(self) -> OutsideCall:
        self._limit.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._limit.cancel()
        self._process.kill()
        self._process.communicate()

    def say(self, line: dict[str, Any]) -> None:
        """Answer a question: `{"action": "accept", "content": {…}}`."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(line) + "\n")
        self._process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        """What it says next."""
        assert self._process.stdout is not None and self._process.stderr is not None
        line = self._process.stdout.readline()
        assert line, f"the client ended:\n{self._process.stderr.read()[-3000:]}"
        return json.loads(line)
