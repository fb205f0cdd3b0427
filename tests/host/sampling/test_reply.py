"""A model's reply in the words of each revision."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_mcp.host.sampling import reply
from tests.host.sampling.helpers import TOOL, params, text

PICTURE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
SOUND = {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"}
TWO = [text("a"), text("b")]


@pytest.mark.parametrize(
    ("content", "revision", "expected"),
    [
        ([text("a")], "2026-07-28", text("a")),
        (TWO, "2025-06-18", text("a\nb")),
        ([text("a"), PICTURE], "2025-11-25", [text("a"), PICTURE]),
        ([text("a"), PICTURE], "2025-06-18", None),
    ],
)
def test_one_block_where_it_can_be_one(content: list[Any], revision: str, expected: Any) -> None:
    assert reply.shaped(params(), content, revision) == expected
    assert bool(reply.problems(params(), content, revision)) is (expected is None)


def test_with_tools_it_is_a_list() -> None:
    assert reply.shaped(params(tools=[TOOL]), [text("a")], "2025-11-25") == [text("a")]


@pytest.mark.parametrize(
    ("content", "revision", "said"),
    [
        ([], "2026-07-28", "empty"),
        ([SOUND], "2024-11-05", "takes no audio"),
        ([{"type": "image", "data": ""}], "2026-07-28", "no data"),
        ([{"type": "thought"}], "2026-07-28", "cannot be sent"),
        (["text"], "2026-07-28", "no object"),
        ([{"type": "tool_use", "id": "", "name": "look", "input": {"x": 1}}], "2026-07-28", "has no id"),
    ],
)
def test_what_cannot_be_sent_is_said(content: list[Any], revision: str, said: str) -> None:
    assert said in " ".join(reply.problems(params(tools=[TOOL]), content, revision))
