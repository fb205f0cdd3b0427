"""Requests in both eras: shape, gate, answers, time, cancelling, the end of the server."""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.client.connection import ConnectOptions
from jupyter_mcp.errors import (
    Cancelled,
    ConnectionLost,
    InputRefused,
    LocalProtocolError,
    RemoteProtocolError,
    RequestError,
    RequestTimeout,
    UsageError,
)
from jupyter_mcp.transport.mock import ScriptTransport, client, dies, server
from tests.client.peer import FakePeer, Told, process, scripted, text

if TYPE_CHECKING:
    from jupyter_mcp.client.peer import Call

pytestmark = pytest.mark.anyio

DONE = {"content": [{"type": "text", "text": "ok"}]}
COMPLETE = {"resultType": "complete", **DONE}


def is_id(value: object) -> bool:
    return isinstance(value, int)


def nothing(message: dict[str, Any]) -> None:
    return None


def latest_id(script: ScriptTransport) -> Any:
    return next(message["id"] for message in reversed(script.sent) if "method" in message and "id" in message)


# -- shape and gate -----------------------------------------------------------------------------------------------


async def test_a_legacy_call_is_plain() -> None:
    async with scripted(client("tools/call", params={"name": "add"}), server(result=DONE)) as (
        connection,
        script,
        peer,
    ):
        assert await connection.call_tool("add", {"a": 1}) == DONE
        assert script.sent[-1]["params"] == {"name": "add", "arguments": {"a": 1}}
        assert [direction for direction, _, _ in peer.wired[-2:]] == ["send", "receive"]
        assert peer.wired[-1][2] > 0


async def test_every_modern_request_is_in_an_envelope() -> None:
    async with scripted(
        client("tools/call"), server(result=COMPLETE), client("tools/call"), server(result=COMPLETE), era="modern"
    ) as (connection, script, _):
        await connection.call_tool("add", {"a": 1})
        meta = script.sent[-1]["params"]["_meta"]
        assert meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
        assert set(meta["io.modelcontextprotocol/clientCapabilities"]) == {"roots", "sampling", "elicitation"}
        assert "progressToken" not in meta
        await connection.call_tool("add", {"a": 1}, on_progress=Told())
        assert script.sent[-1]["params"]["_meta"]["progressToken"] == script.sent[-1]["id"]


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_what_the_server_did_not_declare_is_not_asked(era: Any) -> None:
    async with scripted(era=era, capabilities={"tools": {}}) as (connection, script, _):
        before = len(script.sent)
        with pytest.raises(UsageError, match="does not offer resources"):
            await connection.read("file:///x")
        with pytest.raises(UsageError, match="does not offer prompts"):
            await connection.get_prompt("p")
        assert (await connection.list("resources")).items == []
        assert await connection.complete({"type": "ref/prompt", "name": "p"}, "a", "") == {"values": []}
        assert len(script.sent) == before


async def test_a_method_of_the_other_era_is_refused_here() -> None:
    capabilities = {"logging": {}, "resources": {"subscribe": True}}
    async with scripted(era="modern", capabilities=capabilities, answer=nothing) as (connection, _, _peer):
        with pytest.raises(LocalProtocolError, match="no resources/subscribe in 2026-07-28"):
            await connection.request("resources/subscribe", {"uri": "x"})


async def test_nan_is_refused_here_with_its_path() -> None:
    async with scripted() as (connection, script, _):
        before = len(script.sent)
        with pytest.raises(LocalProtocolError, match=r"params\.arguments\.x\[1\]"):
            await connection.call_tool("t", {"x": [1.0, float("nan")]})
        assert len(script.sent) == before
        assert connection.calls == ()


async def test_a_uri_is_sent_exactly_as_it_was_given() -> None:
    uri = "HTTPS://Example.COM/a b/ü?q=%2F#f"
    result = {"contents": [{"uri": uri, "text": "exact"}]}
    async with scripted(
        client("resources/read", params={"uri": uri}), server(result=result), capabilities={"resources": {}}
    ) as (connection, _, _peer):
        assert await connection.read(uri) == result


async def test_ping_is_a_discover_in_the_modern_era() -> None:
    async with scripted(client("ping"), server(result={})) as (connection, _, _peer):
        await connection.ping()
    again: dict[str, Any] = {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {}}
    async with scripted(client("server/discover"), server(result=again), era="modern") as (connection, _, _peer):
        await connection.ping()


async def test_completion_values_are_texts_and_context_goes_where_it_may() -> None:
    found = {"completion": {"values": ["a", 1, None, "b"], "total": 9, "hasMore": True}}
    ref = {"type": "ref/prompt", "name": "p"}
    for revision, has_context in (("2025-11-25", True), ("2025-03-26", False)):
        async with scripted(
            client("completion/complete", params={"argument": {"name": "x", "value": "v"}}),
            server(result=found),
            capabilities={"completions": {}},
            revision=revision,
        ) as (connection, script, _):
            got = await connection.complete(ref, "x", "v", {"y": "1"})
            assert got == {"values": ["a", "b"], "total": 9, "hasMore": True}
            assert ("context" in script.sent[-1]["params"]) is has_context


async def test_the_log_level_is_told_once_or_with_every_request() -> None:
    caps: dict[str, Any] = {"logging": {}, "tools": {}}
    async with scripted(
        client("logging/setLevel", params={"level": "debug"}), server(result={}), capabilities=caps
    ) as (connection, _, _peer):
        await connection.set_log_level("debug")
        with pytest.raises(UsageError, match="no log level 'loud'"):
            await connection.set_log_level("loud")
    async with scripted(client("tools/call"), server(result=COMPLETE), era="modern", capabilities=caps) as (
        connection,
        script,
        _,
    ):
        await connection.set_log_level("debug")
        await connection.call_tool("t")
        assert script.sent[-1]["params"]["_meta"]["io.modelcontextprotocol/logLevel"] == "debug"


# -- answers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ({"error": {"code": "invalid_payload", "message": "quota"}}, "quota"),
        ({"error": {"code": -32000.0}}, "-32000"),
        ({"error": "quota"}, "quota"),
        ({"error": {"code": 1, "message": "quota"}, "result": {}}, "quota"),
        ({"result": None}, "empty reply"),
        ({"error": {}}, "without a message"),
        ({"error": ["a", 1]}, "a"),
    ],
)
async def test_an_error_of_any_shape_ends_the_call_with_what_it_says(reply: dict[str, Any], said: str) -> None:
    async with scripted(client("tools/call"), server(**reply), client("ping"), server(result={})) as (
        connection,
        _,
        _p,
    ):
        with pytest.raises(RequestError, match=said) as error:
            await connection.call_tool("t")
        assert error.value.server == "demo"
        assert isinstance(error.value.code, int)
        await connection.ping()


async def test_a_null_error_beside_a_result_is_a_result() -> None:
    async with scripted(client("tools/call"), server(error=None, result=DONE)) as (connection, _, _peer):
        assert await connection.call_tool("t") == DONE


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_result_that_is_no_object_is_the_servers_fault(era: Any) -> None:
    async with scripted(client("tools/call"), server(result=["x"]), era=era) as (connection, _, _peer):
        with pytest.raises(RemoteProtocolError, match="not an object"):
            await connection.call_tool("t")


async def test_an_id_that_comes_back_as_text_is_taken() -> None:
    async with process(ids="string") as (connection, _):
        answers = await asyncio.gather(*(text(connection, "echo", text=str(number)) for number in range(20)))
        assert answers == [str(number) for number in range(20)]


async def test_duplicate_late_and_unknown_answers_disturb_nothing() -> None:
    def answers(message: dict[str, Any]) -> list[dict[str, Any]] | None:
        if message.get("method") != "tools/call":
            return None
        id = message["id"]
        first = {"jsonrpc": "2.0", "id": id, "result": {"content": [message["params"]["name"]]}}
        late = {"jsonrpc": "2.0", "id": 1, "result": {"content": ["old"]}}
        error = {"jsonrpc": "2.0", "id": id, "error": {"code": 1, "message": "third"}}
        return [{"jsonrpc": "2.0", "id": 424242, "result": {}}, first, {**first, "result": {}}, late, error]

    async with scripted(answer=answers) as (connection, _, peer):
        for name in ("a", "b", "c"):
            assert await connection.call_tool(name) == {"content": [name]}
        assert peer.notes == []


async def test_an_error_without_id_ends_the_only_request_there_is() -> None:
    async with scripted(client("tools/call"), server(id=None, error={"code": -32700, "message": "Parse error"})) as (
        connection,
        _,
        _peer,
    ):
        with pytest.raises(RequestError, match="Parse error"):
            await connection.call_tool("t")


async def test_many_calls_at_once_get_their_own_answers() -> None:
    async with process(era="dual") as (connection, _):
        answers = await asyncio.gather(*(text(connection, "echo", text=str(number)) for number in range(200)))
        assert answers == [str(number) for number in range(200)]


# -- progress and logs --------------------------------------------------------------------------------------------


async def test_odd_progress_is_tamed_and_never_raises() -> None:
    token = "$TOKEN"

    def progress(**params: Any) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}

    messages: list[dict[str, Any]] = [
        progress(progressToken="made up", progress=1, total=1),
        progress(progressToken=None, progress="x"),
        {"jsonrpc": "2.0", "method": "notifications/progress", "params": []},
        progress(progressToken=token, progress=5, total=10),
        progress(progressToken=token, progress=3, total=10),
        progress(progressToken=token, progress=7, total=None),
        progress(progressToken=token, progress=True, total=10),
        progress(progressToken=token, progress=1, total=0, message="<b>"),
        progress(progressToken=token, progress=7.5, total="many", message=5),
    ]
    got = Told()
    async with process() as (connection, peer):
        await connection.call_tool("notify", {"messages": messages}, on_progress=got)
        assert got.all == [(5, 10, None), (3, 10, None), (7, None, None), (1, None, "<b>"), (7.5, None, None)]
        assert len([method for method, _, _ in peer.notices if method == "notifications/progress"]) == 5
        await connection.call_tool("notify", {"messages": messages})  # nobody listens now
        assert len(got.all) == 5


async def test_a_callback_that_fails_costs_nothing() -> None:
    def fails(*_: Any) -> None:
        raise ValueError("bad bar")

    message = {
        "jsonrpc": "2.0",
        "method": "notifications/progress",
        "params": {"progressToken": "$TOKEN", "progress": 1},
    }
    async with process() as (connection, _):
        assert await connection.call_tool("notify", {"messages": [message]}, on_progress=fails)


async def test_log_messages_go_to_the_only_call_and_to_the_host() -> None:
    said = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": {"n": 1}}}
    got = Told()
    async with process() as (connection, peer):
        await connection.call_tool("notify", {"messages": [said]}, on_log=got)
        assert got.all == [("info", None, {"n": 1})]
        method, params, call = peer.notices[-1]
        assert (method, params["data"]) == ("notifications/message", {"n": 1})
        assert call is not None
        assert call.name == "notify"


# -- time ---------------------------------------------------------------------------------------------------------


async def test_a_request_without_an_answer_ends_in_time_and_the_server_is_told() -> None:
    async with process() as (connection, _):
        with pytest.raises(RequestTimeout, match=r"'fake'.*tools/call sleep.*0\.2 s") as error:
            await connection.call_tool("sleep", {"seconds": 30}, timeout=0.2)
        assert isinstance(error.value, TimeoutError)
        assert await text(connection, "echo", text="fine") == "fine"
        assert "notifications/cancelled" in await text(connection, "seen")


async def test_progress_gives_a_request_more_time() -> None:
    async with process() as (connection, _):
        arguments = {"seconds": 2.0, "step": 0.05}
        result = await connection.call_tool("sleep", arguments, timeout=1.0, on_progress=Told())
        assert result["content"][0]["text"] == "slept"


async def test_progress_gives_no_more_than_the_absolute_maximum() -> None:
    options = ConnectOptions(timeout=0.6, max_timeout=0.8, probe_timeout=10.0)
    async with process(choose=options) as (connection, _):
        started = time.monotonic()
        with pytest.raises(RequestTimeout):
            await connection.call_tool("sleep", {"seconds": 30}, on_progress=Told())
        assert 0.7 < time.monotonic() - started < 5


async def test_the_clock_stands_still_while_a_question_is_open() -> None:
    async def slowly(method: str, params: dict[str, Any], cause: Call | None) -> dict[str, Any]:
        await asyncio.sleep(1.2)
        return {"action": "decline"}

    params: dict[str, Any] = {"message": "?", "requestedSchema": {"type": "object", "properties": {}}}
    async with process(FakePeer(slowly)) as (connection, _):
        arguments = {"method": "elicitation/create", "params": params}
        result = await connection.call_tool("ask", arguments, timeout=0.8)
        assert json.loads(result["content"][0]["text"]) == {"result": {"action": "decline"}}


# -- cancelling ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_cancelling_the_waiting_task_tells_the_server(era: Any) -> None:
    async with scripted(
        client("tools/call"),
        client("notifications/cancelled", params={"requestId": is_id}),
        era=era,
    ) as (connection, script, _):
        task = asyncio.ensure_future(connection.call_tool("slow"))
        await script.until(lambda: script.methods()[-1] == "tools/call")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await script.played()
        assert script.sent[-1]["params"]["requestId"] == script.sent[-2]["id"]
        assert script.cancelled == [script.sent[-2]["id"]]
        # the answer that comes all the same is dropped
        script.say({"jsonrpc": "2.0", "id": script.sent[-2]["id"], "result": DONE})
        await asyncio.sleep(0)
        assert connection.state == "ready"


async def test_a_call_can_be_cancelled_by_its_handle() -> None:
    async with process() as (connection, peer):
        task = asyncio.ensure_future(connection.call_tool("sleep", {"seconds": 30}, on_progress=Told()))
        await peer.until(lambda: any(method == "notifications/progress" for method, _, _ in peer.notices))
        (call,) = connection.calls
        call.cancel()
        call.cancel()
        with pytest.raises(Cancelled, match="tools/call sleep was cancelled"):
            await task
        assert (await text(connection, "seen")).count("notifications/cancelled") == 1
        assert connection.calls == ()


async def test_a_server_that_was_told_stops_and_the_next_call_is_quick() -> None:
    async with process() as (connection, _):
        for _ in range(3):
            task = asyncio.ensure_future(connection.call_tool("sleep", {"seconds": 60}))
            await asyncio.sleep(0.05)
            task.cancel()
            await asyncio.wait([task])
            assert await text(connection, "echo", text="x") == "x"


async def test_a_call_answered_in_the_moment_it_is_cancelled_sends_nothing() -> None:
    async with scripted(client("tools/call"), client("ping"), server(result={})) as (connection, script, _):
        task = asyncio.ensure_future(connection.call_tool("quick"))
        await script.until(lambda: script.methods()[-1] == "tools/call")
        script.say({"jsonrpc": "2.0", "id": latest_id(script), "result": DONE})
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        await connection.ping()
        assert "notifications/cancelled" not in script.methods()


# -- the end of the server ----------------------------------------------------------------------------------------


async def test_a_death_during_a_call_may_have_done_it() -> None:
    async with process() as (connection, peer):
        with pytest.raises(ConnectionLost) as error:
            await connection.call_tool("die", {"code": 4, "stderr": "disk full\n"})
        lost = error.value
        assert (lost.may_have_run, lost.exit_code, lost.stderr) == (True, 4, ["disk full"])
        assert (
            str(lost) == "The server 'fake' exited with code 4 during tools/call die: disk full. It may have been run."
        )
        assert connection.state == "lost"
        assert peer.states[-1] == "lost"


async def test_a_death_while_idle_is_told_to_the_host_and_by_the_next_request_at_once() -> None:
    async with scripted(client("ping"), dies(9, "out of memory"), server(result={})) as (connection, script, peer):
        with pytest.raises(ConnectionLost):
            await connection.ping()
        assert peer.states[-1] == "lost"
        with pytest.raises(ConnectionLost, match="exited with code 9: out of memory") as error:
            await connection.call_tool("t")
        assert error.value.may_have_run is False
        assert error.value.stderr == ["out of memory"]
        assert connection.stderr == ["out of memory"]
        script.steps.clear()


async def test_the_last_answer_needs_no_newline() -> None:
    async with process() as (connection, _):
        assert await text(connection, "last", text="last words") == "last words"


async def test_a_server_that_closes_its_input_is_lost() -> None:
    async with process() as (connection, peer):
        await connection.call_tool("close_stdin")
        await peer.until(lambda: connection.state == "lost", 4)
        with pytest.raises(ConnectionLost, match="closed its input"):
            await connection.ping()


@pytest.mark.parametrize("times", [1, 2])
async def test_closing_ends_what_waits(times: int) -> None:
    async with process() as (connection, _):
        tasks = [asyncio.ensure_future(connection.call_tool("sleep", {"seconds": 60})) for _ in range(3)]
        await asyncio.sleep(0.05)
        await asyncio.gather(*(connection.close() for _ in range(times)))
        for outcome in await asyncio.gather(*tasks, return_exceptions=True):
            assert isinstance(outcome, ConnectionLost)
            assert outcome.may_have_run
            assert "was closed during tools/call sleep" in str(outcome)
        with pytest.raises(ConnectionLost, match="is closed"):
            await connection.ping()


async def test_connections_close_in_any_order() -> None:
    async with process() as (first, _), process() as (second, _), process() as (third, _):
        await second.close()
        await first.close()
        assert await text(third, "echo", text="still here") == "still here"


# -- rounds (modern) ----------------------------------------------------------------------------------------------

ELICIT: dict[str, Any] = {
    "method": "elicitation/create",
    "params": {"mode": "form", "message": "Seat?", "requestedSchema": {}},
}


def asks(requests: dict[str, Any] | None, state: str | None = "opaque \u2028") -> Any:
    result: dict[str, Any] = {"resultType": "input_required"}
    if requests is not None:
        result["inputRequests"] = requests
    if state is not None:
        result["requestState"] = state
    return server(result=result)


async def test_a_round_sends_the_same_request_again_with_answers_and_state() -> None:
    async def answer(method: str, params: dict[str, Any], cause: Call | None) -> dict[str, Any]:
        assert cause is not None
        assert (cause.method, cause.name, cause.arguments) == ("tools/call", "book", {"n": 2})
        return {"roots": []} if method == "roots/list" else {"action": "accept", "content": {"seat": "a"}}

    async with scripted(
        client("tools/call"),
        asks({"seat": ELICIT, "dirs": {"method": "roots/list"}}),
        client(
            "tools/call",
            params={
                "name": "book",
                "arguments": {"n": 2},
                "requestState": "opaque \u2028",
                "inputResponses": {"seat": {"action": "accept", "content": {"seat": "a"}}, "dirs": {"roots": []}},
            },
        ),
        server(result=COMPLETE),
        era="modern",
        peer=FakePeer(answer),
    ) as (connection, script, peer):
        assert await connection.call_tool("book", {"n": 2}) == COMPLETE
        first, second = script.sent[-2:]
        assert first["id"] != second["id"]
        assert "io.modelcontextprotocol/protocolVersion" in second["params"]["_meta"]
        assert len(peer.questions) == 2


async def test_the_questions_of_a_round_are_open_at_the_same_time() -> None:
    both = asyncio.Event()
    count = 0

    async def answer(method: str, params: dict[str, Any], cause: Call | None) -> dict[str, Any]:
        nonlocal count
        count += 1
        if count == 2:
            both.set()
        await asyncio.wait_for(both.wait(), 2)
        return {"action": "cancel"}

    async with process(FakePeer(answer), era="modern") as (connection, _):
        requests = {"a": ELICIT, "b": ELICIT}
        result = await connection.call_tool("want", {"requests": requests})
        assert json.loads(result["content"][0]["text"]) == [{"a": {"action": "cancel"}, "b": {"action": "cancel"}}]


async def test_a_refused_question_ends_the_call_and_withdraws_the_others() -> None:
    withdrawn = asyncio.Event()

    async def answer(method: str, params: dict[str, Any], cause: Call | None) -> dict[str, Any]:
        if method == "sampling/createMessage":
            raise InputRefused("The person said no to sampling.")
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            withdrawn.set()
            raise
        return {}

    sample: dict[str, Any] = {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}}
    async with scripted(
        client("tools/call"), asks({"a": ELICIT, "b": sample}), era="modern", peer=FakePeer(answer)
    ) as (connection, _, _peer):
        with pytest.raises(InputRefused, match="said no to sampling") as error:
            await connection.call_tool("t")
        assert error.value.server == "demo"
        assert withdrawn.is_set()


async def test_what_was_not_declared_ends_the_call_without_asking_anybody() -> None:
    sample: dict[str, Any] = {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}}
    peer = FakePeer(declared={"roots": {}})
    async with scripted(client("tools/call"), asks({"a": sample}), era="modern", peer=peer) as (connection, _, _p):
        with pytest.raises(InputRefused, match="did not declare sampling"):
            await connection.call_tool("t")
        assert peer.questions == []


async def test_an_error_instead_of_an_answer_ends_the_call_with_its_reason() -> None:
    async def answer(method: str, params: dict[str, Any], cause: Call | None) -> dict[str, Any]:
        raise RequestError("no model is configured", code=-32603)

    async with scripted(client("tools/call"), asks({"a": ELICIT}), era="modern", peer=FakePeer(answer)) as (
        connection,
        _,
        _p,
    ):
        with pytest.raises(InputRefused, match="no model is configured"):
            await connection.call_tool("t")


async def test_a_round_that_only_wants_time_is_asked_again_without_answers() -> None:
    async with scripted(
        client("tools/call"), asks(None), client("tools/call", params={"requestState": "opaque \u2028"}),
        server(result=COMPLETE), era="modern",
    ) as (connection, script, _):  # fmt: skip
        assert await connection.call_tool("t") == COMPLETE
        assert "inputResponses" not in script.sent[-1]["params"]


async def test_rounds_without_end_end() -> None:
    def forever(message: dict[str, Any]) -> list[dict[str, Any]]:
        result: dict[str, Any] = {"resultType": "input_required", "requestState": "x", "inputRequests": {"a": ELICIT}}
        return [{"jsonrpc": "2.0", "id": message["id"], "result": result}]

    async def answer(method: str, params: dict[str, Any], cause: Call | None) -> dict[str, Any]:
        return {"action": "decline"}

    async with scripted(era="modern", answer=forever, peer=FakePeer(answer), options=ConnectOptions(max_rounds=3)) as (
        connection,
        _,
        peer,
    ):
        with pytest.raises(RemoteProtocolError, match="came to no result"):
            await connection.call_tool("t")
        assert len(peer.questions) == 3


async def test_cancelling_between_rounds_withdraws_the_question() -> None:
    withdrawn = asyncio.Event()

    async def answer(method: str, params: dict[str, Any], cause: Call | None) -> dict[str, Any]:
        try:
            await asyncio.sleep(60)
        finally:
            withdrawn.set()
        return {}

    for by_handle in (True, False):
        withdrawn.clear()
        async with scripted(client("tools/call"), asks({"a": ELICIT}), era="modern", peer=FakePeer(answer)) as (
            connection,
            _,
            peer,
        ):
            task = asyncio.ensure_future(connection.call_tool("t"))
            await peer.until(lambda peer=peer: peer.questions)
            if by_handle:
                connection.calls[0].cancel()
                with pytest.raises(Cancelled):
                    await task
            else:
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            assert withdrawn.is_set()


# -- pages to be opened first (2025-11-25) ------------------------------------------------------------------------


async def test_url_elicitation_required_is_asked_and_the_call_sent_again() -> None:
    async def answer(method: str, params: dict[str, Any], cause: Call | None) -> dict[str, Any]:
        assert params["url"] == "https://x/login"
        return {"action": "accept"}

    page = {"mode": "url", "elicitationId": "e1", "url": "https://x/login", "message": "Log in"}
    error = {"code": -32042, "message": "log in first", "data": {"elicitations": [page]}}
    async with scripted(
        client("tools/call"), server(error=error), client("tools/call"), server(result=DONE), peer=FakePeer(answer)
    ) as (connection, _, _peer):
        assert await connection.call_tool("t") == DONE


async def test_a_page_that_is_not_opened_ends_the_call() -> None:
    async def answer(method: str, params: dict[str, Any], cause: Call | None) -> dict[str, Any]:
        return {"action": "decline"}

    error = {"code": -32042, "message": "log in first", "data": {"elicitations": [{"url": "https://x"}]}}
    async with scripted(client("tools/call"), server(error=error), peer=FakePeer(answer)) as (connection, _, _peer):
        with pytest.raises(InputRefused, match="log in first"):
            await connection.call_tool("t")
