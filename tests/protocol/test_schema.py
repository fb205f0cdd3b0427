"""Checks against foreign schemas: right, in words, and never a crash or a fetch."""

from __future__ import annotations

import copy
import json
import socket
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jupyter_mcp.protocol import formats, schema
from jupyter_mcp.protocol.schema import check, normalise
from jupyter_mcp.protocol.schema_words import describe
from tests.shared import shared_path

WEATHER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer", "minimum": 1, "maximum": 14},
        "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2, "uniqueItems": True},
        "when": {"type": "string", "format": "date"},
        "code": {"type": "string", "pattern": "^[A-Z]{2}$", "minLength": 2},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "api_key": {"type": "string", "minLength": 40},
    },
    "required": ["city"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("instance", "said"),
    [
        ({"city": "x", "days": "three"}, "days: 'three' is not an integer (wants an integer, 1 to 14)"),
        ({"city": "x", "days": 20}, "days: 20 is more than 14 (wants an integer, 1 to 14)"),
        ({"city": "x", "days": True}, "days: true is not an integer (wants an integer, 1 to 14)"),
        ({"days": 2}, "city: is required but missing (wants a string)"),
        ({"city": "x", "unit": "kelvin"}, "unit: 'kelvin' is not one of 'celsius' or 'fahrenheit'"),
        ({"city": "x", "tags": ["a", 3]}, "tags[1]: 3 is not a string (wants a string)"),
        (
            {"city": "x", "tags": ["a", "b", "c"]},
            'tags: ["a", "b", "c"] has 3 items, more than 2 (wants a list of strings, at most 2 items)',
        ),
        ({"city": "x", "tags": ["a", "a"]}, 'tags: ["a", "a"] has repeated items'),
        ({"city": "x", "note": 5}, "note: 5 fits none of the alternatives (wants a string or null)"),
        ({"city": "x", "code": "abc"}, "code: 'abc' does not match the pattern ^[A-Z]{2}$"),
        ([], "[] is not an object (wants an object with city, days, unit, tags, when, code, note, api_key)"),
    ],
)
def test_what_is_wrong_is_said_in_words_with_what_is_wanted(instance: Any, said: str) -> None:
    assert [str(issue) for issue in check(WEATHER, instance)] == [said]


def test_an_unknown_field_names_the_nearest() -> None:
    (issue,) = check(WEATHER, {"city": "x", "citty": "y"})
    assert issue.path == "citty" and "did you mean 'city'?" in issue.message


def test_a_value_whose_name_looks_secret_is_not_quoted() -> None:
    (issue,) = check(WEATHER, {"city": "x", "api_key": "hunter2"})
    assert "hunter2" not in str(issue) and issue.path == "api_key"


def test_several_things_are_told_and_not_too_many() -> None:
    assert len(check(WEATHER, {"days": 0, "unit": 5, "note": 1})) > 3
    assert len(check({"items": {"type": "string"}}, list(range(10_000)))) == schema.MAX_ISSUES


@pytest.mark.parametrize(
    "instance",
    [{"city": "x"}, {"city": "x", "days": 3.0, "note": None}, {"city": "é", "tags": ("a", "b"), "code": "ES"}],
)
def test_good_values_pass(instance: Any) -> None:
    assert check(WEATHER, instance) == []


def test_inside_the_alternative_that_was_meant_the_failure_is_told_there() -> None:
    shapes = [
        {"type": "object", "properties": {"kind": {"const": k}, "size": {"type": "integer"}}, "required": ["kind"]}
        for k in ("circle", "square")
    ]
    (issue,) = check({"oneOf": shapes}, {"kind": "square", "size": "big"})
    assert (issue.path, issue.keyword) == ("size", "type")
    (issue,) = check({"anyOf": [{"type": "integer"}, {"type": "object", "required": ["a"]}]}, {})
    assert issue.path == "a"


def test_more_than_one_fitting_alternative_is_said_so() -> None:
    (issue,) = check({"oneOf": [{"type": "integer"}, {"minimum": 0}]}, 5)
    assert "more than one" in issue.message


# --- formats ---------------------------------------------------------------------------------------------------------


def test_formats_are_checked_when_asked_for() -> None:
    assert check(WEATHER, {"city": "x", "when": "tomorrow"}) == []
    (issue,) = check(WEATHER, {"city": "x", "when": "tomorrow"}, check_formats=True)
    assert str(issue) == "when: 'tomorrow' is not a date, YYYY-MM-DD"
    assert check(WEATHER, {"city": "x", "when": "2026-02-28"}, check_formats=True) == []


@pytest.mark.parametrize(
    ("name", "text", "ok"),
    [
        ("email", "ann@example.org", True),
        ("email", "ann@localhost", True),
        ("email", "ann", False),
        ("email", "a b@c.d", False),
        ("email", "ann@@x.y", False),
        ("uri", "https://x.y/z?q=1#f", True),
        ("uri", "urn:isbn:1", True),
        ("uri", "example.com", False),
        ("uri", "https://a b", False),
        ("date", "2024-02-29", True),
        ("date", "2023-02-29", False),
        ("date", "20240229", False),
        ("date", "2024-2-9", False),
        ("date-time", "2024-02-29T23:59:59Z", True),
        ("date-time", "2024-02-29t23:59:59.123456789+05:30", True),
        ("date-time", "2016-12-31T23:59:60Z", True),
        ("date-time", "2024-02-29T23:59:59", False),
        ("date-time", "2024-02-29T25:00:00Z", False),
        ("date-time", "2024-02-30T00:00:00Z", False),
        ("time", "23:59:59Z", True),
        ("time", "24:00:00Z", False),
        ("uuid", "123e4567-e89b-12d3-a456-426614174000", True),
        ("uuid", "123e4567", False),
        ("ipv4", "1.2.3.4", True),
        ("ipv4", "1.2.3", False),
        ("ipv6", "::1", True),
        ("ipv6", "1.2.3.4", False),
        ("vendor-format", "anything", True),
    ],
)
def test_formats(name: str, text: str, ok: bool) -> None:
    assert formats.valid(name, text) is ok


# --- garbage ---------------------------------------------------------------------------------------------------------

GARBAGE: list[Any] = [
    True,
    None,
    [],
    "x",
    5,
    {"properties": None},
    {"properties": []},
    {"properties": {"a": None, "b": "x", "c": True}},
    {"required": "name"},
    {"required": True},
    {"required": [5, None]},
    {"type": []},
    {"type": ["string", "thing"]},
    {"type": "thing"},
    {"type": 5},
    {"pattern": "("},
    {"pattern": r"\p{L}"},
    {"pattern": 5},
    {"pattern": "(?<name>a)"},
    {"patternProperties": {"(": {}}},
    {"items": None},
    {"items": "x"},
    {"items": [None, {"type": "string"}]},
    {"enum": None},
    {"enum": {}},
    {"enum": []},
    {"allOf": None},
    {"anyOf": []},
    {"oneOf": [None]},
    {"not": None},
    {"minimum": "1", "maximum": None, "multipleOf": 0, "minLength": -1, "maxItems": "x"},
    {"exclusiveMinimum": True},
    {"dependentRequired": {"a": None}, "dependencies": {"a": 5}, "dependentSchemas": []},
    {"additionalProperties": None},
    {"$id": 5, "$anchor": [], "$schema": 7, "$ref": None},
    {"$defs": [], "definitions": None},
    {"const": float("nan")},
    {"if": None, "then": 5},
    {"format": ["x"], "contentEncoding": 5, "default": {}},
    {5: 6},
    {"nullable": True, "type": "string", "enum": ["a"]},
]
INSTANCES: list[Any] = [None, True, 5, 1.5, "text", [], ["a", 1], {}, {"a": 1, "b": [{}]}]


@pytest.mark.parametrize("garbage", GARBAGE, ids=repr)
def test_a_garbage_schema_neither_crashes_nor_refuses_everything(garbage: Any) -> None:
    found = [check(garbage, instance) for instance in INSTANCES]
    assert [] in found or "nullable" in garbage or "const" in garbage
    normalised = normalise(garbage)
    assert normalised["type"] == "object"
    assert all(isinstance(issue, schema.Issue) for issue in check(normalised, {}))


json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                (
                    *("type", "properties", "items", "required", "$ref", "anyOf", "enum", "pattern", "a", "$defs"),
                    *("additionalProperties", "minimum", "$schema", "$id", "not", "format", "prefixItems", "const"),
                )
            ),
            inner | st.sampled_from(["string", "object", "#", "#/$defs/a", "array"]),
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(json_like, json_like)
def test_no_schema_whatsoever_makes_it_raise(anything: Any, instance: Any) -> None:
    for issue in check(anything, instance) + check(normalise(anything), instance, check_formats=True):
        assert str(issue)


@given(json_like)
def test_normalising_twice_changes_nothing_more(anything: Any) -> None:
    before = copy.deepcopy(anything)
    once = normalise(anything)
    assert normalise(once) is once
    assert anything == before


# --- references, bounds, dialects ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ref", ["http://127.0.0.1:9/x.json", "https://example.com/s", "file:///etc/passwd", "#/nope", "#gone", "other.json"]
)
def test_nothing_is_fetched_and_an_unknown_reference_is_an_issue_about_the_schema(
    ref: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("the network was touched")

    monkeypatch.setattr(socket, "socket", refuse)
    issues = check({"type": "object", "properties": {"a": {"$ref": ref}, "b": {"type": "integer"}}}, {"a": 1, "b": 2})
    assert [issue.about for issue in issues] == ["schema"]
    assert "nothing is fetched" in issues[0].message


def test_local_references_work() -> None:
    tree: dict[str, Any] = {
        "$defs": {
            "node": {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/node"}}}}
        },
        "$ref": "#/$defs/node",
    }
    good: dict[str, Any] = {"kids": [{"kids": []}]}
    assert check(tree, good) == []
    (issue,) = check(tree, {"kids": [{"kids": [{"kids": 5}]}]})
    assert issue.path == "kids[0].kids[0].kids"


@pytest.mark.parametrize(
    "cyclic",
    [
        {"$ref": "#"},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
        {"allOf": [{"$ref": "#"}]},
        {"$dynamicRef": "#x", "$dynamicAnchor": "x"},
    ],
)
def test_a_schema_that_refers_to_itself_for_ever_is_an_issue(cyclic: Any) -> None:
    assert [issue.about for issue in check(cyclic, 5)] == ["schema"]


def test_a_schema_that_doubles_its_work_at_every_step_is_stopped() -> None:
    bomb: dict[str, Any] = {"$defs": {"a40": {"type": "string"}}, "$ref": "#/$defs/a0"}
    for i in range(40):
        bomb["$defs"][f"a{i}"] = {"allOf": [{"$ref": f"#/$defs/a{i + 1}"}] * 2}
    assert [issue.about for issue in check(bomb, "x")] == ["schema"]


def test_a_value_nested_too_deeply_is_an_issue() -> None:
    nested: Any = None
    for _ in range(2000):
        nested = {"kids": [nested]}
    recursive = {"properties": {"kids": {"items": {"$ref": "#"}}}}
    assert [issue.about for issue in check(recursive, nested)] == ["schema"]


RUNAWAY = "^(a|a)*$"


def test_a_pattern_that_takes_too_long_leaves_the_text_unchecked() -> None:
    assert check({"pattern": RUNAWAY}, "a" * 40 + "!") == []
    assert check({"pattern": "x" * 2000}, "y") == []


def test_many_texts_against_a_pattern_that_may_run_away_end_the_check_and_it_says_so() -> None:
    issues = check({"items": {"pattern": "^(x|y+z?)+$"}}, ["xyz"] * 5000)
    assert [issue.about for issue in issues] == ["schema"]


def test_a_runaway_pattern_for_names_leaves_members_alone() -> None:
    schema = {"patternProperties": {RUNAWAY: {"type": "integer"}}, "additionalProperties": False}
    assert check(schema, {"a" * 40 + "!": "text"}) == []
    unevaluated = {"patternProperties": {RUNAWAY: {"type": "integer"}}, "unevaluatedProperties": False}
    assert [issue.about for issue in check(unevaluated, {"a" * 40 + "!": "text"})] == ["schema"]


def test_a_pattern_means_what_it_means_to_the_author_of_the_schema() -> None:
    assert check({"pattern": "^[A-Z]{2}$"}, "PT\n"), "$ is the end of the text"
    assert check({"pattern": r"^\d+$"}, "٣"), "digits are 0 to 9"
    assert not check({"pattern": r"^\p{L}+$"}, "été")
    assert not check({"pattern": r"^\u{1F600}$"}, "😀")
    assert not check({"pattern": "^(?<year>[0-9]{4})-[$]$"}, "2026-$")


def test_members_beside_those_of_a_pattern_are_named() -> None:
    schema: dict[str, Any] = {
        "properties": {"a": {}},
        "patternProperties": {"^x-": {"type": "integer"}},
        "additionalProperties": False,
    }
    assert [issue.path for issue in check(schema, {"a": 1, "x-1": 2, "b": 3})] == ["b"]
    assert [issue.path for issue in check(schema, {"x-1": "two"})] == ["x-1"]
    open_schema: dict[str, Any] = {"patternProperties": {"^x-": {}}, "additionalProperties": {"type": "integer"}}
    assert [issue.path for issue in check(open_schema, {"x-1": "two", "n": "three"})] == ["n"]


def test_a_part_in_another_dialect_stays_within_the_bounds() -> None:
    inner = {"$schema": "http://json-schema.org/draft-07/schema#", "pattern": RUNAWAY}
    assert check({"properties": {"a": inner}}, {"a": "a" * 40 + "!"}) == []


def test_a_value_of_too_many_places_is_unchecked_and_not_wrong() -> None:
    schema = {"items": {"items": {"type": "integer"}}}
    assert [issue.about for issue in check(schema, [[1] * 1000] * 1000)] == ["schema"]


def test_a_huge_list_that_wants_unique_items_is_not_compared_pair_by_pair() -> None:
    assert check({"type": "array", "uniqueItems": True}, [[i] for i in range(50_000)]) == []


def test_the_dialect_is_taken_from_the_schema() -> None:
    draft7 = {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "integer"}]}
    assert [issue.path for issue in check(draft7, ["x"])] == ["[0]"]
    newest: dict[str, Any] = {"prefixItems": [{"type": "integer"}]}
    assert [issue.path for issue in check(newest, ["x"])] == ["[0]"]
    assert check({**newest, "$schema": "http://json-schema.org/draft-07/schema"}, ["x"]) == []
    assert len(check({**newest, "$schema": "https://json-schema.org/draft/2020-12/schema"}, ["x"])) == 1


def test_an_unknown_dialect_is_an_issue_about_the_schema() -> None:
    issues = check({"$schema": "https://example.com/my-dialect", "type": "integer"}, "x")
    assert [(issue.about, issue.keyword) for issue in issues] == [("schema", "$schema")]


def test_null_is_allowed_where_openapi_says_nullable() -> None:
    nullable = {"type": "string", "nullable": True, "enum": ["a"]}
    assert check(nullable, None) == [] and check(nullable, "a") == [] and len(check(nullable, "b")) == 1


def test_one_validator_serves_many_checks() -> None:
    a: dict[str, Any] = {"type": "integer"}
    before = len(schema._cache)  # pyright: ignore[reportPrivateUsage]
    for _ in range(5):
        assert check(a, "x")
    assert len(schema._cache) <= before + 1  # pyright: ignore[reportPrivateUsage]
    for _ in range(2000):
        check({"type": "integer"}, 1)
    assert len(schema._cache) <= 512  # pyright: ignore[reportPrivateUsage]


# --- words -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"type": "integer", "minimum": 1, "maximum": 14}, "an integer, 1 to 14"),
        ({"type": "number", "exclusiveMinimum": 0}, "a number, more than 0"),
        ({"type": "string", "maxLength": 1}, "a string, at most 1 character"),
        ({"type": "string", "minLength": 2, "maxLength": 5}, "a string, 2 to 5 characters"),
        ({"type": "string", "minLength": 0}, "a string"),
        ({"type": "string", "format": "email"}, "an e-mail address"),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 1}, "a list of integers, at least 1 item"),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, "a list, each one of 'a' or 'b'"),
        ({"enum": [1, "x", None]}, "one of 1, 'x' or null"),
        ({"oneOf": [{"const": "a", "title": "A"}, {"const": "b"}]}, "one of 'a' or 'b'"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "an integer or null"),
        ({"type": ["boolean", "null"]}, "true or false or null"),
        ({"type": "object", "properties": {"a": {}, "b": {}}}, "an object with a, b"),
        ({"const": 5}, "5"),
        ({}, "any value"),
        (True, "any value"),
        (False, "nothing"),
        (None, "any value"),
        ({"type": []}, "any value"),
        ({"enum": list(range(100))}, "one of 0, 1, 2, 3, 4, 5, 6, 7 … (100 choices)"),
    ],
)
def test_a_schema_in_words(wanted: Any, words: str) -> None:
    assert describe(wanted) == words


@given(json_like)
@example({"anyOf": []})
@example({"enum": []})
@example({"oneOf": [], "type": []})
def test_any_schema_can_be_put_in_words(anything: Any) -> None:
    assert describe(anything)


# --- the schemas of real servers -------------------------------------------------------------------------------------


def test_the_schemas_of_real_servers_are_all_usable() -> None:
    tools = json.loads(shared_path("servers/tool_schemas.json").read_text("utf-8"))
    assert len(tools) > 200
    unusable: list[str] = []
    for tool in tools:
        wanted = normalise(tool["inputSchema"])
        issues = check(wanted, dict.fromkeys(wanted.get("properties", {}))) + check(wanted, {})
        unusable += [f"{tool['tool']}: {issue}" for issue in issues if issue.about == "schema"]
        missing = {issue.path for issue in check(wanted, {}) if issue.keyword == "required"}
        assert missing == set(wanted.get("required", [])), tool["tool"]
    assert unusable == []
