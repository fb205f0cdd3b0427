"""Annotations that pydantic cannot read as they are: `typing.TypedDict` before Python 3.12.

There it must be typing_extensions' (which comes with pydantic); authors should not have to know, so it is made anew.
"""

from __future__ import annotations

import sys
import types
import typing
from typing import Any

_NEEDED = sys.version_info < (3, 12)


def supported(annotation: Any) -> Any:
    """The annotation with every `typing.TypedDict` in it replaced by one that pydantic takes."""
    return _rebuilt(annotation, {}) if _NEEDED else annotation


def _rebuilt(annotation: Any, known: dict[Any, Any]) -> Any:
    if type(annotation) is type(_Sample):
        return _typed_dict(annotation, known)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is None or origin is typing.Literal or not arguments:
        return annotation
    if origin is typing.Annotated:
        inner = _rebuilt(arguments[0], known)
        return annotation if inner is arguments[0] else typing.Annotated[(inner, *arguments[1:])]
    new = tuple(_rebuilt(argument, known) for argument in arguments)
    if all(one is other for one, other in zip(new, arguments, strict=True)):
        return annotation
    if origin is typing.Union or origin is types.UnionType:
        return typing.Union[new]  # noqa: UP007
    return origin[new]


def _typed_dict(kind: Any, known: dict[Any, Any]) -> Any:
    from typing import NotRequired

    from typing_extensions import TypedDict

    if kind in known:
        return known[kind]
    known[kind] = dict[str, Any]  # one that contains itself ends there
    try:
        hints = typing.get_type_hints(kind, include_extras=True)
    except Exception:  # names that are not there
        return dict[str, Any]
    fields: dict[str, Any] = {}
    for name, hint in hints.items():
        required = name in kind.__required_keys__
        # Annotations that are text hid these marks from the class itself.
        while (mark := typing.get_origin(hint)) in (typing.Required, typing.NotRequired):
            required, hint = mark is typing.Required, typing.get_args(hint)[0]
        hint = _rebuilt(hint, known)
        fields[name] = hint if required else NotRequired[hint]
    known[kind] = TypedDict(kind.__name__, fields)  # pyright: ignore
    known[kind].__doc__ = kind.__doc__
    known[kind].__module__ = kind.__module__
    return known[kind]


class _Sample(typing.TypedDict):
    """Its metaclass is how the others are known."""
