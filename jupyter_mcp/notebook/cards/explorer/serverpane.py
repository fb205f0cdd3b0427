"""One server in the explorer: what it is and how it is, a sign of life, its buttons, and its log in a fold."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import MCPError
from jupyter_mcp.notebook.cards import clock, kit
from jupyter_mcp.notebook.cards.outcome import Outcome
from jupyter_mcp.notebook.cards.switching import ModelSwitch
from jupyter_mcp.notebook.components.rows import Column, Rows
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.servers import server_piece
from jupyter_mcp.notebook.render.text import count
from jupyter_mcp.notebook.render.views import ServerView

if TYPE_CHECKING:
    from collections.abc import Callable

    from jupyter_mcp.notebook.cards.explorer.source import Source
    from jupyter_mcp.notebook.cards.runner import Runner
    from jupyter_mcp.notebook.render.views import LogView

__all__ = ["ServerPane"]

_TONES = {"warning": "warn", "error": "error", "critical": "error", "alert": "error", "emergency": "error"}


class ServerPane:
    """The pane of one server.

    Args:
        name: which.
        runner: connects and disconnects it.
        source: knows how it is.
        answered: told how many seconds a sign of life took.
    """

    def __init__(self, name: str, runner: Runner, source: Source, answered: Callable[[str, float], object]) -> None:
        self._name, self._runner, self._source, self._answered = name, runner, source, answered
        self._view = ServerView(name, "closed")
        self._picture = kit.markup("", "jmcp-head")
        self._disconnect = kit.button("Disconnect", self._close, tip=f"Close the connection to {name}")
        self._reconnect = kit.button("Reconnect", self._again, tip=f"Close and start {name} again")
        self._ping = kit.button("Ask for a sign of life", self._ask, tip=f"See how long {name} takes to answer")
        self._outcome = Outcome(self.refresh)
        self._log = LogFold(name, source)
        buttons = kit.row([self._disconnect, self._reconnect, self._ping])
        switch = ModelSwitch(runner, name).root
        self.root = kit.column([self._picture, buttons, switch, self._outcome.root, self._log.root])
        self.refresh()

    @property
    def busy(self) -> bool:
        """Whether it is being connected or asked."""
        return self._outcome.busy

    def refresh(self) -> None:
        """Draw it as it is now. Any thread."""
        found = next((view for view in self._source.servers() if view.name == self._name), None)
        self._view = found or replace(self._view, state="closed", problem=None)
        kit.paint(self._picture, server_piece(self._view).html)
        busy, gone = self._outcome.busy, self._view.state == "closed"
        self._disconnect.disabled = busy or gone
        self._reconnect.disabled = busy
        self._reconnect.description = "Connect again" if gone else "Reconnect"
        self._ping.disabled = busy or self._view.state not in ("ready", "unresponsive")

    def close(self) -> None:
        """The pane is gone."""
        self._log.close()

    def _close(self) -> None:
        said = html.note(f"{html.escape(self._name)} is disconnected.")
        self._outcome.run(f"disconnect {self._name}", lambda _: self._runner.disconnect(self._name), lambda _: said)

    def _again(self) -> None:
        said = html.note("Connected again.", "good")
        self._outcome.run(f"reconnect {self._name}", lambda _: self._runner.reconnect(self._name), lambda _: said)

    def _ask(self) -> None:
        self._outcome.run(f"ping {self._name}", lambda _: self._source.ping(self._name), self._alive)

    def _alive(self, seconds: float) -> str:
        self._answered(self._name, seconds)
        return html.note(f"{html.escape(self._name)} answered within {seconds * 1000:.1f} ms.", "good")


class LogFold:
    """The log and stderr of a server, read while the fold is open."""

    def __init__(self, name: str, source: Source) -> None:
        self._name, self._source = name, source
        self._following = False
        self._seen = 0
        self._open = kit.widgets.ToggleButton(
            False, description="Log and stderr", tooltip=f"What {name} wrote and what was noted about it"
        )
        self._open.layout.width = "auto"
        self._lines: Any = None
        self._words = ""
        self._place = kit.column([])
        self.root = kit.column([kit.row([self._open]), self._place])
        kit.watch(self._open, self._toggle)

    def close(self) -> None:
        """Follow it no longer."""
        if self._following:
            self._following = False
            clock.stop(self._read)

    def _toggle(self) -> None:
        if not self._open.value:
            self.close()
            kit.hide(self._place, True)
            return
        if self._lines is None:
            self._lines = self._made()
            self._place.children = [self._lines]
            _unroute(self._lines)
        kit.hide(self._place, False)
        self._seen = -1
        self._read()
        self._following = True
        clock.start(self._read)

    def _made(self) -> Any:
        columns = [
            Column("text", "Line", kind="code"),
            Column("source", "From", "70px", wide=True),
            Column("level", "Level", "90px", kind="badges"),
        ]
        lines = Rows(
            columns, f"Log of {self._name}", search="Search the log", height=260, row_height=24, follow=True,
            empty="Nothing logged.",
        )  # fmt: skip
        lines.on_search(self._search)
        return lines

    def _search(self, words: str) -> None:
        self._words = words
        self._seen = -1
        self._read()

    def _read(self) -> None:
        """Any thread, once a second while it is open."""
        try:
            view = self._source.log(self._name)
        except MCPError:  # it is gone, and so is its log
            self.close()
            return
        logged = view.dropped + len(view.rows)  # a full log is as long after a line as before it
        if logged != self._seen:
            self._seen = logged
            self._draw(view)

    def _draw(self, view: LogView) -> None:
        words = self._words.lower().split()
        rows = [
            {
                "id": str(at),  # a line keeps its id when older ones are dropped
                "text": row.text,
                "source": row.source,
                "badges": [{"text": row.level, "tone": _TONES.get(row.level, "")}],
            }
            for at, row in enumerate(view.rows, view.dropped)
            if all(word in f"{row.source} {row.level} {row.text}".lower() for word in words)
        ]
        older = f", the last of {view.dropped + len(view.rows):,}" if view.dropped and not words else ""
        self._lines.note = count(len(rows), "line") + older
        self._lines.set(rows)


def _unroute(widget: Any) -> None:
    from jupyter_mcp.runtime.pump import unroute

    unroute(widget)
