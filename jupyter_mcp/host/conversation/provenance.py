"""Where the words of a call's arguments come from: whether they pass on what another server returned.

What servers return stays on the host until the model or the person hands it on; this notices when the model does, so
that whoever approves the call sees it. It finds words that were copied, not what was reworded; short values
(a number, a name) are not told apart from chance. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Provenance"]

_SHORTEST = 12  # characters that are no coincidence
_RUN = 24  # characters of several words that are no coincidence
_MOST_PIECES = 300
_MOST_KEPT = 1_000_000  # characters of one server


class Provenance:
    """What each server returned in one conversation, and what the person said."""

    def __init__(self) -> None:
        self._returned: dict[str, list[str]] = {}
        self._size: dict[str, int] = {}
        self._person = ""

    def person_said(self, text: str) -> None:
        """The person's own words are nobody's secret from a server that the model passes them to."""
        self._person = f"{self._person}\n{_flat(text)}"[-_MOST_KEPT:]

    def returned(self, server: str, text: str) -> None:
        """Remember what a server returned (so much of it; the oldest goes first)."""
        if len(text) < _SHORTEST:
            return
        kept = self._returned.setdefault(server, [])
        kept.append(_flat(text[:_MOST_KEPT]))
        self._size[server] = self._size.get(server, 0) + len(kept[-1])
        while self._size[server] > _MOST_KEPT and len(kept) > 1:
            self._size[server] -= len(kept.pop(0))

    def sources(self, server: str, arguments: Mapping[str, Any]) -> list[str]:
        """The other servers whose words stand in these arguments for `server`."""
        pieces = [piece for text in _texts(arguments) for piece in _pieces(_flat(text)) if piece not in self._person]
        pieces = pieces[:: len(pieces) // _MOST_PIECES + 1]
        own = self._returned.get(server, [])
        pieces = [piece for piece in pieces if not _holds(own, piece)]
        others = [(name, texts) for name, texts in self._returned.items() if name != server]
        return [name for name, texts in others if any(_holds(texts, piece) for piece in pieces)]


def _holds(texts: Sequence[str], piece: str) -> bool:
    return any(piece in text for text in texts)


def _pieces(text: str) -> Iterator[str]:
    """What of a text could be found again: long words (keys, addresses), and from each word on a few of them."""
    if len(text) < _SHORTEST:
        return
    words = text.split(" ")
    yield from (word for word in words if len(word) >= _SHORTEST)
    if len(text) <= _RUN:
        yield text
    starts = [0]
    for word in words:
        starts.append(starts[-1] + len(word) + 1)
    for first in range(len(words)):
        last = next((end - 1 for end in starts[first + 1 :] if end - 1 - starts[first] >= _RUN), None)
        if last is None:
            return
        yield text[starts[first] : last]


def _flat(text: str) -> str:
    return " ".join(text.split()).casefold()


def _texts(value: object, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth < 20 and isinstance(value, Mapping):
        for key, item in cast("Mapping[str, Any]", value).items():
            yield key
            yield from _texts(item, depth + 1)
    elif depth < 20 and isinstance(value, list | tuple):
        for item in cast("Sequence[Any]", value):
            yield from _texts(item, depth + 1)
