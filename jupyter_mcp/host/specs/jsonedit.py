"""Changing one member of a JSON text and nothing else: comments, order, indentation and line ends stay as they were.

The text is JSON as `jsonc` reads it. Values are found by their brackets and quotes; that the result is right is checked
by reading it again.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import ConfigError
from jupyter_mcp.host.specs import jsonc

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["put"]

_BLANK = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'', re.DOTALL)
_WORD = re.compile(r"[^\s,:\[\]{}/\"']+")


@dataclass
class _Object:
    """Where an object stands in a text: its braces, and key -> (start of the key, start and end of the value)."""

    start: int
    end: int = 0
    members: dict[str, tuple[int, int, int]] = field(default_factory=dict[str, tuple[int, int, int]])
    comma: bool = False


def put(text: str, path: Sequence[str], value: Any) -> str:
    """The text with `value` at `path`, added where it was not; objects on the way are made.

    Args:
        text: JSON, an object.
        path: keys from the outermost object inwards.
        value: what JSON has.

    Raises:
        ConfigError: the text is no such JSON, or something on the way is no object.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    step = _step(text)
    at = _BLANK.match(text)
    found = _object(text, at.end() if at else 0)
    for depth, key in enumerate(path):
        rest = path[depth + 1 :]
        if key not in found.members:
            for inner in reversed(rest):
                value = {inner: value}
            return _added(text, found, key, _written(value, step, depth + 1, newline), step * (depth + 1), newline)
        _, start, end = found.members[key]
        if not rest:
            return text[:start] + _written(value, step, depth + 1, newline) + text[end:]
        if text[start] != "{":
            raise ConfigError(f"{key} is not an object.", key=key)
        found = _object(text, start)
    return text


def _added(text: str, found: _Object, key: str, value: str, indent: str, newline: str) -> str:
    member = f"{newline}{indent}{json.dumps(key, ensure_ascii=False)}: {value}"
    if not found.members:
        inside = text[found.start + 1 : found.end].rstrip()  # comments, perhaps
        return text[: found.start + 1] + inside + member + newline + indent[: -len(_step(text))] + text[found.end :]
    last = max(end for _, _, end in found.members.values())
    behind = text[last : found.end]
    if found.comma:  # it may be followed by a comment of its own
        comma = re.match(r"(?:\s|/\*.*?\*/|//[^\n]*\n)*,", behind, re.DOTALL)
        last += comma.end() if comma else 0
        return text[:last] + member + "," + text[last:]
    after = text[last : found.end]
    closing = "" if "\n" in after else newline + indent[: -len(_step(text))]
    remark = re.match(r"[ \t]*(?://[^\n]*|/\*[^\n]*?\*/[ \t]*(?=\n))", after)
    kept = remark[0].rstrip("\r") if remark else ""
    return text[:last] + "," + kept + member + text[last + len(kept) : found.end] + closing + text[found.end :]


def _written(value: Any, step: str, depth: int, newline: str) -> str:
    lines = json.dumps(value, ensure_ascii=False, indent=step).split("\n")
    return f"{newline}{step * depth}".join(lines)


def _step(text: str) -> str:
    """How far the file indents."""
    found = re.search(r"\{[^\S\n]*\r?\n([ \t]+)[\"'\w]", text)
    return found[1] if found else "  "


# --- finding ---------------------------------------------------------------------------------------------------------


def _object(text: str, at: int) -> _Object:
    """The object that begins at `at`. Raises `ConfigError` when there is none."""
    if text[at : at + 1] != "{":
        raise ConfigError("The file holds no JSON object.", line=1)
    found = _Object(at)
    at = _blank(text, at + 1)
    while text[at : at + 1] != "}":
        found.comma = False
        start, end = at, _value(text, at)
        key = str(jsonc.parse(f"{{{text[start:end]}: 0}}").popitem()[0])
        at = _blank(text, end)
        if text[at : at + 1] != ":":
            raise ConfigError("The file is not JSON.", line=text.count("\n", 0, at) + 1)
        begin = _blank(text, at + 1)
        finish = _value(text, begin)
        found.members[key] = (start, begin, finish)
        at = _blank(text, finish)
        if text[at : at + 1] == ",":
            found.comma = True
            at = _blank(text, at + 1)
        elif text[at : at + 1] != "}":
            raise ConfigError("The file is not JSON.", line=text.count("\n", 0, at) + 1)
    found.end = at
    return found


def _value(text: str, at: int) -> int:
    """Where the value (or key) that begins at `at` ends."""
    depth = 0
    while at < len(text):
        if text[at] in "{[":
            depth, at = depth + 1, at + 1
        elif text[at] in "}]":
            depth, at = depth - 1, at + 1
        elif (match := _STRING.match(text, at) or _WORD.match(text, at)) is not None:
            at = match.end()
        elif depth and text[at] in ",:":
            at += 1
        else:
            break
        if not depth:
            return at
        at = _blank(text, at)
    raise ConfigError("The file is not JSON.", line=text.count("\n", 0, at) + 1)


def _blank(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at
