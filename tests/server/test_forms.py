"""Forms: from models, types and schemas to what elicitation may ask, and back."""

from __future__ import annotations

import dataclasses
import datetime
import enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from jupyter_mcp.errors import UsageError
from jupyter_mcp.protocol.revisions import features
from jupyter_mcp.server.forms import Form, InvalidAnswer
from jupyter_mcp.server.questions import Elicit

NEW, OLD = features("2025-11-25"), features("2025-06-18")


class Seat(enum.Enum):
    WINDOW = "window"
    AISLE = "aisle"


class Booking(BaseModel):
    name: str = Field(min_length=2, title="Your name", pattern="^[A-Z]")
    age: int = Field(gt=17, lt=100)
    seat: Seat = Seat.AISLE
    day: datetime.date
    arrival: datetime.datetime | None = None
    meals: list[Literal["fish", "salad"]] = Field(default=["fish"], max_length=2)
    weight: float | None = Field(None, ge=0, description="In kg.")
    quiet: bool = True


@dataclasses.dataclass
class Small:
    n: int
    word: Literal["a"] = "a"


def test_a_model_becomes_a_flat_form_without_references_or_null():
    assert Form(Booking).schema == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "title": "Your name", "minLength": 2},
            "age": {"type": "integer", "minimum": 18, "maximum": 99},
            "seat": {"type": "string", "enum": ["window", "aisle"], "default": "aisle"},
            "day": {"type": "string", "format": "date"},
            "arrival": {"type": "string", "format": "date-time"},
            "meals": {"type": "array", "maxItems": 2, "items": {"type": "string", "enum": ["fish", "salad"]}}
            | {"default": ["fish"]},
            "weight": {"type": "number", "description": "In kg.", "minimum": 0},
            "quiet": {"type": "boolean", "default": True},
        },
        "required": ["name", "age", "day"],
    }


def test_the_answer_is_an_instance_of_the_model():
    given = {"name": "Ada", "age": 36.0, "day": "2026-01-02", "arrival": None, "weight": 1.5, "extra": "x"}
    answer = Form(Booking).read(given)
    assert isinstance(answer, Booking)
    assert (answer.age, answer.day, answer.seat, answer.weight) == (36, datetime.date(2026, 1, 2), Seat.AISLE, 1.5)
    assert Form(Small).read({"n": 2}) == Small(2)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"age": 17}, "age"),
        ({"age": "old"}, "age"),
        ({"name": "ada"}, "name"),  # the pattern is no part of the form, the model checks it
        ({"day": "tomorrow"}, "day"),
        ({"meals": ["fish", "salad", "fish"]}, "meals"),
        ({"meals": ["soup"]}, "meals"),
        ({"name": None}, "name"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused_with_the_field(change: dict[str, Any], words: str):
    with pytest.raises(InvalidAnswer, match=words):
        Form(Booking).read({"name": "Ada", "age": 36, "day": "2026-01-02", **change})


@pytest.mark.parametrize("content", [None, [], "yes", 3])
def test_an_accepted_form_needs_content(content: Any):
    with pytest.raises(InvalidAnswer, match="content"):
        Form(Small).read(content)


@pytest.mark.parametrize(
    ("given", "field", "answer"),
    [
        (int, {"type": "integer"}, 3),
        (str, {"type": "string"}, "x"),
        (bool, {"type": "boolean"}, False),
        (float, {"type": "number"}, 1.5),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}, "b"),
        (list[Literal["a", "b"]], {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}, ["a"]),
        (Annotated[int, Field(ge=1)], {"type": "integer", "minimum": 1}, 1),
        (Seat, {"type": "string", "enum": ["window", "aisle"]}, Seat.AISLE),
    ],
    ids=str,
)
def test_a_plain_type_is_one_field_and_its_value_the_answer(given: Any, field: Any, answer: Any):
    form = Form(given)
    assert form.schema == {"type": "object", "properties": {"value": field}, "required": ["value"]}
    assert form.read({"value": answer.value if isinstance(answer, enum.Enum) else answer}) == answer


def test_no_schema_is_a_bare_yes_or_no():
    assert Form().schema == {"type": "object", "properties": {}}
    assert Elicit("Go on?").read({"action": "accept"}).accepted
    assert Elicit("Go on?").read({"action": "decline", "content": {}}).action == "decline"


def test_titled_choices_of_every_spelling_are_kept():
    form = Form(
        {
            "properties": {
                "old": {"type": "string", "enum": ["a", "b"], "enumNames": ["A!", "B!"]},
                "new": {"type": "string", "oneOf": [{"const": "a", "title": "A!"}, {"const": "b"}]},
                "many": {"type": "array", "items": {"anyOf": [{"const": "x", "title": "X!"}]}, "minItems": 1},
                "named": {"type": "array", "items": {"enum": ["x"], "enumNames": ["X!"]}},
                "bare": {"enum": ["p", "q"]},
                "nullable": {"type": ["integer", "null"], "maximum": 3},
            },
            "required": ["old", "nullable", "ghost"],
        }
    )
    fields = form.schema["properties"]
    assert fields["old"] == {"type": "string", "enum": ["a", "b"], "enumNames": ["A!", "B!"]}
    assert fields["new"]["oneOf"] == [{"const": "a", "title": "A!"}, {"const": "b", "title": "b"}]
    assert fields["many"] == {"type": "array", "minItems": 1, "items": {"anyOf": [{"const": "x", "title": "X!"}]}}
    assert fields["named"] == {"type": "array", "items": {"anyOf": [{"const": "x", "title": "X!"}]}}
    assert fields["bare"] == {"type": "string", "enum": ["p", "q"]}
    assert form.schema["required"] == ["old"]
    assert form.read({"old": "b", "many": ["x"]}) == {"old": "b", "many": ["x"]}


def test_an_older_client_gets_the_fields_it_knows_and_the_answer_comes_out_the_same():
    form = Form(
        {
            "type": "object",
            "properties": {
                "one": {"type": "string", "oneOf": [{"const": "a", "title": "A!"}], "default": "a"},
                "on": {"type": "boolean", "default": True},
                "n": {"type": "integer", "default": 2, "minimum": 1},
                "many": {"type": "array", "items": {"enum": ["x", "y"]}, "description": "Pick", "maxItems": 2},
            },
        }
    )
    assert form.wire(NEW) is form.schema
    assert form.wire(OLD)["properties"] == {
        "one": {"type": "string", "enum": ["a"], "enumNames": ["A!"]},
        "on": {"type": "boolean", "default": True},
        "n": {"type": "integer", "minimum": 1},
        "many": {"type": "string", "description": "Pick. Several of: x, y (separated by commas)"},
    }
    assert form.read({"many": "x, y", "one": "a"}) == {"one": "a", "many": ["x", "y"]}
    with pytest.raises(InvalidAnswer, match="many"):
        form.read({"many": "x, z"})


class Nested(BaseModel):
    inner: Small


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (Nested, "inner"),
        ({"properties": {"tags": {"type": "array", "items": {"type": "string"}}}}, "tags"),
        ({"properties": {"either": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}}, "either"),
        ({"properties": {"x": {}}}, "'x'"),
        ({"properties": {"x": 3}}, "'x'"),
        ({"type": "array"}, "object"),
        (print, "form"),
    ],
)
def test_what_a_form_cannot_ask_is_refused_by_name(given: Any, words: str):
    with pytest.raises(UsageError, match=words):
        Form(given)


@pytest.mark.parametrize("field", ["password", "api_key", "card_number", "access_token"])
def test_a_form_that_asks_for_a_secret_is_refused_and_points_to_a_page(field: str):
    with pytest.raises(UsageError, match="elicit_url"):
        Elicit("Please log in.", {"properties": {field: {"type": "string"}}})


def test_a_page_needs_a_web_address():
    with pytest.raises(UsageError, match="http"):
        Elicit("Open it", url="file:///etc/passwd")
    asked = Elicit("Log in", url="https://example.org/login")
    assert asked.params(features("2026-07-28")) == {
        "mode": "url",
        "message": "Log in",
        "url": "https://example.org/login",
    }
    assert set(asked.params(NEW)) == {"mode", "message", "url", "elicitationId"}
    assert asked.read({"action": "accept"}).accepted
