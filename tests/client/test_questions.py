"""What a legacy server asks on its own."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.client.connection import Connection, ConnectOptions
from jupyter_mcp.errors import ConnectionLost, InputRefused, RequestError
from jupyter_mcp.transport.mock import ScriptTransport, client, server
from tests.client.peer import FakePeer, process, scripted

if TYPE_CHECKING:
    from jupyter_mcp.client.peer import Call

pytestmark = pytest.mark.anyio

FORM: dict[str, Any] = {
    "message": "Seat?",
    "requestedSchema": {"type": "object", "properties": {"seat": {"type": "string"}}},
}
SAMPLE: dict[str, Any] = {"messages": [], "maxTokens": 5}


def asked(method: str, params: dict[str, Any] | None = None, id: Any = "s1") -> Any:
    return server(method, id=id, **({} if params is None else {"params": params}))


async def accepts(method: str, params: dict[str, Any], cause: Call | None) -> dict[str, Any]:
    return {"roots": []} if method == "roots/list" else {"action": "accept", "content": {"seat": "a"}}


async def test_a_question_reaches_the_host_with_its_cause_and_the_answer_the_server() -> None:
    async with process(FakePeer(accepts)) as (connection, peer):
        result = await connection.call_tool("ask", {"method": "elicitation/create", "params": FORM})
        answer = json.loads(result["content"][0]["text"])
        assert answer == {"result": {"action": "accept", "content": {"seat": "a"}}}
        ((method, params, cause),) = peer.questions
        assert (method, params) == ("elicitation/create", FORM)
        assert cause is not None
        assert (cause.method, cause.name) == ("tools/call", "ask")
        assert cause.arguments["method"] == "elicitation/create"


async def test_with_several_calls_in_flight_the_cause_is_unknown() -> None:
    async with process(FakePeer(accepts)) as (connection, peer):
        other = asyncio.ensure_future(connection.call_tool("sleep", {"seconds": 30}))
        await asyncio.sleep(0.05)
        await connection.call_tool("ask", {"method": "roots/list"})
        assert peer.questions[0][2] is None
        other.cancel()
        await asyncio.wait([other])


async def test_questions_are_open_side_by_side() -> None:
    both = asyncio.Event()

    async def together(method: str, params: dict[str, Any], cause: Call | None) -> dict[str, Any]:
        if len(peer.questions) == 2:
            both.set()
        await asyncio.wait_for(both.wait(), 3)
        return {"action": "cancel"}

    peer = FakePeer(together)
    async with process(peer) as (connection, _):
        one = {"method": "elicitation/create", "params": FORM}
        result = await connection.call_tool("ask_many", {"requests": [one, one]})
        assert json.loads(result["content"][0]["text"]) == [{"result": {"action": "cancel"}}] * 2


async def test_a_refusal_is_error_minus_one_and_tells_no_more() -> None:
    async def refuses(method: str, params: dict[str, Any], cause: Call | None) -> dict[str, Any]:
        raise InputRefused("My boss would kill me.")

    async with scripted(
        asked("sampling/createMessage", SAMPLE),
        client(id="s1", error={"code": -1, "message": "User rejected sampling request"}),
        peer=FakePeer(refuses),
    ) as (_, script, _peer):
        await script.played()


async def test_an_error_of_the_host_is_passed_on_with_its_code() -> None:
    async def fails(method: str, params: dict[str, Any], cause: Call | None) -> dict[str, Any]:
        raise RequestError("no model is configured", code=-32603, data={"why": 1})

    async with scripted(
        asked("sampling/createMessage", SAMPLE),
        client(error={"code": -32603, "message": "no model is configured", "data": {"why": 1}}),
        peer=FakePeer(fails),
    ) as (_, script, _peer):
        await script.played()


async def test_a_fault_of_the_host_is_an_internal_error_without_details(caplog: pytest.LogCaptureFixture) -> None:
    async def breaks(method: str, params: dict[str, Any], cause: Call | None) -> dict[str, Any]:
        raise ValueError("secret detail")

    async with scripted(
        asked("roots/list"), client(error={"code": -32603, "message": "Internal error"}), peer=FakePeer(breaks)
    ) as (_, script, _peer):
        await script.played()
    assert "secret detail" in caplog.text


async def test_an_answer_that_is_no_json_is_an_error_for_the_server_not_silence() -> None:
    async def nan(method: str, params: dict[str, Any], cause: Call | None) -> dict[str, Any]:
        return {"action": "accept", "content": {"x": float("nan")}}

    async with scripted(asked("elicitation/create", FORM), client(error={"code": -32603}), peer=FakePeer(nan)) as (
        _,
        script,
        _peer,
    ):
        await script.played()


@pytest.mark.parametrize(
    ("declared", "method", "params", "code"),
    [
        ({}, "elicitation/create", FORM, -32601),
        ({}, "sampling/createMessage", SAMPLE, -32601),
        ({}, "roots/list", None, -32601),
        ({"elicitation": {"form": {}}}, "elicitation/create", {"mode": "url", "url": "https://x"}, -32602),
        ({"sampling": {}}, "sampling/createMessage", {**SAMPLE, "tools": []}, -32602),
        ({}, "tools/call", {"name": "x"}, -32601),
        ({}, "made/up", None, -32601),
    ],
)
async def test_what_we_did_not_declare_is_refused_without_asking(
    declared: dict[str, Any], method: str, params: dict[str, Any] | None, code: int
) -> None:
    peer = FakePeer(declared=declared)
    async with scripted(asked(method, params), client(id="s1", error={"code": code}), peer=peer) as (_, script, _p):
        await script.played()
        assert peer.questions == []


@pytest.mark.parametrize("id", [0, "0", -3, "s"])
async def test_a_ping_is_answered_at_once_whatever_its_id(id: Any) -> None:
    async with scripted(asked("ping", id=id), client(id=id, result={})) as (_, script, _peer):
        await script.played()


async def test_params_that_are_no_object_are_taken_as_none() -> None:
    async with scripted(
        server("roots/list", id=1, params=[]), client(id=1, result={"roots": []}), peer=FakePeer(accepts)
    ) as (_, script, peer):
        await script.played()
        assert peer.questions == [("roots/list", {}, None)]


async def test_a_question_that_the_server_takes_back_is_withdrawn_and_not_answered() -> None:
    withdrawn = asyncio.Event()

    async def waits(method: str, params: dict[str, Any], cause: Call | None) -> dict[str, Any]:
        try:
            await asyncio.sleep(60)
        finally:
            withdrawn.set()
        return {}

    async with scripted(
        asked("elicitation/create", FORM, id=7), client("ping"), server(result={}), peer=FakePeer(waits)
    ) as (connection, script, peer):
        await peer.until(lambda: peer.questions)
        script.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "7"}})
        await asyncio.wait_for(withdrawn.wait(), 2)
        await connection.ping()
        assert script.methods()[-1] == "ping"


async def test_a_question_ends_with_the_connection() -> None:
    withdrawn = asyncio.Event()

    async def waits(method: str, params: dict[str, Any], cause: Call | None) -> dict[str, Any]:
        try:
            await asyncio.sleep(60)
        finally:
            withdrawn.set()
        return {}

    peer = FakePeer(waits)
    async with process(peer) as (connection, _):
        call = asyncio.ensure_future(connection.call_tool("ask", {"method": "elicitation/create", "params": FORM}))
        await peer.until(lambda: peer.questions)
        await connection.close()
        assert withdrawn.is_set()
        with pytest.raises(ConnectionLost):
            await call


async def test_a_question_may_close_its_own_connection() -> None:
    async def closes(method: str, params: dict[str, Any], cause: Call | None) -> dict[str, Any]:
        await connection.close()
        return {}

    async with process(FakePeer(closes)) as (connection, _):
        with pytest.raises(ConnectionLost):
            await connection.call_tool("ask", {"method": "roots/list"})
        assert connection.state == "closed"


async def test_a_request_in_the_modern_era_is_ignored_and_noted_once() -> None:
    async with scripted(
        client("tools/call"),
        asked("ping"),
        asked("roots/list"),
        server(result={"resultType": "complete"}),
        era="modern",
    ) as (connection, script, peer):
        await connection.call_tool("t")
        assert "reply" not in script.methods()
        assert peer.questions == []
        assert len(connection.notes) == 1


async def test_nobody_is_asked_before_the_handshake_is_done() -> None:
    params: dict[str, Any] = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {}}
    script = ScriptTransport(
        client("initialize"),
        asked("elicitation/create", FORM, id="early"),
        asked("roots/list", id="roots"),
        client(id="roots"),
        server(id=1, result=params),
        client("notifications/initialized"),
        client(id="early", result={"action": "accept"}),
    )
    peer = FakePeer(accepts)
    connection = Connection("demo", lambda: script, ConnectOptions(era="legacy"), peer)
    await connection.open()
    await script.played()
    assert [method for method, _, _ in peer.questions] == ["roots/list", "elicitation/create"]
    await connection.close()


async def test_a_batch_is_taken_item_by_item_and_only_its_answers_where_there_are_no_batches() -> None:
    for revision, known in (("2025-03-26", True), ("2025-11-25", False)):
        peer = FakePeer()
        async with process(peer, revision=revision) as (connection, _):
            batch = [
                {"jsonrpc": "2.0", "id": "$ID", "result": {"content": [{"type": "text", "text": "in a batch"}]}},
                {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}},
            ]
            result = await connection.call_tool("raw", {"lines": [json.dumps(batch)]}, timeout=5)
            assert result["content"][0]["text"] == "in a batch"
            assert len([1 for method, _, _ in peer.notices if method == "notifications/message"]) == known
            assert any("batch" in note for note in connection.notes) is not known
