"""The bridge between an agent and a live notebook, in both eras, with the notebook there, away and back."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.cli.bridge import notebooks
from jupyter_mcp.protocol.revisions import ALL, LEGACY
from tests.cli.stand_in import Machine, notebook
from tests.server.talk import RpcFailure, always

if TYPE_CHECKING:
    from jupyter_mcp.server import Server
    from jupyter_mcp.server.exchange import Exchange
    from tests.server.talk import Talk

pytestmark = pytest.mark.anyio
ERAS = ["2025-11-25", "2026-07-28"]
CHANGED = "notifications/tools/list_changed"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebooks, "LOOK_SECONDS", 0.02)
    monkeypatch.setattr(notebooks, "AGAIN_SECONDS", 0.01)


async def tools(talk: Talk) -> set[str]:
    return {tool["name"] for tool in (await talk.request("tools/list"))["tools"]}


def text(result: dict[str, Any]) -> str:
    return "\n".join(block["text"] for block in result["content"])


async def listen(talk: Talk, **wanted: Any) -> None:
    """Have changes told, in either era."""
    if talk.era == "modern":
        wanted = {f"{kind}ListChanged": True for kind in ("tools", "resources", "prompts")} | wanted
        await talk.start("subscriptions/listen", {"notifications": wanted}, id="listening")
        await talk.until(lambda: bool(talk.of("notifications/subscriptions/acknowledged")))
        return
    for uri in wanted.get("resourceSubscriptions", ()):
        await talk.request("resources/subscribe", {"uri": uri})


# --- no notebook yet


@pytest.mark.parametrize("revision", ALL)
async def test_without_a_notebook_it_is_a_server_that_lists_its_tools_and_says_what_to_do(revision: str) -> None:
    async with Machine().agent(revision) as talk:
        if talk.era == "modern":
            assert "2026-07-28" in (await talk.request("server/discover"))["supportedVersions"]
        assert {"list_variables", "read_variable", "execute_code"} <= await tools(talk)
        result = await talk.call("list_variables")
        assert result["isError"] is True
        assert "No notebook is being served" in text(result) and "%mcp serve" in text(result)
        assert (await talk.request("resources/list"))["resources"] == []
        assert (await talk.request("resources/templates/list"))["resourceTemplates"] == []
        assert (await talk.request("prompts/list"))["prompts"] == []
        with pytest.raises(RpcFailure, match="No notebook is being served"):
            await talk.request("resources/read", {"uri": "notebook://sales/variables/df"})


@pytest.mark.parametrize("revision", ERAS)
async def test_a_notebook_that_is_served_later_is_told_and_used(revision: str) -> None:
    machine = Machine()
    async with machine.agent(revision) as talk:
        await listen(talk)
        assert "ask" not in await tools(talk)
        async with machine.serving(notebook()):
            await talk.until(lambda: bool(talk.of(CHANGED)))
            assert "ask" in await tools(talk)
            assert "sales" in text(await talk.call("list_variables", {"notebook": "sales"}))


# --- a notebook


@pytest.mark.parametrize("revision", ALL)
async def test_tools_resources_and_completion_are_the_notebooks(revision: str) -> None:
    machine = Machine()
    async with machine.serving(notebook()), machine.agent(revision) as talk:
        assert await tools(talk) == {"list_variables", "ask", "steps", "rows"}
        assert text(await talk.call("rows"))
        read = await talk.request("resources/read", {"uri": "notebook://sales/variables/df"})
        assert read["contents"][0]["text"] == "sales/df"
        templates = (await talk.request("resources/templates/list"))["resourceTemplates"]
        assert [one["uriTemplate"] for one in templates] == ["notebook://sales/variables/{name}"]
        ref = {"type": "ref/resource", "uri": "notebook://sales/variables/{name}"}
        found = await talk.request("completion/complete", {"ref": ref, "argument": {"name": "name", "value": "m"}})
        assert found["completion"]["values"] == ["model"]


async def test_a_tool_that_every_notebook_has_is_told_which_one_when_the_agent_does_not_say() -> None:
    machine = Machine()
    async with machine.serving(notebook()), machine.agent() as talk:
        assert (await talk.call("list_variables"))["structuredContent"]["notebook"] == "sales"


@pytest.mark.parametrize("revision", LEGACY)
async def test_an_older_agent_reads_nothing_that_its_revision_does_not_know(revision: str) -> None:
    machine = Machine()
    async with machine.serving(notebook()), machine.agent(revision) as talk:
        listed = await talk.request("tools/list")
        called = await talk.call("rows")
        assert not {"resultType", "ttlMs", "cacheScope", "_meta"} & (set(listed) | set(called))
        rows = next(tool for tool in listed["tools"] if tool["name"] == "rows")
        if revision >= "2025-06-18":
            assert rows["outputSchema"]["type"] == "object"
            assert called["structuredContent"] == {"result": [1, 2]}
        else:
            assert "outputSchema" not in rows and "structuredContent" not in called


@pytest.mark.parametrize("revision", ["2025-06-18", *ERAS])
async def test_a_question_of_the_notebook_reaches_the_agent_and_its_answer_comes_back(revision: str) -> None:
    machine = Machine()
    answers = {"elicitation/create": green}
    async with machine.serving(notebook()), machine.agent(revision, answers=answers) as talk:
        result = await talk.call("ask", {"pet": "cat"})
        (asked,) = talk.asked
        assert asked["params"]["message"] == "Which colour has the cat?"
        assert "green" in text(result), result


def green(params: dict[str, Any]) -> dict[str, Any]:
    """Accept, with green for the one field."""
    (field,) = params["requestedSchema"]["properties"]
    return {"action": "accept", "content": {field: "green"}}


async def test_an_agent_that_cannot_be_asked_is_told_so_by_the_notebook() -> None:
    machine = Machine()
    async with machine.serving(notebook()), machine.agent(capabilities={}) as talk:
        with pytest.raises(RpcFailure, match="elicitation"):
            await talk.call("ask", {"pet": "cat"})


@pytest.mark.parametrize("revision", ERAS)
async def test_progress_and_log_messages_arrive_before_the_result(revision: str) -> None:
    machine = Machine()
    async with machine.serving(notebook()), machine.agent(revision) as talk:
        meta = {"progressToken": "mine", "io.modelcontextprotocol/logLevel": "info"}
        _, future = await talk.start("tools/call", {"name": "steps", "arguments": {}}, **meta)
        await future
        assert [one["progress"] for one in talk.of("notifications/progress")] == [1, 2, 3]
        assert {one["progressToken"] for one in talk.of("notifications/progress")} == {"mine"}
        assert [one["data"] for one in talk.of("notifications/message")] == ["halfway"]
        assert talk.received[-1].get("result"), "the result is last"


@pytest.mark.parametrize("revision", ERAS)
async def test_cancelling_reaches_the_notebook(revision: str) -> None:
    machine, server = Machine(), notebook()
    started, ended = asyncio.Event(), asyncio.Event()

    @server.tool
    async def wait() -> str:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return ""

    async with machine.serving(server), machine.agent(revision) as talk:
        id_, future = await talk.start("tools/call", {"name": "wait", "arguments": {}})
        await asyncio.wait_for(started.wait(), 10)
        await talk.notify("notifications/cancelled", {"requestId": id_})
        await asyncio.wait_for(ended.wait(), 10)
        assert not future.done()


# --- changes


@pytest.mark.parametrize("revision", ERAS)
async def test_a_change_of_what_is_watched_and_of_the_lists_is_told(revision: str) -> None:
    machine, server = Machine(), notebook()
    uri = "notebook://sales/variables/df"
    watched = watching(server, uri)
    async with machine.serving(server), machine.agent(revision) as talk:
        await tools(talk)
        await listen(talk, resourceSubscriptions=[uri])
        await asyncio.wait_for(watched.wait(), 10)
        server.resource_updated(uri)
        await talk.until(lambda: [one["uri"] for one in talk.of("notifications/resources/updated")] == [uri])
        before = len(talk.of(CHANGED))

        @server.tool
        def new() -> str:
            return ""

        await talk.until(lambda: len(talk.of(CHANGED)) > before)
        assert "new" in await tools(talk)


def watching(server: Server, uri: str) -> asyncio.Event:
    """Set once somebody listens to changes of this resource."""
    begun = asyncio.Event()

    def admit(exchange: Exchange) -> None:
        wanted = exchange.params.get("notifications", {})
        if uri in wanted.get("resourceSubscriptions", ()):
            begun.set()

    server.admit = admit
    return begun


@pytest.mark.parametrize("revision", ERAS)
async def test_a_restart_is_survived(revision: str) -> None:
    machine, uri = Machine(), "notebook://sales/variables/df"
    async with machine.agent(revision) as talk:
        async with machine.serving(notebook()):
            assert "ask" in await tools(talk)
            await listen(talk, resourceSubscriptions=[uri])
        await talk.until(lambda: bool(talk.of(CHANGED)))
        gone = await talk.call("list_variables", {"notebook": "sales"})
        assert gone["isError"] is True and "%mcp serve" in text(gone)
        assert "ask" not in await tools(talk)
        told = len(talk.of(CHANGED))
        restarted = notebook()
        watched = watching(restarted, uri)
        async with machine.serving(restarted):
            await talk.until(lambda: len(talk.of(CHANGED)) > told)
            assert "ask" in await tools(talk)
            assert "sales" in text(await talk.call("list_variables", {"notebook": "sales"}))
            await talk.until(lambda: bool(talk.of("notifications/resources/updated")))
            await asyncio.wait_for(watched.wait(), 10)


async def test_a_call_that_the_kernel_took_with_it_is_not_made_twice() -> None:
    machine, server = Machine(), notebook()
    calls: list[int] = []
    started = asyncio.Event()

    @server.tool
    async def slow() -> str:
        calls.append(1)
        started.set()
        await asyncio.Event().wait()
        return ""

    async with machine.agent() as talk:
        async with machine.serving(server):
            _, future = await talk.start("tools/call", {"name": "slow", "arguments": {}})
            await asyncio.wait_for(started.wait(), 10)
        result = (await asyncio.wait_for(future, 10))["result"]
        assert result["isError"] is True and "may have been run" in text(result)
        assert len(calls) == 1


# --- which notebook


@pytest.mark.parametrize("revision", ERAS)
async def test_several_are_asked_about_once(revision: str) -> None:
    machine = Machine()
    answers = {"elicitation/create": always({"action": "accept", "content": {"notebook": "stock"}})}
    async with machine.two(), machine.agent(revision, answers=answers) as talk:
        listed = await talk.request("tools/list")
        first = next(tool for tool in listed["tools"] if tool["name"] == "list_variables")
        assert first["inputSchema"]["properties"]["notebook"]["enum"] == ["sales", "stock"]
        assert "stock" in text(await talk.call("list_variables"))
        assert "stock" in text(await talk.call("list_variables"))
        assert len(talk.asked) == 1
        assert "ask" in await tools(talk)


@pytest.mark.parametrize("revision", ERAS)
@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_no_answer_about_which_one_is_an_error_of_that_call(revision: str, action: str) -> None:
    machine = Machine()
    answers = {"elicitation/create": always({"action": action})}
    async with machine.two(), machine.agent(revision, answers=answers) as talk:
        result = await talk.call("list_variables")
        assert result["isError"] is True and "No notebook was chosen" in text(result)


async def test_an_agent_that_cannot_be_asked_reads_the_names_and_says_one() -> None:
    machine = Machine()
    async with machine.two(), machine.agent(capabilities={}) as talk:
        result = await talk.call("list_variables")
        assert result["isError"] is True and "sales" in text(result) and "stock" in text(result)
        assert "stock" in text(await talk.call("list_variables", {"notebook": "stock"}))
        assert "ask" in await tools(talk)
        read = await talk.request("resources/read", {"uri": "notebook://sales/variables/df"})
        assert read["contents"][0]["text"] == "sales/df"


async def test_a_notebook_elsewhere_is_not_taken_unasked() -> None:
    machine = Machine()
    async with machine.serving(notebook(), folder="/home/y"), machine.agent(capabilities={}) as talk:
        result = await talk.call("list_variables")
        assert result["isError"] is True and "/home/y" in text(result)


async def test_another_notebook_does_not_take_the_place_of_one_that_is_gone() -> None:
    machine = Machine()
    async with machine.agent(capabilities={}) as talk:
        async with machine.serving(notebook()):
            assert "sales" in text(await talk.call("list_variables"))
        async with machine.serving(notebook("stock"), "stock"):
            assert (await talk.call("list_variables"))["isError"] is True


async def test_the_name_that_the_person_gave_is_the_only_one() -> None:
    machine = Machine()
    async with machine.two(), machine.agent(wanted="stock.ipynb") as talk:
        assert (await talk.call("list_variables"))["structuredContent"]["here"] == "stock"
        async with machine.agent(wanted="other") as talk:
            result = await talk.call("list_variables", {"notebook": "sales"})
            assert result["isError"] is True and "'other' is not being served" in text(result)
