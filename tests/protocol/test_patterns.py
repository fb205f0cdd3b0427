"""Foreign regular expressions: run in the author's sense, and never for long."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_mcp.protocol import patterns


@pytest.mark.parametrize("pattern", ["^[A-Z]{2}$", r"^\d+(\.\d+)?$", "a+b*", r"^(?:foo|bar)$", "(a+)+$"])
def test_an_ordinary_pattern_is_run(pattern: str) -> None:
    assert patterns.usable(pattern)


@pytest.mark.parametrize("pattern", ["(", "[^]", "x" * 2000, "(?:" * 300 + ")" * 300, "a{3,1}", None, 7])
def test_what_is_no_pattern_cannot_be_told(pattern: object) -> None:
    assert not patterns.usable(pattern)
    assert not isinstance(pattern, str) or patterns.matches(pattern, "text") is None


@pytest.mark.parametrize("pattern", ["^(a|a)*$", "^(a|aa)+$", "(a{1,100}){1,100}b", r"^(\w|\w\w)*!$"])
def test_a_pattern_that_takes_too_long_cannot_be_told(pattern: str) -> None:
    assert patterns.matches(pattern, "a" * 60 + "?") in (None, False)


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("^foo$", "foo\n", False),
        (r"^a\$b$", "a$b", True),
        (r"^[$]$", "$", True),
        (r"\cJ", "\n", True),
        (r"^\w$", "é", False),
        (r"^\p{Lu}$", "É", True),
        (r"^\u{10FFFF}$", "\U0010ffff", True),
        (r"^\u{110000}$", "x", False),
        (r"^\u0041$", "A", True),
        ("oo", "foot", True),
    ],
)
def test_a_pattern_is_read_as_its_author_meant_it(pattern: str, text: str, found: bool) -> None:
    assert patterns.matches(pattern, text) is found


@given(st.text("ab()[]{}|*+?^$\\.,-1", max_size=30), st.text("ab(1", max_size=30))
def test_no_pattern_crashes(pattern: str, text: str) -> None:
    assert patterns.matches(pattern, text) in (None, True, False)
