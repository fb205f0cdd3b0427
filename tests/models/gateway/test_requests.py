"""What a provider is sent for a request, and what its replies become; through the real pydantic-ai, over a socket."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from jupyter_mcp.errors import ProviderError, UnsupportedContent
from jupyter_mcp.models.base import INVALID_INPUT, ModelRequest, ToolWriting
from jupyter_mcp.models.gateway import GatewayModel, Patience
from jupyter_mcp.models.gateway_clients import Access
from jupyter_mcp.models.providers import PROVIDERS
from tests.models.gateway.provider import Answer, Provider, completion, provider, stream

pytestmark = pytest.mark.anyio

KEY = "sk-secret-of-the-test"
AT_ONCE = Patience(attempts=3, first=0, longest=5)
HELLO = ModelRequest([{"role": "user", "content": {"type": "text", "text": "hello"}}])
ADD = {
    "name": "add",
    "description": "Add two numbers",
    "inputSchema": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
}
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def model(there: Provider, name: str = "openai", patience: Patience = AT_ONCE, timeout: float = 10) -> GatewayModel:
    access = Access(PROVIDERS[name], there.url, lambda: KEY, timeout=timeout)
    return GatewayModel(f"{name}:small", "small", access, patience=patience)


def said(role: str, *blocks: Any) -> dict[str, Any]:
    return {"role": role, "content": [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks]}


def use(identity: str, **more: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": identity, "name": "add", "input": {"a": 1}, **more}


def result(identity: str, *blocks: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "toolUseId": identity, "content": list(blocks), **more}


async def test_text_goes_in_and_comes_out_with_what_it_took() -> None:
    async with provider(completion("hi there")) as there:
        reply = await model(there).generate(HELLO)
    assert (reply.text, reply.model, reply.stop_reason) == ("hi there", "small-2026", "endTurn")
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (11, 7)
    [got] = there.got
    assert got.path == "/v1/chat/completions"
    assert got.headers["authorization"] == f"Bearer {KEY}"
    assert (got.body["model"], got.body["messages"]) == ("small", [{"role": "user", "content": "hello"}])


async def test_everything_that_limits_the_reply_is_sent() -> None:
    request = ModelRequest(
        HELLO.messages, "be brief", [ADD], {"mode": "required"}, 50, 0.25, ["END"], {"user": "not for providers"}
    )
    async with provider(completion("x", finish="length")) as there:
        reply = await model(there).generate(request)
    body = there.got[0].body
    assert body["messages"][0] == {"role": "system", "content": "be brief"}
    assert (body["max_completion_tokens"], body["temperature"], body["stop"]) == (50, 0.25, ["END"])
    assert body["tool_choice"] == "required"
    [tool] = body["tools"]
    assert tool["function"]["name"] == "add"
    assert tool["function"]["parameters"]["properties"] == {"a": {"type": "integer"}}
    assert "not for providers" not in str(body)
    assert reply.stop_reason == "maxTokens"


async def test_others_than_openai_are_told_the_limit_in_the_word_that_all_understand() -> None:
    async with provider(completion("x")) as there:
        await model(there, "ollama").generate(ModelRequest(HELLO.messages, max_tokens=50))
    assert there.got[0].body["max_tokens"] == 50
    assert "max_completion_tokens" not in there.got[0].body


async def test_a_conversation_with_tools_is_sent_as_the_provider_has_it() -> None:
    messages = [
        said("user", "add one", {"type": "image", "data": PIXEL, "mimeType": "image/png"}),
        said("assistant", "calling", use("c1"), use("c2")),
        said(
            "user",
            result("c1", {"type": "text", "text": "3"}),
            result("c2", structuredContent={"sum": 4}, isError=True),
        ),
    ]
    async with provider(completion("3 and 4")) as there:
        await model(there).generate(ModelRequest(messages, tools=[ADD]))
    sent = there.got[0].body["messages"]
    assert [one["role"] for one in sent] == ["user", "assistant", "tool", "tool"]
    assert sent[0]["content"][0] == {"type": "text", "text": "add one"}
    assert sent[0]["content"][1]["image_url"]["url"] == f"data:image/png;base64,{PIXEL}"
    assert (sent[1]["content"], [call["id"] for call in sent[1]["tool_calls"]]) == ("calling", ["c1", "c2"])
    assert sent[1]["tool_calls"][0]["function"] == {"name": "add", "arguments": '{"a":1}'}
    assert (sent[2]["tool_call_id"], sent[2]["content"]) == ("c1", "3")
    assert sent[3]["tool_call_id"] == "c2"
    assert sent[3]["content"] == '{"error":"{\\"sum\\": 4}"}', "a failure is told as one"


async def test_links_and_embedded_resources_of_a_result_are_told_and_pictures_follow() -> None:
    messages = [
        said("user", "look"),
        said("assistant", use("c1")),
        said(
            "user",
            result(
                "c1",
                {"type": "resource_link", "uri": "notes://1", "name": "note"},
                {"type": "resource", "resource": {"uri": "notes://2", "text": "inside"}},
                {"type": "image", "data": PIXEL, "mimeType": "image/png"},
            ),
        ),
    ]
    async with provider(completion("seen")) as there:
        await model(there).generate(ModelRequest(messages, tools=[ADD]))
    told = str(there.got[0].body["messages"][2:])
    for piece in ("notes://1", "notes://2", "inside", PIXEL):
        assert piece in told


@pytest.mark.parametrize(
    ("block", "problem"),
    [
        ({"type": "audio", "data": "aGk=", "mimeType": "audio/wav"}, "does not take audio"),
        ({"type": "image", "data": "no base64!", "mimeType": "image/png"}, "is not base64"),
    ],
)
async def test_what_cannot_be_sent_is_an_error_before_anything_is_sent(block: dict[str, Any], problem: str) -> None:
    async with provider(completion("x")) as there:
        with pytest.raises(UnsupportedContent, match=problem):
            await model(there).generate(ModelRequest([said("user", "listen", block)]))
    assert there.got == []


async def test_a_reply_streams_its_text_and_ends_with_the_same_reply() -> None:
    pieces: list[str] = []
    async with provider(stream("one ", "two ", "three")) as there:
        reply = await model(there).generate(HELLO, pieces.append)
    assert (pieces, reply.text, reply.stop_reason) == (["one ", "two ", "three"], "one two three", "endTurn")
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (11, 7)
    assert there.got[0].body["stream"] is True


@pytest.mark.parametrize("streams", [False, True])
async def test_calls_of_tools_are_blocks(streams: bool) -> None:
    calls = [{"id": "c1", "name": "add", "input": {"a": 1}}, {"id": "c2", "name": "add", "input": {"a": 2}}]
    answer = stream("so", calls=calls, finish="tool_calls") if streams else completion("so", calls=calls)
    async with provider(answer) as there:
        reply = await model(there).generate(ModelRequest(HELLO.messages, tools=[ADD]), print if streams else None)
    assert (reply.text, reply.stop_reason) == ("so", "toolUse")
    assert reply.tool_uses == [{"type": "tool_use", **call} for call in calls]


async def test_calls_are_told_while_they_are_written() -> None:
    calls = [{"id": "c1", "name": "add", "input": {"a": 1}}, {"id": "c2", "name": "take", "input": {"long": "word"}}]
    pieces: list[ToolWriting] = []
    async with provider(stream("so", calls=calls, finish="tool_calls")) as there:
        asked = model(there)
        assert "tool-stream" in asked.supports
        reply = await asked.generate(ModelRequest(HELLO.messages, tools=[ADD]), print, on_tool=pieces.append)
    assert [(one.place, one.name) for one in pieces] == [(0, "add"), (0, "add"), (1, "take"), (1, "take")]
    texts = [one.text for one in pieces]
    assert [json.loads(text) for text in texts[1::2]] == [use["input"] for use in reply.tool_uses]
    assert texts[1].startswith(texts[0]) and len(texts[0]) < len(texts[1])


@pytest.mark.parametrize("arguments", ['{"a": 1', "[1]", "one"])
async def test_arguments_that_are_no_object_are_handed_on_as_they_came(arguments: str) -> None:
    calls = [{"id": "c1", "name": "add", "input": arguments}]
    async with provider(completion(calls=calls, finish="tool_calls"), completion("sorry")) as there:
        asked = model(there)
        reply = await asked.generate(ModelRequest(HELLO.messages, tools=[ADD]))
        [block] = reply.tool_uses
        assert (block["input"], block["_meta"]) == ({}, {INVALID_INPUT: arguments})
        follow = [*HELLO.messages, said("assistant", block), said("user", result("c1", isError=True))]
        await asked.generate(ModelRequest(follow, tools=[ADD]))
    assert there.got[1].body["messages"][1]["tool_calls"][0]["function"]["arguments"] == "{}"


async def test_what_a_provider_adds_to_a_call_goes_back_with_its_result_and_only_then() -> None:
    call = {"id": "c1", "name": "add", "input": {"a": 1}}
    answer = completion(calls=[call], finish="tool_calls")
    answer.body["choices"][0]["message"]["reasoning_content"] = "the thoughts of it"
    async with provider(answer, completion("done")) as there:
        asked = model(there, "deepseek")
        reply = await asked.generate(ModelRequest(HELLO.messages, tools=[ADD]))
        assert "the thoughts of it" not in str(reply)
        known = asked._remembered(said("assistant", *reply.content))  # pyright: ignore[reportPrivateUsage]
        assert "the thoughts of it" in str(known)
        changed = said("assistant", {**reply.content[0], "input": {"a": 2}})
        assert asked._remembered(changed) is None  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize("streams", [False, True])
async def test_cancelling_hangs_up(streams: bool) -> None:
    async with provider(Answer(silent=True)) as there:
        task = asyncio.ensure_future(model(there).generate(HELLO, print if streams else None))
        await there.arrived.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await there.dropped.wait()


async def test_two_requests_at_once_share_their_connections() -> None:
    async with provider(completion("x")) as there:
        asked = model(there)
        replies = await asyncio.gather(asked.generate(HELLO), asked.generate(HELLO))
        assert [reply.text for reply in replies] == ["x", "x"]
        assert len(asked._clients.made) == 1  # pyright: ignore[reportPrivateUsage]
        await asked.aclose()


async def test_connections_are_kept_and_closed_at_the_end() -> None:
    async with provider(completion("x")) as there:
        asked = model(there)
        await asked.generate(HELLO)
        http = asked._clients.made[-1].client.http  # pyright: ignore[reportPrivateUsage]
        await asked.generate(HELLO)
        assert http is asked._clients.made[-1].client.http  # pyright: ignore[reportPrivateUsage]
        await asked.aclose()
        assert http.is_closed
        assert (await asked.generate(HELLO)).text == "x", "it can be used again"
        await asked.aclose()


def test_nothing_of_the_key_is_in_what_it_shows() -> None:
    asked = model(Provider())
    assert KEY not in f"{asked!r}{asked.access!r}{vars(asked)}"


async def test_a_key_that_changes_is_used_from_then_on() -> None:
    keys = ["first", "second"]
    async with provider(completion("x")) as there:
        asked = GatewayModel("openai:small", "small", Access(PROVIDERS["openai"], there.url, lambda: keys[0]))
        await asked.generate(HELLO)
        keys.pop(0)
        await asked.generate(HELLO)
        await asked.aclose()
    assert [got.headers["authorization"] for got in there.got] == ["Bearer first", "Bearer second"]


@pytest.mark.parametrize("name", ["openai", "anthropic", "google"])
async def test_a_redirect_to_another_place_is_not_followed_with_the_key(name: str) -> None:
    async with provider(completion("x")) as other:
        elsewhere = Answer("", 307, {"location": f"{other.url}/chat/completions"})
        async with provider(elsewhere) as there:
            asked = model(there, name, patience=Patience(attempts=1))
            with pytest.raises(ProviderError):
                await asked.generate(HELLO)
            http = asked._clients.made[0].client.http  # pyright: ignore[reportPrivateUsage]
            with pytest.raises(ProviderError, match=r"points elsewhere, to 127\.0\.0\.1; it was not followed"):
                await http.post(there.url, follow_redirects=True)
            await asked.aclose()
    assert other.got == []
