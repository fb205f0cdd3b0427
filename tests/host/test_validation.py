"""What exactly is sent for an answer, and what is wrong with one."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_mcp.host.validation import elicitation, sampling

NEW, OLD = "2025-11-25", "2025-06-18"


def form(required: list[str] | None = None, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required or []}


def test_an_integer_is_sent_as_one():
    checked = elicitation(form(n={"type": "integer"}, x={"type": "number"}), {"n": 2.0, "x": 1.5}, NEW)
    assert checked.problems == {}
    assert (checked.value, type(checked.value["n"])) == ({"n": 2, "x": 1.5}, int)


@pytest.mark.parametrize("value", [2.5, "2.5", "2abc", True, [], 4, 0])
def test_what_is_no_integer_in_range_is_a_problem_of_its_field(value: Any):
    checked = elicitation(form(n={"type": "integer", "minimum": 1, "maximum": 3}), {"n": value}, NEW)
    assert list(checked.problems) == ["n"]


def test_typed_text_becomes_the_type_the_form_wants():
    schema = form(n={"type": "integer"}, b={"type": "boolean"}, s={"type": "string"})
    assert elicitation(schema, {"n": "2", "b": "yes", "s": "2"}, NEW).value == {"n": 2, "b": True, "s": "2"}


ENUMS = form(
    ["named", "multi"],
    plain={"type": "string", "enum": ["a", "b"], "default": "b"},
    named={"type": "string", "enum": ["p1", "p3"], "enumNames": ["Low priority", "High priority"]},
    titled={
        "type": "string",
        "oneOf": [{"const": "#f00", "title": "Red"}, {"const": "#00f", "title": "Blue"}],
        "default": "#0f0",
    },
    multi={
        "type": "array",
        "items": {"type": "string", "enum": ["x", "y", "z"]},
        "minItems": 1,
        "maxItems": 2,
        "default": ["y"],
    },
    multititled={
        "type": "array",
        "items": {"anyOf": [{"const": "r", "title": "Read"}, {"const": "w", "title": "Write"}]},
    },
)


def test_a_choice_is_sent_by_its_value_whether_value_or_title_was_given():
    content = {"named": "High priority", "titled": "Blue", "multi": ["x"], "multititled": ["r"]}
    checked = elicitation(ENUMS, content, NEW)
    assert checked.problems == {}
    assert checked.value == {"named": "p3", "titled": "#00f", "multi": ["x"], "multititled": ["r"]}


@pytest.mark.parametrize(
    ("content", "field"),
    [
        ({"named": "p2", "multi": ["x"]}, "named"),
        ({"named": "p1", "multi": []}, "multi"),
        ({"named": "p1", "multi": ["x", "y", "z"]}, "multi"),
        ({"named": "p1", "multi": ["q"]}, "multi"),
        ({"multi": ["x"]}, "named"),
    ],
)
def test_choices_outside_the_form_are_problems(content: Any, field: str):
    assert list(elicitation(ENUMS, content, NEW).problems) == [field]


def test_a_script_gets_the_defaults_a_form_would_show_and_a_person_sends_what_is_there():
    schema = form(days={"type": "integer", "default": 3}, city={"type": "string"})
    assert elicitation(schema, {"city": "Paris"}, NEW).value == {"city": "Paris"}
    assert elicitation(schema, {"city": "Paris"}, NEW, fill_defaults=True).value == {"days": 3, "city": "Paris"}


def test_a_missing_required_field_is_a_problem():
    assert list(elicitation(form(["q"], q={"type": "string"}), {}, NEW).problems) == ["q"]


def test_an_unknown_field_is_named_with_the_nearest():
    problems = elicitation(form(city={"type": "string"}), {"citty": "x"}, NEW).problems
    assert problems["citty"] == "The form has no field citty; did you mean city?"


def test_a_list_is_not_sent_to_a_revision_that_has_none():
    schema = form(multi={"type": "array", "items": {"type": "string", "enum": ["x"]}})
    assert elicitation(schema, {"multi": ["x"]}, NEW).problems == {}
    assert OLD in elicitation(schema, {"multi": ["x"]}, OLD).problems["multi"]


def test_null_is_left_out():
    schema = form(a={"type": ["string", "null"]}, b={"type": "string"})
    checked = elicitation(schema, {"a": None, "b": "x"}, NEW)
    assert (checked.value, checked.problems) == ({"b": "x"}, {})


@pytest.mark.parametrize("schema", [None, [], "x", {}, {"properties": None}, {"type": "object", "properties": []}])
def test_a_form_without_fields_is_a_message_to_confirm(schema: Any):
    checked = elicitation(schema, {}, NEW)
    assert (checked.value, checked.problems) == ({}, {})


# --- sampling --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        {"text": "hi"},
        {"content": "hi"},
        {"content": {"type": "text", "text": "hi"}},
        {"content": [{"type": "text", "text": "hi"}]},
        {"role": "assistant", "content": {"type": "text", "text": "hi"}, "stopReason": "endTurn"},
    ],
)
def test_however_a_person_answers_sampling_one_text_block_is_sent(content: Any):
    checked = sampling({"messages": []}, content, NEW)
    assert checked.problems == {}
    assert checked.value == {
        "role": "assistant",
        "content": {"type": "text", "text": "hi"},
        "model": "human",
        "stopReason": "endTurn",
    }


def test_several_texts_are_joined_and_a_model_is_kept():
    blocks = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    value = sampling({}, {"content": blocks, "model": "m", "stopReason": "maxTokens"}, NEW).value
    assert (value["content"]["text"], value["model"], value["stopReason"]) == ("a\nb", "m", "maxTokens")


@pytest.mark.parametrize("content", [{}, {"text": 5}, {"content": []}, {"content": [5]}, {"content": {"text": "x"}}])
def test_what_is_no_answer_to_sampling_is_a_problem(content: Any):
    assert sampling({}, content, NEW).problems
