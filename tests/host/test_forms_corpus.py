"""Every valid value can be entered, and every value that comes out of a form is valid: by chance, over many schemas."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from jupyter_mcp.host import forms
from jupyter_mcp.protocol import schema as validator
from tests.host.form_schemas import SCHEMAS
from tests.host.form_values import drafts, json_written, valid_values
from tests.shared import shared_path

PLENTY, SOME = 40, 4


def entered(schema: dict[str, Any], value: Any) -> list[str]:
    """Enter a value; returns the places where it had to be written as JSON although there is a field."""
    form = forms.model(schema)
    draft = forms.draft(form, value)
    got, errors = forms.collect(form, draft)
    assert not errors, (value, errors)
    assert json.dumps(got, sort_keys=True) == json.dumps(value, sort_keys=True) or forms.equal(got, value)
    assert forms.needed(form, draft) == []
    return list(json_written(form, draft))


def produced(schema: dict[str, Any], rng: Random) -> bool:
    """Do something to a form; what it would send, if anything, has to be valid."""
    form = forms.model(schema)
    value, errors = forms.collect(form, drafts(form, rng))
    if errors:
        return False
    wrong = [issue for issue in validator.check(schema, value) if issue.about == "value"]
    assert not wrong, (value, wrong)
    return True


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_valid_value_can_be_entered_in_its_fields(name: str) -> None:
    schema, rng = SCHEMAS[name], Random(name)
    values = list(valid_values(schema, rng, PLENTY))
    assert len(values) >= PLENTY // 3, "the maker of values finds some"
    written = [place for value in values for place in entered(schema, value)]
    assert not written


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_value_that_a_form_produces_is_valid(name: str) -> None:
    schema, rng = SCHEMAS[name], Random(name)
    assert sum(produced(schema, rng) for _ in range(4 * PLENTY)) >= 5, "some of what people do is right"


def real_tools() -> list[dict[str, Any]]:
    return json.loads(shared_path("servers/tool_schemas.json").read_text(encoding="utf-8"))


def test_every_valid_value_of_every_real_tool_can_be_entered_in_its_fields() -> None:
    for tool in real_tools():
        schema, rng = tool["inputSchema"], Random(tool["tool"])
        values = list(valid_values(schema, rng, SOME))
        assert values, tool["tool"]
        for value in values:
            assert entered(schema, value) == [], (tool["server"], tool["tool"])


def test_every_value_that_a_real_tools_form_produces_is_valid() -> None:
    right = [sum(produced(tool["inputSchema"], Random(at)) for at in range(SOME)) for tool in real_tools()]
    assert sum(1 for count in right if count) > len(right) * 0.6


def test_what_falls_to_json_is_counted_and_listed() -> None:
    found = [
        (tool["server"], tool["tool"], *one) for tool in real_tools() for one in forms.fallbacks(tool["inputSchema"])
    ]
    print(f"{len(found)} fields of {len(real_tools())} tools are written as JSON:")
    for server, tool, place, reason in found:
        print(f"  {server}.{tool}{place}: {reason}")
    assert {reason for *_, reason in found} <= {"its schema allows any JSON value"}, (
        "nothing else in them is beyond forms"
    )
