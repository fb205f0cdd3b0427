"""The host with real connections to servers in memory, in both eras."""

from __future__ import annotations

import asyncio
import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

from jupyter_mcp.client.options import ConnectOptions
from jupyter_mcp.errors import (
    ConfigError,
    ConnectionFailed,
    Denied,
    InputRefused,
    LocalProtocolError,
    RequestTimeout,
    ToolError,
    UsageError,
)
from jupyter_mcp.host.events import CallEvent, Log, Progress, QuestionClosed, QuestionOpened
from jupyter_mcp.host.host import Host
from jupyter_mcp.host.questions import Answer, Question
from jupyter_mcp.host.redaction import MASK
from jupyter_mcp.host.specs import ServerSpec
from jupyter_mcp.server import AsyncContext, Server
from jupyter_mcp.server import ToolError as ToolFailed
from tests import fakes

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

pytestmark = pytest.mark.anyio
Era = Literal["legacy", "modern"]

SEAT = {
    "type": "object",
    "properties": {"seats": {"type": "integer", "minimum": 1, "maximum": 3}},
    "required": ["seats"],
}


def make_server(name: str = "demo") -> Server:
    server = Server(name)

    @server.tool
    def add(a: int, b: int = 2) -> int:
        return a + b

    @server.tool
    def say(text: str) -> str:
        return f"{len(text)} characters"

    @server.tool
    def fail() -> str:
        raise ValueError("table is locked")

    @server.tool
    async def book(ctx: AsyncContext) -> str:
        answer = await ctx.elicit("Which seat?", SEAT)
        return f"{answer.action} {answer.data}"

    @server.tool
    async def summarise(ctx: AsyncContext) -> str:
        return (await ctx.sample("Summarise.", max_tokens=20)).text

    @server.tool
    async def where(ctx: AsyncContext) -> list[str]:
        return [root.uri for root in await ctx.roots()]

    @server.tool
    async def work(ctx: AsyncContext) -> str:
        await ctx.progress(1, 2, "half")
        await ctx.log("warning", "careful")
        return "worked"

    @server.tool
    async def forever(ctx: AsyncContext) -> str:
        await ctx.progress(1, 2, "begun")
        await asyncio.Event().wait()
        return "never"

    @server.resource("notes://{day}")
    def note(day: str) -> str:
        return f"note of {day}"

    @server.prompt
    def review(language: str, style: str = "short") -> str:
        return f"Review this {language} ({style})."

    return server


class Person:
    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.asked: list[Question] = []

    async def ask(self, question: Question) -> Answer:
        self.asked.append(question)
        return self.answers.pop(0)


@pytest.fixture
async def host() -> AsyncGenerator[Host]:
    host = Host(options=ConnectOptions(timeout=10), environ={})
    yield host
    await host.aclose()


@pytest.fixture(params=["legacy", "modern"])
async def demo(host: Host, request: pytest.FixtureRequest) -> Host:
    era: Era = request.param
    entry = await host.connect(ServerSpec.parse("demo", make_server(), era=era))
    assert (entry.state, entry.era) == ("ready", era)
    return host


# --- tools -----------------------------------------------------------------------------------------------------------


async def test_a_call_gives_a_result_and_is_journalled(demo: Host):
    result = await demo.call_tool("demo", "add", {"a": 1}, origin="person")
    assert result.text == "3"
    act = demo.journal.acts()[-1]
    assert (act.method, act.name, act.origin, act.outcome) == ("tools/call", "add", "person", "ok")
    assert act.arguments == {"a": 1}
    assert "tools/call" in [entry.method for entry in demo.journal.entries("demo")]


async def test_a_result_knows_what_was_sent_under_which_id_and_whether_it_fits(demo: Host):
    first = await demo.call_tool("demo", "add", {"a": 1}, origin="person")
    second = await demo.call_tool("demo", "add", {"a": 2}, origin="person")
    assert (first.arguments, first.fits) == ({"a": 1}, True)
    assert isinstance(first.request_id, int)
    assert isinstance(second.request_id, int)
    assert second.request_id > first.request_id
    failed = await demo.call_tool("demo", "fail", {}, origin="person", check=False)
    assert failed.fits is None


async def test_what_was_sent_is_masked_in_the_result_and_in_a_copy_of_it(demo: Host):
    demo.redactor.learn(["zq83-value-of-a-key"])
    result = await demo.call_tool("demo", "fail", {}, origin="person", check=False)
    sent = await demo.call_tool("demo", "say", {"text": "key zq83-value-of-a-key"}, origin="person")
    assert result.arguments == {}
    assert sent.arguments == {"text": f"key {MASK}"}
    assert b"zq83" not in pickle.dumps(sent)
    assert pickle.loads(pickle.dumps(sent)).arguments == sent.arguments


async def test_wrong_arguments_are_refused_before_anything_is_sent(demo: Host):
    before = len(demo.journal.entries())
    with pytest.raises(UsageError, match="needs a "):
        await demo.call_tool("demo", "add", {})
    with pytest.raises(UsageError, match="no argument 'c'"):
        await demo.call_tool("demo", "add", {"a": 1, "c": 2})
    calls = [entry for entry in demo.journal.entries()[before:] if entry.method == "tools/call"]
    assert calls == []


async def test_a_wrong_name_gets_the_nearest(demo: Host):
    with pytest.raises(UsageError, match=r"demo has no tool 'ad'\. Did you mean demo\.add\?"):
        await demo.call_tool("demo", "ad", {})
    with pytest.raises(UsageError, match=r"no server 'dmo'\. Did you mean demo\?"):
        await demo.call_tool("dmo", "add", {})


def _nobody_is_told(*_: object) -> None:
    """In place of a server's notifications."""


async def test_a_tool_that_its_server_told_nobody_of_is_found_and_a_wrong_name_is_still_wrong(
    monkeypatch: pytest.MonkeyPatch,
):
    server = make_server("silent")
    monkeypatch.setattr(server, "_notify", _nobody_is_told)
    host = Host(environ={})
    try:
        await host.connect(ServerSpec.parse("silent", server))
        await host.call_tool("silent", "add", {"a": 1, "b": 2})

        @server.tool
        def fresh() -> str:
            """A new one."""
            return "fresh"

        assert (await host.call_tool("silent", "fresh")).text == "fresh"
        with pytest.raises(UsageError, match="silent has no tool 'nothing'"):
            await host.call_tool("silent", "nothing")
    finally:
        await host.aclose()


async def test_a_tool_that_fails_raises_its_own_words_unless_it_is_not_to_be_checked(demo: Host):
    with pytest.raises(ToolError, match="table is locked") as error:
        await demo.call_tool("demo", "fail")
    assert error.value.result is not None
    assert error.value.result.is_error
    assert (await demo.call_tool("demo", "fail", check=False)).is_error
    assert [act.outcome for act in demo.journal.acts() if act.name == "fail"] == ["error", "error"]


async def test_progress_and_log_reach_the_watcher_and_the_log(demo: Host):
    events: list[CallEvent] = []
    await demo.call_tool("demo", "work", on_event=events.append)
    assert Progress(1, 2, "half") in events
    assert any(isinstance(event, Log) and event.data == "careful" for event in events)
    lines = demo.servers["demo"].lines("warning")
    assert [(line.level, line.text) for line in lines if line.source == "server"] == [("warning", "careful")]


async def test_a_watcher_that_fails_does_not_break_the_call(demo: Host, caplog: pytest.LogCaptureFixture):
    def broken(event: CallEvent) -> None:
        raise RuntimeError(type(event).__name__)

    assert (await demo.call_tool("demo", "work", on_event=broken)).text == "worked"
    assert any("on_event" in line.text and line.level == "error" for line in demo.servers["demo"].log)
    assert "callback of demo.work failed" in caplog.text


async def test_a_timeout_is_one_line_and_the_connection_stays_usable(demo: Host):
    with pytest.raises(RequestTimeout):
        await demo.call_tool("demo", "forever", timeout=0.1)
    assert demo.journal.acts()[-1].outcome == "timeout"
    assert (await demo.call_tool("demo", "add", {"a": 1})).text == "3"


async def test_a_cancelled_call_leaves_the_connection_usable(demo: Host):
    begun = asyncio.Event()
    call = asyncio.create_task(demo.call_tool("demo", "forever", on_event=lambda event: begun.set()))
    await asyncio.wait_for(begun.wait(), 5)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert demo.journal.acts()[-1].outcome == "cancelled"
    assert (await demo.call_tool("demo", "add", {"a": 1})).text == "3"


# --- questions -------------------------------------------------------------------------------------------------------


async def test_a_person_answers_while_the_call_waits(demo: Host):
    person = demo.ui = Person(Answer("accept", {"seats": 9}), Answer("accept", {"seats": 2}))
    events: list[CallEvent] = []
    result = await demo.call_tool("demo", "book", on_event=events.append)
    assert result.text == "accept {'seats': 2}"
    cause = person.asked[0].cause
    assert cause is not None
    assert (cause.method, cause.name) == ("tools/call", "book")
    assert list(person.asked[1].problems) == ["seats"]
    assert [type(event) for event in events if isinstance(event, QuestionOpened | QuestionClosed)] == [
        QuestionOpened,
        QuestionClosed,
    ]


async def test_a_wrong_script_ends_the_call_with_one_line(demo: Host):
    demo.answers.add({"seats": 9})
    with pytest.raises(UsageError, match=r"scripted answer does not fit .* seats: "):
        await demo.call_tool("demo", "book")
    assert (await demo.call_tool("demo", "add", {"a": 1})).text == "3"


async def test_nobody_there_cancels_at_once_and_the_result_says_how_to_script(demo: Host):
    result = await demo.call_tool("demo", "book")
    assert result.text.startswith("cancel")
    assert "mcp.answer(" in result.notes[0]


async def test_sampling_is_answered_by_script_or_person(demo: Host):
    demo.answers.add({"text": "short"}, times=1)
    assert (await demo.call_tool("demo", "summarise")).text == "short"
    demo.ui = Person(Answer("accept", {"text": "by hand"}))
    assert (await demo.call_tool("demo", "summarise")).text == "by hand"


async def test_a_refused_sampling_ends_the_call_and_not_the_connection(demo: Host):
    demo.ui = Person(Answer("decline"))
    with pytest.raises((InputRefused, ToolError)):
        await demo.call_tool("demo", "summarise")
    assert (await demo.call_tool("demo", "add", {"a": 1})).text == "3"


async def test_a_tool_that_fails_for_want_of_an_answer_says_how_to_script_one(host: Host):
    server = Server("short")

    @server.tool
    async def sum_up(ctx: AsyncContext) -> str:
        await ctx.elicit("Sum up?", SEAT)
        raise ToolFailed("no model")

    await host.connect(ServerSpec.parse("short", server, era="legacy"))
    with pytest.raises(ToolError, match=r"no model\. .*nobody could answer; script it: mcp\.answer") as caught:
        await host.call_tool("short", "sum_up")
    assert caught.value.message == "short.sum_up: no model."


async def test_roots_are_the_hosts_folders(demo: Host, tmp_path: Path):
    demo.roots.set([tmp_path])
    assert tmp_path.as_uri() in (await demo.call_tool("demo", "where")).text


async def test_a_server_is_told_the_folders_it_was_given_in_its_command_too(host: Host, tmp_path: Path):
    command, args = fakes.command()
    (tmp_path / "data").mkdir()
    words = [str(tmp_path), f"--also={tmp_path / 'data'}", str(tmp_path / "nothing")]
    await host.connect(ServerSpec.parse("fake", [command, *args, *words]))
    ask = {"method": "roots/list"}
    told = (await host.call_tool("fake", "ask", ask)).text
    for folder in (Path.cwd(), tmp_path, tmp_path / "data"):
        assert f'"{folder.as_uri()}"' in told
    assert "nothing" not in told
    host.roots.set([])  # what the person says is all there is
    assert tmp_path.as_uri() not in (await host.call_tool("fake", "ask", ask)).text


# --- consent ---------------------------------------------------------------------------------------------------------


async def test_a_denied_act_is_not_sent_and_names_its_rule(demo: Host):
    demo.policy.deny("demo.add")
    with pytest.raises(Denied, match=r"denied by the rule 'deny demo\.add'") as error:
        await demo.call_tool("demo", "add", {"a": 1}, origin="person", yes=True)
    assert error.value.rule == "deny demo.add"
    assert demo.journal.acts()[-1].outcome == "denied"
    assert "tools/call" not in [entry.method for entry in demo.journal.entries()]


async def test_what_a_model_begins_is_asked_and_remembered(demo: Host):
    person = demo.ui = Person(Answer("accept", scope="session"))
    for _ in range(2):
        await demo.call_tool("demo", "add", {"a": 1}, origin="model")
    assert [question.kind for question in person.asked] == ["approval"]
    assert person.asked[0].params["arguments"] == {"a": 1}


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_an_act_that_is_not_approved_is_denied(demo: Host, action: Any):
    demo.ui = Person(Answer(action))
    with pytest.raises(Denied):
        await demo.call_tool("demo", "add", {"a": 1}, origin="model")


async def test_without_a_person_an_approval_says_how_to_allow_it(demo: Host):
    with pytest.raises(Denied, match=r'mcp\.allow\("demo\.add"\)'):
        await demo.call_tool("demo", "add", {"a": 1}, origin="model")
    assert (await demo.call_tool("demo", "add", {"a": 1}, origin="model", yes=True)).text == "3"


# --- resources and prompts -------------------------------------------------------------------------------------------


async def test_a_resource_is_read_by_uri_or_template_with_or_without_its_server(demo: Host):
    assert (await demo.read("demo", "notes://today")).text == "note of today"
    assert (await demo.read("demo", "notes://{day}", {"day": "monday"})).text == "note of monday"
    assert (await demo.read(None, "notes://today")).text == "note of today"
    with pytest.raises(UsageError, match=r"takes no 'dy'\. Did you mean day"):
        await demo.read("demo", "notes://{day}", {"dy": "x"})


async def test_a_prompt_is_got_with_its_arguments_checked(demo: Host):
    assert (await demo.get_prompt("demo", "review", {"language": "python"})).text == "Review this python (short)."
    with pytest.raises(UsageError, match="needs language"):
        await demo.get_prompt("demo", "review")


# --- names -----------------------------------------------------------------------------------------------------------


async def test_names_are_found_bare_when_unique_and_ambiguous_ones_name_all(demo: Host):
    entry, item = await demo.resolve("tool", "add")
    assert (entry.name, item["name"]) == ("demo", "add")
    await demo.connect(ServerSpec.parse("other", make_server("other")))
    with pytest.raises(UsageError, match=r"Write demo\.add or other\.add"):
        await demo.resolve("tool", "add")
    for text in ("other.add", "other add"):
        entry, _ = await demo.resolve("tool", text)
        assert entry.name == "other"
    with pytest.raises(UsageError, match=r"Did you mean other\.add"):
        await demo.resolve("tool", "other.ad")


async def test_search_finds_by_every_word(demo: Host):
    await demo.servers["demo"].connection.list("tools")  # pyright: ignore[reportOptionalMemberAccess]
    assert [offer.full_name for offer in demo.catalogue.search("demo add")] == ["demo.add"]
    assert demo.catalogue.search("no such thing") == []


# --- life ------------------------------------------------------------------------------------------------------------


async def test_connecting_again_by_the_same_spec_keeps_the_connection(host: Host):
    spec = ServerSpec.parse("demo", make_server())
    said: list[str] = []
    first = await host.connect(spec)
    connection = first.connection
    second = await host.connect(spec, said.append)
    assert second is first
    assert second.connection is connection
    assert "connected already" in said[0]


async def test_another_spec_under_the_name_replaces_the_server(host: Host):
    first = await host.connect(ServerSpec.parse("demo", make_server()))
    second = await host.connect(ServerSpec.parse("demo", make_server()))
    assert (first.state, second.state) == ("closed", "ready")
    assert host.servers == {"demo": second}


async def test_a_bad_server_never_blocks_the_others(host: Host):
    specs = [
        ServerSpec.parse("good", make_server()),
        ServerSpec.parse("bad", "no-such-command-anywhere"),
        ServerSpec.parse("http", "http://127.0.0.1:9/mcp"),
        ServerSpec.parse("unset", ["x", "${NOPE}"]),
        ConfigError("handed through"),
    ]
    good, bad, http, unset, through = await host.connect_many(specs)
    assert getattr(good, "state", None) == "ready"
    assert isinstance(bad, ConnectionFailed)
    assert isinstance(http, ConnectionFailed)
    assert "127.0.0.1:9" in str(http)
    assert isinstance(unset, ConfigError)
    assert "NOPE" in str(unset)
    assert str(through) == "handed through"
    assert host.servers["bad"].state == "failed"
    assert any(line.level == "error" for line in host.servers["bad"].log)


async def test_a_disabled_server_is_not_started(host: Host):
    from dataclasses import replace

    (answer,) = await host.connect_many([replace(ServerSpec.parse("off", make_server()), disabled=True)])
    assert "was not started" in str(answer)
    assert host.servers == {}


async def test_a_server_that_was_switched_off_is_not_started_unless_it_is_named(host: Host):
    spec = ServerSpec.parse("off", make_server())
    host.policy.disable("off")
    (answer,) = await host.connect_many([spec], named=False)
    assert str(answer) == (
        "off is switched off (disable off) and was not started. %mcp enable off switches it on; so does naming it: "
        "connect --from FILE off."
    )
    assert host.servers == {}
    assert [(act.method, act.outcome) for act in host.journal.acts()] == [("connect", "denied")]
    (entry,) = await host.connect_many([spec])
    assert getattr(entry, "state", None) == "ready"


async def test_naming_a_projects_server_that_is_off_asks_as_for_any_of_the_projects(host: Host):
    person = host.ui = Person(Answer("accept"), Answer("decline"))
    spec = ServerSpec.parse("off", make_server())
    host.policy.disable("off")
    (refused,) = await host.connect_many([spec], origin="project", named=False)
    assert "switched off" in str(refused)
    assert person.asked == []
    (entry,) = await host.connect_many([spec], origin="project")
    assert getattr(entry, "state", None) == "ready"
    assert [question.kind for question in person.asked] == ["server"]


async def test_a_closed_server_keeps_its_log_and_can_come_back(demo: Host):
    entry = demo.servers["demo"]
    await demo.disconnect("demo")
    assert demo.servers == {}
    assert demo.find("demo") is entry
    with pytest.raises(UsageError, match="no server 'demo'"):
        await demo.call_tool("demo", "add", {"a": 1})
    assert await demo.reconnect("demo") is entry
    assert (await demo.call_tool("demo", "add", {"a": 1})).text == "3"


async def test_listeners_hear_of_changes_and_a_broken_one_harms_nothing(host: Host, caplog: pytest.LogCaptureFixture):
    heard: list[str] = []

    def broken(name: str) -> None:
        raise RuntimeError(name)

    host.listeners += [broken, heard.append]
    await host.connect(ServerSpec.parse("demo", make_server()))
    assert "demo" in heard
    assert "listener of the host failed" in caplog.text


async def test_a_name_too_long_for_http_is_one_error_and_the_connection_stays(host: Host):
    server = make_server()
    async with server.serve_http() as running:
        await host.connect(ServerSpec.parse("web", running.url, bearer=running.token))
        assert host.servers["web"].connection is not None
        assert host.servers["web"].connection.era == "modern"
        with pytest.raises(LocalProtocolError) as caught:
            await host.read("web", "x://" + "a" * 70_000)
        assert str(caught.value) == (
            f"resources/read x://{'a' * 196}… (70,004 characters) was not sent: "
            "its header Mcp-Name would be 70,004 bytes long, and those of one HTTP request hold 60,000 in all."
        )
        assert (await host.call_tool("web", "add", {"a": 1, "b": 2})).data == 3
        assert [act.outcome for act in host.journal.acts()][-2:] == ["error", "ok"]
