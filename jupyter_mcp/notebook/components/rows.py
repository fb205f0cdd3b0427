"""A list, table or tree of any length: the page holds the rows that are in sight, the kernel holds them all.

    rows = Rows([Column("name", "Tool"), Column("server", "Server", "120px")], label="Tools", search="Search tools")
    rows.set([{"id": "1", "name": "add", "server": "demo", "badges": [{"text": "read-only", "tone": "ok"}]}])
    rows.on_open(show)      # a click, or Enter: show("1")

What a row may hold: `rowlist`. Callbacks come on whatever thread the page's message comes, as with every widget.
"""

from __future__ import annotations

import threading
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import traitlets

from jupyter_mcp.notebook.components import component
from jupyter_mcp.notebook.components.rowlist import MAX_WINDOW, RowList

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

__all__ = ["Column", "Rows"]

PAUSE_SECONDS = 0.1
"""How long news of `append` and `update` are collected: any number of them a second costs the page ten messages."""
MAX_SEARCH = 500
_Component: Any = component("rows", "rows_line", "rows_frame", "rows_hands")


@dataclass(frozen=True)
class Column:
    """One column.

    Args:
        key: of the rows' values.
        title: its heading.
        width: a CSS grid width ("120px", "2fr").
        kind: how it looks; "badges" is where a row's badges stand (else behind the first column).
        sortable: whether its heading sorts.
        wide: left out where there is little room.
    """

    key: str
    title: str
    width: str = "minmax(0,1fr)"
    kind: Literal["text", "code", "number", "badges"] = "text"
    sortable: bool = False
    wide: bool = False


class Rows(_Component):
    """The component.

    Args:
        columns: at least one.
        label: what it is a list of, for screen readers.
        search: the words in an empty search box; "" for none.
        multiple: several rows can be ticked.
        height: of the part that scrolls, in pixels at most.
        row_height: in pixels; a row with a `detail` needs 44.
        heads: whether the columns' headings show.
        empty: what stands there when there is no row.
        follow: whether it stays at the end as rows are added (a log).
        icons: gives a picture by its key: its MIME type and bytes, or None.
        tabs: (key, words) of what the list can show one of at a time, above the rows; the words may change (`tabs`).
    """

    columns: Any = traitlets.List(traitlets.Any()).tag(sync=True)
    label: Any = traitlets.Unicode().tag(sync=True)
    placeholder: Any = traitlets.Unicode().tag(sync=True)
    query: Any = traitlets.Unicode().tag(sync=True)
    note: Any = traitlets.Unicode().tag(sync=True)
    multiple: Any = traitlets.Bool(False).tag(sync=True)
    height: Any = traitlets.Int(420).tag(sync=True)
    row_height: Any = traitlets.Int(30).tag(sync=True)
    heads: Any = traitlets.Bool(True).tag(sync=True)
    empty: Any = traitlets.Unicode().tag(sync=True)
    follow: Any = traitlets.Bool(False).tag(sync=True)
    tree: Any = traitlets.Bool(False).tag(sync=True)
    count: Any = traitlets.Int(0).tag(sync=True)
    version: Any = traitlets.Int(0).tag(sync=True)
    current: Any = traitlets.Unicode().tag(sync=True)
    selected: Any = traitlets.List(traitlets.Unicode()).tag(sync=True)
    sorting: Any = traitlets.List(traitlets.Any()).tag(sync=True)
    tabs: Any = traitlets.List(traitlets.Any()).tag(sync=True)
    tab: Any = traitlets.Unicode().tag(sync=True)

    def __init__(
        self,
        columns: Sequence[Column],
        label: str,
        *,
        search: str = "",
        multiple: bool = False,
        height: int = 420,
        row_height: int = 30,
        heads: bool = True,
        empty: str = "Nothing here.",
        follow: bool = False,
        icons: Callable[[str], tuple[str, bytes] | None] | None = None,
        tabs: Sequence[tuple[str, str]] = (),
    ) -> None:
        _Component.__init__(
            self,
            columns=[asdict(column) for column in columns],
            label=label,
            placeholder=search,
            multiple=multiple,
            height=height,
            row_height=row_height,
            heads=heads,
            empty=empty,
            follow=follow,
            tabs=[list(one) for one in tabs],
            tab=tabs[0][0] if tabs else "",
        )
        self._list = RowList([column.key for column in columns])
        self._guard = threading.RLock()
        self._icons = icons
        self._asked = (0, 60)
        self._timer: threading.Timer | None = None
        self._listeners: dict[str, list[Callable[..., object]]] = {}
        handlers: dict[str, Callable[[Mapping[str, Any]], object]] = {
            "window": self._window,
            "open": self._opened,
            "toggle": self._toggled,
            "select": self._select,
            "find": self._find,
            "sort": self._sort,
            "search": self._search,
            "icon": self._icon,
            "tab": self._choose_tab,
        }
        for kind, handler in handlers.items():
            self.hear(kind, handler)

    # --- for its owner; any thread ---

    def set(self, rows: Sequence[Mapping[str, Any]], *, keep_ticks: bool = False) -> None:
        """Show these rows instead. Focus, ticks and what is folded stay with the rows that stay.

        Args:
            rows: see `rowlist`.
            keep_ticks: also those of rows that are not among them (a search that narrows the list unticks nothing).
        """
        with self._guard:
            self._list.set(rows)
            if not keep_ticks:
                self.selected = [one for one in self.selected if self._list.row(one) is not None]
            self._changed()

    def append(self, *rows: Mapping[str, Any]) -> None:
        """Add rows at the end."""
        with self._guard:
            self._list.append(rows)
            self._soon()

    def update(self, *rows: Mapping[str, Any]) -> None:
        """Show these instead of the rows of the same ids."""
        with self._guard:
            self._list.update(rows)
            self._soon()

    def go(self, name: str) -> None:
        """Bring a row into sight and make it the one that the keyboard is at."""
        at = self._list.position(name)
        if at is not None:
            self.tell("go", index=at, view="")

    def row(self, name: str) -> Mapping[str, Any] | None:
        """The row of an id."""
        return self._list.row(name)

    def on_open(self, callback: Callable[[str], object]) -> None:
        """Call it with the id of a row that is clicked or entered."""
        self._listen("open", callback)

    def on_toggle(self, callback: Callable[[str, bool], object]) -> None:
        """Call it with the id of a row that was opened (True) or closed; the rows below it are folded already."""
        self._listen("toggle", callback)

    def on_select(self, callback: Callable[[list[str]], object]) -> None:
        """Call it with the ids that are ticked when they change."""
        self._listen("select", callback)

    def on_sort(self, callback: Callable[[str, bool], object]) -> None:
        """Call it with the column that orders now, and whether it descends."""
        self._listen("sort", callback)

    def on_search(self, callback: Callable[[str], object]) -> None:
        """Call it with what is in the search box, at each key."""
        self._listen("search", callback)

    def on_tab(self, callback: Callable[[str], object]) -> None:
        """Call it with the key of a tab that is chosen."""
        self._listen("tab", callback)

    def close(self) -> None:
        with self._guard:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
        _Component.close(self)

    # --- news for the page ---

    def _changed(self) -> None:
        """The rows in sight go along, so that they need not be asked for."""
        version = self.version + 1
        self._send_window(version, *self._asked)
        with self.hold_sync():
            self.tree = self._list.tree
            self.count = len(self._list.visible)
            self.version = version

    def _soon(self) -> None:
        if self._timer is None:
            self._timer = threading.Timer(PAUSE_SECONDS, self._now)
            self._timer.daemon = True
            self._timer.start()

    def _now(self) -> None:
        with self._guard:
            if self._timer is not None:
                self._timer = None
                self._changed()

    def _send_window(self, version: int, start: int, stop: int, active: str = "", view: str = "") -> None:
        found = self._list.window(start, stop)
        self.tell(
            "rows",
            version=version,
            count=len(self._list.visible),
            start=start,
            rows=found,
            view=view,
            active=self._list.position(active) if active else None,
        )

    def _listen(self, kind: str, callback: Callable[..., object]) -> None:
        self._listeners.setdefault(kind, []).append(callback)

    def _say(self, kind: str, *what: object) -> None:
        for callback in list(self._listeners.get(kind, ())):
            callback(*what)

    # --- what comes from the page; nothing in it is believed ---

    def _window(self, message: Mapping[str, Any]) -> None:
        start, stop = _number(message.get("start")), _number(message.get("stop"))
        stop = min(stop, start + MAX_WINDOW)
        with self._guard:
            self._asked = (start, stop)
            self._send_window(self.version, start, stop, _text(message.get("active")), _text(message.get("view")))

    def _opened(self, message: Mapping[str, Any]) -> None:
        name = self._known(message)
        if name is not None:
            self.current = name
            self._say("open", name)

    def _toggled(self, message: Mapping[str, Any]) -> None:
        name = self._known(message)
        if name is None or not (self._list.row(name) or {}).get("expandable"):
            return
        with self._guard:
            opened = self._list.toggle(name, message.get("open") is True)
            self._changed()
        self._say("toggle", name, opened)

    def _select(self, message: Mapping[str, Any]) -> None:
        name = self._known(message)
        if name is None or not self.multiple or (self._list.row(name) or {}).get("fixed"):
            return
        with self._guard:
            others: Iterable[str] = (one for one in self.selected if one != name)
            self.selected = [*others, name] if message.get("on") is True else list(others)
        self._say("select", list(self.selected))

    def _find(self, message: Mapping[str, Any]) -> None:
        with self._guard:
            found = self._list.find(_text(message.get("prefix"))[:100], _number(message.get("after"), -1))
        if found is not None:
            self.tell("go", index=found, view=_text(message.get("view")))

    def _sort(self, message: Mapping[str, Any]) -> None:
        key, descending = _text(message.get("key")), message.get("descending") is True
        if not any(column["key"] == key and column["sortable"] for column in self.columns):
            return
        with self._guard:
            self._list.sort(key, descending)
            self.sorting = [key, descending]
            self._changed()
        self._say("sort", key, descending)

    def _search(self, message: Mapping[str, Any]) -> None:
        """One at a time: the page sends the next when it has heard that this one is done."""
        try:
            self.query = _text(message.get("text"))[:MAX_SEARCH]
            self._say("search", self.query)
        finally:
            self.tell("searched", view=_text(message.get("view")))

    def _choose_tab(self, message: Mapping[str, Any]) -> None:
        key = _text(message.get("key"))
        if key != self.tab and any(one[0] == key for one in self.tabs):
            self.tab = key
            self._asked = (0, 60)
            self._say("tab", key)

    def _icon(self, message: Mapping[str, Any]) -> None:
        key = _text(message.get("key"))
        found = self._icons(key) if self._icons is not None else None
        if found is None:
            self.tell("icon", key=key)
        else:
            self.tell("icon", [found[1]], key=key, mime=found[0])

    def _known(self, message: Mapping[str, Any]) -> str | None:
        name = _text(message.get("id"))
        return name if self._list.row(name) is not None else None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object, least: int = 0) -> int:
    return max(least, value) if isinstance(value, int) and not isinstance(value, bool) else least
