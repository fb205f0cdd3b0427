"""The schemas of the notebook's own tools, read as strict clients and model providers read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from jupyter_mcp.kernel import identity
from jupyter_mcp.kernel.book import NotebookServer
from jupyter_mcp.kernel.plots import Plots
from jupyter_mcp.protocol import schema
from jupyter_mcp.protocol.revisions import LATEST_MODERN, features

if TYPE_CHECKING:
    from collections.abc import Iterator

WORDS = ("type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref", "properties", "items")
DEEP: list[Any] = [1, 2.5, "a", True, None, {"b": [{}]}, [[["c"]]]]


@pytest.fixture(scope="module")
def tools() -> dict[str, dict[str, Any]]:
    """The tools that every notebook lists, by name."""
    shell: Any = InteractiveShell()
    book = NotebookServer(shell, identity.identify(shell, "sales"), "sales", Plots(shell, 0))
    entries = book.server._offer.tools.wire(LATEST_MODERN, features(LATEST_MODERN))  # pyright: ignore[reportPrivateUsage]
    return {name: dict(tool) for name, tool in entries}


def parts(node: Any, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """All schemas in a schema, with where they are."""
    yield path, node
    for name, child in node.get("properties", {}).items():
        yield from parts(child, f"{path}.{name}")
    for place, child in enumerate(node.get("anyOf", [])):
        yield from parts(child, f"{path}.anyOf[{place}]")
    if "items" in node:
        yield from parts(node["items"], f"{path}.items")


def test_no_part_of_a_schema_says_nothing(tools: dict[str, dict[str, Any]]) -> None:
    """A part without a type is refused by some model providers, and the Inspector warns of it."""
    for name, tool in tools.items():
        for side in ("inputSchema", "outputSchema"):
            for path, node in parts(tool[side], f"{name}.{side}"):
                assert any(word in node for word in WORDS), path
                assert not isinstance(node.get("type"), list), path


def test_lists_that_a_model_is_to_write_say_what_is_in_them(tools: dict[str, dict[str, Any]]) -> None:
    for name, tool in tools.items():
        for path, node in parts(tool["inputSchema"], name):
            assert node.get("type") != "array" or "items" in node, path


@pytest.mark.parametrize("value", DEEP)
def test_any_json_may_come_out_of_a_function(tools: dict[str, dict[str, Any]], value: Any) -> None:
    given = {"notebook": "sales", "function": "f", "result": value}
    assert not schema.check(tools["call_function"]["outputSchema"], given)
