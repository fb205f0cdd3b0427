"""What a cell changed, told to the clients that watch.

After each cell the namespace is compared with what it was: another object under a name, new names, names that are gone.
An object that was changed in place is noticed where somebody watches it: by its fingerprint, or because the cell names
it (which may be a false alarm). LIMITS: what widgets and threads change is seen after the next cell; a change in place
that no sample meets, by a cell that does not name the variable, is not seen at all.

`look` runs on the main thread and must be quick: it compares identities. Fingerprints, of what is watched only, are
made aside, on a thread that reads; telling is done on the runtime's thread, bursts as one.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import unquote

from jupyter_mcp.runtime.thread import get_runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from jupyter_mcp.server import Server

__all__ = ["Changes", "Notebook"]

MERGED_SECONDS = 0.1
"""The least time between two tellings."""
SAMPLED_SECONDS = 0.02
"""After a cell: fingerprints hold the interpreter, and the main thread is still busy with the end of the cell."""
MOST_SAMPLED = 64
"""Variables whose fingerprints are made at once; of more, those that waited longest."""
_WORD = re.compile(r"[^\W\d]\w*")
_LONGEST_SOURCE = 200_000

log = logging.getLogger("jupyter_mcp.kernel")


class Notebook(Protocol):
    """What is looked at."""

    @property
    def uri(self) -> str:
        """Of the notebook."""
        ...

    @property
    def server(self) -> Server:
        """Whose clients watch."""
        ...

    def visible(self, values: Mapping[str, Any]) -> tuple[str, ...]:
        """Which of these variables may be seen."""
        ...


class Changes:
    """Follows the namespace of one shell.

    Args:
        shell: IPython's.
        notebook: its server.
        fingerprint: a number that changes with an object's content, or None where there is no cheap one.
        aside: runs a function soon, on a thread that may read objects.

    Attributes:
        seconds: what the last look cost.
    """

    def __init__(
        self,
        shell: Any,
        notebook: Notebook,
        fingerprint: Callable[[Any], int | None],
        aside: Callable[[Callable[[], None]], object],
    ) -> None:
        self._shell = shell
        self._notebook = notebook
        self._fingerprint = fingerprint
        self._aside = aside
        self._ids: dict[str, int] = {}
        self._visible: set[str] = set()
        self._prints: dict[str, tuple[int, int | None]] = {}
        self._touched: set[str] = set()
        self._to_sample = False
        self._sampling = False
        self._pending: dict[str, None] = {}
        self._lists = False
        self._woken = False
        self._waiting = False
        self._told = 0.0
        self._lock = threading.Lock()
        self.seconds = 0.0

    def install(self) -> None:
        """Begin: what there is now is the base of comparison."""
        self._ids = _identities(self._shell.user_ns)
        self._visible = set(self._notebook.visible(self._shell.user_ns))
        self._shell.events.register("post_run_cell", self._cell_ended)

    def uninstall(self) -> None:
        """End."""
        try:
            self._shell.events.unregister("post_run_cell", self._cell_ended)
        except ValueError:
            pass  # somebody has reset the events

    def chosen(self) -> None:
        """What may be seen was chosen anew."""
        self._visible = set(self._notebook.visible(self._shell.user_ns))
        self._tell([f"{self._notebook.uri}/variables"], lists=True)

    def shown(self, number: int) -> None:
        """There is a new plot."""
        self._tell([f"{self._notebook.uri}/plots", f"{self._notebook.uri}/plots/{number}"], lists=True)

    def _cell_ended(self, result: Any = None) -> None:
        source = getattr(getattr(result, "info", None), "raw_cell", None)
        self.look(source if isinstance(source, str) else "", cell=True)

    def look(self, source: str = "", *, cell: bool = False) -> None:
        """Compare, and tell. On the main thread; raises nothing.

        Args:
            source: of the cell that ran.
            cell: a cell ran.
        """
        begun = time.perf_counter()
        try:
            self._look(source, cell)
        except Exception:
            log.exception("looking for changes failed")
        self.seconds = time.perf_counter() - begun

    def _look(self, source: str, cell: bool) -> None:
        namespace, before = self._shell.user_ns, self._ids
        now = self._ids = _identities(namespace)
        changed = {name for name, id_ in now.items() if before.get(name) != id_}
        gone = before.keys() - now.keys()
        seen = set(self._notebook.visible({name: namespace[name] for name in changed if name in namespace}))
        lost = self._visible & (gone | (changed - seen))
        new = seen - self._visible
        self._visible = (self._visible - lost) | seen
        uris = [f"{self._notebook.uri}/history"] if cell else []
        if seen or lost:
            uris.append(f"{self._notebook.uri}/variables")
        watched = self._by_name()
        touched = self._touched_by(watched, seen | lost, source)
        uris += [uri for name in sorted(touched) for uri in sorted(watched[name])]
        if uris or new or lost or watched:
            self._tell(uris, lists=bool(new or lost), sample=touched if watched else None)

    # --- what is watched

    def _touched_by(self, watched: Mapping[str, Any], changed: set[str], source: str) -> set[str]:
        """The variables that are watched and have changed, or are named by the cell."""
        if not watched:
            return set()
        named = set(_WORD.findall(source[:_LONGEST_SOURCE]))
        return {name for name in watched if name in changed or (name in named and name in self._visible)}

    def _by_name(self) -> dict[str, list[str]]:
        """Name -> the URIs of that variable that are watched."""
        prefix = f"{self._notebook.uri}/variables/"
        watched: dict[str, list[str]] = {}
        for uri in self._notebook.server.watched():
            if uri.startswith(prefix):
                watched.setdefault(unquote(uri[len(prefix) :].partition("?")[0]), []).append(uri)
        return watched

    # --- fingerprints

    def sample(self) -> None:
        """Make the first fingerprints of what is watched since just now, soon."""
        self._tell([], sample=())

    def not_sampled(self) -> None:
        """No thread was free: the next cell tries again."""
        with self._lock:
            self._sampling = False

    def _sample(self) -> None:
        while True:
            with self._lock:
                touched, self._touched, self._to_sample = self._touched, set(), False
            watched = self._by_name()
            found = self._mutated([name for name in watched if name in self._visible], touched)
            if uris := [uri for name in sorted(found) for uri in sorted(watched[name])]:
                self._tell(uris)
            with self._lock:
                if not self._to_sample:
                    self._sampling = False
                    return

    def _mutated(self, names: list[str], touched: set[str]) -> list[str]:
        """Those that hold the same object with another fingerprint, and of which that was not told."""
        order = {name: place for place, name in enumerate(self._prints)}
        found: list[str] = []
        for name in sorted(names, key=lambda name: order.get(name, -1))[:MOST_SAMPLED]:
            value = self._shell.user_ns.get(name)
            before, now = self._prints.pop(name, None), (id(value), self._printed(value))
            self._prints[name] = now
            if before is None or before[0] != now[0] or None in (before[1], now[1]):
                continue  # another object, which was told; or nothing to compare
            if before[1] != now[1] and name not in touched:
                found.append(name)
        for name in self._prints.keys() - set(names):
            del self._prints[name]
        return found

    def _printed(self, value: object) -> int | None:
        try:
            return self._fingerprint(value)
        except Exception:
            log.exception("a fingerprint could not be made")
            return None

    # --- telling

    def _tell(self, uris: list[str], *, lists: bool = False, sample: Collection[str] | None = None) -> None:
        """Any thread; the loop is woken once, because waking it lets other threads run before this one goes on."""
        with self._lock:
            self._pending.update(dict.fromkeys(uris))
            self._lists = self._lists or lists
            if sample is not None:
                self._touched.update(sample)
                self._to_sample = True
            if self._woken:
                return
            self._woken = True
        get_runtime().call_soon(self._on_loop)

    def _on_loop(self) -> None:
        """Tell at once, or when enough time has passed since the last telling; let fingerprints be made."""
        with self._lock:
            self._woken = False
            begin = self._to_sample and not self._sampling
            self._sampling = self._sampling or begin
            news = bool(self._pending or self._lists) and not self._waiting
            self._waiting = self._waiting or news
        wait = self._told + MERGED_SECONDS - time.monotonic()
        if news and wait <= 0:
            self._flush()
        elif news:
            get_runtime().loop.call_later(wait, self._flush)
        if begin:
            get_runtime().loop.call_later(SAMPLED_SECONDS, self._aside, self._sample)

    def _flush(self) -> None:
        self._told = time.monotonic()
        with self._lock:
            uris, lists = self._pending, self._lists
            self._pending, self._lists, self._waiting = {}, False, False
        if lists:
            self._notebook.server.resources_changed()
        for uri in uris:
            self._notebook.server.resource_updated(uri)


def _identities(namespace: Mapping[str, Any]) -> dict[str, int]:
    """Name -> identity of what it holds. No reference is kept: an object must go when its cell lets it go."""
    return {name: id(value) for name, value in tuple(namespace.items()) if type(name) is str and name[:1] != "_"}
