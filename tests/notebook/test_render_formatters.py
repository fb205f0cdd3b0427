"""Showing in IPython: once where the magic stands, never twice in its cell, always in a later one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.host.result import Result
from jupyter_mcp.notebook.render import MIME, NoteView, formatters

if TYPE_CHECKING:
    from tests.notebook.conftest import Cells

RESULT = Result({"content": [{"type": "text", "text": "five"}]}, server="demo", tool="add")


@pytest.fixture
def shell(cells: Cells) -> Cells:
    formatters.install(cells.shell)
    cells.put(r=RESULT, show=formatters.show, note=NoteView("a note"))
    return cells


def test_a_result_draws_itself_as_the_value_of_a_cell(shell: Cells) -> None:
    shell.run("r")
    assert shell.text == "demo.add: five"
    assert MIME in shell.shown[0]
    shell.run("note")
    assert shell.text == "a note"


def test_a_shown_value_is_not_shown_again_in_its_cell(shell: Cells) -> None:
    assert shell.run("show(r)") is RESULT
    assert len(shell.shown) == 1
    shell.run("show(r)\n1 + 1")
    assert [bundle["text/plain"] for bundle in shell.shown] == ["demo.add: five", "2"]


def test_a_value_that_was_shown_in_another_cell_is_shown_again(shell: Cells) -> None:
    shell.run("x = show(r)")
    shell.run("x")
    assert len(shell.shown) == 1


def test_only_the_next_display_is_left_out(shell: Cells) -> None:
    shell.run("from IPython.display import display\nshow(r)\ndisplay(r)\ndisplay(r)")
    assert len(shell.shown) == 2


def test_taken_back_it_is_an_ordinary_object(shell: Cells) -> None:
    formatters.uninstall(shell.shell)
    formatters.uninstall(shell.shell)
    shell.run("r")
    assert shell.text == repr(RESULT)


def test_without_a_shell_the_text_is_printed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formatters, "_shell", lambda: None)
    assert formatters.show(RESULT) is RESULT
    assert capsys.readouterr().out == "demo.add: five\n"


def test_drawing_imports_no_widgets() -> None:
    import subprocess

    code = "import jupyter_mcp.notebook.render, sys; print([m for m in sys.modules if 'ipywidgets' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


def test_a_display_never_fails(shell: Cells) -> None:
    class Odd:
        def __repr__(self) -> str:
            return "odd"

    class Worse:
        def __repr__(self) -> str:
            raise ValueError

        def __mcp_view__(self) -> Any:
            raise KeyError

    assert formatters.bundle(Odd())["text/plain"] == "odd"
    assert formatters.bundle(Worse())["text/plain"] == "<Worse>"
