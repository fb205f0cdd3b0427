"""What whoever embeds a server hangs into it: who may ask, what was answered, what is watched, lists that live."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.server import Server
from jupyter_mcp.server.failures import Failure
from jupyter_mcp.server.paging import Joined
from tests.server.http.conftest import serving
from tests.server.talk import RpcFailure, Talk

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jupyter_mcp.protocol.revisions import Features
    from jupyter_mcp.server.exchange import Exchange
    from jupyter_mcp.server.http.guard import Refusal

pytestmark = pytest.mark.anyio
BOTH = ["2025-11-25", "2026-07-28"]


def make(**options: Any) -> Server:
    server = Server("seams", **options)

    @server.resource("a://fixed")
    async def fixed() -> str:
        return "fixed"

    @server.resource("a://live/{name}")
    async def live(name: str) -> str:
        return name

    return server


@pytest.mark.parametrize("revision", BOTH)
async def test_a_request_that_is_not_admitted_is_not_worked_on(revision: str):
    server = make()
    seen: list[str] = []

    def admit(exchange: Exchange) -> None:
        seen.append(f"{exchange.method} {exchange.peer.info.get('name')}")
        if exchange.params.get("uri") == "a://live/no":
            raise Failure(-31429, "Not now.")

    server.admit = admit
    async with Talk(server, revision) as talk:
        assert (await talk.request("resources/read", {"uri": "a://live/yes"}))["contents"][0]["text"] == "yes"
        with pytest.raises(RpcFailure, match="Not now"):
            await talk.request("resources/read", {"uri": "a://live/no"})
    assert seen[-2:] == ["resources/read talk"] * 2


@pytest.mark.parametrize("revision", BOTH)
async def test_every_answer_is_told_errors_too(revision: str):
    server = make()
    told: list[tuple[str, bool]] = []

    def answered(exchange: Exchange, message: Mapping[str, Any]) -> None:
        told.append((exchange.method, "error" in message))

    server.answered = answered
    async with Talk(server, revision) as talk:
        await talk.request("resources/read", {"uri": "a://fixed"})
        with pytest.raises(RpcFailure):
            await talk.request("resources/read", {"uri": "a://nothing"})
    assert told[-2:] == [("resources/read", False), ("resources/read", True)]


async def test_the_server_knows_what_is_watched_in_either_era():
    server = make()
    async with Talk(server, BOTH[0]) as old, Talk(server, BOTH[1]) as new:
        await old.request("resources/subscribe", {"uri": "a://live/x"})
        wanted = {"resourceSubscriptions": ["a://live/y"]}
        id_, _ = await new.start("subscriptions/listen", {"notifications": wanted})
        await new.until(lambda: any(m.get("method", "").endswith("acknowledged") for m in new.received))
        assert server.watched() == {"a://live/x", "a://live/y"}
        await old.request("resources/unsubscribe", {"uri": "a://live/x"})
        await new.notify("notifications/cancelled", {"requestId": id_})
        await new.request("resources/list")
        assert server.watched() == set()
    assert server.watched() == set()


async def test_the_watches_of_an_http_session_count_and_end_with_it():
    async with serving(make()) as (raw, server, _):
        await raw.initialize()
        await (await raw.request("resources/subscribe", {"uri": "a://live/x"})).last()
        assert server.watched() == {"a://live/x"}
        await raw.http("DELETE", raw.of_session())
        assert server.watched() == set()


@pytest.mark.parametrize("revision", BOTH)
async def test_a_list_that_lives_follows_the_fixed_one_page_by_page(revision: str):
    server = make(page_size=3)
    names = [f"n{number}" for number in range(5)]

    def listing(features: Features) -> Sequence[tuple[str, dict[str, Any]]]:
        return [(name, {"uri": f"a://live/{name}", "name": name}) for name in names]

    server.more_resources(listing)
    async with Talk(server, revision) as talk:
        found: list[str] = []
        cursor: dict[str, Any] = {}
        while True:
            page = await talk.request("resources/list", cursor)
            found += [one["name"] for one in page["resources"]]
            if "nextCursor" not in page:
                break
            cursor = {"cursor": page["nextCursor"]}
            if found[-1] == "n1":
                names.remove("n0")  # an entry goes between two pages
    assert found == ["fixed", "n0", "n1", "n2", "n3", "n4"]


def test_two_lists_are_one_by_place_and_by_slice():
    one: list[tuple[str, dict[str, Any]]] = [("a", {}), ("b", {})]
    joined = Joined(one, [("c", {})])
    assert [key for key, _ in joined] == ["a", "b", "c"]
    assert [key for key, _ in joined[1:9]] == ["b", "c"]
    assert joined[-1] == ("c", {})
    with pytest.raises(IndexError):
        _ = joined[3]


async def test_who_embeds_an_endpoint_hears_of_refusals():
    async with serving(make()) as (raw, _, _):
        told: list[Refusal] = []
        raw.running.endpoint.on_refused = told.append
        await raw.http("POST", {"Authorization": "Bearer wrong"}, b"{}")
        await raw.http("POST", {"Origin": "https://evil.example"}, b"{}")
        assert [one.status for one in told] == [401, 403]
        assert "evil.example" in told[1].text
