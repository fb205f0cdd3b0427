"""Form widgets: nothing looks chosen that is not, and nothing is sent that was not shown."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest

from jupyter_mcp.host import forms
from jupyter_mcp.notebook.cards.form import Form, missing_text
from jupyter_mcp.notebook.cards.live import free
from jupyter_mcp.notebook.cards.toolpanel import ToolPanel
from tests.notebook.page import FakeRunner, box, button, walk, words
from tests.shared import shared_path


def form(properties: dict[str, Any], *required: str) -> Form:
    return Form(forms.model({"properties": properties, "required": list(required)}), lambda: None)


def way(made: Form, label: str) -> Any:
    """How the value of a field is given: the choice beside its control."""
    fields = [w for w in walk(made.root) if "jmcp-field" in w._dom_classes and words(w).startswith(label)]
    [choice] = [w for w in walk(fields[-1]) if "jmcp-how" in getattr(w, "_dom_classes", ())]
    return choice


def test_a_fresh_form_sends_the_defaults_it_shows_and_nothing_else() -> None:
    made = form(
        {
            "text": {"type": "string"},
            "count": {"type": "integer", "default": 2},
            "flag": {"type": "boolean"},
            "on": {"type": "boolean", "default": True},
            "pick": {"enum": ["a", "b"]},
            "preset": {"enum": ["a", "b"], "default": "b"},
            "many": {"type": "array", "items": {"enum": ["x", "y"]}},
            "day": {"type": "string", "format": "date"},
            "maybe": {"type": ["string", "null"]},
            "box": {"type": "object"},
            "group": {"type": "object", "properties": {"a": {"type": "integer"}}},
        }
    )
    assert made.values == {"count": 2, "on": True, "preset": "b"}
    assert made.complete


def test_numbers_are_refused_whole_with_the_reason_beside_the_field() -> None:
    made = form({"n": {"type": "integer", "minimum": 1, "maximum": 3}}, "n")
    for text, says in [("2abc", "not an integer"), ("2.5", "not an integer"), ("4", "from 1 to 3")]:
        box(made.root, "n").value = text
        assert made.values == {}
        assert says in words(made.root)
        assert missing_text(made) == "Not valid yet: n"
    box(made.root, "n").value = "3"
    assert json.dumps(made.values) == '{"n": 3}'
    assert "not an" not in words(made.root)


def test_a_missing_field_complains_only_when_it_was_touched() -> None:
    made = form({"q": {"type": "string"}}, "q")
    assert "is required" not in words(made.root)
    assert missing_text(made) == "Still needed: q"
    box(made.root, "q").value = "x"
    box(made.root, "q").value = ""
    assert "q is required" in words(made.root)


def test_empty_text_can_be_chosen_where_text_is_required() -> None:
    made = form({"q": {"type": "string"}}, "q")
    way(made, "q").label = "empty text"
    assert made.values == {"q": ""}
    box(made.root, "q").value = "x"
    assert way(made, "q").label == "value"
    assert made.values == {"q": "x"}


def test_null_is_a_third_state() -> None:
    made = form({"category": {"type": ["string", "null"]}})
    box(made.root, "category").value = "null"
    assert made.values == {"category": "null"}
    way(made, "category").label = "null"
    assert made.values == {"category": None}
    way(made, "category").label = "value"
    assert made.values == {"category": "null"}, "what was typed is still there"
    box(made.root, "category").value = ""
    assert made.values == {}


def test_a_choice_begins_unchosen_and_sends_values_not_titles() -> None:
    made = form({"p": {"oneOf": [{"const": 1, "title": "Low"}, {"const": 3, "title": "High"}]}}, "p")
    chooser = box(made.root, "p")
    assert chooser.label.startswith("— choose")
    assert missing_text(made) == "Still needed: p"
    chooser.label = "High"
    assert made.values == {"p": 3}


def test_an_optional_choice_may_be_null_or_left_out() -> None:
    made = form({"p": {"anyOf": [{"enum": ["a"]}, {"type": "null"}]}})
    chooser = box(made.root, "p")
    chooser.label = "null"
    assert made.values == {"p": None}
    chooser.label = "— leave out —"
    assert made.values == {}


def test_yes_and_no_are_both_unpressed_without_a_default() -> None:
    made = form({"must": {"type": "boolean"}, "may": {"type": "boolean"}}, "must")
    assert box(made.root, "must").index is None
    assert missing_text(made) == "Still needed: must"
    box(made.root, "must").label = "no"
    assert made.values == {"must": False}
    box(made.root, "may").label = "yes"
    assert made.values == {"must": False, "may": True}
    box(made.root, "may").label = "leave out"
    assert made.values == {"must": False}


@pytest.mark.parametrize("number", [3, 12])
def test_several_choices_respect_their_limits(number: int) -> None:
    options = [f"o{at}" for at in range(number)]
    made = form({"m": {"type": "array", "items": {"enum": options}, "minItems": 1, "maxItems": 2}}, "m")

    def tick(*chosen: int) -> None:
        if number <= 8:
            for at in range(number):
                box(made.root, f"o{at}").value = at in chosen
        else:
            box(made.root, "m").value = chosen

    tick(2, 0)
    assert made.values == {"m": ["o0", "o2"]}
    tick(0, 1, 2)
    assert made.errors == {"/m": "Choose at most 2, not 3."}
    tick()
    assert missing_text(made) == "Still needed: m"


def test_a_required_list_can_be_sent_empty_on_purpose() -> None:
    made = form(
        {"m": {"type": "array", "items": {"enum": ["x"]}}, "l": {"type": "array", "items": {"type": "string"}}},
        "m",
        "l",
    )
    assert made.needed == ["m", "l"]
    way(made, "m").label = "empty list"
    way(made, "l").label = "empty list"
    assert made.values == {"m": [], "l": []}


def test_a_date_is_sent_as_text() -> None:
    made = form({"d": {"type": "string", "format": "date"}})
    box(made.root, "d").value = date(2026, 3, 1)
    assert made.values == {"d": "2026-03-01"}


def test_a_json_box_names_the_position_and_sends_no_stale_value() -> None:
    made = form({"p": {}})
    box(made.root, "p").value = '{"page": 1}'
    assert made.values == {"p": {"page": 1}}
    box(made.root, "p").value = '{"page": 1,}'
    assert made.values == {}
    assert "line 1, column 11" in words(made.root)


def test_an_object_is_there_or_left_out_as_the_person_says() -> None:
    parts = {"a": {"type": "integer"}, "b": {"type": "string"}}
    made = form({"g": {"type": "object", "properties": parts, "required": ["b"]}})
    assert made.complete
    button(made.root, "Set g").click()
    box(made.root, "a").value = "x"
    assert "not an integer" in words(made.root)
    box(made.root, "a").value = "1"
    assert missing_text(made) == "Still needed: g: b"
    box(made.root, "b").value = "y"
    assert made.values == {"g": {"a": 1, "b": "y"}}
    button(made.root, "Leave g out").click()
    assert made.values == {}
    assert made.complete


def test_suggestions_do_not_limit_an_open_choice() -> None:
    made = form({"c": {"anyOf": [{"enum": ["red", "blue"]}, {"type": "string"}]}})
    combo = box(made.root, "c")
    assert list(combo.options) == ["red", "blue"]
    combo.value = "green"
    assert made.values == {"c": "green"}


def test_a_secret_text_is_not_shown() -> None:
    made = form({"key": {"type": "string", "format": "password"}})
    assert type(box(made.root, "key")).__name__ == "Password"


def test_problems_of_the_last_answer_stand_beside_their_fields_until_touched() -> None:
    node = forms.model({"properties": {"seat": {"type": "string"}}, "required": ["seat"]})
    made = Form(node, lambda: None, {"seat": "that seat is taken"})
    assert "that seat is taken" in words(made.root)
    box(made.root, "seat").value = "12A"
    assert "taken" not in words(made.root)


def test_help_stands_above_the_control_and_required_is_said_in_words() -> None:
    made = form(
        {"n": {"type": "integer", "title": "Guests", "description": "How many <b>come</b>?", "maximum": 6}}, "n"
    )
    assert words(made.root) == "Guests n (required) How many &lt;b&gt;come&lt;/b&gt;? whole number, at most 6"
    kinds = [type(w).__name__ for w in walk(made.root)]
    assert kinds.index("HTML") < kinds.index("Text")


def test_values_from_the_json_side_fill_the_form() -> None:
    made = form({"n": {"type": "integer"}, "on": {"type": "boolean", "default": True}, "t": {"enum": ["a", "b"]}})
    made.set_values({"n": 5, "on": False, "t": "b"})
    assert box(made.root, "n").value == "5"
    assert made.values == {"n": 5, "on": False, "t": "b"}
    made.set_values({"n": "five"})
    assert "not an integer" in words(made.root)


def test_every_real_tool_makes_widgets() -> None:
    tools = json.loads(shared_path("servers/tool_schemas.json").read_text(encoding="utf-8"))
    for tool in tools[::6]:
        made = Form(forms.model(tool["inputSchema"]), lambda: None, full=True)
        assert (made.values, made.errors) == forms.collect(made.node, forms.draft(made.node))


def opening_cost(tool: Any) -> int:
    """How many widgets a tool's pane makes when it is opened."""
    before = set(_instances())
    panel = ToolPanel(str(tool["server"]), {"name": tool["tool"], "inputSchema": tool["inputSchema"]}, FakeRunner())
    made = len(set(_instances()) - before)
    panel.close()
    free(panel.root)
    return made


def test_opening_the_form_of_a_big_server_s_tool_makes_few_widgets() -> None:
    """Each widget costs kernel and page time; how much is for benchmarks to say, which have a clock."""
    tools = json.loads(shared_path("servers/tool_schemas.json").read_text(encoding="utf-8"))
    excel = [tool for tool in tools if str(tool["server"]).startswith("excel-mcp")]
    assert len(excel) == 62
    opening_cost(excel[0])  # what all forms share is made
    costs = {f"{tool['server']}.{tool['tool']}": opening_cost(tool) for tool in excel}
    dearest = max(costs, key=costs.__getitem__)
    assert costs[dearest] <= 200, (dearest, costs[dearest])
    assert sum(costs.values()) <= 100 * len(excel)


def test_what_a_form_folds_away_makes_no_widgets() -> None:
    def cost(fields: int) -> int:
        schema = {"properties": {f"f{n}": {"type": "string"} for n in range(fields)}}
        return opening_cost({"server": "s", "tool": "t", "inputSchema": schema})

    cost(400)  # what all forms share is made
    assert cost(400) <= cost(8), "as many fields are in sight"


def test_an_entry_that_is_a_group_has_no_line_for_how_it_is_given() -> None:
    """The choice stands beside the buttons of the entry, and works there."""
    item = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    node = forms.model({"properties": {"rows": {"type": "array", "items": item}}})
    made = Form(node, lambda: None, full=True)
    button(made.root, "Add to rows").click()
    [entry] = [w for w in walk(made.root) if "jmcp-entry" in w._dom_classes]
    field, tools = entry.children[1:3]
    assert "jmcp-title" not in [name for one in field.children for name in one._dom_classes]
    [how] = [w for w in walk(tools) if "jmcp-how" in w._dom_classes]
    how.label = "JSON"
    box(made.root, "Entry of rows as JSON").value = '{"a": "x"}'
    assert made.values == {"rows": [{"a": "x"}]}
    how.label = "value"
    assert box(made.root, "a").value == "x"
    name = how.model_id
    button(made.root, "✕").click()
    assert name not in _instances(), "it is freed with its entry"


def test_the_rows_of_nullable_forms_come_out_of_the_widgets() -> None:
    rows = json.loads(shared_path("cases/47-schema-nullable-forms.json").read_text(encoding="utf-8"))["rows"]
    typed = {
        "types books": "books",
        "types null": "null",
        'enters {"page": 1} in the JSON box': '{"page": 1}',
        'enters {"page": 1,}': '{"page": 1,}',
        "types 3": "3",
        "types 3.5": "3.5",
        "types 2": "2",
        "types 12": "12",
    }
    for row in rows:
        [name] = row["schema"]
        schema = {"properties": row["schema"], "required": row.get("required", [])}
        made = Form(forms.model(schema), lambda: None, full=True)
        if "JSON box" in row["user"] or row["user"].startswith("enters"):
            way(made, name).label = "JSON"
            box(made.root, f"{name} as JSON").value = typed[row["user"]]
        elif row["user"] in typed:
            box(made.root, name).value = typed[row["user"]]
        elif row["user"] == "adds two rows a, b":
            for at, text in enumerate("ab"):
                button(made.root, f"Add to {name}").click()
                box(made.root, f"Entry of {name}", at).value = text
        elif row["user"] == "ticks 'null'":
            way(made, name).label = "null"
        elif row["user"] == "explicitly chooses empty text":
            way(made, name).label = "empty text"
        if "error" in row:
            assert not made.complete, row
            assert made.values == {}, row
        else:
            assert made.complete, row
            assert json.dumps(made.values) in (json.dumps(row["arguments"]), json.dumps(row.get("or"))), row


def use_and_free() -> None:
    """Use a form so that parts of it are out of sight, then free it."""
    shape = {
        "anyOf": [
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
            {"type": "array", "items": {"type": "integer"}},
        ]
    }
    made = Form(forms.model({"properties": {"x": shape, "y": {"type": ["string", "null"]}}}), lambda: None, full=True)
    box(made.root, "x").index = 1
    box(made.root, "a").value = "text"
    box(made.root, "x").index = 2
    button(made.root, "Add to list of whole numbers").click()
    for how in ("JSON", "null", "value"):
        way(made, "y").label = how
    free(made.root)


def test_a_form_that_is_freed_leaves_nothing_behind_also_of_what_it_does_not_show() -> None:
    use_and_free()  # what all forms share is made
    before = set(_instances())
    use_and_free()
    assert set(_instances()) - before == set()


def _instances() -> list[str]:
    """The ids of all widgets that are open."""
    from ipywidgets.widgets import widget

    return list(widget._instances)  # pyright: ignore
