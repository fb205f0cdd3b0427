"""Changing the entries of a policy file where they stand: put one in place of others, take some out.

The rest of the file stays as it is, comments, order and all. `tomlkit` is imported at the first change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.host.policy.sheet import KINDS, entries_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jupyter_mcp.host.policy.stores import Store

__all__ = ["put", "remove"]


def put(store: Store, kind: str, entry: Mapping[str, Any], replaces: Callable[[Any], bool]) -> None:
    """Write an entry, in place of those that it replaces.

    Args:
        store: whose file.
        kind: "rule", "switch" or "approval".
        entry: what is written.
        replaces: says of an entry that is there whether it has to go.

    Raises:
        ConfigError: the file cannot be read or written.
    """

    def alter(document: Any) -> None:
        _remove(document, kind, _places(store, document, kind, replaces))
        _append(document, kind, entry)

    store.change(alter)


def remove(store: Store, which: Callable[[Any], bool]) -> int:
    """Take entries of all kinds out. Returns how many there were. Raises `ConfigError` as `put`."""
    count = 0

    def alter(document: Any) -> None:
        nonlocal count
        for kind in KINDS:
            places = _places(store, document, kind, which)
            count += len(places)
            _remove(document, kind, places)

    if store.text():
        store.change(alter)
    return count


def _places(store: Store, document: Any, kind: str, which: Callable[[Any], bool]) -> list[int]:
    tables: Any = document.unwrap().get(kind, [])
    if not isinstance(tables, list):
        return []
    read = entries_of(tables, kind, store.scope, store.source)  # pyright: ignore[reportUnknownArgumentType]
    return [place for place, one in enumerate(read) if one is not None and which(one)]


def _append(document: Any, kind: str, entry: Mapping[str, Any]) -> None:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError
    from tomlkit.items import AoT

    found: Any = document.get(kind)
    if found is None:
        found = tomlkit.aot()
        document.append(kind, found)
    if not hasattr(found, "append"):
        raise TOMLKitError(f"{kind} is no list of tables")
    table: Any = tomlkit.table() if isinstance(found, AoT) else tomlkit.inline_table()
    for key, value in entry.items():
        table.append(key, _inline(value))
    cast("Any", found).append(table)


def _remove(document: Any, kind: str, places: list[int]) -> None:
    found: Any = document.get(kind)
    for place in sorted(places, reverse=True):
        del found[place]
    if places and not len(found):
        document.remove(kind)


def _inline(value: Any) -> Any:
    """A table in an entry stays on its line."""
    if not isinstance(value, dict):
        return value
    import tomlkit

    table = tomlkit.inline_table()
    for key, one in value.items():  # pyright: ignore[reportUnknownVariableType]
        table.append(key, _inline(one))  # pyright: ignore[reportUnknownArgumentType]
    return table
