"""Served notebooks at the address of their Jupyter Server: for clients of both eras, while cells compute, and after."""

from __future__ import annotations

import asyncio
import http.cookiejar
import json
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import ConnectionFailed, MCPError
from jupyter_mcp.host.host import Host
from jupyter_mcp.host.specs import ServerSpec

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator
    from pathlib import Path

    from tests.serverextension.jupyter import Jupyter, Kernel

pytestmark = pytest.mark.anyio
SERVE = """
%load_ext jupyter_mcp
import jupyter_mcp as mcp
answer = 42
secret_token = "s3cret-Zq9-of-the-kernel"
endpoint = mcp.serve("answer", name="analysis")
print(endpoint.token)
"""

BUSY = """
import pathlib, time
print("begun", flush=True)
end = time.monotonic() + 60
while time.monotonic() < end and not pathlib.Path({told!r}).exists(): pass
print("over", time.monotonic() < end)
"""


@pytest.fixture(scope="module")
def served(jupyter: Jupyter) -> Generator[tuple[Kernel, str]]:
    """A kernel that is served, and the token of its endpoint."""
    kernel = jupyter.kernel()
    token = kernel.run(SERVE).strip().splitlines()[-1]
    yield kernel, token
    kernel.close()


@pytest.fixture
async def host() -> AsyncGenerator[Host]:
    found = Host()
    yield found
    await found.aclose()


def address(jupyter: Jupyter, kernel_id: str) -> str:
    return f"{jupyter.url}/jupyter-mcp/kernels/{kernel_id}"


async def connect(host: Host, jupyter: Jupyter, kernel_id: str, **options: Any) -> Any:
    spec = ServerSpec.parse("nb", address(jupyter, kernel_id), bearer=jupyter.token, **options)
    return await host.connect(spec)


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_client_reads_a_live_variable(
    host: Host, jupyter: Jupyter, served: tuple[Kernel, str], era: str
) -> None:
    entry = await connect(host, jupyter, served[0].id, era=era)
    assert (entry.ready, entry.era) == (True, era)
    read = await host.read("nb", "notebook://analysis/variables/answer")
    assert "42" in read.text


async def test_it_answers_while_a_cell_computes(
    host: Host, jupyter: Jupyter, served: tuple[Kernel, str], tmp_path: Path
) -> None:
    kernel = served[0]
    await connect(host, jupyter, kernel.id)
    kernel.begin(BUSY.format(told=str(tmp_path / "told")))
    kernel.until_said("begun")
    read = await host.read("nb", "notebook://analysis/variables/answer", fresh=True)
    assert "42" in read.text
    (tmp_path / "told").touch()  # the cell computes until it is told that the read is done
    assert "over True" in kernel.until_said("over")


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_change_is_told_over_the_gateway(
    host: Host, jupyter: Jupyter, served: tuple[Kernel, str], era: str
) -> None:
    await connect(host, jupyter, served[0].id, era=era)
    changed = asyncio.Event()
    await (await host.connection("nb")).watch("notebook://analysis/variables/answer", lambda _: changed.set())
    await asyncio.to_thread(served[0].run, "answer = answer + 1")
    await asyncio.wait_for(changed.wait(), 30)
    await asyncio.to_thread(served[0].run, "answer = 42")


def test_the_list_says_what_is_served_and_what_to_do_about_the_rest(
    jupyter: Jupyter, served: tuple[Kernel, str], kernel: Kernel
) -> None:
    bare = jupyter.kernel()
    try:
        status, text, _ = jupyter.ask("jupyter-mcp/api/notebooks")
        assert status == 200
        rows = {row["kernel_id"]: row for row in json.loads(text)["notebooks"]}
        mine = rows[served[0].id]
        assert (mine["state"], mine["name"], mine["language"]) == ("served", "analysis", "python")
        assert mine["address"] == f"/base/jupyter-mcp/kernels/{served[0].id}"
        assert (rows[kernel.id]["state"], rows[kernel.id]["address"]) == ("not served", "")
        assert "%mcp serve" in rows[kernel.id]["hint"]
        assert rows[bare.id]["state"] == "silent" and "%load_ext" in rows[bare.id]["hint"]
        assert served[1] not in text
    finally:
        bare.close()


def test_the_list_hears_of_a_notebook_that_is_not_served_any_more_or_under_another_name(jupyter: Jupyter) -> None:
    kernel = jupyter.kernel()

    def row() -> dict[str, Any]:
        rows = json.loads(jupyter.ask("jupyter-mcp/api/notebooks")[1])["notebooks"]
        return next(one for one in rows if one["kernel_id"] == kernel.id)

    try:
        kernel.run(SERVE.replace("analysis", "first"))
        assert (row()["state"], row()["name"]) == ("served", "first")
        kernel.run("endpoint = mcp.serve('answer', name='second')")
        assert row()["name"] == "second"
        kernel.run("endpoint.stop()")
        assert (row()["state"], row()["address"]) == ("not served", "")
    finally:
        kernel.close()


def test_the_kernels_own_token_never_leaves_and_opens_nothing_here(
    jupyter: Jupyter, served: tuple[Kernel, str]
) -> None:
    kernel, token = served
    path = f"jupyter-mcp/kernels/{kernel.id}"
    hello: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
    for stranger in (None, "0" * 32, token):
        for method, body in (("POST", hello), ("GET", None), ("DELETE", None)):
            status, text, headers = jupyter.ask(path, method=method, body=body, token=stranger)
            assert status in (401, 403), (method, text)
            assert token not in text + str(headers)
    status, text, headers = jupyter.ask(path, method="POST", body=hello)
    assert token not in text + str(headers) + jupyter.log
    assert jupyter.ask("jupyter-mcp/api/notebooks", token=None)[0] == 403


@pytest.mark.parametrize("path", ["00000000-0000-0000-0000-000000000000", "nonsense", "../api/kernels"])
def test_a_kernel_that_is_not_there_is_not_there(jupyter: Jupyter, path: str) -> None:
    assert jupyter.ask(f"jupyter-mcp/kernels/{path}", method="POST", body={})[0] in (404, 405, 403)


async def test_a_notebook_that_is_not_served_says_how_to_serve_it(host: Host, jupyter: Jupyter, kernel: Kernel) -> None:
    status, text, _ = jupyter.ask(f"jupyter-mcp/kernels/{kernel.id}", method="POST", body={})
    assert status == 503 and "%mcp serve" in json.loads(text)["error"]["message"]
    with pytest.raises(ConnectionFailed):
        await connect(host, jupyter, kernel.id)


async def test_a_kernel_that_stops_to_serve_is_an_error_and_serving_again_is_found(
    host: Host, jupyter: Jupyter
) -> None:
    kernel = jupyter.kernel()
    try:
        kernel.run(SERVE.replace("analysis", "another"))
        await connect(host, jupyter, kernel.id)
        kernel.run("endpoint.stop()")
        with pytest.raises(MCPError):
            await host.read("nb", "notebook://another/variables/answer", fresh=True)
        kernel.run("endpoint = mcp.serve('answer', name='another')")
        await host.reconnect("nb")
        assert "42" in (await host.read("nb", "notebook://another/variables/answer", fresh=True)).text
    finally:
        kernel.close()
    status, text, _ = jupyter.ask(f"jupyter-mcp/kernels/{kernel.id}", method="POST", body={})
    assert status == 404 and "shut down" in text


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_restarted_kernel_is_no_silent_successor(host: Host, jupyter: Jupyter, era: str) -> None:
    kernel = jupyter.kernel()
    uri = "notebook://reborn/variables/answer"
    try:
        kernel.run(SERVE.replace("analysis", "reborn"))
        await connect(host, jupyter, kernel.id, era=era)
        ended = asyncio.Event()
        connection = await host.connection("nb")
        await connection.watch(uri, lambda _: ended.set())
        assert "42" in (await host.read("nb", uri)).text
        await asyncio.to_thread(kernel.restart)
        await asyncio.to_thread(kernel.run, SERVE.replace("analysis", "reborn").replace("42", "43"))
        with pytest.raises(MCPError, match="started anew"):
            await host.read("nb", uri, fresh=True)
        assert "43" in (await host.read("nb", uri, fresh=True)).text
        assert "43" in (await host.read("nb", uri, fresh=True)).text
    finally:
        kernel.close()


def test_a_list_that_is_asked_for_first_does_not_make_a_restarted_kernel_a_silent_successor(jupyter: Jupyter) -> None:
    kernel = jupyter.kernel()
    uri = "notebook://listed/variables/answer"
    try:
        kernel.run(SERVE.replace("analysis", "listed"))
        assert "42" in stateless(jupyter, kernel.id, "resources/read", uri)
        kernel.restart()
        kernel.run(SERVE.replace("analysis", "listed").replace("42", "43"))
        assert uri in stateless(jupyter, kernel.id, "resources/list")
        assert "started anew" in stateless(jupyter, kernel.id, "resources/read", uri)
        assert "43" in stateless(jupyter, kernel.id, "resources/read", uri)
    finally:
        kernel.close()


def stateless(jupyter: Jupyter, kernel_id: str, method: str, uri: str | None = None) -> str:
    """What a client that keeps nothing gets for one request of the modern era."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "stateless", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    named = {} if uri is None else {"uri": uri}
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**named, "_meta": meta}}
    headers = {
        "Authorization": f"Bearer {jupyter.token}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": method,
        **({} if uri is None else {"Mcp-Name": uri}),
    }
    request = urllib.request.Request(address(jupyter, kernel_id), json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read().decode()


async def test_serving_anew_in_the_same_kernel_is_no_other_life(host: Host, jupyter: Jupyter) -> None:
    kernel = jupyter.kernel()
    try:
        kernel.run(SERVE.replace("analysis", "same"))
        await connect(host, jupyter, kernel.id, era="modern")
        assert "42" in (await host.read("nb", "notebook://same/variables/answer")).text
        kernel.run("endpoint.stop()\nendpoint = mcp.serve('answer', name='same')")
        assert "42" in (await host.read("nb", "notebook://same/variables/answer", fresh=True)).text
    finally:
        kernel.close()


async def test_a_kernel_that_dies_ends_the_streams_and_then_says_so(host: Host, jupyter: Jupyter) -> None:
    kernel = jupyter.kernel()
    kernel.run(SERVE.replace("analysis", "mortal"))
    await connect(host, jupyter, kernel.id, era="modern")
    await (await host.connection("nb")).watch("notebook://mortal/variables/answer", lambda _: None)
    kernel.close()
    with pytest.raises(MCPError, match=r"no such kernel|shut down"):
        await host.read("nb", "notebook://mortal/variables/answer", fresh=True)


@pytest.mark.parametrize("origin", ["https://evil.example", "null", None])
def test_a_page_that_brings_the_persons_cookie_gets_nothing(
    jupyter: Jupyter, served: tuple[Kernel, str], origin: str | None
) -> None:
    cookies = http.cookiejar.CookieJar()
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(cookies))
    with browser.open(f"{jupyter.url}/api/status?token={jupyter.token}", timeout=20):
        assert len(cookies) > 0, "the person is signed in"
    request = urllib.request.Request(address(jupyter, served[0].id), method="POST", data=b"{}")
    request.add_header("Content-Type", "application/json")
    if origin is not None:
        request.add_header("Origin", origin)
    with pytest.raises(urllib.error.HTTPError) as refused:
        browser.open(request, timeout=20)
    with refused.value:
        assert refused.value.code in (403, 404)


LIES = """
from jupyter_mcp.kernel import control
def lie(data):
    said = {lie!r}
    if said.get("here") == "read":
        said = dict(said, here=open(data["here"]).read())
    return dict({{"served": True, "token": "t", "name": "n"}}, **said)
control.handle("state", lie)
"""


@pytest.mark.parametrize(
    ("lie", "words"),
    [
        ({"url": "http://127.0.0.1:{port}/"}, "cannot be reached"),
        ({"url": "http://127.0.0.1:{port}/", "here": "wrong"}, "cannot be reached"),
        ({"url": "http://169.254.169.254:80/latest", "here": "read"}, "cannot be reached"),
        ({"url": "http://localhost@evil.example:{port}/", "here": "read"}, "cannot be reached"),
        ({"url": "https://127.0.0.1:{port}/", "here": "read"}, "cannot be reached"),
        ({"url": "file:///etc/passwd", "here": "read"}, "cannot be reached"),
        ({"url": 7, "here": "read"}, "%mcp serve"),
        ({"url": "http://127.0.0.1:{port}/", "here": "read", "token": ""}, "identity provider"),
    ],
)
def test_a_kernel_does_not_choose_where_requests_go(
    jupyter: Jupyter, kernel: Kernel, lie: dict[str, Any], words: str
) -> None:
    port = jupyter.url.rpartition(":")[2].partition("/")[0]
    told = {key: value.format(port=port) if isinstance(value, str) else value for key, value in lie.items()}
    kernel.run(LIES.format(lie=told))
    status, text, _ = jupyter.ask(f"jupyter-mcp/kernels/{kernel.id}", method="POST", body={})
    listed, _, _ = jupyter.ask("jupyter-mcp/api/notebooks")
    kernel.run("%unload_ext jupyter_mcp\n%load_ext jupyter_mcp")
    assert listed == 200, "one odd kernel costs its own row"
    assert status in (502, 503) and words in json.loads(text)["error"]["message"]
