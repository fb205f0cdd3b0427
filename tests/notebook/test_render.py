"""Bundles: what a reader of a saved notebook sees, with and without styles, in a terminal and on a page."""

from __future__ import annotations

import base64
import json
import re
import struct
import zlib
from html.parser import HTMLParser
from typing import Any

import pytest

from jupyter_mcp.errors import ConnectionFailed, ToolError, UsageError
from jupyter_mcp.host.questions import Answer, Cause, Question
from jupyter_mcp.host.result import PromptResult, Read, Result
from jupyter_mcp.notebook.render import (
    MIME,
    CallView,
    HelpView,
    ListView,
    LogRow,
    LogView,
    NoteView,
    QuestionRecord,
    ServersView,
    ServerView,
    TableView,
    bundle,
)


def png(width: int = 4, height: int = 3) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = b"".join(b"\0" + b"\x80" * 3 * width for _ in range(height))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def result(*blocks: Any, **more: Any) -> Result:
    notes = more.pop("notes", ())
    return Result({"content": list(blocks), **more}, server="demo", tool="act", notes=notes, duration=1.23456)


class Words(HTMLParser):
    """What is left of a page when tags and styles are gone."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []

    def handle_data(self, data: str) -> None:
        self.parts.append(data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs


def page(obj: object) -> Words:
    words = Words()
    words.feed(bundle(obj)["text/html"])
    return words


def read(obj: object) -> str:
    return " ".join(" ".join(page(obj).parts).split())


def plain(obj: object) -> str:
    return str(bundle(obj)["text/plain"])


def test_a_short_answer_is_one_line() -> None:
    assert plain(result(text("5"), structuredContent={"result": 5})) == "demo.act: 5"


@pytest.mark.parametrize(
    "evil", ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "</pre><b>", '"><svg onload=x>']
)
def test_what_a_server_says_is_text_on_the_page(evil: str) -> None:
    views: list[object] = [
        result(text(evil)),
        result(text("x"), structuredContent={evil: evil, "rows": [{evil: evil}]}),
        result({"type": "resource_link", "uri": evil, "name": evil, "description": evil}),
        result({"type": "resource", "resource": {"uri": evil, "text": evil, "mimeType": evil}}),
        result({"type": "image", "data": evil, "mimeType": evil}, {"type": "audio", "data": evil, "mimeType": evil}),
        result({"type": evil}, {"type": "tool_use", "name": evil, "input": {evil: evil}}, notes=[evil]),
        Result({"content": [text(evil)], "isError": True}, server=evil, tool=evil),
        Read({"contents": [{"uri": evil, "text": evil, "mimeType": evil}]}, uri=evil, server="demo"),
        PromptResult({"description": evil, "messages": [{"role": evil, "content": text(evil)}]}, prompt=evil),
        ServerView(
            evil, evil, evil, evil, {"name": evil}, evil, [evil], {evil: {evil: True}}, {}, evil, evil, [evil], [evil]
        ),
        ServersView([ServerView(evil, evil, problem=evil)]),
        ListView(
            "tools",
            [(evil, {"name": evil, "description": evil, "title": evil, "inputSchema": {"properties": {evil: 1}}})],
        ),
        ListView(
            "resources",
            [(evil, {"uri": evil, "name": evil})],
            [(evil, {"uriTemplate": evil})],
            [(evil, evil, evil)],
            search=evil,
        ),
        ListView("prompts", [(evil, {"name": evil, "arguments": [{"name": evil}]})]),
        QuestionRecord(
            Question("1", "elicitation", evil, evil, {}, Cause(evil, evil)), Answer("accept", {evil: evil}, remark=evil)
        ),
        Question("1", "url", evil, evil, {"url": f"https://{evil}/x"}),
        Question("1", "sampling", evil, evil, {"messages": [{"role": evil, "content": text(evil)}]}),
        Question("1", "approval", evil, evil, {"tool": evil, "arguments": {evil: evil}, "origin": evil}),
        LogView(evil, [LogRow(evil, evil, evil)]),
        HelpView(evil, evil, [evil], [(evil, [(evil, evil)])], [evil]),
        NoteView(evil, "error", [evil]),
        CallView(evil, progress=1, message=evil),
        CallView(evil, "failed", outcome=UsageError(evil, usage=evil, server=evil)),
        ConnectionFailed(evil, server=evil, hint=evil, stderr=[evil]),
        TableView(evil, [evil], [[evil]], hint=evil),
    ]
    for view in views:
        words = page(view)
        assert not {"script", "svg", "iframe", "object", "link", "style", "form"} & set(words.tags), view
        assert "img" not in words.tags, view
        names = [name for name, _ in words.attributes]
        assert not [name for name in names if name.startswith("on")], view
        assert set(names) <= {"style", "class", "open"}, view


def test_terminal_codes_do_not_reach_the_page() -> None:
    shown = bundle(result(text("\x1b[31mred\x1b[0m\x07"), structuredContent={"a": "\x1b[1mx"}))
    assert "\x1b" not in json.dumps(shown["text/plain"]) + shown["text/html"]
    assert "red" in shown["text/plain"]


@pytest.mark.parametrize("kind", ["elicitation", "url", "sampling", "approval"])
def test_a_question_cannot_steer_a_terminal_or_turn_its_words_round(kind: Any) -> None:
    evil = "a\x1b[31mb\u202ecod.exe"
    said = {"url": f"https://{evil}/", "messages": [{"role": evil, "content": text(evil)}], "tool": evil}
    record = QuestionRecord(Question("1", kind, evil, evil, said), Answer("accept", {evil: evil}, remark=evil))
    for shown in (plain(record), plain(record.question)):
        assert "\x1b" not in shown
        assert "\u202e" not in shown


def test_nothing_that_changes_from_run_to_run_is_saved() -> None:
    shown = json.dumps(bundle(result(text("x"))))
    assert "1.23" not in shown
    assert bundle(result(text("x"))) == bundle(Result({"content": [text("x")]}, server="demo", tool="act", duration=9))


def test_an_empty_result_says_that_it_is_complete() -> None:
    assert plain(result()) == "demo.act: completed, returned no content"
    assert "completed, returned no content" in read(result())


def test_an_error_says_so_in_words_and_keeps_its_content() -> None:
    failed = result(text("table is locked"), isError=True, structuredContent={"wrong": 1})
    assert plain(failed).startswith("Error from demo.act\ntable is locked")
    assert "Error" in read(failed)
    assert "table is locked" in read(ToolError("table is locked", result=failed))
    assert plain(result(isError=True)) == "Error from demo.act: failed without a message"


def test_text_that_repeats_the_structured_content_is_shown_once() -> None:
    rows = [{"city": "Paris", "days": 3}, {"city": "Rome", "days": 4}]
    shown = plain(result(text(json.dumps({"result": rows})), structuredContent={"result": rows}))
    assert shown == "demo.act\ncity   days\nParis  3\nRome   4"
    each = result(text(json.dumps(rows[0])), text(json.dumps(rows[1])), structuredContent={"result": rows})
    assert plain(each) == shown


def test_text_that_says_more_than_the_structured_content_stays() -> None:
    shown = plain(result(text("It is warm."), structuredContent={"celsius": 30}))
    assert "It is warm." in shown
    assert "celsius: 30" in shown


def test_what_stands_beside_rows_is_shown_too() -> None:
    data = {"who": {"name": "Ada"}, "tags": ["a"], "points": [{"x": 1}], "log": {"lines": ["long"] * 99}, "maybe": None}
    shown = plain(result(structuredContent=data))
    assert 'who: {"name": "Ada"}\ntags: ["a"]\nmaybe: null' in shown
    assert "long" in shown
    assert shown.endswith("points\nx\n1")
    inner = plain(result(structuredContent={"result": {"rows": [{"x": 1}, {"x": 2}], "page": {"next": 7}}}))
    assert 'page: {"next": 7}' in inner
    split = {"columns": ["x"], "rows": [[1], [2]], "warnings": ["slow"]}
    assert 'warnings: ["slow"]' in plain(result(structuredContent=split))


def test_many_rows_are_cut_honestly() -> None:
    shown = bundle(result(text("rows"), structuredContent={"rows": [{"n": n} for n in range(500)], "total": 500}))
    assert "… 480 more rows; .df() holds all" in shown["text/plain"]
    assert "total: 500" in shown["text/plain"]
    assert shown["text/html"].count("<tr>") < 30
    assert len(shown["text/html"]) < 50_000


@pytest.mark.parametrize(
    "big",
    [
        result(text("x" * 3_000_000)),
        result(*[text(f"block {n} " + "y" * 3_000) for n in range(500)]),
        result(structuredContent={f"k{n}": "v" * 1_000 for n in range(1_000)}),
        result(structuredContent=[{f"c{n}": "z" * 500 for n in range(50)} for _ in range(500)]),
        ListView("tools", [("demo", {"name": f"tool{n}", "description": "d" * 5_000}) for n in range(2_000)]),
        LogView("demo", [LogRow("info", "l" * 4_000) for _ in range(5_000)]),
    ],
    ids=["text", "blocks", "members", "rows", "tools", "log"],
)
def test_a_saved_output_stays_small(big: object) -> None:
    shown = bundle(big)
    assert len(shown["text/html"]) < 50_000
    assert len(json.dumps(shown[MIME])) < 20_000
    assert "more" in shown["text/plain"] or "earlier" in shown["text/plain"]


def test_a_picture_is_embedded_by_its_first_bytes_and_named() -> None:
    shown = bundle(result({"type": "image", "data": b64(png()), "mimeType": "text/html"}))
    assert f"data:image/png;base64,{b64(png())}" in shown["text/html"]
    assert shown["image/png"] == b64(png())
    assert "image/png, 4 × 3" in shown["text/plain"]
    assert ".images[0]" in shown["text/plain"]


def test_two_pictures_are_both_on_the_page_and_numbered_as_the_object_numbers_them() -> None:
    image = {"type": "image", "data": b64(png()), "mimeType": "image/png"}
    embedded = {"type": "resource", "resource": {"uri": "x://y", "blob": b64(png()), "mimeType": "image/png"}}
    two = result(embedded, image)
    assert "image/png" not in bundle(two)
    assert bundle(two)["text/html"].count("<img ") == 2
    assert ".images[1]" in plain(two)
    assert len(two.images) == 2


def test_a_drawing_that_may_hold_scripts_is_an_image_and_no_part_of_the_page() -> None:
    drawing = b"<svg onload='x'><script>alert(1)</script></svg>"
    as_image = {"type": "image", "data": b64(drawing), "mimeType": "image/svg+xml"}
    contents = {"uri": "x://y", "text": drawing.decode(), "mimeType": "image/svg+xml"}
    for block in (as_image, {"type": "resource", "resource": contents}):
        shown = page(result(block))
        assert not {"svg", "script", "object", "iframe", "embed"} & set(shown.tags)
        assert [value for name, value in shown.attributes if name == "src"] == [
            f"data:image/svg+xml;base64,{b64(drawing)}"
        ]
    assert "image/svg+xml" in plain(result(as_image))


def test_a_small_sound_can_be_played_and_a_large_one_is_named() -> None:
    small = result({"type": "audio", "data": b64(b"RIFF0000WAVE"), "mimeType": "audio/wav"})
    assert "audio" in page(small).tags
    large = result({"type": "audio", "data": b64(b"\0" * 900_000), "mimeType": "audio/wav"})
    assert "audio" not in page(large).tags
    assert ".audio[0]" in plain(large)


def test_a_link_is_text_with_the_line_that_reads_it() -> None:
    link = result({"type": "resource_link", "uri": "notes://today", "name": "Today", "description": "notes"})
    assert "%mcp read demo notes://today" in plain(link)
    assert "%mcp read demo notes://today" in read(link)
    assert "a" not in page(link).tags


def test_an_embedded_resource_is_folded() -> None:
    shown = result({"type": "resource", "resource": {"uri": "notes://a", "text": "hello"}})
    assert "details" in page(shown).tags
    assert "hello" in read(shown)


@pytest.mark.parametrize("block", [None, 3, "text", {}, {"type": "text"}, {"type": "resource"}, {"type": ["x"]}, []])
def test_an_odd_block_harms_nothing(block: Any) -> None:
    assert "fine" in plain(result(block, text("fine")))


def test_a_resource_shows_its_address_and_text() -> None:
    one = Read({"contents": [{"uri": "notes://a", "text": "# Title", "mimeType": "text/markdown"}]}, uri="notes://a")
    assert plain(one) == "notes://a (text/markdown)\n# Title"
    none = Read({"contents": []}, uri="notes://a")
    assert "no contents" in plain(none)
    binary = Read({"contents": [{"uri": "x://a", "blob": b64(b"\0\1"), "mimeType": "application/zip"}]}, uri="x://a")
    assert "2 bytes; .bytes holds it" in plain(binary)
    picture = Read({"contents": [{"uri": "x://a", "blob": b64(png())}]}, uri="x://a")
    assert bundle(picture)["image/png"] == b64(png())


def test_a_prompt_shows_each_message_under_its_role() -> None:
    got = PromptResult(
        {"messages": [{"role": "user", "content": text("Review")}, {"role": "assistant", "content": text("Yes")}]},
        server="demo",
        prompt="review",
    )
    assert plain(got) == "demo.review\nuser: Review\nassistant: Yes"


def test_a_server_says_what_it_speaks_and_names_variables_never_their_values() -> None:
    view = ServerView(
        "demo", "ready", "modern", "2026-07-28", {"name": "Demo", "version": "1"},
        target="/opt/venv/bin/python -m demo", env=["TOKEN"], counts={"tools": 11, "resources": 1, "prompts": 0},
    )  # fmt: skip
    assert plain(view).splitlines() == [
        "demo ready · Demo 1 · modern 2026-07-28",
        "  offers: 11 tools, 1 resource",
        "  started as: …/python -m demo",
        "  environment: TOKEN",
    ]


def test_a_server_in_trouble_shows_the_end_of_its_stderr() -> None:
    view = ServerView("bad", "failed", problem="it exited with code 3", stderr=["TOKEN is missing"])
    assert "Problem: it exited with code 3" in plain(view)
    assert "TOKEN is missing" in read(view)


def test_no_server_says_how_to_begin() -> None:
    assert "%mcp connect demo" in plain(ServersView([]))
    assert "%mcp connect demo" in plain(ListView("tools", []))


def test_a_list_says_how_many_how_to_call_and_what_was_skipped() -> None:
    view = ListView(
        "tools",
        [
            (
                "demo",
                {
                    "name": "add",
                    "description": "Adds.",
                    "inputSchema": {"properties": {"b": {}, "a": {}}, "required": ["a"]},
                },
            )
        ],
        problems=[("demo", "ghost", "it has no name")],
    )
    assert plain(view).splitlines()[0] == "1 tool of demo"
    assert "demo.add  Adds.         a, b?" in plain(view)
    assert "Note: demo: ghost: it has no name" in plain(view)
    searched = ListView("tools", [], servers=["demo"], search="zzz")
    assert plain(searched) == "No tools of demo matching “zzz”."


def test_servers_without_any_are_not_counted() -> None:
    some = [("demo", {"name": "review"}), ("demo", {"name": "trip"})]
    assert plain(ListView("prompts", some, servers=["time", "demo"])).startswith("2 prompts of demo\n")
    both = [*some, ("time", {"name": "zone"})]
    assert plain(ListView("prompts", both, servers=["time", "demo", "x"])).startswith("3 prompts of 2 servers\n")
    assert plain(ListView("prompts", [], servers=["time", "demo"])) == "No prompts of 2 servers."


@pytest.mark.parametrize(
    "item", [{}, {"name": None}, {"name": "x", "inputSchema": None}, {"name": "x", "description": 3}]
)
def test_an_odd_item_costs_only_its_own_cell(item: dict[str, Any]) -> None:
    for kind in ("tools", "resources", "prompts"):
        assert "fine" in plain(ListView(kind, [("demo", item), ("demo", {"name": "fine", "uri": "x://fine"})]))


ASKED = Question("1", "elicitation", "demo", "Which seat?", {}, Cause("tools/call", "book"))


@pytest.mark.parametrize(
    ("answer", "ends"),
    [
        (Answer("accept", {"seat": "12A"}), ["Accepted", "seat: 12A"]),
        (Answer("decline", remark="too dear"), ["Declined", "remark (kept here, not sent): too dear"]),
        (Answer("cancel"), ["Cancelled: nothing was chosen"]),
        (Answer("accept", {"seat": "1"}, by="script"), ["Accepted (by a scripted answer)", "seat: 1"]),
        (
            Answer("cancel", by="headless", note="script it"),
            ["Cancelled: nothing was chosen (nobody was there to ask)", "Note: script it"],
        ),
        (None, ["Closed: the call was cancelled"]),
    ],
)
def test_a_question_leaves_a_record(answer: Answer | None, ends: list[str]) -> None:
    record = QuestionRecord(ASKED, answer)
    assert plain(record).splitlines() == ["demo asked, while running demo.book", "> Which seat?", *ends]


def test_a_record_masks_what_is_named_like_a_secret() -> None:
    record = QuestionRecord(ASKED, Answer("accept", {"password": "correct horse", "city": "Rome"}))
    assert "correct horse" not in json.dumps(bundle(record))
    assert "Rome" in plain(record)


def test_the_record_of_an_address_names_its_host_only() -> None:
    question = Question("1", "url", "demo", "Log in", {"url": "https://me@login.example.org/a?state=abc"})
    shown = json.dumps(bundle(QuestionRecord(question, Answer("accept"))))
    assert "login.example.org" in shown
    assert "state=abc" not in shown


@pytest.mark.parametrize(
    ("progress", "total", "says"),
    [
        (5, 10, "5 of 10"),
        (12, 10, "10 of 10"),
        (1, 0, "1"),
        (7.5, None, "7.50"),
        (float("nan"), 1, ""),
        (1, float("nan"), "1"),
    ],
)
def test_progress_is_never_more_than_all_and_never_not_a_number(
    progress: float, total: float | None, says: str
) -> None:
    shown = plain(CallView("demo.slow", progress=progress, total=total))
    assert shown == f"demo.slow is running{f': {says}' if says else ''}"


def test_a_done_call_is_its_result() -> None:
    assert bundle(CallView("demo.act", "done", outcome=result(text("5")))) == bundle(result(text("5")))


def test_an_error_shows_its_sentence_and_what_helps() -> None:
    shown = plain(ConnectionFailed("It exited.", server="bad", hint="Set TOKEN.", stderr=["/home/ann/x.py failed"]))
    assert shown.splitlines() == [
        "ConnectionFailed: It exited. Set TOKEN.",
        "stderr:",
        "…/x.py failed",
        "more: %mcp log bad",
    ]


def test_anything_else_is_shown_by_its_repr() -> None:
    assert "object" in plain(object())


def test_an_object_that_knows_its_view_is_drawn_as_that() -> None:
    class Mine:
        def __mcp_view__(self) -> object:
            return NoteView("mine")

    assert plain(Mine()) == "mine"


def test_every_bundle_has_text_page_and_data() -> None:
    for obj in (result(text("x")), NoteView("x"), ServersView([]), ASKED, UsageError("x")):
        shown = bundle(obj)
        assert set(shown) == {"text/plain", "text/html", MIME}
        assert shown[MIME]["kind"]
        assert re.fullmatch(r"<div.*</div>", shown["text/html"], re.DOTALL)
