"""The log of a server keeps its last lines, and knows how many there have been: whoever follows it sees what is new."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jupyter_mcp.host.entry import ServerEntry
from jupyter_mcp.host.specs import ServerSpec
from jupyter_mcp.notebook.cards.explorer.source import HostSource
from jupyter_mcp.runtime import state
from jupyter_mcp.server import Server

if TYPE_CHECKING:
    import pytest


class OneServer:
    """A host as far as a log is looked for in it."""

    def __init__(self, entry: ServerEntry) -> None:
        self._entry = entry

    def find(self, name: str) -> ServerEntry:
        assert name == self._entry.name
        return self._entry


def entry_of(lines: int) -> ServerEntry:
    entry = ServerEntry("demo", ServerSpec.parse("demo", Server("demo")))
    for number in range(lines):
        entry.say("stderr", f"line {number}")
    return entry


def test_the_last_lines_are_kept_and_all_are_counted() -> None:
    entry = entry_of(1_005)
    assert (len(entry.lines()), entry.logged) == (1_000, 1_005)
    assert [entry.lines()[at].text for at in (0, -1)] == ["line 5", "line 1004"]
    entry.say("stderr", "two\nlines")
    assert entry.logged == 1_007


def test_the_explorer_is_told_how_many_came_before(monkeypatch: pytest.MonkeyPatch) -> None:
    for lines, dropped in ((3, 0), (1_000, 0), (1_005, 5)):
        made = OneServer(entry_of(lines))
        monkeypatch.setattr(state, "get_host", lambda made=made: made)
        view = HostSource().log("demo")
        assert (view.dropped, len(view.rows)) == (dropped, lines - dropped)
