"""A way into an object: `a.b[3]["odd key"]`, read and walked without running code, past no name that means a secret."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.kernel.views import plain, safe
from jupyter_mcp.kernel.views.base import ViewError, clipped
from jupyter_mcp.protocol.secrets import looks_secret

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["parse", "step_plain", "walk"]

_MOST_STEPS, _LONGEST = 32, 1000
_STEP = re.compile(r"""\.?([^\W\d]\w*)|\[\s*(-?\d{1,18})\s*\]|\[\s*("(?:[^"\\]|\\.)*")\s*\]|\[\s*'([^'\\]*)'\s*\]""")
_SCANNED = 10_000  # keys of a dict that are compared one by one, so that no foreign `__eq__` runs
_ABSENT = object()
_tuple_item = safe.untyped(tuple).__getitem__
_dict_item = safe.untyped(dict).get


def parse(path: str) -> list[str | int]:
    """The steps of a path.

    Raises:
        ViewError: it is none.
    """
    steps: list[str | int] = []
    at = 0
    while at < len(path) <= _LONGEST and len(steps) <= _MOST_STEPS:
        match = _STEP.match(path, at)
        if match is None or (at and match[1] and path[at] != "."):
            break
        at = match.end()
        try:
            steps.append(match[1] or (int(match[2]) if match[2] else json.loads(match[3]) if match[3] else match[4]))
        except ValueError:
            break
    else:
        if steps and at == len(path) and len(steps) <= _MOST_STEPS:
            return steps
    raise ViewError("no such path", f'"{clipped(path, 100)}" is no path; write it as a.b[3]["a key"]')


def walk(value: object, path: str, step: Callable[[object, str | int], object]) -> object:
    """What a path leads to.

    Raises:
        ViewError: "no such path"; or it passes a name that means a secret.
    """
    for key in parse(path):
        if safe.is_namespace(value):
            raise ViewError("unsupported", f'"{clipped(path, 100)}" leads through a module, whose names are not shown')
        if (type(key) is str and looks_secret(key)) or _is_value_of_secret(value, key):
            raise ViewError("unsupported", f'"{clipped(path, 100)}" is hidden: it is named like a secret')
        try:
            value = step(value, key)
        except (LookupError, TypeError, ValueError, OverflowError):
            where = clipped(str(key), 60)
            raise ViewError("no such path", f'nothing is at "{where}" of "{clipped(path, 100)}"') from None
        except RuntimeError:
            raise ViewError("changed", "the object changed while it was read") from None
    return value


def step_plain(value: object, key: str | int) -> object:
    """A step into a container of Python's own, or to a field that an object holds itself.

    Raises:
        LookupError: nothing is there.
    """
    if plain.is_record(value) or plain.size_of(value) is None:
        if type(key) is int and safe.is_a(value, tuple):
            held: Any = value
            return _tuple_item(held, key)
        return plain.fields(value)[cast("str", key)]
    if plain.is_mapping(value):
        found = _looked_up(value, key)
        if found is _ABSENT:
            raise LookupError(key)
        return found
    size = plain.size_of(value) or 0
    if type(key) is not int or not -size <= key < size:
        raise LookupError(key)
    at = key % size
    return next(plain.items_of(value, at, at + 1))


def _looked_up(value: object, key: str | int) -> object:
    if (plain.size_of(value) or 0) > _SCANNED:
        return _dict_item(value, key, _ABSENT)
    text = _ABSENT
    for held, item in tuple(plain.items_of(value, 0, _SCANNED)):
        if type(held) is type(key) and held == key:
            return item
        if type(key) is str and text is _ABSENT and plain.key_text(held) == key:
            text = item  # a key that is no text, as it is shown
    return text


def _is_value_of_secret(value: object, key: str | int) -> bool:
    """`{"name": "Authorization", "value": …}`: the value is one although its own name is none."""
    if key != "value" or not plain.is_mapping(value):
        return False
    names = [_looked_up(value, name) for name in ("name", "key", "header")]
    return any(type(name) is str and looks_secret(name) for name in names)
