"""Schemas from annotations, and the way from a client's JSON to Python values."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import math
import subprocess
import sys
import typing
from typing import Annotated, Any, Literal, Optional, TypedDict, Union

import pydantic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, TypeAdapter

from jupyter_mcp.protocol.revisions import features
from jupyter_mcp.server import outputs, plainschema
from jupyter_mcp.server.infer import Arguments, InvalidArguments, clean_schema, schema_of
from jupyter_mcp.server.results import UnusableResult, tool_result
from jupyter_mcp.server.signature import inspect_handler

MODERN = features("2026-07-28")


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Point:
    x: int
    y: float = 0.5


class Row(TypedDict, total=False):
    name: typing.Required[str]
    point: Point


class Model(BaseModel):
    points: list[Point]
    best: Point | None = None


def arguments(function: Any, **options: Any) -> Arguments:
    return Arguments(inspect_handler(function), **options)


NOT_PLAIN: list[Any] = [
    Point,
    Colour,
    Literal["a", 1],
    Literal[True, False],
    Annotated[int, Field(ge=1)],
    set[int],
    tuple[int, ...],
    dict[int, str],
]
OLDER_WORDS = tuple(map(int, pydantic.VERSION.split(".")[:2])) < (2, 11)
PLAIN: list[Any] = [
    str,
    int,
    float,
    bool,
    None,
    Any,
    list,
    dict,
    list[str],
    list[list[int]],
    list[Any],
    dict[str, int],
    dict[str, Any],
    Literal["a", "b"],
    Literal["a"],
    Literal[1, 2],
    Optional[int],  # noqa: UP045
    Union[int, str, None],  # noqa: UP007
    list[Literal["a", "b"]] | None,
    int | float,
    list[int | float] | None,
    int | float | str,
]


@pytest.mark.skipif(OLDER_WORDS, reason="older releases of pydantic spell the same schemas in other words")
@pytest.mark.parametrize("annotation", PLAIN, ids=str)
def test_plain_schemas_are_those_that_pydantic_makes(annotation: Any):
    assert plainschema.schema_of(annotation) == clean_schema(
        schema_of(TypeAdapter(annotation).json_schema, mode="validation")
    )


@pytest.mark.parametrize(
    "annotation",
    [
        Point,
        Colour,
        Literal["a", 1],
        Literal[True, False],
        Annotated[int, Field(ge=1)],
        set[int],
        tuple[int, ...],
        dict[int, str],
    ],
)
def test_what_is_not_plain_goes_the_long_way(annotation: Any):
    assert plainschema.schema_of(annotation) is None


def test_a_whole_number_or_any_number_is_a_number_and_stays_what_was_sent():
    def add(a: int | float, b: int | float = 0.5):
        """Add."""

    assert arguments(add).schema["properties"] == {"a": {"type": "number"}, "b": {"type": "number", "default": 0.5}}
    read = arguments(add).read({"a": 1, "b": 2.0})
    assert {name: type(value) for name, value in read.items()} == {"a": int, "b": float}


def test_a_plain_and_a_rich_tool_have_schemas_of_one_form():
    def plain(a: int, b: str = "x", *, c: list[str] | None = None):
        """Plain.

        Args:
            a: The a.
            c: The c.
        """

    rich = arguments(plain)
    rich._plainly = lambda: None  # type: ignore[method-assign]
    assert arguments(plain).schema == rich.schema
    assert rich.schema == {
        "type": "object",
        "properties": {
            "a": {"type": "integer", "description": "The a."},
            "b": {"type": "string", "default": "x"},
            "c": {
                "anyOf": [{"items": {"type": "string"}, "type": "array"}, {"type": "null"}],
                "default": None,
                "description": "The c.",
            },
        },
        "required": ["a"],
        "additionalProperties": False,
    }


def test_rich_annotations_have_schemas_and_become_their_types():
    def tool(
        when: datetime.date,
        colour: Colour,
        where: Point,
        model: Model,
        row: Row,
        count: Annotated[int, Field(ge=1, le=5, description="How many.")] = 2,
        size: int = Field(3, ge=1),
    ):
        pass

    found = arguments(tool)
    properties = found.schema["properties"]
    assert properties["when"] == {"type": "string", "format": "date"}
    assert properties["count"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 5,
        "default": 2,
        "description": "How many.",
    }
    assert properties["size"] == {"type": "integer", "minimum": 1, "default": 3}
    assert found.schema["required"] == ["when", "colour", "where", "model", "row"]
    given = {
        "when": "2026-01-02",
        "colour": "blue",
        "where": {"x": 1},
        "model": {"points": [{"x": 2, "y": 3}]},
        "row": {"name": "r"},
    }
    values = found.read(given)
    assert values["when"] == datetime.date(2026, 1, 2)
    assert values["colour"] is Colour.BLUE
    assert values["where"] == Point(1)
    assert values["model"].points == [Point(2, 3.0)]
    assert values["row"] == {"name": "r"}
    assert values["size"] == 3, "a Field default is no value of the function's own"
    assert "count" not in values, "the function's default is its own"


def test_odd_defaults_and_annotations_never_break_the_list():
    class Strange:
        pass

    marker = object()

    def tool(
        a=marker,  # type: ignore[no-untyped-def]
        b: float = math.nan,
        c: Strange = Strange(),  # noqa: B008
        d: Any = print,
        e: Any = {1, 2},  # noqa: B006
        f: "No.Such" = 1,  # type: ignore  # noqa: F821, UP037
        g: dict[Any, Any] = {"x": math.inf},  # noqa: B006
        h: list[float] = [1.0, math.inf],  # noqa: B006
    ):
        pass

    found = arguments(tool)
    schema = found.schema
    assert set(schema["properties"]) == set("abcdefgh")
    assert "required" not in schema
    assert "default" not in schema["properties"]["b"]
    import json

    json.dumps(schema, allow_nan=False)
    assert found.read({"c": [1], "f": {}}) == {"c": [1], "f": {}}
    assert found.read({}) == {}


@pytest.mark.parametrize("name", ["json", "model_config", "copy", "_x", "class_", "schema", "self_"])
def test_parameter_names_that_models_use_themselves_are_fine(name: str):
    scope: dict[str, Any] = {}
    exec(f"def tool({name}: int, when: 'datetime.date' = None): return {name}", {"datetime": datetime}, scope)
    found = arguments(scope["tool"])
    assert found.read({name: 3}) == {name: 3}
    with pytest.raises(InvalidArguments, match=name):
        found.read({name: "x"})


def test_wrong_arguments_are_explained_for_a_model_to_correct():
    def tool(city: str, days: Annotated[int, Field(ge=1, le=14)] = 3, units: Literal["c", "f"] = "c"):
        pass

    found = arguments(tool)
    with pytest.raises(InvalidArguments) as caught:
        found.read({"citty": "Paris", "days": 99, "units": "k"})
    text = str(caught.value)
    assert "there is no argument 'citty', did you mean 'city'?" in text
    assert "city is required but missing" in text
    assert "days: 99 is more than 14" in text
    assert "units: 'k' is not one of" in text
    with pytest.raises(InvalidArguments, match="no argument 'x', it takes none"):
        arguments(lambda_free).read({"x": 1})


def lambda_free():
    pass


@pytest.mark.parametrize(
    ("value", "good"), [(3, True), (3.0, True), ("3", False), (True, False), (3.5, False), (None, False)]
)
def test_an_integer_is_an_integer_as_json_schema_means_it(value: Any, good: bool):
    def tool(n: int):
        pass

    found = arguments(tool)
    if good:
        read = found.read({"n": value})["n"]
        assert (read, type(read)) == (3, int)
    else:
        with pytest.raises(InvalidArguments, match="n: "):
            found.read({"n": value})


def test_a_schema_of_ones_own_is_kept_verbatim_and_checked():
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {"a": {"type": "string", "pattern": "^x"}},
        "allOf": [{"required": ["a"]}],
        "$comment": "kept",
    }

    def tool(**values: Any):
        return values

    found = arguments(tool, schema=schema)
    assert found.schema == schema
    assert found.read({"a": "xy", "b": [1]}) == {"a": "xy", "b": [1]}
    with pytest.raises(InvalidArguments, match="a: "):
        found.read({"a": "y"})

    def typed(a: Colour) -> Any:
        return a

    assert arguments(typed, schema={"type": "object"}).read({"a": "red"}) == {"a": Colour.RED}


@settings(deadline=None, max_examples=200)
@given(
    st.dictionaries(
        st.sampled_from(["a", "b", "c", "d", "e", "z"]),
        st.text(max_size=3) | st.integers() | st.floats() | st.booleans() | st.none() | st.just([]) | st.just("\ud800"),
    )
)
def test_the_quick_way_reads_what_the_long_way_reads(given_arguments: dict[str, Any]):
    def function(a: str, b: int, c: float = 1.5, d: bool = False, e: int = Field(3, ge=2)) -> None: ...

    def outcome(read: Arguments) -> Any:
        try:
            return repr(sorted(read.read(given_arguments).items()))
        except InvalidArguments as error:
            return str(error)

    slow = arguments(function)
    slow._read_exactly = lambda arguments: None  # type: ignore[method-assign]
    assert outcome(arguments(function)) == outcome(slow)


def test_a_call_with_plain_arguments_needs_no_pydantic():
    code = (
        "import sys; from jupyter_mcp.server.infer import Arguments; from jupyter_mcp.server.signature import *\n"
        "def f(a: str, b: int = 1): ...\n"
        "assert Arguments(inspect_handler(f)).read({'a': 'x', 'b': 2}) == {'a': 'x', 'b': 2}\n"
        "assert 'pydantic' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_texts_become_the_annotated_types():
    def prompt(n: int, on: bool = False, day: datetime.date | None = None, tags: list[str] | None = None, s: str = ""):
        pass

    found = arguments(prompt)
    values = found.read_texts({"n": "3", "on": "true", "day": "2026-01-02", "tags": '["a"]', "s": "5"})
    assert values == {"n": 3, "on": True, "day": datetime.date(2026, 1, 2), "tags": ["a"], "s": "5"}
    with pytest.raises(InvalidArguments, match="n is required but missing"):
        found.read_texts({"on": "true"})
    assert found.read_texts({"n": "3", "s": '{"a": 1}'}) == {"n": 3, "s": '{"a": 1}'}


def test_return_annotations_declare_the_output():
    def declared(annotation: Any) -> Any:
        return outputs.declared(annotation).schema

    from jupyter_mcp.server import Image, InputRequired, ToolResult

    assert declared(float) == {"type": "number"}
    assert declared(list[Point])["items"] == {"$ref": "#/$defs/Point"}
    assert declared(Row)["required"] == ["name"]
    assert declared(Point | None)["anyOf"][1] == {"type": "null"}
    for nothing in (
        str,
        bytes,
        Any,
        None,
        Image,
        ToolResult,
        list[Image],
        Image | str,
        dict[str, int] | InputRequired,
        str | None,
        object,
        print,
    ):
        assert declared(nothing) is None, nothing


def test_a_result_that_does_not_fit_its_declaration_is_refused():
    output = outputs.declared(list[Point])
    assert tool_result([Point(1)], MODERN, output)["structuredContent"] == [{"x": 1, "y": 0.5}]
    with pytest.raises(UnusableResult, match="does not fit the declared output"):
        tool_result([{"x": "no"}], MODERN, output)


def test_defining_a_server_imports_neither_pydantic_nor_any_network_library():
    code = """
import sys
from jupyter_mcp.server import Server, Context
from jupyter_mcp.protocol.revisions import features
s = Server("x")
@s.tool
def f(a: int, ctx: Context, b: list[str] = ()) -> dict[str, int]: "F."
s._offer.tools.wire("2025-11-25", features("2025-11-25")) if False else None
import jupyter_mcp.demo.server
bad = {"pydantic", "httpx", "anyio", "IPython", "tornado", "jsonschema", "http.client", "aiohttp"} & set(sys.modules)
assert not bad, bad
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
