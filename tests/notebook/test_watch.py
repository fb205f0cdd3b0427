"""Watching a resource: one feature over both eras and all transports, also after the server went away."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import ConnectionFailed, MCPError
from jupyter_mcp.notebook import api, cards
from jupyter_mcp.notebook.render import bundle
from jupyter_mcp.notebook.render.views import WatchView
from jupyter_mcp.runtime.thread import get_runtime
from tests.notebook.conftest import Cells, echo_server
from tests.notebook.page import FakeRunner, Page, button, capture, words
from tests.notebook.web import listening

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

URI = "text://hello"
DEMO = """
import os, pathlib, runpy, sys
pathlib.Path(sys.argv[1]).write_text(str(os.getpid()))
runpy.run_module("jupyter_mcp.demo", run_name="__main__")
"""


class Told:
    """A callback that can be waited for."""

    def __init__(self) -> None:
        self.uris: list[str] = []
        self._news = threading.Condition()

    def __call__(self, uri: str) -> None:
        with self._news:
            self.uris.append(uri)
            self._news.notify_all()

    def wait(self, count: int) -> None:
        with self._news:
            assert self._news.wait_for(lambda: len(self.uris) >= count, 30), self.uris


def until(condition: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.02)


@pytest.fixture(params=["memory", "http"])
def place(request: pytest.FixtureRequest, cells: Cells) -> Iterator[tuple[Any, str]]:
    """A server, and what to connect to it by."""
    server = echo_server()
    if request.param == "memory":
        cells.put(echo=server)
        yield server, "$echo"
        return
    with listening(server, token=False) as running:
        yield server, running.url


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_a_change_is_told_until_the_watch_is_stopped(cells: Cells, place: tuple[Any, str], era: str) -> None:
    server, target = place
    told = Told()
    cells.put(told=told)
    cells.run(f"%mcp connect s --era {era} {target}")
    watch = cells.run(f"%mcp watch s {URI}")
    assert cells.text == f"Watching {URI} of s; `%mcp unwatch` (or .stop()) ends it."
    second = api.servers["s"].watch(URI, told)
    server.resource_updated(URI)
    told.wait(1)
    until(lambda: watch.changes == 1, "both watches are told")
    cells.run("watch = _\n%mcp unwatch s")
    assert not watch.active
    assert not second.active
    server.resource_updated(URI)
    api.servers["s"].ping()
    assert (watch.changes, len(told.uris)) == (1, 1)
    assert str(bundle(watch)["text/plain"]) == f"No longer watching {URI} of s. It changed once."


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_a_watch_goes_on_after_the_person_connects_anew(cells: Cells, place: tuple[Any, str], era: str) -> None:
    server, target = place
    cells.run(f"%mcp connect s --era {era} {target}")
    told = Told()
    watch = api.servers["s"].watch(URI, told)
    cells.run("%mcp reconnect s")
    before = watch.changes
    seen = len(told.uris)

    def changed() -> bool:  # the new subscription may still be on its way
        server.resource_updated(URI)
        return watch.changes > before

    until(changed, "the watch goes on")
    told.wait(seen + 1)
    watch.stop()


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_a_watched_process_that_dies_is_started_anew_at_once(cells: Cells, era: str, tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(DEMO)
    pid = tmp_path / "pid"
    cells.put(python=sys.executable, script=str(tmp_path / "server.py"), pid=str(pid))
    cells.run(f"%mcp connect d --era {era} $python $script $pid")
    told = Told()
    watch = api.servers["d"].watch("notes://today", told)
    before = pid.read_text()
    os.kill(int(before), signal.SIGKILL)
    until(lambda: pid.read_text() not in ("", before), "it is started anew, though nobody called it")
    until(lambda: api.servers["d"].state == "ready", "it is ready again")
    before = watch.changes
    cells.run("%mcp call d.add_note day=today text=hello")
    until(lambda: watch.changes > before, "the watch goes on")
    told.wait(1)
    watch.stop()


def test_what_cannot_be_watched_is_said_in_one_line(cells: Cells) -> None:

    from jupyter_mcp.server import Server

    plain = Server("plain")
    plain.add_tool(lambda: "x", name="x")
    cells.put(plain=plain)
    cells.run("%mcp connect p $plain")
    with pytest.raises(MCPError):
        cells.run("%mcp watch p text://nothing")
    assert len(cells.errors) == 1


# --- the card --------------------------------------------------------------------------------------------------------


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Page:
    return capture(monkeypatch)


class Watched:
    """As much of a `Watch` as a card sees."""

    def __init__(self) -> None:
        self.server: Any = type("Server", (), {"name": "demo", "state": "ready"})()
        self.uri = "notes://today"
        self.changes, self.active = 0, True
        self.stopped = threading.Event()
        self._listeners: list[Any] = []

    def on_change(self, listener: Any) -> None:
        self._listeners.append(listener)

    def stop_soon(self) -> None:
        self.stopped.set()

    def tell(self) -> None:
        async def run() -> None:
            for listener in self._listeners:
                listener(self)

        get_runtime().submit(run).result(10)

    def __mcp_view__(self) -> WatchView:
        return WatchView("demo", self.uri, self.changes, self.active, self.server.state)


def test_the_card_follows_its_resource_and_what_is_saved_follows_too(page: Page) -> None:
    watch: Any = Watched()
    card = cards.watch_card(watch, FakeRunner())
    assert words(card.root).startswith("Watching notes://today of demo.")
    for _ in range(100):
        watch.changes += 1
        watch.tell()
    until(lambda: "It changed 100 times." in words(card.root), "the last change is drawn")
    still = next(data for name, data in page.outputs.items() if name.endswith("-still"))
    assert "It changed 100 times." in still["text/plain"]
    assert len(page.published) < 20, "a resource that changes all the time is not drawn all the time"


def test_a_server_that_is_away_is_said(page: Page) -> None:
    watch: Any = Watched()
    card = cards.watch_card(watch, FakeRunner())
    watch.server.state = "reconnecting"
    watch.tell()
    until(lambda: "demo is reconnecting; the watch goes on when it is back." in words(card.root), "it is said")


def test_its_buttons_read_and_stop(page: Page) -> None:
    watch: Any = Watched()
    runner = FakeRunner()
    card = cards.watch_card(watch, runner)
    button(card.root, "Read now").click()
    assert runner.calls == [("read", "demo", "notes://today")]
    button(card.root, "Stop watching").click()
    assert watch.stopped.is_set()


def test_a_stopped_watch_leaves_its_record(page: Page) -> None:
    watch: Any = Watched()
    card = cards.watch_card(watch, FakeRunner())
    watch.changes, watch.active = 2, False
    watch.tell()
    assert card.over
    still = next(data for name, data in page.outputs.items() if name.endswith("-still"))
    assert still["text/plain"] == "No longer watching notes://today of demo. It changed 2 times."
    assert not page.live


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_whatever_needs_a_server_that_was_away_connects_it_again(cells: Cells, era: str) -> None:
    token, server = "t0ken-of-the-test-77aa", echo_server()
    with listening(server, token=token) as running:
        cells.run(f"%mcp connect w {running.url} --bearer {token} --era {era}")

    def away() -> None:
        with pytest.raises(MCPError):
            cells.run("%mcp call w.add a=1")
        until(lambda: api.servers["w"].state == "lost", "nobody listens there")

    def works(line: str) -> bool:
        try:
            cells.run(line)
        except ConnectionFailed:  # after an attempt that failed there is a pause
            return False
        return api.servers["w"].state == "ready"

    for line in (f"%mcp watch w {URI}", "%mcp ping w", "%mcp read w text://hello"):
        away()
        with listening(server, token=token, port=running.port):
            until(partial(works, line), line)
            if "watch" in line:
                cells.run("%mcp unwatch")
