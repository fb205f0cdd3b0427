"""Plain IPython in a terminal: questions by `input()`, interrupts by Ctrl-C (a real pseudo-terminal)."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

pexpect: Any = pytest.importorskip("pexpect", reason="no pexpect (it comes with IPython except on Windows)")

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

IN_FLIGHT = """
import threading, time
from jupyter_mcp.runtime import state
def watch():
    while not any(act.name == "slow" and act.outcome == "running" for act in state.get_host().journal.acts()):
        time.sleep(0.05)
    time.sleep(0.1)  # from the journal to the wire
    print("slow is in flight")
threading.Thread(target=watch, daemon=True).start()
"""
PROMPT = r"In \[\d+\]: "


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Any]:
    environment = {**os.environ, "IPYTHONDIR": str(tmp_path), "TERM": "dumb", "COLUMNS": "200"}
    arguments = ["-m", "IPython", "--simple-prompt", "--no-banner", "--no-confirm-exit", "--colors=NoColor"]
    child = pexpect.spawn(
        sys.executable, arguments, env=environment, encoding="utf-8", timeout=30, dimensions=(50, 200)
    )
    child.expect(PROMPT)
    yield child
    child.close(force=True)


def line(terminal: Any, text: str, expected: str = PROMPT) -> str:
    """Type a line; returns what came until `expected`."""
    terminal.sendline(text)
    terminal.expect(expected)
    return terminal.before.replace("\r\n", "\n")


def connect(terminal: Any) -> None:
    line(terminal, "%load_ext jupyter_mcp")
    assert "ready" in line(terminal, "%mcp connect demo")


def test_a_form_is_filled_by_input_and_sent_after_a_review(terminal: Any) -> None:
    connect(terminal)
    said = line(terminal, "%mcp call demo.book city=Oslo", "Your name: ")
    assert "demo asks (during demo.book): A room in Oslo: please fill in the booking." in said
    line(terminal, "Ada Lovelace", "E-mail: ")
    assert "not an e-mail address" in line(terminal, "ada", "E-mail: ")
    line(terminal, "ada@example.org", "Arrival: ")
    line(terminal, "2027-03-01", r"Guests \[2\]: ")
    assert "2) Double, to the street" in line(terminal, "3", r"Room \[Double, to the street\]: ")
    line(terminal, "suite", r"Budget a night \(optional\): ")
    line(terminal, "", r"With breakfast \(optional\) \[true\]: ")
    line(terminal, "no", r"Extras \(optional\): ")
    assert "1. Your name: Ada Lovelace" in line(terminal, "", "Send this")
    assert "Booked in Oslo for Ada Lovelace: a suite from 2027-03-01, 3 guests." in line(terminal, "y")


def test_a_question_can_be_declined_and_the_next_call_works(terminal: Any) -> None:
    connect(terminal)
    line(terminal, "r = %mcp call demo.book city=Oslo", "Your name: ")
    line(terminal, ":decline too dear")
    assert "the person declined" in line(terminal, "print(r.text)")
    assert "3" in line(terminal, "%mcp call demo.add a=1 b=2")


def test_interrupts_cancel_a_question_and_a_slow_call(terminal: Any) -> None:
    connect(terminal)
    line(terminal, "%mcp call demo.book city=Oslo", "Your name: ")
    terminal.sendintr()
    terminal.expect("Interrupted: demo.book cancelled; the connection stays usable")
    terminal.expect(PROMPT)
    line(terminal, f"exec({IN_FLIGHT!r})")
    terminal.sendline("%mcp call demo.slow seconds=60")
    terminal.expect("slow is in flight\r\n")
    terminal.sendintr()
    terminal.expect("Interrupted: demo.slow cancelled; the connection stays usable")
    terminal.expect(PROMPT)
    assert "demo.add: 3" in line(terminal, "%mcp call demo.add a=1 b=2")


def test_a_question_of_a_background_call_is_asked_before_the_next_line(terminal: Any) -> None:
    connect(terminal)
    line(terminal, "import jupyter_mcp as mcp")
    line(terminal, "call = mcp.servers['demo'].tools.book.start(city='Oslo')")
    terminal.expect("demo asks something; it will be asked at the beginning of the next cell.")
    line(terminal, "'my line'", "Your name: ")
    assert "my line" in line(terminal, ":cancel")
    assert "nobody answered" in line(terminal, "print(call.result(10).text)")


def test_leaving_ends_the_server(terminal: Any) -> None:
    import psutil

    connect(terminal)
    servers = psutil.Process(terminal.pid).children(recursive=True)
    assert servers
    terminal.sendline("exit")
    terminal.expect(pexpect.EOF)
    assert not psutil.wait_procs(servers, timeout=6)[1]
