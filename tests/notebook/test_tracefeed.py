"""What the live trace shows at a moment, and what looking costs."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.journal import Journal
from jupyter_mcp.host.journal.wire import MAX_MESSAGES
from jupyter_mcp.notebook.cards import tracefeed
from jupyter_mcp.notebook.cards.tracefeed import MAX_ROWS, Feed, Ticker
from jupyter_mcp.notebook.cards.tracerows import moment, took
from jupyter_mcp.transport.traffic import HttpEvent


def request(id: int, name: str = "add", method: str = "tools/call", **more: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": {"name": name, "arguments": {"n": id}, **more}}


def answer(id: int, **result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "result": result}


def ids(feed: Feed) -> list[str]:
    return [row["id"] for row in feed.rows()]


@pytest.fixture
def journal() -> Journal:
    return Journal()


@pytest.fixture
def feed(journal: Journal) -> Feed:
    return Feed(journal)


def test_a_request_is_a_row_that_changes_when_its_answer_comes(journal: Journal, feed: Feed) -> None:
    journal.wire("demo", "send", request(1), 50)
    feed.look()
    (row,) = feed.rows()
    assert (row["what"], row["target"], row["took"]) == ("→ tools/call", "add", "")
    assert row["badges"] == [{"text": "waiting", "tone": "info"}]
    journal.wire("demo", "receive", answer(1, isError=True), 20)
    assert feed.stale
    feed.look()
    (row,) = feed.rows()
    assert row["badges"] == [{"text": "error", "tone": "error"}]
    assert row["expandable"]
    assert row["took"]
    assert not feed.stale


def test_the_newest_is_first_unless_said_otherwise(journal: Journal, feed: Feed) -> None:
    for id in (1, 2, 3):
        journal.wire("demo", "send", request(id), 50)
    feed.look()
    assert ids(feed) == ["x3", "x2", "x1"]
    feed.newest_first = False
    assert ids(feed) == ["x1", "x2", "x3"]


def test_the_messages_of_an_opened_row_stand_below_it_with_what_http_did(journal: Journal, feed: Feed) -> None:
    journal.wire("web", "send", request(1), 50)
    journal.http("web", HttpEvent("opened", "POST", 200, "tools/call", 1, "OK"), "modern")
    journal.wire("web", "receive", answer(1), 2_000)
    feed.look()
    feed.opened.add("x1")
    rows = feed.rows()
    assert [(row["id"], row.get("depth", 0), row["what"]) for row in rows] == [
        ("x1", 0, "→ tools/call"),
        ("m1", 1, "→ tools/call"),
        ("m2", 1, "← stream of tools/call opened"),
        ("m3", 1, "← tools/call: result"),
    ]
    assert rows[3]["took"] == "2,000 B"
    assert feed.find("x1") is not None
    exchange, entries = feed.find("m3") or (None, ())
    assert (exchange, [entry.number for entry in entries]) == (feed.shown[0], [3])
    assert feed.find("m9") is None


def test_rounds_are_one_row_that_counts_them(journal: Journal, feed: Feed) -> None:
    needs: dict[str, Any] = {"resultType": "input_required", "inputRequests": {"seat": {}}}
    journal.wire("demo", "send", request(1), 50)
    journal.wire("demo", "receive", {"id": 1, "result": needs}, 50)
    feed.look()
    assert feed.rows()[0]["badges"] == [{"text": "needs input", "tone": "info"}]
    journal.wire("demo", "send", request(2, inputResponses={"seat": {}}), 50)
    journal.wire("demo", "receive", answer(2), 50)
    feed.look()
    (row,) = feed.rows()
    assert (row["marks"], row["badges"]) == (["2 rounds"], [{"text": "ok", "tone": "ok"}])


def test_a_filter_shows_what_passes_also_of_what_comes_later(journal: Journal, feed: Feed) -> None:
    journal.wire("demo", "send", request(1, "add"), 50)
    journal.wire("demo", "send", request(2, "book"), 50)
    feed.look()
    feed.filter("status:ok")
    assert ids(feed) == []
    journal.wire("demo", "receive", answer(2), 50)
    feed.look()
    assert (ids(feed), feed.total) == (["x2"], 2)
    feed.filter("book")
    assert ids(feed) == ["x2"]
    feed.filter("")
    assert ids(feed) == ["x2", "x1"]


def test_a_text_that_is_no_filter_is_refused_and_the_last_one_stays(journal: Journal, feed: Feed) -> None:
    journal.wire("demo", "send", request(1, "add"), 50)
    journal.wire("demo", "send", request(2, "book"), 50)
    feed.look()
    feed.filter("book")
    with pytest.raises(UsageError, match="methd"):
        feed.filter("methd:x")
    assert ids(feed) == ["x2"]


def test_a_cleared_view_shows_what_comes_and_what_was_still_open(journal: Journal, feed: Feed) -> None:
    journal.wire("demo", "send", request(1), 50)
    journal.wire("demo", "send", request(2), 50)
    journal.wire("demo", "receive", answer(1), 50)
    feed.look()
    feed.clear()
    assert ids(feed) == []
    journal.wire("demo", "receive", answer(2), 50)
    journal.wire("demo", "send", request(3), 50)
    feed.look()
    assert ids(feed) == ["x5", "x2"]


def test_one_servers_trace_is_of_that_server(journal: Journal) -> None:
    feed = Feed(journal, "demo")
    journal.wire("demo", "send", request(1), 50)
    journal.wire("other", "send", request(1), 50)
    feed.look()
    assert ids(feed) == ["x1"]


def test_what_is_hidden_later_is_hidden_in_what_was_shown_before(journal: Journal, feed: Feed) -> None:
    journal.wire("demo", "send", request(1, "omega-psi-7"), 50)
    journal.wire("demo", "receive", answer(1, content="omega-psi-7"), 50)
    feed.look()
    assert feed.rows()[0]["target"] == "omega-psi-7"
    journal.redactor.learn(["omega-psi-7"])
    assert feed.stale
    feed.look()
    assert "omega" not in str(feed.rows())
    assert "omega" not in str(feed.find("x1"))


def test_the_view_is_bounded(journal: Journal, feed: Feed) -> None:
    for id in range(MAX_MESSAGES * 2):
        journal.wire("demo", "receive", {"method": "notifications/progress", "params": {"progress": id}}, 10)
        if id % 500 == 0:
            feed.look()
    feed.look()
    assert len(feed.rows()) == MAX_ROWS
    assert max(len(feed._passed), len(feed._rows)) <= MAX_MESSAGES  # pyright: ignore[reportPrivateUsage]


def test_a_look_cleans_what_is_new_and_nothing_twice(
    journal: Journal, feed: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    cleaned: list[object] = []
    clean = journal.redactor.clean

    def counting(value: Any) -> Any:
        if isinstance(value, dict):
            cleaned.append(1)
        return clean(value)

    monkeypatch.setattr(journal.redactor, "clean", counting)
    for id in range(300):
        journal.wire("demo", "send", request(id), 50)
        journal.wire("demo", "receive", answer(id), 50)
        if id % 30 == 0:
            feed.look()
    feed.look()
    assert len(cleaned) == 600
    feed.look()
    assert len(cleaned) == 600


def test_looking_now_and_then_gives_what_looking_once_does(journal: Journal) -> None:
    often, once = Feed(journal), Feed(journal)
    for id in range(40):
        journal.wire("demo", "send", request(id), 50)
        often.look()
        if id % 3:
            journal.wire("demo", "receive", answer(id, isError=id % 2 == 0), 50)
        elif id % 2:
            journal.http("demo", HttpEvent("cancelled", "POST", None, "tools/call", id))
        often.look()
    once.look()
    assert often.rows() == once.rows()


def test_ticks_do_not_queue_up_behind_a_slow_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracefeed, "TICK_SECONDS", 0.001)
    at_once, most = 0, 0
    done = threading.Event()
    ticks: list[int] = []

    def tick() -> None:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        sum(range(20_000))
        at_once -= 1
        ticks.append(1)
        if len(ticks) == 5:
            done.set()
            raise RuntimeError("a look that fails ends nothing")
        if len(ticks) == 6:
            again.set()

    again = threading.Event()
    ticker = Ticker(tick)
    ticker.start()
    assert done.wait(20)
    assert again.wait(20)
    ticker.stop()
    assert most == 1


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(None, ""), (0.0002, "< 1 ms"), (0.0421, "42 ms"), (1.234, "1.23 s"), (90.0, "1.5 min")],
)
def test_a_duration_reads_as_people_say_it(seconds: float | None, told: str) -> None:
    assert took(seconds) == told


def test_a_moment_is_a_time_of_day_to_the_millisecond() -> None:
    assert moment(1_700_000_000.1239).endswith(".123")
