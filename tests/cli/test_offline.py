"""What the bridge lists without a notebook is what every notebook has.

`python -m tests.cli.test_offline` writes the file anew, after the tools of notebooks have changed.
"""

from __future__ import annotations

import json
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from jupyter_mcp.cli.bridge import offline
from jupyter_mcp.cli.bridge.choosing import Nobody
from jupyter_mcp.kernel import identity
from jupyter_mcp.kernel.book import NotebookServer
from jupyter_mcp.kernel.plots import Plots
from jupyter_mcp.protocol.revisions import LATEST_MODERN, features
from jupyter_mcp.relay import usual
from jupyter_mcp.relay.usual import FILE


def of_a_notebook() -> list[dict[str, Any]]:
    """The tools that a notebook without functions of its own lists, without the name of the notebook."""
    shell: Any = InteractiveShell()
    book = NotebookServer(shell, identity.identify(shell, "sales"), "sales", Plots(shell, 0))
    entries = book.server._offer.tools.wire(LATEST_MODERN, features(LATEST_MODERN))  # pyright: ignore[reportPrivateUsage]
    return [_unnamed(tool) for _, tool in entries]


def _unnamed(tool: Any) -> dict[str, Any]:
    schema = tool["inputSchema"]
    properties = {name: field for name, field in schema["properties"].items() if name != "notebook"}
    required = [name for name in schema.get("required", []) if name != "notebook"]
    kept = {key: value for key, value in tool.items() if key != "outputSchema"}
    return {**kept, "inputSchema": {**schema, "properties": properties, "required": required}}


def without_words(value: Any) -> Any:
    """A tool without what is for people to read: wording may change without harm."""
    if isinstance(value, dict):
        return {key: without_words(one) for key, one in value.items() if key not in ("description", "title")}  # pyright: ignore[reportUnknownVariableType]
    return [without_words(one) for one in value] if isinstance(value, list) else value  # pyright: ignore[reportUnknownVariableType]


def test_the_tools_that_are_listed_without_a_notebook_are_those_of_every_notebook() -> None:
    kept = json.loads(FILE.read_text(encoding="utf-8"))
    assert {tool["name"] for tool in kept} == usual.NAMES
    assert without_words(kept) == without_words(of_a_notebook()), "run python -m tests.cli.test_offline"


def test_each_of_them_takes_the_name_of_a_notebook_and_does_not_need_it() -> None:
    for tool in offline.tools(Nobody("none")):
        assert tool["inputSchema"]["properties"]["notebook"]["type"] == "string"
        assert "notebook" not in tool["inputSchema"]["required"]


if __name__ == "__main__":
    FILE.write_text(json.dumps(of_a_notebook(), indent=1) + "\n", encoding="utf-8")
