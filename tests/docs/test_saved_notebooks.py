"""The notebooks as files: small, and readable without kernel and widgets, by nbconvert and on pages like GitHub's.

Such pages take style, script, class and event attributes away, so what is to be read may need none of them.
"""

from __future__ import annotations

import importlib
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
LIMIT = 300_000  # bytes
UNREADABLE = re.compile(r"model not found|Error displaying widget|Loading widget|\b[VH]Box\(", re.IGNORECASE)
OURS = 'class="jupyter-mcp"'
ACTIVE = re.compile(
    r"<(script|style|iframe|object|link|meta)\b|\son\w+=|display:\s*none|visibility:\s*hidden", re.IGNORECASE
)

_nbformat: Any = importlib.import_module("nbformat")  # untyped


class Words(HTMLParser):
    """The text of HTML that a person would see, without any style."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self._parts: list[str] = []
        self._inside: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag in ("script", "style"):
            self._inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._inside and self._inside[-1] == tag:
            self._inside.pop()

    def handle_data(self, data: str) -> None:
        if not self._inside:
            self._parts.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self._parts).split())


def displays(notebook: Any) -> list[dict[str, str]]:
    """The bundles of all displays and results, text as text."""
    found: list[dict[str, str]] = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data: dict[str, Any] = output.get("data", {})
            found.append({key: "".join(data[key]) for key in data if key.startswith("text/")})
    return [data for data in found if data]


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def path(request: pytest.FixtureRequest) -> Path:
    return request.param


def test_it_is_small_and_saves_no_widget_state(path: Path) -> None:
    assert path.stat().st_size < LIMIT
    assert "widgets" not in _nbformat.read(path, as_version=4).metadata


def test_every_output_can_be_read_without_style_script_or_kernel(path: Path) -> None:
    shown = displays(_nbformat.read(path, as_version=4))
    assert shown
    for data in shown:
        plain = data.get("text/plain", "")
        html = data.get("text/html")
        assert not UNREADABLE.search(plain), plain[:200]
        if html is not None:
            assert OURS not in html or not ACTIVE.search(html), html[:200]  # a data frame's HTML is its library's
            assert Words(html).text or "<img" in html, html[:200]


def test_nbconvert_shows_every_output(path: Path) -> None:
    exporters: Any = importlib.import_module("nbconvert.exporters")
    notebook = _nbformat.read(path, as_version=4)
    page: str = exporters.HTMLExporter(template_name="lab").from_notebook_node(notebook)[0]
    seen = Words(page).text
    assert not UNREADABLE.search(seen)
    for data in displays(notebook):
        expected = Words(data["text/html"]).text if "text/html" in data else " ".join(data["text/plain"].split())
        missing = [word for word in expected.split()[:60] if word not in seen]
        assert not missing, expected[:200]
