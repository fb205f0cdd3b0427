"""Which viewer an object has, and the few functions that the rest of the notebook's server calls.

The types of other libraries are known by name and looked up among the loaded modules when an object comes whose class
derives from one; no library is imported for it. What somebody registered comes first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast
from weakref import ref

from jupyter_mcp.kernel.masking import redact
from jupyter_mcp.kernel.views import builtin, paths, plain, safe, texts
from jupyter_mcp.kernel.views.base import (
    JSON,
    PLAIN,
    Summary,
    View,
    ViewError,
    Wanted,
    clipped,
    remembered,
)
from jupyter_mcp.kernel.views.families import FAMILIES
from jupyter_mcp.kernel.views.formats import dumps

if TYPE_CHECKING:
    from jupyter_mcp.kernel.views.viewer import Viewer

__all__ = ["columns", "fingerprint", "needs_main_thread", "register", "reset", "summary", "view"]

Shower = Callable[[Any, Wanted], Any]

_NUMBER, _TEXT, _BLOB, _CONTAINER, _RECORD, _OBJECT = (
    builtin.Number(),
    texts.Text(),
    texts.Blob(),
    builtin.Container(),
    builtin.Record(),
    builtin.Object(),
)
_MOST_TYPES = 4096
_ASIDE = (KeyboardInterrupt, GeneratorExit)  # meant for whoever called, not for the object that is looked at
_known: dict[int, tuple[ref[type], Viewer]] = {}
_registered: dict[str, Shower] = {}  # by dotted name
_registered_types: list[tuple[type, Shower]] = []
_entry_points_read = False


def summary(value: object) -> Summary:
    """What an object is: cheap, without running its code; never fails."""
    viewer = _viewer(value)
    try:
        return viewer.summary(value)
    except _ASIDE:
        raise
    except BaseException:  # a table that is being changed, a library that is half unloaded, or that panics
        cls = type(value)
        return Summary(safe.name_of(cls), safe.module_of(cls), viewer.kind)


def view(value: object, wanted: Wanted | None = None) -> View:
    """A bounded piece of an object, secrets masked.

    Args:
        value: any object. Its own code runs only if it registered for that, or its text is asked for (text/plain of an
            object that nothing else knows, on the main thread).
        wanted: which piece; a cursor remembers rows, columns, path and format.

    Raises:
        ViewError: always this, whatever the object did; `reason` says why.
    """
    try:
        wanted = remembered(wanted or Wanted())
        target = paths.walk(value, wanted.path, _step) if wanted.path else value
        return _shown(target, wanted, 3)
    except ViewError:
        raise
    except _ASIDE:
        raise
    except BaseException as error:  # foreign code may raise anything; it is this object's error alone
        raise ViewError("failed", _said(error)) from None


def needs_main_thread(value: object, wanted: Wanted | None = None) -> bool:
    """Whether an object (or what the path leads to) may be read on the kernel's main thread only: it belongs to a
    connection, or its own repr is wanted."""
    wanted = wanted or Wanted()
    try:
        wanted = remembered(wanted)
        target = paths.walk(value, wanted.path, _step) if wanted.path else value
    except ViewError:
        return False
    viewer = _viewer(target)
    if viewer.main_thread:
        return True
    wants_text = wanted.format is not None and wanted.format.strip().lower() in (PLAIN, "text", "plain")
    return viewer is _OBJECT and wants_text and _shower(target) is None


def fingerprint(value: object) -> int | None:
    """A number over a bounded sample of an object's content; None when it cannot be known. Never fails."""
    try:
        return _viewer(value).fingerprint(value)
    except _ASIDE:
        raise
    except BaseException:
        return None


def columns(value: object) -> list[str]:
    """Names of a table's columns, those that mean a secret too; empty for what has none. Never fails."""
    try:
        return _viewer(value).columns(value)
    except _ASIDE:
        raise
    except BaseException:
        return []


def register(kind: type | str, shower: Shower) -> None:
    """How objects of a class, and of those derived from it, show themselves.

    Args:
        kind: the class, or its name "module.Class" when its library need not be loaded yet.
        shower: called with the object and what is wanted, in a worker thread; returns a `View`, a text, bytes, data for
            JSON, or another object to show instead. What it returns is bounded and masked like everything else.
    """
    if isinstance(kind, str):
        _registered[kind] = shower
    else:
        _registered_types[:] = [(held, f) for held, f in _registered_types if held is not kind] + [(kind, shower)]


def reset() -> None:
    """Forget what was registered and read (for tests, and when the extension is loaded again)."""
    global _entry_points_read
    _registered.clear()
    _registered_types.clear()
    _known.clear()
    _entry_points_read = False


# --- which viewer ----------------------------------------------------------------------------------------------------


def _viewer(value: object) -> Viewer:
    cls = type(value)
    held = _known.get(id(cls))
    if held is not None and held[0]() is cls:
        return held[1]
    if len(_known) >= _MOST_TYPES:
        _known.clear()
    viewer = _found(value)
    _known[id(cls)] = (ref(cls), viewer)
    return viewer


def _found(value: object) -> Viewer:
    for dotted, viewer in FAMILIES:
        if safe.find_base(value, dotted) is not None:
            return viewer
    cls = type(value)
    if safe.is_a(value, bytes) or cls is bytearray or cls is memoryview:
        return _BLOB
    if safe.is_a(value, str):
        return _TEXT
    if plain.scalar(value, 10)[0]:
        return _NUMBER
    if plain.is_record(value):
        return _RECORD
    return _CONTAINER if plain.size_of(value) is not None else _OBJECT


def _step(value: object, key: str | int) -> object:
    return _viewer(value).step(value, key)


def _shower(value: object) -> Shower | None:
    """What somebody registered for the object's class, else its own `_mcp_view_`."""
    _read_entry_points()
    for cls in safe.mro(type(value)):
        for held, shower in _registered_types:
            if held is cls:
                return shower
        shower = _registered.get(f"{safe.module_of(cls)}.{safe.name_of(cls)}")
        if shower is not None:
            return shower
        own = safe.class_dict(cls).get("_mcp_view_")
        if callable(own):
            return cast("Shower", own)
    return None


def _read_entry_points() -> None:
    """Installed packages register by the group "jupyter_mcp.views": name = "module.Class", value = the function."""
    global _entry_points_read
    if _entry_points_read:
        return
    _entry_points_read = True
    from importlib.metadata import entry_points

    for point in entry_points(group="jupyter_mcp.views"):
        _registered.setdefault(point.name, lambda value, wanted, point=point: point.load()(value, wanted))


# --- showing ---------------------------------------------------------------------------------------------------------


def _shown(value: object, wanted: Wanted, turns: int) -> View:
    shower = _shower(value) if type(value) not in safe.SIMPLE else None
    if shower is None:
        return _viewer(value).view(value, wanted)
    if turns <= 0:
        raise ViewError("failed", "its view shows one object by another without end")
    found = shower(value, wanted)
    if type(found) is View:
        return _bounded(found, wanted.budget)
    if found is value:
        return _viewer(value).view(value, wanted)
    if type(found) is str:
        return texts.text_view(value, found, wanted)
    return _shown(found, wanted, turns - 1)


def _bounded(found: View, budget: int) -> View:
    """What foreign code made, within the budget and masked."""
    note = clipped(redact(str(found.note)), 500) if found.note is not None else None
    if found.blob is not None:
        if len(found.blob) > budget:
            raise ViewError("failed", f"its view holds {len(found.blob):,} bytes, more than {budget:,}")
        return View(clipped(found.mime_type, 100), blob=bytes(found.blob), note=note)
    data: Any = None
    if found.data is not None:
        data = redact(plain.Plain(plain.Limits(items=1000)).of(found.data))
        data = data if len(dumps(data).encode()) <= budget else None
    text = found.text if found.text is not None else dumps(data)
    whole = redact(text[: budget + 1]).encode("utf-8", "replace")
    if len(whole) > budget:
        note = f"{note}; cut" if note else "cut"
    mime_type = clipped(found.mime_type, 100) if found.text is not None else JSON
    return View(mime_type, text=whole[:budget].decode("utf-8", "ignore"), data=data, cursor=None, note=note)


def _said(error: BaseException) -> str:
    """An error of foreign code: its type, and its message if that is a plain text."""
    name = safe.name_of(type(error))
    said = next((arg for arg in cast("tuple[Any, ...]", BaseException.args.__get__(error)) if type(arg) is str), "")  # pyright: ignore
    return clipped(redact(plain.text_of(f"{name}: {said[:500]}" if said else name, 1000)), 300)
