"""Logins are kept where only the person can read them; a place that fails costs nobody a login."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from jupyter_mcp.client.auth.store import Client, Stored, StoreKey, Tokens
from jupyter_mcp.host.auth.stores import SERVICE, FileStore, Kept, KeyringStore, system_keyring

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio
KEY = StoreKey("https://issuer.example", "https://mcp.example/mcp", "docs")
STORED = Stored(
    KEY.issuer,
    KEY.resource,
    Client("client-1", secret="the-secret", auth_method="client_secret_basic"),
    Tokens("the-access-token", refresh="the-refresh-token", expires_at=12.5, scopes=("a", "b")),
    token_endpoint="https://issuer.example/token",
)
posix = pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")


class Keyring:
    """A keyring in memory, which may be broken."""

    def __init__(self, broken: bool = False) -> None:
        self.kept: dict[tuple[str, str], str] = {}
        self.broken = broken

    def get_password(self, service_name: str, username: str) -> str | None:
        if self.broken:
            raise RuntimeError("locked: the-access-token")
        return self.kept.get((service_name, username))

    def set_password(self, service_name: str, username: str, password: str) -> None:
        if self.broken:
            raise RuntimeError("locked: the-access-token")
        self.kept[service_name, username] = password

    def delete_password(self, service_name: str, username: str) -> None:
        del self.kept[service_name, username]


async def test_a_file_gives_back_what_it_was_given(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "logins")
    assert await store.load(KEY) is None
    await store.save(KEY, STORED)
    assert await store.load(KEY) == STORED
    assert await FileStore(tmp_path / "logins").load(KEY) == STORED
    await store.forget(KEY)
    await store.forget(KEY)
    assert await store.load(KEY) is None


@posix
async def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "logins")
    await store.save(KEY, STORED)
    assert stat.S_IMODE(store.path(KEY).stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "logins").stat().st_mode) == 0o700
    assert [path.name for path in (tmp_path / "logins").iterdir()] == [store.path(KEY).name]


async def test_its_name_says_neither_who_nor_where(tmp_path: Path) -> None:
    name = FileStore(tmp_path).path(KEY).name
    assert "docs" not in name and "example" not in name
    assert FileStore(tmp_path).path(replace_key(client="other")).name != name


def replace_key(**changes: str) -> StoreKey:
    return KEY._replace(**changes)


@posix
async def test_a_file_that_others_could_have_written_is_not_believed(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "logins")
    await store.save(KEY, STORED)
    store.path(KEY).chmod(0o666)
    assert await store.load(KEY) is None


@posix
async def test_a_link_in_its_place_is_neither_read_nor_written_through(tmp_path: Path) -> None:
    store, elsewhere = FileStore(tmp_path / "logins"), tmp_path / "elsewhere"
    await store.save(KEY, STORED)
    store.path(KEY).rename(elsewhere)
    store.path(KEY).symlink_to(elsewhere)
    before = elsewhere.read_text()
    assert await store.load(KEY) is None
    await store.save(KEY, replace(STORED, tokens=None))
    assert not store.path(KEY).is_symlink()
    assert elsewhere.read_text() == before


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"key": [], "login": {}}', "\x00", '{"login": 1}'])
async def test_a_file_that_makes_no_sense_counts_as_nothing(tmp_path: Path, text: str) -> None:
    store = FileStore(tmp_path / "logins")
    await store.save(KEY, STORED)
    store.path(KEY).write_text(text)
    assert await store.load(KEY) is None


async def test_what_is_kept_under_a_key_of_another_is_not_used(tmp_path: Path) -> None:
    store, other = FileStore(tmp_path / "logins"), replace_key(issuer="https://evil.example")
    await store.save(KEY, STORED)
    store.path(KEY).rename(store.path(other))
    assert await store.load(other) is None


async def test_a_keyring_keeps_it_in_one_entry() -> None:
    keyring = Keyring()
    store = KeyringStore(keyring)
    await store.save(KEY, STORED)
    assert await store.load(KEY) == STORED
    [(service, name)] = keyring.kept
    assert service == SERVICE and "docs" not in name
    await store.forget(KEY)
    await store.forget(KEY)
    assert keyring.kept == {}


async def test_what_is_kept_is_secret_before_it_goes_anywhere(tmp_path: Path) -> None:
    learnt: list[str] = []
    kept = Kept(lambda: [FileStore(tmp_path)], learnt.extend)
    await kept.save(KEY, STORED)
    secrets = {"the-secret", "the-access-token", "the-refresh-token"}
    assert set(learnt) == secrets
    learnt.clear()
    await kept.load(KEY)
    assert set(learnt) == secrets


async def test_a_keyring_that_fails_leaves_the_login_in_a_file_and_its_words_nowhere(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kept = Kept(lambda: [KeyringStore(Keyring(broken=True)), FileStore(tmp_path)], lambda _: None)
    await kept.save(KEY, STORED)
    assert kept.where(KEY) == "a file that only you can read"
    assert await kept.load(KEY) == STORED
    assert "RuntimeError" in caplog.text and "the-access-token" not in caplog.text


async def test_it_is_kept_in_one_place_and_forgotten_in_all(tmp_path: Path) -> None:
    keyring, file = Keyring(), FileStore(tmp_path)
    await file.save(KEY, replace(STORED, tokens=None))
    kept = Kept(lambda: [KeyringStore(keyring), file], lambda _: None)
    await kept.save(KEY, STORED)
    assert await file.load(KEY) is None, "an older copy is not left behind"
    await file.save(KEY, STORED)
    await kept.forget(KEY)
    assert (keyring.kept, await file.load(KEY), await kept.load(KEY)) == ({}, None, None)


async def test_without_a_place_it_is_kept_in_memory() -> None:
    kept = Kept(list, lambda _: None)
    await kept.save(KEY, STORED)
    assert (await kept.load(KEY), kept.where(KEY)) == (STORED, "this kernel's memory")


def test_no_keyring_is_looked_for_where_it_is_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTER_MCP_KEYRING", "off")
    assert system_keyring() is None
