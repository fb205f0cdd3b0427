"""What becomes of a server that went away or does not answer: asked, opened again, told to whoever watches."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from jupyter_mcp.client.connection import Connection, ConnectOptions
from jupyter_mcp.client.heartbeat import Heartbeat
from jupyter_mcp.client.reconnect import MOST, Reconnect, pause
from jupyter_mcp.errors import AuthorizationFailed, ConnectionFailed, ConnectionLost
from jupyter_mcp.transport.base import Closed, SessionEnded
from jupyter_mcp.transport.mock import ScriptTransport, client, dies, fails, server
from jupyter_mcp.transport.stdio import StdioTransport
from tests import fakes
from tests.client.peer import (
    PATIENT,
    QUICK,
    FakePeer,
    legacy_start,
    modern_start,
    scripted,
    silent,
    text,
    transports,
)

pytestmark = pytest.mark.anyio

LEGACY = replace(QUICK, era="legacy")
MODERN = replace(QUICK, era="modern")
SUBSCRIBE: dict[str, Any] = {"tools": {"listChanged": True}, "resources": {"subscribe": True}}


class Later:
    """A loop's `call_later` whose time the test lets pass."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.now = 0.0
        self.set: list[tuple[float, asyncio.TimerHandle, Any]] = []
        self.event = asyncio.Event()

    def __call__(self, seconds: float, run: Any) -> asyncio.TimerHandle:
        handle = self.loop.call_later(3600, run)
        self.set.append((self.now + seconds, handle, run))
        self.event.set()
        return handle

    async def armed(self) -> None:
        """Wait until a timer is set."""
        async with asyncio.timeout(30):
            while not self.waiting:
                self.event.clear()
                await self.event.wait()

    def clock(self) -> float:
        return self.now

    @property
    def waiting(self) -> list[float]:
        """When something is due."""
        return [when for when, handle, _ in self.set if not handle.cancelled()]

    def pass_(self, seconds: float) -> None:
        """Let time pass, and run what is due."""
        self.now += seconds
        due = [one for one in self.set if one[0] <= self.now and not one[1].cancelled()]
        self.set = [one for one in self.set if one not in due]
        for _, handle, run in due:
            handle.cancel()
            run()


def subscribes(*more: Any) -> list[Any]:
    return [client("resources/subscribe"), server(result={}), *more]


# -- when it is needed --------------------------------------------------------------------------------------------


async def test_a_lost_server_is_opened_again_by_whoever_needs_it_and_once_for_all() -> None:
    first = ScriptTransport(*legacy_start({"tools": {}}))
    second = ScriptTransport(*legacy_start({"tools": {}}))
    peer = FakePeer()
    connection = Connection("demo", transports(first, second), LEGACY, peer)
    await connection.open()
    await connection.ensure()
    first.say(Closed("exited with code 1", 1))
    await peer.until(lambda: connection.state == "lost")
    told: list[str] = []
    await asyncio.gather(connection.ensure(told.append), connection.ensure(), connection.ensure())
    assert connection.state == "ready"
    assert told == ["reconnecting…"]
    assert peer.states == ["starting", "ready", "lost", "reconnecting", "ready"]
    await connection.close()
    with pytest.raises(ConnectionLost, match="is closed"):
        await connection.ensure()


async def test_what_was_never_opened_is_not_opened_again() -> None:
    connection = Connection("demo", transports(), LEGACY, FakePeer())
    with pytest.raises(ConnectionLost, match="is not connected yet"):
        await connection.ensure()


def test_the_pauses_grow_and_are_bounded() -> None:
    assert [pause(failures) for failures in range(9)] == [0, 0.5, 1, 2, 4, 8, 16, 30, 30]
    assert pause(10**9) == 30


async def test_a_loop_of_calls_to_a_dead_server_is_no_storm_of_processes() -> None:
    started: list[int] = []

    def make() -> Any:
        started.append(1)
        if len(started) == 1:
            return ScriptTransport(*legacy_start())
        return ScriptTransport(refuses=ConnectionFailed("The server cannot be started: no.", exit_code=3))

    connection = Connection("demo", make, LEGACY, FakePeer())
    await connection.open()
    connection.life.mark_lost(Closed("exited"))
    later = Later()
    again = Reconnect(connection, later.clock, later)
    with pytest.raises(ConnectionFailed, match="cannot be started"):
        await again.ensure(None)
    for seconds, attempts in ((0.5, 3), (1.0, 4)):  # short pauses are waited out, by all who need it together
        calls = [asyncio.ensure_future(again.ensure(None)) for _ in range(3)]
        await later.armed()
        assert not any(call.done() for call in calls)
        later.pass_(seconds)
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert all(isinstance(outcome, ConnectionFailed) for outcome in outcomes)
        assert len(started) == attempts
    for _ in range(20):
        with pytest.raises(ConnectionFailed, match=r"cannot be started: no\. It is tried again in 2\.0 s") as caught:
            await again.ensure(None)
        assert caught.value.exit_code == 3
    assert len(started) == 4
    assert connection.state == "lost"
    later.pass_(2.0)
    with pytest.raises(ConnectionFailed):
        await again.ensure(None)
    assert len(started) == 5
    assert later.waiting == []  # nobody watches, nobody tries


async def test_a_cancelled_caller_leaves_the_attempt_to_the_others() -> None:
    second = ScriptTransport(client("initialize"))
    connection = Connection("demo", transports(ScriptTransport(*legacy_start()), second), LEGACY, FakePeer())
    await connection.open()
    connection.life.mark_lost(Closed("exited"))
    one, two = (asyncio.ensure_future(connection.ensure()) for _ in range(2))
    await second.until(lambda: len(second.sent) == 1)
    one.cancel()
    result: dict[str, Any] = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {}}
    second.steps.append(client("notifications/initialized"))
    second.say({"jsonrpc": "2.0", "id": second.sent[0]["id"], "result": result})
    await two
    assert one.cancelled()
    assert connection.state == "ready"
    await connection.close()


async def test_closing_ends_the_attempts() -> None:
    second = ScriptTransport(client("initialize"))
    connection = Connection("demo", transports(ScriptTransport(*legacy_start()), second), LEGACY, FakePeer())
    await connection.open()
    connection.life.mark_lost(Closed("exited"))
    attempt = asyncio.ensure_future(connection.ensure())
    await second.until(lambda: len(second.sent) == 1)
    await connection.close()
    with pytest.raises((asyncio.CancelledError, ConnectionFailed, ConnectionLost)):
        await attempt
    assert connection.state == "closed"
    assert second.closed


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_call_that_the_servers_death_ends_says_that_it_may_have_run(era: Any) -> None:
    async with scripted(client("tools/call"), dies(1, "boom"), era=era) as (connection, _, _peer):
        with pytest.raises(ConnectionLost) as caught:
            await connection.call_tool("buy")
        said = "The server 'demo' exited with code 1 during tools/call buy: boom. It may have been run."
        assert str(caught.value) == said
        assert caught.value.may_have_run


async def test_a_listing_that_the_servers_death_ends_is_an_error_and_no_cancellation() -> None:
    async with scripted(client("tools/list"), dies(1)) as (connection, _, _peer):
        with pytest.raises(ConnectionLost, match="during tools/list"):
            await connection.list("tools")


# -- while something of it is watched -----------------------------------------------------------------------------


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_watched_server_comes_back_at_once_and_the_watcher_is_told(era: Any) -> None:
    command, args = fakes.command(era=era)
    peer = FakePeer()
    got: list[str] = []
    changed = asyncio.Event()

    def told(uri: str) -> None:
        got.append(uri)
        changed.set()

    connection = Connection("fake", lambda: StdioTransport(command, args), replace(PATIENT, era=era), peer)
    await connection.open()
    await connection.watch("n://a", told)
    await connection.list("tools")
    with pytest.raises(ConnectionLost):
        await connection.call_tool("die", {"code": 3})
    await peer.until(lambda: peer.states[-3:] == ["lost", "reconnecting", "ready"], 20)
    await asyncio.wait_for(changed.wait(), 10)
    assert got == ["n://a"]
    seen = await text(connection, "seen")
    assert ("resources/subscribe" if era == "legacy" else "subscriptions/listen") in seen
    assert peer.notes[-2:] == [
        "It went away and is opened again, because something of it is watched.",
        "It is there again.",
    ]
    await connection.close()


async def test_a_watched_server_that_stays_away_is_tried_more_and_more_seldom_and_then_no_more() -> None:
    peer = FakePeer()
    tries: list[float] = []
    later = Later()
    first = ScriptTransport(*legacy_start(SUBSCRIBE), *subscribes())

    def make() -> Any:
        tries.append(later.now)
        return first if len(tries) == 1 else ScriptTransport(refuses=ConnectionFailed("The server cannot be started."))

    connection = Connection("demo", make, LEGACY, peer)
    await connection.open()
    await connection.watch("n://a")
    connection.life.again = Reconnect(connection, later.clock, later)
    first.say(Closed("exited"))
    await peer.until(lambda: connection.state == "lost")
    tries.clear()
    for number in range(MOST + 1):
        assert len(later.waiting) == 1, number
        later.pass_(later.waiting[0] - later.now)
        await peer.until(lambda want=number + 2: peer.states.count("lost") == want)
        await asyncio.sleep(0)
    assert [round(b - a, 1) for a, b in pairwise(tries)][:7] == [0.5, 1, 2, 4, 8, 16, 30]
    assert later.waiting == []
    assert peer.notes[-1] == "It is not tried any more; %mcp reconnect demo tries again."
    await connection.close()


async def test_a_server_that_comes_up_and_goes_away_again_is_slowed_down() -> None:
    peer = FakePeer()
    later = Later()
    scripts: list[ScriptTransport] = []

    def make() -> Any:
        scripts.append(ScriptTransport(*legacy_start(SUBSCRIBE), *subscribes()))
        return scripts[-1]

    connection = Connection("demo", make, LEGACY, peer)
    await connection.open()
    await connection.watch("n://a")
    connection.life.again = Reconnect(connection, later.clock, later)
    waits: list[float] = []
    for number in range(5):
        await scripts[number].played()
        scripts[number].say(Closed("exited"))
        await peer.until(lambda: connection.state == "lost")
        waits.append(later.waiting[0] - later.now)
        later.pass_(waits[-1])
        await peer.until(lambda: connection.state == "ready")
    assert waits == [0, 0.5, 1, 2, 4]
    await scripts[5].played()
    later.pass_(31)  # it lived
    scripts[5].say(Closed("exited"))
    await peer.until(lambda: connection.state == "lost")
    assert later.waiting[0] - later.now == 0
    await connection.close()


async def test_an_ended_stream_of_a_watched_session_begins_a_new_one_but_not_again_and_again() -> None:
    told = asyncio.Event()
    async with scripted(*subscribes(*legacy_start(SUBSCRIBE)), *subscribes(), capabilities=SUBSCRIBE, kind="http") as (
        connection,
        script,
        peer,
    ):
        script.fail(None, SessionEnded())  # nothing is watched: the next request will see to it
        await connection.watch("n://a", lambda uri: told.set())
        assert script.methods().count("initialize") == 1
        script.fail(None, SessionEnded())
        await script.played()
        await asyncio.wait_for(told.wait(), 3)
        script.fail(None, SessionEnded())  # so soon: later
        script.say({"jsonrpc": "2.0", "method": "notifications/x"})
        await peer.until(lambda: bool(peer.notices))
        assert script.methods().count("initialize") == 2


async def test_a_watched_server_that_cannot_be_reached_any_more_is_opened_again() -> None:
    away = ConnectionLost("x refused the connection.", may_have_run=False)
    first = ScriptTransport(*legacy_start(SUBSCRIBE), *subscribes(), kind="http")
    second = ScriptTransport(*legacy_start(SUBSCRIBE), *subscribes(), kind="http")
    peer = FakePeer()
    connection = Connection("demo", transports(first, second), LEGACY, peer)
    await connection.open()
    await connection.watch("n://a")
    first.fail(None, away)
    await second.played()
    await peer.until(lambda: connection.state == "ready")
    assert first.closed
    await connection.close()


# -- heartbeat ----------------------------------------------------------------------------------------------------


BEATING = replace(QUICK, heartbeat=0.05)


async def test_an_idle_legacy_server_is_pinged() -> None:
    async with scripted(client("ping"), server(result={}), options=BEATING, answer=silent) as (
        connection,
        script,
        _,
    ):
        await script.until(lambda: script.methods().count("ping") >= 1)
        assert connection.state == "ready"


@pytest.mark.parametrize(
    ("era", "kind", "beats"),
    [
        ("legacy", "stdio", True),
        ("legacy", "http", True),
        ("modern", "http", True),
        ("legacy", "sse", True),
        ("modern", "stdio", False),  # the process shows by itself that it ended
        ("legacy", "memory", False),
        ("modern", "memory", False),
    ],
)
async def test_there_is_one_timer_where_nothing_else_tells_and_none_elsewhere(era: Any, kind: str, beats: bool) -> None:
    loop = asyncio.get_running_loop()
    before = _timers(loop)
    async with scripted(era=era, kind=kind):
        assert _timers(loop) - before == (1 if beats else 0)
    assert _timers(loop) - before == 0


def _timers(loop: Any) -> int:
    return sum(1 for handle in loop._scheduled if not handle.cancelled())


async def test_the_heartbeat_can_be_turned_off() -> None:
    loop = asyncio.get_running_loop()
    before = _timers(loop)
    async with scripted(options=ConnectOptions(heartbeat=0)):
        assert _timers(loop) == before


class Beating:
    """A connection with a heartbeat whose time the test lets pass."""

    def __init__(self, connection: Connection, script: ScriptTransport) -> None:
        self.later = Later()
        assert connection.session is not None
        self.heart = Heartbeat(connection, connection.session, self.later)
        self.script = script
        self.connection = connection

    async def beat(self) -> None:
        """One interval passes, and what it leads to ends."""
        self.later.pass_(self.connection.options.heartbeat)
        await self.later.armed()


SLOW = replace(QUICK, heartbeat=0.08)  # also the patience for a ping


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_two_misses_make_a_server_unresponsive_and_an_answer_revives_it(era: Any) -> None:
    ping = "ping" if era == "legacy" else "server/discover"
    async with scripted(era=era, kind="http", options=SLOW, answer=silent) as (connection, script, peer):
        connection.life.rest()
        beating = Beating(connection, script)
        assert connection.link is not None
        connection.link.heard = False
        beating.heart.tick()
        await beating.later.armed()
        assert connection.state == "ready"  # one miss
        await beating.beat()
        assert connection.state == "unresponsive"
        assert connection.ready
        assert peer.states[-1] == "unresponsive"
        assert script.methods().count(ping) >= 2
        script.say({"jsonrpc": "2.0", "method": "notifications/x"})
        await peer.until(lambda: bool(peer.notices))
        await beating.beat()
        assert connection.state == "ready"
        assert peer.states[-1] == "ready"
        beating.heart.cancel()


async def test_who_is_heard_of_or_busy_is_not_asked() -> None:
    async with scripted(client("tools/call"), options=SLOW) as (connection, script, _):
        connection.life.rest()
        beating = Beating(connection, script)
        before = len(script.sent)
        beating.heart.tick()  # it has just answered initialize
        script.alive()
        await beating.beat()
        call = asyncio.ensure_future(connection.call_tool("slow"))
        await script.until(lambda: len(script.sent) == before + 1)
        await beating.beat()
        await beating.beat()
        assert script.methods()[before:] == ["tools/call"]
        script.say({"jsonrpc": "2.0", "id": script.sent[-1]["id"], "result": {"content": []}})
        await call
        beating.heart.cancel()


async def test_an_error_to_a_ping_is_a_sign_of_life() -> None:
    no = {"code": -32601, "message": "Method not found"}

    def answer(message: Any) -> Any:
        return [{"jsonrpc": "2.0", "id": message["id"], "error": no}] if message.get("method") == "ping" else None

    async with scripted(options=SLOW, answer=answer) as (connection, script, _):
        connection.life.rest()
        beating = Beating(connection, script)
        beating.heart.tick()
        for _ in range(4):
            await beating.beat()
        assert script.methods().count("ping") >= 3
        assert connection.state == "ready"
        beating.heart.cancel()


async def test_an_unresponsive_server_that_is_needed_is_asked_once_more_and_then_started_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("jupyter_mcp.client.reconnect.PATIENCE", 0.05)
    deaf = ScriptTransport(*legacy_start({"tools": {}}), answer=silent)
    fresh = ScriptTransport(*legacy_start({"tools": {}}))
    peer = FakePeer()
    connection = Connection("demo", transports(deaf, fresh), LEGACY, peer)
    await connection.open()
    connection.life.unresponsive()
    await connection.ensure()
    assert deaf.closed
    assert deaf.methods()[-2:] == ["ping", "notifications/cancelled"]
    assert connection.state == "ready"
    assert connection.link is not None and connection.link.transport is fresh
    await connection.close()


async def test_an_unresponsive_server_that_answers_after_all_is_kept() -> None:
    async with scripted(client("ping"), server(result={})) as (connection, script, _):
        connection.life.unresponsive()
        await connection.ensure()
        assert connection.state == "ready"
        assert not script.closed


async def test_an_unresponsive_server_that_is_watched_is_started_anew_at_once() -> None:
    deaf = ScriptTransport(*legacy_start(SUBSCRIBE), *subscribes(), answer=silent)
    fresh = ScriptTransport(*legacy_start(SUBSCRIBE), *subscribes())
    peer = FakePeer()
    connection = Connection("demo", transports(deaf, fresh), LEGACY, peer)
    await connection.open()
    await connection.watch("n://a")
    connection.life.unresponsive()
    await fresh.played()
    await peer.until(lambda: connection.state == "ready")
    assert deaf.closed
    assert peer.states == ["starting", "ready", "unresponsive", "lost", "reconnecting", "ready"]
    await connection.close()


# -- streams of changes over HTTP ---------------------------------------------------------------------------------


ID = "io.modelcontextprotocol/subscriptionId"


async def acknowledge(script: ScriptTransport, count: int) -> Any:
    """Answer the listen that is the `count`th."""
    await script.until(lambda: script.methods().count("subscriptions/listen") == count)
    listen = [message for message in script.sent if message.get("method") == "subscriptions/listen"][-1]
    params = {"notifications": listen["params"]["notifications"], "_meta": {ID: listen["id"]}}
    script.say({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params})
    return listen["id"]


async def test_a_stream_that_breaks_alone_is_opened_again_and_what_was_missed_is_made_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("jupyter_mcp.client.stream.PAUSES", (0.01, 0.01))
    got: list[str] = []
    script = ScriptTransport(*modern_start(SUBSCRIBE), answer=silent, kind="http")
    peer = FakePeer()
    connection = Connection("demo", transports(script), MODERN, peer)
    await connection.open()
    watch = asyncio.ensure_future(connection.watch("n://a", got.append))
    id = await acknowledge(script, 2)
    await watch
    assert got == []
    for number in range(3, 8):  # more often than a stream is opened where nothing is watched
        script.fail(id, ConnectionLost("The stream ended without a response."))
        id = await acknowledge(script, number)
        await peer.until(lambda want=number - 2: got == ["n://a"] * want)
    assert connection.state == "ready"
    await connection.close()


@pytest.mark.parametrize("status", [404, 405, 501])
async def test_a_server_without_streams_over_http_is_asked_once_and_nothing_is_said(status: int) -> None:
    from jupyter_mcp.transport.base import Refused

    async with scripted(
        client("subscriptions/listen"), fails(Refused(status)), era="modern", kind="http", capabilities=SUBSCRIBE
    ) as (connection, script, peer):
        await script.played()
        await asyncio.sleep(0)
        assert peer.notes == []
        assert connection.state == "ready"


async def test_over_http_the_old_stream_is_closed_when_the_new_one_is_acknowledged() -> None:
    script = ScriptTransport(*modern_start(SUBSCRIBE), answer=silent, kind="http")
    connection = Connection("demo", transports(script), MODERN, FakePeer())
    await connection.open()
    first = await acknowledge(script, 1)
    watch = asyncio.ensure_future(connection.watch("n://a"))
    await script.until(lambda: script.methods().count("subscriptions/listen") == 2)
    assert script.cancelled == []
    await acknowledge(script, 2)
    await watch
    assert script.cancelled == [first]
    assert "notifications/cancelled" not in script.methods()  # closing says it
    await connection.close()


async def test_a_watched_server_that_wants_a_person_to_log_in_is_not_tried_again_by_itself() -> None:
    """Nobody asked: a page that opens by itself again and again is no service. Whoever needs the server is told."""
    failed = AuthorizationFailed("The server cannot be used: you declined.", declined=True)
    first = ScriptTransport(*legacy_start(SUBSCRIBE), *subscribes())
    made: list[Any] = []

    def make() -> Any:
        made.append(ScriptTransport(client("initialize"), fails(failed), kind="http") if made else first)
        return made[-1]

    peer, later = FakePeer(), Later()
    connection = Connection("demo", make, LEGACY, peer)
    await connection.open()
    await connection.watch("n://a")
    connection.life.again = Reconnect(connection, later.clock, later)
    first.say(Closed("exited"))
    await peer.until(lambda: connection.state == "lost")
    later.pass_(later.waiting[0] - later.now)
    await peer.until(lambda: peer.states.count("lost") == 2)
    await asyncio.sleep(0)
    assert "you declined" in peer.notes[-1]
    assert (later.waiting, len(made)) == ([], 2)
    later.now += 60
    with pytest.raises(AuthorizationFailed):
        await connection.ensure(None)
    assert (later.waiting, len(made)) == ([], 3)
    await connection.close()
