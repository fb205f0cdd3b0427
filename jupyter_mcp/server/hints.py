"""What an author may say about a server beyond its offer: how long results keep, which extensions it knows.

Source: spec 2026-07-28 "Caching", "Extensions".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from jupyter_mcp.errors import UsageError
from jupyter_mcp.protocol.methods import TABLE

CacheScope = Literal["public", "private"]
NO_HINTS: tuple[int, CacheScope] = (0, "private")
NEVER: Mapping[str, Any] = {"ttlMs": 0, "cacheScope": "private"}
CACHEABLE = tuple(row.name for row in TABLE.values() if row.cacheable)
_EXTENSION = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?/[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")


def of_methods(
    ttl_ms: int | Mapping[str, int], scope: CacheScope | Mapping[str, CacheScope]
) -> dict[str, tuple[int, CacheScope]]:
    """Method -> how long its results keep, and for whom, from one value or one for each method.

    Raises:
        UsageError: a method's results cannot be kept, or a value is none.
    """
    ttls: Mapping[str, int] = ttl_ms if isinstance(ttl_ms, Mapping) else dict.fromkeys(CACHEABLE, ttl_ms)
    scopes: Mapping[str, CacheScope] = scope if isinstance(scope, Mapping) else dict.fromkeys(CACHEABLE, scope)
    if wrong := [method for method in (*ttls, *scopes) if method not in CACHEABLE]:
        raise UsageError(f"Results of {wrong[0]} cannot be kept; those of {', '.join(CACHEABLE)} can.")
    return {method: (_ttl(ttls.get(method, 0)), _scope(scopes.get(method, "private"))) for method in CACHEABLE}


def own(ttl_ms: int | None, scope: CacheScope | None) -> dict[str, Any]:
    """The hints of one resource, as in its result; {} when it has none of its own. Raises UsageError."""
    hints: dict[str, Any] = {} if ttl_ms is None else {"ttlMs": _ttl(ttl_ms)}
    return hints if scope is None else {**hints, "cacheScope": _scope(scope)}


def extension_id(id: str) -> str:
    """The id, when it is one. Raises UsageError."""
    if not _EXTENSION.fullmatch(id):
        raise UsageError(f"An extension's id is vendor.example/name; {id!r} is not.")
    return id


def _ttl(ttl_ms: object) -> int:
    if type(ttl_ms) is not int or ttl_ms < 0:
        raise UsageError(f"ttl_ms is a number of milliseconds, 0 or more, not {ttl_ms!r}.")
    return ttl_ms


def _scope(scope: CacheScope) -> CacheScope:
    if scope not in ("public", "private"):
        raise UsageError(f'cache_scope is "public" or "private", not {scope!r}.')
    return scope
