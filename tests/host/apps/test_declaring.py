"""A server is told that we show its pages where they can be shown, in both eras, and nowhere else."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from jupyter_mcp.host import apps
from jupyter_mcp.host.host import Host
from jupyter_mcp.host.questions import Answer, Question
from jupyter_mcp.host.specs import ServerSpec
from jupyter_mcp.server import Server

pytestmark = pytest.mark.anyio


class Page:
    """A front end; the test says whether it draws widgets."""

    def __init__(self, shows: bool) -> None:
        self.shows = shows

    async def ask(self, question: Question) -> Answer:
        return Answer("cancel")

    def shows_apps(self) -> bool:
        return self.shows


async def told(ui: Any, era: Literal["legacy", "modern"]) -> dict[str, Any]:
    host = Host(ui=ui)
    try:
        entry = await host.connect(ServerSpec.parse("a", Server("a"), era=era))
        assert entry.connection is not None and entry.connection.session is not None
        return dict(entry.connection.session.client_capabilities.get("extensions", {}))
    finally:
        await host.aclose()


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_front_end_that_draws_widgets_shows_pages(era: Literal["legacy", "modern"]) -> None:
    assert (await told(Page(True), era))[apps.EXTENSION] == {"mimeTypes": ["text/html;profile=mcp-app"]}


@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize("ui", [None, Page(False)], ids=["nobody", "a front end without widgets"])
async def test_elsewhere_nothing_is_promised(ui: Any, era: Literal["legacy", "modern"]) -> None:
    assert apps.EXTENSION not in await told(ui, era)


async def test_a_front_end_that_comes_later_is_told_with_the_next_request() -> None:
    page = Page(False)
    host = Host(ui=page)
    try:
        entry = await host.connect(ServerSpec.parse("a", Server("a"), era="modern"))
        page.shows = True
        await host.connection("a")
        assert entry.connection is not None and entry.connection.session is not None
        assert apps.EXTENSION in entry.connection.session.client_capabilities["extensions"]
        assert any("pages of tools (MCP Apps) can be shown" in line.text for line in entry.lines())
        page.shows = False
        await host.connection("a")
        assert apps.EXTENSION in entry.connection.session.client_capabilities["extensions"], "it was there once"
    finally:
        await host.aclose()
