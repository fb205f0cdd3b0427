"""A tool's form as it is saved: every argument with what it takes, readable without a kernel."""

from __future__ import annotations

from typing import Any

from jupyter_mcp.notebook.render import bundle
from jupyter_mcp.notebook.render.toolform import MAX_FIELDS
from jupyter_mcp.notebook.render.views import ToolFormView


def text_of(schema: dict[str, Any], **more: Any) -> str:
    return str(bundle(ToolFormView("demo", {"name": "book", "inputSchema": schema, **more}))["text/plain"])


def test_each_argument_stands_with_what_it_takes_and_whether_it_is_needed() -> None:
    schema = {
        "properties": {
            "city": {"type": "string", "description": "Any city."},
            "days": {"type": "integer", "minimum": 1, "maximum": 14, "default": 3},
            "units": {"enum": ["celsius", "fahrenheit"], "default": "celsius"},
        },
        "required": ["city"],
    }
    lines = text_of(schema, title="Book", description="Books <b>it</b>.").splitlines()
    assert lines[:2] == ["demo.book — Book", "Books <b>it</b>."]
    assert [line.split() for line in lines[3:6]] == [
        ["city", "yes", "text", "Any", "city."],
        ["days", "whole", "number,", "1", "to", "14,", "default", "3"],
        ["units", "celsius", "or", "fahrenheit,", "default", "celsius"],
    ]
    assert lines[-1] == "call it: %mcp call demo.book name=value"


def test_what_is_inside_a_group_or_a_list_stands_under_its_path() -> None:
    seat = {"type": "object", "properties": {"row": {"type": "integer"}}, "required": ["row"]}
    schema = {"properties": {"seat": seat, "more": {"type": "array", "items": seat}}}
    text = text_of(schema)
    assert "seat.row" in text
    assert "more[].row" in text


def test_a_schema_without_end_is_cut_and_a_long_one_says_how_much_is_left() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}
    endless = {"$defs": {"node": node}, "properties": {"first": {"$ref": "#/$defs/node"}}}
    assert text_of(endless).count("next") < 10
    many = {"properties": {f"a{n}": {"type": "string"} for n in range(MAX_FIELDS + 5)}}
    assert "… 5 more arguments" in text_of(many)


def test_words_of_a_server_are_text() -> None:
    schema = {"properties": {"<img src=x>": {"description": "<script>alert(1)</script>"}}}
    html = str(bundle(ToolFormView("demo", {"name": "<b>", "inputSchema": schema}))["text/html"])
    assert "<script>" not in html
    assert "<img src" not in html


def test_odd_schemas_are_no_crash() -> None:
    for odd in (None, 3, {"properties": 7}, {"type": "array"}):
        assert "demo.book" in str(bundle(ToolFormView("demo", {"name": "book", "inputSchema": odd}))["text/plain"])
