"""Every behaviour is tested in every era, over every transport: `it` is a host connected to the subject in one way."""

from __future__ import annotations

import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jupyter_mcp.host.host import Host
from jupyter_mcp.host.specs import ServerSpec
from tests.interaction.subject import make
from tests.interaction.ways import WAYS, Way, rows
from tests.interop.hosted import Hosted

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

TOP = Path(__file__).resolve().parents[2]


@pytest.fixture(params=rows(WAYS))
def way(request: pytest.FixtureRequest) -> Way:
    return request.param


@pytest.fixture
async def it(way: Way, tmp_path: Path) -> AsyncGenerator[Hosted]:
    """A host with one server, named "it"; it believes that its folder is `tmp_path`."""
    host = Host(roots=[tmp_path])
    async with AsyncExitStack() as stack:
        entry = await host.connect(await _spec(way, stack))
        hosted = Hosted(host, entry)
        host.listeners.append(lambda name: hosted.changed.set())
        yield hosted
        await host.aclose()


async def _spec(way: Way, stack: AsyncExitStack) -> ServerSpec:
    if way.transport == "memory":
        return ServerSpec.parse("it", make(way.revision, way.replay))
    if way.transport == "stdio":
        command = [sys.executable, "-m", "tests.interaction.subject", way.revision, way.replay]
        return ServerSpec.parse("it", command, cwd=str(TOP))
    server = make(way.revision, way.replay)
    running = await stack.enter_async_context(server.serve_http(sse=way.transport == "sse", grace=0.5))
    url = running.url.removesuffix("/mcp") + "/sse" if way.transport == "sse" else running.url
    return ServerSpec.parse("it", url, bearer=running.token)
