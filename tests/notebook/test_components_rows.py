"""Long lists and trees: the page is sent what is in sight, and nothing it sends is believed."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.notebook.components import component
from jupyter_mcp.notebook.components.rowlist import MAX_WINDOW, RowList
from jupyter_mcp.notebook.components.rows import Column, Rows

if TYPE_CHECKING:
    from collections.abc import Iterator

TREE = [
    {"id": "a", "name": "a", "expandable": True},
    {"id": "a1", "name": "a1", "depth": 1},
    {"id": "a2", "name": "a2", "depth": 1, "expandable": True, "open": False},
    {"id": "a2x", "name": "a2x", "depth": 2},
    {"id": "b", "name": "b"},
]


class Told(Rows):
    """A list whose messages to the page are kept."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        self.told: list[dict[str, Any]] = []
        super().__init__(*arguments, **more)

    def send(self, content: dict[str, Any], buffers: Any = None) -> None:
        self.told.append({**content, "buffers": buffers})

    def page(self, **message: Any) -> None:
        """A message from the page."""
        self._handle_custom_msg(message, [])


@pytest.fixture
def rows() -> Iterator[Told]:
    made = Told([Column("name", "Name", sortable=True), Column("size", "Size", kind="number", sortable=True)], "Files")
    yield made
    made.close()


def names(found: RowList) -> list[str]:
    return [row["id"] for row in found.window(0, MAX_WINDOW)]


def tree() -> RowList:
    made = RowList(["name"])
    made.set(TREE)
    return made


def test_what_is_below_a_closed_row_does_not_show() -> None:
    found = tree()
    assert names(found) == ["a", "a1", "a2", "b"]
    found.toggle("a2", True)
    assert names(found) == ["a", "a1", "a2", "a2x", "b"]
    found.toggle("a", False)
    assert names(found) == ["a", "b"]


def test_folds_stay_as_they_are_when_the_rows_are_replaced() -> None:
    found = tree()
    found.toggle("a", False)
    found.set([*TREE, {"id": "c", "name": "c"}])
    assert names(found) == ["a", "b", "c"]


def test_a_row_knows_where_its_parent_stands() -> None:
    found = tree()
    found.toggle("a2", True)
    assert [row.get("up") for row in found.window(0, 9)] == [None, 0, 0, 2, None]


def test_of_two_rows_of_one_id_the_first_counts() -> None:
    found = RowList(["name"])
    found.set([{"id": "1", "name": "first"}, {"id": "1", "name": "second"}])
    assert [row["cells"] for row in found.window(0, 9)] == [["first"]]


def test_numbers_sort_as_numbers_and_rows_without_a_value_come_last() -> None:
    found = RowList(["size"])
    found.set([{"id": "ten", "size": 10}, {"id": "none"}, {"id": "nine", "size": 9}, {"id": "word", "size": "big"}])
    found.sort("size", False)
    assert names(found) == ["nine", "ten", "word", "none"]
    found.sort("size", True)
    assert names(found) == ["word", "ten", "nine", "none"]
    found.sort("", False)
    assert names(found) == ["ten", "none", "nine", "word"]


def test_another_value_than_the_shown_one_may_sort() -> None:
    found = RowList(["size"])
    found.set([{"id": "a", "size": "2 kB", "sort": {"size": 2000}}, {"id": "b", "size": "9 B", "sort": {"size": 9}}])
    found.sort("size", False)
    assert names(found) == ["b", "a"]


def test_letters_find_the_next_row_that_begins_with_them_and_go_round() -> None:
    found = RowList(["name"])
    found.set([{"id": str(n), "name": name} for n, name in enumerate(["add", "Sub", "Adieu"])])
    assert found.find("ad", 0) == 2
    assert found.find("AD", 2) == 0
    assert found.find("x", 0) is None


def test_no_message_carries_more_rows_than_its_bound() -> None:
    found = RowList(["name"])
    found.set([{"id": str(n), "name": "x" * 9_000} for n in range(5_000)])
    window = found.window(-7, 10**9)
    assert len(window) == MAX_WINDOW
    assert max(len(row["cells"][0]) for row in window) == 500


def test_text_of_servers_is_cleaned_on_its_way_to_the_page() -> None:
    found = RowList(["name"])
    odd = {"id": "1", "name": "a\x1b[31mred\u202e", "badges": [{"text": "x\ny", "tone": "javascript:"}, "no badge"]}
    found.set([odd])
    assert found.window(0, 1) == [{"id": "1", "cells": ["ared"], "badges": [["x y", ""]]}]


def test_the_page_gets_the_rows_in_sight_with_the_news(rows: Told) -> None:
    rows.set([{"id": str(n), "name": f"file {n}"} for n in range(1_000)])
    told = rows.told[-1]
    assert (told["type"], told["count"], len(told["rows"])) == ("rows", 1_000, 60)
    assert told["version"] == rows.version
    rows.page(type="window", start=500, stop=10_000, view="v", active="7")
    told = rows.told[-1]
    assert (told["start"], len(told["rows"]), told["active"], told["view"]) == (500, MAX_WINDOW, 7, "v")


def test_nothing_of_the_rows_is_in_the_state_that_is_saved_with_a_notebook(rows: Told) -> None:
    rows.set([{"id": str(n), "name": "a secret name"} for n in range(100)])
    state = {key: value for key, value in rows.get_state().items() if key not in ("_esm", "_css")}
    assert "secret" not in repr(state)


@pytest.mark.parametrize(
    "message",
    [
        {"type": "open", "id": "unknown"},
        {"type": "open", "id": ["1"]},
        {"type": "open"},
        {"type": "toggle", "id": "1", "open": True},
        {"type": "select", "id": "1", "on": True},
        {"type": "window", "start": "0", "stop": None},
        {"type": "sort", "key": "unknown", "descending": False},
        {"type": "find", "prefix": 3, "after": "x"},
        {"type": "search", "text": None},
        {"type": "icon", "key": {}},
        {"type": "no such type"},
        {"type": 3},
        {},
    ],
)
def test_a_message_that_makes_no_sense_changes_nothing(rows: Told, message: dict[str, Any]) -> None:
    heard: list[object] = []

    def hear(*what: object) -> None:
        heard.append(what)

    rows.set([{"id": "1", "name": "one"}])
    rows.on_open(hear)
    rows.on_toggle(hear)
    rows.on_select(hear)
    rows.on_sort(hear)
    rows.page(**message)
    assert heard == []
    assert (rows.selected, rows.current, rows.sorting, rows.query) == ([], "", [], "")


def test_opening_ticking_sorting_and_searching_reach_the_owner() -> None:
    rows = Told([Column("name", "Name", sortable=True)], "Files", multiple=True, search="Search files")
    heard: list[object] = []
    rows.on_open(heard.append)
    rows.on_select(heard.append)
    rows.on_search(heard.append)
    rows.on_sort(lambda key, descending: heard.append((key, descending)))
    rows.set([{"id": "1", "name": "b"}, {"id": "2", "name": "a"}])
    rows.page(type="open", id="2")
    rows.page(type="select", id="1", on=True)
    rows.page(type="search", text="fi")
    rows.page(type="sort", key="name", descending=False)
    assert heard == ["2", ["1"], "fi", ("name", False)]
    assert [row["id"] for row in rows.told[-1]["rows"]] == ["2", "1"]
    rows.set([{"id": "2", "name": "a"}])
    assert rows.selected == [], "a row that is gone is not ticked"
    rows.close()


def test_the_page_hears_when_a_search_is_done_also_when_it_failed(rows: Told) -> None:
    def fail(_: str) -> None:
        raise RuntimeError("oh")

    rows.page(type="search", text="a", view="v")
    rows.on_search(fail)
    rows.page(type="search", text="b", view="v")
    assert [(one["type"], one["view"]) for one in rows.told] == [("searched", "v"), ("searched", "v")]


def test_what_is_fixed_cannot_be_ticked() -> None:
    rows = Told([Column("name", "Name")], "x", multiple=True)
    rows.set([{"id": "folder", "name": "a", "fixed": True}, {"id": "leaf", "name": "b"}])
    rows.page(type="select", id="folder", on=True)
    rows.page(type="select", id="leaf", on=True)
    assert rows.selected == ["leaf"]
    rows.close()


def test_only_a_tab_that_is_there_can_be_chosen() -> None:
    heard: list[str] = []
    rows = Told([Column("name", "Name")], "x", tabs=[("a", "A 1"), ("b", "B 2")])
    rows.on_tab(heard.append)
    for key in ("b", "unknown", None, "b"):
        rows.page(type="tab", key=key)
    assert (rows.tab, heard) == ("b", ["b"])
    rows.close()


def test_a_fold_is_closed_by_the_page_and_told_to_the_owner(rows: Told) -> None:
    heard: list[object] = []
    rows.on_toggle(lambda name, opened: heard.append((name, opened)))
    rows.set(TREE)
    assert rows.tree
    rows.page(type="toggle", id="a", open=False)
    assert heard == [("a", False)]
    assert [row["id"] for row in rows.told[-1]["rows"]] == ["a", "b"]


def test_a_thousand_rows_added_one_by_one_are_few_messages(rows: Told) -> None:
    arrived = threading.Event()
    send = rows.send

    def sent(content: dict[str, Any], buffers: Any = None) -> None:
        send(content, buffers)
        if content.get("count") == 1_000:
            arrived.set()

    rows.send = sent
    for n in range(1_000):
        rows.append({"id": str(n), "name": f"line {n}"})
    assert arrived.wait(10)
    assert len(rows.told) < 20


def test_a_row_is_updated_in_its_place(rows: Told) -> None:
    rows.set([{"id": "1", "name": "one"}, {"id": "2", "name": "two"}])
    rows.update({"id": "1", "name": "uno"}, {"id": "9", "name": "unknown"})
    assert rows.row("1") == {"id": "1", "name": "uno"}
    assert rows.row("9") is None


def test_a_picture_goes_to_the_page_as_bytes_and_only_when_there_is_one() -> None:
    rows = Told([Column("name", "Name")], "x", icons={"k": ("image/png", b"png")}.get)
    rows.page(type="icon", key="k")
    rows.page(type="icon", key="other")
    assert [(one.get("mime"), one["buffers"]) for one in rows.told] == [("image/png", [b"png"]), (None, [])]
    rows.close()


def test_a_handler_that_fails_is_logged_and_no_more(rows: Told, caplog: pytest.LogCaptureFixture) -> None:
    def fail(_: str) -> None:
        raise RuntimeError("oh")

    rows.set([{"id": "1", "name": "one"}])
    rows.on_open(fail)
    rows.page(type="open", id="1")
    assert "could not handle a message of type 'open'" in caplog.text


def test_an_unknown_component_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        component("nothing")
