"""The way to an HTTP server: how it is written, what is shown of it, and that it is the one taken."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import ConfigError, ConnectionFailed, UsageError
from jupyter_mcp.host.host import Host
from jupyter_mcp.host.redaction import Redactor
from jupyter_mcp.host.specs import ServerSpec, read_config
from jupyter_mcp.host.specs.way import Way
from jupyter_mcp.host.transports import transport_for
from jupyter_mcp.transport.http import HttpTransport
from jupyter_mcp.transport.sse import SseTransport
from tests.fakes.http import FakeHttp, Reply, Request
from tests.transport.web import Web

if TYPE_CHECKING:
    from pathlib import Path

URL = "https://h/mcp"


def spec(**options: Any) -> ServerSpec:
    return ServerSpec.parse("x", URL, **options)


def test_the_usual_way_is_what_the_environment_says():
    assert spec().way == Way() == Way(proxy="env")
    assert spec().describe() == URL


@pytest.mark.parametrize(
    ("option", "way"),
    [
        ({"socket": "/run/x.sock"}, Way(socket="/run/x.sock")),
        ({"proxy": "http://p:3128"}, Way(proxy="http://p:3128")),
        ({"proxy": "none"}, Way(proxy="")),
        ({"proxy": False}, Way(proxy="")),
        ({"proxy": ""}, Way(proxy="")),
        ({"proxy": "env"}, Way()),
        ({"ca": "ca.pem"}, Way(ca="ca.pem")),
        ({"cert": "me.pem"}, Way(cert="me.pem")),
        ({"cert": ("me.crt", "me.key")}, Way(cert=("me.crt", "me.key"))),
        ({"cert": "me.crt,me.key"}, Way(cert=("me.crt", "me.key"))),
        ({"insecure": True}, Way(insecure=True)),
        ({"max_event": 1000}, Way(max_event=1000)),
        ({"max_event": "128M"}, Way(max_event=128 * 2**20)),
        ({"max_event": "1 GiB"}, Way(max_event=2**30)),
    ],
)
def test_every_option_is_read_alike_from_a_call_and_from_a_file(option: dict[str, Any], way: Way):
    assert spec(**option).way == way
    (entry,) = read_config({"servers": {"x": {"url": URL, **option}}})
    assert isinstance(entry, ServerSpec) and entry.way == way


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ({"socket": 5}, "socket is the path"),
        ({"ca": ["a"]}, "ca is the path"),
        ({"proxy": "a b"}, "proxy is a URL"),
        ({"proxy": 5}, "proxy is a URL"),
        ({"cert": ["a"]}, "cert is one file"),
        ({"cert": ["a", "b", "c"]}, "cert is one file"),
        ({"cert": 7}, "cert is the path"),
        ({"insecure": "yes"}, "insecure is true or false"),
        ({"max_event": "big"}, "max_event is a number of bytes"),
        ({"max_event": 0}, "max_event is a number of bytes"),
        ({"max_event": True}, "max_event is a number of bytes"),
    ],
)
def test_what_makes_no_sense_is_said_from_both(option: dict[str, Any], says: str):
    with pytest.raises(UsageError, match=says):
        spec(**option)
    (entry,) = read_config({"servers": {"x": {"url": URL, **option}}})
    assert isinstance(entry, ConfigError) and says in entry.message


def test_the_way_is_for_urls_only():
    with pytest.raises(UsageError, match="proxy does not go with it"):
        ServerSpec.parse("x", "some-command", proxy="http://p")


def test_placeholders_are_filled_and_paths_are_absolute(tmp_path: Path):
    written = spec(ca="${NAME}.pem", cert=("~/a.crt", "/k/a.key"), socket="s", proxy="http://u:${PW}@p:1")
    filled = written.expanded({"NAME": "root", "PW": "hidden-pw", "HOME": str(tmp_path)})
    assert filled.way.ca is not None and filled.way.ca.endswith("root.pem") and filled.way.ca.startswith(("/", "C:"))
    assert filled.way.proxy == "http://u:hidden-pw@p:1"
    assert isinstance(filled.way.cert, tuple) and filled.way.cert[1].endswith("a.key")
    with pytest.raises(ConfigError, match="PW"):
        written.expanded({"NAME": "root"})


def test_nothing_secret_is_shown_and_what_is_filled_in_is_masked_everywhere():
    written = ServerSpec.parse(
        "x",
        "https://ann:pw-of-ann@h/mcp?api_key=key-12345",
        headers={"X-Tenant": "${TENANT}"},
        bearer="${TOKEN}",
        proxy="http://u:pw-of-proxy@p:1",
        insecure=True,
    )
    filled = written.expanded({"TENANT": "tenant-99", "TOKEN": "token-99"})
    for shown in (written.describe(), repr(written), repr(filled.way)):
        assert not any(word in shown for word in ("pw-of", "key-12345", "tenant-99", "token-99"))
    assert "certificate not checked" in written.describe() and "X-Tenant" in written.describe()
    redactor = Redactor()
    redactor.learn_spec(written, filled)
    for secret in ("pw-of-ann", "key-12345", "tenant-99", "token-99", "pw-of-proxy"):
        assert secret not in redactor.text(f"the server said {secret} aloud")


def test_a_bearer_replaces_the_authorization_of_a_file_however_it_is_spelled():
    one = ServerSpec.parse("x", {"url": URL, "headers": {"authorization": "Bearer old"}}, bearer="new")
    assert one.headers == {"Authorization": "Bearer new"}


@pytest.mark.parametrize(
    ("target", "url", "socket"),
    [
        ("unix:///run/my.sock", "http://localhost/", "/run/my.sock"),
        ("unix:///run/my%20x.sock#/mcp/a", "http://localhost/mcp/a", "/run/my x.sock"),
    ],
)
def test_a_unix_socket_can_be_written_as_a_url(target: str, url: str, socket: str):
    for one in (ServerSpec.parse("x", target), ServerSpec.parse("x", {"url": target, "type": "http"})):
        assert (one.kind, one.url, one.way.socket) == ("http", url, socket)
    with pytest.raises(UsageError, match="Unix socket"):
        ServerSpec.parse("x", "unix://run/my.sock")


@pytest.mark.parametrize(
    ("said", "kind", "falls_back"),
    [
        ({}, HttpTransport, True),
        ({"type": "http"}, HttpTransport, True),
        ({"type": "streamable-http"}, HttpTransport, False),
        ({"type": "streamableHttp"}, HttpTransport, False),
        ({"type": "sse"}, SseTransport, False),
    ],
)
def test_what_a_file_says_about_its_transport_is_what_is_made(said: dict[str, str], kind: type, falls_back: bool):
    transport = transport_for(ServerSpec.parse("x", {"url": URL, **said}))()
    assert type(transport) is kind
    assert not isinstance(transport, HttpTransport) or (transport.downgraded() is not None) == falls_back


@pytest.mark.anyio
@pytest.mark.parametrize("kind", ["stream", "answer"])
async def test_the_limit_that_an_error_names_is_the_one_that_is_set(kind: str):
    async def script(request: Request, reply: Reply) -> None:
        big = reply.answer({"t": "x" * 5000})
        await (reply.event_stream_of(big) if kind == "stream" else reply.json(big))

    async with FakeHttp(script) as fake:
        transport = transport_for(ServerSpec.parse("x", fake.url, max_event="4k"))()
        web = Web()
        await transport.open(web)
        await transport.send({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        error = await web.failure(1)
        await transport.close()
    assert "limit of 4096 bytes" in str(error) and "max_event=" in str(error)


# --- the whole way ---------------------------------------------------------------------------------------------------


async def old_or_new(request: Request, reply: Reply) -> None:
    """A server of 2025-11-25 with one tool."""
    results: dict[str, Any] = {
        "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "w"}},
        "tools/list": {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]},
        "tools/call": {"content": [{"type": "text", "text": "fine"}]},
        "ping": {},
    }
    if request.method != "POST":
        await reply.send(405)
    elif request.rpc in results:
        await reply.result(results[request.rpc])
    elif "id" in request.json:
        await reply.json({"jsonrpc": "2.0", "id": request.json["id"], "error": {"code": -32601, "message": "no"}}, 404)
    else:
        await reply.accepted()


@pytest.mark.anyio
@pytest.mark.parametrize("how", ["plain", "proxy", "socket"])
async def test_a_host_connects_by_the_way_it_is_told(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("THE_TOKEN", "token-of-env")
    socket = str(tmp_path / "s.sock") if how == "socket" else None
    if socket and sys.platform == "win32":
        pytest.skip("no Unix sockets")
    async with FakeHttp(old_or_new, unix=socket) as fake:
        url = fake.url if how == "plain" else "http://server.test/mcp"
        options: dict[str, Any] = {"proxy": {"proxy": fake.url.removesuffix("/mcp")}, "socket": {"socket": socket}}.get(
            how, {}
        )
        host = Host()
        try:
            server = await host.connect(ServerSpec.parse("web", url, bearer="${THE_TOKEN}", **options))
            assert server.state == "ready"
        finally:
            await host.aclose()
        assert {"initialize", "notifications/initialized"} <= set(fake.methods())
        assert {request.header("Authorization") for request in fake.requests} == {"Bearer token-of-env"}


@pytest.mark.anyio
async def test_a_host_connects_over_http_and_sse_when_asked():
    async def script(request: Request, reply: Reply) -> None:
        nonlocal stream
        if request.method == "GET":
            await reply.stream()
            stream = reply
            await reply.piece(b"event: endpoint\ndata: /post\n\n")
            await reply.gone()
        else:
            await reply.accepted()
            answer = {"initialize": {"protocolVersion": "2024-11-05", "capabilities": {}, "serverInfo": {"name": "o"}}}
            if "id" in request.json and stream is not None:
                await stream.event(reply.answer(answer.get(request.rpc, {})), name="message")

    stream: Reply | None = None
    async with FakeHttp(script, path="/sse") as fake:
        host = Host()
        try:
            server = await host.connect(ServerSpec.parse("old", fake.url, transport="sse", era="legacy"))
            assert server.state == "ready"
        finally:
            await host.aclose()
    assert fake.requests[0].method == "GET"


@pytest.mark.anyio
async def test_a_certificate_file_that_is_not_there_is_said():
    host = Host()
    try:
        with pytest.raises(ConnectionFailed, match=r"no-such-file\.pem"):
            await host.connect(spec(ca="/no-such-file.pem"))
    finally:
        await host.aclose()
