"""Finding out how a server speaks, and what happens when it cannot be found out."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import Any

import pytest

from jupyter_mcp.client import opening
from jupyter_mcp.client.connection import Connection, ConnectOptions
from jupyter_mcp.errors import ConnectionFailed, ConnectionLost, RequestError
from jupyter_mcp.transport.mock import ScriptTransport, client, dies, noise, server, stderr
from jupyter_mcp.transport.stdio import StdioTransport
from tests import fakes
from tests.client.peer import PATIENT, QUICK, FakePeer, legacy_start, modern_start, process, scripted, text, transports

pytestmark = pytest.mark.anyio

SHORT = ConnectOptions(probe_timeout=0.3)


@pytest.fixture(autouse=True)
def _nothing_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "_remembered", {})


def no(code: int = -32601, message: str = "Method not found", **extra: Any) -> Any:
    return server(error={"code": code, "message": message, **extra})


async def opened(*scripts: ScriptTransport, options: ConnectOptions = QUICK) -> tuple[Connection, FakePeer]:
    peer = FakePeer()
    connection = Connection("demo", transports(*scripts), options, peer)
    await connection.open()
    return connection, peer


async def test_a_modern_server_is_asked_once_and_ready() -> None:
    script = ScriptTransport(*modern_start({"tools": {}}))
    connection, peer = await opened(script)
    assert (connection.era, connection.revision, connection.info["name"]) == ("modern", "2026-07-28", "s")
    assert script.methods() == ["server/discover"]
    meta = script.sent[0]["params"]["_meta"]
    assert meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
    assert meta["io.modelcontextprotocol/clientInfo"]["name"] == "jupyter-mcp"
    assert peer.states == ["starting", "ready"]
    await connection.close()
    assert peer.states[-1] == "closed"


@pytest.mark.parametrize("code", [-32601, -32602, -32600, -32000, 1])
async def test_any_error_to_the_probe_leads_to_the_handshake(code: int) -> None:
    script = ScriptTransport(client("server/discover"), no(code), *legacy_start({"tools": {}}))
    connection, _ = await opened(script)
    assert (connection.era, connection.revision) == ("legacy", "2025-11-25")
    script.check()
    await connection.close()


async def test_a_server_silent_on_the_probe_is_legacy_after_a_short_wait() -> None:
    async with process(choose=SHORT, discover="silent") as (connection, _):
        assert connection.era == "legacy"
        assert await text(connection, "echo", text="fine") == "fine"


async def test_a_silent_server_is_remembered_and_not_probed_again() -> None:
    async with process(choose=SHORT, discover="silent"):
        pass
    async with process(choose=SHORT, discover="silent") as (connection, _):
        assert "server/discover" not in await text(connection, "seen")


async def test_what_is_remembered_is_forgotten_when_it_is_wrong() -> None:
    command, args = fakes.command(era="modern")
    transport = StdioTransport(command, args)
    opening.remember(transport.key, "legacy")
    connection = Connection("fake", lambda: StdioTransport(command, args), PATIENT, FakePeer())
    await connection.open()
    assert connection.era == "modern"
    await connection.close()


async def test_a_server_that_dies_of_the_probe_is_started_again() -> None:
    async with process(discover="exit") as (connection, peer):
        assert connection.era == "legacy"
        assert await text(connection, "seen") == '["initialize", "notifications/initialized", "tools/call"]'
        assert any("started again" in note for note in connection.notes)
        assert peer.notes == connection.notes


async def test_a_late_answer_to_the_probe_is_used() -> None:
    script = ScriptTransport(client("server/discover"), client("initialize"))
    peer = FakePeer()
    connection = Connection("demo", transports(script), QUICK, peer)
    opening_task = asyncio.ensure_future(connection.open())
    await script.until(lambda: len(script.sent) == 2)
    late: dict[str, Any] = {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {}}
    script.say({"jsonrpc": "2.0", "id": script.sent[0]["id"], "result": late})
    await opening_task
    assert connection.era == "modern"
    # the answer to initialize, when it comes at last, disturbs nothing
    script.say({"jsonrpc": "2.0", "id": script.sent[1]["id"], "result": {"protocolVersion": "2025-11-25"}})
    await asyncio.sleep(0)
    assert connection.state == "ready"
    await connection.close()


async def test_a_refusal_of_initialize_for_its_version_leads_back_to_the_modern_era() -> None:
    script = ScriptTransport(
        client("server/discover"),
        client("initialize"),
        no(-32022, "Unsupported protocol version", data={"supported": ["2026-07-28"], "requested": "2025-11-25"}),
        *modern_start(),
    )
    connection, _ = await opened(script)
    assert connection.era == "modern"
    script.check()
    await connection.close()


@pytest.mark.parametrize("method", ["initialize", "server/discover"])
async def test_no_common_revision_names_both_lists_and_closes(method: str) -> None:
    if method == "initialize":
        steps = [
            client("server/discover"),
            no(),
            client("initialize"),
            server(result={"protocolVersion": "1999-01-01"}),
        ]
    else:
        data = {"supported": ["2030-01-01"], "requested": "2026-07-28"}
        steps = [client("server/discover"), no(-32022, "unsupported", data=data)]
    script = ScriptTransport(*steps)
    with pytest.raises(ConnectionFailed, match=r"(1999-01-01|2030-01-01).*2024-11-05.*2026-07-28") as error:
        await opened(script)
    assert error.value.server == "demo"
    assert script.closed


async def test_traffic_before_the_answer_to_initialize_is_no_matter() -> None:
    script = ScriptTransport(
        client("initialize"),
        server("notifications/message", params={"level": "info", "data": "boot"}),
        server("ping", id="s1"),
        client(id="s1", result={}),
        server("notifications/tools/list_changed", params=[]),
        server(id=1, result={"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {}}),
        client("notifications/initialized"),
    )
    connection, peer = await opened(script, options=ConnectOptions(era="legacy"))
    script.check()
    assert [method for method, _, _ in peer.notices] == ["notifications/message", "notifications/tools/list_changed"]
    await connection.close()


async def test_odd_answers_to_initialize_are_read_with_tolerance() -> None:
    script = ScriptTransport(
        client("initialize"),
        server(
            result={"protocolVersion": "2025-06-18", "capabilities": {"tools": True, "tasks": 1}, "serverInfo": None}
        ),
        client("notifications/initialized"),
    )
    connection, _ = await opened(script, options=ConnectOptions(era="legacy"))
    assert connection.revision == "2025-06-18"
    assert connection.info == {}
    await connection.close()


async def test_an_exit_at_once_fails_quickly_with_code_last_words_and_hint() -> None:
    started = time.monotonic()
    with pytest.raises(ConnectionFailed) as error:
        async with process(start={"stderr": "loading\nfatal: setting WEATHER_TOKEN is missing\n", "exit": 3}):
            pass
    assert time.monotonic() - started < 5
    failed = error.value
    assert failed.exit_code == 3
    assert failed.stderr == ["loading", "fatal: setting WEATHER_TOKEN is missing"]
    assert failed.server == "fake"
    assert "code 3" in str(failed)
    assert "WEATHER_TOKEN is missing" in str(failed)
    assert "--env WEATHER_TOKEN" in str(failed)
    assert "\n" not in str(failed)


async def test_a_server_of_an_old_sdk_says_what_it_needs() -> None:
    trace = "Traceback…\nAttributeError: 'Server' object has no attribute 'list_tools'\n"
    with pytest.raises(ConnectionFailed, match="mcp<2"):
        async with process(start={"stderr": trace, "exit": 1}):
            pass


async def test_a_program_that_is_no_server_is_recognised_by_what_it_prints() -> None:
    with pytest.raises(ConnectionFailed, match=r"usage: tool.*is it an MCP server"):
        async with process(start={"stdout": "usage: tool [-h]\n", "exit": 0}):
            pass


async def test_a_missing_command_fails_at_once_and_names_it() -> None:
    connection = Connection("x", lambda: StdioTransport("no-such-server-xyz"), QUICK, FakePeer())
    with pytest.raises(ConnectionFailed, match=r"'x'.*no-such-server-xyz"):
        await connection.open()
    assert connection.state == "closed"
    with pytest.raises(ConnectionLost):
        await connection.ping()


async def test_a_server_silent_on_everything_fails_at_the_start_up_limit() -> None:
    options = ConnectOptions(startup_timeout=0.4, probe_timeout=0.1)
    script = ScriptTransport(client("server/discover"), client("initialize"), stderr("still loading"))
    with pytest.raises(ConnectionFailed, match=r"did not answer initialize within 0\.4 s"):
        await opened(script, options=options)
    assert script.closed


async def test_a_slow_start_is_not_taken_for_silence_of_the_handshake() -> None:
    options = ConnectOptions(startup_timeout=8.0, probe_timeout=0.2)
    async with process(choose=options, start={"sleep": 1.0}) as (connection, _):
        assert connection.era == "legacy"


async def test_the_person_is_told_that_it_starts() -> None:
    said: list[str] = []
    connection = Connection("demo", transports(ScriptTransport(*modern_start())), QUICK, FakePeer())
    await connection.open(said.append)
    assert said == ["starting…"]
    await connection.close()


async def test_noise_before_the_answer_is_skipped_and_noted_once() -> None:
    script = ScriptTransport(noise("Starting demo v0"), noise("[info] loaded"), *modern_start())
    connection, _ = await opened(script)
    assert list(connection.noise) == ["Starting demo v0", "[info] loaded"]
    assert len(connection.notes) == 1
    assert "'Starting demo v0'" in connection.notes[0]
    await connection.close()


async def test_a_death_during_the_handshake_after_a_silent_probe_starts_it_again() -> None:
    first = ScriptTransport(client("server/discover"), client("initialize"), dies(1, "confused"))
    second = ScriptTransport(*legacy_start({"tools": {}}))
    connection, _ = await opened(first, second)
    assert connection.era == "legacy"
    second.check()
    await connection.close()


async def test_a_death_right_after_the_handshake_is_a_failure_to_connect() -> None:
    result: dict[str, Any] = {"protocolVersion": "2025-11-25", "capabilities": {}}
    script = ScriptTransport(client("initialize"), server(result=result), dies(1, "no licence"))
    with pytest.raises(ConnectionFailed, match=r"no licence|right after the handshake") as error:
        await opened(script, options=ConnectOptions(era="legacy"))
    assert error.value.exit_code == 1
    assert error.value.stderr == ["no licence"]


async def test_a_cancelled_opening_leaves_nothing_behind() -> None:
    script = ScriptTransport(client("server/discover"))
    peer = FakePeer()
    connection = Connection("demo", transports(script), ConnectOptions(probe_timeout=60), peer)
    task = asyncio.ensure_future(connection.open())
    await script.until(lambda: bool(script.sent))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0)
    assert script.closed
    assert connection.state == "closed"


async def test_closing_while_it_opens_ends_the_opening() -> None:
    script = ScriptTransport(client("server/discover"))
    connection = Connection("demo", transports(script), ConnectOptions(probe_timeout=60), FakePeer())
    task = asyncio.ensure_future(connection.open())
    await script.until(lambda: bool(script.sent))
    await connection.close()
    with pytest.raises(ConnectionFailed, match="closed"):
        await task
    assert connection.state == "closed"


async def test_a_closed_connection_opens_again() -> None:
    legacy = ScriptTransport(client("server/discover"), no(), *legacy_start())
    connection, peer = await opened(ScriptTransport(*modern_start()), legacy)
    await connection.close()
    await connection.open()
    assert connection.era == "legacy"
    assert peer.states == ["starting", "ready", "closed", "starting", "ready"]
    legacy.check()
    await connection.close()


async def test_a_half_modern_server_is_given_its_handshake_once() -> None:
    async with process(era="half") as (connection, _):
        assert connection.era == "modern"
        answers = await asyncio.gather(*(text(connection, "echo", text=str(number)) for number in range(5)))
        assert answers == ["0", "1", "2", "3", "4"]
        assert connection.era == "legacy"
        assert (await text(connection, "seen")).count("initialize") == 2  # initialize and notifications/initialized
        assert sum("handshake" in note for note in connection.notes) == 1


async def test_a_server_that_is_modern_in_its_lists_only_is_started_again() -> None:
    async with process(era="half lists") as (connection, peer):
        assert "echo" in [tool["name"] for tool in (await connection.list("tools")).items]
        answers = await asyncio.gather(*(text(connection, "echo", text=str(number)) for number in range(3)))
        assert answers == ["0", "1", "2"]
        assert (connection.era, connection.state) == ("legacy", "ready")
        assert "closed" not in peer.states and "lost" not in peer.states
        assert "echo" in [tool["name"] for tool in (await connection.list("tools")).items]
        await connection.close()
        await connection.open()
        assert connection.era == "legacy"  # the detour is made once


async def test_a_caller_who_goes_away_does_not_leave_the_server_between_two_eras() -> None:
    async with process(era="half lists") as (connection, peer):
        call = asyncio.create_task(text(connection, "echo", text="a"))
        await asyncio.wait_for(peer.noted.wait(), 10)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert await text(connection, "echo", text="b") == "b"
        assert connection.era == "legacy"


async def test_who_insists_on_the_modern_era_is_told_what_is_wrong_with_a_half_modern_server() -> None:
    async with process(choose=replace(PATIENT, era="modern"), era="half lists") as (connection, _):
        with pytest.raises(RequestError, match=r"initialize is required .*half modern: connect with era=auto"):
            await connection.call_tool("echo", {"text": "a"})
        assert connection.era == "modern"


async def test_an_error_that_only_mentions_initialize_later_on_changes_no_era() -> None:
    complete: dict[str, Any] = {"resultType": "complete", "content": []}
    async with scripted(
        client("tools/call"),
        server(result=complete),
        client("tools/call"),
        no(-32600, "initialize is required"),
        era="modern",
    ) as (connection, _, _peer):
        await connection.call_tool("a")
        with pytest.raises(Exception, match="initialize is required"):
            await connection.call_tool("a")
        assert connection.era == "modern"
