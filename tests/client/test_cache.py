"""What a modern server lets be kept, and for how long."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from jupyter_mcp.client.cache import Cache, related, weigh
from jupyter_mcp.errors import ConnectionLost, RequestError
from jupyter_mcp.transport.base import Refused
from jupyter_mcp.transport.mock import client, fails, server
from tests.client.peer import scripted, silent

pytestmark = pytest.mark.anyio

RESOURCES: dict[str, Any] = {"resources": {"subscribe": True}, "tools": {}}


class Time:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def kept(ttl: Any, **more: Any) -> dict[str, Any]:
    return {"resultType": "complete", "ttlMs": ttl, "cacheScope": "private", **more}


# -- the cache itself ---------------------------------------------------------------------------------------------


def test_a_result_is_fresh_until_its_time_has_passed() -> None:
    time = Time()
    cache = Cache(time)
    cache.put("resources/read", "n://a", kept(1500))
    time.now += 1.4
    found = cache.fresh("resources/read", "n://a")
    assert found is not None
    assert cache.left(found) == pytest.approx(0.1)
    time.now += 0.1
    assert cache.fresh("resources/read", "n://a") is None
    assert cache.stale("resources/read", "n://a") is not None
    assert cache.fresh("resources/read", "n://b") is None


@pytest.mark.parametrize("ttl", [0, -5, None, "1000", True, [], 1e300, float("nan")])
def test_a_time_that_is_none_keeps_nothing_and_drops_what_was_kept(ttl: Any) -> None:
    cache = Cache()
    cache.put("resources/read", "n://a", kept(60_000))
    cache.put("resources/read", "n://a", kept(ttl))
    assert len(cache) == 0


def test_a_change_drops_the_resource_with_what_lies_below_it_and_what_it_lies_in() -> None:
    cache = Cache()
    for uri in ("n://a", "n://a/b", "n://a/b/c", "n://ab", "n://x"):
        cache.put("resources/read", uri, kept(60_000))
    cache.put("tools/list", "n://a", kept(60_000))
    cache.drop_uri("resources/read", "n://a/b")
    left = [uri for uri in ("n://a", "n://a/b", "n://a/b/c", "n://ab", "n://x") if cache.stale("resources/read", uri)]
    assert left == ["n://ab", "n://x"]
    cache.drop("tools/list")
    assert len(cache) == 2
    cache.clear()
    assert len(cache) == 0
    assert related("n://a/", "n://a/b")


def test_it_is_bounded_in_number_and_size_and_forgets_what_was_used_longest_ago() -> None:
    cache = Cache(most=3, largest=10_000)
    for number in range(3):
        cache.put("resources/read", str(number), kept(60_000, text="x" * 100))
    assert cache.fresh("resources/read", "0") is not None
    cache.put("resources/read", "3", kept(60_000))
    assert [number for number in range(4) if cache.fresh("resources/read", str(number))] == [0, 2, 3]
    cache.put("resources/read", "large", kept(60_000, text="x" * 6_000))
    assert cache.fresh("resources/read", "large") is None  # more than half of it
    for number in range(100):
        cache.put("resources/read", str(number), kept(60_000, text="x" * 4_000))
    assert len(cache) == 2


def test_what_a_value_weighs_is_found_without_walking_much_further_than_the_limit() -> None:
    assert weigh("x" * 1000, 10**6) >= 1000
    assert weigh({"a": ["x" * 500, {"b": "x" * 500}]}, 10**6) >= 1000
    assert 1000 < weigh([0] * 10**6, 1000) < 2000
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert weigh(deep, 10**9) > 100_000


def test_a_copy_is_ones_own_and_shares_the_texts() -> None:
    cache = Cache()
    text = "x" * 1000
    cache.put("resources/read", "n://a", kept(60_000, contents=[{"text": text}]))
    found = cache.fresh("resources/read", "n://a")
    assert found is not None
    mine = found.copy()
    mine["contents"].clear()
    again = found.copy()
    assert again["contents"][0]["text"] is text


# -- reads --------------------------------------------------------------------------------------------------------


def read(text: str, ttl: int = 60_000) -> Any:
    return server(result=kept(ttl, contents=[{"uri": "n://a", "text": text}]))


def text_of(result: dict[str, Any]) -> str:
    return result["contents"][0]["text"]


async def test_a_fresh_resource_is_not_asked_for_again_unless_that_is_wanted() -> None:
    async with scripted(
        client("resources/read"), read("one"), client("resources/read"), read("two"),
        era="modern", capabilities={"resources": {}},
    ) as (connection, _, _peer):  # fmt: skip
        one = await connection.read("n://a")
        one["contents"].clear()  # ours to change
        assert text_of(await connection.read("n://a")) == "one"
        assert text_of(await connection.read("n://a", fresh=True)) == "two"
        assert text_of(await connection.read("n://a")) == "two"


@pytest.mark.parametrize("era", ["modern", "legacy"])
async def test_what_has_no_time_is_asked_for_every_time(era: Any) -> None:
    ttl = 0 if era == "modern" else 60_000  # which means nothing in the legacy era
    async with scripted(
        client("resources/read"), read("one", ttl), client("resources/read"), read("two", ttl),
        era=era, capabilities={"resources": {}},
    ) as (connection, _, _peer):  # fmt: skip
        assert text_of(await connection.read("n://a")) == "one"
        assert text_of(await connection.read("n://a")) == "two"
        assert connection.cache is None


async def test_what_was_asked_about_first_is_not_kept() -> None:
    async def answer(method: str, params: Any, cause: Any) -> Any:
        return {"roots": []}

    asks = {"resultType": "input_required", "inputRequests": {"r": {"method": "roots/list"}}, "requestState": "s"}
    async with scripted(
        client("resources/read"), server(result=asks), client("resources/read"), read("one"),
        client("resources/read"), read("two"),
        era="modern", capabilities={"resources": {}},
    ) as (connection, _, peer):  # fmt: skip
        peer.answer = answer
        assert text_of(await connection.read("n://a")) == "one"
        assert text_of(await connection.read("n://a")) == "two"


def updated(uri: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}}


async def test_a_reported_change_makes_it_old_at_once() -> None:
    async with scripted(
        client("resources/read"), read("one"), client("resources/read"), read("two"),
        era="modern", capabilities={"resources": {}},
    ) as (connection, script, peer):  # fmt: skip
        await connection.read("n://a")
        script.say(updated("n://a"))
        await peer.until(lambda: bool(peer.notices))
        assert text_of(await connection.read("n://a")) == "two"


async def test_an_answer_that_a_change_overtook_is_not_kept() -> None:
    async with scripted(era="modern", capabilities={"resources": {}}, answer=silent) as (connection, script, peer):
        reading = asyncio.ensure_future(connection.read("n://a"))
        await script.until(lambda: script.methods()[-1] == "resources/read")
        script.say(updated("n://a"))
        await peer.until(lambda: bool(peer.notices))
        script.say({"jsonrpc": "2.0", "id": script.sent[-1]["id"], "result": kept(60_000, contents=[])})
        await reading
        assert connection.cache is None


async def test_what_is_old_is_given_with_a_note_when_the_server_cannot_be_asked() -> None:
    async with scripted(
        client("resources/read"), read("one", 1),
        client("resources/read"), fails(Refused(503, "Busy")),
        client("resources/read"), fails(Refused(503, "Busy")),
        client("resources/read"), server(error={"code": -32602, "message": "gone"}),
        era="modern", capabilities={"resources": {}}, kind="http",
    ) as (connection, _, _peer):  # fmt: skip
        await connection.read("n://a")
        await asyncio.sleep(0.005)
        notes: list[str] = []
        assert text_of(await connection.read("n://a", on_note=notes.append)) == "one"
        assert len(notes) == 1
        assert "HTTP 503" in notes[0]
        assert notes[0].endswith("What it said earlier is shown.")
        with pytest.raises(ConnectionLost):
            await connection.read("n://a", fresh=True)
        with pytest.raises(RequestError, match="gone"):  # it was asked, and said so
            await connection.read("n://a")


# -- lists --------------------------------------------------------------------------------------------------------


def page(*names: str, ttl: int, cursor: str | None = None) -> Any:
    more = {} if cursor is None else {"nextCursor": cursor}
    return server(result=kept(ttl, tools=[{"name": name, "inputSchema": {}} for name in names], **more))


def names(listing: Any) -> list[str]:
    return [item["name"] for item in listing.items]


async def test_each_page_of_a_list_has_a_time_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jupyter_mcp.client.listings.REREAD", 0.0)
    async with scripted(
        client("tools/list"), page("a", ttl=60_000, cursor="2"),
        client("tools/list", params={"cursor": "2"}), page("b", ttl=1, cursor=""),
        client("tools/list", params={"cursor": ""}), page("c", ttl=60_000),
        client("tools/list", params={"cursor": "2"}), page("B", ttl=60_000, cursor=""),
        era="modern",
    ) as (connection, _, _peer):  # fmt: skip
        assert names(await connection.list("tools")) == ["a", "b", "c"]
        await asyncio.sleep(0.005)
        assert names(await connection.list("tools")) == ["a", "B", "c"]
        assert names(await connection.list("tools")) == ["a", "B", "c"]


async def test_a_refresh_or_a_reported_change_reads_every_page_anew() -> None:
    changed = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
    async with scripted(
        client("tools/list"), page("a", ttl=60_000),
        client("tools/list"), page("b", ttl=60_000),
        client("tools/list"), page("c", ttl=60_000),
        era="modern",
    ) as (connection, script, peer):  # fmt: skip
        assert names(await connection.list("tools")) == ["a"]
        assert names(await connection.list("tools", refresh=True)) == ["b"]
        script.say(changed)
        await peer.until(lambda: bool(peer.notices))
        assert names(await connection.list("tools")) == ["c"]


def _no_cursor(params: dict[str, Any]) -> bool:
    return "cursor" not in params


async def test_a_cursor_gone_bad_drops_the_pages_that_were_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jupyter_mcp.client.listings.REREAD", 0.0)
    async with scripted(
        client("tools/list"), page("a", ttl=60_000, cursor="2"),
        client("tools/list", params={"cursor": "2"}), page("b", ttl=1),
        client("tools/list", params={"cursor": "2"}), server(error={"code": -32602, "message": "Invalid cursor"}),
        client("tools/list", params=_no_cursor), page("A", ttl=60_000),
        era="modern",
    ) as (connection, _, _peer):  # fmt: skip
        await connection.list("tools")
        await asyncio.sleep(0.005)
        assert names(await connection.list("tools")) == ["A"]


async def test_an_old_list_is_better_than_none_when_the_server_cannot_be_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jupyter_mcp.client.listings.REREAD", 0.0)
    async with scripted(
        client("tools/list"), page("a", ttl=1),
        client("tools/list"), fails(Refused(503, "Busy")),
        client("tools/list"), fails(Refused(503, "Busy")),
        era="modern", kind="http",
    ) as (connection, _, peer):  # fmt: skip
        await connection.list("tools")
        await asyncio.sleep(0.005)
        assert names(await connection.list("tools")) == ["a"]
        assert peer.notes[-1].endswith("The tools listed before are used.")
        with pytest.raises(ConnectionLost):
            await connection.list("tools", refresh=True)


async def test_a_ping_renews_what_is_known_of_a_modern_server() -> None:
    result = kept(0, supportedVersions=["2026-07-28"], capabilities={"prompts": {}}, instructions="new")
    async with scripted(client("server/discover"), server(result=result), era="modern") as (connection, _, _peer):
        await connection.ping()
        assert (connection.capabilities, connection.instructions) == ({"prompts": {}}, "new")
