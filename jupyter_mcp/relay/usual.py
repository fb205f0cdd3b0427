"""The tools that every notebook has, known before there is one: many clients read the list once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["FILE", "NAMES", "tools"]

FILE = Path(__file__).with_name("usual.json")  # written from a notebook's own list, see tests/cli/test_offline.py
NAMES = frozenset(
    (
        *("list_variables", "inspect_variable", "read_variable", "search_variables"),
        *("list_functions", "call_function", "execute_code", "set_variable"),
    )
)


def tools(notebook: Mapping[str, Any], required: bool = False) -> list[dict[str, Any]]:
    """Their definitions, in the newest revision.

    Args:
        notebook: the schema of their argument of this name.
        required: whether it must be given.
    """
    found: list[dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
    return [_naming(tool, notebook, required) for tool in found]


def _naming(tool: dict[str, Any], field: Mapping[str, Any], required: bool) -> dict[str, Any]:
    schema: dict[str, Any] = tool["inputSchema"]
    named = {**schema, "properties": {"notebook": field, **schema["properties"]}}
    if required:
        named["required"] = ["notebook", *schema.get("required", ())]
    return {**tool, "inputSchema": named}
