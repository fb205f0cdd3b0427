"""What a modern server said and lets be kept: pages of lists and contents of resources, for as long as it said.

A result is fresh until its `ttlMs` has passed since it came; afterwards, or when the server reports a change, it is
asked for again. One cache belongs to one connection, so `cacheScope` changes nothing: nobody else ever sees it. What
is kept is bounded in number and size; what was used longest ago goes first. Nothing is sent from here, no timer runs.

Source: spec 2026-07-28 "Caching".
"""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.protocol.modern import cache_hints

if TYPE_CHECKING:
    from collections.abc import Callable

MOST = 512  # results
LARGEST = 32 * 2**20  # bytes in all, about; one result may take half of it
_EACH = 64  # bytes that a value costs besides its text


@dataclass(frozen=True, slots=True)
class Kept:
    """One result.

    Attributes:
        result: as it came; `copy` for whoever may change it.
        until: on the cache's clock, when it stops being fresh.
        size: its bytes in memory, about.
    """

    result: dict[str, Any]
    until: float
    size: int

    def copy(self) -> dict[str, Any]:
        """A result of one's own; texts are shared, so that this is cheap however long they are."""
        return own(self.result)


class Cache:
    """The results kept for one connection.

    Args:
        clock: seconds, never going back.
        most, largest: the bounds, in results and in bytes.
    """

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, *, most: int = MOST, largest: int = LARGEST
    ) -> None:
        self._clock = clock
        self._most = most
        self._largest = largest
        self._kept: dict[tuple[str, str], Kept] = {}
        self._size = 0

    def __len__(self) -> int:
        return len(self._kept)

    def fresh(self, method: str, key: str) -> Kept | None:
        """What may be used without asking."""
        kept = self.stale(method, key)
        return kept if kept is not None and self._clock() < kept.until else None

    def left(self, kept: Kept) -> float:
        """Seconds for which it stays fresh."""
        return max(0.0, kept.until - self._clock())

    def stale(self, method: str, key: str) -> Kept | None:
        """What may be used when the server cannot be asked, fresh or not; never what it said has changed."""
        kept = self._kept.pop((method, key), None)
        if kept is not None:
            self._kept[method, key] = kept  # used last
        return kept

    def put(self, method: str, key: str, result: dict[str, Any], *, shared: bool = True) -> None:
        """Keep a result that has just come, if it may be and is not too large.

        Args:
            method: what it answers.
            key: what the answer depends on besides: the URI, or the cursor ("" on the first page).
            shared: nobody changes it; else a copy is kept.
        """
        self._drop((method, key))
        milliseconds, _ = cache_hints(result)
        if not milliseconds:
            return
        now = self._clock()
        size = weigh(result, self._largest // 2)
        if size > self._largest // 2:
            return
        self._kept[method, key] = Kept(result if shared else own(result), now + milliseconds / 1000, size)
        self._size += size
        while len(self._kept) > self._most or self._size > self._largest:
            self._drop(next(iter(self._kept)))

    def drop(self, method: str) -> None:
        """Nothing kept of this method holds any more."""
        for place in [place for place in self._kept if place[0] == method]:
            self._drop(place)

    def drop_uri(self, method: str, uri: str) -> None:
        """This resource changed: with it goes what lies below it, and what it lies in."""
        for place in [place for place in self._kept if place[0] == method and related(place[1], uri)]:
            self._drop(place)

    def clear(self) -> None:
        """Nothing holds any more (another server process, another person)."""
        self._kept.clear()
        self._size = 0

    def _drop(self, place: tuple[str, str]) -> None:
        kept = self._kept.pop(place, None)
        if kept is not None:
            self._size -= kept.size


def own(result: dict[str, Any]) -> dict[str, Any]:
    """A copy down to the texts."""
    try:
        return copy.deepcopy(result)
    except RecursionError:  # JSON may be nested deeper than Python calls
        return result


def related(one: str, other: str) -> bool:
    """Whether two URIs are the same, or one lies below the other."""
    return one == other or one.startswith(other.rstrip("/") + "/") or other.startswith(one.rstrip("/") + "/")


def weigh(value: Any, limit: int) -> int:
    """About how many bytes a JSON value takes in memory; anything above `limit` when it takes more than that."""
    size = 0
    rest = [value]
    while rest and size <= limit:
        one = rest.pop()
        size += _EACH
        if isinstance(one, str):
            size += len(one)
        elif isinstance(one, dict):
            members = cast("dict[str, Any]", one)
            size += sum(map(len, members))
            rest.extend(members.values())
        elif isinstance(one, list):
            rest.extend(cast("list[Any]", one))
    return size
