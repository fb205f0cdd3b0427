"""Watched resources in both eras, and the modern stream of changes."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

import pytest

from jupyter_mcp.client import stream
from jupyter_mcp.errors import RequestError, UsageError
from jupyter_mcp.transport.mock import ScriptTransport, client, server
from tests.client.peer import QUICK, FakePeer, modern_start, process, scripted, text, transports

pytestmark = pytest.mark.anyio

SUBSCRIBE = {"resources": {"subscribe": True}}
LISTS = {"tools": {"listChanged": True}, "prompts": {"listChanged": False}, **SUBSCRIBE}
ID = "io.modelcontextprotocol/subscriptionId"


def updated(uri: str, **more: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri, **more}}


async def acknowledge(script: ScriptTransport, kept: dict[str, Any] | None = None) -> int:
    """Answer the latest listen."""
    await script.until(lambda: "subscriptions/listen" in script.methods())
    listen = next(message for message in reversed(script.sent) if message.get("method") == "subscriptions/listen")
    params = {"notifications": listen["params"]["notifications"] if kept is None else kept, "_meta": {ID: listen["id"]}}
    script.say({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params})
    return listen["id"]


# -- legacy -------------------------------------------------------------------------------------------------------


async def test_a_watched_resource_is_subscribed_once_and_unsubscribed_with_the_last() -> None:
    got: list[str] = []
    async with scripted(
        client("resources/subscribe", params={"uri": "n://a"}), server(result={}),
        client("resources/unsubscribe", params={"uri": "n://a"}), server(result={}),
        capabilities=SUBSCRIBE,
    ) as (connection, script, peer):  # fmt: skip
        one = await connection.watch("n://a", got.append)
        two = await connection.watch("n://a")
        script.say(updated("n://a"))
        script.say(updated("n://a/part"))
        script.say(updated("n://ab"))
        script.say({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": None}})
        await peer.until(lambda: len(peer.notices) == 4)
        assert got == ["n://a", "n://a/part"]
        await one.stop()
        await one.stop()
        assert script.methods()[-1] == "resources/subscribe"
        await two.stop()


async def test_a_watcher_that_fails_costs_nothing() -> None:
    def fails(uri: str) -> None:
        raise ValueError(uri)

    async with scripted(client("resources/subscribe"), server(result={}), capabilities=SUBSCRIBE) as (
        connection,
        s,
        peer,
    ):
        await connection.watch("n://a", fails)
        s.say(updated("n://a"))
        await peer.until(lambda: peer.notices)
        assert connection.state == "ready"


async def test_what_cannot_be_watched_is_said() -> None:
    eras: list[Literal["legacy", "modern"]] = ["legacy", "modern"]
    for era in eras:
        async with scripted(era=era, capabilities={"resources": {}}) as (connection, script, _):
            before = len(script.sent)
            with pytest.raises(UsageError):
                await connection.watch("n://a")
            assert len(script.sent) == before


async def test_a_refused_subscription_is_the_callers_and_leaves_no_watch() -> None:
    refused = server(error={"code": -32002, "message": "no such resource"})
    async with scripted(
        client("resources/subscribe"), refused, client("resources/subscribe"), server(result={}), capabilities=SUBSCRIBE
    ) as (connection, _, _peer):
        with pytest.raises(RequestError, match="no such resource"):
            await connection.watch("n://a")
        await connection.watch("n://a")


async def test_watches_are_asked_for_again_after_a_reconnect() -> None:
    async with process() as (connection, _):
        await connection.watch("n://a")
        await connection.close()
        await connection.open()
        async with asyncio.timeout(30):
            while "resources/subscribe" not in await text(connection, "seen"):
                pass


# -- modern -------------------------------------------------------------------------------------------------------


async def test_one_stream_asks_for_the_lists_that_were_declared() -> None:
    async with scripted(
        client("subscriptions/listen", params={"notifications": {"toolsListChanged": True}}),
        era="modern",
        capabilities=LISTS,
    ) as (_, script, _peer):
        await script.played()
        listen = script.sent[-1]["params"]
        assert listen["notifications"] == {"toolsListChanged": True}
        assert "io.modelcontextprotocol/clientCapabilities" in listen["_meta"]


async def test_without_anything_to_hear_there_is_no_stream() -> None:
    async with scripted(era="modern", capabilities={"tools": {}}) as (_, script, _peer):
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert script.methods() == ["server/discover"]


async def test_a_watch_opens_the_new_stream_before_it_ends_the_old() -> None:
    got: list[str] = []
    async with scripted(
        client("subscriptions/listen"),
        client("subscriptions/listen", params={"notifications": {"toolsListChanged": True, "resourceSubscriptions": ["n://a"]}}),
        client("notifications/cancelled"),
        client("subscriptions/listen", params={"notifications": {"toolsListChanged": True}}),
        client("notifications/cancelled"),
        era="modern", capabilities=LISTS,
    ) as (connection, script, peer):  # fmt: skip
        first = await acknowledge(script)
        adding = asyncio.ensure_future(connection.watch("n://a", got.append))
        await script.until(lambda: script.methods()[-1] == "notifications/cancelled")
        assert not adding.done()
        assert script.sent[-1]["params"]["requestId"] == first
        second = await acknowledge(script)
        watch = await adding
        script.say(updated("n://a", _meta={ID: second}))
        await peer.until(lambda: got == ["n://a"])
        await watch.stop()
        await script.played()
        assert script.sent[-1]["params"]["requestId"] == second


async def test_a_resource_the_server_does_not_take_is_said() -> None:
    def answer(message: dict[str, Any]) -> None:
        return None

    async with scripted(era="modern", capabilities=LISTS, answer=answer) as (connection, script, _):
        adding = asyncio.ensure_future(connection.watch("n://a"))
        await script.until(lambda: len([m for m in script.methods() if m == "subscriptions/listen"]) == 2)
        await acknowledge(script, {"toolsListChanged": True})
        with pytest.raises(UsageError, match="does not watch n://a"):
            await adding


@pytest.mark.parametrize("how", ["result", "cancelled"])
async def test_a_stream_that_the_server_ends_is_opened_again(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "PAUSES", (0.01, 0.01, 0.01))
    async with scripted(
        client("subscriptions/listen"), client("subscriptions/listen"), era="modern", capabilities=LISTS
    ) as (_, script, _peer):
        id = await acknowledge(script)
        if how == "result":
            script.say({"jsonrpc": "2.0", "id": id, "result": {"resultType": "complete", "_meta": {ID: id}}})
        else:
            params = {"requestId": id, "reason": "shutting down"}
            script.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
        await script.played()
        assert script.sent[-1]["id"] != id


async def test_a_stream_that_never_lasts_is_given_up_with_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "PAUSES", (0.01, 0.01))

    def answer(message: dict[str, Any]) -> list[dict[str, Any]]:
        return [{"jsonrpc": "2.0", "id": message["id"], "result": {"resultType": "complete"}}]

    async with scripted(era="modern", capabilities=LISTS, answer=answer) as (connection, script, peer):
        await asyncio.wait_for(peer.noted.wait(), 3)
        assert script.methods().count("subscriptions/listen") == 3
        assert "ends every subscription" in connection.notes[0]


@pytest.mark.parametrize(("code", "noted"), [(-32601, 0), (-32000, 1)])
async def test_a_refused_stream_is_not_asked_for_again(code: int, noted: int) -> None:
    error = server(error={"code": code, "message": "not here"})
    async with scripted(
        client("subscriptions/listen"), error, client("tools/call"), server(result={"resultType": "complete"}),
        era="modern", capabilities=LISTS,
    ) as (connection, script, _):  # fmt: skip
        await script.until(lambda: len(script.steps) <= 2)
        await asyncio.sleep(0.02)
        await connection.call_tool("t")
        assert len(connection.notes) == noted


async def test_the_stream_is_asked_for_again_after_a_restart() -> None:
    scripts = [ScriptTransport(*modern_start(LISTS), client("subscriptions/listen")) for _ in range(2)]
    from jupyter_mcp.client.connection import Connection

    connection = Connection("demo", transports(*scripts), QUICK, FakePeer())
    for script in scripts:
        await connection.open()
        await script.played()
        await connection.close()


async def test_a_half_modern_server_that_refuses_the_stream_gets_its_handshake() -> None:
    async with process(era="half") as (connection, peer):
        await asyncio.wait_for(peer.noted.wait(), 3)
        await peer.until(lambda: connection.era == "legacy")
        assert connection.state == "ready"
