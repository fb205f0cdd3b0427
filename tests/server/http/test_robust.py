"""Whatever bytes come in: an answer with a status, no crash, no hang, no growth, and the next request is served."""

from __future__ import annotations

import asyncio
import json
import socket
import string
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jupyter_mcp.server import AsyncContext, Server
from tests.server.http.conftest import serving, until
from tests.server.http.raw import BOTH, Connection, Raw

pytestmark = pytest.mark.anyio
CALL = {"name": "add", "arguments": {"a": 1}}
SLOW = settings(
    max_examples=60, deadline=None, suppress_health_check=(HealthCheck.too_slow, HealthCheck.filter_too_much)
)


async def still_serves(raw: Raw) -> None:
    assert (await raw.modern("tools/call", CALL)).status == 200


# --- bodies


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"", 400, -32700),
        (b" ", 400, -32700),
        (b"{", 400, -32700),
        (b"\xff\xfe{}", 400, -32700),
        (b'{"jsonrpc": "2.0", "id": 11, "method": ', 400, -32700),
        (b'{"a":1}{"b":2}', 400, -32700),
        (b"\x00" * 100, 400, -32700),
        (b"[" * 1_000_000, 400, -32700),
        (b"null", 400, -32600),
        (b"7", 400, -32600),
        (b'"text"', 400, -32600),
        (b"true", 400, -32600),
        (b"[]", 400, -32600),
        (b"{}", 400, -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', 400, -32600),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', 400, -32600),
        (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', 400, -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":7}', 400, -32600),
        (b'{"id":1,"method":"ping"}', 400, -32600),
        (b'{"jsonrpc":"2.0","id":1}', 400, -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":null,"params":{}}', 400, -32600),
    ],
)
async def test_a_body_that_is_no_message_is_told_so(body: bytes, status: int, code: int):
    async with serving() as (raw, _, _):
        answer = await raw.post(body)
        assert (answer.status, (await answer.json())["error"]["code"]) == (status, code)
        await still_serves(raw)


async def test_deep_json_in_an_argument_is_an_error_and_no_crash():
    async with serving() as (raw, _, _):
        await raw.initialize()
        for depth in (100, 900, 5_000, 100_000):
            deep = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":%b%b}}}'
            answer = await raw.post(deep % (b"[" * depth, b"]" * depth))
            assert answer.status in (200, 400)
            body = await answer.json()
            assert "error" in body or body["result"]["isError"]
        await still_serves(raw)


async def test_a_body_with_a_byte_order_mark_or_a_charset_is_read():
    async with serving() as (raw, _, _):
        await raw.initialize()
        ping = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
        assert (await raw.post(b"\xef\xbb\xbf" + ping)).status == 200
        for kind in ("application/json; charset=utf-8", "APPLICATION/JSON", 'application/json;charset="UTF-8"'):
            assert (await raw.post(ping, {"Content-Type": kind})).status == 200


@pytest.mark.parametrize(
    "kind", [None, "", "text/plain", "application/x-www-form-urlencoded", "application/jsonx", "x"]
)
async def test_a_body_of_another_type_is_415(kind: str | None):
    async with serving() as (raw, _, _):
        assert (await raw.post(b"{}", {"Content-Type": kind})).status == 415
        await still_serves(raw)


async def test_a_compressed_body_is_415():
    async with serving() as (raw, _, _):
        assert (await raw.post(b"{}", {"Content-Encoding": "gzip"})).status == 415


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        (None, 200),
        ("", 200),
        ("*/*", 200),
        ("application/*, text/*", 200),
        ("application/json", 200),
        ("text/event-stream", 200),
        ("TEXT/EVENT-STREAM;q=0.5", 200),
        ("text/html, application/xhtml+xml", 406),
        ("application/json;q=0", 406),
        (",,;;q=,", 406),
    ],
)
async def test_what_a_client_accepts(accept: str | None, status: int):
    async with serving() as (raw, _, _):
        answer = await raw.modern("tools/list", headers={"Accept": accept})
        assert answer.status == status
        if status == 200:
            assert "result" in await answer.last()


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)
_FIELDS = ("jsonrpc", "id", "method", "params", "result", "error")


@SLOW
@given(
    change=st.dictionaries(st.sampled_from(_FIELDS), _JSON, max_size=3),
    params=st.dictionaries(
        st.sampled_from(
            (
                "name",
                "uri",
                "arguments",
                "_meta",
                "cursor",
                "requestState",
                "inputResponses",
                "ref",
                "argument",
                "notifications",
                "level",
                "requestId",
                "protocolVersion",
                "context",
                "task",
            )
        ),
        _JSON,
        max_size=4,
    ),
    method=st.sampled_from(
        (
            "tools/call",
            "tools/list",
            "resources/read",
            "prompts/get",
            "completion/complete",
            "initialize",
            "subscriptions/listen",
            "server/discover",
            "notifications/cancelled",
            "tasks/get",
            "ping",
            "logging/setLevel",
        )
    ),
    where=st.sampled_from(("modern", "session", "none")),
    legal=st.booleans(),
)
async def test_any_json_in_any_field_is_answered_with_a_status(
    change: dict[str, Any], params: dict[str, Any], method: str, where: str, legal: bool
):
    async with serving(patience=0.01, keep_alive=0.02) as (raw, _, gates):
        gates.thread.set()
        headers: dict[str, str | None] = {}
        message: Any = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        if where == "session":
            await raw.initialize("2025-11-25")
        elif where == "modern":
            message = raw.enveloped(method, {key: value for key, value in params.items() if key != "_meta"})
            headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
            name = params.get("name", params.get("uri"))
            if isinstance(name, str) and name.isascii() and name.isprintable() and name.strip() == name:
                headers["Mcp-Name"] = name
        message |= {} if legal else change
        answer = await raw.post(json.dumps(message).encode("utf-8", "surrogatepass"), headers)
        assert answer.status in (200, 202, 400, 404, 406), answer.status
        if answer.kind == "application/json":
            body = await answer.json()
            assert body["jsonrpc"] == "2.0" and ("error" in body or "result" in body)
        await still_serves(raw)


@SLOW
@given(body=st.binary(max_size=200), batch=st.booleans())
async def test_any_bytes_are_answered_with_a_status(body: bytes, batch: bool):
    async with serving() as (raw, _, _):
        await raw.initialize("2025-03-26")
        answer = await raw.post(b"[" + body + b"]" if batch else body)
        assert answer.status in (200, 202, 400)
        await still_serves(raw)


@SLOW
@given(
    name=st.sampled_from(
        (
            "Host",
            "Origin",
            "Authorization",
            "Accept",
            "Content-Type",
            "Mcp-Session-Id",
            "MCP-Protocol-Version",
            "Mcp-Method",
            "Mcp-Name",
            "Last-Event-ID",
            "Connection",
            "Expect",
        )
    ),
    value=st.text(alphabet=string.printable[:-5] + "\x80\xe9\xff", max_size=60),
    method=st.sampled_from(("POST", "GET", "DELETE", "HEAD", "OPTIONS")),
)
async def test_any_header_is_answered_with_a_status(name: str, value: str, method: str):
    async with serving() as (raw, _, _):
        connection = await raw.connect()
        head = {**raw.base, "Content-Type": "application/json", "Accept": BOTH, name: value}
        await connection.send(method, raw.path, head, b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
        answer = await connection.answer()
        assert answer.status in (100, 200, 202, 400, 401, 403, 404, 405, 406, 415, 421), answer.status
        connection.abort()
        await still_serves(raw)


# --- sizes


async def test_a_body_beyond_the_limit_is_413_and_never_held():
    async with serving(max_body=1000) as (raw, _, _):
        exactly = json.dumps(raw.enveloped("tools/list")).encode()
        exactly += b" " * (1000 - len(exactly))
        headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"}
        assert (await raw.post(exactly, headers)).status == 200
        assert (await raw.post(exactly + b" ", headers)).status == 413
        assert (await raw.post(b" " * 100_000, headers)).status == 413
        await still_serves(raw)


async def test_headers_beyond_the_limit_are_431_and_the_others_are_served():
    async with serving() as (raw, _, _):
        message = raw.enveloped("tools/call", {"name": "n" * 70_000, "arguments": {}})
        headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "n" * 70_000}
        answer = await raw.post(json.dumps(message).encode(), headers)
        assert answer.status == 431
        assert (await answer.json())["error"]["message"] == "A request's headers may have 65536 bytes."
        await still_serves(raw)


async def test_a_chunked_body_is_read_and_has_the_same_limit():
    async with serving(max_body=1000) as (raw, _, _):
        for size, status in ((10, 200), (1500, 413)):
            message = json.dumps(raw.enveloped("tools/list")).encode() + b" " * size
            connection = await raw.connect()
            headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"}
            head = {**raw.base, **headers, "Content-Type": "application/json", "Transfer-Encoding": "chunked"}
            await connection.send("POST", raw.path, head)
            for at in range(0, len(message), 100):
                part = message[at : at + 100]
                await connection.write(b"%x\r\n%b\r\n" % (len(part), part))
            await connection.write(b"0\r\n\r\n")
            assert (await connection.answer()).status == status


async def test_nothing_of_an_unauthorized_body_is_kept():
    async with serving(max_body=2**20) as (raw, _, _):
        connection = await raw.connect()
        head = {**raw.base, "Authorization": "Bearer no", "Content-Type": "application/json", "Expect": "100-continue"}
        await connection.send("POST", raw.path, {**head, "Content-Length": "1000000"})
        assert (await connection.answer()).status == 401  # before a byte of the body was sent


async def test_huge_heads_end_their_connection_only():
    async with serving() as (raw, _, _):
        connection = await raw.connect()
        try:
            await connection.write(b"POST /mcp HTTP/1.1\r\n" + b"X: " + b"a" * 200_000 + b"\r\n\r\n")
        except ConnectionError:
            pass
        assert await connection.is_closed()
        await still_serves(raw)


async def test_many_headers_are_read():
    async with serving() as (raw, _, _):
        many = {f"X-{n}": "v" for n in range(500)}
        assert (await raw.modern("tools/list", headers=many)).status == 200


@pytest.mark.parametrize(
    "text",
    [
        b"nonsense\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
        b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: a\r\nHost: b\r\nContent-Length: 2\r\n\r\n{}",
        b"POST /mcp HTTP/1.1\r\n\r\n",
        b"POST /mcp HTTP/9.9\r\nHost: 127.0.0.1\r\n\r\n",
    ],
)
async def test_what_is_no_http_ends_its_connection_only(text: bytes):
    async with serving() as (raw, _, _):
        connection = await raw.connect()
        await connection.write(text)
        connection.writer.write_eof()
        assert await connection.is_closed()
        await still_serves(raw)


# --- slow, half-closed and hasty clients


async def test_a_body_that_comes_byte_by_byte_is_read():
    async with serving() as (raw, _, _):
        message = json.dumps(raw.enveloped("tools/list")).encode()
        connection = await raw.connect()
        headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list", "Content-Type": "application/json"}
        await connection.send("POST", raw.path, {**raw.base, **headers, "Content-Length": str(len(message))})
        for at in range(len(message)):
            await connection.write(message[at : at + 1])
            await asyncio.sleep(0)
        assert (await connection.answer()).status == 200


async def test_a_client_that_leaves_in_the_middle_of_its_body_costs_nothing():
    async with serving() as (raw, _, _):
        for _ in range(20):
            connection = await raw.connect()
            await connection.send("POST", raw.path, {**raw.base, "Content-Length": "1000"})
            await connection.write(b"{")
            connection.abort()
        await until(lambda: not raw.running.endpoint.running)
        await still_serves(raw)


async def test_a_client_that_closed_its_half_is_gone_in_the_modern_era_and_missed_in_the_legacy_one():
    async with serving(patience=0.01) as (raw, _, gates):
        await raw.initialize()
        legacy = await raw.connect()
        answer = await raw.request("tools/call", {"name": "block"}, on=legacy)
        await answer.chunk()
        answer.decoder.feed(answer.raw)
        modern = await raw.connect()
        await raw.modern("tools/call", {"name": "wait"}, on=modern)
        for connection in (legacy, modern):
            connection.writer.write_eof()
        await until(lambda: "cancelled" in gates.seen)
        gates.thread.set()
        again = await raw.get(answer.decoder.last_id)
        assert (await again.message())["result"]["content"][0]["text"] == "done"


async def test_pipelined_requests_are_answered_in_order():
    async with serving() as (raw, _, _):
        await raw.initialize()
        connection = await raw.connect()
        head = {**raw.base, **raw.of_session(), "Content-Type": "application/json", "Accept": BOTH}
        for n in range(50):
            message = {"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": CALL}
            await connection.send("POST", raw.path, head, json.dumps(message).encode())
        for n in range(50):
            answer = await connection.answer()
            assert (await answer.last())["id"] == n


async def test_a_connection_is_used_again_after_a_stream_and_after_an_error():
    async with serving() as (raw, _, _):
        await raw.initialize()
        connection = await raw.connect()
        for _ in range(3):
            answer = await raw.request("tools/call", {"name": "tell", "_meta": {"progressToken": 1}}, on=connection)
            await answer.last()
            await (await raw.post(b"{", on=connection)).json()


async def test_a_client_of_http_1_0_sees_where_a_stream_ends():
    async with serving() as (raw, _, _):
        message = raw.enveloped("tools/call", {"name": "tell"}, progressToken=1)
        headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "tell"}
        connection = await raw.connect()
        head = {**raw.base, **headers, "Content-Type": "application/json", "Connection": "keep-alive"}
        await connection.send("POST", raw.path, head, json.dumps(message).encode(), version="HTTP/1.0")
        answer = await connection.answer()
        assert (await answer.last())["result"]["content"][0]["text"] == "told"


def pouring() -> tuple[Server, list[int]]:
    server, poured = Server("pour"), [0]

    @server.tool
    async def pour(ctx: AsyncContext) -> str:
        """Two hundred megabytes of progress."""
        for n in range(200):
            await ctx.progress(n, 200, "x" * 2**20)
            poured[0] = n
        return "all"

    return server, poured


async def narrow(raw: Raw) -> Connection:
    """A connection whose client reads nothing, and whose socket holds little."""
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.setblocking(False)
    await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", raw.running.port))
    reader, writer = await asyncio.open_connection(sock=sock, limit=2**16)
    connection = Connection(reader, writer)
    raw._connections.append(connection)  # pyright: ignore[reportPrivateUsage]
    return connection


@pytest.mark.parametrize("era", ["modern", "legacy"])
async def test_a_client_that_reads_nothing_slows_its_handler_and_holds_little(era: str):
    server, poured = pouring()
    async with serving(server, keep_alive=0.1) as (raw, _, _):
        connection = await narrow(raw)
        if era == "legacy":
            await raw.initialize()
            message: Any = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
            message["params"] = {"name": "pour", "_meta": {"progressToken": 1}}
            headers = raw.of_session()
        else:
            message = raw.enveloped("tools/call", {"name": "pour"}, progressToken=1)
            headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "pour"}
        head = {**raw.base, **headers, "Content-Type": "application/json", "Accept": BOTH}
        await connection.send("POST", raw.path, head, json.dumps(message).encode())
        endpoint = raw.running.endpoint
        await until(lambda: bool(endpoint.open))
        await until(lambda: not endpoint.open)  # a reader who takes nothing loses its connection
        assert poured[0] < 60
        assert (await raw.modern("tools/list")).status == 200


async def test_a_listener_that_reads_nothing_holds_little():
    async with serving() as (raw, server, _):
        connection = await narrow(raw)
        uris = [f"notes://{n}" for n in range(50)]
        message = raw.enveloped("subscriptions/listen", {"notifications": {"resourceSubscriptions": uris}})
        headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "subscriptions/listen"}
        head = {**raw.base, **headers, "Content-Type": "application/json", "Accept": BOTH}
        await connection.send("POST", raw.path, head, json.dumps(message).encode())
        endpoint = raw.running.endpoint
        await until(lambda: bool(endpoint.open))
        for round in range(200):
            for uri in uris:
                server.resource_updated(f"{uri}/{round}/{'x' * 2000}")
            await asyncio.sleep(0)
            if not endpoint.open:
                break
        held = sum(one.way.kept for one in endpoint.work._listening.values())  # pyright: ignore
        assert held <= 17 * 2**20
        await still_serves(raw)
