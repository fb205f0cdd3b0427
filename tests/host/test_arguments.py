"""What a person typed as arguments, made into values by the tool's schema."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import json
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.arguments import Pair, Typed, body, coerce, convert
from jupyter_mcp.host.plain import plain
from jupyter_mcp.host.wants import describe
from tests.shared import shared_path

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def value(text: str, schema: Mapping[str, Any]) -> Any:
    return convert(text, schema, schema)


def problem_of(act: Callable[[], Any]) -> str | None:
    """The sentence of the `UsageError`, None when there is none; everything else is a bug."""
    try:
        act()
    except UsageError as error:
        return str(error)
    return None


def only(text: str, schema: Any, **more: Any) -> dict[str, Any]:
    return coerce({"type": "object", "properties": {"x": schema}, **more}, [Pair("x", Typed(text))])


# --- by the schema ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "schema", "expected"),
    [
        ("42", {"type": "string"}, "42"),
        ("true", {"type": "string"}, "true"),
        ('{"a": 1}', {"type": "string"}, '{"a": 1}'),
        (" x ", {"type": "string"}, " x "),
        ("42", {"type": "integer"}, 42),
        ("3.0", {"type": "integer"}, 3),
        ("-1e2", {"type": "integer"}, -100),
        ("2", {"type": "number"}, 2),
        ("2.5", {"type": "number"}, 2.5),
        ("true", {"type": "boolean"}, True),
        ("False", {"type": "boolean"}, False),
        ("null", {"type": "null"}, None),
        ("null", {"type": ["integer", "null"]}, None),
        ("None", {"type": ["integer", "null"]}, None),
        ("null", {"type": ["string", "null"]}, "null"),
        ("[1, 2]", {"type": "array"}, [1, 2]),
        ('{"a": [1]}', {"type": "object"}, {"a": [1]}),
        ("12", {"anyOf": [{"type": "integer"}, {"type": "string"}]}, 12),
        ("x12", {"anyOf": [{"type": "integer"}, {"type": "string"}]}, "x12"),
        ("true", {"type": ["boolean", "string"]}, True),
        ("[1]", {"oneOf": [{"type": "array"}, {"type": "string"}]}, [1]),
        ("[1", {"oneOf": [{"type": "array"}, {"type": "string"}]}, "[1"),
        ("1", {}, 1),
        ("abc", {}, "abc"),
        ("12", True, 12),
        ('{"a": 1}', {"properties": {"a": {}}}, {"a": 1}),
        ("[1]", {"items": {}}, [1]),
        ("5", {"$ref": "#/$defs/N", "$defs": {"N": {"type": "integer"}}}, 5),
        ("5", {"$ref": "#/$defs/T", "$defs": {"T": {"type": "string"}}}, "5"),
        ("5", {"$ref": "#/nowhere"}, 5),
        ("5", {"$ref": "https://elsewhere/x.json"}, 5),
        ("5", {"allOf": [{"type": "integer"}, {"minimum": 1}]}, 5),
        ("5", {"type": "wrong"}, 5),
        ("5", {"type": None}, 5),
    ],
)
def test_the_schema_decides(text: str, schema: Any, expected: Any):
    found = convert(text, schema, cast("dict[str, Any]", schema) if isinstance(schema, dict) else {})
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("text", "schema", "expected"),
    [
        ("metric", {"type": "string", "enum": ["metric", "imperial"]}, "metric"),
        ("2", {"enum": [1, 2]}, 2),
        ("2", {"enum": ["1", "2"]}, "2"),
        ("2.0", {"enum": [1, 2]}, 2),
        ("true", {"enum": [True, "x"]}, True),
        ("null", {"enum": ["a", None]}, None),
        ("a", {"anyOf": [{"const": "a", "title": "A"}, {"const": "b"}]}, "a"),
        ("null", {"anyOf": [{"enum": ["a"]}, {"type": "null"}]}, None),
        ("other", {"anyOf": [{"enum": ["a"]}, {"type": "string"}]}, "other"),
        ('{"a":1}', {"enum": [{"a": 1}]}, {"a": 1}),
    ],
)
def test_choices_are_taken_by_value(text: str, schema: Any, expected: Any):
    assert value(text, schema) == expected


@pytest.mark.parametrize(
    ("text", "schema", "says"),
    [
        ("3.5", {"type": "integer"}, "'3.5' is not an integer"),
        ("42xyz", {"type": "integer"}, "'42xyz' is not an integer"),
        ("", {"type": "integer"}, "'' is not an integer"),
        ("1e400", {"type": "integer"}, "not an integer"),
        ("NaN", {"type": "number"}, "NaN is not valid JSON"),
        ("yes", {"type": "boolean"}, "'yes' is not true or false"),
        ("true", {"type": "integer"}, "not an integer"),
        ("1", {"type": "boolean"}, "not true or false"),
        ('{"page": 1,}', {"type": "object"}, "column"),
        ("[1", {"type": "array"}, "column"),
        ("a,b", {"type": "array"}, "'a,b' is not a JSON array"),
        ("a.txt", {"type": ["array", "null"]}, 'null). Write x=["a.txt"].'),
        ("metirc", {"enum": ["metric", "imperial"]}, "did you mean 'metric'"),
        ("METRIC", {"enum": ["metric", "imperial"]}, "did you mean 'metric'"),
        ("c", {"enum": ["a", "b"]}, "one of 'a', 'b'"),
        ("1", {"enum": [True]}, "not one of"),
    ],
)
def test_a_wrong_value_says_which_why_and_what_is_wanted(text: str, schema: Any, says: str):
    with pytest.raises(UsageError) as caught:
        only(text, schema)
    assert str(caught.value).startswith("x: ")
    assert says in str(caught.value)
    assert "the schema wants" in str(caught.value)


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "integer", "minimum": 1, "maximum": 7}, "integer, 1 to 7"),
        ({"type": "integer", "minimum": 1}, "integer, at least 1"),
        ({"type": ["string", "null"]}, "string or null"),
        ({"type": "array", "items": {"type": "string"}}, "array, of string"),
        ({"type": "string", "format": "date"}, "string, format date"),
        ({}, "any value"),
        ({"enum": list(range(20))}, "one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 … 8 more"),
    ],
)
def test_what_a_schema_wants_is_said_in_words(schema: Any, words: str):
    assert describe(schema, schema) == words


def test_an_unknown_argument_is_named_with_the_nearest_one():
    with pytest.raises(UsageError, match="no argument 'citi'; did you mean 'city'"):
        coerce({"properties": {"city": {}}}, [Pair("citi", Typed("x"))])
    with pytest.raises(UsageError, match="there are city"):
        coerce({"properties": {"city": {}}}, [Pair("zzz", Typed("x"))])


OPEN: list[Any] = [
    {"type": "object"},
    {"properties": {"a": {}}, "additionalProperties": True},
    {"properties": {"a": {}}, "patternProperties": {"^x": {}}},
    {"properties": None},
    {"anyOf": [{"properties": {"x": {}}}], "properties": {"a": {}}},
]


@pytest.mark.parametrize("schema", OPEN)
def test_other_arguments_pass_where_the_schema_lets_them(schema: Any):
    assert coerce(schema, [Pair("x", Typed("1"))]) == {"x": 1}


def test_extra_arguments_follow_their_own_schema():
    schema = {"properties": {}, "additionalProperties": {"type": "string"}}
    assert coerce(schema, [Pair("x", Typed("1"))]) == {"x": "1"}


def test_branches_of_a_composed_schema_are_looked_into():
    schema = {"oneOf": [{"properties": {"x": {"type": "string"}}}, {"properties": {"y": {"type": "integer"}}}]}
    assert coerce(schema, [Pair("x", Typed("1")), Pair("y", Typed("1"))]) == {"x": "1", "y": 1}


def test_an_argument_given_twice_is_an_error():
    with pytest.raises(UsageError, match="x is given twice"):
        coerce({}, [Pair("x", Typed("1")), Pair("x", Typed("2"))])


def test_forced_json_is_json_whatever_the_schema_says():
    schema = {"properties": {"x": {"type": "string"}}}
    assert coerce(schema, [Pair("x", Typed("42"), forced=True)]) == {"x": 42}
    assert coerce(schema, [Pair("x", Typed("null"), forced=True)]) == {"x": None}
    with pytest.raises(UsageError, match=r"x:= takes JSON.*column 1"):
        coerce(schema, [Pair("x", Typed("abc"), forced=True)])


def test_a_notebook_object_goes_as_it_is():
    assert coerce({"properties": {"x": {"type": "string"}}}, [Pair("x", Typed("$n", 3))]) == {"x": 3}


def test_the_forms_case_holds_for_typed_values():
    rows = json.loads(shared_path("cases/47-schema-nullable-forms.json").read_text())["rows"]
    typed = [row for row in rows if row["user"].startswith(("types ", "enters "))]
    assert len(typed) >= 6
    for row in typed:
        (name, _schema) = next(iter(row["schema"].items()))
        text = row["user"].partition(" ")[2].removesuffix(" in the JSON box")
        root = {"properties": row["schema"]}
        if "error" in row:
            with pytest.raises(UsageError):
                coerce(root, [Pair(name, Typed(text))])
        else:
            assert coerce(root, [Pair(name, Typed(text))]) == row["arguments"]


def test_every_real_schema_can_be_typed_for():
    tools = json.loads(shared_path("servers/tool_schemas.json").read_text())
    for tool in tools:
        schema: dict[str, Any] = tool["inputSchema"]
        properties: dict[str, Any] = schema.get("properties") or {}
        for name, sub in properties.items():
            assert describe(sub, schema)
            for text in ("1", "x", "[]", "{}", "true", ""):
                problem = problem_of(lambda: coerce(schema, [Pair(name, Typed(text))]))  # noqa: B023
                assert problem is None or name in problem


@given(st.text(max_size=40), st.sampled_from([{}, {"type": "integer"}, {"type": "object"}, {"enum": ["a", 1]}]))
def test_any_text_is_a_value_or_an_error(text: str, schema: Any):
    assert problem_of(lambda: only(text, schema)) != ""


# --- bodies ----------------------------------------------------------------------------------------------------------

SCHEMA = {
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "tags": {"type": "array"},
        "filter": {"type": "object"},
        "my key": {},
    }
}


def read_body(text: str) -> dict[str, Any]:
    return body(text, SCHEMA, lambda word: Typed(word, 7) if word == "$n" else Typed(word))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("\n  \n", {}),
        ('{"city": "Paris"}', {"city": "Paris"}),
        ('\n\n  {"city": "Paris"}  \n', {"city": "Paris"}),
        ("{'city': 'Paris', 'ok': True, 'none': None}", {"city": "Paris", "ok": True, "none": None}),
        ("{'t': (1, 2)}", {"t": [1, 2]}),
        ("city: Paris\ndays: 2\n", {"city": "Paris", "days": 2}),
        ("city: New York, it's big # really", {"city": "New York, it's big # really"}),
        ("# a comment\n\ncity: Paris", {"city": "Paris"}),
        ('city: "42"', {"city": "42"}),
        ("city: 42", {"city": "42"}),
        ("city:\ndays: 1", {"city": "", "days": 1}),
        ('days := 3\ncity := "x"', {"days": 3, "city": "x"}),
        ("days: $n", {"days": 7}),
        ('filter: {\n  "a": [1,\n 2]\n}\ndays: 1', {"filter": {"a": [1, 2]}, "days": 1}),
        ('"my key": x', {"my key": "x"}),
        ("my key: x", {"my key": "x"}),
        ("city: http://x:80/y", {"city": "http://x:80/y"}),
    ],
)
def test_a_body_is_json_a_python_dict_or_lines(text: str, expected: Any):
    assert read_body(text) == expected


def test_key_order_and_number_types_are_kept():
    text = '{"t": "line1\\nline2", "list": [1, 2.0, null, true], "nested": {"k": "}"}}'
    found = read_body(text)
    assert json.dumps(found) == json.dumps(json.loads(text))
    assert isinstance(found["list"][1], float)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"a": 1\n "b": 2}', 'line 2 column 2:  "b": 2}'),
        ('{"a": }', "column 7"),
        ("[1, 2]", "the body is a list"),
        ("{1, 2}", "the body is a set"),
        ('{"a": 1} x', "goes on after the object, at line 1: x"),
        ('{"a": 1}\n\nb: 2', "at line 3"),
        ("{__import__('os').getcwd()}", "cannot read the body"),
        ("{'a': open('x')}", "cannot read the body"),
        ("hello", "line 1, column 1 of the body is not `key: value`: hello"),
        ("city: Paris\n  what", "line 2, column 3"),
        ('{"a": NaN}', "NaN"),
        ("{'a': 1e999}", "inf"),
        ("days: x", "days: 'x' is not an integer"),
        ("citi: x", "did you mean 'city'"),
        ("city: a\ncity: b", "city is given twice"),
        ('filter: {"a": 1', "filter"),
    ],
)
def test_a_wrong_body_says_where(text: str, says: str):
    with pytest.raises(UsageError) as caught:
        read_body(text)
    assert says in str(caught.value)


@given(st.text(max_size=80))
def test_any_body_is_read_or_refused(text: str):
    assert problem_of(lambda: read_body(text)) != ""


# --- objects ---------------------------------------------------------------------------------------------------------


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Point:
    x: int
    when: datetime.date


class Model:
    def model_dump(self, mode: str) -> dict[str, Any]:
        return {"mode": mode}


@pytest.mark.parametrize(
    ("given_value", "expected"),
    [
        (Colour.RED, "red"),
        (Point(1, datetime.date(2026, 1, 2)), {"x": 1, "when": "2026-01-02"}),
        (Model(), {"mode": "json"}),
        (Path("a"), "a"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (decimal.Decimal("2"), 2),
        (decimal.Decimal("2.5"), 2.5),
        ({"a": (1, {2})}, {"a": [1, [2]]}),
        ({1: "x"}, {"1": "x"}),
        (True, True),
    ],
)
def test_objects_become_json(given_value: Any, expected: Any):
    assert plain(given_value) == expected


def test_data_frames_and_arrays_become_lists():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    assert plain(frame) == [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]
    assert plain(frame["a"]) == [1, 2]
    assert plain({"n": frame["a"].to_numpy()[0]}) == {"n": 1}


@pytest.mark.parametrize(
    ("given_value", "says"),
    [
        ({"rows": [1, float("nan")]}, r"x.rows\[1\] is nan"),
        ({"f": object()}, "x.f is a object"),
        ({(1, 2): 1}, "keys are text"),
        (b"abc", "x is a bytes"),
        (int, "x is a type"),
    ],
)
def test_what_a_call_cannot_carry_is_named_with_its_place(given_value: Any, says: str):
    with pytest.raises(UsageError, match=says):
        plain(given_value, "x")


def test_an_object_that_contains_itself_is_an_error():
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(UsageError, match="too deeply"):
        plain(endless)
