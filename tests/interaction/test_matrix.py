"""One list of behaviours, for every era and transport: our host and client on one side, our server on the other."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from jupyter_mcp.errors import ConnectionLost, MCPError, RequestError, RequestTimeout, ToolError, UsageError
from jupyter_mcp.host.events import Log, Progress, QuestionOpened
from jupyter_mcp.protocol.revisions import features
from tests.interaction.subject import MANY, PIXEL
from tests.interaction.ways import ASKING, PROCESSES, WITH_FORMS, WITH_PAGES, WITHOUT_FORMS, through

if TYPE_CHECKING:
    from pathlib import Path

    from jupyter_mcp.host.result import Result
    from tests.interaction.ways import Way
    from tests.interop.hosted import Hosted

pytestmark = pytest.mark.anyio


async def call(it: Hosted, tool: str, **arguments: object) -> Result:
    return await it.host.call_tool("it", tool, arguments, on_event=it.seen)


# --- connecting ------------------------------------------------------------------------------------------------------


async def test_they_meet_in_the_servers_revision(it: Hosted, way: Way) -> None:
    assert (it.entry.state, it.entry.era, it.entry.revision) == ("ready", way.era, way.revision)
    assert it.entry.info["name"] == "subject"
    assert it.entry.instructions == "For tests."


async def test_it_answers_a_ping(it: Hosted) -> None:
    assert it.entry.connection is not None
    await it.entry.connection.ping()


async def test_a_closed_server_can_be_reached_again(it: Hosted) -> None:
    await it.host.reconnect("it")
    assert (await call(it, "add", a=1)).text == "2"


# --- lists -----------------------------------------------------------------------------------------------------------


async def test_all_pages_of_a_list_come(it: Hosted) -> None:
    names = await it.listed("tools")
    assert [name for name in names if name.startswith("many_")] == [f"many_{number:03}" for number in range(MANY)]


async def test_every_kind_is_listed(it: Hosted) -> None:
    assert await it.listed("resources") == ["notes://secret", "notes://today", "demo://pixel"]
    assert await it.listed("templates") == ["notes://{day}"]
    assert await it.listed("prompts") == ["ask_first", "greet"]


async def test_a_new_tool_appears_by_itself(it: Hosted) -> None:
    await it.listed("tools")
    await call(it, "grow", name="fresh")
    await it.until(lambda: "fresh" in it.tools())
    assert (await call(it, "fresh")).text == "fresh"


# --- calls -----------------------------------------------------------------------------------------------------------


async def test_a_call_returns_text_and_data(it: Hosted, way: Way) -> None:
    result = await call(it, "add", a=2, b=3)
    assert result.text == "5"
    assert ("structuredContent" in result.raw) == features(way.revision).structured_content


async def test_an_image_returns_as_bytes(it: Hosted) -> None:
    assert [image.data for image in (await call(it, "picture")).images] == [PIXEL]


@pytest.mark.parametrize(
    "text", ["", "é\u2028\U0001f600", "tab\tnull\0", "x" * 1_000_000], ids=["no", "odd", "control", "1MB"]
)
async def test_any_text_survives_the_way_there_and_back(it: Hosted, text: str) -> None:
    assert (await call(it, "echo", text=text)).text == text


async def test_a_failure_of_the_tool_is_a_tool_error_with_the_result(it: Hosted) -> None:
    with pytest.raises(ToolError, match="no luck") as failed:
        await call(it, "fail", why="no luck")
    assert failed.value.result is not None
    assert failed.value.result.is_error


async def test_a_bug_of_the_tool_ends_that_call_only_and_shows_no_traceback(it: Hosted) -> None:
    with pytest.raises(ToolError, match="ZeroDivisionError") as failed:
        await call(it, "break_down")
    assert "subject.py" not in str(failed.value)
    assert (await call(it, "add", a=1)).text == "2"


async def test_a_wrong_argument_is_not_even_sent(it: Hosted) -> None:
    with pytest.raises(UsageError, match="a"):
        await call(it, "add", a="two")


async def test_calls_at_once_return_to_their_own_callers(it: Hosted) -> None:
    numbers = await asyncio.gather(*(call(it, "meet", number=number, of=20) for number in range(20)))
    assert [result.text for result in numbers] == [str(number) for number in range(20)]


@pytest.mark.parametrize("tool", ["work", "work_in_a_thread"])
async def test_progress_arrives_in_order_before_the_result(it: Hosted, tool: str) -> None:
    await call(it, tool, steps=3)
    assert [(event.progress, event.total) for event in it.events if isinstance(event, Progress)] == [
        (1, 3),
        (2, 3),
        (3, 3),
    ]


async def test_the_message_of_progress_arrives_where_the_revision_has_one(it: Hosted, way: Way) -> None:
    await call(it, "work", steps=1)
    messages = [event.message for event in it.events if isinstance(event, Progress)]
    assert messages == (["step 1"] if features(way.revision).progress_message else [None])


async def test_log_messages_arrive_with_their_level_and_logger(it: Hosted) -> None:
    assert it.entry.connection is not None
    await it.entry.connection.set_log_level("info")
    await call(it, "work", steps=1)
    await it.until(lambda: any(isinstance(event, Log) for event in it.events))
    logs = [(event.level, event.logger, event.data) for event in it.events if isinstance(event, Log)]
    assert logs == [("warning", "worker", {"steps": 1})]


# --- ending a call early ---------------------------------------------------------------------------------------------


async def test_a_cancelled_call_is_cancelled_at_the_server_too(it: Hosted) -> None:
    pending = asyncio.create_task(call(it, "hang", name="first"))
    await it.until(lambda: any(isinstance(event, Progress) for event in it.events))
    pending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await pending
    assert (await call(it, "ended")).data in ({"result": ["first"]}, ["first"])


async def test_a_call_without_an_answer_times_out_and_the_connection_goes_on(it: Hosted) -> None:
    with pytest.raises(RequestTimeout):
        await it.host.call_tool("it", "hang", {"name": "late"}, timeout=0.2)
    assert (await call(it, "add", a=1)).text == "2"


@through(PROCESSES)
async def test_a_server_that_dies_says_so_and_a_later_call_starts_it_anew(it: Hosted) -> None:
    with pytest.raises(ConnectionLost) as lost:
        await call(it, "die")
    assert (lost.value.exit_code, lost.value.may_have_run) == (3, True)
    assert "last words" in lost.value.stderr
    assert it.entry.state == "lost"
    assert (await call(it, "add", a=1)).text == "2"


# --- questions of the server -----------------------------------------------------------------------------------------


@through(WITH_FORMS)
async def test_a_form_is_asked_and_answered(it: Hosted) -> None:
    it.host.answers.add({"row": 7, "side": "window"})
    result = await call(it, "seat")
    assert result.text == "accept: {'row': 7, 'side': 'window'}"
    question = next(event.question for event in it.events if isinstance(event, QuestionOpened))
    assert (question.kind, question.server, question.message) == ("elicitation", "it", "Which seat?")
    assert question.cause is not None
    assert question.cause.name == "seat"


@through(WITH_FORMS)
@pytest.mark.parametrize("action", ["decline", "cancel"])
@pytest.mark.parametrize("tool", ["seat", "seat_in_a_thread"])
async def test_a_no_and_a_cancel_reach_the_tool(it: Hosted, tool: str, action: str) -> None:
    it.host.answers.add(action)
    assert (await call(it, tool)).text == action


@through(WITH_FORMS)
@pytest.mark.parametrize("tool", ["two_seats", "two_seats_in_a_thread", "seats_at_once", "seats_by_hand"])
async def test_two_questions_keep_their_answers(it: Hosted, tool: str) -> None:
    it.host.answers.add({"row": 1}, match="First")
    it.host.answers.add({"row": 2}, match="Second")
    assert (await call(it, tool)).text == "1 and 2"


@through(WITH_FORMS)
@pytest.mark.parametrize("tool", ["two_seats", "two_seats_in_a_thread"])
async def test_a_handler_goes_on_after_an_answer_unless_it_has_to_run_again(it: Hosted, way: Way, tool: str) -> None:
    it.host.answers.add({"row": 1})
    await call(it, tool)
    assert (await call(it, "begun")).text == ("3" if way.replay == "always" else "1")


@through(WITH_FORMS)
async def test_a_resource_and_a_prompt_may_ask_too(it: Hosted) -> None:
    it.host.answers.add({"row": 3})
    assert (await it.host.read("it", "notes://secret")).text == "accept"
    assert (await it.host.get_prompt("it", "ask_first")).text == "accept"


@through(WITH_PAGES)
@pytest.mark.parametrize("action", ["accept", "decline", "cancel"])
async def test_a_page_is_asked_for(it: Hosted, action: str) -> None:
    it.host.answers.add(action)
    assert (await call(it, "page")).text == action


@through(WITH_PAGES)
async def test_what_needs_a_page_first_goes_on_after_it(it: Hosted) -> None:
    it.host.answers.add("accept")
    assert (await call(it, "page_first")).text == "welcome"


@through(WITH_PAGES)
async def test_what_needs_a_page_first_ends_when_the_person_does_not_want_to(it: Hosted) -> None:
    it.host.answers.add("decline")
    with pytest.raises(MCPError):
        await call(it, "page_first")


@through(WITH_FORMS)
async def test_several_questions_in_one_round(it: Hosted) -> None:
    it.host.answers.add({"row": 9})
    it.host.answers.add({"text": "hello"}, kind="sampling")
    assert (await call(it, "everything")).text == "9, hello, 1 root"


@through(WITH_FORMS)
async def test_a_scripted_answer_that_breaks_the_form_ends_the_call_with_the_reason(it: Hosted) -> None:
    it.host.answers.add({"row": 99})
    with pytest.raises(UsageError, match="row"):
        await call(it, "seat")
    assert (await call(it, "add", a=1)).text == "2"


@through(WITH_FORMS)
async def test_nobody_there_is_a_cancel(it: Hosted) -> None:
    assert (await call(it, "seat")).text == "cancel"


@through(WITHOUT_FORMS)
async def test_a_form_in_a_revision_without_forms_is_an_error_of_that_call(it: Hosted) -> None:
    with pytest.raises(MCPError, match="elicitation"):
        await call(it, "seat")


@through(ASKING)
async def test_a_sample_is_asked_and_answered(it: Hosted) -> None:
    it.host.answers.add({"text": "hello"})
    assert (await call(it, "think")).text == "hello"


@through(ASKING)
async def test_roots_are_told(it: Hosted, tmp_path: Path) -> None:
    assert tmp_path.as_uri() in (await call(it, "folders")).text


# --- resources and prompts -------------------------------------------------------------------------------------------


async def test_a_resource_is_read_as_text_or_bytes(it: Hosted) -> None:
    read = await it.host.read("it", "notes://today")
    assert (read.text, read.mime_type) == ("water the plants", "text/plain")
    assert (await it.host.read("it", "demo://pixel")).bytes == PIXEL


async def test_a_template_is_filled_in(it: Hosted) -> None:
    read = await it.host.read("it", "notes://{day}", {"day": "today"})
    assert (read.uri, read.text) == ("notes://today", "water the plants")


async def test_a_resource_that_is_not_there_has_the_code_of_its_era(it: Hosted, way: Way) -> None:
    with pytest.raises(RequestError) as missing:
        await it.host.read("it", "notes://nowhere")
    assert missing.value.code == (-32602 if way.era == "modern" else -32002)


async def test_a_watched_resource_tells_of_its_change(it: Hosted) -> None:
    assert it.entry.connection is not None
    told: list[str] = []
    changed = asyncio.Event()

    def on_change(uri: str, *rest: object) -> None:
        told.append(uri)
        changed.set()

    watch = await it.entry.connection.watch("notes://today", on_change)
    await call(it, "write", text="read a book")
    await asyncio.wait_for(changed.wait(), 10)
    assert told == ["notes://today"]
    assert (await it.host.read("it", "notes://today")).text == "read a book"
    await watch.stop()


async def test_a_prompt_takes_its_arguments_and_defaults(it: Hosted) -> None:
    assert (await it.host.get_prompt("it", "greet", {"name": "Ada"})).text == "Greet Ada in a warm tone."


async def test_a_prompt_argument_completes(it: Hosted) -> None:
    found = await it.host.complete("it", {"type": "ref/prompt", "name": "greet"}, "name", "A")
    assert found["values"] == ["Ada", "Alan"]
