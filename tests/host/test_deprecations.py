"""What a server uses of the deprecated is said once, where people look, and works as before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jupyter_mcp.host.host import Host
from jupyter_mcp.host.specs import ServerSpec
from jupyter_mcp.server import AsyncContext, Server

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["legacy", "modern"])
async def host(request: pytest.FixtureRequest) -> AsyncGenerator[Host]:
    server = Server("old")

    @server.tool
    async def everything(ctx: AsyncContext) -> str:
        await ctx.log("info", "hello")
        roots = await ctx.roots()
        return f"{(await ctx.sample('Say hi.', max_tokens=5)).text} {len(roots)}"

    @server.tool
    async def nothing() -> str:
        return "fine"

    host = Host()
    host.answers.add({"text": "hi"}, kind="sampling")
    await host.connect(ServerSpec.parse("old", server, era=request.param))
    yield host
    await host.aclose()


def noted(host: Host) -> list[str]:
    return [act.name for act in host.journal.acts() if act.method == "deprecated"]


async def test_each_feature_is_noted_once_when_it_is_really_used(host: Host) -> None:
    await host.call_tool("old", "nothing")
    assert (noted(host), dict(host.servers["old"].deprecated)) == ([], {})
    for _ in range(2):
        assert (await host.call_tool("old", "everything")).text == "hi 1"
    assert sorted(noted(host)) == ["Logging", "Roots", "Sampling"]
    assert sorted(host.servers["old"].deprecated) == ["logging", "roots", "sampling"]
    said = [line.text for line in host.servers["old"].log if "deprecated" in line.text]
    assert len(said) == 3
    assert all("instead" in text and "works here as before" in text for text in said)
