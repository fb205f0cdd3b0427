"""The rounds of a request that needed input are one exchange in the trace."""

from __future__ import annotations

from typing import Any

from jupyter_mcp.host.journal import Direction, Journal
from jupyter_mcp.notebook.objects.trace import Trace


def call(id: int, name: str = "book", **more: Any) -> dict[str, Any]:
    return {"id": id, "method": "tools/call", "params": {"name": name, "arguments": {}, **more}}


def needs(id: int, *names: str, **more: Any) -> dict[str, Any]:
    asked: dict[str, Any] = {name: {"method": "elicitation/create"} for name in names}
    return {"id": id, "result": {"resultType": "input_required", "inputRequests": asked, **more}}


def test_rounds_share_the_number_of_the_first_request_and_are_counted() -> None:
    journal = Journal()
    messages: list[tuple[Direction, dict[str, Any]]] = [
        ("send", call(1)),
        ("receive", needs(1, "who", requestState="s1")),
        ("send", call(2)),  # another call of the same tool
        ("send", call(3, inputResponses={"who": {}}, requestState="s1")),
        ("receive", needs(3, "when", requestState="s2")),
        ("send", call(4, inputResponses={"when": {}}, requestState="s2")),
        ("receive", {"id": 4, "result": {"content": []}}),
        ("send", {"method": "notifications/x"}),
    ]
    for direction, message in messages:
        journal.wire("demo", direction, message, 10)
    entries = journal.entries()
    seen = [(entry.exchange, entry.round) for entry in entries]
    assert seen == [(1, 1), (1, 1), (3, 1), (1, 2), (1, 2), (1, 3), (1, 3), (None, None)]
    rows = [row[2] for row in Trace.of(entries).rows()]
    assert rows[3:7] == [
        "tools/call (round 2)",
        "tools/call: result (round 2)",
        "tools/call (round 3)",
        "tools/call: result (round 3)",
    ]


def test_answers_to_something_else_are_no_round() -> None:
    journal = Journal()
    journal.wire("demo", "send", call(1), 10)
    journal.wire("demo", "receive", needs(1, "who"), 10)
    for number, other in enumerate(
        (
            call(2, inputResponses={"when": {}}),
            call(3, inputResponses={"who": {}}, requestState="x"),
            call(4, "other", inputResponses={"who": {}}),
        )
    ):
        journal.wire("demo", "send", other, 10)
        assert journal.entries()[-1].exchange == number + 3
    journal.wire("other", "send", call(5, inputResponses={"who": {}}), 10)
    assert journal.entries()[-1].round == 1
    journal.wire("demo", "send", call(6, inputResponses={"who": {}}), 10)
    assert (journal.entries()[-1].exchange, journal.entries()[-1].round) == (1, 2)
