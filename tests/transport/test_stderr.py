"""Lines out of bytes, however they are split."""

from __future__ import annotations

import pytest

from jupyter_mcp.transport.stderr import Tail

TEXT = "plain\r\ncafé ☕\n\n\x1b[31mred\x1b[0m\nlast"


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_any_split_of_the_bytes_gives_the_same_lines(size: int) -> None:
    lines: list[str] = []
    tail = Tail(lines.append)
    data = TEXT.encode()
    for start in range(0, len(data), size):
        tail.feed(data[start : start + size])
    assert lines == ["plain", "café ☕", "", "\x1b[31mred\x1b[0m"]
    tail.eof()
    tail.eof()
    assert lines[-1] == "last"
    assert len(lines) == 5


def test_the_last_two_hundred_are_kept() -> None:
    tail = Tail(lambda _: None)
    tail.feed(b"".join(b"%d\n" % number for number in range(1000)))
    assert list(tail.lines) == [str(number) for number in range(800, 1000)]


def test_a_line_without_end_is_cut_not_hoarded() -> None:
    lines: list[str] = []
    tail = Tail(lines.append)
    for _ in range(40):
        tail.feed(b"x" * 10_000)
    assert len(lines) >= 5
    assert max(map(len, lines)) < 100_000
