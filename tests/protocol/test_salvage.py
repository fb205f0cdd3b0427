"""Item by item: one bad item costs that item."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_mcp.protocol import salvage

GOOD: dict[str, Any] = {
    "name": "good",
    "inputSchema": {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]},
}


def test_a_good_list_is_passed_through_uncopied() -> None:
    result = salvage.tools([GOOD])
    assert result.items[0] is GOOD and result.problems == []


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        {},
        {"type": "object", "properties": None},
        {"type": "object", "properties": [], "required": []},
        None,
        [],
        "string",
        5,
        True,
        {"type": ["object", "null"]},
        {"properties": {"a": None}, "required": "a"},
    ],
)
def test_a_tool_with_an_odd_schema_stays_callable_and_costs_no_other_tool(schema: Any) -> None:
    result = salvage.tools([GOOD, {"name": "odd", "inputSchema": schema}, {"name": "none"}])
    assert [tool["name"] for tool in result.items] == ["good", "odd", "none"]
    for tool in result.items:
        fixed = tool["inputSchema"]
        assert fixed["type"] == "object"
        assert all(isinstance(p, dict) for p in fixed.get("properties", {}).values())
        assert all(isinstance(n, str) for n in fixed.get("required", []))


def test_a_schema_that_is_no_object_is_a_problem_told_by_name() -> None:
    problems = salvage.tools([{"name": "odd", "inputSchema": "string"}]).problems
    assert [(p.name, "text" in p.reason) for p in problems] == [("odd", True)]


@pytest.mark.parametrize("bad", [None, 5, "tool", [], {}, {"name": ""}, {"name": None}, {"name": 5}, {"title": "x"}])
def test_only_what_has_no_name_is_skipped_and_its_place_is_told(bad: Any) -> None:
    result = salvage.tools([GOOD, bad])
    assert result.items == [GOOD]
    assert [p.name for p in result.problems] == ["#2"]


def test_of_two_tools_with_one_name_the_first_is_kept_with_a_warning() -> None:
    result = salvage.tools([GOOD, {**GOOD, "title": "second"}])
    assert result.items == [GOOD] and "more than once" in str(result.problems[0])


@pytest.mark.parametrize("raw", [{}, "x", 5, True])
def test_a_list_that_is_no_list_is_one_problem(raw: Any) -> None:
    result = salvage.tools(raw)
    assert result.items == [] and len(result.problems) == 1


def test_an_absent_list_is_an_empty_one() -> None:
    assert salvage.tools(None) == salvage.Salvaged()


def test_members_of_the_wrong_type_are_left_out_and_told_nulls_silently() -> None:
    tool: dict[str, Any] = {
        **GOOD,
        "description": 5,
        "title": None,
        "annotations": {"readOnlyHint": "yes", "destructiveHint": True, "title": "T"},
        "outputSchema": [],
        "vendor": {"kept": True},
    }
    result = salvage.tools([tool])
    assert result.items[0] == {
        **GOOD,
        "annotations": {"destructiveHint": True, "title": "T"},
        "vendor": {"kept": True},
    }
    assert sorted(p.reason.split()[1] for p in result.problems) == ["description", "outputSchema"]


def test_resources_and_templates_need_a_uri_and_get_a_name() -> None:
    uris = ["https://example.com", "HTTP://Host/x y", "users/me", "é:漢"]
    found = salvage.resources([{"uri": uri} for uri in uris] + [{"name": "no uri"}])
    assert [r["uri"] for r in found.items] == uris == [r["name"] for r in found.items]
    assert len(found.problems) == 1
    assert salvage.templates([{"uriTemplate": "a{b}"}]).items == [{"uriTemplate": "a{b}", "name": "a{b}"}]
    assert salvage.resources([{"uri": "a", "name": "n", "size": "big"}]).items == [{"uri": "a", "name": "n"}]


def test_prompt_arguments_are_salvaged_too() -> None:
    found = salvage.prompts(
        [{"name": "p", "arguments": [{"name": "a"}, {"x": 1}, {"name": "a"}]}, {"name": "q", "arguments": None}]
    )
    assert [p["arguments"] for p in found.items] == [[{"name": "a"}], []]
    assert [p.name for p in found.problems] == ["p", "p"]


def test_the_name_before_people_is_the_title_then_the_annotated_one_then_the_name() -> None:
    assert salvage.display_name({"title": "A", "annotations": {"title": "B"}, "name": "c"}) == "A"
    assert salvage.display_name({"title": " ", "annotations": {"title": "B"}, "name": "c"}) == "B"
    assert salvage.display_name({"annotations": None, "name": "c"}) == "c"
    assert salvage.display_name({"uri": "u"}) == "u" and salvage.display_name({}) == ""


# --- results ---------------------------------------------------------------------------------------------------------


def test_a_good_result_is_passed_through_uncopied() -> None:
    result: dict[str, Any] = {"content": [{"type": "text", "text": "x"}, {"type": "vendor", "x": 1}], "isError": False}
    assert salvage.content(result) is result


@pytest.mark.parametrize(
    ("raw", "blocks"),
    [
        (None, []),
        ("plain", [{"type": "text", "text": "plain"}]),
        ({"type": "text", "text": "single"}, [{"type": "text", "text": "single"}]),
        (["a", 5, None], [{"type": "text", "text": t} for t in ("a", "5", "")]),
        ([{"text": "untyped"}], [{"text": "untyped", "type": "text"}]),
        ([{"type": "text", "text": {"a": 1}}], [{"type": "text", "text": '{"a": 1}'}]),
        ([{"type": "text"}], [{"type": "text", "text": ""}]),
        ([{"type": "image"}], [{"type": "text", "text": "[image block without data]"}]),
        ([{"type": "resource", "resource": None}], [{"type": "text", "text": "[resource block without a resource]"}]),
        ([{"type": "resource_link"}], [{"type": "text", "text": "[resource link without a URI]"}]),
        ([{"resource": {"uri": "x"}}], [{"resource": {"uri": "x"}, "type": "resource"}]),
        ([{"weird": 1}], [{"weird": 1, "type": "unknown"}]),
    ],
)
def test_content_is_a_list_of_typed_blocks_afterwards(raw: Any, blocks: list[Any]) -> None:
    assert salvage.content({"content": raw, "structuredContent": {"k": 1}}) == {
        "content": blocks,
        "structuredContent": {"k": 1},
    }


def test_structured_content_alone_is_a_result() -> None:
    assert salvage.content({"structuredContent": 5}) == {"structuredContent": 5, "content": []}


@pytest.mark.parametrize(("value", "flag"), [(None, False), ("true", True), ("false", False), (1, True), (0, False)])
def test_the_error_flag_is_a_flag_afterwards(value: Any, flag: bool) -> None:
    assert salvage.content({"content": [], "isError": value})["isError"] is flag


def test_prompt_messages_have_a_role_and_content() -> None:
    raw = {"messages": [{"role": "assistant", "content": "hi"}, {"content": [{"text": "a"}, "b"]}, "loose", {}]}
    assert salvage.messages(raw) == [
        {"role": "assistant", "content": {"type": "text", "text": "hi"}},
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        {"role": "user", "content": {"type": "text", "text": "loose"}},
        {"role": "user", "content": []},
    ]
    assert salvage.messages({}) == []


def test_resource_contents_have_a_uri_and_text_or_blob() -> None:
    raw: dict[str, Any] = {"contents": [{"uri": "a", "text": "t"}, {"blob": "YQ=="}, "loose", {"uri": "b", "text": 5}]}
    assert salvage.contents(raw, "asked") == [
        {"uri": "a", "text": "t"},
        {"uri": "asked", "blob": "YQ=="},
        {"uri": "asked", "text": "loose"},
        {"uri": "b", "text": "5"},
    ]
    assert salvage.contents({"contents": {"uri": "a", "text": "t"}}) == [{"uri": "a", "text": "t"}]
