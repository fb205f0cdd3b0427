"""Views of texts and bytes: a piece of them, with secrets masked wherever it is cut."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.kernel.masking import redact
from jupyter_mcp.kernel.views import plain, safe
from jupyter_mcp.kernel.views.base import (
    JSON,
    MARKDOWN,
    PLAIN,
    View,
    ViewError,
    Wanted,
    pick_format,
    resume,
    seal,
    span,
)
from jupyter_mcp.kernel.views.formats import dumps
from jupyter_mcp.kernel.views.viewer import Viewer

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Blob", "Text", "text_view"]

_CONTEXT = 65_536  # characters before and after a piece of a long text in which a secret may begin or end
_EDGE = 512  # characters that masked text at the edge of a piece may add
_PEM_BEGIN = "-----BEGIN "


class Text(Viewer):
    kind = "text"

    def facts(self, value: object) -> dict[str, Any]:
        length = str.__len__(cast("str", value))
        return {"length": length, "text": redact(plain.text_of(plain.part_of(value, 0, 2000), 80))}

    def view(self, value: object, wanted: Wanted) -> View:
        return text_view(value, cast("str", value), wanted)

    def fingerprint(self, value: object) -> int | None:
        return zlib.crc32(_sampled(value).encode("utf-8", "surrogatepass"), str.__len__(cast("str", value)))


class Blob(Viewer):
    kind = "bytes"

    def facts(self, value: object) -> dict[str, Any]:
        size = _raw(value, 0, 0)[1]
        return {"length": size, "nbytes": size}

    def view(self, value: object, wanted: Wanted) -> View:
        size = _raw(value, 0, 0)[1]
        signature = (size,)
        wanted, at = resume(value, wanted, signature)
        where = span(wanted.rows, size)
        start = where.start if at is None else at
        stop = min(where.stop, start + wanted.budget)
        text, _ = _window(size, lambda a, b: _raw(value, a, b)[0].decode("latin-1"), start, stop)
        cursor = seal(value, wanted, signature, stop) if stop < where.stop else None
        mime_type = _sniffed(text) if start == 0 and cursor is None else "application/octet-stream"
        return View(mime_type, blob=text.encode("latin-1", "replace"), cursor=cursor)

    def fingerprint(self, value: object) -> int | None:
        size = _raw(value, 0, 0)[1]
        places = (0, size // 2, max(0, size - 1024))
        return zlib.crc32(b"".join(_raw(value, at, at + 1024)[0] for at in places), size)


def _raw(value: object, start: int, stop: int) -> tuple[bytes, int]:
    """A stretch of bytes, and how many there are; of a class derived from bytes without its own buffer.

    Raises:
        ViewError: they do not lie side by side.
    """
    if safe.is_a(value, bytes):
        whole = cast("bytes", value)
        return _bytes_items(whole, slice(start, stop)), bytes.__len__(whole)
    try:
        raw = memoryview(cast("bytearray", value)).cast("B")
    except (TypeError, ValueError):
        raise ViewError("unsupported", "a memory view with gaps, or a released one, cannot be shown") from None
    return raw[start:stop].tobytes(), raw.nbytes


_bytes_items = safe.untyped(bytes).__getitem__


def text_view(value: object, text: str, wanted: Wanted) -> View:
    """A piece of a text: `rows` are characters; it goes on by a cursor. The value is the object the text stands for.

    The text may be of a derived class: only its characters are read.
    """
    mime_type = pick_format(wanted.format, PLAIN, MARKDOWN, JSON)
    length = str.__len__(text)
    signature = (length, zlib.crc32(_sampled(text).encode("utf-8", "surrogatepass")))
    wanted, at = resume(value, wanted, signature)
    where = span(wanted.rows, length)
    start = where.start if at is None else at
    stop = _fitting(text, start, where.stop, wanted.budget // (2 if mime_type == JSON else 1))
    piece, masked = _window(length, lambda a, b: plain.part_of(text, a, b), start, stop)
    piece = piece.encode("utf-8", "replace").decode()
    cursor = seal(value, wanted, signature, stop) if stop < where.stop else None
    note = f"characters {start:,} to {stop:,} of {length:,}" if stop - start < length else None
    if masked:
        note = f"{note}; secrets are masked" if note else "secrets are masked"
    if mime_type == JSON:
        return View(JSON, text=dumps(piece), data=piece, cursor=cursor, note=note)
    return View(mime_type, text=piece, cursor=cursor, note=note)


def _fitting(text: str, start: int, stop: int, budget: int) -> int:
    """Where a piece from `start` ends so that it fits in UTF-8, at a line's or a word's end when there is one near."""
    piece = plain.part_of(text, start, min(stop, start + budget))
    size = len(piece.encode("utf-8", "replace"))
    while size > budget:
        piece = piece[: max(1, len(piece) * budget // size - 1)]
        size = len(piece.encode("utf-8", "replace"))
    if start + len(piece) < str.__len__(text) and len(piece) > 256:
        for end in ("\n", " "):
            near = piece.rfind(end, len(piece) - len(piece) // 8)
            if near > 0:
                return start + near + 1
    return start + len(piece)


def _window(length: int, read: Callable[[int, int], str], start: int, stop: int) -> tuple[str, bool]:
    """The text between two places with secrets masked, also those that begin before it or end after it."""
    low, high = max(0, start - _CONTEXT), min(length, stop + _CONTEXT)
    before, piece, after = read(low, start), read(start, stop), read(stop, high)
    if redact(piece) == piece and redact(before + piece + after) == before + piece + after:
        return piece, False
    for head, tail in ((before, after), (_last_line(before), after[: after.find("\n") + 1 or len(after)])):
        whole, clean_head, clean_tail = redact(head + piece + tail), redact(head), redact(tail)
        if whole.startswith(clean_head) and whole.endswith(clean_tail) and len(whole) >= len(clean_head + clean_tail):
            return whole[len(clean_head) : len(whole) - len(clean_tail)], True
    # a secret reaches over an edge: what is around it on its line is shown with it, masked
    near = _last_line(before) + piece + after[: after.find("\n") + 1 or len(after)]
    return redact(near)[: len(piece) + _EDGE], True


def _last_line(text: str) -> str:
    """What stands before a piece on its line, or the whole of a private key that it lies in."""
    opened = text.rfind(_PEM_BEGIN)
    if opened >= 0 and "-----END " not in text[opened:] and "PRIVATE KEY" in text[opened : opened + 64]:
        return text[opened:]
    return text[text.rfind("\n") + 1 :]


def _sampled(text: object) -> str:
    length = str.__len__(cast("str", text))
    if length <= 3072:
        return plain.part_of(text, 0, length)
    return "".join(plain.part_of(text, at, at + 1024) for at in (0, length // 2, length - 1024))


def _sniffed(text: str) -> str:
    for mark, mime_type in (
        ("\x89PNG", "image/png"),
        ("\xff\xd8\xff", "image/jpeg"),
        ("GIF8", "image/gif"),
        ("%PDF", "application/pdf"),
    ):
        if text.startswith(mark):
            return mime_type
    return "application/octet-stream"
