"""What servers are told of our folders: what may be said, for whom it holds, and that servers hear of a change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.host import Host
from jupyter_mcp.host.place import NotebookPlace
from jupyter_mcp.host.roots import Roots, _path, existing  # pyright: ignore[reportPrivateUsage]
from jupyter_mcp.host.specs import ServerSpec
from jupyter_mcp.server import AsyncContext, Server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def host() -> AsyncIterator[Host]:
    made = Host()
    yield made
    await made.aclose()


def _uris(roots: list[dict[str, Any]]) -> list[str]:
    return [str(root["uri"]) for root in roots]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("https://example.org/data", "roots are folders of this machine"),
        ("file://elsewhere/data", "roots are folders of this machine"),
        ("/no/such/folder", "There is no folder /no/such/folder"),
        ("file:///no/such/folder", "There is no folder"),
        ("a\0b", "There is no folder"),
    ],
)
def test_what_is_no_folder_of_this_machine_is_refused_in_one_line(said: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        Roots().add(said)


def test_a_folder_is_told_by_its_real_name(tmp_path: Path) -> None:
    (tmp_path / "a b").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "a b")
    right = {"uri": (tmp_path / "a b").as_uri(), "name": "a b"}
    for said in (f"{tmp_path}/./x/../a b/", str(tmp_path / "link"), right["uri"], {"uri": right["uri"]}):
        if "/x/" in str(said):
            (tmp_path / "x").mkdir(exist_ok=True)
        assert existing(said) == right
    assert existing({"uri": right["uri"], "name": "mine"})["name"] == "mine"


def test_a_folder_is_told_once_however_often_it_is_said(tmp_path: Path) -> None:
    roots = Roots([tmp_path])
    roots.add(f"{tmp_path}/")
    assert _uris(roots.get()) == [tmp_path.as_uri()]


def test_what_is_no_root_cannot_be_removed_and_the_near_one_is_named(tmp_path: Path) -> None:
    roots = Roots([tmp_path])
    with pytest.raises(UsageError, match="is no root") as wrong:
        roots.remove(f"{tmp_path}x")
    assert tmp_path.as_uri() in (wrong.value.hint or "")


def test_the_notebooks_folder_is_the_root_until_the_person_says_otherwise_and_again_after_a_reset(
    tmp_path: Path,
) -> None:
    roots = Roots(None, lambda: tmp_path)
    (tmp_path / "data").mkdir()
    assert _uris(roots.get()) == [tmp_path.as_uri()]
    roots.add(tmp_path / "data")
    assert _uris(roots.get()) == [tmp_path.as_uri(), (tmp_path / "data").as_uri()]
    roots.remove(tmp_path)
    assert _uris(roots.get()) == [(tmp_path / "data").as_uri()]
    roots.set(None)
    assert _uris(roots.get()) == [tmp_path.as_uri()]


def test_the_root_follows_the_notebooks_folder_when_it_is_renamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "before"
    folder.mkdir()
    monkeypatch.chdir(folder)
    host = Host(place=NotebookPlace(folder / "a.ipynb", folder))
    folder.rename(tmp_path / "after")
    assert _uris(host.roots.get()) == [(tmp_path / "after").as_uri()]


def test_what_is_said_for_one_server_holds_for_it_alone(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    roots = Roots([tmp_path])
    roots.set([tmp_path / "a"], "demo")
    roots.add(tmp_path / "b", "demo")
    assert _uris(roots.get("demo")) == [(tmp_path / name).as_uri() for name in ("a", "b")]
    assert _uris(roots.get("other")) == _uris(roots.get()) == [tmp_path.as_uri()]
    roots.set(None, "demo")
    assert not roots.own("demo")


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_legacy_server_is_told_that_the_roots_changed_and_a_modern_one_just_asks(
    host: Host, tmp_path: Path, era: str
) -> None:
    server = Server("plant")

    @server.tool
    async def where(ctx: AsyncContext) -> list[str]:
        """The folders that it is told about."""
        return [root.uri for root in await ctx.roots()]

    await host.connect(ServerSpec.parse("plant", server, era=era))
    host.roots.set([tmp_path], "plant")
    await host.tell_roots()
    told = [one for one in host.journal.entries() if one.method == "notifications/roots/list_changed"]
    assert len(told) == (1 if era == "legacy" else 0)
    assert tmp_path.as_uri() in (await host.call_tool("plant", "where")).text


def test_a_windows_path_of_a_uri_has_its_drive_first() -> None:
    assert _path("/C:/a%20b", windows=True) == "C:/a b"
    assert _path("/C:/a", windows=False) == "/C:/a"
