"""Arguments against a tool's schema, and outputs against theirs."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.checking import check_arguments, check_output, check_prompt_arguments, usage

WEATHER = {
    "name": "weather",
    "inputSchema": {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer", "minimum": 1, "maximum": 7},
            "units": {"enum": ["metric", "imperial"]},
        },
        "required": ["city"],
    },
}


def refused(arguments: dict[str, Any], tool: dict[str, Any] = WEATHER) -> UsageError:
    with pytest.raises(UsageError) as error:
        check_arguments("demo", tool, arguments)
    return error.value


def test_good_arguments_pass():
    check_arguments("demo", WEATHER, {"city": "Paris", "days": 3, "units": "metric"})


def test_a_missing_argument_is_named_with_what_it_wants_and_the_usage():
    error = refused({"days": 2})
    assert "demo.weather needs city (string)" in str(error)
    assert error.usage is not None
    assert error.usage.startswith("demo.weather city=string [days=integer]")


def test_an_unknown_argument_gets_the_nearest_name_or_all_of_them():
    assert "no argument 'citty'. Did you mean city?" in str(refused({"citty": "x"}))
    assert "It takes city, days, units." in str(refused({"zzz": "x", "city": "x"}))


@pytest.mark.parametrize(
    ("value", "words"),
    [({"days": "3"}, "days"), ({"days": 9}, "7"), ({"units": "kelvin"}, "imperial"), ({"city": 5}, "city")],
)
def test_a_wrong_value_says_which_argument_and_what_is_wanted(value: dict[str, Any], words: str):
    text = str(refused({"city": "x", **value}))
    assert words in text
    assert next(iter(value)) in text
    assert "\n" not in text


def test_a_wrong_value_deep_inside_is_found_by_its_path():
    tool = {
        "name": "t",
        "inputSchema": {"type": "object", "properties": {"l": {"type": "array", "items": {"type": "integer"}}}},
    }
    assert "l[1]" in str(refused({"l": [1, "x"]}, tool))


def test_what_is_wanted_is_said_once():
    text = str(refused({"city": "x", "days": 9}))
    assert text.count("wants") == 1 and "argument days: 9 is more than 7 (wants an integer, 1 to 7)" in text
    shape = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["a", "b"]}
    tool = {"name": "t", "inputSchema": {"type": "object", "properties": {"l": {"type": "array", "items": shape}}}}
    assert str(refused({"l": [{}]}, tool)).endswith(
        "argument l[0].a is required but missing (wants a string). And 1 more."
    )


def test_the_usage_shows_how_lists_objects_and_choices_are_written():
    properties = {"l": {"type": "array"}, "o": {"type": "object"}, "c": {"enum": ["New York", "Rome"]}}
    schema = {"type": "object", "properties": {**properties, "d": {"enum": ["a", "b"]}}}
    assert usage("s.t", schema) == "s.t [l=[…]] [o={…}] [c='New York'] [d=a]"


def test_the_largest_exact_integer_is_no_limit_worth_telling():
    page = {"type": "integer", "minimum": 1, "maximum": 2**53 - 1}
    tool = {"name": "t", "inputSchema": {"type": "object", "properties": {"page": page}, "required": ["page"]}}
    assert "needs page (integer, at least 1)" in str(refused({}, tool))
    assert "(wants an integer, at least 1)" in str(refused({"page": 0}, tool))
    assert f"is more than {2**53 - 1}" in str(refused({"page": 2**53}, tool))


OPEN: list[Any] = [
    None,
    [],
    {"type": "object"},
    {"type": "object", "properties": None},
    {"type": "object", "properties": {}},
    {"type": "object", "properties": {"a": {}}, "additionalProperties": True},
    {"type": "object", "properties": {"a": {}}, "additionalProperties": {"type": "integer"}},
    {"type": "object", "properties": {"a": {}}, "patternProperties": {"^b": {}}},
    {"type": "object", "properties": {"a": {}}, "anyOf": [{"properties": {"b": {}}}]},
    {"$schema": "https://example.org/unheard-of", "type": "object"},
    {"type": "object", "properties": {"b": {"$ref": "https://example.org/x.json"}}},
]


@pytest.mark.parametrize("schema", OPEN)
def test_where_the_schema_leaves_it_open_the_server_decides(schema: Any):
    check_arguments("demo", {"name": "t", "inputSchema": schema}, {"b": 1})


def test_a_closed_schema_without_properties_takes_nothing():
    tool = {"name": "t", "inputSchema": {"type": "object", "additionalProperties": False}}
    assert "It takes no arguments." in str(refused({"b": 1}, tool))


OUT = {"name": "t", "outputSchema": {"type": "object", "properties": {"v": {"type": "string"}}, "required": ["v"]}}


def test_an_output_that_does_not_fit_is_a_note_naming_the_place():
    assert check_output(OUT, {"structuredContent": {"v": "x"}}) == (True, None)
    wrong = check_output(OUT, {"structuredContent": {"v": 5}})
    assert wrong.fits is False
    assert "v" in (wrong.note or "")
    missing = check_output(OUT, {"content": []})
    assert missing.fits is False
    assert "sent no structured content" in (missing.note or "")


def test_without_a_schema_that_can_be_read_nothing_is_said_to_fit():
    assert check_output({"name": "t"}, {"content": []}) == (None, None)
    elsewhere = {"name": "t", "outputSchema": {"$ref": "https://example.org/x.json"}}
    broken = check_output(elsewhere, {"structuredContent": {"v": 5}})
    assert broken.fits is None
    assert "unchecked" in (broken.note or "")


@pytest.mark.parametrize("more", [{}, {"structuredContent": {"error": {"code": 7}}}])
def test_an_error_is_never_checked_against_the_output_schema(more: dict[str, Any]):
    assert check_output(OUT, {"isError": True, "content": [], **more}) == (None, None)


PROMPT = {"name": "review", "arguments": [{"name": "language", "required": True}, {"name": "style"}]}


def test_prompt_arguments_are_texts_and_the_required_ones_are_there():
    assert check_prompt_arguments("demo", PROMPT, {"language": "python", "style": 3}) == {
        "language": "python",
        "style": "3",
    }
    with pytest.raises(UsageError, match=r"prompt demo\.review needs language") as error:
        check_prompt_arguments("demo", PROMPT, {})
    assert error.value.usage == "demo.review language=… [style=…]"
    with pytest.raises(UsageError, match=r"no argument 'langage'\. Did you mean language"):
        check_prompt_arguments("demo", PROMPT, {"langage": "x"})
    assert check_prompt_arguments("demo", {"name": "p", "arguments": None}, {}) == {}
