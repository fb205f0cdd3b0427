"""What people complain of in other inspectors and hosts, and that it cannot happen in the explorer.

Numbers are those of the list that issue 6 goes by: 5 (resource templates), 13 (list_changed).
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.notebook import cards
from jupyter_mcp.server import Server
from tests.notebook.page import box, button, capture, walk, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.notebook.conftest import Cells

WAIT = 30.0


def until(condition: Callable[[], object], what: str) -> None:
    """Bounded: what a server tells comes on another thread."""
    end = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.02)


class Explored:
    """An explorer over the kernel's real host."""

    def __init__(self, tab: str, **more: Any) -> None:
        self.root = cards.explorer_card(tab, **more).root
        self.list = next(widget for widget in walk(self.root) if type(widget).__name__ == "Rows")

    @property
    def names(self) -> list[str]:
        return [row["cells"][0] for row in self.list._list.window(0, 200)]

    def open(self, name: str) -> None:
        row = next(row for row in self.list._list.window(0, 200) if row["cells"][0] == name)
        self.list._handle_custom_msg({"type": "open", "id": row["id"]}, [])


@pytest.fixture
def explore(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Explored]]:
    capture(monkeypatch)
    yield Explored
    cards.close_all()


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_13_a_list_that_changes_while_a_call_runs_is_there_before_the_call_ends(
    cells: Cells, explore: Callable[..., Explored], era: str
) -> None:
    server, go_on = Server("s"), threading.Event()

    @server.tool
    def grow() -> str:
        """Add a tool, then go on working."""

        @server.tool
        def late() -> str:
            """New."""
            return "late"

        assert go_on.wait(WAIT)
        return "grown"

    cells.put(server=server)
    cells.run(f"%mcp connect s --era {era} $server;")
    explored = explore("tools")
    explored.open("grow")
    button(explored.root, "Call").click()
    try:
        until(lambda: "late" in explored.names, "the tool that came meanwhile")
        assert "list changed: 1 new" in words(explored.root)
        assert explored.list.current.endswith("grow"), "what was chosen stays chosen"
        explored.open("late")
        assert "New." in words(explored.root)
    finally:
        go_on.set()
    explored.open("grow")
    until(lambda: "grown" in words(explored.root), "the call's own result, in its own pane")


def test_13_what_a_server_adds_right_after_it_was_connected_is_not_missed(
    cells: Cells, explore: Callable[..., Explored]
) -> None:
    server = Server("s")

    @server.tool
    def first() -> str:
        """The only one at the start."""
        return "first"

    cells.put(server=server)
    explored = explore("tools")
    cells.run("%mcp connect s $server;")
    for number in range(20):
        server.add_tool(lambda: "x", name=f"more{number}")
    until(lambda: len(explored.names) == 21, "all that came after the first list was read")


def test_5_a_template_has_a_field_for_each_variable_and_its_query_is_expanded(
    cells: Cells, explore: Callable[..., Explored]
) -> None:
    server, asked = Server("s"), list[str]()

    @server.resource("find://{place}/items{?page,size}")
    def find(place: str, page: str = "1", size: str = "10") -> str:
        """Items of a place."""
        asked.append(f"{place} {page} {size}")
        return f"page {page} of {place}"

    cells.put(server=server)
    cells.run("%mcp connect s $server;")
    explored = explore("resources")
    explored.open("find://{place}/items{?page,size}")
    assert "Still needed: place" in words(explored.root)
    box(explored.root, "place").value = "new york/ü"
    assert "find://new%20york%2F%C3%BC/items" in words(explored.root)
    box(explored.root, "page").value = "2"
    assert "find://new%20york%2F%C3%BC/items?page=2" in words(explored.root)
    button(explored.root, "Read").click()
    until(lambda: asked == ["new york/ü 2 10"], "the server reads the variables as they were typed")
