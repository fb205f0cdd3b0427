"""What the parts of a page share stands once: the components have it before them, HTML of cards in its handlers."""

from __future__ import annotations

from html.parser import HTMLParser
from importlib import resources
from typing import Any

import pytest

from jupyter_mcp.notebook import components
from jupyter_mcp.notebook.cards.copying import copied


def scripts() -> dict[str, str]:
    """All that goes to a page and is no server's: modules, and Python that holds handlers."""
    room = resources.files("jupyter_mcp.notebook")
    found: dict[str, str] = {}
    for folder in ("components", "cards"):
        for file in room.joinpath(folder).iterdir():
            if file.name.endswith((".js", ".py")):
                found[f"{folder}/{file.name}"] = file.read_text("utf-8")
    return found


@pytest.mark.parametrize("what", ["execCommand", "clipboard.writeText"])
def test_the_way_to_the_clipboard_stands_once(what: str) -> None:
    assert [name for name, text in scripts().items() if what in text] == ["components/common.js"]


@pytest.mark.parametrize("name", ["copy", "newcell", "secret"])
def test_what_copies_has_it(name: str) -> None:
    source = str(components.component(name)._esm)
    assert source.count("async function copyText(") == 1
    assert "await copyText(" in source


def test_a_function_of_the_common_script_is_whole_and_another_is_an_error() -> None:
    source = components.function("copyText")
    assert source.startswith("async function copyText(text) {")
    assert source.endswith("\n}")
    assert source.count("{") == source.count("}")
    with pytest.raises(LookupError, match="no function nothing"):
        components.function("nothing")


def test_a_copy_button_of_html_has_the_function_in_its_handler() -> None:
    class Reader(HTMLParser):
        handler: str | None = None

        def handle_starttag(self, tag: str, attrs: list[tuple[str, Any]]) -> None:
            if tag == "button":
                self.handler = dict(attrs)["onclick"]

    reader = Reader()
    reader.feed(copied("line", 'a "text" <b>', "the line"))
    assert reader.handler is not None
    assert f"({components.function('copyText')})(text)" in reader.handler
