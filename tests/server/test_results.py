"""Return values as results on the wire, at every revision."""

from __future__ import annotations

import base64
import dataclasses
import datetime
import enum
import json
import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.protocol.revisions import ALL, features
from jupyter_mcp.server import Audio, Embedded, Image, Link, Text, ToolResult, assistant, user
from jupyter_mcp.server.outputs import Output, declared
from jupyter_mcp.server.results import UnusableResult, prompt_result, resource_contents, tool_result, wrapped_schema
from jupyter_mcp.server.values import MAX_ROWS, plain

if TYPE_CHECKING:
    import io

MODERN, LEGACY, OLD = features("2026-07-28"), features("2025-11-25"), features("2024-11-05")
PNG = b"\x89PNG\r\n\x1a\n...."
PNG_BLOCK = {"type": "image", "data": base64.b64encode(PNG).decode(), "mimeType": "image/png"}


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


class Size(enum.Enum):
    BIG = "big"


@dataclasses.dataclass
class Thing:
    name: str
    size: Size
    when: datetime.datetime


THING = Thing("t", Size.BIG, datetime.datetime(2026, 1, 2, 3, 4, 5))
THING_DATA = {"name": "t", "size": "big", "when": "2026-01-02T03:04:05"}


@pytest.mark.parametrize("revision", ALL)
def test_text_is_text_and_none_is_nothing(revision: str):
    assert tool_result("hi", features(revision)) == {"content": [text("hi")]}
    assert tool_result(None, features(revision)) == {"content": []}
    assert tool_result("", features(revision)) == {"content": [text("")]}


@pytest.mark.parametrize("revision", ALL)
def test_data_is_structured_where_the_revision_can_and_text_everywhere(revision: str):
    can = features(revision)
    result = tool_result(THING, can)
    assert json.loads(result["content"][0]["text"]) == THING_DATA
    assert result.get("structuredContent") == (THING_DATA if can.structured_content else None)
    listed = tool_result([1, 2], can)
    wanted = [1, 2] if can.any_structured else {"result": [1, 2]} if can.structured_content else None
    assert listed.get("structuredContent") == wanted
    assert listed["content"] == [text("[1,2]")]


def test_declared_scalars_are_structured_and_undeclared_ones_are_text():
    assert tool_result(3, LEGACY) == {"content": [text("3")]}
    assert tool_result(True, MODERN) == {"content": [text("true")]}
    output = declared(int)
    assert tool_result(3, LEGACY, output) == {"content": [text("3")], "structuredContent": {"result": 3}}
    assert tool_result(3, MODERN, output) == {"content": [text("3")], "structuredContent": 3}
    assert wrapped_schema({"type": "integer"}, LEGACY) == {
        "type": "object",
        "properties": {"result": {"type": "integer"}},
        "required": ["result"],
    }
    assert wrapped_schema({"type": "integer"}, MODERN) == {"type": "integer"}


def test_definitions_stay_reachable_when_a_schema_is_wrapped():
    wrapped = wrapped_schema(declared(list[Thing]).schema or {}, LEGACY)
    assert set(wrapped) == {"type", "properties", "required", "$defs"}
    assert wrapped["properties"]["result"]["items"] == {"$ref": "#/$defs/Thing"}


def test_nan_and_infinity_become_null_in_text_and_data():
    value = {"mean": 1.5, "sd": math.nan, "max": math.inf, "deep": [-math.inf, {"x": math.nan}]}
    wanted = {"mean": 1.5, "sd": None, "max": None, "deep": [None, {"x": None}]}
    for output in (Output(), declared(dict[str, Any])):
        result = tool_result(value, MODERN, output)
        assert result["structuredContent"] == wanted
        assert json.loads(result["content"][0]["text"], parse_constant=pytest.fail) == wanted
    assert tool_result(math.nan, MODERN) == {"content": [text("null")]}


def test_images_sounds_files_and_links_are_content():
    result = tool_result(
        [PNG, "and", Audio(b"RIFF....WAVE"), Embedded("a://b", "t"), Link("c://d", "d", title="D"), {"k": 1}], MODERN
    )
    kinds = [block["type"] for block in result["content"]]
    assert kinds == ["image", "text", "audio", "resource", "resource_link", "text"]
    assert result["content"][0] == PNG_BLOCK
    assert result["content"][2]["mimeType"] == "audio/wav"
    assert result["content"][5]["text"] == '{"k":1}'
    assert "structuredContent" not in result
    assert tool_result(Image(PNG), OLD) == {"content": [PNG_BLOCK]}
    assert tool_result(b"\x00\x01", MODERN)["content"][0]["resource"]["blob"] == "AAE="
    annotated = tool_result(Text("t", {"audience": ["user"]}), MODERN)
    assert annotated["content"] == [{"type": "text", "text": "t", "annotations": {"audience": ["user"]}}]


def test_what_an_old_revision_cannot_carry_is_said_in_words():
    result = tool_result([Audio(b"x", "audio/wav"), Link("c://d", "d", title="D")], OLD)
    assert [block["type"] for block in result["content"]] == ["text", "text"]
    assert "audio/wav" in result["content"][0]["text"]
    assert result["content"][1]["text"] == "D – c://d"


def test_a_dict_is_a_block_only_when_it_is_exactly_one():
    block = {"type": "text", "text": "t"}
    assert tool_result(block, MODERN) == {"content": [block]}
    data = {"type": "text", "text": "t", "colour": "red"}
    assert tool_result(data, MODERN)["structuredContent"] == data
    assert tool_result({"type": "image"}, MODERN)["structuredContent"] == {"type": "image"}


def test_public_protocol_types_pass_through():
    from jupyter_mcp.protocol import types

    result = types.CallToolResult.model_validate(
        {"content": [{"type": "text", "text": "t"}], "structuredContent": [1], "isError": True}
    )
    assert tool_result(result, MODERN) == {"content": [text("t")], "structuredContent": [1], "isError": True}
    assert tool_result(result, LEGACY)["structuredContent"] == {"result": [1]}
    assert "structuredContent" not in tool_result(result, OLD)
    block = types.TextContent.model_validate({"type": "text", "text": "t"})
    assert tool_result([block, "u"], MODERN) == {"content": [text("t"), text("u")]}


def test_a_whole_result_says_content_and_data_apart():
    result = tool_result(ToolResult("Booked.", structured={"ok": math.nan}, meta={"a": 1}), MODERN)
    assert result == {"content": [text("Booked.")], "structuredContent": {"ok": None}, "_meta": {"a": 1}}
    assert tool_result(ToolResult(structured=[1]), LEGACY) == {
        "content": [text("[1]")],
        "structuredContent": {"result": [1]},
    }
    assert tool_result(ToolResult(["a", PNG], is_error=True), MODERN) == {
        "content": [text("a"), PNG_BLOCK],
        "isError": True,
    }
    with pytest.raises(UnusableResult, match="declared structured output"):
        tool_result(ToolResult("x"), MODERN, declared(int))
    assert tool_result(ToolResult("x", is_error=True), MODERN, declared(int))["isError"] is True


def test_frames_become_bounded_records():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, math.nan], "t": pandas.to_datetime(["2026-01-01", None])})
    rows = [{"a": 1.0, "t": "2026-01-01T00:00:00"}, {"a": None, "t": None}]
    assert tool_result(frame, MODERN)["structuredContent"] == {"rows": rows, "total": 2}
    assert tool_result(frame, MODERN, declared(list[dict[str, Any]]))["structuredContent"] == rows
    long = tool_result(pandas.DataFrame({"a": range(MAX_ROWS + 5)}), MODERN)
    assert len(long["structuredContent"]["rows"]) == MAX_ROWS
    assert long["content"][1]["text"] == "The first 1,000 of 1,005 rows."
    grouped = pandas.DataFrame({"k": ["x", "y"], "v": [1, 2]}).groupby("k").v.sum()
    assert plain(grouped) == {"rows": [{"k": "x", "v": 1}, {"k": "y", "v": 2}], "total": 2}
    doubled = pandas.DataFrame([[1, 2]], columns=["a", "a"])
    assert plain(doubled)["rows"] == [{"a": 1, "a_2": 2}]
    assert plain({"x": frame["a"].iloc[0], "na": pandas.NA, "nat": pandas.NaT}) == {"x": 1.0, "na": None, "nat": None}


def test_odd_values_are_json_too():
    numpy = pytest.importorskip("numpy")
    assert plain(numpy.array([[1.0, math.nan]])) == [[1.0, None]]
    assert plain({"f": numpy.float32("inf"), "i": numpy.int64(3), "b": numpy.bool_(True)}) == {
        "f": None,
        "i": 3,
        "b": True,
    }
    assert plain({1: "a", (2, "b"): "c", None: "d"}).keys() == {"1", "2,b", "None"}
    assert plain({"d": Decimal("1.10"), "s": {1}, "r": range(2), "g": (x for x in [1])}) == {
        "d": "1.10",
        "s": [1],
        "r": [0, 1],
        "g": [1],
    }
    assert plain("\ud800") == "\ud800"
    assert plain({"a": "\ud800", "t": (1, math.nan), "d": Decimal("1"), "b": b"\xff\xff"}) == {
        "a": "\ud800", "t": [1, None], "d": "1", "b": "__8=",
    }  # fmt: skip
    assert plain({"a": "\ud800", "x": THING}) == {"a": "\ud800", "x": THING_DATA}


def test_a_value_that_contains_itself_is_refused_in_words():
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(UnusableResult, match="contains itself"):
        tool_result(loop, MODERN)
    with pytest.raises(UnusableResult, match="Circular"):
        tool_result({"a": loop}, LEGACY, declared(dict[str, Any]))


def test_figures_and_pictures_are_images():
    class Figure:
        def savefig(self, buffer: io.BytesIO, format: str) -> None:
            buffer.write(PNG)

    class Broken:
        def savefig(self, buffer: io.BytesIO, format: str) -> None:
            raise OSError("no fonts")

    assert tool_result(Figure(), MODERN) == {"content": [PNG_BLOCK]}
    with pytest.raises(UnusableResult, match="no fonts"):
        tool_result(Broken(), MODERN)


def test_resources_are_text_bytes_or_json():
    assert resource_contents("a://b", "t", None) == [{"uri": "a://b", "mimeType": "text/plain", "text": "t"}]
    assert resource_contents("a://b", "t", "text/markdown")[0]["mimeType"] == "text/markdown"
    blob = [{"uri": "a://b", "mimeType": "image/png", "blob": PNG_BLOCK["data"]}]
    assert resource_contents("a://b", PNG, None) == blob
    assert resource_contents("a://b", bytearray(b"\0"), None)[0]["mimeType"] == "application/octet-stream"
    assert resource_contents("a://b", Image(PNG), None) == blob
    data = resource_contents("a://b", {"x": math.nan}, None)
    assert data == [{"uri": "a://b", "mimeType": "application/json", "text": '{"x":null}'}]
    assert [
        one["uri"] for one in resource_contents("a://", [Embedded("a://1", "x"), Embedded("a://2", b"y")], None)
    ] == ["a://1", "a://2"]
    own = [{"uri": "z://", "text": "t"}]
    assert resource_contents("a://b", own, None) == own


def test_prompts_are_messages_each_with_one_block():
    result = prompt_result(
        [user(["a", Image(PNG)]), assistant("b"), {"role": "user", "content": text("c")}, "d"], "What.", MODERN
    )
    assert result["description"] == "What."
    assert [(one["role"], one["content"]["type"]) for one in result["messages"]] == [
        ("user", "text"),
        ("user", "image"),
        ("assistant", "text"),
        ("user", "text"),
        ("user", "text"),
    ]
    assert prompt_result("x", None, OLD) == {"messages": [{"role": "user", "content": text("x")}]}
    assert prompt_result(Image(PNG), None, OLD)["messages"][0]["content"] == PNG_BLOCK
    with pytest.raises(UnusableResult, match="not int"):
        prompt_result(3, None, MODERN)


def test_an_image_can_be_a_file(tmp_path: Any):
    path = tmp_path / "x.gif"
    path.write_bytes(b"GIF89a..")
    assert Image(path).block()["mimeType"] == "image/gif"
    odd = tmp_path / "x.svg"
    odd.write_bytes(b"<svg/>")
    assert Image(str(odd)).mime_type == "image/svg+xml"
    from jupyter_mcp.errors import UsageError

    with pytest.raises(UsageError, match="cannot read"):
        Image(tmp_path / "none.png")
