"""What a person has done to a form so far: the raw draft, kept apart from the values that it means.

A draft follows the tree of nodes:

    UNSET                 left alone
    None                  null, chosen
    a text                as it was typed; what it means is read by the field's kind
    a value               a tick or a choice; also a whole value that a script gives
    a mapping, `Members`  an object: drafts by name, and rows for the members that the schema does not name
    a sequence            a list: a draft for each entry, in order
    `Picked`              one of the alternatives, with its own draft
    `AsJson`              this field is written as JSON
    `Variable`            the value of a notebook variable

`draft` goes from values to drafts (the JSON side, a default, a call that is done again); `collecting` goes back.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jupyter_mcp.host.forms.node import UNSET, FieldError, Unset
from jupyter_mcp.host.forms.parse import parse
from jupyter_mcp.protocol.shapes import is_list, is_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jupyter_mcp.host.forms.node import Node

__all__ = ["AsJson", "Draft", "Members", "Picked", "Variable", "draft", "equal", "written"]

Draft = Any


@dataclass(frozen=True)
class AsJson:
    """A field written as JSON, as it was typed."""

    text: str


@dataclass(frozen=True)
class Variable:
    """A field that takes the value of a notebook variable when it is sent."""

    name: str


@dataclass(frozen=True)
class Picked:
    """One of a union's alternatives, by its place; None when none is chosen yet."""

    at: int | None
    draft: Draft = UNSET


@dataclass(frozen=True)
class Members:
    """An object: the drafts of its described members, and rows of (name, draft) for the others, in order."""

    parts: Mapping[str, Draft] = field(default_factory=dict[str, Draft])
    rows: Sequence[tuple[str, Draft]] = ()


_MAX_DEPTH = 40  # levels of a value that become fields; what is deeper is written as JSON
_MAX_FRESH = 8  # levels of required objects that a fresh form opens
_MAX_ROWS = 3  # entries that a fresh list begins with


def draft(node: Node, value: Any = UNSET) -> Draft:
    """The draft that shows a value, or that a fresh form starts with.

    Args:
        node: the form, or a field of it.
        value: any JSON value, fitting or not; UNSET for the schema's defaults. What has no field is written as JSON in
            the nearest one that has.
    """
    return _fresh(node, 0) if value is UNSET else _of(node, value, 0)


def written(value: Any) -> AsJson:
    """A value as one would write it."""
    return AsJson(json.dumps(value, ensure_ascii=False, indent=2 if isinstance(value, (dict, list)) else None))


def _fresh(node: Node, depth: int) -> Draft:
    if node.default is not UNSET:
        return _of(node, node.default, depth)
    if not node.required or depth > _MAX_FRESH:
        return UNSET
    if node.kind == "object":
        return {part.name: _fresh(part, depth + 1) for part in node.parts}
    if node.kind == "array" and node.min_items:
        return [_entry(node, at, depth) for at in range(min(node.min_items, _MAX_ROWS))]
    return UNSET


def _entry(node: Node, at: int, depth: int) -> Draft:
    entry = node.entry(at)
    return UNSET if entry is None else _fresh(entry, depth + 1)


def _of(node: Node, value: Any, depth: int) -> Draft:
    if value is None and (node.nullable or node.kind not in ("json", "union")):
        return None if node.nullable else written(None)
    if isinstance(value, Unset):
        return UNSET
    build = _BUILDERS.get(node.kind, _plain)
    return written(value) if depth > _MAX_DEPTH else build(node, value, depth)


def _object(node: Node, value: Any, depth: int) -> Draft:
    if not is_mapping(value):
        return written(value)
    named = {part.name: part for part in node.parts}
    others = [name for name in value if name not in named]
    if others and node.extra is None:
        return written(value)
    parts = {name: _of(part, value[name], depth + 1) if name in value else UNSET for name, part in named.items()}
    if not others:
        return parts
    assert node.extra is not None
    return Members(parts, [(name, _of(node.extra, value[name], depth + 1)) for name in others])


def _array(node: Node, value: Any, depth: int) -> Draft:
    if not is_list(value):
        return written(value)
    rows: list[Draft] = []
    for at, entry in enumerate(value):
        one = node.entry(at)
        if one is None:
            return written(value)
        rows.append(_of(one, entry, depth + 1))
    return rows


def _union(node: Node, value: Any, depth: int) -> Draft:
    """The first alternative that says the value as it is."""
    from jupyter_mcp.host.forms.collecting import collect

    kept: Draft = None
    for at, branch in enumerate(node.branches):
        made = _of(branch, value, depth + 1)
        got, errors = collect(branch, made)
        if not errors and equal(got, value):
            if not isinstance(made, AsJson):
                return Picked(at, made)
            kept = kept or Picked(at, made)
    return kept or written(value)


def _chosen(node: Node, value: Any, depth: int) -> Draft:
    values = value if node.kind == "multichoice" else [value]
    known = is_list(values) and all(any(equal(one, known) for _, known in node.choices) for one in values)
    return value if known else written(value)


def _truth(node: Node, value: Any, depth: int) -> Draft:
    return value if isinstance(value, bool) else written(value)


def _plain(node: Node, value: Any, depth: int) -> Draft:
    """A text as it stands where it is read back as it is, else the value as JSON, read by the same field if it can."""
    if node.kind == "json" and not isinstance(value, str):
        return written(value).text  # null too
    typed = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    for text in (typed, json.dumps(value, ensure_ascii=False)) if isinstance(value, str) else (typed,):
        if _reads_as(node, text, value):
            return text
    return written(value)


def _reads_as(node: Node, text: str, value: Any) -> bool:
    try:
        return equal(parse(node, text), value)
    except FieldError:
        return False


_BUILDERS: Mapping[str, Any] = {
    "object": _object,
    "array": _array,
    "union": _union,
    "choice": _chosen,
    "const": _chosen,
    "multichoice": _chosen,
    "boolean": _truth,
}


def equal(left: Any, right: Any) -> bool:
    """Whether two JSON values are the same: 1 is 1.0, and neither is true."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if is_mapping(left) and is_mapping(right):
        return left.keys() == right.keys() and all(equal(left[name], right[name]) for name in left)
    if is_list(left) and is_list(right):
        return len(left) == len(right) and all(map(equal, left, right))
    return bool(left == right)
