"""What comes back, as plain values."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.result import PromptResult, Read, Result
from jupyter_mcp.protocol import types

PNG = b"\x89PNG\r\n\x1a\nrest"
PNG64 = base64.b64encode(PNG).decode()


def result(*blocks: Any, **more: Any) -> Result:
    return Result({"content": list(blocks), **more}, server="demo", tool="t", duration=1.5)


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def test_text_blocks_are_joined_and_the_raw_result_is_untouched():
    raw = {"content": [text("a"), {"type": "image", "data": PNG64}, text("b")], "x": 1}
    before = json.dumps(raw)
    found = Result(raw)
    assert found.text == "a\nb"
    assert len(found.images) == 1
    assert json.dumps(found.raw) == before


@pytest.mark.parametrize(
    ("made", "data"),
    [
        (result(text("5"), structuredContent={"result": 5}), {"result": 5}),
        (result(text("x"), structuredContent=[1, 2]), [1, 2]),
        (result(text("x"), structuredContent=0), 0),
        (result(text(' {"a": 1}\n')), {"a": 1}),
        (result(text("[1, 2]")), [1, 2]),
        (result(text("5")), None),
        (result(text("{broken")), None),
        (result(text("[see below]")), None),
        (result(), None),
    ],
)
def test_data_is_the_structured_content_or_a_whole_text_of_json(made: Result, data: Any):
    assert made.data == data


def test_content_is_models_and_odd_blocks_are_salvaged():
    made = result("plain", text("a"), {"type": "hologram", "x": 1}, {"type": "image"}, None)
    assert isinstance(made.content[1], types.TextContent)
    assert len(made.content) == 5
    assert made.text.startswith("plain\na")


@pytest.mark.parametrize("content", [None, "just text", {"type": "text", "text": "just text"}, 5])
def test_content_that_is_no_list_is_read_anyway(content: Any):
    assert isinstance(Result({"content": content}).text, str)


def test_images_sounds_embedded_resources_and_links_are_told_apart():
    made = result(
        {"type": "image", "data": PNG64, "mimeType": "image/png"},
        {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "x://1", "mimeType": "text/csv", "text": "a,b\n1,2"}},
        {"type": "resource", "resource": {"uri": "x://2", "mimeType": "image/png", "blob": PNG64}},
        {"type": "resource_link", "uri": "x://3", "name": "three"},
    )
    assert [image.data for image in made.images] == [PNG, PNG]
    assert made.audio[0].data == b"\0\0\0"
    assert [one.uri for one in made.resources] == ["x://1", "x://2"]
    assert made.links[0]["uri"] == "x://3"
    assert made.text == ""


def test_rows_come_from_data_text_or_an_embedded_table():
    pytest.importorskip("pandas")
    assert list(result(text("x"), structuredContent={"result": [{"a": 1}]}).df()["a"]) == [1]
    assert list(result(text("a,b\n1,2")).df()["b"]) == [2]
    embedded = {"type": "resource", "resource": {"uri": "x", "text": "a\tb\n1\t2"}}
    assert list(result(text("Here it is."), embedded).df()["b"]) == [2]


def test_no_rows_are_said_in_one_line():
    with pytest.raises(UsageError, match=r"no table in what demo\.t returned"):
        result(text("hello")).df()


@pytest.mark.parametrize(
    ("made", "shown"),
    [
        (result(text("3")), "<Result demo.t: 3>"),
        (result(text("a\n  b")), "<Result demo.t: a b>"),
        (result(text("x" * 100)), f"<Result demo.t: {'x' * 59}…>"),
        (result(structuredContent={"a": 1}), '<Result demo.t: {"a": 1}>'),
        (result({"type": "image", "data": PNG64}), "<Result demo.t: 1 image>"),
        (result(text("no"), isError=True), "<Result (error) demo.t: no>"),
        (result(), "<Result demo.t: empty>"),
    ],
)
def test_a_repr_is_short_and_says_the_same_each_time(made: Result, shown: str):
    assert repr(made) == shown
    assert "1.5" not in repr(made)


@pytest.mark.parametrize(("flag", "error"), [(True, True), (False, False), (None, False), ("true", True), (0, False)])
def test_an_error_flag_of_any_type_is_understood(flag: Any, error: bool):
    assert result(isError=flag).is_error is error


# --- resources -------------------------------------------------------------------------------------------------------


def read(*contents: Any) -> Read:
    return Read({"contents": list(contents)}, uri="x://1", server="demo")


def test_text_json_and_bytes_of_a_resource():
    assert read({"uri": "x://1", "text": "hello"}).text == "hello"
    assert read({"uri": "x://1", "text": "5", "mimeType": "application/json"}).data == 5
    assert read({"uri": "x://1", "text": "5", "mimeType": "text/plain"}).data is None
    made = read({"uri": "x://1", "blob": PNG64, "mimeType": "image/png"})
    assert (made.bytes, made.text, made.mime_type) == (PNG, "", "image/png")
    assert made.image is not None


def test_text_that_came_as_a_blob_is_text():
    blob = base64.b64encode("é".encode()).decode()
    assert read({"uri": "x", "blob": blob, "mimeType": "text/plain; charset=utf-8"}).text == "é"
    assert read({"uri": "x", "blob": "////", "mimeType": "text/plain"}).text == ""


def test_several_parts_and_none():
    assert read({"text": "a"}, {"text": "b"}).text == "a\nb"
    assert repr(read()) == "<Read x://1: empty>"
    assert Read({}, uri="x").contents == []


# --- prompts ---------------------------------------------------------------------------------------------------------


def test_a_prompt_is_messages_and_their_text():
    one = PromptResult({"messages": [{"role": "user", "content": text("hi")}]}, server="demo", prompt="p")
    assert one.text == "hi"
    assert isinstance(one.messages[0], types.PromptMessage)
    assert repr(one) == "<PromptResult demo.p: 1 message>"
    two = PromptResult(
        {"messages": [{"role": "user", "content": text("a")}, {"role": "assistant", "content": [text("b")]}]}
    )
    assert two.text == "user: a\n\nassistant: b"


def test_odd_prompts_are_read_anyway():
    assert PromptResult({}).messages == []
    assert PromptResult({"messages": ["hi", {"content": "there"}]}).text == "user: hi\n\nuser: there"
    picture = {"role": "user", "content": {"type": "image", "data": "AAAA"}}
    assert PromptResult({"messages": [picture]}).text == "[image]"
