"""The servers that the conformance suites test, as processes: started when the first row wants one, ended at the end.

    server         a process that is a server, with both shapes of an answer (`--streams`)
    kernel         a notebook in a kernel, that declares the same in its cells and is served by `%mcp serve`
    busy-kernel    the same while its main thread computes
    gateway        the same at the address of its Jupyter Server

A program prints its URL when it listens, and ends with its standard input.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator

ROOT = Path(__file__).resolve().parents[1]
COMMANDS = {
    "server": ("tests.conformance.server",),
    "kernel": ("tests.conformance.kernel",),
    "busy-kernel": ("tests.conformance.kernel", "--busy"),
    "gateway": ("tests.conformance.gateway",),
}
"""Side of the table -> module, and what it is told."""
START_LIMIT = 60.0  # seconds until it listens
END_LIMIT = 20.0  # seconds to end by itself


class Program:
    """One server under test.

    Args:
        log: takes its stderr.
        arguments: the module, and what it is told.
    """

    def __init__(self, log: Path, *arguments: str) -> None:
        self.url = ""
        self._log = log
        self._command = [sys.executable, "-m", *arguments]
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> str:
        """Its URL; it is started if it does not run yet. Raises SystemExit when it does not start."""
        if self._process is None:
            with self._log.open("w", encoding="utf-8") as errors:
                pipe = subprocess.PIPE
                self._process = subprocess.Popen(
                    self._command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=errors, text=True
                )
            assert self._process.stdout is not None
            late = threading.Timer(START_LIMIT, self._process.kill)
            late.start()
            self.url = self._process.stdout.readline().strip()
            late.cancel()
        if not self.url:
            raise SystemExit(f"the server under test did not start; see {self._log}")
        return self.url

    def end(self) -> str:
        """End it; what was wrong with it, or ""."""
        process = self._process
        if process is None:
            return ""
        assert process.stdin is not None and process.stdout is not None
        process.stdin.close()
        try:
            process.wait(END_LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
        return f"a server under test ended with {process.returncode}; see {self._log}" if process.returncode else ""


class Programs:
    """All of them. Use as `with Programs.running(logs) as programs`.

    Attributes:
        problems: after the end, a sentence for each that did not end well.
    """

    def __init__(self, logs: Path) -> None:
        self._logs = logs
        self._known: dict[tuple[str, ...], Program] = {}
        self.problems: list[str] = []

    @classmethod
    @contextmanager
    def running(cls, logs: Path) -> Generator[Programs]:
        """Args: `logs` is the folder that takes what they write to stderr."""
        programs = cls(logs)
        try:
            yield programs
        finally:
            ends = [one.end() for one in programs._known.values()]
            programs.problems += [said for said in ends if said]

    def url(self, side: str, *told: str) -> str:
        """Where this one listens.

        Args:
            side: which one; see `COMMANDS`.
            told: what else it is told.
        """
        key = (*COMMANDS[side], *told)
        log = self._logs / f"{'-'.join((side, *(one.strip('-') for one in told)))}.log"
        return self._known.setdefault(key, Program(log, *key)).start()
