"""Which texts fit a question best: BM25 over name, description and text, by SQLite's full-text search (FTS5).

SQLite comes with Python, so this needs nothing that a kernel does not have (docs/adr/0026). Words are cut at
changes of case and split in scripts that write none; nothing is kept between two questions. Pure.
"""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jupyter_mcp.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Document", "passages", "rank", "words"]

PASSAGE = 1_200  # characters, about
_WEIGHTS = (4.0, 2.0, 1.0)  # a word in the name says more than one in the text
_MOST_TEXT = 200_000  # characters of one document that are looked at
_MOST_WORDS = 64  # of a question
# in few documents even these would look rare
_EMPTY = (
    "a an and are as at be by can did do does for from had has have how i if in into is it its me my of on or our she"
    " so that the their them then there they this to was we were what when where which who why will with would you your"
)
_EMPTY_WORDS = frozenset(_EMPTY.split(" "))

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_UNSPACED = re.compile(r"([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\u0e00-\u0e7f])")  # kana, Han, Thai
_WORD = re.compile(r"\w+")
_BREAK = re.compile(r"\n\s*\n|\n(?=#{1,6} )")


@dataclass(frozen=True, slots=True)
class Document:
    """One thing that can be found.

    Attributes:
        name, description, text: what is searched, the name's words counting most.
        weight: multiplies its score.
    """

    name: str
    description: str = ""
    text: str = ""
    weight: float = 1.0


def rank(documents: Sequence[Document], question: str, limit: int = 10) -> list[tuple[int, float]]:
    """The documents that share a word with the question, best first: (index, score above zero).

    Raises:
        UsageError: this Python's SQLite was built without FTS5.
    """
    asked = list(dict.fromkeys(words(question)))
    asked = ([word for word in asked if word not in _EMPTY_WORDS] or asked)[:_MOST_WORDS]
    if not asked or not documents:
        return []
    database = sqlite3.connect(":memory:")
    try:
        _fill(database, documents)
        found = database.execute(
            f"SELECT rowid, -bm25(found, {', '.join(map(str, _WEIGHTS))}) FROM found WHERE found MATCH ?",  # noqa: S608
            (" OR ".join(f'"{word}"' for word in asked),),
        ).fetchall()
    finally:
        database.close()
    scores = [(int(row) - 1, float(score) * documents[int(row) - 1].weight) for row, score in found]
    return sorted(scores, key=lambda one: (-one[1], one[0]))[:limit]


def words(text: str) -> list[str]:
    """The words of a text as they are compared: lower case, `camelCase` and `snake_case` cut, one a Han character."""
    return _WORD.findall(_spaced(text).replace("_", " ").lower())


def passages(text: str, size: int = PASSAGE) -> list[str]:
    """The text in pieces of about `size` characters, cut at paragraphs and headings, else at lines, else anywhere."""
    found: list[str] = []
    for part in _pieces(text, size):
        if found and len(found[-1]) + len(part) + 2 <= size:
            found[-1] = f"{found[-1]}\n\n{part}"
        else:
            found.append(part)
    return found


def _pieces(text: str, size: int) -> Iterable[str]:
    for paragraph in _BREAK.split(text):
        rest = paragraph.strip("\n")
        while len(rest) > size:
            at = max(rest.rfind("\n", 0, size), rest.rfind(". ", 0, size) + 1)
            at = at if at > size // 2 else size
            yield rest[:at].rstrip()
            rest = rest[at:].lstrip()
        if rest.strip():
            yield rest


def _fill(database: sqlite3.Connection, documents: Sequence[Document]) -> None:
    try:
        database.execute(
            "CREATE VIRTUAL TABLE found USING fts5(name, description, text, "
            "tokenize = 'porter unicode61 remove_diacritics 2')"
        )
    except sqlite3.OperationalError as error:
        raise UsageError(
            f"This Python cannot rank texts: its SQLite {sqlite3.sqlite_version} has no FTS5.",
            hint="Attach what you need by hand: @server:uri",
        ) from error
    rows = (
        (number, _spaced(one.name), _spaced(one.description), _spaced(one.text[:_MOST_TEXT]))
        for number, one in enumerate(documents, 1)
    )
    database.executemany("INSERT INTO found(rowid, name, description, text) VALUES (?, ?, ?, ?)", rows)


def _spaced(text: str) -> str:
    """With a blank wherever a word ends without one."""
    text = text.encode("utf-8", "replace").decode().replace("\0", " ")
    return _UNSPACED.sub(r" \1 ", _CAMEL.sub(" ", text))
