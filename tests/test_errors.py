"""The sentences of errors: what a cell can show of them, whatever a server put into them."""

from __future__ import annotations

import pytest

from jupyter_mcp.errors import ConnectionLost, MCPError, RequestError, ToolError, UsageError


@pytest.mark.parametrize("kind", [MCPError, ConnectionLost, ToolError, UsageError])
def test_a_sentence_can_travel_in_a_message_of_the_kernel_and_moves_no_terminal(kind: type[MCPError]) -> None:
    error = kind("half \ud83d, \x1b[31mred\x1b[0m, \x1b]0;title\x07bell\x07\nsecond line", hint="\udc00 hint")
    assert str(error) == "half ?, red, bell\nsecond line ? hint"
    assert error.message.startswith("half \ud83d"), "what was said is kept as it was"
    assert "".join(error._render_traceback_()).encode() == f"{kind.__name__}: {error}".encode()  # pyright: ignore[reportPrivateUsage]


def test_a_servers_error_likewise() -> None:
    error = RequestError("half \ud83d \x1b[1mbold", code=-1, server="s")
    assert str(error) == "s answered with an error: half ? bold (code -1)"


def test_a_sentence_of_a_server_has_an_end() -> None:
    error = ToolError("x" * 200_000)
    assert len(str(error)) < 8100
    assert str(error).endswith("x… (192,000 more characters)")
    assert len(error.message) == 200_000


def test_a_sentence_reads_as_it_is_written() -> None:
    assert str(MCPError("no \u202etxt.exe\u2066 here\u2069")) == "no txt.exe here"
