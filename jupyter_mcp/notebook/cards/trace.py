"""The live trace: what goes between us and the servers, as it happens, to be filtered, opened and sent again.

    trace_card(trace, runner)     for the value of `%mcp trace`; its filter and its server are taken over

One row for each request with all that came of it (`host.journal.exchanges`). The list is the component `rows`; what is
looked at when is in `tracefeed`, what a row says in `tracerows`. What is saved is the table that stands there without a
page.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import MCPError, UsageError
from jupyter_mcp.host.journal.repeat import repeat_message
from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.live import Card
from jupyter_mcp.notebook.cards.outcome import Outcome
from jupyter_mcp.notebook.cards.runner import HostRunner
from jupyter_mcp.notebook.cards.tracefeed import Feed, Ticker
from jupyter_mcp.notebook.cards.tracerows import detail, heading
from jupyter_mcp.notebook.components.newcell import NewCell
from jupyter_mcp.notebook.components.rows import Column, Rows
from jupyter_mcp.notebook.objects.trace import Trace
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.bundles import bundle
from jupyter_mcp.protocol.shapes import mapping_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from jupyter_mcp.host.journal.again import Again
    from jupyter_mcp.host.journal.exchanges import Exchange
    from jupyter_mcp.notebook.cards.runner import Runner
    from jupyter_mcp.notebook.cards.tracefeed import Source

__all__ = ["TracePanel", "trace_card"]

QUIET_SECONDS = 2.0
"""After so long without news, what is saved of the card is drawn anew."""
_FILTER = "Filter: method:tools/call status:error duration>1s server:demo, or words"


def trace_card(trace: Trace, runner: Runner | None = None) -> Card:
    """Display the live trace."""
    from jupyter_mcp.notebook.objects.act import get_host

    panel = TracePanel(get_host().journal, runner or HostRunner(), trace.server, trace.text)
    card = panel.card.show()
    panel.begin()
    return card


class TracePanel:
    """The card.

    Args:
        source: the journal.
        runner: sends requests again.
        server: whose messages; None for all.
        text: the filter to begin with.
    """

    def __init__(self, source: Source, runner: Runner, server: str | None = None, text: str = "") -> None:
        self._source = source
        self._runner = runner
        self._server = server
        self._text = text
        self._feed = Feed(source, server)
        self._guard = threading.RLock()
        self._paused = False
        self._dirty_since: float | None = None
        self._again: Again | None = None
        self._current = ""
        self._masked: object = None  # what was masked when the pane was drawn
        self._wrong = False  # the box holds what is no filter
        self._lines = _rows(server)
        self._lines.query = text
        self._ticker = Ticker(self.tick)
        self._build()
        self._feed.filter(text)
        self.look()

    def _build(self) -> None:
        lines = self._lines
        lines.on_search(self._filter)
        lines.on_open(self._open)
        lines.on_toggle(self._toggle)
        self._pause = kit.widgets.ToggleButton(
            description="Pause", tooltip="Show nothing new", layout={"width": "auto"}
        )
        self._order = kit.widgets.ToggleButton(
            description="Oldest first", tooltip="The order of the rows", layout={"width": "auto"}
        )
        kit.watch(self._pause, self._paused_or_not)
        kit.watch(self._order, self._reorder)
        clear = kit.button("Clear view", self._clear, tip="Leave out what has come so far; it stays on record")
        self._count = kit.markup("", "jmcp-help")
        self._title = kit.markup("")
        self._resend = kit.button("Send again", self._send_again, tip="As it was sent; rules and questions as ever")
        self._cell = NewCell([("cell", "Insert as a cell", "code")], self._as_cell)
        self._buttons = kit.row([self._resend, self._cell])
        self._outcome = Outcome(self._lock)
        self._messages = kit.markup("")
        self._pane = kit.column([self._title, self._buttons, self._outcome.root, self._messages])
        kit.hide(self._pane, True)
        tools = kit.row([self._pause, self._order, clear, self._count])
        self.card = Card(kit.root([tools, lines, self._pane]), self._still)
        self.card.on_over.append(self.end)

    # --- as time goes by ---

    def begin(self) -> None:
        """Follow what happens, until the card is over."""
        self._ticker.start()

    def end(self) -> None:
        self._ticker.stop()

    def tick(self) -> None:
        """Look, if there is something new; and when it has become quiet, save what is shown."""
        if self._feed.stale and not self._paused:
            if self._lines.note and not self._wrong:
                self._lines.note = ""  # how many were found is not so any more
            self.look()
            self._dirty_since = time.monotonic()
        elif self._dirty_since is not None and time.monotonic() - self._dirty_since > QUIET_SECONDS:
            self._dirty_since = None
            self.card.redraw()

    def look(self) -> None:
        """Show what the journal has now."""
        with self._guard:
            self._feed.look()
            self._draw()

    def _draw(self) -> None:
        with self._guard:
            self._lines.set(self._feed.rows())
            self._tell_count()
            if self._current:
                self._show(self._current)

    def _tell_count(self) -> None:
        shown, total = len(self._feed.shown), self._feed.total
        told = f"{shown:,} of {total:,}" if shown != total else f"{total:,}"
        kit.paint(self._count, f"<span>{told} {'request' if total == 1 else 'requests and notifications'}</span>")

    # --- what is shown ---

    def _filter(self, text: str) -> None:
        with self._guard:
            try:
                self._feed.filter(text)
            except UsageError as error:
                self._lines.note, self._wrong = str(error), True
                return
            self._text, self._wrong = text, False
            self._lines.query = text
            self._draw()
            shown = len(self._feed.shown)
            self._lines.note = f"{shown:,} found" if text.strip() else ""

    def _toggle(self, name: str, opened: bool) -> None:
        with self._guard:
            (self._feed.opened.add if opened else self._feed.opened.discard)(name)
            self._draw()

    def _paused_or_not(self) -> None:
        self._paused = bool(self._pause.value)
        self._pause.description = "Resume" if self._paused else "Pause"
        if not self._paused:
            self.look()

    def _reorder(self) -> None:
        with self._guard:
            self._feed.newest_first = not self._order.value
            self._draw()

    def _clear(self) -> None:
        with self._guard:
            self._feed.clear()
            self._feed.opened.clear()
            self._close_pane()
            self._draw()

    # --- a row that is opened ---

    def _open(self, name: str) -> None:
        with self._guard:
            if not self._outcome.busy:
                kit.hide(self._outcome.root, True)
            self._current = name
            self._show(name)

    def _show(self, name: str) -> None:
        found, masked = self._feed.find(name), self._source.redactor.state
        if found is None:  # it is not on record any more, but still to be read, unless less may be shown now
            if masked != self._masked:
                self._close_pane()
            return
        self._masked = masked
        exchange, entries = found
        kit.paint(
            self._title,
            f'<div role="heading" aria-level="4" style="margin-top:8px"><b>{html.escape(heading(exchange))}</b></div>',
        )
        kit.paint(self._messages, detail(entries))
        self._offer(exchange)
        kit.hide(self._pane, False)

    def _close_pane(self) -> None:
        self._current = ""
        kit.paint(self._title, "")
        kit.paint(self._messages, "")
        kit.hide(self._pane, True)

    def _offer(self, exchange: Exchange) -> None:
        """What can be done with it: only our own calls, reads and prompts can be sent again."""
        self._again = self._source.again(exchange.number)
        kit.hide(self._buttons, self._again is None)
        self._lock()

    def _lock(self) -> None:
        self._resend.disabled = self._outcome.busy or self._again is None

    def _as_cell(self, key: str) -> str:
        found = self._feed.find(self._current)
        try:
            return repeat_message(found[0].first).magic if found is not None else ""
        except MCPError:
            return repeat_message(found[0].first).python if found is not None else ""

    def _send_again(self) -> None:
        again = self._again
        if again is None:
            return
        kit.hide(self._outcome.root, False)
        self._outcome.run(f"{again.server}.{self._named()}", self._beginning(again))

    def _named(self) -> str:
        """What it is about, as it may be shown."""
        found = self._feed.find(self._current)
        return found[0].target if found is not None else ""

    def _beginning(self, again: Again) -> Callable[[Callable[[object], None]], Future[Any]]:
        def begin(on_event: Callable[[object], None]) -> Future[Any]:
            if again.method == "tools/call":
                return self._runner.call(again.server, again.name, again.arguments, on_event)
            if again.method == "resources/read":
                return self._runner.read(again.server, again.name)
            return self._runner.prompt(again.server, again.name, mapping_of(again.arguments))

        return begin

    # --- what is saved ---

    def _still(self) -> Any:
        trace = Trace.of(self._source.news([], self._server), self._server)
        return bundle(trace(self._text))


def _rows(server: str | None) -> Rows:
    columns = [
        Column("what", "Request", "minmax(0,2.7fr)", "code"),
        Column("target", "About", "minmax(0,1.9fr)", "code"),
        Column("status", "Status", "92px", "badges"),
        Column("took", "Took", "72px", "number"),
        Column("era", "Era", "64px", wide=True),
        Column("at", "At", "96px", "number", wide=True),
    ]
    if server is None:
        columns.insert(2, Column("server", "Server", "minmax(0,0.9fr)", wide=True))
    whose = f" of {server}" if server is not None else ""
    return Rows(columns, f"Trace{whose}", search=_FILTER, height=420, empty="No messages.")
