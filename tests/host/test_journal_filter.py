"""What a filter of the trace lets through, and how a wrong one is refused."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.journal import Journal
from jupyter_mcp.host.journal.filter import parse


def recorded() -> Journal:
    """Six messages: a slow call that failed, a quick list, a notification, a call without an answer."""
    times = iter([10.0, 12.5, 20.0, 20.01, 21.0, 30.0])
    journal = Journal(clock=lambda: next(times))

    def say(server: str, direction: Any, size: int, **message: Any) -> None:
        journal.wire(server, direction, {"jsonrpc": "2.0", **message}, size)

    say("demo", "send", 100, id=1, method="tools/call", params={"name": "fly", "arguments": {"to": "Rome now"}})
    say("demo", "receive", 3_000, id=1, result={"isError": True, "content": []})
    say("time", "send", 50, id=1, method="tools/list")
    say("time", "receive", 80, id=1, result={"tools": []})
    say("demo", "receive", 60, method="notifications/message", params={"data": "see notes://today"})
    say("demo", "send", 90, id=2, method="tools/call", params={"name": "book"})
    return journal


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("", [1, 2, 3, 4, 5, 6]),
        ("method:tools/call", [1, 2, 6]),
        ("method:tools/*", [1, 2, 3, 4, 6]),
        ("method:tools/call status:error duration>1s server:demo", [1, 2]),
        ("duration>2500ms", []),
        ("duration<0.1", [3, 4]),
        ("duration>0.04min", [1, 2]),
        ("status:open", [6]),
        ("status:none", [5]),
        ("status:ok", [3, 4]),
        ("direction:receive size>2kB", [2]),
        ("size<60", [3]),
        ("FLY", [1]),
        ("text:rome server:d*", [1]),
        ('"rome now"', [1]),
        ("notes://today", [5]),
    ],
)
def test_a_filter_lets_through_what_holds_for_all_its_words(text: str, numbers: list[int]) -> None:
    test = parse(text)
    assert [entry.number for entry in recorded().entries() if test(entry)] == numbers


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("methd:x", "'methd' (in 'methd:x')"),
        ("method:", "'method:' has nothing after it"),
        ("status:broken", "'status:broken' is not understood"),
        ("direction:up", "'direction:up' is not understood"),
        ("duration:1s", "'duration:1s' is not understood"),
        ("method>x", "'method>x' is not understood"),
        ("duration>1week", "'duration>1week' is no amount"),
        ("size>-1", "'size>-1' is no amount"),
        ('text:"open', "a quote that is not closed"),
    ],
)
def test_a_wrong_filter_is_refused_in_one_line_that_names_the_word(text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(text)
    assert said in caught.value.message
    assert "\n" not in caught.value.message


def test_an_id_used_again_belongs_to_the_latest_request() -> None:
    times = iter([1.0, 5.0, 6.0])
    journal = Journal(clock=lambda: next(times))
    messages: list[dict[str, Any]] = [{"id": 1, "method": "a"}, {"id": 1, "method": "b"}, {"id": 1, "result": {}}]
    for message in messages:
        journal.wire("demo", "receive" if "result" in message else "send", message, 10)
    assert [(e.method, e.status, e.duration) for e in journal.entries()] == [
        ("a", "open", None),
        ("b", "ok", 1.0),
        ("b", "ok", 1.0),
    ]


def test_a_round_that_asks_back_is_neither_well_nor_failed() -> None:
    journal = Journal()
    journal.wire("demo", "send", {"id": 1, "method": "tools/call"}, 10)
    journal.wire("demo", "receive", {"id": 1, "result": {"resultType": "input_required", "inputRequests": {}}}, 10)
    assert {entry.status for entry in journal.entries()} == {"input_required"}
