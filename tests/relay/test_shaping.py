"""What a notebook says in the newest revision, as clients of older ones can read it; and the tools that all have."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_mcp.protocol.revisions import LEGACY, features
from jupyter_mcp.relay import shaping, usual

OLDEST, NEWEST = "2024-11-05", "2025-11-25"
TOOL = {
    "name": "warmest",
    "title": "Warmest",
    "annotations": {"readOnlyHint": True},
    "icons": [{"src": "data:image/png;base64,AA"}],
    "inputSchema": {"type": "object"},
    "outputSchema": {"type": "array", "items": {"type": "number"}},
}


@pytest.mark.parametrize("revision", LEGACY)
def test_nothing_of_the_stateless_era_is_left_in_a_result(revision: str) -> None:
    given = {"tools": [TOOL], "resultType": "complete", "ttlMs": 0, "cacheScope": "private", "_meta": {"a": 1}}
    assert set(shaping.result("tools/list", given, features(revision))) == {"tools", "_meta"}


def test_an_old_client_is_told_of_a_tool_what_its_revision_knows() -> None:
    [old] = shaping.result("tools/list", {"tools": [TOOL, "noise"]}, features(OLDEST))["tools"]
    assert set(old) == {"name", "inputSchema"}
    [new] = shaping.result("tools/list", {"tools": [TOOL]}, features(NEWEST))["tools"]
    assert set(new) == set(TOOL)


def test_a_value_that_is_no_object_is_wrapped_as_its_schema_is() -> None:
    can = features(NEWEST)
    [tool] = shaping.result("tools/list", {"tools": [TOOL]}, can)["tools"]
    [name] = tool["outputSchema"]["properties"]
    done = shaping.result("tools/call", {"content": [], "structuredContent": [1.5]}, can)
    assert done["structuredContent"] == {name: [1.5]}


def test_a_page_to_open_gets_an_id_and_a_form_no_mode_that_its_client_does_not_know() -> None:
    page: dict[str, Any] = {"mode": "url", "message": "Pay", "url": "https://example.org"}
    assert shaping.question("elicitation/create", page, features(NEWEST))["elicitationId"]
    form: dict[str, Any] = {"mode": "form", "message": "Who?", "requestedSchema": {"type": "object", "properties": {}}}
    assert "mode" not in shaping.question("elicitation/create", form, features("2025-06-18"))


def test_the_usual_tools_take_a_notebook_first_and_want_it_where_that_is_said() -> None:
    field = {"type": "string", "description": "which"}
    for tool in usual.tools(field, required=True):
        schema = tool["inputSchema"]
        assert next(iter(schema["properties"])) == "notebook" and schema["properties"]["notebook"] == field
        assert schema["required"][0] == "notebook"
    assert {tool["name"] for tool in usual.tools(field)} == usual.NAMES
