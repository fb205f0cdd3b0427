"""A request, its answer, its rounds and what HTTP did about it are one row."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.journal import MAX_MESSAGES, Journal
from jupyter_mcp.host.journal.exchanges import exchanges
from jupyter_mcp.notebook.objects.trace import Trace
from jupyter_mcp.transport.traffic import HttpEvent


def recorded() -> Journal:
    """A call of two rounds, a list that came meanwhile, a notification, a question of the server."""
    times = iter([1.0, 1.5, 2.0, 2.25, 5.0, 5.25, 6.0, 7.0, 7.5])
    journal = Journal(clock=lambda: next(times))

    def say(direction: Any, **message: Any) -> None:
        journal.wire("demo", direction, {"jsonrpc": "2.0", **message}, 100)

    say("send", id=1, method="tools/call", params={"name": "book"})
    say("receive", id=1, result={"resultType": "input_required", "inputRequests": {"seat": {}}})
    say("send", id=2, method="tools/list")
    say("receive", id=2, error={"code": -1, "message": "no"})
    say("send", id=3, method="tools/call", params={"name": "book", "inputResponses": {"seat": {}}})
    say("receive", id=3, result={"content": []})
    say("receive", method="notifications/message", params={"data": "x"})
    say("receive", id="s", method="elicitation/create", params={})
    say("send", id="s", result={"action": "accept"})
    return journal


def test_all_rounds_of_a_request_are_one_row_with_the_time_of_all() -> None:
    book, listed, note, asked = exchanges(recorded().entries())
    assert (book.method, book.target, book.rounds, book.status, book.duration) == ("tools/call", "book", 2, "ok", 4.25)
    assert (book.sent, book.received, [one.number for one in book.entries]) == (200, 200, [1, 2, 5, 6])
    assert (listed.method, listed.status, listed.duration) == ("tools/list", "error", 0.25)
    assert (note.direction, note.method, note.status, note.duration) == ("receive", "notifications/message", None, None)
    assert (asked.direction, asked.method, asked.status, asked.duration) == ("receive", "elicitation/create", "ok", 0.5)


def test_what_http_did_about_a_request_is_in_its_row() -> None:
    journal = Journal()
    journal.wire("web", "send", {"id": 1, "method": "tools/call", "params": {"name": "slow"}}, 10)
    journal.http("web", HttpEvent("opened", "POST", 200, "tools/call", 1), "modern")
    journal.http("web", HttpEvent("cancelled", "POST", None, "tools/call", 1), "modern")
    journal.http("web", HttpEvent("answer", "GET", 405), "legacy")
    row, other = exchanges(journal.entries())
    assert (row.status, len(row.entries), row.era) == ("cancelled", 3, "modern")
    assert (other.method, other.status, len(other.entries)) == (None, "ok", 1)


def test_an_answer_whose_request_is_forgotten_is_a_row_that_says_who_asked() -> None:
    journal = Journal()
    journal.wire("demo", "receive", {"id": 9, "result": {}}, 10)
    (row,) = exchanges(journal.entries())
    assert (row.direction, row.method, row.status, row.duration) == ("send", None, "ok", None)


def test_a_filter_shows_the_whole_exchange_when_one_of_its_messages_passes() -> None:
    trace = Trace.of(recorded().entries())
    (row,) = trace.exchanges("inputRequests")
    assert len(row.entries) == 4
    assert [one.method for one in trace.exchanges("status:error")] == ["tools/list"]
    with pytest.raises(UsageError, match="methd"):
        trace.exchanges("methd:x")


def test_the_table_tells_direction_era_rounds_and_status() -> None:
    rows = Trace.of(recorded().entries()).exchanges().rows()
    assert rows[0] == ("demo", "→", "tools/call", "book", "", "2", "ok")
    assert rows[2] == ("demo", "←", "notifications/message", "x", "", "", "")
    assert rows[3] == ("demo", "←", "elicitation/create", "", "", "", "ok")


def test_the_frame_has_times_and_sizes() -> None:
    record = Trace.of(recorded().entries()).exchanges()
    first: Any = record.record(record[0])
    assert (first["duration"], first["sent"], first["received"], first["messages"]) == (4.25, 200, 200, 4)


def test_exchanges_are_as_bounded_as_the_trace() -> None:
    journal = Journal()
    for number in range(MAX_MESSAGES + 50):
        journal.wire("demo", "receive", {"method": "notifications/progress", "params": {"progress": number}}, 10)
    assert len(exchanges(journal.entries())) == MAX_MESSAGES
