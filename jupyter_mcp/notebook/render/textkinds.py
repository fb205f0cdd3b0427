"""What a text that a server sent is: JSON, rows, Markdown, laid out, or prose. Pure.

Most servers say nothing about their texts. A guess must not cost anything: what it is not sure of stays a text as it
was sent, and the text itself is in the object whatever is guessed here.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from jupyter_mcp.host.tables import text_columns
from jupyter_mcp.notebook.render.data import table_of
from jupyter_mcp.protocol.shapes import is_list, is_mapping

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jupyter_mcp.host.tables import Columns

__all__ = ["TextKind", "kind_of", "laid_out"]

LONGEST = 2_000_000  # characters of a text that is looked at
_LOOK = 20_000  # characters in which marks of Markdown are looked for
_LONGEST_WORD = 60  # characters of a column's name
_CODE_LINE = re.compile(r"(?m)^(?: {2,}|\t|[|>{}\[\]]|```|\S+\s{3,}\S)")
_COLUMN_LINE = re.compile(r"^(?: {4,}|\t)\S|\S\s{3,}\S")
_FENCES = re.compile(r"(?ms)^ {0,3}(```|~~~).*?^ {0,3}\1[ \t]*$")
_HEADING = re.compile(r"(?m)(?:\A|^[ \t]*\n)#{1,6} \S[^\n]*\n[ \t]*(?:\n|\Z)")
_BOLD = re.compile(r"\*\*[^\s*](?:[^*\n]{0,200}[^\s*])?\*\*")
_LINK = re.compile(r"\[[^\]\n]{1,200}\]\((?:https?://|mailto:)[^)\s]+\)")
_ITEM = re.compile(r"(?m)^ {0,3}(?:[-*+]|\d{1,3}[.)]) \S")
_LIST = re.compile(r"(?m)(?:\A|^[ \t]*\n)(?: {0,3}(?:[-*+]|\d{1,3}[.)]) \S[^\n]*(?:\n|\Z)){2,}")
_TABLE = re.compile(r"(?m)^[ \t]*\|.*\|[ \t]*\n[ \t]*\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*$")
_SOURCE = re.compile(
    r"(?m)^(?:#!|import \w|from \w+ import |def \w+\(|class \w+|\w+ = |<\?xml|<!doctype|diff --git |@@ -\d|--- \w+/)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class TextKind:
    """
    Attributes:
        kind: "json" (`data` is its value), "rows" (`columns`), "markdown" or "text".
        columns: the table in it, also of a JSON text and of a Markdown text with one table.
    """

    kind: Literal["json", "rows", "markdown", "text"]
    data: Any = None
    columns: Columns | None = None


_PLAIN = TextKind("text")


def kind_of(text: str, mime: str = "") -> TextKind:
    """What a text is.

    Args:
        text: as sent.
        mime: what the server calls it, if anything; a name that the text does not keep decides nothing.
    """
    if not text.strip() or len(text) > LONGEST:
        return _PLAIN
    said = mime.partition(";")[0].strip().lower()
    if said in ("text/csv", "text/tab-separated-values"):
        columns = text_columns(text)
        return TextKind("rows", columns=columns) if columns else _PLAIN
    if (found := _json(text)) is not None:
        return found
    if said in ("text/markdown", "text/x-markdown"):
        return TextKind("markdown", columns=_only_table(text))
    if said not in ("", "text/plain"):
        return _PLAIN
    if _looks_like_markdown(text[:_LOOK]):
        return TextKind("markdown", columns=_only_table(text))
    first = text.strip().partition("\n")[0]
    columns = text_columns(text) if any(mark in first for mark in "\t,;|") else None
    return TextKind("rows", columns=columns) if columns is not None and _is_surely(columns, text) else _PLAIN


def laid_out(text: str) -> bool:
    """Whether columns or indentation carry meaning."""
    return text[:1] in ("{", "[") or _CODE_LINE.search(text) is not None


def _json(text: str) -> TextKind | None:
    stripped = text.strip()
    if (stripped[0], stripped[-1]) not in (("{", "}"), ("[", "]")):
        return None
    try:
        data = json.loads(stripped)
    except (ValueError, RecursionError):
        return _json_lines(stripped)
    if not (is_mapping(data) or is_list(data)) or not data:
        return None
    return TextKind("json", data, table_of(data))


def _json_lines(text: str) -> TextKind | None:
    """One object a line, or a list as Python prints it."""
    columns = text_columns(text)
    return TextKind("rows", columns=columns) if columns else None


def _only_table(text: str) -> Columns | None:
    return text_columns(text) if _TABLE.search(text[:_LOOK]) else None


def _looks_like_markdown(text: str) -> bool:
    """Marks that nobody writes by chance, and no sign of source code or of columns made with blanks."""
    fenced = _FENCES.search(text) is not None
    bare = _FENCES.sub("", text)
    if _SOURCE.search(bare) or _mostly_columns(bare):
        return False
    return fenced or any(sign.search(bare) for sign in (_HEADING, _BOLD, _LINK, _TABLE, _LIST))


def _mostly_columns(text: str) -> bool:
    lines = [line for line in text.splitlines() if line.strip() and "|" not in line and not _ITEM.match(line)]
    return bool(lines) and sum(_COLUMN_LINE.search(line) is not None for line in lines) * 3 > len(lines)


def _is_surely(columns: Columns, text: str) -> bool:
    """Whether lines with commas are rows: two sentences with a comma each would be as well."""
    if not all(len(name) <= _LONGEST_WORD for name in columns):
        return False
    height = _height(list(columns.values()))
    if height == 0:
        return False
    first = text.strip().partition("\n")[0]
    if "\t" in first or "|" in first:
        return True
    numbers = any(isinstance(cell, (int, float)) for column in columns.values() for cell in column)
    spaced = sum(", " in line for line in text.splitlines()[: height + 1])
    return numbers or (height >= 2 and spaced * 2 <= height)


def _height(columns: Sequence[Sequence[Any]]) -> int:
    return max((len(column) for column in columns), default=0)
