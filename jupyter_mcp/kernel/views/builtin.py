"""Views of Python's own objects: numbers, texts, bytes, containers, records, and of what nothing else knows."""

from __future__ import annotations

import itertools
import signal
import threading
import time
import types
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.kernel.masking import redact
from jupyter_mcp.kernel.views import paths, plain, safe
from jupyter_mcp.kernel.views.base import (
    JSON,
    MARKDOWN,
    PLAIN,
    View,
    ViewError,
    Wanted,
    clipped,
    pick_format,
    resume,
    seal,
    span,
)
from jupyter_mcp.kernel.views.formats import dumps
from jupyter_mcp.kernel.views.viewer import Viewer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = [
    "Blob",
    "Container",
    "Number",
    "Object",
    "Record",
    "Text",
    "fingerprint_of",
    "json_view",
    "own_repr",
    "text_view",
]

_CONTEXT = 65_536  # characters before and after a piece of a long text in which a secret may begin or end
_SAMPLED = 64
_REPR_SECONDS = 1.0
_SMALL = 1 << 53
_EDGE = 512  # characters that masked text at the edge of a piece may add
_NAMESPACE = "these are the names of a module, which are not shown; ask for a variable by its own name"
_PEM_BEGIN = "-----BEGIN "


class Number(Viewer):
    kind = "number"

    def facts(self, value: object) -> dict[str, Any]:
        return {"text": str(plain.scalar(value, 200)[1])}

    def view(self, value: object, wanted: Wanted) -> View:
        found = plain.scalar(value, 2000)[1]
        mime_type = pick_format(wanted.format, PLAIN, JSON)
        found = redact(found)
        return View(mime_type, text=dumps(found) if mime_type == JSON else _said(found), data=found)

    def fingerprint(self, value: object) -> int | None:
        return zlib.crc32(str(plain.scalar(value, 2000)[1]).encode("utf-8", "replace"))


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


class Container(Viewer):
    kind = "json"

    def facts(self, value: object) -> dict[str, Any]:
        return {"length": plain.size_of(value), "nbytes": safe.shallow_size(value)}

    def view(self, value: object, wanted: Wanted) -> View:
        if safe.is_namespace(value):
            raise ViewError("unsupported", _NAMESPACE)
        size = plain.size_of(value) or 0
        return json_view(value, wanted, size, lambda a, b: plain.items_of(value, a, b), plain.is_mapping(value))

    def fingerprint(self, value: object) -> int | None:
        return fingerprint_of(value, 3)

    def step(self, value: object, key: str | int) -> object:
        return paths.step_plain(value, key)


class Record(Container):
    def facts(self, value: object) -> dict[str, Any]:
        return {"length": len(plain.fields(value))}

    def view(self, value: object, wanted: Wanted) -> View:
        held = plain.fields(value)
        items = tuple(held.items())
        return json_view(value, wanted, len(items), lambda a, b: iter(items[a:b]), True)


class Object(Viewer):
    """What nothing else knows: type, module, size, and the attributes it holds itself; its repr only when asked for."""

    def facts(self, value: object) -> dict[str, Any]:
        if type(value) is types.FunctionType:
            return {"text": _signature(value)}
        if safe.is_a(value, type):
            return {"text": f"class {safe.name_of(cast('type', value))}"}
        return {"nbytes": safe.shallow_size(value)}

    def view(self, value: object, wanted: Wanted) -> View:
        if safe.is_namespace(value):
            raise ViewError("unsupported", _NAMESPACE)
        mime_type = pick_format(wanted.format, JSON, PLAIN)
        if mime_type == PLAIN:
            return text_view(value, own_repr(value), wanted)
        data: dict[str, Any] = {"type": safe.label(type(value)), "size": safe.shallow_size(value)}
        if type(value) is types.FunctionType:
            data["signature"] = _signature(value)
        elif not safe.is_a(value, type):
            limits = plain.Limits(depth=2, items=50, chars=200, nodes=300)
            data["attributes"] = plain.Plain(limits).of(dict(itertools.islice(plain.fields(value).items(), 200)))
        data = redact(data)
        text = dumps(data)
        if len(text.encode()) > wanted.budget:
            data = {key: item for key, item in data.items() if key != "attributes"}
            text = dumps(data)
        return View(
            JSON, text=text, data=data, note="its own text is shown on request (text/plain), from the main thread"
        )

    def fingerprint(self, value: object) -> int | None:
        held = safe.instance_dict(value)
        return None if held is None or safe.is_a(value, type) else fingerprint_of(plain.fields(value), 2)

    def step(self, value: object, key: str | int) -> object:
        return paths.step_plain(value, key)


# --- text ------------------------------------------------------------------------------------------------------------


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


def _said(value: Any) -> str:
    return value if type(value) is str else dumps(value)


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


# --- JSON ------------------------------------------------------------------------------------------------------------

_LIMITS = ((8, 100, 2000, 5000), (4, 20, 500, 500), (2, 10, 100, 60), (1, 5, 60, 12), (0, 0, 40, 1))


def json_view(
    value: object, wanted: Wanted, size: int, items: Callable[[int, int], Iterator[Any]], pairs: bool
) -> View:
    """A stretch of a container's items as JSON, as many as fit; what is deep or long is cut, as the note says."""
    mime_type = pick_format(wanted.format, JSON)
    wanted, at = resume(value, wanted, (size,))
    where = span(wanted.rows, size)
    start = where.start if at is None else at
    out: list[Any] = []
    used, cut = 2, False
    try:
        for item in items(start, min(where.stop, start + wanted.budget // 2)):
            found, cost, short = _fit(item, pairs, wanted.budget - 1)  # and the other bracket
            if out and used + cost > wanted.budget:
                break
            used, cut = used + cost, cut or short
            out.append(found)
    except RuntimeError:
        raise ViewError("changed", "the object changed while it was read; read it again") from None
    data: Any = _joined(out) if pairs else out
    while len(out) > 1 and pairs and len(dumps(data).encode()) > wanted.budget:  # a repeated name got a number
        out.pop()
        data = _joined(out)
    stop = start + len(out)
    cursor = seal(value, replace(wanted, format=mime_type), (size,), stop) if stop < where.stop else None
    notes = [f"items {start:,} to {stop:,} of {size:,}"] if stop - start < size else []
    notes += ["some values are cut: read them by their path"] if cut else []
    return View(mime_type, text=dumps(data), data=data, cursor=cursor, note="; ".join(notes) or None)


def _fit(item: Any, pair: bool, budget: int) -> tuple[Any, int, bool]:
    whole: object = item
    if not pair and type(whole) is int and -_SMALL < whole < _SMALL:  # most long lists hold numbers
        return whole, len(str(whole)) + 1, False
    for limits in _LIMITS:
        held = plain.Limits(**dict(zip(("depth", "items", "chars", "nodes"), limits, strict=True)))
        writer = plain.Plain(held)
        found = {plain.key_text(item[0]): writer.of(item[1])} if pair else writer.of(item)
        found = redact(found)
        cost = len(dumps(found).encode()) + 1
        if cost <= budget:
            return found, cost, held.cut
    return ({} if pair else "…"), 4, True


def _joined(pairs: list[dict[str, Any]]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for pair in pairs:
        for key, item in pair.items():
            name, at = key, 2
            while name in out:
                name, at = f"{key} ({at})", at + 1
            out[name] = item
    return out


# --- anything else ---------------------------------------------------------------------------------------------------


def own_repr(value: object, seconds: float = _REPR_SECONDS) -> str:
    """The object's own repr, clipped to 64 KiB of characters; on the main thread only, and for a limited time.

    Its code is foreign: it may query, block, allocate or delete. Where the platform has no timer signal, it is not
    called.

    Raises:
        ViewError: "busy": this is not the main thread; "slow"; "failed": it raised; "unsupported".
    """
    if threading.current_thread() is not threading.main_thread():
        raise ViewError("busy", "an object's own text is read on the kernel's main thread, which is busy")
    if not hasattr(signal, "setitimer"):
        raise ViewError("unsupported", "an object's own text cannot be read within a limit on this platform")
    try:
        text = _Alarm().call(lambda: repr(value), seconds)
    except _Late:
        raise ViewError("slow", f"its own text took longer than {seconds:g} s") from None
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        raise ViewError("failed", f"its own text cannot be had: {safe.name_of(type(error))}") from None
    return clipped(str.__str__(text), 65_536)


class _Late(BaseException):
    """Raised into a repr that takes too long; no `except Exception` of its own keeps it."""


class _Alarm:
    """A timer whose handler raises only while it is armed."""

    def __init__(self) -> None:
        self._armed = False

    def call(self, function: Callable[[], str], seconds: float) -> str:
        """What the function returns. A timer that runs already goes on afterwards.

        Raises:
            _Late: it took longer.
        """
        before = signal.signal(signal.SIGALRM, self._ring)
        began = time.monotonic()
        self._armed = True
        # again and again: foreign code may swallow the first
        left, interval = signal.setitimer(signal.ITIMER_REAL, seconds, 0.1)
        try:
            return function()
        finally:
            self._armed = False
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL if before is None else before)
            if left:
                signal.setitimer(signal.ITIMER_REAL, max(0.001, left - (time.monotonic() - began)), interval)

    def _ring(self, number: int, frame: types.FrameType | None) -> None:
        if self._armed:
            raise _Late


def _signature(value: object) -> str:
    function = cast("types.FunctionType", value)
    code = function.__code__
    names = list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    return f"def {clipped(function.__name__, 80)}({', '.join(clipped(name, 40) for name in names[:20])})"


def fingerprint_of(value: object, depth: int) -> int:
    """Over a sample of the items: their number, the values of plain ones, the identity of others."""
    known, found = plain.scalar(value, 200)
    if known:
        return zlib.crc32(str(found).encode("utf-8", "replace"))
    size = plain.size_of(value)
    if size is None or depth <= 0:
        return id(value) & 0xFFFFFFFF
    crc = zlib.crc32(b"%d" % size)
    places = {*range(min(size, _SAMPLED // 2)), *range(max(0, size - _SAMPLED // 2), size)}
    try:
        if safe.is_a(value, (set)) or safe.is_a(value, frozenset):
            places &= set(range(_SAMPLED))
        items: Any = _at(value, sorted(places), size)
        for item in items:
            parts: tuple[object, ...] = cast("tuple[object, ...]", item) if plain.is_mapping(value) else (item,)
            for part in parts:
                crc = zlib.crc32(b"%d" % fingerprint_of(part, depth - 1), crc)
    except RuntimeError:
        return crc ^ 1
    return crc


def _at(value: object, places: list[int], size: int) -> list[Any]:
    if safe.is_a(value, list) or safe.is_a(value, tuple):
        return [item for at in places for item in plain.items_of(value, at, at + 1)]
    return list(plain.items_of(value, 0, min(size, _SAMPLED)))
