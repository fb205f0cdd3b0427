"""What a page asks for is done by the host and the person, and by nobody else."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import Denied, RemoteProtocolError, UsageError
from jupyter_mcp.host.apps import session
from jupyter_mcp.host.apps.app import App, AppCall, open_app
from jupyter_mcp.host.apps.limits import Limits
from jupyter_mcp.host.apps.meta import MIME_TYPE
from jupyter_mcp.host.apps.sandbox import sandbox_of
from jupyter_mcp.host.apps.session import Session
from jupyter_mcp.host.specs import ServerSpec
from jupyter_mcp.server import Server
from jupyter_mcp.testing import connected
from tests.host.apps.talking import INIT, INITIALIZED, READY

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from jupyter_mcp.host.apps.asking import Wish
    from jupyter_mcp.host.apps.shared import Word
    from jupyter_mcp.testing.connected import Connected

pytestmark = pytest.mark.anyio
URI = "ui://bench/view.html"
HTML = "<!doctype html><title>bench</title>"


def bench() -> Server:
    """A server with a page, a tool for both, one for pages, one for models, and a resource."""
    server = Server("bench")
    server.add_resource(URI, lambda: HTML, name="view", mime_type=MIME_TYPE)
    server.add_resource("note://a.txt", lambda: "a note", name="note")
    server.add_tool(lambda: "shown", name="show", meta={"ui": {"resourceUri": URI}})
    server.add_tool(lambda: "fresh", name="refresh", meta={"ui": {"visibility": ["app"]}})
    server.add_tool(lambda: "secret plan", name="plan", meta={"ui": {"visibility": ["model"]}})

    def fails() -> str:
        raise ValueError("the disk is full")

    server.add_tool(fails)
    return server


@dataclass
class Paper:
    """A screen that writes down what it is told; the test is the person."""

    sent: list[Mapping[str, Any]] = field(default_factory=list[Any])
    wishes: list[Wish] = field(default_factory=list[Any])
    answer: bool | asyncio.Event = True
    stopped: list[str] = field(default_factory=list[str])
    name: str = ""
    size: tuple[int | None, int | None] = (None, None)
    words: list[Word] = field(default_factory=list[Any])
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def send(self, message: Mapping[str, Any]) -> None:
        self.sent.append(message)
        self.changed.set()

    def resize(self, width: int | None, height: int | None) -> None:
        self.size = (width, height)

    async def confirm(self, wish: Wish) -> bool:
        self.wishes.append(wish)
        self.changed.set()
        if isinstance(self.answer, asyncio.Event):
            await self.answer.wait()
            return True
        return self.answer

    async def show_as(self, mode: str) -> str:
        return mode

    def opened(self, name: str) -> None:
        self.name = name

    def reported(self, word: Word) -> None:
        self.words.append(word)

    def stop(self, reason: str) -> None:
        self.stopped.append(reason)
        self.changed.set()

    async def until(self, condition: Any) -> None:
        async with asyncio.timeout(10):
            while not condition():
                self.changed.clear()
                await self.changed.wait()


@dataclass
class Bench:
    """An open page of a connected server."""

    here: Connected
    app: App
    session: Session
    paper: Paper
    word: Word
    number: int = 0

    async def ask(self, method: str, **params: Any) -> Mapping[str, Any]:
        """A request of the page; its answer: `result` or `error`."""
        number = await self.begin(method, **params)
        await self.paper.until(lambda: self.answer(number) is not None)
        found = self.answer(number)
        assert found is not None
        return found

    async def begin(self, method: str, **params: Any) -> int:
        self.number += 1
        await self.session.receive({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        return self.number

    def answer(self, number: int) -> Mapping[str, Any] | None:
        return next((one for one in self.paper.sent if one.get("id") == number and "method" not in one), None)

    async def note(self, method: str, **params: Any) -> None:
        await self.session.receive({"jsonrpc": "2.0", "method": method, "params": params})

    def acts(self) -> list[tuple[str, str, str]]:
        """Method, name and outcome of what the page began."""
        return [(act.method, act.name, act.outcome) for act in self.here.host.journal.acts() if act.origin == "app"]


@asynccontextmanager
async def opened(server: Server | None = None, limits: Limits | None = None) -> AsyncGenerator[Bench]:
    async with connected(server or bench()) as here:
        result = await here.call("show")
        app = await open_app(here.host, "server", await tool_of(here, "show"), AppCall(arguments={}, result=result.raw))
        paper, word = Paper(), here.host.shared.join("server", "show")
        session = Session(here.host, app, sandbox_of(app.page, "").resource, paper, word, limits)
        made = Bench(here, app, session, paper, word)
        await made.note(READY)
        await made.ask("ui/initialize", **INIT)
        await made.note(INITIALIZED)
        yield made
        session.drop()


async def tool_of(here: Connected, name: str) -> Mapping[str, Any]:
    _, item = await here.host.resolve("tool", name, "server")
    return item


# --- the page --------------------------------------------------------------------------------------------------------


async def test_a_page_is_read_and_told_of_the_call_that_it_shows() -> None:
    async with opened() as made:
        assert made.app.page.html == HTML and made.paper.name == "a page"
        methods = [one["method"] for one in made.paper.sent if "method" in one]
        assert methods[0] == "ui/notifications/sandbox-resource-ready"
        assert methods[1:] == ["ui/notifications/tool-input", "ui/notifications/tool-result"]
        assert made.paper.sent[-1]["params"]["content"] == [{"type": "text", "text": "shown"}]


async def test_what_a_page_may_reach_is_on_record() -> None:
    async with opened() as made:
        act = next(act for act in made.here.host.journal.acts() if act.method == "ui/show")
        assert act.name == URI and "default-src 'none'" in act.arguments["csp"] and len(act.arguments["sha256"]) == 64


async def test_what_stands_only_in_the_list_of_resources_counts() -> None:
    server = bench()
    server.remove_resource(URI)
    meta = {"ui": {"csp": {"connectDomains": ["https://a.example"]}}}
    server.add_resource(URI, lambda: HTML, name="view", mime_type=MIME_TYPE, meta=meta)
    async with opened(server) as made:
        assert made.app.page.policy.connect == ("https://a.example",)


async def test_a_resource_of_another_type_is_not_shown() -> None:
    server = bench()
    server.remove_resource(URI)
    server.add_resource(URI, lambda: HTML, name="view", mime_type="text/html")
    with pytest.raises(RemoteProtocolError, match="is text/html"):
        async with opened(server):
            pass


async def test_a_tool_without_a_page_has_none() -> None:
    async with connected(bench()) as here:
        with pytest.raises(UsageError, match="has no page"):
            await open_app(here.host, "server", await tool_of(here, "fails"), AppCall(arguments={}))


# --- tools and resources ---------------------------------------------------------------------------------------------


async def test_a_tool_of_its_server_is_called_when_a_rule_allows_it() -> None:
    async with opened() as made:
        made.here.host.policy.allow("server.*")
        answer = await made.ask("tools/call", name="refresh", arguments={})
        assert answer["result"]["content"] == [{"type": "text", "text": "fresh"}]
        assert "resultType" not in answer["result"]
        assert ("tools/call", "refresh", "ok") in made.acts()


async def test_without_a_rule_the_person_is_asked_and_where_nobody_is_it_is_not_done() -> None:
    async with opened() as made:
        answer = await made.ask("tools/call", name="show")
        assert answer["error"]["code"] == -32000
        assert ("tools/call", "show", "denied") in made.acts()


async def test_a_tool_that_is_for_models_alone_is_refused_whatever_the_rules_say() -> None:
    async with opened() as made:
        made.here.host.policy.allow("server.*")
        answer = await made.ask("tools/call", name="plan")
        assert "keeps server.plan from its apps" in answer["error"]["message"]
        assert ("tools/call", "plan", "denied") in made.acts()


async def test_a_tool_that_is_for_apps_alone_is_refused_to_models_and_not_to_people() -> None:
    async with connected(bench()) as here:
        here.host.policy.allow("server.*")
        with pytest.raises(Denied, match="from models"):
            await here.host.call_tool("server", "refresh", {}, origin="model")
        for origin in ("person", "code"):
            assert (await here.host.call_tool("server", "refresh", {}, origin=origin)).text == "fresh"


async def test_no_other_server_is_within_reach() -> None:
    other = Server("other")
    other.add_tool(lambda: "theirs", name="theirs")
    other.add_resource("other://x", lambda: "theirs", name="x")
    async with opened() as made:
        await made.here.host.connect(ServerSpec.parse("other", other))
        made.here.host.policy.allow("*")
        for name in ("theirs", "other.theirs", "other/theirs"):
            answer = await made.ask("tools/call", name=name)
            assert answer["error"]["code"] == -32602
        assert "error" in await made.ask("resources/read", uri="other://x")
        assert not [act for act in made.here.host.journal.acts("other") if act.origin == "app"]


async def test_arguments_that_do_not_fit_are_refused_before_anything_is_sent() -> None:
    async with opened() as made:
        made.here.host.policy.allow("server.*")
        answer = await made.ask("tools/call", name="show", arguments={"nothing": "like it"})
        assert answer["error"]["code"] == -32602


async def test_a_tool_s_own_failure_is_a_result() -> None:
    async with opened() as made:
        made.here.host.policy.allow("server.*")
        answer = await made.ask("tools/call", name="fails")
        assert answer["result"]["isError"] is True


async def test_resources_of_its_server_are_read() -> None:
    async with opened() as made:
        answer = await made.ask("resources/read", uri="note://a.txt")
        assert answer["result"]["contents"][0]["text"] == "a note"
        assert ("resources/read", "note://a.txt", "ok") in made.acts()


async def test_a_rule_can_keep_a_resource_from_it() -> None:
    async with opened() as made:
        made.here.host.policy.deny("server.note*")
        assert "denied" in (await made.ask("resources/read", uri="note://a.txt"))["error"]["message"]


# --- the person ------------------------------------------------------------------------------------------------------


async def test_a_link_is_shown_whole_and_opened_by_the_person() -> None:
    url = "https://example.com/a/long/path?with=" + "x" * 500
    async with opened() as made:
        assert (await made.ask("ui/open-link", url=url))["result"] == {}
        (wish,) = made.paper.wishes
        assert wish.url == url and wish.detail[0] == url and "example.com" in wish.question
        assert ("ui/open-link", url, "ok") in made.acts()


@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "ftp://a.example", "//a.example", "x" * 9_000],
)
async def test_only_web_pages_are_opened(url: str) -> None:
    async with opened() as made:
        assert (await made.ask("ui/open-link", url=url))["error"]["code"] == -32602
        assert made.paper.wishes == []


async def test_an_address_that_pretends_comes_with_a_warning() -> None:
    async with opened() as made:
        await made.ask("ui/open-link", url="https://www.bank.example@evil.example/")
        assert any("not the site" in warning for warning in made.paper.wishes[0].warnings)


async def test_a_no_is_told_and_after_three_the_person_is_left_alone() -> None:
    async with opened() as made:
        made.paper.answer = False
        for _ in range(3):
            assert (await made.ask("ui/open-link", url="https://a.example"))["result"] == {"isError": True}
        assert "said no before" in (await made.ask("ui/open-link", url="https://a.example"))["error"]["message"]
        assert len(made.paper.wishes) == 3


async def test_one_thing_is_asked_at_a_time() -> None:
    async with opened() as made:
        made.paper.answer = asyncio.Event()
        first = await made.begin("ui/open-link", url="https://a.example")
        await made.paper.until(lambda: made.paper.wishes)
        second = await made.ask("ui/open-link", url="https://b.example")
        assert "something else" in second["error"]["message"]
        made.paper.answer.set()
        await made.paper.until(lambda: made.answer(first))
        assert len(made.paper.wishes) == 1


async def test_files_are_given_with_their_bytes_those_of_links_are_read_first() -> None:
    async with opened() as made:
        inline = {"type": "resource", "resource": {"uri": "x://data.csv", "mimeType": "text/csv", "text": "a,b"}}
        link = {"type": "resource_link", "uri": "note://a.txt", "name": "note.txt", "mimeType": "text/plain"}
        assert (await made.ask("ui/download-file", contents=[inline, link]))["result"] == {}
        (wish,) = made.paper.wishes
        assert [(file.name, file.data) for file in wish.files] == [("data.csv", b"a,b"), ("note.txt", b"a note")]
        assert "data.csv (3 bytes, text/csv)" in wish.detail


async def test_what_it_wants_to_say_goes_along_once_the_person_has_read_it() -> None:
    async with opened() as made:
        block = {"type": "text", "text": "Tell me more\u202e about\nParis"}
        assert (await made.ask("ui/message", role="user", content=[block]))["result"] == {}
        assert made.paper.wishes[0].detail == ("Tell me more about", "Paris"), "without what nobody sees"
        (said,) = made.here.host.shared.take()
        assert list(said.content) == [block] and made.here.host.shared.take() == []


async def test_what_it_wants_to_say_stays_here_when_the_person_says_no_or_could_not_read_it_all() -> None:
    async with opened() as made:
        long = [{"type": "text", "text": "x" * 5_000}]
        assert "error" in await made.ask("ui/message", role="user", content=long)
        made.paper.answer = False
        await made.ask("ui/message", role="user", content=[{"type": "text", "text": "hello"}])
        assert made.here.host.shared.take() == []


async def test_the_last_report_for_models_is_kept_and_goes_only_when_the_person_agrees() -> None:
    async with opened() as made:
        shared = made.here.host.shared
        for page in (1, 2):
            await made.ask("ui/update-model-context", structuredContent={"page": page})
        assert shared.agreed == [] and made.word.structured == {"page": 2}
        made.word.agreed = True
        assert shared.agreed == [made.word]
        shared.leave(made.word)
        assert shared.agreed == []


# --- the rest --------------------------------------------------------------------------------------------------------


async def test_its_log_lines_are_in_the_log_of_its_server() -> None:
    async with opened() as made:
        await made.note("notifications/message", level="warning", logger="chart", data="no data")
        line = made.here.entry.lines()[-1]
        assert (line.level, line.logger, line.text) == ("warning", "chart", "no data")


async def test_a_mode_that_it_asks_for_is_answered_and_told() -> None:
    async with opened() as made:
        assert (await made.ask("ui/request-display-mode", mode="fullscreen"))["result"] == {"mode": "fullscreen"}
        assert {"displayMode": "fullscreen"} in [one.get("params") for one in made.paper.sent]


async def test_what_it_takes_back_is_cancelled_at_its_server() -> None:
    server = bench()
    begun, ended = asyncio.Event(), asyncio.Event()

    async def waits() -> str:
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()
        return "late"

    server.add_tool(waits)
    async with opened(server) as made:
        made.here.host.policy.allow("server.*")
        number = await made.begin("tools/call", name="waits")
        await asyncio.wait_for(begun.wait(), 10)
        await made.note("notifications/cancelled", requestId=number)
        await asyncio.wait_for(ended.wait(), 10)
        assert made.answer(number) is None


async def test_it_is_told_before_it_goes_and_then_it_is_gone() -> None:
    async with opened() as made:
        ending = asyncio.ensure_future(made.session.end())
        await made.paper.until(lambda: made.paper.sent[-1].get("method") == "ui/resource-teardown")
        assert made.paper.stopped == []
        await made.session.receive({"jsonrpc": "2.0", "id": made.paper.sent[-1]["id"], "result": {}})
        await asyncio.wait_for(ending, 10)
        assert made.paper.stopped == [""]


async def test_one_that_says_nothing_is_not_waited_for_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "GOODBYE_SECONDS", 0.05)
    async with opened() as made:
        await asyncio.wait_for(made.session.end("closed"), 10)
        assert made.paper.stopped == ["closed"]


async def test_one_that_floods_is_ended() -> None:
    async with opened(limits=Limits(rate=1, burst=5, dropped=20)) as made:
        for _ in range(100):
            await made.note("ui/notifications/size-changed", height=1)
        assert made.paper.stopped == ["it sent more than can be worked on"]


async def test_one_that_wants_to_go_goes() -> None:
    async with opened() as made:
        await made.note("ui/notifications/request-teardown")
        await made.paper.until(lambda: made.paper.sent[-1].get("method") == "ui/resource-teardown")
        await made.session.receive({"jsonrpc": "2.0", "id": made.paper.sent[-1]["id"], "result": {}})
        await made.paper.until(lambda: made.paper.stopped)


async def test_only_what_a_page_wants_can_be_granted() -> None:
    async with opened() as made:
        with pytest.raises(UsageError, match="does not ask for"):
            made.app.grant("camera")
