"""What HTTP brings to a connection: eras found out by statuses, requests that fail alone, sessions that end."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from jupyter_mcp.client import failures, opening
from jupyter_mcp.client.connection import Connection
from jupyter_mcp.errors import ConnectionFailed, ConnectionLost, RemoteProtocolError, RequestError
from jupyter_mcp.protocol import probe_http
from jupyter_mcp.protocol.secrets import redact_text
from jupyter_mcp.transport.base import Refused, SessionEnded
from jupyter_mcp.transport.mock import ScriptTransport, Step, client, fails, server
from tests.client.peer import QUICK, FakePeer, legacy_start, modern_start, scripted, silent, transports

pytestmark = pytest.mark.anyio

DONE = {"content": [{"type": "text", "text": "fine"}]}
COMPLETE = {"resultType": "complete", **DONE}
TOOLS: dict[str, Any] = {"tools": {}}
BAD_GATEWAY = Refused(502, "Bad Gateway", "The upstream is away")


@pytest.fixture(autouse=True)
def _nothing_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "_remembered", {})


def http(*steps: Step, **more: Any) -> ScriptTransport:
    return ScriptTransport(*steps, kind="http", key=("http", "one"), **more)


async def opened(*scripts: ScriptTransport) -> tuple[Connection, FakePeer]:
    peer = FakePeer()
    connection = Connection("demo", transports(*scripts), QUICK, peer)
    await connection.open()
    return connection, peer


async def refused(*scripts: ScriptTransport) -> ConnectionFailed:
    with pytest.raises(ConnectionFailed) as caught:
        await opened(*scripts)
    for script in scripts:
        script.check()
        assert script.closed
    return caught.value


# -- eras ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [400, 404, 405, 406, 415, 500, 502, 503])
async def test_a_status_without_a_message_to_the_probe_leads_to_the_handshake(status: int) -> None:
    script = http(client("server/discover"), fails(Refused(status, "No", "{'code': 'odd'}")), *legacy_start(TOOLS))
    connection, peer = await opened(script)
    assert (connection.era, peer.notes) == ("legacy", [])
    await connection.close()


@pytest.mark.parametrize("how", ["stream", "garbage"])
async def test_an_answer_to_the_probe_that_is_none_leads_to_the_handshake(how: str) -> None:
    error = ConnectionLost("The stream ended.") if how == "stream" else RemoteProtocolError("That is no message.")
    script = http(client("server/discover"), fails(error), *legacy_start(TOOLS))
    connection, _ = await opened(script)
    assert connection.era == "legacy"
    await connection.close()


@pytest.mark.parametrize("method", ["server/discover", "initialize"])
@pytest.mark.parametrize(("status", "hint"), [(401, "--bearer"), (403, "--header"), (407, "proxy"), (429, "wait")])
async def test_who_we_are_is_not_a_question_of_the_era(method: str, status: int, hint: str) -> None:
    before: list[Step] = [] if method == "server/discover" else [client("server/discover"), fails(Refused(404))]
    script = http(*before, client(method), fails(Refused(status, "No", "who?")))
    error = await refused(script)
    assert (error.status, error.body, error.server) == (status, "who?", "demo")
    assert f"answered {method} with HTTP {status} No (who?)." in str(error)
    assert hint in str(error)


CHALLENGE = 'Bearer error="invalid_token"'


@pytest.mark.parametrize(
    ("refusal", "said", "other"),
    [
        (Refused(401), "give it a token", "was given"),
        (Refused(401, challenge="Bearer"), "give it a token", "was given"),
        (Refused(401, authorized=True), "does not take the token it was given", "give it"),
        (Refused(401, challenge=CHALLENGE), "does not take the token it was given", "give it"),
    ],
)
async def test_no_token_and_a_wrong_one_are_two_things(refusal: Refused, said: str, other: str) -> None:
    at_first = str(await refused(http(client("server/discover"), fails(refusal))))
    assert said in at_first and other not in at_first
    async with scripted(client("tools/call"), fails(refusal), kind="http") as (connection, _, _peer):
        with pytest.raises(ConnectionLost, match=said) as caught:
            await connection.call_tool("probe")
        assert other not in str(caught.value) and caught.value.status == 401


async def test_a_refusal_that_says_what_to_do_is_given_no_second_advice() -> None:
    moved = Refused(307, "Temporary Redirect", "it redirects to http://x/mcp; use that URL", advised=True)
    error = await refused(http(client("server/discover"), fails(moved), client("initialize"), fails(moved)))
    assert str(error) == (
        "The server 'demo' answered initialize with HTTP 307 Temporary Redirect "
        "(it redirects to http://x/mcp; use that URL)."
    )


async def test_a_server_that_cannot_be_reached_is_no_verdict_and_ends_it_at_once() -> None:
    away = ConnectionLost("127.0.0.1:1 refused the connection.", may_have_run=False, hint="Is it running?")
    error = await refused(http(client("server/discover"), fails(away)))
    assert str(error) == "The server 'demo' cannot be reached: 127.0.0.1:1 refused the connection. Is it running?"
    assert opening.remembered(("http", "one")) is None


async def test_that_nobody_is_there_is_known_from_whichever_request_says_so_first() -> None:
    script = http(client("server/discover"), client("initialize"))
    error = asyncio.ensure_future(refused(script))
    await script.until(lambda: "initialize" in script.methods())
    script.fail(script.sent[0]["id"], ConnectionLost("x took no connection.", may_have_run=False))
    async with asyncio.timeout(30):
        assert "cannot be reached: x took no connection." in str(await error)


async def test_a_modern_error_is_answered_in_the_modern_era() -> None:
    no = server(error={"code": -32022, "message": "no", "data": {"supported": ["1999-01-01"]}})
    error = await refused(http(client("server/discover"), no))
    assert "1999-01-01" in str(error)


async def test_who_insists_on_the_modern_era_is_told_the_status() -> None:
    script = http(client("server/discover"), fails(Refused(404, "Not Found")))
    connection = Connection("demo", transports(script), QUICK.__class__(era="modern"), FakePeer())
    with pytest.raises(ConnectionFailed, match=r"does not speak the modern era: it answered .* HTTP 404"):
        await connection.open()


async def test_the_older_transport_is_tried_where_the_newer_ones_are_refused_and_remembered() -> None:
    def old() -> ScriptTransport:
        return ScriptTransport(*legacy_start(TOOLS, "2024-11-05"), kind="sse", key=("sse", "one"))

    first = http(client("server/discover"), fails(Refused(404)), client("initialize"), fails(Refused(405)), older=old())
    connection, _ = await opened(first)
    assert (connection.era, connection.revision) == ("legacy", "2024-11-05")
    assert connection.link is not None and connection.link.transport.kind == "sse"
    assert first.closed
    await connection.close()

    second = http(older=old())
    connection, _ = await opened(second)
    assert second.sent == []
    await connection.close()


async def test_a_server_that_became_modern_since_is_not_asked_in_the_old_way_for_ever() -> None:
    opening.remember(("http", "one"), "sse")
    gone = ScriptTransport(kind="sse", refuses=ConnectionFailed("There is no event stream at this URL."))
    connection, _ = await opened(http(older=gone), http(*modern_start(TOOLS)))
    assert connection.era == "modern"
    assert opening.remembered(("http", "one")) is None
    await connection.close()


async def test_a_url_that_speaks_nothing_says_both_and_where_to_look() -> None:
    older = ScriptTransport(kind="sse", refuses=ConnectionFailed("There is no event stream at this URL (HTTP 404)."))
    page = Refused(404, "Not Found", "Nothing here")
    error = await refused(http(client("server/discover"), fails(page), client("initialize"), fails(page), older=older))
    assert error.status == 404
    assert "answered initialize with HTTP 404 Not Found (Nothing here), and does not speak HTTP+SSE there" in str(error)
    assert "often ends in /mcp" in str(error)


async def test_a_url_that_speaks_nothing_says_one_status_once() -> None:
    nothing = ConnectionFailed("The server has no event stream at this URL (HTTP 404).", status=404)
    older = ScriptTransport(kind="sse", refuses=nothing)
    page = Refused(404, "Not Found", "Nothing here")
    error = await refused(http(client("server/discover"), fails(page), client("initialize"), fails(page), older=older))
    assert "(Nothing here), and does not speak HTTP+SSE there. Is this the URL" in str(error)


@pytest.mark.parametrize(("status", "hinted"), [(200, True), (204, True), (301, True), (501, True), (500, False)])
async def test_a_page_where_an_answer_is_due_makes_one_doubt_the_url(status: int, hinted: bool) -> None:
    page = Refused(status, "Well", "Welcome")
    error = await refused(http(client("server/discover"), fails(page), client("initialize"), fails(page)))
    assert ("Is this the URL of its MCP endpoint?" in str(error)) == hinted
    assert ("which holds no message (Welcome)" in str(error)) == (status < 300)


@pytest.mark.parametrize(
    "hint",
    [*probe_http.HINTS.values(), *failures.HINTS.values(), probe_http.who_asks(False), probe_http.who_asks(True)],
)
def test_what_is_advised_survives_the_masking_of_secrets(hint: str) -> None:
    assert redact_text(hint) == hint


async def test_who_insists_on_streamable_http_is_not_led_away_from_it() -> None:
    error = await refused(
        http(client("server/discover"), fails(Refused(404)), client("initialize"), fails(Refused(404)))
    )
    assert error.status == 404


async def test_a_broken_server_is_not_asked_in_an_older_way() -> None:
    older = ScriptTransport(kind="sse")
    script = http(client("server/discover"), fails(BAD_GATEWAY), client("initialize"), fails(BAD_GATEWAY), older=older)
    assert (await refused(script)).status == 502
    assert not older.closed  # never used


async def test_the_older_transport_is_always_of_the_legacy_era() -> None:
    script = ScriptTransport(*legacy_start(TOOLS), kind="sse", key=("sse", "one"))
    connection, _ = await opened(script)
    assert script.methods() == ["initialize", "notifications/initialized"]
    await connection.close()


async def test_a_late_failure_of_the_probe_does_not_disturb_the_handshake() -> None:
    script = http(client("server/discover"), client("initialize"))
    opening_it = asyncio.ensure_future(opened(script))
    await script.until(lambda: len(script.sent) == 2)
    script.fail(script.sent[0]["id"], ConnectionLost("The stream ended."))
    result: dict[str, Any] = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {}}
    script.steps.append(client("notifications/initialized"))
    script.say({"jsonrpc": "2.0", "id": script.sent[1]["id"], "result": result})
    connection, _ = await opening_it
    assert connection.era == "legacy"
    await connection.close()


async def test_a_half_modern_server_gets_its_handshake_on_the_same_link_and_is_remembered() -> None:
    script = http(
        *modern_start(TOOLS),
        client("tools/call"), server(error={"code": -32600, "message": "initialize is required"}),
        *legacy_start(TOOLS),
        client("tools/call", params={"name": "t"}), server(result=DONE),
    )  # fmt: skip
    connection, peer = await opened(script)
    assert await connection.call_tool("t") == DONE
    assert connection.era == "legacy"
    assert any("used in the legacy era from now on" in note for note in peer.notes)
    assert opening.remembered(("http", "one")) == "legacy"
    assert not script.closed
    await connection.close()
    script.check()


# -- requests that fail alone -------------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_page_instead_of_an_answer_costs_that_call_only(era: Any) -> None:
    good = DONE if era == "legacy" else COMPLETE
    async with scripted(
        client("tools/call"), fails(BAD_GATEWAY), client("tools/call"), server(result=good), era=era, kind="http"
    ) as (connection, _, peer):
        with pytest.raises(ConnectionLost) as caught:
            await connection.call_tool("probe")
        error = caught.value
        assert str(error) == (
            "The server 'demo' did not answer tools/call probe: HTTP 502 Bad Gateway (The upstream is away)."
            " It may have been run."
        )
        assert (error.status, error.body, error.may_have_run) == (502, "The upstream is away", True)
        assert connection.state == "ready"
        assert await connection.call_tool("probe") == good
        assert "lost" not in peer.states


@pytest.mark.parametrize(
    ("status", "ran"), [(400, False), (401, False), (413, False), (429, False), (500, True), (501, False), (200, True)]
)
async def test_whether_a_refused_call_may_have_run_is_said(status: int, ran: bool) -> None:
    async with scripted(client("tools/call"), fails(Refused(status)), kind="http") as (connection, _, _peer):
        with pytest.raises(ConnectionLost, match="may have been run" if ran else "was not run") as caught:
            await connection.call_tool("probe")
        assert caught.value.may_have_run is ran


async def test_a_stream_that_ends_without_the_response_is_told_at_once() -> None:
    ended = ConnectionLost("The stream from x ended without a response to tools/call.")
    async with scripted(client("tools/call"), fails(ended), kind="http") as (connection, _, _peer):
        with pytest.raises(ConnectionLost, match="ended without a response") as caught:
            await connection.call_tool("probe")
        assert (caught.value.server, caught.value.may_have_run, connection.state) == ("demo", True, "ready")


async def test_an_answer_that_is_too_large_says_how_to_raise_the_limit() -> None:
    large = RemoteProtocolError("The server sent an event larger than the limit of 1 MiB.", hint="Connect with …")
    async with scripted(client("tools/call"), fails(large), kind="http") as (connection, _, _peer):
        with pytest.raises(RemoteProtocolError, match="Connect with") as caught:
            await connection.call_tool("probe")
        assert caught.value.server == "demo"


async def test_a_server_that_nobody_answers_for_is_lost_and_what_is_in_flight_ends_by_itself() -> None:
    away = ConnectionLost("x refused the connection.", may_have_run=False)
    async with scripted(client("tools/call", params={"name": "slow"}), client("tools/call"), kind="http") as (
        connection,
        script,
        _,
    ):
        slow = asyncio.ensure_future(connection.call_tool("slow"))
        await script.until(lambda: script.methods().count("tools/call") == 1)
        quick = asyncio.ensure_future(connection.call_tool("quick"))
        await script.until(lambda: script.methods().count("tools/call") == 2)
        script.fail(script.sent[-1]["id"], away)
        with pytest.raises(ConnectionLost, match=r"x refused the connection\. It was not run\."):
            await quick
        assert connection.state == "lost"
        with pytest.raises(ConnectionLost, match="cannot be reached"):
            await connection.call_tool("another")
        script.say({"jsonrpc": "2.0", "id": script.sent[-2]["id"], "result": DONE})
        assert await slow == DONE


# -- sessions -----------------------------------------------------------------------------------------------------


RESOURCES: dict[str, Any] = {"tools": {"listChanged": True}, "resources": {"subscribe": True}, "prompts": {}}


async def test_an_ended_session_is_begun_anew_and_what_is_safe_sent_again() -> None:
    async with scripted(
        client("resources/read"), fails(SessionEnded()),
        *legacy_start(RESOURCES), client("resources/read"), server(result={"contents": []}),
        capabilities=RESOURCES, kind="http",
    ) as (connection, _, peer):  # fmt: skip
        assert await connection.read("n://a") == {"contents": []}
        assert connection.state == "ready"
        assert peer.notes == ["The server ended the session; a new one was begun."]


async def test_a_call_is_not_repeated_in_a_new_session_unless_it_only_reads() -> None:
    tools = [
        {"name": "look", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}},
        {"name": "buy", "inputSchema": {"type": "object"}},
    ]
    async with scripted(
        client("tools/list"), server(result={"tools": tools}),
        client("tools/call"), fails(SessionEnded()), *legacy_start(TOOLS),
        client("tools/call", params={"name": "look"}), server(result=DONE),
        client("tools/call", params={"name": "buy"}), fails(SessionEnded()), *legacy_start(TOOLS),
        kind="http", answer=silent,
    ) as (connection, script, _):  # fmt: skip
        await connection.list("tools")
        assert await connection.call_tool("look") == DONE
        with pytest.raises(ConnectionLost, match="ended the session before tools/call buy; a new session") as caught:
            await connection.call_tool("buy")
        assert caught.value.may_have_run is False
        assert "It was not run. Do it again" in str(caught.value)
        assert script.steps == []


async def test_all_who_notice_share_one_new_session() -> None:
    async with scripted(capabilities=RESOURCES, kind="http", answer=silent) as (connection, script, _):
        reads = [asyncio.ensure_future(connection.read(f"n://{number}")) for number in range(5)]
        await script.until(lambda: script.methods().count("resources/read") == 5)
        for message in script.sent[-5:]:
            script.fail(message["id"], SessionEnded())
        await script.until(lambda: script.methods().count("initialize") == 2)
        during = asyncio.ensure_future(connection.read("n://5"))
        result: dict[str, Any] = {"protocolVersion": "2025-11-25", "capabilities": RESOURCES, "serverInfo": {}}
        script.say({"jsonrpc": "2.0", "id": script.sent[-1]["id"], "result": result})
        await script.until(lambda: script.methods().count("resources/read") == 11)
        assert script.methods().count("initialize") == 2
        for message in script.sent[-6:]:
            script.say({"jsonrpc": "2.0", "id": message["id"], "result": {"contents": [message["params"]["uri"]]}})
        assert [(await read)["contents"] for read in reads] == [[f"n://{number}"] for number in range(5)]
        assert (await during)["contents"] == ["n://5"]


@pytest.mark.parametrize(
    ("code", "message"),
    [(-32001, "Session not found"), (-32000, "Bad Request: No valid session ID provided"), (-32600, "Unknown session")],
)
async def test_an_error_that_means_the_session_is_taken_for_it(code: int, message: str) -> None:
    async with scripted(
        client("ping"), server(error={"code": code, "message": message}),
        *legacy_start(TOOLS), client("ping"), server(result={}),
        kind="http",
    ) as (connection, _, _peer):  # fmt: skip
        await connection.ping()


async def test_over_a_pipe_no_error_is_about_a_session() -> None:
    async with scripted(client("ping"), server(error={"code": -32001, "message": "Session not found"})) as (
        connection,
        _,
        _peer,
    ):
        with pytest.raises(RequestError, match="Session not found"):
            await connection.ping()


async def test_a_server_that_forgets_every_session_at_once_is_not_asked_for_ever() -> None:
    async with scripted(
        client("ping"), fails(SessionEnded()), *legacy_start(TOOLS), client("ping"), fails(SessionEnded()), kind="http"
    ) as (connection, script, _):
        with pytest.raises(ConnectionLost, match="did not know it at once"):
            await connection.ping()
        assert script.methods().count("initialize") == 2


async def test_a_session_that_cannot_be_begun_anew_loses_the_connection() -> None:
    async with scripted(
        client("ping"), fails(SessionEnded()), client("initialize"), fails(Refused(503, "Busy")), kind="http"
    ) as (connection, _, peer):
        with pytest.raises(ConnectionFailed, match="HTTP 503 Busy"):
            await connection.ping()
        assert connection.state == "lost"
        assert peer.states[-1] == "lost"


async def test_lists_and_watches_are_renewed_with_the_session() -> None:
    got: list[str] = []
    async with scripted(
        client("tools/list"), server(result={"tools": [{"name": "old"}]}),
        client("resources/subscribe"), server(result={}),
        client("prompts/list"), fails(SessionEnded()),
        *legacy_start(RESOURCES),
        capabilities=RESOURCES, kind="http", answer=silent,
    ) as (connection, script, peer):  # fmt: skip
        await connection.list("tools")
        await connection.watch("n://a", got.append)
        listing = asyncio.ensure_future(connection.list("prompts"))
        wanted = ("resources/subscribe", "prompts/list", "tools/list")
        await script.until(lambda: all(script.methods().count(method) == 2 for method in wanted))
        old = connection.listing("tools")
        assert old is not None and old.items[0]["name"] == "old"  # to be looked at until it is read again
        answers: dict[str, Any] = {
            "resources/subscribe": {},
            "prompts/list": {"prompts": []},
            "tools/list": {"tools": [{"name": "new"}]},
        }
        for message in script.sent[-3:]:
            script.say({"jsonrpc": "2.0", "id": message["id"], "result": answers[message["method"]]})
        assert (await listing).items == []
        await peer.until(lambda: (now := connection.listing("tools")) is not None and now.items[0]["name"] == "new")
        await peer.until(lambda: got == ["n://a"])  # it may have changed unseen


# -- headers ------------------------------------------------------------------------------------------------------


def tool(name: str, annotation: Any) -> dict[str, Any]:
    place = {"type": "string", "x-mcp-header": annotation}
    return {"name": name, "inputSchema": {"type": "object", "properties": {"place": place}}}


def tools(*listed: dict[str, Any]) -> Any:
    return server(result={"resultType": "complete", "tools": list(listed), "ttlMs": 0, "cacheScope": "private"})


async def test_a_tool_whose_headers_are_invalid_is_dropped_with_the_reason_and_the_others_are_learned() -> None:
    listed = tools(tool("good", "Place"), tool("bad", "no token"), {"name": "plain", "inputSchema": {}})
    async with scripted(client("tools/list"), listed, era="modern", kind="http") as (connection, script, _):
        listing = await connection.list("tools")
        assert [item["name"] for item in listing.items] == ["good", "plain"]
        assert [problem.name for problem in listing.problems] == ["bad"]
        assert "it is not offered" in listing.problems[0].reason
        assert script.learned == listing.items


@pytest.mark.parametrize(("era", "kind"), [("legacy", "http"), ("modern", "stdio")])
async def test_where_there_are_no_such_headers_the_tool_is_offered(era: Any, kind: str) -> None:
    async with scripted(client("tools/list"), tools(tool("bad", "no token")), era=era, kind=kind) as (
        connection,
        script,
        _,
    ):
        assert len((await connection.list("tools")).items) == 1
        assert script.learned is None


MISMATCH = server(error={"code": -32020, "message": "Header mismatch: Mcp-Param-Place is missing"})


async def test_headers_made_from_an_old_schema_are_made_anew_once() -> None:
    async with scripted(
        client("tools/call"), MISMATCH,
        client("tools/list"), tools(tool("go", "Place")),
        client("tools/call"), server(result=COMPLETE),
        client("tools/call"), MISMATCH,
        client("tools/list"), tools(tool("go", "Place")),
        client("tools/call"), MISMATCH,
        era="modern", kind="http",
    ) as (connection, script, _):  # fmt: skip
        assert await connection.call_tool("go", {"place": "x"}) == COMPLETE
        assert script.learned is not None and script.learned[0]["name"] == "go"
        with pytest.raises(RequestError, match="Header mismatch"):
            await connection.call_tool("go", {"place": "x"})
