"""The programs that the benchmark runs, and what they print."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = ROOT / "tests" / "benchmarks" / "programs"
OURS = sys.executable
SDK = str(ROOT / "build" / "peers" / "mcp2" / "bin" / "python")
SDK_NAME = "mcp 2.3.0"
LIMIT = 300.0  # seconds for one program


class CannotMeasure(SystemExit):
    """A program failed; the message is the end of what it said."""


def python(interpreter: str, program: str, *arguments: str) -> dict[str, Any]:
    """The JSON object that one of the programs prints. Raises `CannotMeasure`."""
    command = [interpreter, program, *arguments]
    done = subprocess.run(
        command, cwd=PROGRAMS, capture_output=True, text=True, check=False, timeout=LIMIT, stdin=subprocess.DEVNULL
    )
    if done.returncode != 0:
        raise CannotMeasure(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


@dataclass(frozen=True)
class Side:
    """A client and the server it talks to, both by the same people."""

    name: str
    client: tuple[str, str]  # interpreter, adapter
    server: tuple[str, ...]  # interpreter, program and its arguments

    def measure(self, workload: str, repeats: int, tools: int = 0) -> dict[str, Any]:
        extra = [str(tools)] if tools else []
        return python(self.client[0], "measure.py", self.client[1], workload, str(repeats), "--", *self.server, *extra)


def lows(found: dict[str, list[float]]) -> dict[str, float]:
    """The smallest of each."""
    return {name: min(values) for name, values in found.items()}
