"""Kernels that the Jupyter Server reaches by their control channel only, as those on another machine.

The kernel does not show that it is on this machine (it reads no file of the server's), so that its endpoint is never
asked by HTTP: its address is made useless besides.
"""

from __future__ import annotations

import asyncio
import base64
import json
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import MCPError
from jupyter_mcp.host.host import Host
from jupyter_mcp.host.specs import ServerSpec

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator
    from pathlib import Path

    from tests.serverextension.jupyter import Jupyter, Kernel

pytestmark = pytest.mark.anyio

SERVE = """
%load_ext jupyter_mcp
import asyncio
import jupyter_mcp as mcp
from jupyter_mcp.kernel import control
honest = control._handlers["state"]
control.handle("state", lambda data: dict(honest(data), here="", url="http://127.0.0.1:9/mcp"))
answer, long = 42, "x" * 3_000_000
endpoint = mcp.serve("answer", "long", name="far")
@mcp.tool
async def forever(ctx: mcp.AsyncContext) -> str:
    marks.append("begun")
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        marks.append("cancelled")
        raise
let_go = asyncio.Event()
@mcp.tool
async def wait_for_it() -> str:
    marks.append("waits")
    await let_go.wait()
    return "w" * 3_000_000
@mcp.tool(thread=True)
def size(text: str) -> int:
    return len(text)
marks = []
"""
BUSY = """
import pathlib, time
print("begun", flush=True)
while not pathlib.Path({told!r}).exists(): pass
"""
URI = "notebook://far/variables/answer"


@pytest.fixture(scope="module")
def far(jupyter: Jupyter) -> Generator[Kernel]:
    kernel = jupyter.kernel()
    kernel.run(SERVE)
    yield kernel
    kernel.close()


@pytest.fixture
async def host() -> AsyncGenerator[Host]:
    found = Host()
    yield found
    await found.aclose()


async def connect(host: Host, jupyter: Jupyter, kernel: Kernel, era: Any) -> None:
    address = f"{jupyter.url}/jupyter-mcp/kernels/{kernel.id}"
    await host.connect(ServerSpec.parse("nb", address, bearer=jupyter.token, era=era))


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_client_reads_while_a_cell_computes(
    host: Host, jupyter: Jupyter, far: Kernel, era: str, tmp_path: Path
) -> None:
    far.begin(BUSY.format(told=str(tmp_path / "told")))
    await asyncio.to_thread(far.until_said, "begun")
    await connect(host, jupyter, far, era)
    assert "42" in (await host.read("nb", URI)).text
    (tmp_path / "told").touch()


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_change_is_told(host: Host, jupyter: Jupyter, far: Kernel, era: str) -> None:
    await connect(host, jupyter, far, era)
    changed = asyncio.Event()
    await (await host.connection("nb")).watch(URI, lambda _: changed.set())
    await asyncio.to_thread(far.run, "answer = answer + 1")
    await asyncio.wait_for(changed.wait(), 40)
    await asyncio.to_thread(far.run, "answer = 42")


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_large_requests_and_many_at_once_come_through_whole(
    host: Host, jupyter: Jupyter, far: Kernel, era: str
) -> None:
    await connect(host, jupyter, far, era)
    texts = ["y" * (100_000 * n) for n in range(1, 21)]
    found = await asyncio.gather(*(host.call_tool("nb", "size", {"text": text}) for text in texts))
    assert [int(one.text) for one in found] == [len(text) for text in texts]


async def test_a_client_that_gives_up_ends_its_call_in_the_kernel(host: Host, jupyter: Jupyter, far: Kernel) -> None:
    await connect(host, jupyter, far, "modern")
    call = asyncio.ensure_future(host.call_tool("nb", "forever"))
    await until(far, "begun")
    call.cancel()
    await until(far, "cancelled")


async def until(far: Kernel, mark: str) -> None:
    waits = f"import asyncio\nwhile {mark!r} not in marks: await asyncio.sleep(0.02)"
    await asyncio.to_thread(far.run, waits)


def test_the_list_says_that_it_is_served(jupyter: Jupyter, far: Kernel) -> None:
    rows = json.loads(jupyter.ask("jupyter-mcp/api/notebooks")[1])["notebooks"]
    (mine,) = [row for row in rows if row["kernel_id"] == far.id]
    assert (mine["state"], mine["name"]) == ("served", "far")
    assert mine["address"].endswith(far.id)


async def test_what_is_not_served_any_more_is_not_reached_this_way_either(host: Host, jupyter: Jupyter) -> None:
    kernel = jupyter.kernel()
    try:
        kernel.run(SERVE.replace('name="far"', 'name="farther"'))
        await connect(host, jupyter, kernel, "modern")
        kernel.run("endpoint.stop()")
        with pytest.raises(MCPError, match="not served"):
            await host.read("nb", "notebook://farther/variables/answer", fresh=True)
    finally:
        kernel.close()


NONSENSE: list[dict[str, Any]] = [
    {},
    {"act": "more", "exchange": "99"},
    {"act": "open", "method": "POST"},
    {"act": "open", "exchange": "x" * 16, "method": "PUT"},
    {"act": "open", "exchange": "x" * 16, "method": "POST", "body": "not base64!"},
    {
        "act": "open",
        "exchange": "x" * 16,
        "method": "POST",
        "headers": [["Host", "evil.example"], ["x"], 7, ["Authorization", "Bearer x"]],
    },
]


@pytest.mark.parametrize("data", NONSENSE)
async def test_nonsense_on_the_control_channel_is_a_sentence_or_harmless(far: Kernel, data: dict[str, Any]) -> None:
    said = await asyncio.to_thread(ask, far, data)
    if said["status"] == "error":
        assert said["evalue"].endswith(".")
    else:
        answer = said["data"]
        assert answer["status"] in (400, 406, 415), base64.b64decode(answer["data"])


def ask(kernel: Kernel, data: dict[str, Any]) -> dict[str, Any]:
    session = kernel.client.session
    message = session.msg("jupyter_mcp_request", {"version": 1, "kind": "mcp", "data": data})
    kernel.client.control_channel.send(message)
    while True:
        reply = kernel.client.get_control_msg(timeout=40)
        if reply["parent_header"].get("msg_id") == message["header"]["msg_id"]:
            return reply["content"]


META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "x", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
WAITS = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "wait_for_it", "_meta": META}}
HEADERS = [
    ("Content-Type", "application/json"),
    ("Accept", "application/json"),
    ("MCP-Protocol-Version", "2026-07-28"),
    ("Mcp-Method", "tools/call"),
    ("Mcp-Name", "wait_for_it"),
]


async def test_an_answer_that_takes_long_and_is_no_stream_comes_in_parts_when_it_is_there(far: Kernel) -> None:
    name, body = "w" * 16, base64.b64encode(json.dumps(WAITS).encode()).decode()
    opened = {"act": "open", "exchange": name, "method": "POST", "headers": HEADERS, "body": body, "seconds": 0}
    said = await asyncio.to_thread(ask, far, opened)
    assert said["data"] == {"data": "", "done": False, "broken": False}, "the channel is not held up by it"
    await until(far, "waits")
    await asyncio.to_thread(far.run, "let_go.set()")
    parts: list[bytes] = []
    heads: list[int] = []
    more = {"act": "more", "exchange": name, "seconds": 25}
    while not said["data"]["done"]:
        said = await asyncio.to_thread(ask, far, more)
        parts.append(base64.b64decode(said["data"]["data"]))
        heads += [said["data"]["status"]] if "status" in said["data"] else []
    whole = b"".join(parts)
    assert heads == [200] and b"w" * 3_000_000 in whole, whole[:200]
    assert max(map(len, parts)) < 2 * 2**20, "no message is as large as the answer"


async def test_a_restarted_kernel_is_no_silent_successor_here_either(host: Host, jupyter: Jupyter) -> None:
    kernel = jupyter.kernel()
    uri = "notebook://farthest/variables/answer"
    again = SERVE.replace('name="far"', 'name="farthest"')
    try:
        kernel.run(again)
        await connect(host, jupyter, kernel, "modern")
        heard = asyncio.Event()
        await (await host.connection("nb")).watch(uri, lambda _: heard.set())
        await asyncio.to_thread(kernel.restart)
        await asyncio.to_thread(kernel.run, again.replace("42", "43"))
        await asyncio.wait_for(heard.wait(), 100)
        with pytest.raises(MCPError, match="started anew"):
            await host.read("nb", uri, fresh=True)
        assert "43" in (await host.read("nb", uri, fresh=True)).text
    finally:
        kernel.close()
    with pytest.raises(MCPError, match=r"no such kernel|shut down"):
        await host.read("nb", uri, fresh=True)
