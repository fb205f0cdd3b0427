"""`_meta` of a person's own: of any depth, beside the protocol's keys, which are not theirs to set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.client.options import ConnectOptions
from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.host import Host
from jupyter_mcp.host.meta import checked_meta
from jupyter_mcp.host.specs import ServerSpec
from jupyter_mcp.protocol.shapes import mapping_of
from jupyter_mcp.server import Server

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

META: dict[str, Any] = {"example.org/trace": {"ids": [1, {"deep": None}], "on": True}}


@pytest.fixture(params=["legacy", "modern"])
async def host(request: pytest.FixtureRequest) -> AsyncGenerator[Host]:
    server = Server("demo")

    @server.tool
    def add(a: int, b: int = 2) -> int:
        return a + b

    made = Host(options=ConnectOptions(timeout=10), environ={})
    await made.connect(ServerSpec.parse("demo", server, era=request.param))
    yield made
    await made.aclose()


@pytest.mark.anyio
async def test_a_complex_meta_goes_along_with_the_call(host: Host) -> None:
    result = await host.call_tool("demo", "add", {"a": 1}, origin="person", meta=META)
    assert result.text == "3"
    sent = [entry for entry in host.journal.entries("demo") if entry.method == "tools/call"]
    frame: Any = mapping_of(sent[0].message)
    meta = frame["params"]["_meta"]
    assert meta["example.org/trace"] == META["example.org/trace"]


@pytest.mark.parametrize("meta", [None, {}])
def test_no_meta_is_none(meta: Any) -> None:
    assert checked_meta(meta) is None


@pytest.mark.parametrize(
    ("meta", "says"),
    [
        ({"progressToken": 1}, "progressToken is set by the protocol"),
        ({"io.modelcontextprotocol/protocolVersion": "x"}, "set by the protocol"),
        ([1], "is an object"),
        ({"a": float("nan")}, "_meta"),
    ],
)
def test_a_meta_that_cannot_be_sent_is_refused_with_the_reason(meta: Any, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        checked_meta(meta)
