"""What is approved can be seen: every character of it, and nothing else than what is sent."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_mcp.host import visible

JSON: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
SEEN = {"L", "M", "N", "P", "S"}


def can_be_seen(text: str) -> bool:
    return all(one in " \n" or unicodedata.category(one)[0] in SEEN for one in text)


@settings(deadline=None)
@given(JSON)
def test_what_is_shown_reads_back_as_what_is_sent(value: Any) -> None:
    assert json.loads(visible.exact(value)) == value


@settings(deadline=None)
@given(JSON)
def test_nothing_that_is_shown_is_hidden(value: Any) -> None:
    assert can_be_seen(visible.exact(value))
    assert can_be_seen(visible.marked(json.dumps(value, ensure_ascii=False)))


@settings(deadline=None)
@given(st.text(), st.text())
def test_two_texts_never_look_the_same_because_of_what_is_hidden(one: str, other: str) -> None:
    assert (visible.exact(one) == visible.exact(other)) == (one == other)


@settings(deadline=None)
@given(JSON)
def test_what_is_named_as_hidden_is_what_was_escaped(value: Any) -> None:
    named = {chr(int(line[2:].split(" ")[0], 16)) for line in visible.unseen(value)}
    assert named.isdisjoint("\n\r\t")
    assert (visible.unseen(visible.marked_values(value)) == []) or "\r" in str(value)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("exe.\u202egpj", "exe.⟨U+202E⟩gpj"),
        ("pay\u200bpal", "pay⟨U+200B⟩pal"),
        ("a\x1b[2Kb", "a⟨U+001B⟩[2Kb"),
        ("a\u00a0b", "a⟨U+00A0⟩b"),
        ("a\u3164b", "a⟨U+3164⟩b"),
        ("x\U000e0041", "x⟨U+E0041⟩"),
        ("x\ufe0f", "x⟨U+FE0F⟩"),
        ("a\nb", "a⟨U+000A⟩b"),
        ("Grüße, 世界 ✓", "Grüße, 世界 ✓"),
    ],
)
def test_hidden_characters_stand_by_their_numbers(text: str, shown: str) -> None:
    assert visible.marked(text) == shown


def test_lines_may_stay_lines() -> None:
    assert visible.marked("a\n\tb\r\u202e", lines=True) == "a\n\tb⟨U+000D⟩⟨U+202E⟩"


def test_they_are_named_once_and_in_order() -> None:
    value = {"path\u200b": ["\u202ea", "\u202eb\n"], "n": 1}
    assert visible.unseen(value) == ["U+200B ZERO WIDTH SPACE", "U+202E RIGHT-TO-LEFT OVERRIDE"]


def test_a_long_value_is_shown_to_its_end() -> None:
    text = "x" * 300_000 + "the end"
    assert "the end" in visible.exact({"text": text})
    assert len(visible.exact({"text": text})) > 300_000


def test_what_lies_beyond_the_first_plane_is_escaped_as_a_pair() -> None:
    assert visible.exact("\U000e0041") == '"\\udb40\\udc41"'
