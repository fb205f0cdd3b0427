"""What is printed in a capturing context goes to its sink, and nobody else's output with it."""

from __future__ import annotations

import contextvars
import io
import sys
import threading
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from jupyter_mcp.kernel.capture import Kept, capturing

if TYPE_CHECKING:
    import pytest


def test_only_the_capturing_context_is_captured(monkeypatch: pytest.MonkeyPatch) -> None:
    page = io.StringIO()
    monkeypatch.setattr(sys, "stdout", page)
    kept = Kept(1000)
    inside, printed = threading.Event(), threading.Event()

    def neighbour() -> None:
        inside.wait(5)
        print("for the page")
        printed.set()

    thread = threading.Thread(target=neighbour)
    thread.start()
    with capturing(kept):
        inside.set()
        printed.wait(5)
        print("for the client")
    thread.join(5)
    print("after")
    assert kept.text == "for the client\n"
    assert page.getvalue() == "for the page\nafter\n"
    assert sys.stdout is page


def test_captures_that_overlap_do_not_mix_and_leave_the_stream_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    page = io.StringIO()
    monkeypatch.setattr(sys, "stdout", page)
    first, second = Kept(1000), Kept(1000)
    one, other = contextvars.copy_context(), contextvars.copy_context()
    outer, inner = capturing(first), capturing(second)
    one.run(outer.__enter__)
    other.run(inner.__enter__)
    one.run(print, "one")
    other.run(print, "other")
    one.run(outer.__exit__, None, None, None)
    other.run(print, "other again")
    other.run(inner.__exit__, None, None, None)
    assert (first.text, second.text, page.getvalue()) == ("one\n", "other\nother again\n", "")
    assert sys.stdout is page


def test_a_stream_that_somebody_sets_meanwhile_is_his(monkeypatch: pytest.MonkeyPatch) -> None:
    page, his = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", page)
    with capturing(Kept(1000)):
        sys.stdout = his
    print("his")
    assert his.getvalue() == "his\n"


@given(st.lists(st.text(max_size=30)), st.integers(2, 50))
def test_text_is_kept_whole_or_with_its_beginning_and_end(parts: list[str], limit: int) -> None:
    kept = Kept(limit)
    for part in parts:
        kept.add(part)
    whole, half = "".join(parts), limit // 2
    if not kept.cut:
        assert kept.text == whole
        assert len(whole) <= 2 * half
    else:
        assert kept.text.startswith(whole[:half])
        assert kept.text.endswith(whole[-half:])
        assert f"{len(whole) - 2 * half:,} characters left out" in kept.text
