"""What came back from a server, in a line of the journal."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_mcp.host.journal.summary import summary
from jupyter_mcp.host.redaction import Redactor


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ({"content": [text("a\n b"), text("c"), {"type": "image"}]}, "2 text + image: a b (4 characters)"),
        ({"content": [], "structuredContent": {"a": 1}}, "data"),
        ({"content": []}, "nothing"),
        ({"content": [5, {"type": None}]}, "unknown + None"),
        ({"contents": [{"uri": "x://", "blob": "AA=="}, {"uri": "y://", "text": "t"}]}, "2 parts: t (1 character)"),
        ({"messages": [{"role": "user", "content": text("hi")}]}, "1 message: hi (2 characters)"),
        ({"contents": "odd"}, "0 parts"),
        ({"tools": []}, None),
        (None, None),
    ],
)
def test_kinds_and_sizes_and_the_beginning_of_a_text(raw: Any, said: str | None) -> None:
    assert summary(raw, str) == said


def test_a_long_text_is_cut_and_no_secret_is_cut_in_two() -> None:
    redactor = Redactor()
    redactor.learn(["alpha-beta-gamma"])
    said = summary({"content": [text("x" * 110 + " alpha-beta-gamma " + "y" * 9_000)]}, redactor.text)
    assert said is not None
    assert "alpha" not in said
    assert "9,128 characters" in said
    assert len(said) < 200
