"""Apps under results, without a browser: what the widget of a frame is told, and what it believes."""

from __future__ import annotations

import gzip
import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.host.apps.app import AppCall
from jupyter_mcp.host.apps.meta import MIME_TYPE
from jupyter_mcp.host.host import Host
from jupyter_mcp.host.result import Result
from jupyter_mcp.host.specs import ServerSpec
from jupyter_mcp.notebook.appbelow import below_soon
from jupyter_mcp.notebook.cards import apps, live
from jupyter_mcp.notebook.cards.apps.shown import ShownApp
from jupyter_mcp.notebook.cards.apps.view import packed
from jupyter_mcp.notebook.components import frame as component
from jupyter_mcp.runtime import jobs, state
from jupyter_mcp.runtime.place import Place
from jupyter_mcp.runtime.thread import get_runtime
from jupyter_mcp.server import Server
from tests.notebook.page import Page, capture

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

URI = "ui://bench/view.html"
INIT: dict[str, Any] = {
    "appInfo": {"name": "p", "version": "1"},
    "appCapabilities": {},
    "protocolVersion": "2026-01-26",
}


def bench() -> Server:
    server = Server("bench")
    meta: dict[str, Any] = {
        "ui": {"permissions": {"clipboardWrite": {}}, "csp": {"connectDomains": ["https://a.example", "*"]}}
    }
    server.add_resource(URI, lambda: "<!doctype html><b>hi</b>", name="view", mime_type=MIME_TYPE, meta=meta)
    server.add_resource("ui://bench/odd.html", lambda: "x", name="odd", mime_type="text/plain")
    server.add_tool(lambda: "shown", name="show", meta={"ui": {"resourceUri": URI}})
    server.add_tool(lambda: "odd", name="odd", meta={"ui": {"resourceUri": "ui://bench/odd.html"}})
    server.add_tool(lambda: "plain", name="plain")
    return server


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    made = Host()
    monkeypatch.setattr(state, "get_host", lambda: made)
    runtime = get_runtime()
    runtime.submit(made.connect, ServerSpec.parse("bench", bench())).result(20)
    yield made
    runtime.submit(made.aclose).result(20)


class Told(component.Frame):
    """A frame whose messages to the page are kept; the test plays the page."""

    made: list[Told]

    def __init__(self, *arguments: Any) -> None:
        self.told: list[dict[str, Any]] = []
        self.news = threading.Condition()
        super().__init__(*arguments)
        self.made.append(self)

    def send(self, content: dict[str, Any], buffers: Any = None) -> None:
        with self.news:
            self.told.append({**content, "buffers": list(buffers or ())})
            self.news.notify_all()

    def page(self, kind: str, view: Any = "v1", **more: Any) -> None:
        """A message of a view."""
        self._handle_custom_msg({"type": kind, "view": view, **more}, [])

    def until(self, kind: str, fits: Callable[[dict[str, Any]], bool] = lambda message: True) -> dict[str, Any]:
        """Wait for a message to the page."""

        def found() -> dict[str, Any] | None:
            return next((one for one in self.told if one["type"] == kind and fits(one)), None)

        with self.news:
            assert self.news.wait_for(lambda: found() is not None, 20), [one["type"] for one in self.told]
        made = found()
        assert made is not None
        return made

    def says(self, message: Mapping[str, Any], view: str = "v1") -> None:
        """A message of the page that is in the frame."""
        self.page("message", view, message={"jsonrpc": "2.0", **message})

    def hears(self, fits: Callable[[dict[str, Any]], bool], view: str = "v1") -> dict[str, Any]:
        """Wait for a message to the page that is in the frame."""
        return opened(self.until("message", lambda one: one["view"] == view and fits(opened(one))))


def opened(message: Mapping[str, Any]) -> dict[str, Any]:
    data = message["buffers"][0]
    return json.loads(gzip.decompress(data) if message["zipped"] else data)


@pytest.fixture(autouse=True)
def frames(monkeypatch: pytest.MonkeyPatch) -> list[Told]:
    Told.made = []
    monkeypatch.setattr("jupyter_mcp.notebook.cards.apps.shown.Frame", Told)
    return Told.made


def tool_of(host: Host, name: str) -> Mapping[str, Any]:
    runtime = get_runtime()
    return runtime.submit(host.resolve, "tool", name, "bench").result(20)[1]


def shown(host: Host, name: str = "show") -> Told:
    raw = {"content": [{"type": "text", "text": "shown"}]}
    return ShownApp("bench", tool_of(host, name), AppCall(arguments={"a": 1}, result=raw)).frame


def begun(frame: Told, view: str = "v1") -> None:
    """The page opens a view and shakes hands; what it hears of its call is up to that."""
    frame.page("open", view, context={"theme": "dark"})
    frame.until("frame", lambda one: one["view"] == view)
    frame.says({"method": "ui/notifications/sandbox-proxy-ready"}, view)
    frame.says({"id": 1, "method": "ui/initialize", "params": INIT}, view)
    frame.hears(lambda one: one.get("id") == 1, view)
    frame.says({"method": "ui/notifications/initialized"}, view)


def begin(frame: Told, view: str = "v1") -> None:
    """The same for a call that is over."""
    begun(frame, view)
    frame.hears(lambda one: one.get("method") == "ui/notifications/tool-result", view)


def test_a_view_gets_the_frame_and_its_page_the_call(host: Host) -> None:
    frame = shown(host)
    begin(frame)
    proxy = frame.until("frame")
    assert proxy["buffers"][0].startswith(b'<!doctype html><meta http-equiv="Content-Security-Policy"')
    assert proxy["allow"] == "" and "connect-src https://a.example;" in proxy["csp"]
    answer = frame.hears(lambda one: one.get("id") == 1)
    assert answer["result"]["hostContext"]["theme"] == "dark"
    given = frame.hears(lambda one: one.get("method") == "ui/notifications/tool-input")
    assert given["params"] == {"arguments": {"a": 1}}


def test_nothing_of_a_page_or_a_call_is_in_the_state_of_the_widget(host: Host) -> None:
    frame = shown(host)
    begin(frame)
    kept = {key: value for key, value in frame.get_state().items() if not key.startswith("_")}
    assert {key: kept[key] for key in ("title", "tool", "server")} == {
        "title": "show",
        "tool": "bench.show",
        "server": "bench",
    }
    assert "shown" not in str(kept) and "<b>hi</b>" not in str(kept)


def test_what_a_person_may_want_to_know_is_told(host: Host) -> None:
    frame = shown(host)
    begin(frame)
    about = frame.until("about")
    assert any("may reach https://a.example" in line for line in about["lines"])
    assert any(line.startswith("Not allowed: * (connectDomains)") for line in about["lines"])
    assert about["wants"] == [{"name": "clipboardWrite", "words": "the clipboard (to write to it)"}]


def test_what_the_person_allows_is_given_with_a_new_frame(host: Host) -> None:
    frame = shown(host)
    begin(frame)
    frame.page("permit", name="camera")
    frame.page("permit", name="clipboardWrite")
    assert frame.until("frame", lambda one: one["allow"] != "")["allow"] == "clipboard-write"
    told = frame.until("about", lambda one: one["wants"] == [])
    assert "It may use the clipboard (to write to it)." in told["lines"]


def test_two_views_are_two_pages(host: Host) -> None:
    frame = shown(host)
    begin(frame, "v1")
    begin(frame, "v2")
    frame.says({"id": 7, "method": "ping"}, "v2")
    frame.hears(lambda one: one.get("id") == 7, "v2")
    answers = [one for one in frame.told if one["type"] == "message" and opened(one).get("id") == 7]
    assert [one["view"] for one in answers] == ["v2"]


def test_of_too_many_views_the_oldest_goes_since_pages_are_loaded_anew_without_a_word(host: Host) -> None:
    frame = shown(host)
    for number in range(5):
        begin(frame, f"v{number}")
    assert "elsewhere" in frame.until("stop")["reason"]
    assert [one["view"] for one in frame.told if one["type"] == "stop"] == ["v0"]


def test_a_question_is_answered_by_the_view_that_has_it(host: Host) -> None:
    frame = shown(host)
    begin(frame)
    frame.says({"id": 5, "method": "ui/open-link", "params": {"url": "https://a.example/x"}})
    asked = frame.until("confirm")
    assert asked["url"] == "https://a.example/x" and asked["detail"][0] == "https://a.example/x"
    frame.page("answer", number=999, yes=True)
    frame.page("answer", number=asked["number"], yes="yes")
    assert frame.hears(lambda one: one.get("id") == 5)["result"] == {"isError": True}, "only true is a yes"
    frame.until("withdraw", lambda one: one["number"] == asked["number"])


def test_files_come_with_their_bytes(host: Host) -> None:
    frame = shown(host)
    begin(frame)
    file = {"type": "resource", "resource": {"uri": "x://a.csv", "text": "a,b"}}
    frame.says({"id": 5, "method": "ui/download-file", "params": {"contents": [file]}})
    asked = frame.until("confirm")
    assert asked["files"] == [{"name": "a.csv"}] and asked["buffers"] == [b"a,b"] and asked["url"] == ""
    frame.page("answer", number=asked["number"], yes=True)
    assert frame.hears(lambda one: one.get("id") == 5)["result"] == {}


def test_what_it_reports_is_shown_and_goes_to_models_when_the_person_ticks_it(host: Host) -> None:
    frame = shown(host)
    begin(frame)
    report = {"content": [{"type": "text", "text": "page 3"}], "structuredContent": {"page": 3}}
    frame.says({"id": 5, "method": "ui/update-model-context", "params": report})
    told = frame.until("shared")
    assert told["text"].startswith("page 3") and told["characters"] == len(told["text"])
    assert host.shared.agreed == []
    frame.page("share", on=True)
    frame.says({"id": 6, "method": "ping"})
    frame.hears(lambda one: one.get("id") == 6)
    assert [word.structured for word in host.shared.agreed] == [{"page": 3}]
    frame.close()
    frame.until("message", lambda one: opened(one).get("method") == "ui/resource-teardown")


def test_the_mode_is_the_one_that_the_page_reports(host: Host) -> None:
    frame = shown(host)
    begin(frame)
    frame.says({"id": 5, "method": "ui/request-display-mode", "params": {"mode": "fullscreen"}})
    asked = frame.until("mode")
    frame.page("mode", number=asked["number"], mode="inline")
    assert frame.hears(lambda one: one.get("id") == 5)["result"] == {"mode": "inline"}


def test_a_page_that_cannot_be_shown_is_one_sentence(host: Host) -> None:
    frame = shown(host, "odd")
    frame.page("open", context=None)
    said = frame.until("failed")["text"]
    assert said.startswith("The app cannot be shown:") and "text/plain" in said


@pytest.mark.parametrize("view", [None, 5, "x" * 200, ["v1"]])
def test_messages_of_no_view_are_nobody_s(host: Host, view: Any) -> None:
    frame = shown(host)
    begin(frame)
    before = len(frame.told)
    for kind in component.HEARD:
        frame.page(kind, view)
    frame.says({"id": 8, "method": "ping"})
    frame.hears(lambda one: one.get("id") == 8)
    assert len(frame.told) == before + 1


def test_a_closed_card_lets_its_page_say_goodbye_and_leaves_a_line(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    page: Page = capture(monkeypatch)
    made = ShownApp("bench", tool_of(host, "show"), AppCall(arguments={}, result={"content": []}))
    card = made.show()
    frame: Told = made.frame
    over = threading.Event()
    card.on_over.append(over.set)
    begin(frame)
    frame.page("close")
    goodbye = frame.hears(lambda one: one.get("method") == "ui/resource-teardown")
    assert not card.over
    frame.says({"id": goodbye["id"], "result": {}})
    frame.until("stop")
    assert over.wait(20)
    kept = " ".join(str(one.get("text/plain")) for one in page.outputs.values())
    assert kept.strip() == f"The app of bench.show ({URI}) runs in a live notebook only."
    assert live.VIEW not in str(page.outputs)


def test_a_tool_without_a_page_gets_no_widget(host: Host, frames: list[Told]) -> None:
    result = Result({"content": []}, server="bench", tool="plain")
    assert apps.for_call("bench", tool_of(host, "plain"), {}, result) is None
    assert frames == []
    assert apps.for_call("bench", tool_of(host, "show"), {}, result) is frames[0]


def test_a_call_that_nobody_waited_for_gets_its_app_in_its_cell(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "existing_host", lambda: host)
    tool_of(host, "show")  # the list is there, as it is after a call
    posted: list[tuple[Callable[[], object], Place]] = []

    def post(function: Callable[[], object], where: Place) -> None:
        posted.append((function, where))

    monkeypatch.setattr(jobs, "post", post)
    where = Place()
    for name in ("plain", "show"):
        below_soon(Result({"content": []}, server="bench", tool=name), where)
    below_soon(ValueError("it failed"), where)
    assert [place for _, place in posted] == [where]
    page = capture(monkeypatch)
    posted[0][0]()
    assert page.live and "The app of bench.show" in str(page.outputs)


def test_long_messages_are_packed_and_what_json_cannot_hold_is_null() -> None:
    assert packed({"a": "x"}) == (b'{"a": "x"}', False)
    data, zipped = packed({"a": "x" * 100_000})
    assert zipped and len(data) < 10_000 and json.loads(gzip.decompress(data)) == {"a": "x" * 100_000}
    assert json.loads(packed({"a": [float("nan"), 1.5]})[0]) == {"a": [None, 1.5]}
    assert packed({"a": "\ud800"})[0] == b'{"a": "?"}'
