"""The labextension stays small, and a page that has no use for it loads next to nothing of it."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

from tests.e2e.lab import ROOT

if TYPE_CHECKING:
    from pathlib import Path

STATIC = ROOT / "labextension" / "dist" / "static"
MOST = 150_000


def scripts() -> list[Path]:
    """What is built."""
    found = sorted(STATIC.glob("*.js"))
    if not found:
        pytest.skip("the labextension is not built (make labextension)")
    return found


def test_all_of_it_is_no_more_than_150_kb_compressed() -> None:
    assert sum(len(gzip.compress(one.read_bytes())) for one in scripts()) <= MOST


def test_the_panel_and_what_is_beside_it_are_apart_from_what_every_page_loads() -> None:
    """What is loaded with the first kernel holds the forms and the drive; the start holds neither."""
    marks = ("jmcp-prompt-messages", "jupyter-mcp-resources")
    holding = {mark: [one.name for one in scripts() if mark in one.read_text(encoding="utf-8")] for mark in marks}
    assert all(len(names) >= 1 for names in holding.values())
    start = [one for one in scripts() if "jupyter-mcp-host:new-cells" in one.read_text(encoding="utf-8")]
    assert len(start) == 1
    assert not [mark for mark in marks if start[0].name in holding[mark]]
