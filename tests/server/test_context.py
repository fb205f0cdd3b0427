"""The context of both kinds of handlers: the same words, blocking and awaitable."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest

from jupyter_mcp.protocol.modern import LOG_LEVEL_KEY
from jupyter_mcp.protocol.revisions import era
from jupyter_mcp.server import AsyncContext, Context, Elicit, Roots, Sample, Server, user
from jupyter_mcp.server.registry import own_choices
from tests.server.talk import INFO, Talk, always

pytestmark = pytest.mark.anyio
both_eras = pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
WORD = {"role": "assistant", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "model": "m"}
ANSWERS = {
    "elicitation/create": always({"action": "accept", "content": {"value": 3}}),
    "sampling/createMessage": always({**WORD, "stopReason": "endTurn"}),
    "roots/list": always(
        {"roots": [{"uri": "file:///w%20x", "name": "w"}, {"uri": "http://h/x"}, {"uri": "file://host/x"}]}
    ),
}


def make_server() -> Server:
    server = Server("context")

    @server.tool
    def blocking(ctx: Context) -> dict[str, Any]:
        sampled = ctx.sample([user("x"), "y"], 5, system="s", temperature=0, models=["small"], stop_sequences=["END"])
        number = ctx.elicit("n?", int)
        page = ctx.elicit_url("page", "https://example.org")
        roots = ctx.roots()
        both = ctx.ask({"n": Elicit("n again?", int), "r": Roots()})
        ctx.log("warning", "w", logger="here")
        return said(ctx, sampled, number, page, roots, both)

    @server.tool
    async def awaiting(ctx: AsyncContext) -> dict[str, Any]:
        sampled = await ctx.sample(
            [user("x"), "y"], 5, system="s", temperature=0, models=["small"], stop_sequences=["END"]
        )
        number = await ctx.elicit("n?", int)
        page = await ctx.elicit_url("page", "https://example.org")
        roots = await ctx.roots()
        both = await ctx.ask({"n": Elicit("n again?", int), "r": Roots()})
        await ctx.sleep(0)
        await ctx.log("warning", "w", logger="here")
        return said(ctx, sampled, number, page, roots, both)

    def said(ctx: Any, sampled: Any, number: Any, page: Any, roots: Any, both: Any) -> dict[str, Any]:
        return {
            "sampled": [sampled.text, sampled.model, sampled.stop_reason, len(sampled.content)],
            "number": number.data,
            "page": [page.action, page.data],
            "roots": [[root.uri, root.name, str(root.path)] for root in roots],
            "both": [both["n"].data, len(both["r"])],
            "about": [ctx.era, ctx.revision, ctx.client_info, ctx.principal, ctx.cancelled, ctx.meta["mark"]],
            "id": ctx.request_id,
            "can": [ctx.can("sampling"), ctx.can("sampling", "context"), ctx.can("elicitation", "form")],
            "declared": sorted(ctx.client_capabilities),
        }

    @server.tool
    async def misused(ctx: AsyncContext) -> str:
        """Uses a blocking context on the loop, where it would wait for itself for ever."""
        blocking = Context(cast("Any", ctx)._run)
        blocking.log("info", "x")
        return "never"

    @server.tool
    def returns_a_coroutine() -> Any:
        async def later() -> str:
            await asyncio.sleep(0)
            return "later"

        return later()

    @server.tool
    async def with_tools(ctx: AsyncContext) -> str:
        return (await ctx.sample("x", tools=[{"name": "t", "inputSchema": {"type": "object"}}])).text

    return server


@both_eras
@pytest.mark.parametrize("tool", ["blocking", "awaiting"])
async def test_both_contexts_say_and_ask_the_same(revision: str, tool: str):
    async with Talk(make_server(), revision, answers=ANSWERS) as talk:
        level = {LOG_LEVEL_KEY: "info"} if era(revision) == "modern" else {}
        data = (await talk.call(tool, {}, mark="here", **level))["structuredContent"]
        assert data["sampled"] == ["a\nb", "m", "endTurn", 2]
        assert data["number"] == 3
        assert data["page"] == ["accept", None]
        local = str(Path("/w x"))
        assert data["roots"] == [
            ["file:///w%20x", "w", local],
            ["http://h/x", None, "None"],
            ["file://host/x", None, "None"],
        ]
        assert data["both"] == [3, 3]
        assert data["about"] == [era(revision), revision, INFO, "", False, "here"]
        assert data["can"] == [True, False, True]
        assert data["declared"] == ["elicitation", "roots", "sampling"]
        assert data["id"] > 100
        asked = next(one["params"] for one in talk.asked if one["method"] == "sampling/createMessage")
        assert asked == {
            "messages": [{"role": "user", "content": {"type": "text", "text": text}} for text in "xy"],
            "maxTokens": 5,
            "systemPrompt": "s",
            "temperature": 0,
            "stopSequences": ["END"],
            "modelPreferences": {"hints": [{"name": "small"}]},
        }
        assert talk.of("notifications/message")[-1] == {"level": "warning", "logger": "here", "data": "w"}


@both_eras
async def test_a_blocking_context_on_the_loop_is_refused_instead_of_hanging(revision: str):
    async with Talk(make_server(), revision) as talk:
        result = await talk.call("misused", {}, **{LOG_LEVEL_KEY: "debug"})
        assert result["isError"] is True
        assert "make the handler `async def`" in result["content"][0]["text"]


async def test_a_function_that_returns_a_coroutine_is_awaited():
    async with Talk(make_server()) as talk:
        assert (await talk.call("returns_a_coroutine"))["content"][0]["text"] == "later"


@both_eras
async def test_sampling_with_tools_needs_a_client_that_declared_it(revision: str):
    async with Talk(make_server(), revision, answers=ANSWERS) as talk:
        assert (await talk.call("with_tools"))["content"][0]["text"] == "a\nb"
    async with Talk(make_server(), "2025-11-25", answers=ANSWERS, capabilities={"sampling": {}}) as talk:
        assert "sampling.tools" in (await talk.call("with_tools"))["content"][0]["text"]


def test_a_message_with_several_blocks_is_several_messages_before_2025_11_25():
    from jupyter_mcp.protocol.revisions import features

    sample = Sample([user(["a", "b"])])
    assert len(sample.params(features("2025-06-18"))["messages"]) == 2
    (one,) = sample.params(features("2025-11-25"))["messages"]
    assert [block["text"] for block in one["content"]] == ["a", "b"]
    loop: dict[str, Any] = {"role": "user", "content": [{"type": "tool_result", "toolUseId": "1", "content": []}]}
    assert Sample([loop]).params(features("2026-07-28"))["messages"][0]["content"]["type"] == "tool_result"


def test_choices_are_read_from_every_annotation():
    import enum
    from typing import Annotated, Literal, Optional

    class Size(enum.Enum):
        BIG = 1

    assert own_choices(Literal["a", 2]) == ["a", "2"]
    assert own_choices(Annotated[Optional[Literal["a"]], "x"]) == ["a"]  # noqa: UP045
    assert own_choices(Size | None) == ["1"]
    assert own_choices(bool) == ["true", "false"]
    assert own_choices(str) == own_choices(list[Literal["a"]]) == []
