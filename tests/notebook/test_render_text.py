"""Untrusted text: what is taken out, what is cut, and how much of this machine is left in it."""

from __future__ import annotations

import pytest

from jupyter_mcp.notebook.render.text import clean, cut, flat, portable, pretty


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]8;;https://evil.example\x07link\x1b]8;;\x07", "link"),
        ("\x9b1mbold", "bold"),
        ("a\x00b\x08c\x7f", "abc"),
        ("one\r\ntwo\rthree", "one\ntwo\nthree"),
        ("safe\u202egnp.exe", "safegnp.exe"),
        ("lone \ud800", "lone �"),
        ("tab\tstays", "tab\tstays"),
    ],
)
def test_escape_sequences_and_control_characters_go(given: str, shown: str) -> None:
    assert clean(given) == shown


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("/opt/venv/bin/python -m demo", "…/python -m demo"),
        ("node --dir=/home/ann/data/x.db", "node --dir=…/x.db"),
        ("https://host/mcp/v1", "https://host/mcp/v1"),
        ("read and/or write", "read and/or write"),
        (r"C:\Users\ann\py.exe -m x", r"…\py.exe -m x"),
        ("~/work/app.py", "…/app.py"),
        ('File "/usr/lib/python3/x.py", line 3', 'File "…/x.py", line 3'),
    ],
)
def test_folders_of_this_machine_are_left_out(given: str, shown: str) -> None:
    assert portable(given) == shown


def test_a_cut_says_how_much_is_missing_and_where_it_is() -> None:
    text = cut("x" * 50 + "\n" + "y" * 1300, 60, ".text")
    assert text == "x" * 50 + "\n… 1,301 more characters; .text holds all"
    assert cut("short", 60) == "short"


def test_one_line_stays_one_line() -> None:
    assert flat("a\n b\t c") == "a b c"
    assert len(flat("word " * 100_000, 50)) <= 50


def test_pretty_never_fails() -> None:
    loop: list[object] = []
    loop.append(loop)
    assert pretty({"a": 1}) == '{"a": 1}'
    assert isinstance(pretty(loop), str)
    assert isinstance(pretty({"x": object()}), str)
