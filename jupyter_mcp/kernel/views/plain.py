"""Any value as JSON, bounded in depth, items, characters and nodes, running none of its code.

Python's own types become what they are; dataclasses, pydantic models, named tuples and slots become their fields, read
past their properties; anything else becomes `<module.Type>`. Nothing is consumed, nothing copied whole, a circle ends.

Above: the views of containers, cells of tables.
"""

from __future__ import annotations

import datetime
import decimal
import enum
import fractions
import itertools
import pathlib
import re
import uuid
import zoneinfo
from collections import deque
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.kernel.masking import redact
from jupyter_mcp.kernel.views import safe
from jupyter_mcp.kernel.views.base import clipped, human_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = [
    "BIG",
    "Limits",
    "Plain",
    "cell",
    "fields",
    "is_mapping",
    "is_record",
    "items_of",
    "key_text",
    "number",
    "part_of",
    "scalar",
    "size_of",
]

_tuple_items = safe.untyped(tuple).__getitem__
_text_items = safe.untyped(str).__getitem__
BIG = 1 << 63  # beyond it a number of JSON is not what every client reads
_AHEAD = 1000  # characters after a cut in which a secret may end
_SURROGATES = re.compile("[\ud800-\udfff]")
_MOST_DIGITS_BITS = 12_000  # above it Python refuses to write an int in decimal


class Limits:
    """How much of a value is shown. One is used for one view: `nodes` counts down."""

    def __init__(
        self, *, depth: int = 8, items: int = 100, chars: int = 2000, nodes: int = 5000, counted: bool = True
    ) -> None:
        self.depth, self.items, self.chars, self.nodes = depth, items, chars, nodes
        self.counted = counted  # whether sizes are those of the whole object
        self.cut = False


class Plain:
    """Turns values into JSON within limits; `limits.cut` tells whether something is missing."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._around: list[int] = []

    def of(self, value: object) -> Any:
        """The JSON of a value."""
        limits = self.limits
        limits.nodes -= 1
        known, found = scalar(value, limits.chars)
        if known:
            if type(found) is str and found.endswith("…"):
                limits.cut = True
            return found
        if id(value) in self._around:
            return "<the object around it>"
        if size_of(value) is None and not is_record(value):
            return f"<{safe.label_of(value)}>"
        if safe.is_namespace(value):
            return "<the names of a module>"
        if len(self._around) >= limits.depth or limits.nodes <= 0:
            limits.cut = True
            return f"<{safe.label_of(value)}, {_many(value)}>"
        self._around.append(id(value))
        try:
            return self._inside(value)
        finally:
            self._around.pop()

    def _inside(self, value: object) -> Any:
        if is_record(value):
            return self._pairs(iter(fields(value).items()), None)
        size, items = size_of(value) or 0, items_of(value, 0, self.limits.items)
        if is_mapping(value):
            return self._pairs(cast("Iterator[tuple[object, object]]", items), size)
        out = [self.of(item) for item in self._while_room(items)]
        if len(out) < size:
            self.limits.cut = True
            out.append(f"… {size - len(out):,} more" if self.limits.counted else "…")
        return out

    def _pairs(self, pairs: Iterator[tuple[object, object]], size: int | None) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for key, item in self._while_room(pairs):
            name = key_text(key)
            if name in out:  # {1: …, "1": …}
                name = f"{name} ({safe.name_of(_class(key))})"
            out[name] = self.of(item)
        if size is not None and len(out) < size:
            self.limits.cut = True
            out["…"] = f"{size - len(out):,} more"
        return out

    def _while_room(self, items: Iterable[Any]) -> Iterator[Any]:
        for item in itertools.islice(items, self.limits.items):
            if self.limits.nodes <= 0:
                self.limits.cut = True
                return
            yield item


def cell(value: object, chars: int = 500) -> Any:
    """A value in a table as JSON: short and shallow."""
    known, found = scalar(value, chars)
    return found if known else Plain(Limits(depth=3, items=20, chars=chars, nodes=100, counted=False)).of(value)


_WORDS = {"None": "null", "True": "true", "False": "false"}


def _class(value: object) -> type:
    return type(value)


def key_text(key: object) -> str:
    """The key of a dict as a JSON name."""
    known, found = scalar(key, 200)
    if known:
        return found if type(found) is str else _WORDS.get(str(found), str(found))
    if type(key) is tuple:
        return f"({', '.join(key_text(item) for item in cast('tuple[object, ...]', key)[:10])})"
    return f"<{safe.label_of(key)}>"


# --- scalars ---------------------------------------------------------------------------------------------------------


def scalar(value: object, chars: int) -> tuple[bool, Any]:
    """Whether a value is a single one, and then its JSON: exact where JSON can say it, else a text."""
    cls = type(value)
    if value is None or cls is bool:
        return True, value
    if cls is str:
        return True, text_of(cast("str", value), chars)
    if cls is int or cls is float:
        return True, number(value)
    writer = _WRITERS.get(cls)
    if writer is not None:
        return True, writer(value)
    if safe.is_a(value, enum.Enum):
        name = (safe.instance_dict(value) or {}).get("_name_")
        return True, f"{safe.name_of(cls)}.{name}" if type(name) is str else f"<{safe.label(cls)}>"
    found = next(filter(None, map(_BASES.get, safe.mro(cls))), None)
    if found is not None and (safe.is_a(value, str) or safe.is_a(value, bytes)):
        return True, found(value, chars)  # numpy's own too: as they are, not copied
    known, item = _library_scalar(value)
    return (known, item) if known or found is None else (True, found(value, chars))


def number(value: object) -> Any:
    """A number as JSON; what JSON has no number for becomes a text ("NaN", "Infinity", a very long int).

    Of a class derived from int or float only what the interpreter holds is read; anything else is named by its type.
    """
    if safe.is_a(value, int):
        value = int.__int__(cast("int", value))
        if -BIG <= value < BIG:
            return value
        return str(value) if value.bit_length() < _MOST_DIGITS_BITS else f"<int of {value.bit_length():,} bits>"
    if not safe.is_a(value, float):
        return f"<{safe.label_of(value)}>"
    value = float.__float__(cast("float", value))
    if value != value:
        return "NaN"
    return "Infinity" if value == float("inf") else "-Infinity" if value == float("-inf") else value


def part_of(value: object, start: int, stop: int) -> str:
    """A stretch of a text, of a derived class too; the rest is not copied."""
    return _text_items(value, slice(start, stop))


def text_of(value: str, chars: int) -> str:
    """A text of at most so many characters; half a surrogate pair, which UTF-8 cannot carry, becomes U+FFFD."""
    if len(value) > chars:  # masked before it is cut: half a secret would not be known for one
        value = clipped(redact(value[: chars + _AHEAD]), chars)
    return value if value.isascii() else _SURROGATES.sub("�", value)


def _moment(value: Any) -> str:
    zone: object = value.tzinfo
    if zone is None or type(zone) in (datetime.timezone, zoneinfo.ZoneInfo):
        return value.isoformat()
    return f"{value.replace(tzinfo=None).isoformat()} <{safe.label_of(zone)}>"  # another zone's code would run


def _bytes(value: Any) -> str:
    return f"<{safe.label_of(value)} of {human_bytes(len(value))}>"


_WRITERS: safe.Types[Callable[[Any], Any]] = safe.Types(
    {
        complex: lambda value: f"{value.real}{value.imag:+}j",
        bytes: _bytes,
        bytearray: _bytes,
        memoryview: lambda value: f"<memoryview of {human_bytes(value.nbytes)}>",
        datetime.datetime: _moment,
        datetime.time: _moment,
        datetime.date: datetime.date.isoformat,
        datetime.timedelta: lambda value: f"{value.total_seconds()} s",
        datetime.timezone: str,
        zoneinfo.ZoneInfo: str,
        decimal.Decimal: lambda value: clipped(str(value), 200),
        fractions.Fraction: lambda value: f"{number(value.numerator)}/{number(value.denominator)}",
        uuid.UUID: str,
        pathlib.PosixPath: str,
        pathlib.WindowsPath: str,
        range: lambda value: f"range({number(value.start)}, {number(value.stop)}, {number(value.step)})",
        slice: lambda value: "<slice>",
        type(Ellipsis): lambda value: "...",
        type(NotImplemented): lambda value: "NotImplemented",
    }
)
_BASES: safe.Types[Callable[[Any, int], Any]] = safe.Types(
    {  # of subclasses only what the interpreter itself holds is read
        str: lambda value, chars: text_of(part_of(value, 0, chars + _AHEAD), chars),
        int: lambda value, chars: number(value),
        float: lambda value, chars: number(value),
        bytes: lambda value, chars: f"<{safe.label_of(value)} of {human_bytes(bytes.__len__(value))}>",
    }
)


def _library_scalar(value: object) -> tuple[bool, Any]:
    if safe.find_base(value, "pandas.Timestamp") is type(value) or safe.find_base(value, "pandas.Timedelta") is type(
        value
    ):
        return True, str(cast("Any", value).isoformat())
    if type(value) is safe.find_base(value, "numpy.datetime64") or type(value) is safe.find_base(
        value, "numpy.timedelta64"
    ):
        return True, str(value)
    generic = safe.find_base(value, "numpy.generic")
    if generic is not None and safe.module_of(type(value)) == "numpy":
        found = generic.item(value)
        if type(found) is type(value):  # of a precision that Python has no number for
            return True, str(found)
        return scalar(found, 500) if type(found) in safe.SIMPLE else (True, f"<{safe.label_of(value)}>")
    if any(safe.find_base(value, f"pandas.{name}") is type(value) for name in ("Interval", "Period")):
        return True, str(value)
    if safe.library(value) == "pandas" and safe.name_of(type(value)) in ("NAType", "NaTType"):
        return True, None
    return False, None


# --- containers ------------------------------------------------------------------------------------------------------

_MOST_FIELDS = 10_000
_SORTED = 1000  # a set of at most so many items is shown in order
_KEYS, _VALUES = type(cast("dict[str, str]", {}).keys()), type(cast("dict[str, str]", {}).values())
_KINDS: safe.Types[str] = safe.Types(
    {
        **dict.fromkeys((list, tuple), "sequence"),
        **dict.fromkeys((set, frozenset), "set"),
        dict: "mapping",
        **dict.fromkeys((deque, _KEYS, _VALUES), "other"),
    }
)


def _container(value: object) -> Any:
    """The class of Python's own that makes a value a container; its methods are called, not the value's."""
    return next((base for base in safe.mro(type(value)) if _KINDS.get(base)), None)


def is_mapping(value: object) -> bool:
    """Whether a value is a dict or derives from one."""
    return _container(value) is dict


def size_of(value: object) -> int | None:
    """How many items a container of Python's own (or of a class derived from one) holds; None for other objects."""
    base = _container(value)
    return base.__len__(value) if base is not None else None


def items_of(value: object, start: int, stop: int) -> Iterator[Any]:
    """Items of such a container, pairs of a mapping; sets in order where they are small enough to sort.

    Raises:
        RuntimeError: it changes while it is read.
    """
    base = _container(value)
    kind = _KINDS.get(base)
    if kind == "sequence":
        return iter(base.__getitem__(value, slice(start, stop)))
    if kind == "mapping":
        return itertools.islice(base.items(value), start, stop)
    iterator = base.__iter__(value)
    if kind == "set" and base.__len__(value) <= _SORTED:
        iterator = iter(sorted(iterator, key=_order))
    return itertools.islice(iterator, start, stop)


_NUMBERS: safe.Types[bool] = safe.Types(dict.fromkeys((int, float, bool), True))


def _order(value: object) -> tuple[str, float, str]:
    found = key_text(value)
    if type(value) not in _NUMBERS or value != value:
        return safe.label_of(value), 0.0, found
    return "", float(min(max(cast("float", value), -1e300), 1e300)), found


def is_record(value: object) -> bool:
    """Whether a value is a dataclass, a named tuple or a pydantic model: something whose fields say what it is."""
    cls = type(value)
    if cls in safe.SIMPLE or _KINDS.get(cls):
        return False
    for base in safe.mro(cls):
        names = safe.class_dict(base)
        if "__dataclass_fields__" in names or "__pydantic_fields__" in names or "__attrs_attrs__" in names:
            return safe.module_of(cls) != "pydantic.types"
        if base is tuple:
            return type(safe.class_dict(cls).get("_fields")) is tuple
    return False


def fields(value: object) -> dict[str, Any]:
    """The fields of a record, or the attributes that an instance holds itself: no property, no private name."""
    cls = type(value)
    if safe.is_a(value, tuple):
        names = safe.class_dict(cls).get("_fields")
        if type(names) is tuple:
            held: Any = value
            return dict(zip(map(str, cast("tuple[Any, ...]", names)), _tuple_items(held, slice(None)), strict=False))
    if safe.is_namespace(value):
        return {}
    held = itertools.islice((safe.instance_dict(value) or {}).items(), _MOST_FIELDS)
    found = {**safe.slots(value), **dict(tuple(held))}
    return {name: item for name, item in found.items() if type(name) is str and not name.startswith("_")}


def _many(value: object) -> str:
    size = size_of(value)
    return f"{size:,} items" if size is not None else "its fields"
