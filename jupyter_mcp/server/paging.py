"""Lists in pages: opaque cursors that survive changes of the list.

A cursor holds the key of the last entry of its page and its place. The next page begins after that key, or, when the
entry is gone meanwhile, at that place. Cursors are not signed: a made-up one can only ask for another page.
"""

from __future__ import annotations

import base64
import binascii
import json
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, overload

PAGE_SIZE = 100
Entry = tuple[str, "dict[str, Any]"]
"""Key and description of one entry of a list."""


class InvalidCursor(Exception):
    """A cursor that this list did not make."""


class Made(Sequence[Entry]):
    """A list whose entries are made when they are looked at; a subclass has `__len__` and `at`."""

    @abstractmethod
    def at(self, place: int) -> Entry:
        """The entry at this place, counted from 0."""

    @overload
    def __getitem__(self, at: int) -> Entry: ...

    @overload
    def __getitem__(self, at: slice) -> list[Entry]: ...

    def __getitem__(self, at: int | slice) -> Entry | list[Entry]:
        places = range(len(self))[at]
        return self.at(places) if isinstance(places, int) else [self.at(place) for place in places]


class Joined(Made):
    """Two lists one after the other, without a copy: the second may make its entries when they are looked at."""

    def __init__(self, first: Sequence[Entry], second: Sequence[Entry]) -> None:
        self._first = first
        self._second = second

    def __len__(self) -> int:
        return len(self._first) + len(self._second)

    def at(self, place: int) -> Entry:
        before = len(self._first)
        return self._first[place] if place < before else self._second[place - before]


def page(
    entries: Sequence[Entry], cursor: object, what: str, size: int = PAGE_SIZE
) -> tuple[list[dict[str, Any]], str | None]:
    """One page of a list.

    Args:
        entries: key and description of every entry, in order.
        cursor: as the client sent it; None for the first page.
        what: which list, so that a cursor of another one is refused.
        size: entries on a page.

    Returns:
        the descriptions, and the cursor of the next page or None.

    Raises:
        InvalidCursor: it is not a cursor of this list.
    """
    start = 0 if cursor is None else _start(entries, cursor, what)
    end = start + size
    chosen = [description for _, description in entries[start:end]]
    if end >= len(entries) or not chosen:
        return chosen, None
    return chosen, _encode([what, end, entries[end - 1][0]])


def _start(entries: Sequence[tuple[str, dict[str, Any]]], cursor: object, what: str) -> int:
    place, key = _decode(cursor, what)
    if 0 < place <= len(entries) and entries[place - 1][0] == key:
        return place
    found = next((at + 1 for at, (name, _) in enumerate(entries) if name == key), None)
    return min(place, len(entries)) if found is None else found


def _encode(value: list[Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value, separators=(",", ":")).encode()).decode().rstrip("=")


def _decode(cursor: object, what: str) -> tuple[int, str]:
    try:
        text = str(cursor)
        value = json.loads(base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True))
        kind, place, key = value
    except (ValueError, TypeError, binascii.Error):
        raise InvalidCursor("Invalid cursor") from None
    if kind != what or type(place) is not int or place < 1 or not isinstance(key, str):
        raise InvalidCursor("Invalid cursor")
    return place, key
