"""What users of other hosts complain about in forms cannot happen here: each test says the complaint."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jupyter_mcp.host import forms
from jupyter_mcp.notebook.cards.argumentform import ArgumentForm
from jupyter_mcp.notebook.cards.callform import CallForm
from jupyter_mcp.notebook.cards.form import Form, missing_text
from tests.notebook.page import box, button, walk, words


def tool(properties: dict[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), **more}


def form(properties: dict[str, Any], *required: str, **more: Any) -> Form:
    return Form(forms.model(tool(properties, *required, **more)), lambda: None, full=True)


def way(root: Any, label: str) -> Any:
    """How a field's value is given: the choice beside it."""
    fields = [w for w in walk(root) if "jmcp-field" in w._dom_classes and words(w).startswith(label)]
    return next(w for w in walk(fields[-1]) if "jmcp-how" in getattr(w, "_dom_classes", ()))


def test_1_the_json_editor_re_escapes_text_while_one_types() -> None:
    made = ArgumentForm(tool({"code": {"type": "string"}}), lambda: None)
    made.switch.value = True
    text = box(made.root, "Arguments as JSON")
    whole = '{"code": "print(\\"a\\\\nb\\")\\t"}'
    for end in range(1, len(whole) + 1):
        text.value = whole[:end]
        assert text.value == whole[:end], "it stays as it was typed, after each key"
    assert made.read() == ({"code": 'print("a\\nb")\t'}, "")


@pytest.mark.parametrize(
    "kind",
    [
        {"type": "string"},
        {"type": "integer"},
        {"type": "array", "items": {"type": "string"}},
        tool({"a": {"type": "string"}}, "a"),
    ],
)
def test_2_optional_x_falls_to_raw_json_or_a_disabled_field(kind: dict[str, Any]) -> None:
    schema = {"anyOf": [kind, {"type": "null"}], "default": None}
    node = forms.model(tool({"x": schema})).parts[0]
    assert (node.kind, node.nullable) == (forms.model(tool({"x": kind})).parts[0].kind, True)
    made = form({"x": schema})
    assert made.values == {}
    way(made.root, "x").label = "null"
    assert made.values == {"x": None}
    way(made.root, "x").label = "value"
    assert not any(getattr(w, "disabled", False) for w in walk(made.root))


DEFS = {
    "Person": tool(
        {"name": {"type": "string"}, "friends": {"type": "array", "items": {"$ref": "#/$defs/Person"}}}, "name"
    ),
    "Cat": tool({"kind": {"const": "cat"}, "lives": {"type": "integer"}}, "kind", "lives"),
    "Dog": tool({"kind": {"const": "dog"}, "tricks": {"type": "array", "items": {"type": "string"}}}, "kind"),
}


def test_3_nested_objects_lists_references_and_alternatives_are_not_rendered() -> None:
    schema = tool(
        {
            "owner": {"allOf": [{"$ref": "#/$defs/Person"}, tool({"age": {"type": "integer"}}, "age")]},
            "pet": {"oneOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}]},
        },
        "owner",
        "pet",
        **{"$defs": DEFS},
    )
    assert forms.fallbacks(schema) == []
    made = Form(forms.model(schema), lambda: None, full=True)
    box(made.root, "name").value = "Ada"
    box(made.root, "age").value = "36"
    button(made.root, "Add to friends").click()
    box(made.root, "name", 1).value = "Bob"
    box(made.root, "pet").label = "cat"
    box(made.root, "lives").value = "9"
    assert made.errors == {}
    assert made.values == {
        "owner": {"name": "Ada", "age": 36, "friends": [{"name": "Bob"}]},
        "pet": {"kind": "cat", "lives": 9},
    }


def test_4_invalid_json_is_silently_dropped_from_the_call() -> None:
    made = ArgumentForm(tool({"x": {"type": "object"}}), lambda: None)
    way(made.root, "x").label = "JSON"
    box(made.root, "x as JSON").value = '{"a": 1'
    values, problem = made.read()
    assert values is None
    assert "x" in problem
    assert "line 1, column 8" in words(made.root)


def test_4_an_object_is_sent_as_a_string() -> None:
    made = form({"x": {"type": "object", "additionalProperties": {"type": "integer"}}})
    way(made.root, "x").label = "JSON"
    box(made.root, "x as JSON").value = '{"a": 1}'
    assert made.values == {"x": {"a": 1}}
    box(made.root, "x as JSON").value = '"{\\"a\\": 1}"'
    assert made.values == {}
    assert "is not an object" in words(made.root)


def test_6_a_complex_meta_cannot_be_set() -> None:
    made = CallForm(tool({}), lambda: None, lambda _: ("", ""))
    made.buttons[1].value = True
    meta = {"example.org/trace": {"ids": [1, {"deep": [None, True]}]}}
    box(made.root, "_meta as JSON").value = json.dumps(meta)
    ready, problem = made.read()
    assert problem == ""
    assert ready is not None
    assert ready.options is not None
    assert ready.options.meta == meta


def test_10_a_highlighted_value_of_an_enum_is_not_really_selected() -> None:
    made = Form(forms.model(tool({"seat": {"enum": ["aisle", "window"]}}, "seat")), lambda: None)
    assert box(made.root, "seat").label == "— choose —", "nothing looks chosen"
    assert missing_text(made) == "Still needed: seat"
    box(made.root, "seat").label = "window"
    assert made.values == {"seat": "window"}, "what looks chosen is sent"


def test_10_options_are_hidden_until_something_is_expanded() -> None:
    several = {"type": "array", "items": {"enum": ["a", "b", "c"]}}
    made = Form(forms.model(tool({"pick": several}, "pick")), lambda: None)
    assert [w.description for w in walk(made.root) if type(w).__name__ == "Checkbox"] == ["a", "b", "c"]


def test_10_a_question_without_fields_forces_a_text() -> None:
    assert forms.model({"type": "object", "properties": {}}).parts == ()
    made = Form(forms.model({"type": "object", "properties": {}}), lambda: None)
    assert (made.complete, made.values) == (True, {})


def test_10_a_scalar_default_breaks_a_choice_of_several() -> None:
    several = {"type": "array", "items": {"enum": ["a", "b"]}, "default": "a"}
    made = Form(forms.model(tool({"pick": several})), lambda: None)
    assert made.values == {}
    box(made.root, "b").value = True
    assert made.values == {"pick": ["b"]}
