"""Views of Python's own objects: numbers, containers, records, and of what nothing else knows."""

from __future__ import annotations

import itertools
import types
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.kernel.masking import redact
from jupyter_mcp.kernel.views import paths, plain, safe
from jupyter_mcp.kernel.views.base import (
    JSON,
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
from jupyter_mcp.kernel.views.own_text import own_repr
from jupyter_mcp.kernel.views.texts import text_view
from jupyter_mcp.kernel.views.viewer import Viewer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Container", "Number", "Object", "Record", "fingerprint_of", "json_view"]

_SAMPLED = 64
_SMALL = 1 << 53
_NAMESPACE = "these are the names of a module, which are not shown; ask for a variable by its own name"


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


# --- small things ----------------------------------------------------------------------------------------------------


def _said(value: Any) -> str:
    return value if type(value) is str else dumps(value)


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
