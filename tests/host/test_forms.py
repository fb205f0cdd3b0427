"""Forms: a schema and what a person does, made into exact values."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_mcp.host import forms
from jupyter_mcp.host.forms import UNSET, FieldError, Inside, Node
from tests.shared import shared_path


def one(schema: dict[str, Any], *, required: bool = False, defs: dict[str, Any] | None = None) -> Node:
    full: dict[str, Any] = {"type": "object", "properties": {"x": schema}, "required": ["x"] if required else []}
    full["$defs"] = defs or {}
    return forms.fields(full)[0]


def whole(found: list[Node]) -> Node:
    """A form of just these fields."""
    return Node("", kind="object", required=True, inside=Inside(parts=lambda: tuple(found)))


def collect(found: list[Node], raws: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """The values, and the problems by dotted name."""
    values, errors = forms.collect(whole(found), raws)
    return values, {pointer[1:].replace("/", "."): text for pointer, text in errors.items()}


def needed(found: list[Node], raws: dict[str, Any]) -> list[str]:
    return forms.needed(whole(found), raws)


def draft(found: list[Node], values: Any = UNSET) -> dict[str, Any]:
    return forms.draft(whole(found), values)


def sent(schema: dict[str, Any], raw: Any, *, required: bool = False) -> dict[str, Any]:
    values, errors = collect([one(schema, required=required)], {"x": raw})
    assert not errors, errors
    return values


def refused(schema: dict[str, Any], raw: Any, *, required: bool = False) -> str:
    values, errors = collect([one(schema, required=required)], {"x": raw})
    assert "x" not in values, "a refused draft leaves no stale value"
    return errors["x"]


NULLABLE = {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}


@pytest.mark.parametrize(
    ("schema", "raw", "expected"),
    [
        (NULLABLE, "books", {"x": "books"}),
        (NULLABLE, UNSET, {}),
        ({"type": ["string", "null"]}, "null", {"x": "null"}),
        ({"type": ["string", "null"]}, None, {"x": None}),
        ({"type": "boolean"}, UNSET, {}),
        ({"type": "array", "items": {"type": "string"}}, UNSET, {}),
        ({"type": "array", "items": {"type": "string"}}, ["a", "b"], {"x": ["a", "b"]}),
        ({"type": "array", "items": {"type": "string"}}, "a\nb", {"x": ["a", "b"]}),
        ({"type": "array", "items": {"type": "string"}}, [], {"x": []}),
        ({"type": "object", "properties": {"from": {"type": "string"}}}, UNSET, {}),
        ({"type": "object", "properties": {"from": {"type": "string"}}}, {"from": UNSET}, {"x": {}}),
        ({"type": "object", "properties": {"from": {"type": "string"}}}, {"from": "a"}, {"x": {"from": "a"}}),
        ({"type": "object"}, '{"page": 1}', {"x": {"page": 1}}),
        ({"type": "integer"}, "3", {"x": 3}),
        ({"type": "integer"}, "", {}),
        ({"type": "number"}, "2", {"x": 2}),
        ({"type": "number"}, "1.5", {"x": 1.5}),
        ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, "12", {"x": 12}),
        ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, '"12"', {"x": "12"}),
        ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, "[12", {"x": "[12"}),
        ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, "true", {"x": "true"}),
        ({}, "abc", {"x": "abc"}),
        ({}, "[1]", {"x": [1]}),
        ({"type": ["integer", "null"]}, "null", {"x": None}),
        ({"type": "array", "items": {"type": "integer"}}, "1\n2", {"x": [1, 2]}),
        ({"type": "array", "items": {"type": "integer"}}, "[1, 2]", {"x": [1, 2]}),
        ({"type": "string"}, "  kept  ", {"x": "  kept  "}),
        ({"type": "string"}, "42", {"x": "42"}),
    ],
)
def test_a_draft_becomes_exactly_these_arguments(schema: dict[str, Any], raw: Any, expected: dict[str, Any]) -> None:
    values = sent(schema, raw)
    assert json.dumps(values) == json.dumps(expected)


@pytest.mark.parametrize(
    ("schema", "raw", "says"),
    [
        ({"type": "object"}, '{"page": 1,}', "line 1, column 11"),
        ({"type": "object"}, "[1]", "an object"),
        ({"type": "object"}, '{"a": NaN}', "NaN"),
        ({"type": "integer"}, "3.5", "not an integer"),
        ({"type": "integer"}, "2abc", "not an integer"),
        ({"type": "integer"}, "1e400", "not an integer"),
        ({"type": "integer"}, "9" * 500, "too long"),
        ({"type": "integer", "minimum": 1, "maximum": 3}, "4", "from 1 to 3"),
        ({"type": "integer", "exclusiveMinimum": 0}, "0", "more than 0"),
        ({"type": "number", "multipleOf": 0.1}, "0.25", "multiple of 0.1"),
        ({"type": "number"}, "1,5", "point"),
        ({"type": "number"}, "1e999", "too large"),
        ({"type": "number"}, "NaN", "not a number"),
        ({"type": "string", "minLength": 2}, "a", "At least 2 characters"),
        ({"type": "string", "maxLength": 2}, "abc", "At most 2 characters"),
        ({"type": "string", "pattern": "^a"}, "b", "pattern"),
        ({"type": "string", "format": "email"}, "nobody", "e-mail"),
        ({"type": "string", "format": "uri"}, "example", "address"),
        ({"type": "string", "format": "date"}, "2026-02-30", "calendar"),
        ({"type": "string", "format": "date"}, "1.3.2026", "2026-03-01"),
        ({"type": "string", "format": "date-time"}, "2026-03-01T10:00:00", "zone"),
        ({"enum": ["a", "b"]}, "c", "one of the choices"),
        ({"enum": [1, 2]}, True, "one of the choices"),
        ({"type": "array", "items": {"type": "integer"}}, "1\nb", "Entry 2"),
        ({"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 1}, ["a", "b"], "at most 1"),
        ({"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 1}, [], "at least 1"),
        ({"type": "string"}, None, "cannot be null"),
        ({"type": "boolean"}, "perhaps", "yes or no"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_reason(schema: dict[str, Any], raw: Any, says: str) -> None:
    assert says in refused(schema, raw)


def test_a_required_field_is_named_until_it_is_touched() -> None:
    q = forms.fields({"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]})
    assert collect(q, {}) == ({}, {"q": "q is required."})
    assert needed(q, {}) == ["q"]
    assert collect(q, {"q": ""}) == ({"q": ""}, {})
    assert needed(q, {"q": ""}) == []


def test_a_required_field_with_a_default_is_never_missing() -> None:
    found = forms.fields({"properties": {"n": {"type": "integer", "default": 3}}, "required": ["n"]})
    assert collect(found, {}) == ({"n": 3}, {})
    assert needed(found, {}) == []


def test_an_untouched_default_is_left_out_and_a_prefilled_one_is_sent() -> None:
    found = forms.fields({"properties": {"raw": {"type": "boolean", "default": True}}})
    assert collect(found, {}) == ({}, {})
    assert collect(found, draft(found)) == ({"raw": True}, {})


def test_a_null_default_prefills_nothing() -> None:
    found = forms.fields({"properties": {"x": NULLABLE}})
    assert found[0].kind == "text"
    assert found[0].nullable
    assert collect(found, draft(found)) == ({}, {})


ENUMS = {
    "plain": {"type": "string", "enum": ["a", "b"], "default": "b"},
    "named": {"type": "string", "enum": ["p1", "p3"], "enumNames": ["Low priority", "High priority"]},
    "titled": {
        "type": "string",
        "oneOf": [{"const": "#f00", "title": "Red"}, {"const": "#00f", "title": "Blue"}],
        "default": "#0f0",
    },
    "multi": {"type": "array", "items": {"type": "string", "enum": ["x", "y", "z"]}, "maxItems": 2, "default": ["y"]},
    "multititled": {
        "type": "array",
        "items": {"anyOf": [{"const": "r", "title": "Read"}, {"const": "w", "title": "Write"}]},
    },
}


def test_five_spellings_of_an_enum_show_titles_and_send_values() -> None:
    found = {field.name: field for field in forms.fields({"type": "object", "properties": ENUMS})}
    kinds = {name: field.kind for name, field in found.items()}
    assert kinds == {
        "plain": "choice",
        "named": "choice",
        "titled": "choice",
        "multi": "multichoice",
        "multititled": "multichoice",
    }
    assert found["named"].choices == (("Low priority", "p1"), ("High priority", "p3"))
    assert forms.parse(found["named"], "High priority") == "p3"
    assert forms.parse(found["titled"], "blue") == "#00f"
    assert forms.parse(found["titled"], "2") == "#00f"
    assert forms.parse(found["multititled"], "Read, w") == ["r", "w"]


def test_defaults_are_preselected_and_an_unknown_default_is_not() -> None:
    found = forms.fields({"type": "object", "properties": ENUMS})
    start = draft(found)
    assert (start["plain"], start["multi"]) == ("b", ["y"])
    assert start["named"] is UNSET
    assert start["titled"] is UNSET


def test_duplicate_titles_can_be_told_apart() -> None:
    field = one({"oneOf": [{"const": 1, "title": "One"}, {"const": "1", "title": "One"}, {"const": 2, "title": "Two"}]})
    assert [value for _, value in field.choices] == [1, "1", 2]
    assert len({label for label, _ in field.choices}) == 3
    assert collect([field], {"x": 1})[0] == {"x": 1}


def test_a_choice_of_numbers_is_read_by_value_before_place() -> None:
    field = one({"enum": [3, 2, 1]})
    assert forms.parse(field, "3") == 3
    assert forms.parse(one({"enum": ["x", "y"]}), "2") == "y"


def test_an_optional_enum_is_a_choice_that_may_be_null() -> None:
    field = one({"anyOf": [{"enum": ["a", "b"], "type": "string"}, {"type": "null"}], "default": None})
    assert (field.kind, field.nullable, field.default) == ("choice", True, UNSET)
    assert collect([field], {"x": None})[0] == {"x": None}


def test_references_are_followed_and_never_run_away() -> None:
    defs = {
        "Colour": {"type": "string", "enum": ["red", "blue"], "description": "a colour"},
        "Loop": {"$ref": "#/$defs/Loop"},
        "a/b": {"type": "integer"},
    }
    assert one({"$ref": "#/$defs/Colour", "default": "red"}, defs=defs).default == "red"
    assert one({"allOf": [{"$ref": "#/$defs/Colour"}], "title": "Paint"}, defs=defs).title == "Paint"
    assert one({"$ref": "#/$defs/Loop"}, defs=defs).kind == "json"
    assert one({"$ref": "#/$defs/a~1b"}, defs=defs).kind == "integer"
    assert one({"$ref": "https://example.org/x.json"}).kind == "json"


def test_required_fields_come_first_and_undeclared_required_ones_are_not_lost() -> None:
    found = forms.fields({"properties": {"a": {}, "b": {}, "c": {}}, "required": ["c", "ghost", "b"]})
    assert [field.name for field in found] == ["b", "c", "ghost", "a"]


def test_an_object_has_its_members_as_fields_however_deep() -> None:
    simple = one({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]})
    assert [part.name for part in simple.parts] == ["a"]
    values, errors = collect([simple], {"x": {"a": "b"}})
    assert values == {}
    assert list(errors) == ["x.a"]
    deep = one({"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {"type": "boolean"}}}}})
    assert [part.kind for part in deep.parts[0].parts] == ["boolean"]


def test_a_required_group_names_the_part_that_is_missing() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer", "title": "Age"}}, "required": ["a"]}
    found = forms.fields({"properties": {"who": schema}, "required": ["who"]})
    assert needed(found, {}) == ["who: Age"]
    assert collect(found, {})[1] == {"who.a": "Age is required."}


def test_a_group_that_needs_nothing_is_sent_empty_only_when_it_is_required() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    assert collect([one(schema, required=True)], {})[0] == {"x": {}}
    assert collect([one(schema)], {})[0] == {}


def test_a_pattern_that_could_run_for_ever_or_cannot_compile_is_left_to_the_server() -> None:
    assert sent({"type": "string", "pattern": "^(a|a)*$"}, "a" * 60 + "b") == {"x": "a" * 60 + "b"}
    assert sent({"type": "string", "pattern": r"^\p{L}+$"}, "é") == {"x": "é"}
    assert refused({"type": "string", "pattern": r"^\p{L}+$"}, "4") == r"It has to match the pattern ^\p{L}+$"
    assert sent({"type": "string", "pattern": "("}, "b") == {"x": "b"}


def test_the_form_and_its_json_side_agree_in_both_directions() -> None:
    schema = {
        "properties": {
            "name": {"type": "string"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "range": {"type": "object", "properties": {"low": {"type": "integer"}}},
            "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
            "free": {},
            "nothing": {"type": ["integer", "null"]},
        }
    }
    values = {
        "name": "12",
        "tags": ["a\nb", "[c"],
        "range": {"low": 3},
        "either": "12",
        "free": "text",
        "nothing": None,
    }
    found = forms.fields(schema)
    assert collect(found, draft(found, values)) == (values, {})
    assert collect(found, draft(found, {})) == ({}, {})


@pytest.mark.parametrize("text", ["a", "[x]", "", " ", "a\nb", "[1, 2]", "null", '"q"'])
def test_a_list_survives_the_trip_through_its_draft(text: str) -> None:
    found = forms.fields({"properties": {"x": {"type": "array", "items": {"type": "string"}}}})
    values = {"x": [text, "z"]}
    assert collect(found, draft(found, values)) == (values, {})


def test_the_words_say_what_is_wanted() -> None:
    assert forms.constraints(one({"type": "integer", "minimum": 1, "maximum": 3})) == "whole number, 1 to 3"
    assert forms.constraints(one({"type": "string", "minLength": 2})) == "at least 2 characters"
    rows = {
        "type": "array",
        "items": {"type": "object", "properties": {"t": {"type": "string"}, "v": {}}, "required": ["t"]},
    }
    assert forms.shape(rows) == '[{"t": text, "v"?: any value}, …]'


words = st.sampled_from(
    [
        "type", "properties", "required", "items", "enum", "enumNames", "const", "default", "anyOf", "oneOf", "allOf",
        "$ref", "$defs", "title", "description", "format", "pattern", "minimum", "maximum", "minLength", "minItems",
        "multipleOf", "nullable", "x", "string", "object",
    ]
) | st.text(max_size=4)  # fmt: skip
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=5),
    max_leaves=25,
)


@settings(max_examples=300, deadline=None)
@given(schema=json_values, text=st.text(max_size=12))
def test_no_schema_however_odd_breaks_a_form(schema: Any, text: str) -> None:
    for full in (schema, {"type": "object", "properties": {"x": schema}}):
        found = forms.fields(full)
        collect(found, draft(found))
        collect(found, {field.name: text for field in found})
        needed(found, {})
        for field in found:
            forms.constraints(field)


def test_every_real_tool_makes_a_form() -> None:
    tools = json.loads(shared_path("servers/tool_schemas.json").read_text(encoding="utf-8"))
    kinds: set[str] = set()
    for tool in tools:
        found = forms.fields(tool["inputSchema"])
        assert {field.name for field in found} >= set(tool["inputSchema"].get("properties") or {})
        kinds.update(field.kind for field in found)
        collect(found, draft(found))
        for field in found:
            forms.constraints(field)
    assert kinds >= {"text", "integer", "number", "boolean", "choice", "array", "object", "union"}


def test_the_collected_rows_of_nullable_forms_are_right() -> None:
    rows = json.loads(shared_path("cases/47-schema-nullable-forms.json").read_text(encoding="utf-8"))["rows"]
    actions: dict[str, Any] = {
        "types books": "books",
        "leaves untouched": UNSET,
        "types null": "null",
        "ticks 'null'": None,
        "adds two rows a, b": ["a", "b"],
        'enters {"page": 1} in the JSON box': '{"page": 1}',
        'enters {"page": 1,}': '{"page": 1,}',
        "types 3": "3",
        "types 3.5": "3.5",
        "types 2": "2",
        "types 12": "12",
        "leaves untouched and presses Call": UNSET,
        "explicitly chooses empty text": "",
    }
    for row in rows:
        [name] = row["schema"]
        found = forms.fields({"properties": row["schema"], "required": row.get("required", [])})
        values, errors = collect(found, {name: actions[row["user"]]})
        if "error" in row:
            assert errors, row
            assert not values, row
        else:
            assert not errors, row
            assert json.dumps(values) == json.dumps(row["arguments"]), row


@pytest.mark.parametrize(
    ("schema", "raw", "expected"),
    [
        ({"type": "integer"}, 2.0, "2"),
        ({"type": "array", "items": {"type": "integer"}}, [1.0, "2"], "[1, 2]"),
        ({"type": "number"}, 2.5, "2.5"),
    ],
)
def test_a_whole_number_is_sent_without_a_point(schema: dict[str, Any], raw: Any, expected: str) -> None:
    assert json.dumps(sent(schema, raw)["x"]) == expected


def test_what_is_written_as_json_is_checked_against_its_whole_schema() -> None:
    point = {"type": "object", "properties": {"t": {"type": "string"}}, "required": ["t"]}
    defs = {"Point": point}
    field = one({"type": "array", "items": {"$ref": "#/$defs/Point"}}, defs=defs)
    values, errors = collect([field], {"x": forms.AsJson('[{"t": "a"}, {"v": 1}]')})
    assert values == {}
    assert "[1]" in errors["x"]
    assert collect([field], {"x": forms.AsJson('[{"t": "a"}]')}) == ({"x": [{"t": "a"}]}, {})


def test_one_of_a_thing_is_not_counted_in_the_plural() -> None:
    assert forms.constraints(one({"type": "string", "minLength": 1})) == "at least 1 character"
    assert forms.constraints(one({"type": "array", "items": {"type": "object"}, "minItems": 1})).endswith("1 entry")


def test_parse_raises_the_sentence() -> None:
    with pytest.raises(FieldError, match="not an integer"):
        forms.parse(one({"type": "integer"}), "x")
