"""Prompts and templates as schemas: what they name becomes fields of the one form, whatever a server writes."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_mcp.host import forms
from jupyter_mcp.host.untyped import prompt_schema, template_schema


def test_arguments_of_a_prompt_are_texts_with_their_words() -> None:
    schema = prompt_schema(
        {
            "arguments": [
                {"name": "city", "title": "City", "description": "where to", "required": True},
                {"name": "days", "required": "yes"},
            ]
        }
    )
    city, days = forms.model(schema).parts
    assert (city.name, city.label, city.description, city.required, city.kind) == (
        "city",
        "City",
        "where to",
        True,
        "text",
    )
    assert (days.label, days.required) == ("days", False), "only true means required"


@pytest.mark.parametrize(
    "arguments",
    [None, "city", {"name": "city"}, [], [None, 1, "city", {}, {"name": 5}], [[{"name": "city"}]]],
)
def test_what_is_no_argument_is_left_out(arguments: Any) -> None:
    assert forms.model(prompt_schema({"arguments": arguments})).parts == ()


def test_of_two_arguments_with_one_name_the_first_counts_in_its_place() -> None:
    listed = [{"name": "a", "description": "one"}, {"name": "b"}, {"name": "a", "description": "two", "required": True}]
    schema = prompt_schema({"arguments": listed})
    assert list(schema["properties"]) == ["a", "b"]
    assert schema["properties"]["a"]["description"] == "one"
    assert schema["required"] == []
    assert prompt_schema({"arguments": listed[::-1]})["required"] == ["a"]


def test_words_that_are_no_text_are_left_out() -> None:
    assert prompt_schema({"arguments": [{"name": "a", "title": 5, "description": ["x"]}]})["properties"] == {
        "a": {"type": "string"}
    }


@pytest.mark.parametrize(
    ("template", "names", "required"),
    [
        ("notes://{day}", ["day"], ["day"]),
        ("notes://{day}{?page,size}{&more}", ["day", "page", "size", "more"], ["day"]),
        ("x://{a}{?a}", ["a"], ["a"]),
        ("x://{?a}{a}", ["a"], ["a"]),
        ("x://{+path}{#part}{.kind}{/deep:3}{;key}", ["path", "part", "kind", "deep", "key"], None),
        ("notes://{", [], []),
        ("{}", [], []),
        ("", [], []),
    ],
)
def test_variables_of_a_template_are_needed_but_for_those_of_its_query(
    template: str, names: list[str], required: list[str] | None
) -> None:
    schema = template_schema(template)
    assert list(schema["properties"]) == names
    assert schema["required"] == (names if required is None else required)


def test_a_variable_of_several_values_takes_a_list_and_in_a_query_names_too() -> None:
    from jupyter_mcp.protocol import uritemplate

    whole = forms.model(template_schema("x://{/path*}{?filter*}"))
    for value, uri in (
        ({"path": ["a", "b"]}, "x:///a/b"),
        ({"path": "a"}, "x:///a"),
        ({"path": ["a"], "filter": {"kind": "x", "size": "2"}}, "x:///a?kind=x&size=2"),
    ):
        collected, errors = forms.collect(whole, forms.draft(whole, value))
        assert errors == {}
        assert collected == value
        assert uritemplate.expand("x://{/path*}{?filter*}", value) == uri
