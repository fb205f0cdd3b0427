"""The modern era over HTTP: one exchange per POST, nothing remembered, every status as the specification has it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jupyter_mcp.protocol.headers import encode_value
from jupyter_mcp.server import AsyncContext, Server
from tests.server.http.conftest import serving, until

pytestmark = pytest.mark.anyio
CALL = {"name": "add", "arguments": {"a": 1}}


async def test_a_quick_answer_is_plain_json_and_names_no_session():
    async with serving() as (raw, _, _):
        answer = await raw.modern("tools/call", CALL)
        assert (answer.status, answer.kind) == (200, "application/json")
        assert (await answer.json())["result"]["structuredContent"] == 2
        assert "mcp-session-id" not in answer.headers and "server" not in answer.headers


async def test_session_and_event_ids_of_a_modern_request_are_ignored():
    async with serving() as (raw, _, _):
        answer = await raw.modern("tools/list", headers={"Mcp-Session-Id": "none", "Last-Event-ID": "1-1"})
        assert answer.status == 200


async def test_what_a_handler_reports_makes_the_answer_a_stream_of_events_without_ids():
    async with serving() as (raw, _, _):
        params = {"name": "tell", "arguments": {"level": "error"}}
        answer = await raw.modern("tools/call", params, progressToken=7, log="info")
        assert answer.kind == "text/event-stream"
        assert answer.headers["x-accel-buffering"] == "no" and "no-cache" in answer.headers["cache-control"]
        messages = [one async for one in answer.messages()]
        methods = [one.get("method") for one in messages]
        assert methods == ["notifications/progress"] * 3 + ["notifications/message", None]
        assert messages[-1]["result"]["content"][0]["text"] == "told"
        assert b"id:" not in answer.raw


async def test_a_handler_that_takes_its_time_answers_on_a_stream():
    async with serving(patience=0.02) as (raw, _, gates):
        answer = await raw.modern("tools/call", {"name": "block"})
        assert answer.kind == "text/event-stream"
        gates.thread.set()
        assert (await answer.message())["result"]["content"][0]["text"] == "done"
        assert await answer.event() is None


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"method": "no/such"}, 404, -32601),
        ({"method": "ping"}, 404, -32601),
        ({"method": "logging/setLevel", "level": "info"}, 404, -32601),
        ({"params": {"name": "none"}}, 400, -32602),
        ({"params": {"name": 3}}, 400, -32602),
        ({"revision": "2099-01-01"}, 400, -32022),
        ({"revision": 5}, 400, -32602),
        ({"capabilities": None}, 400, -32602),
        ({"capabilities": []}, 400, -32602),
        ({"log": "loud"}, 400, -32602),
        ({"jsonrpc": "1.0"}, 400, -32600),
    ],
)
async def test_what_is_wrong_with_a_request_is_said_with_its_status(change: dict[str, Any], status: int, code: int):
    async with serving() as (raw, _, _):
        message = raw.enveloped(change.get("method", "tools/call"), change.get("params", CALL))
        meta = message["params"]["_meta"]
        message["jsonrpc"] = change.get("jsonrpc", "2.0")
        revision = meta["io.modelcontextprotocol/protocolVersion"] = change.get("revision", "2026-07-28")
        if "capabilities" in change:
            meta["io.modelcontextprotocol/clientCapabilities"] = change["capabilities"]
        if "log" in change:
            meta["io.modelcontextprotocol/logLevel"] = change["log"]
        headers = {"MCP-Protocol-Version": str(revision), "Mcp-Method": message["method"]}
        if isinstance(name := message["params"].get("name"), str):
            headers["Mcp-Name"] = name
        answer = await raw.post(message, headers)
        body = await answer.json()
        assert (answer.status, body["error"]["code"], body["id"]) == (status, code, message["id"])


async def test_a_request_without_the_envelope_is_told_so_where_its_header_says_modern():
    async with serving() as (raw, _, _):
        message = {"jsonrpc": "2.0", "id": "a", "method": "tools/list"}
        answer = await raw.post(message, {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"})
        assert (answer.status, (await answer.json())["error"]["code"]) == (400, -32602)


async def test_a_tool_that_needs_what_the_client_did_not_declare_is_400():
    async with serving() as (raw, _, _):
        answer = await raw.modern("tools/call", {"name": "book", "arguments": {"city": "Ulm"}}, capabilities={})
        assert (answer.status, (await answer.json())["error"]["code"]) == (400, -32021)


@pytest.mark.parametrize("name", ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"])
@pytest.mark.parametrize("value", [None, "other", "=?base64?!?="])
async def test_headers_that_say_something_else_than_the_body_are_refused(name: str, value: str | None):
    async with serving() as (raw, _, _):
        answer = await raw.modern("tools/call", CALL, headers={name: value})
        assert (answer.status, (await answer.json())["error"]["code"]) == (400, -32020)


async def test_headers_that_are_given_twice_are_refused():
    async with serving() as (raw, _, _):
        message = raw.enveloped("tools/list")
        body = json.dumps(message).encode()
        connection = await raw.connect()
        twice = [("Mcp-Method", "tools/list"), ("Mcp-Method", "tools/list")]
        head = [*raw.base.items(), ("Content-Type", "application/json"), ("MCP-Protocol-Version", "2026-07-28"), *twice]
        await connection.send("POST", raw.path, head, body)
        answer = await connection.answer()
        assert (answer.status, (await answer.json())["error"]["code"]) == (400, -32020)


def annotated() -> Server:
    server = Server("annotated")
    schema = {
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}, "n": {"type": "integer"}},
    }

    @server.tool(input_schema=schema)
    async def pick(region: str = "", n: int = 0) -> str:
        return f"{region} {n}"

    return server


@pytest.mark.parametrize(
    ("given", "header", "status"),
    [
        ("eu", "eu", 200),
        ("Köln", encode_value("Köln"), 200),
        ("eu", "us", 400),
        ("eu", None, 400),
        (None, None, 200),
        (None, "eu", 400),
    ],
)
async def test_an_argument_that_the_schema_wants_in_a_header_must_be_there(
    given: str | None, header: str | None, status: int
):
    async with serving(annotated()) as (raw, _, _):
        arguments = {} if given is None else {"region": given}
        answer = await raw.modern(
            "tools/call", {"name": "pick", "arguments": arguments}, headers={"Mcp-Param-Region": header}
        )
        assert answer.status == status, await answer.text()


async def test_notifications_are_accepted_and_responses_are_not():
    async with serving() as (raw, _, _):
        said = {"MCP-Protocol-Version": "2026-07-28"}
        assert (await raw.post({"jsonrpc": "2.0", "method": "notifications/cancelled"}, said)).status == 202
        answer = await raw.post({"jsonrpc": "2.0", "id": 1, "result": {}}, said)
        assert (answer.status, (await answer.json())["error"]["code"]) == (400, -32600)


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH", "OPTIONS"])
async def test_the_modern_era_has_post_only(method: str):
    async with serving() as (raw, _, _):
        answer = await raw.http(method, {"MCP-Protocol-Version": "2026-07-28", "Accept": "text/event-stream"})
        assert answer.status == 405 and "POST" in answer.headers["allow"]
        assert not any(name.startswith("access-control") for name in answer.headers)


async def test_a_client_that_goes_away_cancels_its_request():
    async with serving(patience=0.01) as (raw, _, gates):
        connection = await raw.connect()
        answer = await raw.modern("tools/call", {"name": "wait"}, on=connection)
        assert answer.kind == "text/event-stream" and gates.entered.is_set()
        connection.abort()
        await until(lambda: gates.seen == ["cancelled"])
        assert raw.running.endpoint.running == 0 and len(raw.running.endpoint.work) == 0


async def test_requests_of_one_id_do_not_meet():
    async with serving(patience=0.01) as (raw, _, gates):
        waiting = await raw.modern("tools/call", {"name": "block"})
        message = raw.enveloped("tools/call", CALL)
        message["id"] = 1
        headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "add"}
        for _ in range(2):
            assert (await raw.post(message, headers)).status == 200
        gates.thread.set()
        assert (await waiting.message())["result"]["content"][0]["text"] == "done"


async def test_a_question_is_a_round_and_its_answer_another_request():
    async with serving() as (raw, _, _):
        params: dict[str, Any] = {"name": "book", "arguments": {"city": "Ulm"}}
        replies = [{"seat": "a"}, {"value": True}]
        result = (await (await raw.modern("tools/call", params)).last())["result"]
        while result["resultType"] == "input_required":
            key = next(iter(result["inputRequests"]))
            more = {
                "inputResponses": {key: {"action": "accept", "content": replies.pop(0)}},
                "requestState": result["requestState"],
            }
            result = (await (await raw.modern("tools/call", {**params, **more})).last())["result"]
        assert result["structuredContent"]["seat"] == "a"


# --- listening


async def test_a_stream_that_listens_is_acknowledged_then_told_what_it_asked_for():
    async with serving() as (raw, server, _):
        wanted = {"notifications": {"toolsListChanged": True, "resourceSubscriptions": ["notes://today"]}}
        answer = await raw.modern("subscriptions/listen", wanted)
        acknowledged = await answer.message()
        assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
        assert acknowledged["params"]["notifications"] == wanted["notifications"]
        mark = acknowledged["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"]
        server.prompts_changed()
        server.resource_updated("notes://other")
        server.resource_updated("notes://today")
        told = await answer.message()
        assert told["method"] == "notifications/resources/updated" and told["params"]["uri"] == "notes://today"
        assert told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == mark
        server.remove_tool("add")
        assert (await answer.message())["method"] == "notifications/tools/list_changed"


async def test_listening_ends_with_a_result_when_the_server_stops():
    async with serving() as (raw, _, _):
        answer = await raw.modern("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
        id_ = (await answer.message())["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"]
        await raw.running.endpoint.close()
        last = await answer.message()
        assert last["id"] == id_ and last["result"]["resultType"] == "complete"
        assert last["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == id_
        assert await answer.event() is None


async def test_a_client_that_stops_listening_is_forgotten():
    async with serving(keep_alive=0.02) as (raw, server, _):
        connection = await raw.connect()
        answer = await raw.modern("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, on=connection)
        await answer.message()
        endpoint = raw.running.endpoint
        assert len(endpoint.open) == 1
        connection.abort()
        await until(lambda: not (endpoint.open or endpoint.running))
        server.tools_changed()


async def test_listening_needs_a_client_that_reads_events():
    async with serving() as (raw, _, _):
        answer = await raw.modern("subscriptions/listen", {"notifications": {}}, headers={"Accept": "application/json"})
        assert answer.status == 406


async def test_a_silent_stream_is_kept_open_by_comments():
    async with serving(keep_alive=0.04) as (raw, _, _):
        answer = await raw.modern("subscriptions/listen", {"notifications": {}})
        await answer.message()
        while answer.decoder.comments < 2:
            answer.decoder.feed(await answer.chunk())


async def test_a_client_that_reads_json_only_gets_its_answer_and_nothing_else():
    async with serving(patience=0.01) as (raw, _, _):
        params = {"name": "tell"}
        answer = await raw.modern("tools/call", params, headers={"Accept": "application/json"}, progressToken=1)
        assert answer.kind == "application/json"
        assert (await answer.json())["result"]["content"][0]["text"] == "told"


async def test_json_can_be_turned_off_but_errors_keep_their_status():
    async with serving(json=False) as (raw, _, _):
        assert (await raw.modern("tools/list")).kind == "text/event-stream"
        assert (await raw.modern("no/such")).status == 404


async def test_a_modern_only_server_names_its_versions_to_initialize():
    server = Server("new", versions=["2026-07-28"])
    async with serving(server) as (raw, _, _):
        params = {"protocolVersion": "2025-11-25"}
        answer = await raw.post({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
        body = await answer.json()
        assert (answer.status, body["error"]["code"]) == (400, -32022)
        assert body["error"]["data"]["supported"] == ["2026-07-28"]
        assert (await raw.http("GET", {"Accept": "text/event-stream", "Mcp-Session-Id": "x"})).status == 405


async def test_a_handler_closing_its_stream_closes_nothing_in_the_modern_era():
    server = Server("closing")

    @server.tool
    async def close(ctx: AsyncContext) -> str:
        await ctx.close_stream(10)
        return "still here"

    async with serving(server) as (raw, _, _):
        answer = await raw.modern("tools/call", {"name": "close"})
        assert (await answer.json())["result"]["content"][0]["text"] == "still here"
