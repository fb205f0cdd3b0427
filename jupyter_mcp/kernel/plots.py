"""Pictures of a notebook, kept as they were displayed.

A figure is not drawn again for a client: what its cell showed is kept when it is shown. That costs no time on the main
thread later, and it is what the person saw. Numbers count up and are never used again, so that one address keeps one
meaning. Bounded in number and bytes; the oldest go.

Captured is what IPython's display formatter makes of an object: a `display(…)`, the value of a cell, matplotlib's
figures at the end of one.
"""

from __future__ import annotations

import base64
import binascii
import json
import logging
import threading
import time
import weakref
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.runtime.cells import cells

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["Plot", "Plots"]

MOST_KEPT = 32
MOST_BYTES = 64 * 2**20
MOST_OF_ONE = 16 * 2**20
_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml")
_SPECIFICATIONS = ("application/vnd.plotly.v1+json", "application/vnd.vegalite.", "application/vnd.vega.")

log = logging.getLogger("jupyter_mcp.kernel")


@dataclass(frozen=True, slots=True)
class Plot:
    """One picture.

    Attributes:
        number: its own, for ever.
        mime_type: of the data: a picture, or the specification of one (plotly, vega) where there was no picture.
        data: as displayed.
        cell: the execution count of the cell that showed it.
        at: when, in seconds since 1970.
    """

    number: int
    mime_type: str
    data: bytes = field(repr=False)
    cell: int
    at: float


class Plots:
    """The pictures of one shell. Captured on the main thread, read on any.

    Args:
        shell: IPython's.
        last: no number up to this one is given (again).

    Attributes:
        on_new: called on the main thread with each new plot.
    """

    def __init__(self, shell: Any, last: int = 0) -> None:
        self._shell = shell
        self._last = last
        self._kept: OrderedDict[int, Plot] = OrderedDict()
        self._shown_by: dict[int, tuple[weakref.ref[Any], int]] = {}
        self._bytes = 0
        self._lock = threading.Lock()
        self._ours: Callable[..., Any] | None = None
        self._below: Callable[..., Any] | None = None  # what somebody had put there before
        self.on_new: Callable[[Plot], object] | None = None

    # --- what there is

    def all(self) -> list[Plot]:
        """Those that are kept, the oldest first."""
        with self._lock:
            return list(self._kept.values())

    def get(self, number: int) -> Plot | None:
        """The plot of that number, while it is kept."""
        with self._lock:
            return self._kept.get(number)

    def of(self, value: object) -> Plot | None:
        """What was last displayed for this very object, while it is kept."""
        with self._lock:
            found = self._shown_by.get(id(value))
            return self._kept.get(found[1]) if found is not None and found[0]() is value else None

    def image(self, value: object) -> tuple[bytes, str] | None:
        """The picture that this very object was displayed as, and its type; for the view of a figure."""
        found = self.of(value)
        return (found.data, found.mime_type) if found is not None and found.mime_type in _PICTURES else None

    # --- capturing

    def install(self) -> None:
        """Begin. May be called again."""
        formatter: Any = self._shell.display_formatter
        if formatter is None or self._ours is not None:
            return
        self._below = self._on(formatter)
        original = formatter.format

        def format(obj: Any, *args: Any, **options: Any) -> Any:
            found = original(obj, *args, **options)
            if self._ours is format:
                self._capture(obj, found)
            return found

        formatter.format = self._ours = format

    def uninstall(self) -> None:
        """End. When somebody else has wrapped it since, ours stays below and does nothing."""
        formatter: Any = self._shell.display_formatter
        if self._ours is not None and self._on(formatter) is self._ours:
            del formatter.format
            if self._below is not None:
                formatter.format = self._below
        self._ours = None

    def _on(self, formatter: object) -> Callable[..., Any] | None:
        """What was put in the place of the formatter's own method."""
        return vars(formatter).get("format")

    def _capture(self, shown: object, found: object) -> None:
        """Never in the way of a display."""
        try:
            bundle: object = cast("tuple[object, ...]", found)[0] if isinstance(found, tuple) and found else None
            if isinstance(bundle, dict) and (picture := _picture(cast("dict[str, Any]", bundle))) is not None:
                self.add(*picture, shown)
        except Exception:
            log.exception("a picture could not be kept")

    def add(self, mime_type: str, data: bytes, shown: object = None) -> Plot:
        """Keep a picture; the oldest make room."""
        with self._lock:
            self._last += 1
            plot = Plot(self._last, mime_type, data, cells.number, time.time())
            self._kept[plot.number] = plot
            self._bytes += len(data)
            while len(self._kept) > MOST_KEPT or self._bytes > MOST_BYTES:
                self._bytes -= len(self._kept.popitem(last=False)[1].data)
            self._shown_by = {key: held for key, held in self._shown_by.items() if held[1] in self._kept}
            try:
                self._shown_by[id(shown)] = (weakref.ref(shown), plot.number)
            except TypeError:
                pass  # it cannot be known again
        if self.on_new is not None:
            self.on_new(plot)
        return plot


def _picture(bundle: Mapping[str, Any]) -> tuple[str, bytes] | None:
    """The best picture of a display, or the specification of one."""
    for mime_type in _PICTURES:
        data = _bytes(mime_type, bundle.get(mime_type))
        if data and len(data) <= MOST_OF_ONE:
            return mime_type, data
    for mime_type, value in bundle.items():
        if mime_type.startswith(_SPECIFICATIONS) and isinstance(value, dict):
            data = json.dumps(value, default=str).encode()
            return (mime_type, data) if len(data) <= MOST_OF_ONE else None
    return None


def _bytes(mime_type: str, value: object) -> bytes | None:
    if isinstance(value, bytes):
        return value
    if not isinstance(value, str) or len(value) > 2 * MOST_OF_ONE:
        return None
    if mime_type == "image/svg+xml":
        return value.encode("utf-8", "replace")
    try:
        return base64.b64decode(value)
    except (ValueError, binascii.Error):
        return None
