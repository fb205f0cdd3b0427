"""`server-everything`, the reference server in TypeScript: one of each thing that a legacy server can do, every way."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import InputRefused, MCPError, UsageError
from jupyter_mcp.host.events import Log, Progress, QuestionClosed, QuestionOpened
from tests.interop import programs
from tests.interop.hosted import Hosted, hosted
from tests.interop.launch import free_port, listening

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator

pytestmark = [pytest.mark.interop, pytest.mark.anyio]

Everything = Callable[..., AbstractAsyncContextManager[Hosted]]
TOOLS_FOR_ANYONE = {"echo", "get-env", "get-sum", "get-structured-content", "get-tiny-image"}
TOOLS_FOR_US = {"trigger-sampling-request", "trigger-elicitation-request", "trigger-url-elicitation", "get-roots-list"}
FORM = {
    "name": "Ada Lovelace",
    "check": True,
    "email": "ada@example.org",
    "homepage": "https://example.org/ada",
    "birthdate": "1815-12-10",
    "integer": 7,
    "number": 2.5,
}


@pytest.fixture(scope="module")
def urls(tmp_path_factory: pytest.TempPathFactory) -> Generator[dict[str, str]]:
    """Where it listens, for all of this module, by the two transports."""
    found: dict[str, str] = {}
    program = programs.npm_server("mcp-server-everything")
    with ExitStack() as running:
        for way, word, path in (("http", "streamableHttp", "mcp"), ("sse", "sse", "sse")):
            port = free_port()
            url = f"http://127.0.0.1:{port}/{path}"
            env = {**os.environ, "PORT": str(port)}
            running.enter_context(listening([program, word], url, env=env, cwd=tmp_path_factory.mktemp(way)))
            found[way] = url
        yield found


@pytest.fixture(params=["stdio", "http", "sse"])
def everything(request: pytest.FixtureRequest, urls: dict[str, str]) -> Everything:
    """A connection to it by each transport, none of them named."""
    target = urls.get(request.param) or [programs.npm_server("mcp-server-everything"), "stdio"]

    @asynccontextmanager
    async def connect(era: str = "auto", **options: Any) -> AsyncGenerator[Hosted]:
        async with hosted(target, era=era, **options) as it:
            assert it.entry.connection is not None
            assert it.entry.connection.link is not None
            assert it.entry.connection.link.transport.kind == request.param
            yield it

    return connect


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_it_is_found_to_be_legacy(era: str, everything: Everything) -> None:
    async with everything(era) as it:
        assert (it.entry.era, it.entry.revision) == ("legacy", "2025-11-25")
        assert it.entry.info["name"] == "mcp-servers/everything"
        assert it.entry.instructions


async def test_a_legacy_server_cannot_be_made_modern(everything: Everything) -> None:
    with pytest.raises(MCPError, match="it"):
        async with everything("modern"):
            pass


async def test_all_four_lists_come(everything: Everything) -> None:
    async with everything() as it:
        assert set(await it.listed("tools")) >= TOOLS_FOR_ANYONE
        assert len(await it.listed("resources")) == 7
        assert len(await it.listed("templates")) == 2
        assert set(await it.listed("prompts")) == {
            "simple-prompt",
            "args-prompt",
            "completable-prompt",
            "resource-prompt",
        }


async def test_tools_that_it_adds_after_the_start_appear_by_themselves(everything: Everything) -> None:
    async with everything() as it:
        await it.listed("tools")
        await it.until(lambda: set(it.tools()) >= TOOLS_FOR_US)


async def test_a_call_gives_text(everything: Everything) -> None:
    async with everything() as it:
        result = await it.host.call_tool("it", "get-sum", {"a": 2, "b": 3})
        assert result.text == "The sum of 2 and 3 is 5."


async def test_a_call_gives_structured_data(everything: Everything) -> None:
    async with everything() as it:
        result = await it.host.call_tool("it", "get-structured-content", {"location": "Chicago"})
        assert set(result.data) == {"temperature", "conditions", "humidity"}
        assert list(result.df().columns) == ["temperature", "conditions", "humidity"]


async def test_a_call_gives_an_image(everything: Everything) -> None:
    async with everything() as it:
        result = await it.host.call_tool("it", "get-tiny-image")
        assert [image.mime_type for image in result.images] == ["image/png"]
        assert result.images[0].data.startswith(b"\x89PNG")


async def test_a_call_gives_links_and_an_embedded_resource(everything: Everything) -> None:
    async with everything() as it:
        links = await it.host.call_tool("it", "get-resource-links", {"count": 2})
        assert [link["uri"] for link in links.links] == [
            "demo://resource/dynamic/blob/1",
            "demo://resource/dynamic/text/2",
        ]
        embedded = await it.host.call_tool("it", "get-resource-reference", {"resourceType": "Text", "resourceId": 1})
        assert [part.uri for part in embedded.resources] == ["demo://resource/dynamic/text/1"]
        assert (embedded.resources[0].text or "").startswith("Resource 1")


async def test_a_wrong_argument_is_refused_before_it_is_sent(everything: Everything) -> None:
    async with everything() as it:
        with pytest.raises(UsageError, match="get-sum"):
            await it.host.call_tool("it", "get-sum", {"a": "two", "b": 3})


async def test_progress_arrives_in_order(everything: Everything) -> None:
    async with everything() as it:
        arguments = {"duration": 0.4, "steps": 4}
        await it.host.call_tool("it", "trigger-long-running-operation", arguments, on_event=it.seen)
        steps = [(event.progress, event.total) for event in it.events if isinstance(event, Progress)]
        assert steps == [(1, 4), (2, 4), (3, 4), (4, 4)]


async def test_a_cancelled_call_leaves_the_connection_usable(everything: Everything) -> None:
    async with everything() as it:
        arguments = {"duration": 60, "steps": 600}
        call = asyncio.create_task(
            it.host.call_tool("it", "trigger-long-running-operation", arguments, on_event=it.seen)
        )
        await it.until(lambda: any(isinstance(event, Progress) for event in it.events))
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert (await it.host.call_tool("it", "echo", {"message": "still here"})).text == "Echo: still here"


async def test_its_long_form_is_answered_by_script(everything: Everything) -> None:
    async with everything() as it:
        await it.has_tool("trigger-elicitation-request")
        it.host.answers.add(FORM, server="it")
        result = await it.host.call_tool("it", "trigger-elicitation-request", on_event=it.seen)
        assert "User provided the requested information" in result.text
        assert "Ada Lovelace" in result.text
        opened = [event.question for event in it.events if isinstance(event, QuestionOpened)]
        assert [question.kind for question in opened] == ["elicitation"]
        assert len(opened[0].params["requestedSchema"]["properties"]) == 13
        assert opened[0].cause is not None
        assert opened[0].cause.name == "trigger-elicitation-request"


@pytest.mark.parametrize(("action", "said"), [("decline", "declined"), ("cancel", "cancelled")])
async def test_a_no_and_a_cancel_are_told_apart(action: str, said: str, everything: Everything) -> None:
    async with everything() as it:
        await it.has_tool("trigger-elicitation-request")
        it.host.answers.add(action)
        result = await it.host.call_tool("it", "trigger-elicitation-request")
        assert said in result.text


async def test_nobody_there_means_cancel_with_a_hint_how_to_script(everything: Everything) -> None:
    async with everything() as it:
        await it.has_tool("trigger-elicitation-request")
        result = await it.host.call_tool("it", "trigger-elicitation-request", on_event=it.seen)
        assert "cancelled" in result.text
        closed = [event.answer for event in it.events if isinstance(event, QuestionClosed)]
        assert [answer and answer.action for answer in closed] == ["cancel"]
        assert any("answer" in note for note in result.notes)


async def test_a_sample_is_answered_by_script(everything: Everything) -> None:
    async with everything() as it:
        await it.has_tool("trigger-sampling-request")
        it.host.answers.add({"text": "A short answer."})
        result = await it.host.call_tool("it", "trigger-sampling-request", {"prompt": "hello", "maxTokens": 10})
        assert "A short answer." in result.text


async def test_a_sample_that_nobody_gives_is_an_error_of_that_call_alone(everything: Everything) -> None:
    async with everything() as it:
        await it.has_tool("trigger-sampling-request")
        with pytest.raises((MCPError, InputRefused)):
            await it.host.call_tool("it", "trigger-sampling-request", {"prompt": "hello"})
        assert (await it.host.call_tool("it", "echo", {"message": "hi"})).text == "Echo: hi"


async def test_it_is_told_the_roots(everything: Everything) -> None:
    async with everything(roots=["file:///some/project"]) as it:
        await it.has_tool("get-roots-list")
        assert "file:///some/project" in (await it.host.call_tool("it", "get-roots-list")).text


async def test_resources_and_templates_are_read(everything: Everything) -> None:
    async with everything() as it:
        document = await it.host.read("it", "demo://resource/static/document/features.md")
        assert document.mime_type == "text/markdown"
        assert document.text.startswith("# ")
        dynamic = await it.host.read("it", "demo://resource/dynamic/text/{resourceId}", {"resourceId": "3"})
        assert dynamic.uri == "demo://resource/dynamic/text/3"
        assert dynamic.text.startswith("Resource 3")
        blob = await it.host.read("it", "demo://resource/dynamic/blob/1")
        assert blob.bytes.startswith(b"Resource 1")


async def test_a_prompt_takes_arguments(everything: Everything) -> None:
    async with everything() as it:
        prompt = await it.host.get_prompt("it", "args-prompt", {"city": "Paris"})
        assert prompt.text == "What's weather in Paris?"


async def test_arguments_of_prompts_and_templates_are_completed(everything: Everything) -> None:
    async with everything() as it:
        prompt = {"type": "ref/prompt", "name": "completable-prompt"}
        assert (await it.host.complete("it", prompt, "department", "S"))["values"] == ["Sales", "Support"]
        names = await it.host.complete("it", prompt, "name", "D", {"department": "Sales"})
        assert names["values"] == ["David"]
        template = {"type": "ref/resource", "uri": "demo://resource/dynamic/text/{resourceId}"}
        assert (await it.host.complete("it", template, "resourceId", "12"))["values"] == ["12"]


async def test_log_messages_arrive_at_the_asked_level(everything: Everything) -> None:
    async with everything() as it:
        assert it.entry.connection is not None
        await it.entry.connection.set_log_level("debug")
        await it.host.call_tool("it", "toggle-simulated-logging", on_event=it.seen)
        await it.until(
            lambda: (
                any(isinstance(event, Log) for event in it.events)
                or any(line.source == "server" for line in it.entry.log)
            )
        )
