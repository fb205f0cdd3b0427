"""What a view is: what was wanted, what comes back, how it goes on, how it fails.

Everything here is plain data. Above: the viewers and the registry.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, cast

from jupyter_mcp.errors import MCPError
from jupyter_mcp.kernel.views import safe

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "CSV",
    "JSON",
    "MARKDOWN",
    "MAX_BYTES",
    "PLAIN",
    "PNG",
    "Column",
    "Kind",
    "Reason",
    "Span",
    "Summary",
    "View",
    "ViewError",
    "Wanted",
    "clipped",
    "head_of",
    "human_bytes",
    "pick_format",
    "resume",
    "seal",
    "span",
]

Kind = Literal["table", "array", "text", "number", "json", "image", "figure", "bytes", "estimator", "object"]
Reason = Literal["busy", "unsupported", "no such path", "failed", "slow", "changed"]

CSV, JSON, MARKDOWN, PNG, PLAIN = "text/csv", "application/json", "text/markdown", "image/png", "text/plain"
MAX_BYTES = 64 * 1024
_LEAST_BYTES, _MOST_BYTES = 256, 8 * 1024 * 1024
_MOST_COLUMNS = 100  # named in a summary
_LONGEST_CURSOR = 1_000_000  # it holds names of columns, as many as were wanted
_ROWS = re.compile(r"\s*(-?\d{1,15})?\s*(?:(:)\s*(-?\d{1,15})?\s*)?")


class ViewError(MCPError):
    """An object could not be shown; it is that object's error alone.

    Args:
        reason: what kind of failure ("busy", "unsupported", "no such path", "failed", "slow", "changed").
        text: one sentence for who asked. It quotes nothing of the value but what was redacted.
    """

    def __init__(self, reason: Reason, text: str) -> None:
        super().__init__(text)
        self.reason: Reason = reason


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table, and its type as its library spells it."""

    name: str
    dtype: str


@dataclass(slots=True)  # not frozen: thousands of them are made for one listing
class Summary:
    """What an object is, without any of its rows; cheap, and made without running its code.

    Attributes:
        type: name of the class; `module` the one it says it comes from.
        kind: which family of views it has.
        shape, length, dtype, columns: where the object has such a thing and it is known without work.
        nbytes: memory of the object itself in bytes (for arrays and tables: of their buffers, without what Python
            objects in them refer to); None where that would cost.
        text: the value itself where it is a short plain one (redacted), or a word more about it.
    """

    type: str
    module: str
    kind: Kind
    shape: tuple[int, ...] | None = None
    dtype: str | None = None
    columns: tuple[Column, ...] | None = None
    length: int | None = None
    nbytes: int | None = None
    text: str | None = None

    def data(self) -> dict[str, Any]:
        """As JSON, without what is not known; columns beyond the hundredth are only counted."""
        found: dict[str, Any] = {"type": self.type, "module": self.module, "kind": self.kind}
        if self.shape is not None:
            found["shape"] = list(self.shape)
        if self.dtype is not None:
            found["dtype"] = self.dtype
        if self.length is not None:
            found["length"] = self.length
        if self.nbytes is not None:
            found["nbytes"] = self.nbytes
        if self.text is not None:
            found["text"] = self.text
        if self.columns is not None:
            found["columns"] = [{"name": c.name, "dtype": c.dtype} for c in self.columns[:_MOST_COLUMNS]]
            if len(self.columns) > _MOST_COLUMNS:
                found["more_columns"] = len(self.columns) - _MOST_COLUMNS
        return found

    def line(self) -> str:
        """In one line: `DataFrame 1,000 x 3 (city, pop, area)`, `int 3`, `list of 5`."""
        said = [self.type]
        if self.shape is not None:
            said.append(" x ".join(f"{size:,}" for size in self.shape) or "scalar")
        elif self.length is not None:
            said.append(f"of {self.length:,}")
        if self.dtype:
            said.append(self.dtype)
        if self.columns:
            more = ", …" if len(self.columns) > 8 else ""
            said.append(f"({', '.join(clipped(c.name, 40) for c in self.columns[:8])}{more})")
        if self.text:
            said.append(clipped(self.text.replace("\n", " "), 80))
        if self.nbytes and self.nbytes >= 1_000_000:
            said.append(human_bytes(self.nbytes))
        return " ".join(said)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What somebody wants to see of an object.

    Attributes:
        rows: a slice such as "0:50", "100:", "-10:" or one number: of rows, of a list's items, of a text's characters.
        columns: names of a table's columns, in the order wanted.
        path: a way into the object: `a.b[3]["odd key"]`.
        format: a MIME type; None takes the one that suits the object.
        cursor: where the last view stopped; what it was made with need not be given again.
        max_bytes: how much may come back at most, in bytes of text or of the blob.
        deep: whether nulls, lengths of lazy tables and deep memory are worked out too, which may take long.
    """

    rows: str | None = None
    columns: tuple[str, ...] | None = None
    path: str | None = None
    format: str | None = None
    cursor: str | None = None
    max_bytes: int = MAX_BYTES
    deep: bool = False

    @property
    def budget(self) -> int:
        """`max_bytes` within what a view can keep."""
        return max(_LEAST_BYTES, min(self.max_bytes, _MOST_BYTES))


@dataclass(frozen=True, slots=True)
class View:
    """One bounded piece of an object.

    Attributes:
        mime_type: of `text` or `blob`.
        text, blob: the piece; one of them is None.
        data: the same as JSON, where the piece has such a form.
        cursor: how to get what comes next; None at the end.
        note: what a reader should know: what was cut, that an order is not promised.
    """

    mime_type: str
    text: str | None = None
    blob: bytes | None = None
    data: Any = None
    cursor: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of something that may have a known length."""

    start: int
    stop: int


def span(rows: str | None, length: int) -> Span:
    """The stretch that `rows` means in something of this length; everything if None.

    Raises:
        ViewError: it is no slice.
    """
    if rows is None or not rows.strip():
        return Span(0, length)
    match = _ROWS.fullmatch(rows)
    if match is None or (match[1] is None and match[2] is None):
        raise ViewError("unsupported", f'rows "{clipped(rows, 60)}" is no slice; write 0:50, 100:, -10: or one number')
    first = int(match[1]) if match[1] else None
    if match[2] is None and first is not None:
        last = first + 1 if first != -1 else None
    else:
        last = int(match[3]) if match[3] else None
    start, stop, _ = slice(first, last).indices(length)
    return Span(start, max(start, stop))


def head_of(wanted: Wanted, unasked: int, most: int) -> int:
    """How many rows from the first one are wanted of something that is computed when it is read.

    Args:
        unasked: when no rows are named.
        most: at a time.

    Raises:
        ViewError: other rows than the first ones.
    """
    if not wanted.rows or not wanted.rows.strip():
        return unasked
    first, colon, last = wanted.rows.replace(" ", "").partition(":")
    if colon and first in ("", "0") and ((last.isascii() and last.isdigit()) or not last) and len(last) < 16:
        return min(int(last), most) if last else most
    raise ViewError("unsupported", "what is computed when it is read shows its first rows only; write rows as 0:50")


# --- cursors ---------------------------------------------------------------------------------------------------------


def resume(value: object, wanted: Wanted, signature: Iterable[object]) -> tuple[Wanted, int | None]:
    """What is wanted with what its cursor remembers filled in, and the index to go on from.

    Args:
        value: the object that is looked at.
        wanted: may hold a cursor.
        signature: what must be as it was when the cursor was made (a length, a shape).

    Raises:
        ViewError: "unsupported": no cursor of ours; "changed": the object is another one now.
    """
    if wanted.cursor is None:
        return wanted, None
    held = opened(wanted.cursor)
    if held["s"] != _digest(value, signature):
        raise ViewError("changed", "the object has changed since this cursor was given; read it from the start")
    return replace(wanted, cursor=None), held["i"]


def remembered(wanted: Wanted) -> Wanted:
    """What is wanted, with rows, columns, path and format from its cursor where they are not given."""
    if wanted.cursor is None:
        return wanted
    held = opened(wanted.cursor)
    return replace(
        wanted,
        rows=wanted.rows or held["r"],
        columns=wanted.columns or (tuple(held["c"]) if held["c"] else None),
        path=wanted.path or held["p"],
        format=wanted.format or held["f"],
    )


def seal(value: object, wanted: Wanted, signature: Iterable[object], at: int) -> str:
    """A cursor that goes on at this index; it says nothing to who holds it and nothing of the value."""
    held = {"i": at, "r": wanted.rows, "c": wanted.columns, "p": wanted.path, "f": wanted.format}
    held["s"] = _digest(value, signature)
    text = json.dumps(held, separators=(",", ":"), default=str)
    return base64.urlsafe_b64encode(text.encode("utf-8", "replace")).decode().rstrip("=")


def opened(cursor: str) -> dict[str, Any]:
    """The content of a cursor, every field of its type.

    Raises:
        ViewError: it is none of ours.
    """
    try:
        if len(cursor) > _LONGEST_CURSOR:
            raise ValueError("too long")
        raw = base64.b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        held = cast("dict[str, Any]", json.loads(raw))
        texts = all(held[key] is None or isinstance(held[key], str) for key in "rpf")
        columns = held["c"] is None or all(isinstance(name, str) for name in cast("list[Any]", held["c"]))
        if type(held["i"]) is int and held["i"] >= 0 and isinstance(held["s"], str) and texts and columns:
            return held
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, binascii.Error):
        pass
    raise ViewError("unsupported", "this cursor was not given by this notebook; read from the start")


def _digest(value: object, signature: Iterable[object]) -> str:
    said = repr((id(value), safe.label(type(value)), *map(str, signature)))
    return hashlib.blake2b(said.encode("utf-8", "replace"), digest_size=9).hexdigest()


# --- small things ----------------------------------------------------------------------------------------------------


def pick_format(wanted: str | None, *possible: str) -> str:
    """The wanted format (short names such as "csv" do too), or the first possible one.

    Raises:
        ViewError: this object cannot be shown so.
    """
    if not wanted:
        return possible[0]
    asked = wanted.strip().lower().partition(";")[0]
    short = {"csv": CSV, "json": JSON, "markdown": MARKDOWN, "md": MARKDOWN, "png": PNG, "text": PLAIN, "plain": PLAIN}
    asked = short.get(asked, asked)
    if asked not in possible:
        raise ViewError(
            "unsupported", f"no view of this object as {clipped(asked, 60)}; there is {', '.join(possible)}"
        )
    return asked


def clipped(text: str, longest: int) -> str:
    """A text of at most this many characters, with … where it was cut."""
    return text if len(text) <= longest else text[: max(0, longest - 1)] + "…"


def human_bytes(count: int) -> str:
    """A number of bytes for people: `1.2 GB`."""
    size = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"
