"""Results one can do something with: sort, unfold, search, read, copy, save; nothing large is in their state."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.host.result import PromptResult, Read, Result
from jupyter_mcp.notebook.cards.results.card import deserves_card
from jupyter_mcp.notebook.cards.results.view import ResultView, block_view, prompt_view, read_view
from jupyter_mcp.notebook.components.copy import Copy
from jupyter_mcp.notebook.components.jsontree import JsonTree, path_text
from jupyter_mcp.notebook.components.media import Media
from jupyter_mcp.notebook.components.newcell import NewCell
from jupyter_mcp.notebook.components.rows import Rows
from tests.notebook.page import FakeRunner, Page, button, capture, walk, words
from tests.notebook.test_render import b64, png, text
from tests.notebook.test_render_results import HOSTILE

if TYPE_CHECKING:
    from collections.abc import Iterator

CITIES: list[dict[str, Any]] = [{"city": f"city {n}", "people": (n * 7919) % 1000} for n in range(500)]


@pytest.fixture(autouse=True)
def page(monkeypatch: pytest.MonkeyPatch) -> Page:
    return capture(monkeypatch)


@pytest.fixture
def runner() -> Iterator[FakeRunner]:
    made = FakeRunner()
    yield made
    for future in made.futures:
        if not future.done():
            future.cancel()


def result(*blocks: Any, **more: Any) -> Result:
    about: dict[str, Any] = {"duration": 0.125, "request_id": 17, "sent": lambda: {"a": 1}}
    about.update({key: more.pop(key) for key in ("fits", "notes", "sent") if key in more})
    return Result({"content": list(blocks), **more}, server="demo", tool="act", **about)


def shown(made: Result, runner: FakeRunner | None = None) -> Any:
    return ResultView(made, runner or FakeRunner()).root


def one(root: Any, kind: type[Any]) -> Any:
    found = [widget for widget in walk(root) if isinstance(widget, kind)]
    assert found, f"no {kind.__name__}"
    return found[0]


class Told:
    """What a component tells the page."""

    def __init__(self, widget: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        self.said: list[tuple[dict[str, Any], Any]] = []
        monkeypatch.setattr(widget, "send", self._send)
        self._widget = widget

    def _send(self, content: dict[str, Any], buffers: Any = None) -> None:
        self.said.append((content, buffers))

    def hear(self, **message: Any) -> Any:
        """The page sends a message; what it is told."""
        self.said.clear()
        self._widget._handle_custom_msg(message, [])
        return self.said[-1] if self.said else None


def window(rows: Any, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    told = Told(rows, monkeypatch).hear(type="window", start=0, stop=10)
    return [row["cells"] for row in told[0]["rows"]]


# --- tables ----------------------------------------------------------------------------------------------------------


def test_rows_are_sorted_by_a_heading_as_what_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    root = shown(result(structuredContent={"rows": CITIES, "note": "all of them"}))
    rows = one(root, Rows)
    assert rows.count == 500
    told = Told(rows, monkeypatch)
    told.hear(type="sort", key="c1", descending=True)
    cells = [row["cells"] for row in told.hear(type="window", start=0, stop=5)[0]["rows"]]
    ordered = sorted(CITIES, key=lambda row: -row["people"])
    assert [int(cell[1]) for cell in cells] == [row["people"] for row in ordered[:5]]
    assert "500 rows, 2 columns; .df() makes a data frame of them" in words(root)
    assert "all of them" in words(root), "what stands beside the rows is not lost"


def test_what_has_rows_in_it_is_a_tree_as_well() -> None:
    root = shown(result(structuredContent={"rows": CITIES, "page": {"next": 2}}))
    button(root, "▸ All of it as a tree").click()
    tree = [widget for widget in walk(root) if isinstance(widget, Rows)][-1]
    assert tree.label == "JSON value"
    assert tree.tree


def test_a_row_that_is_chosen_is_shown_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    root = shown(result(structuredContent=[{"id": n, "long": "x" * 200 + f"end{n}"} for n in range(3)]))
    Told(one(root, Rows), monkeypatch).hear(type="open", id="1")
    assert "row 2" in words(root)
    assert "end1" in words(root)


def test_the_table_of_a_text_in_markdown_can_be_sorted(monkeypatch: pytest.MonkeyPatch) -> None:
    root = shown(result(text("Two:\n\n| city | days |\n|---|---|\n| Paris | 3 |\n| Rome | 4 |\n")))
    button(root, "▸ Its table, to be sorted").click()
    assert window(one(root, Rows), monkeypatch) == [["Paris", "3"], ["Rome", "4"]]


def test_what_a_server_says_about_a_block_is_said_once() -> None:
    block = {**text("# T\n\n**b**\n"), "annotations": {"priority": 0.9}}
    assert words(shown(result(block))).count("priority 0.9") == 1


def test_rows_of_a_text_are_a_table_too(monkeypatch: pytest.MonkeyPatch) -> None:
    root = shown(result(text("city,days\nParis,3\nRome,4\n")))
    assert window(one(root, Rows), monkeypatch) == [["Paris", "3"], ["Rome", "4"]]


# --- trees -----------------------------------------------------------------------------------------------------------


def test_a_tree_makes_rows_for_what_is_opened_only() -> None:
    tree = JsonTree({"many": list(range(1_000_000)), "deep": {"a": {"b": [1, {"c": "x"}]}}})
    rows = tree.rows()
    assert [row["key"] for row in rows] == ["$", "many", "deep"]
    assert rows[1]["value"] == "[] 1,000,000 items"
    assert tree.open(rows[1]["id"])
    assert len(tree.rows()) == 3 + 201
    more = tree.rows()[202]
    assert more["value"].startswith("999,800 more")
    assert tree.open(more["id"])
    assert [row["key"] for row in tree.rows()[201:204]] == ["[199]", "[200]", "[201]"]
    assert not tree.open("nonsense")


def test_a_member_says_its_path_and_its_value() -> None:
    tree = JsonTree({"a b": [{"x": "long " * 200}], "n": None})
    tree.open(tree.rows()[1]["id"])
    tree.open(tree.rows()[2]["id"])
    last = tree.rows()[3]
    assert tree.path(last["id"]) == '$["a b"][0].x'
    assert tree.at(last["id"]) == "long " * 200
    assert "1,000 characters" in last["value"]
    assert tree.open(last["id"]), "a long text unfolds to its lines"
    assert path_text(()) == "$"


def test_a_search_finds_names_and_values_however_deep() -> None:
    deep: Any = {"needle": "here"}
    for _ in range(3_000):
        deep = [deep]
    tree = JsonTree({"deep": deep, "other": "no needle but this", "n": 5})
    assert tree.search("NEEDLE") == "2 members with 'NEEDLE'"
    assert [row["key"] for row in tree.rows()][-1] == "$.other"
    assert tree.path(tree.rows()[0]["id"]).endswith("[0].needle")
    assert tree.search("") == ""
    assert tree.rows()[0]["key"] == "$"


def test_what_is_chosen_in_a_tree_is_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    root = shown(result(structuredContent={"who": {"name": "Ada", "tags": ["x", {"y": 1}]}}))
    rows, copy = one(root, Rows), Told(one(root, Copy), monkeypatch)
    told = Told(rows, monkeypatch)
    names = {row["cells"][0]: row["id"] for row in told.hear(type="window", start=0, stop=20)[0]["rows"]}
    told.hear(type="open", id=names["who"])
    assert copy.hear(type="want", key="path", view="v")[0]["text"] == "$.who"
    value = copy.hear(type="want", key="value", view="v")[0]["text"]
    assert json.loads(value) == {"name": "Ada", "tags": ["x", {"y": 1}]}
    assert copy.hear(type="want", key="nonsense", view="v") is None


# --- pictures, sounds, files -----------------------------------------------------------------------------------------


def test_bytes_go_to_the_page_when_it_asks_and_are_in_no_state(monkeypatch: pytest.MonkeyPatch) -> None:
    root = shown(
        result(
            {"type": "image", "data": b64(png()), "mimeType": "text/html"},
            {"type": "audio", "data": b64(b"RIFF0000WAVE"), "mimeType": "audio/wav"},
            {"type": "image", "data": b64(b"<svg onload='x'/>"), "mimeType": "image/png"},
        )
    )
    media = [widget for widget in walk(root) if isinstance(widget, Media)]
    assert [(one.kind, one.mime) for one in media] == [
        ("image", "image/png"), ("audio", "audio/wav"), ("drawing", "image/svg+xml"),
    ]  # fmt: skip
    message, buffers = Told(media[0], monkeypatch).hear(type="want", why="show", view="v1")
    assert (message["fits"], buffers) == (True, [png()])
    for widget in media:
        assert b64(png())[:40] not in json.dumps(widget.get_state(), default=str)
    assert [one.name for one in media] == ["image0.png", "audio0.wav", "drawing1.svg"]


def test_an_image_that_is_none_is_words() -> None:
    root = shown(result({"type": "image", "data": b64(b"<html>"), "mimeType": "image/png"}))
    assert not [widget for widget in walk(root) if isinstance(widget, Media)]
    assert "not shown" in words(root)


# --- links and embedded resources ------------------------------------------------------------------------------------


def test_a_link_is_read_when_it_is_clicked_and_by_the_host(runner: FakeRunner) -> None:
    link = {"type": "resource_link", "uri": "notes://today", "name": "Today", "description": "of <b>today</b>"}
    root = shown(result(link), runner)
    assert runner.calls == [], "nothing is read by itself"
    assert "of &lt;b&gt;today&lt;/b&gt;" in words(root)
    button(root, "Read").click()
    assert runner.calls == [("read", "demo", "notes://today")]
    contents = {"contents": [{"uri": "notes://today", "text": "# Notes\n\n**now**", "mimeType": "text/markdown"}]}
    runner.futures[0].set_result(Read(contents, uri="notes://today", server="demo"))
    assert "Notes now" in words(root)
    assert not button(root, "Read again").disabled


def test_an_embedded_resource_is_made_when_it_is_opened() -> None:
    root = shown(result({"type": "resource", "resource": {"uri": "notes://a", "text": "hello"}}))
    assert "hello" not in words(root)
    button(root, "▸ Resource notes://a").click()
    assert "hello" in words(root)
    button(root, "▾ Resource notes://a").click()
    assert "hello" not in words(root)


# --- words -----------------------------------------------------------------------------------------------------------


def test_what_it_took_and_which_request_it_was_is_said() -> None:
    assert "125 ms · request 17" in words(shown(result(text("x"))))


def test_no_content_is_said_and_is_not_the_same_as_no_call() -> None:
    assert "completed, returned no content" in words(shown(result()))
    assert "failed without a message" in words(shown(result(isError=True)))


def test_an_error_of_the_tool_keeps_its_content_and_says_whose_it_is() -> None:
    root = shown(result(text("table is locked"), isError=True))
    assert "Error from demo.act" in words(root)
    assert "The tool itself reports it" in words(root)
    assert "table is locked" in words(root)


def test_a_result_that_fits_its_schema_is_marked_and_one_that_does_not_is_explained() -> None:
    assert "✓ fits its output schema" in words(shown(result(structuredContent={"n": 1}, fits=True)))
    note = "The structured content does not fit the tool's output schema at n: 1 is no text."
    root = shown(result(structuredContent={"n": 1}, fits=False, notes=[note]))
    assert "✓" not in words(root)
    assert "Note: The structured content does not fit" in words(root)


def test_a_long_text_begins_on_the_page_and_the_rest_comes_when_it_is_scrolled_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    long = "\n".join(f"line {n}" for n in range(40_000))
    root = shown(result(text(long)))
    assert len(words(root)) < 5_000
    opener = next(w for w in walk(root) if getattr(w, "description", "").startswith("▸ All "))
    opener.click()
    rows = one(root, Rows)
    assert rows.count == 40_000
    told = Told(rows, monkeypatch).hear(type="window", start=39_990, stop=40_000)
    assert told[0]["rows"][-1]["cells"] == ["line 39999"]


def test_markdown_is_drawn_and_the_letters_are_behind_a_button() -> None:
    root = shown(result(text("# Title\n\n**bold** [hidden]\n\n[hidden]: https://example.org 'words'\n")))
    assert "'words'" not in words(root)
    button(root, "▸ The text as it was sent").click()
    assert "&#x27;words&#x27;" in words(root)


def test_a_result_is_copied_and_its_call_becomes_a_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    made = result(text("it is 42"), structuredContent={"n": 42})
    root = shown(made)
    copy = [widget for widget in walk(root) if isinstance(widget, Copy)][-1]
    assert [key for key, _ in copy.buttons] == ["text", "data", "raw"]
    told = Told(copy, monkeypatch)
    assert told.hear(type="want", key="text", view="v")[0]["text"] == "it is 42"
    assert json.loads(told.hear(type="want", key="raw", view="v")[0]["text"]) == made.raw
    cell = Told(one(root, NewCell), monkeypatch)
    assert cell.hear(type="want", key="magic", view="v")[0]["source"] == '%mcp call demo act {"a": 1}'
    assert (
        "mcp.servers['demo'].tools['act'].call({'a': 1})" in cell.hear(type="want", key="python", view="v")[0]["source"]
    )


def test_a_secret_that_was_masked_is_a_placeholder_in_the_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    from jupyter_mcp.host.redaction import MASK

    root = shown(result(text("x"), sent=lambda: {"token": MASK}))
    source = Told(one(root, NewCell), monkeypatch).hear(type="want", key="magic", view="v")[0]["source"]
    assert "${TOKEN}" in source
    assert "--fill TOKEN" in source


@pytest.mark.parametrize("evil", HOSTILE)
def test_nothing_of_a_server_is_html_in_a_live_view(evil: str) -> None:
    blocks: list[dict[str, Any]] = [
        text(evil),
        text(f"# T\n\n- {evil}\n- **b**\n"),
        text(json.dumps([{evil: evil}] * 3)),
        text(json.dumps({"a": {"b": [evil, {evil: 1}]}})),
        {"type": "resource_link", "uri": evil, "name": evil, "title": evil, "description": evil, "mimeType": evil},
        {"type": "resource", "resource": {"uri": evil, "text": evil, "mimeType": evil}},
        {"type": evil, "data": evil},
    ]
    for block in blocks:
        root = shown(Result({"content": [block]}, server=evil, tool=evil))
        for widget in walk(root):
            if type(widget).__name__ == "Button" and widget.description.startswith("▸"):
                widget.click()
        for widget in walk(root):
            if type(widget).__name__ == "HTML":
                lowered = widget.value.lower()
                for bad in (
                    "<script",
                    "<img",
                    "<svg",
                    "<iframe",
                    "<object",
                    "<embed",
                    "<form",
                    "<math",
                    "<base",
                    "<style>",
                ):
                    assert bad not in lowered, (block, widget.value)
                assert 'href="javascript' not in lowered
                assert 'href="data' not in lowered


def test_what_reads_and_prompts_give_is_shown_the_same_way() -> None:
    read = Read({"contents": [{"uri": "x://a", "text": "a,b\n1,2\n3,4\n", "mimeType": "text/csv"}]}, uri="x://a")
    assert one(read_view(read, FakeRunner()), Rows).count == 2
    assert "no contents" in words(read_view(Read({"contents": []}, uri="x://a"), FakeRunner()))
    prompt = PromptResult({"messages": [{"role": "user", "content": text("**Go**")}]}, server="demo", prompt="p")
    assert "user **Go**" in words(prompt_view(prompt))
    assert "hello" in words(block_view(text("hello"), "demo", FakeRunner()))


@pytest.mark.parametrize(
    ("made", "deserves"),
    [
        (result(text("it is 42"), structuredContent={"result": 42}), False),
        (result(text("x" * 20_000)), True),
        (result(structuredContent={"rows": CITIES}), True),
        (result(structuredContent=CITIES[:3]), False),
        (result(structuredContent={"a": {"b": {"c": list(range(30))}, "d": [{"e": n} for n in range(9)]}}), True),
        (result({"type": "resource_link", "uri": "x://y"}), True),
        (result({"type": "image", "data": b64(png())}), False),
        (result(text("# T\n\n**b**\n")), False),
        (result(isError=True), False),
    ],
)
def test_a_card_is_made_where_there_is_more_to_do_than_to_look(made: Result, deserves: bool) -> None:
    assert deserves_card(made) is deserves
