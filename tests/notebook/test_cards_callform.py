"""A call put together in a form: from variables, with options, and written back as a line that does the same."""

from __future__ import annotations

import ast
import json
from html import unescape
from typing import Any

import pytest

from jupyter_mcp.host import arguments
from jupyter_mcp.notebook.cards.argumentform import ArgumentForm
from jupyter_mcp.notebook.cards.callform import CallForm, Ready
from jupyter_mcp.notebook.cards.calloptions import spelled
from jupyter_mcp.notebook.cards.runner import CallOptions
from jupyter_mcp.notebook.cards.spelling import magic_line, python_call
from jupyter_mcp.notebook.cards.variables import NotebookVariables
from jupyter_mcp.notebook.lineparse import Grammar, parse
from jupyter_mcp.notebook.namespace import Namespace
from tests.notebook.page import box, walk, words

SCHEMA = {
    "type": "object",
    "properties": {
        "rows": {"type": "array", "items": {"type": "integer"}},
        "name": {"type": "string"},
        "deep": {"type": "object", "properties": {"limit": {"type": "integer", "minimum": 1}}},
    },
    "required": ["rows"],
}
NAMES: dict[str, Any] = {"data": [1, 2, 3], "text": "three", "limit": 5, "_hidden": 1, "ast": ast, "print": print}


def way(root: Any, label: str) -> Any:
    fields = [w for w in walk(root) if "jmcp-field" in w._dom_classes and words(w).startswith(label)]
    return next(w for w in walk(fields[-1]) if "jmcp-how" in getattr(w, "_dom_classes", ()))


def form() -> ArgumentForm:
    return ArgumentForm(SCHEMA, lambda: None, variables=NotebookVariables(NAMES))


def test_a_field_takes_the_value_of_a_variable_by_its_name() -> None:
    made = form()
    way(made.root, "rows").label = "variable"
    field = box(made.root, "rows: variable")
    assert list(field.options) == ["data", "text", "limit"], "what is hidden, a module or a function is not offered"
    field.value = "data"
    assert made.read() == ({"rows": [1, 2, 3]}, "")
    field.value = "$data"
    assert made.read() == ({"rows": [1, 2, 3]}, ""), "as on a magic's line"
    assert made.taken == {"/rows": "data"}


@pytest.mark.parametrize(
    ("name", "says"),
    [("text", "“three” is not a list"), ("nothing", "no notebook variable 'nothing'"), ("", "choose a variable")],
)
def test_a_variable_is_checked_by_the_schema(name: str, says: str) -> None:
    made = form()
    way(made.root, "rows").label = "variable"
    box(made.root, "rows: variable").value = "limit"
    box(made.root, "rows: variable").value = name
    assert made.read()[0] is None
    assert says in unescape(words(made.root))


def test_at_the_moment_of_sending_a_variable_is_read_again() -> None:
    names: dict[str, Any] = {"data": [1]}
    made = ArgumentForm(SCHEMA, lambda: None, variables=NotebookVariables(names))
    way(made.root, "rows").label = "variable"
    box(made.root, "rows: variable").value = "data"
    names["data"] = [2]
    assert made.settle() == ({"rows": [2]}, "")
    names["data"] = "no list"
    assert made.settle()[0] is None


def test_a_fields_json_is_its_own_and_comes_back_as_fields() -> None:
    made = form()
    way(made.root, "rows").label = "JSON"
    text = box(made.root, "rows as JSON")
    text.value = "[1, 2"
    assert made.read()[0] is None
    assert "line 1" in words(made.root)
    way(made.root, "rows").label = "value"
    assert way(made.root, "rows").label == "JSON", "what was typed is not thrown away"
    assert text.value == "[1, 2"
    text.value += "]"
    way(made.root, "rows").label = "value"
    assert [box(made.root, "Entry of rows", at).value for at in (0, 1)] == ["1", "2"]


def spell(ready: Ready) -> tuple[str, str]:
    what = ("demo", "run", ready.arguments, ready.names, spelled(ready.options))
    return magic_line(*what), python_call(*what)


def sent_by(line: str) -> dict[str, Any]:
    """What a magic's line would send, with the variables of this notebook."""
    names = Namespace(NAMES)
    parsed = parse(line.removeprefix("%mcp call "), Grammar(pairs=True), read=names.read)
    pairs = [arguments.Pair(word.key, names.read(word.value), word.forced) for word in parsed.pairs]
    return arguments.coerce(SCHEMA, pairs)


def test_the_lines_to_keep_name_the_variables() -> None:
    sent = {"rows": [1, 2, 3], "name": "a b", "deep": {"limit": 5}}
    names = {"/rows": "data", "/deep/limit": "limit"}
    line = magic_line("demo", "run", sent, names)
    assert line.startswith("%mcp call demo.run rows=$data ")
    assert sent_by(line) == sent
    assert python_call("demo", "run", sent, names) == (
        "mcp.servers[\"demo\"].tools[\"run\"](rows=data, name='a b', deep={'limit': limit})"
    )


def test_options_are_read_when_they_are_set_and_a_reserved_key_is_refused() -> None:
    made = CallForm(SCHEMA, lambda: None, spell)
    made.arguments.form.set_values({"rows": [1]})
    assert made.read() == (Ready({"rows": [1]}), "")
    made.buttons[1].value = True
    meta = box(made.root, "_meta as JSON")
    meta.value = '{"example.org/trace": {"ids": [1, {"a": null}]}}'
    box(made.root, "Timeout").value = "2.5"
    ready, problem = made.read()
    assert problem == ""
    assert ready is not None
    assert ready.options == CallOptions({"example.org/trace": {"ids": [1, {"a": None}]}}, 2.5)
    kept = unescape(words(made.copy))
    assert '%mcp call demo.run {"rows": [1]} --meta {"example.org/trace": {"ids": [1, {"a": null}]}}' in kept
    assert "--timeout 2.5" in kept
    assert ".call({'rows': [1]}, meta=" in kept
    meta.value = '{"progressToken": 1}'
    assert made.read()[0] is None
    assert "progressToken" in made.read()[1]
    meta.value = '{"a": '
    assert "_meta: Invalid JSON at line 1" in made.read()[1]


def test_the_magic_to_keep_makes_the_same_call_with_its_options() -> None:
    from jupyter_mcp.notebook.verbs.acts import VERBS

    grammar = next(verb.grammar for verb in VERBS if verb.name == "call")
    options = {"meta": {"example.org/a": 'it\'s "so"; # [1]\n'}, "timeout": 0.00001, "background": True}
    line = magic_line("demo", "run", {"name": "a b"}, options=options)
    assert len(line.splitlines()) == 1
    found = parse(line.removeprefix("%mcp call "), grammar)
    assert found.body == {"name": "a b"}
    assert json.loads(found.last("meta") or "") == options["meta"]
    assert float(found.last("timeout") or "") == options["timeout"]
    assert found.flag("background")
    assert not found.silent


def test_a_form_without_a_field_has_nothing_to_switch() -> None:
    made = CallForm({"type": "object", "additionalProperties": False}, lambda: None, spell, options=False)
    assert made.buttons == ()
    assert made.read() == (Ready({}), "")
