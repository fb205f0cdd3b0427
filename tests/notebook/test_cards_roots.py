"""The card of the roots: what servers are told, one taken back, one found by walking to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.host.host import Host
from jupyter_mcp.notebook import cards
from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.roots import MAX_SHOWN, folders_in
from jupyter_mcp.notebook.objects.roots import RootsTable
from jupyter_mcp.runtime import state
from tests.notebook.page import Page, button, capture, walk, words

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Page:
    return capture(monkeypatch)


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Host:
    for name in ("data/deep", ".hidden", "Beta"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    host = Host(roots=[tmp_path])
    monkeypatch.setattr(state, "get_host", lambda: host)
    return host


def _list(root: Any) -> Any:
    return next(one for one in walk(root) if type(one).__name__ == "Select")


def test_the_card_names_each_folder_and_says_that_roots_do_not_enforce(page: Page, host: Host, tmp_path: Path) -> None:
    card = cards.roots_card(RootsTable())
    assert tmp_path.as_uri() in words(card.root)
    assert "do not hold it there" in words(card.root)


def test_a_folder_is_found_by_walking_and_shared(page: Page, host: Host, tmp_path: Path) -> None:
    card = cards.roots_card(RootsTable())
    button(card.root, "Add a folder").click()
    assert list(_list(card.root).options) == [". (this folder)", "Beta", "data", ".hidden"]
    _list(card.root).index = 2
    button(card.root, "Open").click()
    _list(card.root).index = 1
    button(card.root, "Share").click()
    assert [root["name"] for root in host.roots.get()] == [tmp_path.name, "deep"]
    assert "deep is shared." in words(card.root)
    button(card.root, "Up").click()
    assert str(tmp_path) in words(card.root)
    button(card.root, "Share").click()  # this folder again: told once
    assert len(host.roots.get()) == 2


def test_a_folder_is_taken_back(page: Page, host: Host, tmp_path: Path) -> None:
    card = cards.roots_card(RootsTable())
    button(card.root, "Remove").click()
    assert host.roots.get() == []
    assert "servers are told of no folder" in words(card.root)


def test_a_folder_that_has_gone_meanwhile_is_said(page: Page, host: Host, tmp_path: Path) -> None:
    card = cards.roots_card(RootsTable())
    button(card.root, "Add a folder").click()
    (tmp_path / "Beta").rmdir()
    _list(card.root).index = 1
    button(card.root, "Share").click()
    assert "There is no folder" in words(card.root)


def test_a_huge_folder_shows_its_first_names_and_says_so(tmp_path: Path) -> None:
    for number in range(MAX_SHOWN + 1):
        (tmp_path / f"d{number:04}").mkdir()
    names, more = folders_in(tmp_path)
    assert (len(names), names[0], more) == (MAX_SHOWN, "d0000", f"the first {MAX_SHOWN} folders")


def test_what_cannot_be_listed_is_said_and_circles_of_links_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    assert folders_in(tmp_path) == ([], "")
    assert "cannot be listed" in folders_in(tmp_path / "nowhere")[1]


def test_what_may_be_chosen_and_what_is_come_in_one_message_so_that_no_choice_made_between_is_lost(
    page: Page, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = cards.roots_card(RootsTable())
    button(card.root, "Add a folder").click()
    chooser = _list(card.root)
    chooser.index = 2
    comm = _Comm()
    monkeypatch.setattr(kit.widgets.Select, "comm", comm)
    button(card.root, "Open").click()
    told = [one["state"] for one in comm.sent if one.get("method") == "update"]
    lists = [state for state in told if "_options_labels" in state]
    assert len(lists) == 1 and lists[0]["index"] == 0
    assert not [state for state in told if "index" in state and state not in lists]


class _Comm:
    comm_id = "chooser"

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []

    def send(self, data: dict[str, Any], **_: Any) -> None:
        self.sent.append(data)
