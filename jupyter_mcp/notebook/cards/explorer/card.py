"""The explorer's card: one search over everything, a tab for each kind, a list of any length, and a pane.

The list is one component. The pane of what is chosen is built then, and the last few are kept, so that a form that
was begun is still there after a look at something else. When a server's list changes, the explorer merges what is new,
says so, and marks it until somebody has looked; what was chosen stays chosen.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from functools import partial
from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.explorer import lines, tree
from jupyter_mcp.notebook.cards.explorer.collect import Collect
from jupyter_mcp.notebook.cards.explorer.icons import Icons
from jupyter_mcp.notebook.cards.explorer.index import Changes, Index
from jupyter_mcp.notebook.cards.explorer.panes import Panes
from jupyter_mcp.notebook.cards.explorer.still import still
from jupyter_mcp.notebook.cards.live import Card, free
from jupyter_mcp.notebook.components.rows import Column, Rows
from jupyter_mcp.notebook.render.text import count

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from jupyter_mcp.notebook.cards.explorer.index import Thing
    from jupyter_mcp.notebook.cards.explorer.source import Source
    from jupyter_mcp.notebook.cards.runner import Runner
    from jupyter_mcp.notebook.render.bundles import Bundle

__all__ = ["TABS", "Explorer"]

TABS = ("tools", "resources", "prompts", "servers", "waiting")
_KINDS = {"tools": ("tool",), "resources": ("resource", "template"), "prompts": ("prompt",)}
_WORDS = {"tools": "Tools", "resources": "Resources", "prompts": "Prompts", "servers": "Servers", "waiting": "Waiting"}
_EMPTY = {
    "tools": "No tool fits.",
    "resources": "No resource fits.",
    "prompts": "No prompt fits.",
    "servers": "No server is connected. Start with: %mcp connect demo",
    "waiting": "Nothing waits for an answer.",
}
PAUSE_SECONDS = 0.15
"""How long changes are collected: a server that tells of many at once is looked at once."""
KEPT = 6
"""Panes that are kept, the one that shows among them."""


class Explorer:
    """One explorer.

    Args:
        tab: which of `TABS` it opens at.
        servers: only what these offer; None is all, also those that come later.
        search: the words that it opens with.
        runner: does what the panes' buttons say.
        source: where it looks.
        only: what is saved of it is the list of its tab alone.
    """

    def __init__(
        self,
        tab: str,
        servers: Sequence[str] | None,
        search: str,
        runner: Runner,
        source: Source,
        *,
        only: bool = False,
    ) -> None:
        self._scope = None if servers is None else frozenset(servers)
        self._whole = not only
        self._runner, self._source = runner, source
        self._guard = threading.RLock()
        self._timer: threading.Timer | None = None
        self._seen = Index()
        self._listed: set[tuple[str, str]] = set()
        self._changes = Changes()
        self._kept: OrderedDict[str, tuple[object, Any]] = OrderedDict()
        self._chosen = ""
        self._icons = Icons(source, self._icon_came)
        self._rows: Any = Rows(
            [Column("name", "Name")],
            "What the servers offer",
            search="Search everything: names, descriptions, arguments",
            height=520,
            row_height=44,
            heads=False,
            icons=self._icons.get,
            tabs=[(key, _WORDS[key]) for key in TABS],
        )
        self._rows.tab = tab
        self._rows.query = search
        self._news = kit.markup("")
        seen = kit.button("Mark as seen", self._see, tip="Take the marks of what is new away")
        self._news_row = kit.row([self._news, seen], "jmcp-news")
        self._collect = Collect(runner, source, lambda: list(self._rows.selected), self._clear_selected)
        self._gone = kit.markup("")
        self._pane = kit.column([kit.markup(_WELCOME, "jmcp-help")])
        self._panes = Panes(runner, source, self._redraw)
        self.card = Card(self._laid_out(), self._still)
        self._index = Index()
        self._take_in()
        self._show()
        self._rows.on_search(self._narrowed)
        self._rows.on_tab(self._narrowed)
        self._rows.on_open(self._open)
        self._rows.on_select(self._ticked)
        self._stop: Callable[[], object] = source.follow(self._soon)
        self.card.on_over.append(self._end)
        self._open_the_only_one()

    def _laid_out(self) -> Any:
        left = kit.column([self._news_row, self._rows, self._collect.root])
        left.layout.min_width, left.layout.flex = "min(300px, 100%)", "1 1 340px"
        right = kit.column([self._gone, self._pane], "jmcp-pane")
        right.layout.flex, right.layout.min_width = "2 1 460px", "0"
        body = kit.widgets.HBox(
            [left, right], layout=kit.widgets.Layout(flex_flow="row wrap", overflow="visible", grid_gap="16px")
        )
        made = kit.root([body])
        made.layout.max_width = "1200px"
        return made

    # --- what there is -----------------------------------------------------------------------------------------------

    def _looked(self) -> Index:
        return Index.of(offer for offer in self._source.offers() if self._scope is None or offer[1] in self._scope)

    def _soon(self) -> None:
        """Something may be another now. Any thread."""
        with self._guard:
            if self._timer is None and not self.card.over:
                self._timer = threading.Timer(PAUSE_SECONDS, self._merge)
                self._timer.daemon = True
                self._timer.start()

    def _merge(self) -> None:
        """Take what has changed in, and say so."""
        with self._guard:
            self._timer = None
            if self.card.over:
                return
            before = self._index
            self._take_in()
            if self._index != before:
                self.card.redraw()
            self._panes.server_changed()
            self._show()

    def _take_in(self) -> None:
        """Look again; a list that is read for the first time is not news, what it then gains and loses is."""
        self._index = self._looked()
        listed = {(view.name, kind) for view in self._source.servers() for kind in view.counts}
        first = listed - self._listed
        self._listed |= listed
        things = self._index.things.values()
        self._seen = self._seen.with_things(one for one in things if (one.server, f"{one.kind}s") in first)
        self._changes = self._index.since(self._seen)

    def _see(self) -> None:
        with self._guard:
            self._seen = self._index
            self._changes = Changes()
            self._show()

    def _end(self) -> None:
        """The card is over: nothing is followed any more, and the panes that do not show are freed too."""
        self._stop()
        self._icons.close()
        with self._guard:
            if self._timer is not None:
                self._timer.cancel()
            kept, self._kept = self._kept, OrderedDict()
        for name, (_, pane) in kept.items():
            self._panes.forget(name)
            free(pane)

    # --- drawing -----------------------------------------------------------------------------------------------------

    def _redraw(self) -> None:
        with self._guard:
            self._show()

    def _narrowed(self, _: str) -> None:
        self._redraw()

    def _ticked(self, _: list[str]) -> None:
        self._collect.refresh()

    def _show(self) -> None:
        """The rows of the tab, narrowed by the search; the tabs say how much of each fits."""
        rows, tab, query = self._rows, self._rows.tab, self._rows.query
        found = self._index.search(query)
        by_tab = {key: [thing for thing in found if thing.kind in kinds] for key, kinds in _KINDS.items()}
        others = {"servers": self._server_rows(query), "waiting": self._question_rows(query)}
        numbers = {**{key: len(things) for key, things in by_tab.items()}, **{key: len(v) for key, v in others.items()}}
        with rows.hold_sync():
            rows.tabs = [[key, f"{_WORDS[key]} {numbers[key]:,}"] for key in TABS if self._has_tab(key, numbers[key])]
            rows.multiple = tab == "resources"
            rows.empty = _EMPTY[tab] if query or tab not in _KINDS else f"No server offers {tab}."
            rows.note = self._note(query, len(found))
        shown = others[tab] if tab in others else self._thing_rows(tab, by_tab[tab], bool(query.strip()))
        rows.selected = [one for one in rows.selected if one in self._index.things]
        rows.set(shown, keep_ticks=True)
        self._collect.show(tab == "resources")
        self._say_news()

    def _has_tab(self, key: str, number: int) -> bool:
        """What waits has a tab while something does."""
        return key != "waiting" or number > 0 or self._rows.tab == key

    def _thing_rows(self, tab: str, things: Sequence[Thing], narrowed: bool) -> list[Any]:
        if tab == "resources":
            watched = self._source.watched()
            off = frozenset(one for thing in things for one in self._off(thing))
            return tree.tree_rows(things, self._changes, watched=watched, open_all=narrowed, off=off)
        changes = self._changes
        return [lines.Lazy(one.id, partial(self._line, one, changes)) for one in things]

    def _line(self, thing: Thing, changes: Changes) -> Mapping[str, Any]:
        return lines.line(thing, changes, self._off(thing))

    def _off(self, thing: Thing) -> frozenset[tuple[str, str]]:
        """The thing, when models cannot use it."""
        name = (thing.server, thing.key)
        return frozenset({name}) if self._runner.switched_off(*name) else frozenset()

    def _server_rows(self, query: str) -> list[dict[str, Any]]:
        views = [view for view in self._source.servers() if self._scope is None or view.name in self._scope]
        rows = [lines.server_line(view, self._panes.latency.get(view.name)) for view in views]
        return _fitting(rows, query)

    def _question_rows(self, query: str) -> list[dict[str, Any]]:
        return _fitting([lines.question_line(question) for question in self._source.questions()], query)

    def _note(self, query: str, found: int) -> str:
        whole = len(self._index.things)
        return f"{found:,} of {whole:,} fit" if query.strip() else f"{count(whole, 'thing')} offered"

    def _say_news(self) -> None:
        said = f"list changed: {self._changes}" if self._changes else ""
        kit.paint(self._news, kit.status(said))
        kit.hide(self._news_row, not said)
        thing = self._index.things.get(self._chosen)
        lost = self._chosen in self._changes.gone
        told = thing is not None and self._chosen in self._kept and self._kept[self._chosen][0] != thing
        there = any(view.name == _server(self._chosen) for view in self._source.servers())
        words = "The server no longer offers this." if there else "Its server is not connected."
        words = words if lost else ""
        words = words or ("The server describes this otherwise now; choose it again to see how." if told else "")
        kit.paint(self._gone, kit.status(words, "warning"))

    def _icon_came(self, key: str, icon: tuple[str, bytes] | None) -> None:
        """On the runtime's thread: a picture that was asked for is there."""
        if icon is not None and not self.card.over:
            self._rows.tell("icon", [icon[1]], key=key, mime=icon[0])

    # --- the pane ----------------------------------------------------------------------------------------------------

    def _open(self, name: str) -> None:
        if tree.is_folder(name):
            return
        with self._guard:
            item = self._item(name)
            if item is None:
                return
            known = self._kept.get(name)
            if known is not None and known[0] != item:
                self._panes.forget(name)
                free(self._kept.pop(name)[1])
                known = None
            pane = known[1] if known is not None else self._panes.of(name, item)
            if known is None:
                self.card.wire(pane)
            self._kept[name] = (item, pane)
            self._kept.move_to_end(name)
            self._chosen = name
            self._pane.children = [pane]
            self._forget_old()
            self._looked_at(name)

    def _item(self, name: str) -> Any:
        """The thing, server or question behind a row; None when it is gone."""
        kind, _, rest = name.partition("\n")
        if kind == "server":
            return next((view.name for view in self._source.servers() if view.name == rest), None)
        if kind == "question":
            return next((one for one in self._source.questions() if name == lines.question_line(one)["id"]), None)
        return self._index.things.get(name)

    def _forget_old(self) -> None:
        """Panes in which something runs stay, for what comes of it lands there."""
        spare = len(self._kept) - KEPT
        for name in [one for one in self._kept if one != self._chosen and not self._panes.busy(one)][: max(0, spare)]:
            self._panes.forget(name)
            free(self._kept.pop(name)[1])

    def _looked_at(self, name: str) -> None:
        """What is chosen is new no more."""
        if name in self._changes.new or name in self._changes.changed:
            self._seen = self._seen.with_things([self._index.things[name]])
            self._changes = self._index.since(self._seen)
            self._show()
        else:
            self._say_news()

    def _open_the_only_one(self) -> None:
        things = [one for one in self._index.search(self._rows.query) if one.kind in _KINDS.get(self._rows.tab, ())]
        if len(things) == 1:
            self._rows.current = things[0].id
            self._open(things[0].id)

    def _clear_selected(self) -> None:
        self._rows.selected = []

    def _still(self) -> Bundle:
        tab = None if self._whole else self._rows.tab
        return still(self._index, self._source.servers(), tab, self._scope, self._rows.query)


_WELCOME = (
    "<p>Choose something from the list: a click, or arrow keys and Enter. Letters jump to a name, / searches.</p>"
)


def _server(name: str) -> str:
    """Whose a row is, by its id."""
    return name.split("\n")[1] if name.count("\n") else ""


def _fitting(rows: list[dict[str, Any]], query: str) -> list[dict[str, Any]]:
    words = query.lower().split()
    return [row for row in rows if all(word in f"{row['name']} {row['detail']}".lower() for word in words)]
