"""Where logins are kept: the system's keyring where there is one, else files that only the person can read.

    keyring   one entry for each login, by the name of a digest; asked on a thread, for it may ask the person
    files     one file for each login, 0600, in a folder of 0700 below the Jupyter data folder
    memory    where there is no folder of ours: as long as the kernel lives

What is kept under a key says itself which key it is for; anything else counts as nothing. A place that fails is told of
in one line and the next one is taken: a login that cannot be kept is a login all the same.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib
import json
import logging
import os
from typing import TYPE_CHECKING, Any, Protocol, cast

from jupyter_mcp.client.auth.store import MemoryStore, Stored, StoreKey, TokenStore
from jupyter_mcp.host.policy import files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

__all__ = ["FileStore", "Kept", "Keyring", "KeyringStore", "kept_for", "system_keyring"]

SERVICE = "jupyter_mcp"
SECONDS = 60.0  # for a keyring, which may ask the person to unlock it
_LONGEST = 262_144  # bytes of a file
_log = logging.getLogger("jupyter_mcp.host")


class Keyring(Protocol):
    """What we use of `keyring`."""

    def get_password(self, service_name: str, username: str) -> str | None: ...
    def set_password(self, service_name: str, username: str, password: str) -> None: ...
    def delete_password(self, service_name: str, username: str) -> None: ...


def digest_of(key: StoreKey) -> str:
    """The name of what is kept under a key: neither server nor person can be read from it."""
    text = json.dumps(list(key), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:40]


def _written(key: StoreKey, stored: Stored) -> str:
    return json.dumps({"key": list(key), "login": stored.as_json()}, ensure_ascii=True)


def _read(key: StoreKey, text: str | None) -> Stored | None:
    try:
        found: object = json.loads(text or "")
    except (ValueError, RecursionError):
        return None
    table = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    return Stored.read(table.get("login")) if table.get("key") == list(key) else None


class FileStore:
    """Keeps logins in files.

    Args:
        folder: made when something is kept.
    """

    place = "a file that only you can read"

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, key: StoreKey) -> Path:
        """The file of a login."""
        return self._folder / f"{digest_of(key)}.json"

    async def load(self, key: StoreKey) -> Stored | None:
        """See `TokenStore`. A file that somebody else could have written is not believed."""
        path = self.path(key)
        try:
            if files.signature(path) is None or path.is_symlink() or files.others_may_write(path):
                return None
            if os.name == "posix" and path.stat().st_mode & 0o077:
                path.chmod(0o600)  # it was copied, or restored from somewhere
            return _read(key, files.read(path, _LONGEST))
        except (OSError, UnicodeDecodeError):
            return None

    async def save(self, key: StoreKey, stored: Stored) -> None:
        """See `TokenStore`. Raises `OSError`."""
        path = self.path(key)
        if path.is_symlink():  # ours are none
            path.unlink()
        files.write(path, _written(key, stored), private=True)

    async def forget(self, key: StoreKey) -> None:
        """See `TokenStore`. Raises `OSError`."""
        self.path(key).unlink(missing_ok=True)


class KeyringStore:
    """Keeps logins in the system's keyring.

    Args:
        keyring: what `system_keyring` found.
    """

    place = "the system's keyring"

    def __init__(self, keyring: Keyring) -> None:
        self._keyring = keyring

    async def load(self, key: StoreKey) -> Stored | None:
        """See `TokenStore`. Raises whatever the keyring raises, and `TimeoutError`."""
        return _read(key, await self._do(self._keyring.get_password, key))

    async def save(self, key: StoreKey, stored: Stored) -> None:
        """See `TokenStore`. Raises as `load`."""
        await self._do(self._keyring.set_password, key, _written(key, stored))

    async def forget(self, key: StoreKey) -> None:
        """See `TokenStore`. Raises as `load`."""
        if await self._do(self._keyring.get_password, key) is not None:
            await self._do(self._keyring.delete_password, key)

    async def _do(self, act: Callable[..., Any], key: StoreKey, *more: str) -> Any:
        from anyio import to_thread

        async with asyncio.timeout(SECONDS):
            return await to_thread.run_sync(act, SERVICE, digest_of(key), *more, abandon_on_cancel=True)


class _Place(TokenStore, Protocol):
    """A store that says what it is."""

    @property
    def place(self) -> str:
        """In words."""
        ...


class Kept:
    """Keeps logins in the first place that takes them, and tells somebody what has to be kept secret.

    Args:
        places: makes the places, best first; asked once, at first use.
        learn: told every secret that comes by, so that it is masked wherever it turns up.
    """

    def __init__(self, places: Callable[[], Sequence[_Place]], learn: Callable[[Iterable[str]], object]) -> None:
        self._make = places
        self._learn = learn
        self._found: list[_Place] | None = None
        self._memory = MemoryStore()
        self._where: dict[StoreKey, str] = {}

    def where(self, key: StoreKey) -> str:
        """Where a login is kept, in words; "" for one that is not."""
        return self._where.get(key, "")

    async def load(self, key: StoreKey) -> Stored | None:
        """See `TokenStore`."""
        for place in await self._places():
            try:
                stored = await place.load(key)
            except Exception as error:
                self._broken(place, "read", error)
                continue
            if stored is not None:
                self._where[key] = place.place
                return self._told(stored)
        stored = await self._memory.load(key)
        return None if stored is None else self._told(stored)

    async def save(self, key: StoreKey, stored: Stored) -> None:
        """See `TokenStore`. It is kept in one place, and taken out of the others."""
        self._told(stored)
        places = await self._places()
        for number, place in enumerate(places):
            try:
                await place.save(key, stored)
            except Exception as error:
                self._broken(place, "written", error)
                continue
            self._where[key] = place.place
            await self._out_of((*places[:number], *places[number + 1 :]), key)
            await self._memory.forget(key)
            return
        self._where[key] = "this kernel's memory"
        await self._memory.save(key, stored)

    async def forget(self, key: StoreKey) -> None:
        """See `TokenStore`."""
        self._where.pop(key, None)
        await self._out_of(await self._places(), key)
        await self._memory.forget(key)

    async def _out_of(self, places: Iterable[_Place], key: StoreKey) -> None:
        for place in places:
            try:
                await place.forget(key)
            except Exception as error:
                self._broken(place, "emptied", error)

    async def _places(self) -> list[_Place]:
        if self._found is None:
            from anyio import to_thread

            self._found = list(await to_thread.run_sync(self._make))
        return self._found

    def _told(self, stored: Stored) -> Stored:
        tokens = stored.tokens
        found = (stored.client.secret, stored.dpop_key, *(() if tokens is None else (tokens.access, tokens.refresh)))
        self._learn(one for one in found if one)
        return stored

    def _broken(self, place: _Place, what: str, error: Exception) -> None:
        _log.warning("a login cannot be %s in %s: %s", what, place.place, type(error).__name__)


def kept_for(folder: Path | None, learn: Callable[[Iterable[str]], object]) -> Kept:
    """Where the logins of a host are kept.

    Args:
        folder: the person's own, for what this package remembers; None: nothing outlives the kernel.
        learn: see `Kept`.
    """

    def places() -> list[_Place]:
        if folder is None:
            return []
        found = system_keyring()
        return [*([KeyringStore(found)] if found is not None else []), FileStore(folder / "logins")]

    return Kept(places, learn)


def system_keyring() -> Keyring | None:
    """The system's keyring, where the package `keyring` (extra [keyring]) is installed and finds one that is safe.

    JUPYTER_MCP_KEYRING=off does not look for one.
    """
    if os.environ.get("JUPYTER_MCP_KEYRING", "").lower() in ("off", "0", "no", "false"):
        return None
    try:
        backend: Any = importlib.import_module("keyring").get_keyring()
        # 1 and more is recommended by keyring itself; what is below keeps nothing, or keeps it in the open
        return cast("Keyring", backend) if float(backend.priority) >= 1 else None
    except Exception:  # not installed, or its bus does not answer
        return None
