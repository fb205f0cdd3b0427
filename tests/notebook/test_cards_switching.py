"""Tools and servers are switched on and off in the explorer as by a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import jupyter_mcp as mcp
from jupyter_mcp.errors import ConfigError
from jupyter_mcp.notebook import cards
from jupyter_mcp.notebook.cards.runner import HostRunner
from jupyter_mcp.notebook.render import ServersView, ServerView
from tests.notebook.page import FakeRunner, Page, box, capture, words

if TYPE_CHECKING:
    from tests.notebook.conftest import Cells

TOOL = {"name": "add", "inputSchema": {"type": "object"}}


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Page:
    return capture(monkeypatch)


def test_a_tool_is_switched_off_for_as_long_as_was_chosen(page: Page) -> None:
    runner = FakeRunner()
    root = cards.tool_form("demo", TOOL, runner).root
    tick = box(root, "Models may use it")
    assert tick.value is True
    box(root, "How long this holds").value = "notebook"
    tick.value = False
    assert runner.off == {("demo", "add"): "off for notebook"}
    assert "off for notebook" in words(root)
    tick.value = True
    assert runner.off == {("demo", "add"): ""}
    assert "off for" not in words(root)


def test_what_is_off_already_is_shown_so_with_its_reason(page: Page) -> None:
    runner = FakeRunner()
    runner.off["demo", "add"] = "switched off (disable demo)"
    root = cards.tool_form("demo", TOOL, runner).root
    assert box(root, "Models may use it").value is False
    assert "switched off (disable demo)" in words(root)


def test_what_cannot_be_kept_is_said_and_the_box_shows_what_holds(page: Page) -> None:
    runner = FakeRunner()
    runner.refuses = ConfigError("your rules for this notebook cannot be written: no space.")
    root = cards.tool_form("demo", TOOL, runner).root
    tick = box(root, "Models may use it")
    tick.value = False
    assert tick.value is True
    assert "cannot be written: no space." in words(root)


def test_a_whole_server_has_its_switch_on_its_card(page: Page) -> None:
    runner = FakeRunner()
    view = ServersView([ServerView("demo", "ready")])
    root = cards.server_cards(view, runner).root
    box(root, "Models may use this server").value = False
    assert runner.off == {("demo", None): "off for session"}


@pytest.mark.parametrize("name", ["add", None])
def test_the_switch_of_this_kernel_says_what_a_line_says(served: Cells, name: Any) -> None:
    runner = HostRunner()
    runner.switch("s", name, False, "session")
    assert [str(one) for one in mcp.policy] == [f"disable {'s.add' if name else 's'}"]
    assert runner.switched_off("s", "add") == f"switched off (disable {'s.add' if name else 's'})"
    runner.switch("s", name, True, "session")
    assert runner.switched_off("s", "add") == ""
    assert next(iter(runner.scopes())) == "session"
