"""The lists a server offers: read page by page, salvaged item by item, kept, and read again when they change.

A list is read when somebody wants it, again 200 ms after the last of a burst of list_changed, and after a reconnect.
Whoever only wants to look (completion, the catalogue) gets what is there and never waits. A modern list is old when one
of its pages is by its own word, unless the server tells of changes.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast

from jupyter_mcp.errors import ConnectionLost, MCPError, RequestError, RequestTimeout
from jupyter_mcp.protocol import salvage
from jupyter_mcp.protocol.jsonrpc import METHOD_NOT_FOUND
from jupyter_mcp.protocol.modern import cache_hints
from jupyter_mcp.protocol.salvage import Problem, Salvaged

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jupyter_mcp.client.connection import Connection

Kind = Literal["tools", "resources", "templates", "prompts"]

DEBOUNCE = 0.2  # seconds of quiet after a change
LONGEST_DEBOUNCE = 1.0
MOST_EMPTY = 10  # pages in a row: some servers filter what a page holds, none has that much to filter
REREAD = 5.0  # seconds before a list that only has a short life of its own is read again


@dataclass(frozen=True, slots=True)
class _How:
    method: str
    key: str
    salvage: Callable[[object], Salvaged]


_HOW: dict[Kind, _How] = {
    "tools": _How("tools/list", "tools", salvage.tools),
    "resources": _How("resources/list", "resources", salvage.resources),
    "templates": _How("resources/templates/list", "resourceTemplates", salvage.templates),
    "prompts": _How("prompts/list", "prompts", salvage.prompts),
}
CHANGED: dict[str, tuple[Kind, ...]] = {
    "notifications/tools/list_changed": ("tools",),
    "notifications/resources/list_changed": ("resources", "templates"),
    "notifications/prompts/list_changed": ("prompts",),
}


@dataclass(frozen=True, slots=True)
class Listing:
    """One list.

    Attributes:
        items: what can be used, as dicts, in the server's order.
        problems: what could not, and why.
        complete: all pages were read.
    """

    items: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    problems: list[Problem] = field(default_factory=list[Problem])
    complete: bool = True


@dataclass(slots=True)
class _Kept:
    listing: Listing
    version: int
    expires: float


class Listings:
    """All lists of one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._kept: dict[Kind, _Kept] = {}
        self._versions: dict[Kind, int] = {}
        self._reading: dict[Kind, asyncio.Task[Listing]] = {}
        self._timers: dict[Kind, asyncio.TimerHandle] = {}
        self._first_change: dict[Kind, float] = {}

    def get(self, kind: Kind) -> Listing | None:
        """What was read last."""
        kept = self._kept.get(kind)
        return kept.listing if kept else None

    async def list(self, kind: Kind, refresh: bool = False) -> Listing:
        """The list, read now if it was not yet or has changed. Raises what a request raises.

        When it cannot be read again, what was read before is given, and the host is told.
        """
        if not self._connection.current().allows(_HOW[kind].method):
            return Listing()
        kept = self._kept.get(kind)
        if kept is not None and not refresh and self._is_fresh(kind, kept):
            return kept.listing
        if refresh:
            self._forget_pages(kind)
        try:
            return await asyncio.shield(self._read(kind))
        except (ConnectionLost, RequestTimeout) as error:
            if kept is None or refresh or not self._connection.ready:
                raise
            self._connection.note(f"old {kind}", f"{error} The {kind} listed before are used.")
            return kept.listing

    def _is_fresh(self, kind: Kind, kept: _Kept) -> bool:
        if kept.version != self._versions.get(kind, 0):
            return False
        return self._connection.watching.covers(kind) or asyncio.get_running_loop().time() < kept.expires

    def _forget_pages(self, kind: Kind) -> None:
        if self._connection.cache is not None:
            self._connection.cache.drop(_HOW[kind].method)

    # -- changes --------------------------------------------------------------------------------------------------

    def has_changed(self, method: str) -> None:
        """A list_changed came: what is kept is old at once, and read again after the burst."""
        for kind in CHANGED[method]:
            self._forget_pages(kind)
            self._versions[kind] = self._versions.get(kind, 0) + 1
            if kind in self._kept or kind in self._reading:
                self._postpone(kind)

    def _postpone(self, kind: Kind) -> None:
        loop = asyncio.get_running_loop()
        first = self._first_change.setdefault(kind, loop.time())
        when = min(loop.time() + DEBOUNCE, first + LONGEST_DEBOUNCE)
        if kind in self._timers:
            self._timers[kind].cancel()
        self._timers[kind] = loop.call_at(when, self._reread, kind)

    def _reread(self, kind: Kind) -> None:
        self._timers.pop(kind, None)
        kept = self._kept.get(kind)
        if kind in self._reading:
            self._postpone(kind)
            return
        self._first_change.pop(kind, None)
        if kept is None or kept.version != self._versions.get(kind, 0):
            self._read(kind)

    def end(self) -> None:
        """Read no more by itself; what was read stays to be looked at. Readings under way end with their requests."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        self._first_change.clear()

    def renew(self) -> None:
        """A new server (or session) is there: what was read is shown until it is read again, which is soon."""
        session = self._connection.session
        for kind in tuple(self._kept):
            self._forget_pages(kind)
            self._versions[kind] = self._versions.get(kind, 0) + 1
            if session is not None and session.allows(_HOW[kind].method):
                self._postpone(kind)
            else:
                del self._kept[kind]

    # -- reading --------------------------------------------------------------------------------------------------

    def _read(self, kind: Kind) -> asyncio.Task[Listing]:
        """One reading at a time; whoever comes meanwhile shares it."""
        task = self._reading.get(kind)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._read_now(kind))
            self._reading[kind] = task
            task.add_done_callback(lambda done: self._finished(kind, done))
        return task

    def _finished(self, kind: Kind, task: asyncio.Task[Listing]) -> None:
        self._reading.pop(kind, None)
        if not task.cancelled() and task.exception() is None:
            self._connection.changed()

    async def _read_now(self, kind: Kind) -> Listing:
        version = self._versions.get(kind, 0)
        listing, ttl = await self._pages(kind)
        expires = asyncio.get_running_loop().time() + max(ttl, REREAD)
        self._kept[kind] = _Kept(listing, version, expires)
        return listing

    async def _pages(self, kind: Kind) -> tuple[Listing, float]:
        how = _HOW[kind]
        pages = _Pages(how)
        restarted = False
        while not pages.done:
            try:
                result, fresh_for = await self._page(how.method, pages.cursor)
            except RequestError as error:
                if not pages.count and error.code == METHOD_NOT_FOUND:
                    return self._undeclared(kind, error), 0.0
                if not pages.count:
                    raise
                if not restarted:  # a cursor went bad: drop all pages and begin anew (spec, "Pagination")
                    self._forget_pages(kind)
                    restarted, pages = True, _Pages(how)
                    continue
                pages.stop(f"page {pages.count + 1} could not be read: {error.message}")
            except MCPError as error:
                if not pages.count:
                    raise
                pages.stop(f"page {pages.count + 1} could not be read: {error.message}")
            else:
                pages.add(result, fresh_for)
                if not pages.done and pages.count >= self._connection.options.max_pages:
                    pages.stop(f"stopped after {pages.count} pages")
        return self._usable(kind, pages), pages.ttl

    async def _page(self, method: str, cursor: Any) -> tuple[dict[str, Any], float]:
        """One page and the seconds for which it stays fresh: kept by its own word, or asked for."""
        connection = self._connection
        params = None if cursor is None else {"cursor": cursor}
        if connection.current().era == "legacy":
            return await connection.requests.run(method, params), 0.0
        key = "" if cursor is None else f"={cursor}"
        cache = connection.cache
        if cache is not None and (kept := cache.fresh(method, key)) is not None:
            return kept.result, cache.left(kept)
        result = await connection.requests.run(method, params, keep=connection.keeper(method, key, shared=True))
        return result, cache_hints(result)[0] / 1000

    def _usable(self, kind: Kind, pages: _Pages) -> Listing:
        """What can be used of the pages; over HTTP the headers of calls are made from the tools as they are listed."""
        listing = pages.listing()
        session = self._connection.session
        if kind != "tools" or session is None or session.era == "legacy" or session.link.transport.kind != "http":
            return listing
        from jupyter_mcp.client.header_tools import learn

        return learn(session.link.transport, listing)

    def _undeclared(self, kind: Kind, error: RequestError) -> Listing:
        if kind == "templates":  # declared together with resources; many servers have none
            return Listing()
        return Listing(problems=[Problem(_HOW[kind].method, f"declared, but refused: {error.message}")])


class _Pages:
    """The pages of one list as they come."""

    def __init__(self, how: _How) -> None:
        self._how = how
        self._raw: list[Any] = []
        self._pages: list[list[Any]] = []
        self._odd: list[Problem] = []
        self.cursor: Any = None
        self._seen: set[str] = set()
        self._empty = 0  # pages in a row that held nothing
        self.count = 0
        self.ttl = 0.0
        self.done = False

    def add(self, result: Mapping[str, Any], fresh_for: float) -> None:
        page = result.get(self._how.key)
        self.ttl = fresh_for if not self.count else min(self.ttl, fresh_for)
        self.count += 1
        cursor = result.get("nextCursor")
        repeats = cursor is not None and str(cursor) in self._seen
        if isinstance(page, list):
            items = cast("list[Any]", page)
            repeats = repeats or (cursor is not None and bool(items) and items in self._pages)
            self._pages.append(items)
            self._raw.extend([item for item in items if item not in self._raw] if repeats else items)
        elif page is not None:
            self._odd.extend(self._how.salvage(page).problems)
        elif self._how.key not in result:  # null is how some languages write an empty list
            self._odd.append(Problem(self._how.method, f"the answer has no {self._how.key}"))
        self._empty = 0 if page else self._empty + 1
        if repeats:
            self.stop("cursor repeats: the server sends the same page again and again")
        elif cursor is not None and self._empty == MOST_EMPTY:
            self.stop(f"stopped after {MOST_EMPTY} empty pages in a row")
        self.done = self.done or cursor is None
        self.cursor = cursor
        self._seen.add(str(cursor))

    def stop(self, why: str) -> None:
        """Read no more."""
        self._odd.append(Problem(self._how.method, why))
        self.done = True

    def listing(self) -> Listing:
        found = self._how.salvage(self._raw)
        complete = not any(problem.name == self._how.method for problem in self._odd)
        return Listing(found.items, [*self._odd, *found.problems], complete)
