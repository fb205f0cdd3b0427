"""Tools, resources, prompts and completion over the wire, at every revision."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_mcp.errors import UsageError
from jupyter_mcp.protocol.revisions import ALL, era, features
from jupyter_mcp.server import Server
from tests.server.sample import make_server
from tests.server.talk import RpcFailure, Talk

pytestmark = pytest.mark.anyio
every_revision = pytest.mark.parametrize("revision", ALL)


def by_name(items: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {item["name"]: item for item in items}


@every_revision
async def test_lists_hold_what_the_revision_knows_and_nothing_else(revision: str):
    can = features(revision)
    async with Talk(make_server()[0], revision) as talk:
        tools = (await talk.request("tools/list"))["tools"]
        tool = by_name(tools)["add"]
        assert tool["inputSchema"]["required"] == ["a"]
        assert ("title" in tool) == can.titles
        assert ("annotations" in tool) == can.tool_annotations
        assert ("icons" in tool) == can.icons
        assert ("_meta" in tool) == can.meta
        assert ("outputSchema" in tool) == can.structured_content
        assert [one["name"] for one in tools][:3] == ["add", "report", "media"], "in order of registration"
        resources = by_name((await talk.request("resources/list"))["resources"])
        assert ("title" in resources["today"]) == can.titles
        assert resources["today"]["mimeType"] == "text/markdown"
        templates = (await talk.request("resources/templates/list"))["resourceTemplates"]
        assert [one["uriTemplate"] for one in templates] == ["notes://{day}{?lines}"]
        prompt = by_name((await talk.request("prompts/list"))["prompts"])["review"]
        assert prompt["arguments"] == [
            {"name": "language", "required": True, "description": "Which one."},
            {"name": "lines", "required": False},
        ]


@every_revision
async def test_only_the_modern_era_has_result_types_and_cache_hints(revision: str):
    async with Talk(make_server()[0], revision) as talk:
        listed = await talk.request("tools/list")
        called = await talk.call("add", {"a": 1})
        read = await talk.request("resources/read", {"uri": "notes://today"})
        if era(revision) == "modern":
            assert (listed["resultType"], listed["ttlMs"], listed["cacheScope"]) == ("complete", 0, "private")
            assert read["ttlMs"] == 0
            assert called["resultType"] == "complete"
            assert "ttlMs" not in called
            info = called["_meta"]["io.modelcontextprotocol/serverInfo"]
            assert info == {"name": "sample", "version": "2", "title": "Sample"}
        else:
            for result in (listed, called, read):
                assert not {"resultType", "ttlMs", "cacheScope", "_meta"} & result.keys()


@every_revision
async def test_a_call_answers_with_text_and_with_data_where_the_revision_can(revision: str):
    async with Talk(make_server()[0], revision) as talk:
        result = await talk.call("report", {"city": "Rome"})
        assert result["content"] == [{"type": "text", "text": '{"city":"Rome","degrees":1.5}'}]
        can = features(revision)
        assert result.get("structuredContent") == ({"city": "Rome", "degrees": 1.5} if can.structured_content else None)
        kinds = [block["type"] for block in (await talk.call("media"))["content"]]
        audio, link = "audio" if can.audio else "text", "resource_link" if can.resource_links else "text"
        assert kinds == ["text", "image", audio, link]


@every_revision
async def test_a_tools_own_errors_are_results_a_model_can_read(revision: str, capsys: pytest.CaptureFixture[str]):
    async with Talk(make_server()[0], revision) as talk:

        async def said(**arguments: Any) -> str:
            result = await talk.call("fail", arguments)
            assert result["isError"] is True
            assert "structuredContent" not in result
            return result["content"][0]["text"]

        assert await said(kind="tool") == "No such row."
        assert capsys.readouterr().err == "", "a tool's deliberate error is no news for the author"
        assert await said(kind="value") == "bad value"
        assert await said(kind="key") == "KeyError: 'k'"
        assert "SystemExit" in await said(kind="exit")
        assert "its result cannot be sent" in await said(kind="odd")
        assert "Invalid arguments. kind: 'no' is not one of" in await said(kind="no")
        err = capsys.readouterr().err
        assert "in fail\n    raise errors[kind]" in err
        assert "jupyter_mcp/server/dispatch" not in err, "the author's own frames only"


@every_revision
async def test_a_handler_that_lets_a_cancellation_through_answers_all_the_same(revision: str):
    async with Talk(make_server()[0], revision) as talk:
        with pytest.raises(RpcFailure, match="cancelled"):
            await talk.call("fail", {"kind": "cancelled"})
        assert (await talk.call("add", {"a": 1}))["content"][0]["text"] == "2"


@every_revision
async def test_what_is_not_there_is_a_protocol_error(revision: str):
    async with Talk(make_server()[0], revision) as talk:

        async def code(method: str, **params: Any) -> tuple[int, Any]:
            with pytest.raises(RpcFailure) as caught:
                await talk.request(method, params)
            return caught.value.code, caught.value.data

        assert await code("tools/call", name="ad") == (-32602, None)
        assert await code("prompts/get", name="nope") == (-32602, None)
        assert await code("tools/list", cursor="nope") == (-32602, None)
        assert await code("no/such") == (-32601, None)
        missing = -32602 if revision >= "2026-07-28" else -32002
        assert await code("resources/read", uri="other://x") == (missing, {"uri": "other://x"})
        assert await code("resources/read", uri="notes://never") == (missing, {"uri": "notes://never"})
        assert await code("resources/read", uri="notes://a?lines=many") == (missing, {"uri": "notes://a?lines=many"})
        assert (await code("resources/read", uri="notes://broken"))[0] == -32603


async def test_an_unknown_tool_names_the_nearest():
    async with Talk(make_server()[0]) as talk:
        with pytest.raises(RpcFailure, match=r"Unknown tool: ad\. Did you mean add\?"):
            await talk.call("ad")


@every_revision
async def test_resources_are_read_by_their_uri_as_listed_and_by_template(revision: str):
    async with Talk(make_server()[0], revision) as talk:

        async def read(uri: str) -> Any:
            return (await talk.request("resources/read", {"uri": uri}))["contents"]

        assert await read("notes://today") == [{"uri": "notes://today", "mimeType": "text/markdown", "text": "milk\n"}]
        assert (await read("notes://monday?lines=7"))[0]["text"] == "monday 7"
        assert (await read("notes://m%C3%A4rz"))[0]["text"] == "märz 1"
        assert (await read("data://table"))[0]["text"] == '{"x":[1,null]}'


@every_revision
async def test_prompts_take_text_and_convert_it(revision: str):
    async with Talk(make_server()[0], revision) as talk:
        got = await talk.request("prompts/get", {"name": "review", "arguments": {"language": "perl", "lines": "5"}})
        assert got["description"] == "Review code."
        assert [one["content"]["text"] for one in got["messages"]] == ["perl 5", "yes"]
        for wrong in ({}, {"language": "cobol"}, {"language": "perl", "lines": "many"}, {"language": "perl", "x": "y"}):
            with pytest.raises(RpcFailure) as caught:
                await talk.request("prompts/get", {"name": "review", "arguments": wrong})
            assert caught.value.code == -32602


@every_revision
async def test_completion_knows_literals_and_handlers_and_stops_at_a_hundred(revision: str):
    async with Talk(make_server()[0], revision) as talk:

        async def complete(ref: dict[str, str], name: str, value: str, **context: Any) -> Any:
            params = {"ref": ref, "argument": {"name": name, "value": value}, **context}
            return (await talk.request("completion/complete", params))["completion"]

        review = {"type": "ref/prompt", "name": "review"}
        assert (await complete(review, "language", "pe"))["values"] == ["perl"]
        assert (await complete(review, "language", ""))["values"] == ["python", "perl"]
        assert (await complete(review, "lines", "1")) == {"values": [], "total": 0, "hasMore": False}
        assert (await complete(review, "nonsense", "1"))["values"] == []
        note = {"type": "ref/resource", "uri": "notes://{day}{?lines}"}
        found = await complete(note, "day", "m", context={"arguments": {"lines": "x"}})
        assert (len(found["values"]), found["total"], found["hasMore"]) == (100, 150, True)
        assert found["values"][0] == ("m0x" if features(revision).completion_context else "m0")
        for ref in ({"type": "ref/prompt", "name": "x"}, {"type": "ref/resource", "uri": "x://y"}, {"type": "odd"}, {}):
            with pytest.raises(RpcFailure) as caught:
                await complete(ref, "a", "")
            assert caught.value.code == -32602


async def test_long_lists_come_in_pages_of_a_hundred():
    server = Server("many")
    for n in range(250):
        server.add_tool(lambda: None, name=f"t{n}")
    async with Talk(server) as talk:
        first = await talk.request("tools/list")
        second = await talk.request("tools/list", {"cursor": first["nextCursor"]})
        third = await talk.request("tools/list", {"cursor": second["nextCursor"]})
        assert [len(one["tools"]) for one in (first, second, third)] == [100, 100, 50]
        assert "nextCursor" not in third
        assert [one["name"] for one in first["tools"] + second["tools"] + third["tools"]] == [
            f"t{n}" for n in range(250)
        ]


async def test_a_server_declares_only_what_it_offers():
    bare = Server("bare")
    async with Talk(bare) as talk:
        assert talk.initialized["capabilities"] == {}
        with pytest.raises(RpcFailure) as caught:
            await talk.request("tools/list")
        assert caught.value.code == -32601
    async with Talk(Server("soon", offers=["tools"])) as talk:
        assert talk.initialized["capabilities"] == {"tools": {"listChanged": True}}
        assert (await talk.request("tools/list"))["tools"] == []


def test_names_uris_and_options_are_checked_when_they_are_registered():
    server = Server("x")

    def f(a: str = "") -> str:
        return a

    def needs(a: str, b: str) -> str:
        return a + b

    for wrong in ("", "a b", "ä", "x" * 129):
        with pytest.raises(UsageError, match="name"):
            server.add_tool(f, name=wrong or " ")
    with pytest.raises(UsageError, match="scheme"):
        server.add_resource("no-scheme", f)
    with pytest.raises(UsageError, match="does not give"):
        server.add_resource("a://b", needs)
    with pytest.raises(UsageError, match="does not give"):
        server.add_resource("a://{a}", needs)
    with pytest.raises(UsageError, match="does not take c"):
        server.add_resource("a://{a}/{c}", f)
    with pytest.raises(UsageError, match="type object"):
        server.add_tool(f, input_schema={"type": "string"})
    with pytest.raises(UsageError, match="2020"):
        Server("x", versions=["2020-01-01"])
    with pytest.raises(UsageError, match="toys"):
        Server("x", offers=["toys"])
    with pytest.raises(UsageError, match="32"):
        Server("x", state_key=b"short")


def test_the_same_function_again_replaces_and_another_of_the_name_is_refused():
    server = Server("x")

    def define(answer: int) -> None:
        @server.tool
        def tool() -> int:
            return answer

    define(1)
    define(2)  # a cell that runs again
    with pytest.raises(UsageError, match="already a tool"):
        server.add_tool(print_nothing, name="tool")
    server.remove_tool("tool")
    server.add_tool(print_nothing, name="tool")
    with pytest.raises(UsageError, match="no tool"):
        server.remove_tool("gone")


def print_nothing() -> None: ...


def test_decorators_return_the_function_itself():
    server = Server("x")

    def f(a: int = 1) -> int:
        return a

    assert server.tool(f) is f
    assert server.tool("named", title="T")(f) is f
    assert server.tool(description="d", name="third")(f) is f
    assert server.prompt(f) is f
    assert server.prompt("named")(f) is f
    assert server.resource("a://{a}")(f) is f
    assert server.completion("named", "a")(print_prefix) is print_prefix
    assert repr(server) == "<Server 'x': 3 tools, 1 resources, 2 prompts>"


def print_prefix(prefix: str) -> list[str]:
    return [prefix]


def test_completions_are_for_arguments_that_exist():
    server = Server("x")

    @server.prompt
    def prompt(a: str) -> str:
        return a

    with pytest.raises(UsageError, match="no argument 'b'"):
        server.completion(prompt, "b")(print_prefix)
    with pytest.raises(UsageError, match="no prompt"):
        server.completion("nope", "a")(print_prefix)
    with pytest.raises(UsageError, match="what was typed"):
        server.completion(prompt, "a")(print_nothing)
