"""Pages a person is sent to, in both eras: who is asked, who is told of the end, who must have been there first."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from jupyter_mcp.errors import UsageError
from jupyter_mcp.server import AsyncContext, Context, Elicit, Server, UrlRequired
from tests.server.talk import RpcFailure, Talk, always

pytestmark = pytest.mark.anyio
OLD, NEW = "2025-11-25", "2026-07-28"
PAGE = "https://example.org/sign-in?for=%2Fnotes"
DONE = "notifications/elicitation/complete"
YES = {"elicitation/create": always({"action": "accept"})}


def make(**options: Any) -> Server:
    server, been = Server("pages", **options), set[str]()

    @server.tool
    async def sign_in(ctx: AsyncContext, name: str = "") -> list[Any]:
        """Ask, and say so when the person is done."""
        answer = await ctx.elicit_url("Sign in.", PAGE, elicitation_id=name or None)
        await ctx.elicitation_complete(answer.elicitation_id or "")
        await ctx.elicitation_complete("nobody was asked")
        return [answer.action, answer.data, answer.elicitation_id]

    @server.tool
    def sign_in_blocking(ctx: Context, name: str) -> str:
        answer = ctx.elicit_url("Sign in.", PAGE, elicitation_id=name)
        ctx.elicitation_complete(name)
        return answer.action

    @server.tool
    async def wait_for_page(ctx: AsyncContext, name: str) -> str:
        """The page tells the server, outside any handler."""
        answer = await ctx.elicit_url("Sign in.", PAGE, elicitation_id=name)
        threading.Thread(target=server.elicitation_complete, args=(name,)).start()
        return answer.action

    @server.tool
    async def notes() -> str:
        """Needs the page first."""
        if "here" not in been:
            been.add("here")
            raise UrlRequired([Elicit("Sign in.", url=PAGE, elicitation_id="e1"), Elicit("Pay.", url=PAGE + "&pay=1")])
        return "notes"

    @server.resource("notes://secret")
    async def secret() -> str:
        raise UrlRequired(Elicit("Sign in.", url=PAGE), "First the page.")

    return server


async def test_a_page_carries_its_id_where_the_revision_has_one_and_only_there():
    async with Talk(make(), OLD, answers=YES) as talk:
        action, data, id_ = (await talk.call("sign_in"))["structuredContent"]["result"]
        asked = talk.asked[0]["params"]
        assert (action, data) == ("accept", None)
        assert asked == {"mode": "url", "message": "Sign in.", "url": PAGE, "elicitationId": id_}
        assert len(id_) >= 32
        assert talk.of(DONE) == [{"elicitationId": id_}]
    async with Talk(make(), NEW, answers=YES) as talk:
        assert (await talk.call("sign_in", {"name": "mine"}))["structuredContent"][0] == "accept"
        assert talk.asked[0]["params"] == {"mode": "url", "message": "Sign in.", "url": PAGE}
        assert not talk.of(DONE)


async def test_a_blocking_handler_tells_the_end_too():
    async with Talk(make(), OLD, answers=YES) as talk:
        await talk.call("sign_in_blocking", {"name": "mine"})
        assert talk.of(DONE) == [{"elicitationId": "mine"}]


async def test_only_the_client_that_was_asked_is_told_by_the_server_and_once():
    server = make()
    async with Talk(server, OLD, answers=YES) as talk, Talk(server, OLD, answers=YES) as other:
        await other.call("sign_in")
        others = len(other.of(DONE))
        await talk.call("wait_for_page", {"name": "one"})
        await talk.call("wait_for_page", {"name": "two"})
        await talk.until(lambda: len(talk.of(DONE)) == 2)
        server.elicitation_complete("one")
        server.elicitation_complete("never asked")
        await talk.settle()
        await other.settle()
        assert sorted(one["elicitationId"] for one in talk.of(DONE)) == ["one", "two"]
        assert len(other.of(DONE)) == others


async def test_what_needs_a_page_is_an_error_with_the_pages_in_2025_11_25():
    async with Talk(make(), OLD) as talk:
        with pytest.raises(RpcFailure) as caught:
            await talk.call("notes")
        assert caught.value.code == -32042
        first, second = caught.value.data["elicitations"]
        assert first == {"mode": "url", "message": "Sign in.", "url": PAGE, "elicitationId": "e1"}
        assert second["elicitationId"]
        assert (await talk.call("notes"))["content"][0]["text"] == "notes"
        with pytest.raises(RpcFailure, match=r"First the page\.") as caught:
            await talk.request("resources/read", {"uri": "notes://secret"})
        assert caught.value.code == -32042


@pytest.mark.parametrize("replay", ["auto", "always"])
async def test_what_needs_a_page_is_a_round_in_2026_07_28(replay: Any):
    async with Talk(make(replay=replay), NEW, answers=YES) as talk:
        first = await talk.request("tools/call", {"name": "notes"})
        assert [one["params"]["url"] for one in first["inputRequests"].values()] == [PAGE, PAGE + "&pay=1"]
        no = {key: {"action": "decline"} for key in first["inputRequests"]}
        refused = {"name": "notes", "inputResponses": no, "requestState": first["requestState"]}
        assert "did not open" in (await talk.request("tools/call", refused))["content"][0]["text"]
        assert (await talk.call("notes"))["content"][0]["text"] == "notes"
        again = await talk.request("resources/read", {"uri": "notes://secret"})
        for _ in range(2):
            again = await talk.request("resources/read", {"uri": "notes://secret", **talk.replies(again)})
            assert again["resultType"] == "input_required", "the person has not been there yet"


@pytest.mark.parametrize(("revision", "code"), [("2025-06-18", None), (OLD, None), (NEW, -32021)])
async def test_a_client_without_pages_is_never_sent_one(revision: str, code: int | None):
    async with Talk(make(), revision, capabilities={"elicitation": {}}) as talk:
        for tool in ("sign_in", "notes"):
            if code is None:
                result = await talk.call(tool)
                assert result["isError"] is True
                assert "elicitation.url" in result["content"][0]["text"]
            else:
                with pytest.raises(RpcFailure) as caught:
                    await talk.call(tool)
                assert (caught.value.code, caught.value.data) == (
                    code,
                    {"requiredCapabilities": {"elicitation": {"url": {}}}},
                )


def test_only_pages_of_the_web_can_be_asked_for():
    for url in ("javascript:alert(1)", "file:///etc/passwd", "example.org", ""):
        with pytest.raises(UsageError):
            Elicit("x", url=url)
    with pytest.raises(UsageError):
        UrlRequired(Elicit("a form", int))
    with pytest.raises(UsageError):
        UrlRequired([])
