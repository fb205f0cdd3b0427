"""What a model gets to see of tools, results and resources: visible, bounded, in blocks that it takes."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from jupyter_mcp.errors import UnsupportedContent
from jupyter_mcp.host.catalogue import Offer
from jupyter_mcp.host.conversation.briefing import briefing, told_of
from jupyter_mcp.host.conversation.results import Budget, result_for_model
from jupyter_mcp.host.conversation.shown import for_model, is_for_models
from jupyter_mcp.host.conversation.toolbox import Changes
from jupyter_mcp.host.conversation.untrusted import cut_end, cut_middle, one_line, visible
from jupyter_mcp.host.result import Result

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\0" * 40).decode()
SEES = frozenset({"text", "image", "audio", "tools"})


def offer(**item: Any) -> Offer:
    return Offer("tool", "demo", "act", {"name": "act", "inputSchema": {"type": "object"}, **item})


def result(*blocks: Any, **more: Any) -> Result:
    return Result({"content": list(blocks), **more}, server="demo", tool="act")


def shown(given: Result, characters: int = 10_000, supports: frozenset[str] = SEES) -> list[dict[str, Any]]:
    return result_for_model(given, Budget(characters, 2, supports))


# --- text that is not what it seems ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "hidden",
    [
        "\x00",
        "\x1b",
        "\x07",
        "\u202e",
        "\u2066",
        "\u200b",
        "\u2060",
        "\ufeff",
        "\U000e0041",
        "\ue000",
        "\ud800",
        "\xad",
    ],
)
def test_characters_without_a_shape_are_taken_out(hidden: str) -> None:
    assert visible(f"a{hidden}b") == "ab"


@pytest.mark.parametrize("text", ["a\tb\nc", "größe", "日本語", "नमस्ते", "👩‍🚀", "سلام", "a‌b", "€ – “x”"])
def test_what_people_write_stays(text: str) -> None:
    assert visible(text) == text


def test_a_row_of_selectors_is_one() -> None:
    assert visible("☀\ufe0f") == "☀\ufe0f"
    assert visible("a\ufe01\ufe02\ufe03b") == "a\ufe01b"


def test_line_ends_are_newlines() -> None:
    assert visible("a\r\nb\rc\u2028d") == "a\nb\nc\nd"


def test_a_cut_text_says_how_much_is_missing() -> None:
    assert cut_end("x" * 30, 10) == f"{'x' * 10}\n[… 20 more characters are not shown]"
    assert cut_middle("a" * 60 + "z" * 40, 40).startswith("a" * 30 + "\n[… 60 characters in the middle")
    assert cut_middle("a" * 60 + "z" * 40, 40).endswith("z" * 10)
    assert one_line("a\n b " + "c" * 50, 10) == "a b ccccc…"


def test_a_text_that_fits_is_left_alone() -> None:
    assert cut_end("short", 10) == cut_middle("short", 10) == one_line("short", 10) == "short"


# --- tools -----------------------------------------------------------------------------------------------------------


def test_a_tool_is_described_with_its_server_title_and_words() -> None:
    described = for_model("demo__act", offer(title="Act now", description="Does it."))
    assert described["description"] == "Tool of the server demo, “Act now”. Does it."


def test_the_description_is_bounded_and_visible() -> None:
    described = for_model("n", offer(description="a\x1b[31m\U000e0041" + "x" * 5_000))["description"]
    assert len(described) <= 1_000
    assert "\x1b" not in described
    assert "more characters are not shown" in described


def test_words_inside_a_schema_are_bounded_and_visible() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string", "description": "y\u202e" + "z" * 1_000, "enum": ["x\x00"]}},
    }
    made = for_model("n", offer(inputSchema=schema))["inputSchema"]["properties"]["a"]
    assert made["description"].startswith("yzz")
    assert len(made["description"]) <= 300
    assert made["enum"] == ["x"]


def test_an_argument_that_is_called_description_stays_an_argument() -> None:
    schema = {"type": "object", "properties": {"description": {"type": "string"}, "title": {"type": "string"}}}
    made = for_model("n", offer(inputSchema=schema))["inputSchema"]
    assert set(made["properties"]) == {"description", "title"}


def test_of_a_huge_schema_the_words_go_first_and_then_all_but_names_and_types() -> None:
    wordy = {f"p{n}": {"type": "string", "description": "w" * 250} for n in range(60)}
    made = for_model("n", offer(inputSchema={"type": "object", "properties": wordy}))["inputSchema"]
    assert made["properties"]["p0"] == {"type": "string"}
    wide = {f"p{n}": {"type": "string", "enum": [f"value {i}" for i in range(60)]} for n in range(300)}
    schema = {"type": "object", "properties": wide, "required": ["p1", "p299"]}
    made = for_model("n", offer(inputSchema=schema))["inputSchema"]
    assert len(json.dumps(made)) < 12_000
    assert (made["properties"]["p1"], made["required"]) == ({"type": "string"}, ["p1"])


@pytest.mark.parametrize("schema", [None, "no", [], {}, {"type": "string"}])
def test_a_schema_that_is_none_is_an_object_of_anything(schema: Any) -> None:
    assert for_model("n", offer(inputSchema=schema))["inputSchema"] == {"type": "object"}


def test_a_schema_without_an_end_harms_nothing() -> None:
    deep: Any = {"type": "object"}
    for _ in range(500):
        deep = {"type": "object", "properties": {"a": deep}}
    assert for_model("n", offer(inputSchema=deep))["inputSchema"]["type"] == "object"


def test_tools_for_apps_alone_are_not_for_models() -> None:
    assert is_for_models(offer())
    assert is_for_models(offer(_meta={"ui": {"visibility": ["model", "app"]}}))
    assert not is_for_models(offer(_meta={"ui": {"visibility": ["app"]}}))


# --- results ---------------------------------------------------------------------------------------------------------


def test_content_comes_first_and_structured_content_only_without_it() -> None:
    text = {"type": "text", "text": "3"}
    assert shown(result(text, structuredContent={"result": 3})) == [text]
    assert shown(result(structuredContent={"result": 3})) == [{"type": "text", "text": '{"result": 3}'}]
    blank = {"type": "text", "text": " \n"}
    assert shown(result(blank, structuredContent=[1])) == [{"type": "text", "text": "[1]"}]


def test_a_result_without_anything_says_so() -> None:
    assert shown(result())[0]["text"] == "(The tool returned nothing.)"
    assert shown(result(isError=True))[0]["text"] == "(The tool failed without saying why.)"


def test_a_picture_goes_to_a_model_that_sees_and_is_named_to_one_that_does_not() -> None:
    picture = {"type": "image", "data": PNG, "mimeType": "image/jpeg"}
    assert shown(result(picture)) == [{"type": "image", "data": PNG, "mimeType": "image/png"}]
    [named] = shown(result(picture), supports=frozenset({"text"}))
    assert named["text"] == "[image image/png, 48 bytes: the person sees it in the notebook, you do not]"


def test_so_many_pictures_go_along_and_no_more() -> None:
    picture = {"type": "image", "data": PNG, "mimeType": "image/png"}
    assert [block["type"] for block in shown(result(*[picture] * 4))] == ["image", "image", "text", "text"]


def test_what_only_claims_to_be_a_picture_is_none() -> None:
    fake = {"type": "image", "data": base64.b64encode(b"<svg/>").decode(), "mimeType": "image/png"}
    assert shown(result(fake))[0]["type"] == "text"


def test_embedded_resources_and_links_become_text() -> None:
    blocks = [
        {"type": "resource", "resource": {"uri": "a://b", "text": "held"}},
        {"type": "resource", "resource": {"uri": "a://c", "blob": "AAAA", "mimeType": "application/zip"}},
        {"type": "resource_link", "uri": "a://d", "name": "d", "description": "more"},
    ]
    assert [block["text"] for block in shown(result(*blocks))] == [
        "Resource a://b:\nheld",
        "[resource a://c, application/zip, 3 bytes: the person has it in the notebook]",
        "Link to the resource a://d (d: more)",
    ]


def test_an_embedded_picture_is_a_picture() -> None:
    block = {"type": "resource", "resource": {"uri": "a://b", "blob": PNG, "mimeType": "image/png"}}
    assert shown(result(block))[0]["type"] == "image"


def test_a_block_of_an_unknown_kind_is_shown_as_what_it_is() -> None:
    assert shown(result({"type": "video", "uri": "x"}))[0]["text"].startswith('{"type": "video"')


def test_several_texts_share_the_budget() -> None:
    blocks = [{"type": "text", "text": "a" * 1_000}, {"type": "text", "text": "b" * 1_000}]
    texts = [block["text"] for block in shown(result(*blocks), characters=1_200)]
    assert texts[0] == "a" * 1_000
    assert len(texts[1]) < 320


def test_what_the_person_attaches_is_never_left_out_in_silence() -> None:
    picture = result({"type": "image", "data": PNG, "mimeType": "image/png"})
    with pytest.raises(UnsupportedContent, match="blind takes no image"):
        result_for_model(picture, Budget(1_000, 2, frozenset({"text"}), strict="blind"))


# --- the system prompt -----------------------------------------------------------------------------------------------


def test_instructions_are_quoted_under_their_server_and_bounded() -> None:
    text = briefing([("demo", "Use add.\nThen stop.\u202e"), ("other", ""), ("long", "x" * 500)], 100, "Be brief.")
    assert "Be brief." in text
    assert "The server demo says about how to use it:\n> Use add.\n> Then stop." in text
    assert "The server other" not in text
    assert "[… 400 more characters are not shown]" in text


def test_changes_are_told_in_words_and_many_are_counted() -> None:
    changes = Changes(tuple(f"s.t{n}" for n in range(25)), ("s.old",), ("s.other",))
    said = told_of(changes)
    assert "new: s.t0, " in said
    assert "and 5 more; gone: s.old; described anew: s.other." in said
    assert told_of(None) == told_of(Changes()) == ""
