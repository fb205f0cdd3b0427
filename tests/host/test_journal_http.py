"""What HTTP did beside messages is on record with the messages, redacted, and says what became of requests."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from jupyter_mcp.host.host import Host
from jupyter_mcp.host.journal import Journal, WireEntry
from jupyter_mcp.host.journal.filter import parse
from jupyter_mcp.host.specs import ServerSpec
from jupyter_mcp.notebook.objects.trace import Trace
from jupyter_mcp.server import Server
from jupyter_mcp.transport.traffic import HttpEvent

if TYPE_CHECKING:
    from pathlib import Path


def request(id: int, method: str = "tools/call", **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def seen(journal: Journal) -> list[tuple[object, ...]]:
    return [(one.direction, one.method, one.id, one.status) for one in journal.entries()]


@pytest.mark.parametrize(
    ("event", "status"),
    [
        (HttpEvent("answer", "POST", 202, "notifications/initialized", None, "Accepted"), "ok"),
        (HttpEvent("answer", "POST", 404, "notifications/initialized"), "error"),
        (HttpEvent("answer", "GET", 405), "ok"),
        (HttpEvent("answer", "GET", 404), "error"),
        (HttpEvent("answer", "DELETE", 405), "ok"),
        (HttpEvent("answer", "DELETE", 204), "ok"),
        (HttpEvent("opened", "GET", 200), None),
        (HttpEvent("closed", "GET"), None),
        (HttpEvent("failed", "DELETE", None, text="timed out"), "error"),
    ],
)
def test_an_event_of_no_request_has_a_status_of_its_own(event: HttpEvent, status: str | None) -> None:
    journal = Journal()
    journal.http("demo", event, "legacy")
    (entry,) = journal.entries()
    assert (entry.http, entry.method, entry.status, entry.size, entry.era) == (event, event.method, status, 0, "legacy")
    assert entry.message["http"]["event"] == event.kind


@pytest.mark.parametrize(
    ("kind", "status", "became"),
    [
        ("cancelled", None, "cancelled"),
        ("failed", None, "error"),
        ("answer", 502, "error"),
        ("closed", None, "error"),
        ("opened", 200, "open"),
        ("answer", 202, "open"),  # HTTP+SSE: the answer comes on the stream
    ],
)
def test_what_http_did_says_what_became_of_a_request(kind: Any, status: int | None, became: str) -> None:
    times = iter([1.0, 3.0])
    journal = Journal(clock=lambda: next(times))
    journal.wire("demo", "send", request(7, name="fly"), 50)
    journal.http("demo", HttpEvent(kind, "POST", status, "tools/call", 7))
    asked, event = journal.entries()
    assert asked.status == became
    assert asked.duration == (None if became == "open" else 2.0)
    assert (event.exchange, event.round, event.target) == (asked.number, 1, "fly")


def test_an_answer_that_comes_after_all_counts_more_than_a_broken_stream() -> None:
    journal = Journal()
    journal.wire("demo", "send", request(1), 50)
    journal.http("demo", HttpEvent("closed", "POST", None, "tools/call", 1))
    journal.http("demo", HttpEvent("opened", "GET", 200, "tools/call", 1, resumed=True))
    journal.wire("demo", "receive", {"jsonrpc": "2.0", "id": 1, "result": {}}, 20)
    assert [entry.status for entry in journal.entries()] == ["ok"] * 4
    assert {entry.exchange for entry in journal.entries()} == {1}


@pytest.mark.parametrize("direction", ["send", "receive"])
def test_a_request_that_its_sender_took_back_is_cancelled(direction: Any) -> None:
    journal = Journal()
    other = "receive" if direction == "send" else "send"
    journal.wire("demo", direction, request(1), 50)
    journal.wire("demo", other, request(1), 50)
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    journal.wire("demo", direction, cancelled, 50)
    assert [entry.status for entry in journal.entries()] == ["cancelled", "open", None]


def test_a_row_says_in_words_what_http_did() -> None:
    journal = Journal()
    for event in (
        HttpEvent("answer", "POST", 202, "notifications/initialized", None, "Accepted"),
        HttpEvent("answer", "DELETE", 404, text="Not Found"),
        HttpEvent("opened", "GET", 200, text="OK"),
        HttpEvent("opened", "GET", 200, "tools/call", 3, "OK", resumed=True),
        HttpEvent("closed", "GET"),
        HttpEvent("cancelled", "POST", None, "tools/call", 3),
        HttpEvent("failed", "POST", None, "tools/call", 3, "h refuses connections."),
    ):
        journal.http("demo", event)
    rows = [(row[1], row[2], row[4]) for row in Trace.of(journal.entries()).rows()]
    assert rows == [
        ("←", "HTTP 202 to POST of notifications/initialized", "Accepted"),
        ("←", "HTTP 404 to DELETE", "Not Found"),
        ("←", "stream of the session opened", "OK"),
        ("←", "stream of tools/call resumed", "OK"),
        ("←", "stream of the session closed", ""),
        ("→", "stream of tools/call closed to cancel it", ""),
        ("←", "no answer to POST of tools/call", "h refuses connections."),
    ]


def test_what_a_server_says_in_its_status_line_is_redacted_and_short(tmp_path: Path) -> None:
    journal = Journal()
    journal.redactor.learn(["omega-psi-7"])
    journal.write_to(tmp_path / "j.jsonl")
    journal.http("demo", HttpEvent("failed", "POST", None, "tools/call", 1, "for omega-psi-7 " + "x" * 2_000))
    (entry,) = journal.entries()
    line = json.loads((tmp_path / "j.jsonl").read_text().splitlines()[1])
    for said in (json.dumps(entry.message), json.dumps(line)):
        assert "omega" not in said
        assert len(said) < 1_000
    assert (line["kind"], line["method"], line["id"], line["status"]) == ("http", "tools/call", 1, "error")


def test_the_filter_finds_events_and_what_was_cancelled() -> None:
    journal = Journal()
    journal.wire("demo", "send", request(1), 50)
    journal.http("demo", HttpEvent("cancelled", "POST", None, "tools/call", 1))
    journal.http("demo", HttpEvent("answer", "POST", 202, "notifications/x", None, "Accepted"))

    def numbers(text: str) -> list[int]:
        test = parse(text)
        return [entry.number for entry in journal.entries() if test(entry)]

    assert numbers("status:cancelled") == [1, 2]
    assert numbers("accepted") == [3]
    assert numbers("method:notifications/*") == [3]


def test_events_are_bounded_with_the_messages() -> None:
    journal = Journal(max_bytes=1_000)
    for _ in range(50):
        journal.http("demo", HttpEvent("answer", "POST", 202))
    assert len(journal.entries()) == 3


@pytest.mark.parametrize(
    ("message", "era", "target"),
    [
        (request(1, name="add", arguments={"name": "x"}), None, "add"),
        (request(1, "resources/read", uri="notes://today"), None, "notes://today"),
        (request(1, "completion/complete", ref={"type": "ref/prompt", "name": "review"}), None, "review"),
        (request(1, "initialize", protocolVersion="2025-11-25"), "legacy", ""),
        (request(1, "tools/list", _meta={"io.modelcontextprotocol/protocolVersion": "2026-07-28"}), "modern", ""),
        (request(1, "tools/call", name=["odd"]), None, "['odd']"),
        (request(1, "elicitation/create", message="Which seat?"), None, "Which seat?"),
        (request(1, "notifications/progress", progress=1), None, ""),
        (request(1, "notifications/message", data={"a": 1}), None, "{'a': 1}"),
        (request(1, "notifications/cancelled", requestId=7), None, "7"),
        (request(1, "completion/complete", ref="odd"), None, ""),
    ],
)
def test_an_entry_says_what_it_is_about_and_in_which_era(message: Any, era: str | None, target: str) -> None:
    journal = Journal()
    journal.wire("demo", "send", message, 50)
    journal.wire("demo", "receive", {"jsonrpc": "2.0", "id": 1, "result": {}}, 20)
    both: list[WireEntry] = journal.entries()
    assert [(one.era, one.target) for one in both] == [(era, target)] * 2


@pytest.mark.anyio
@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_real_connection_over_http_leaves_nothing_out(era: Any) -> None:
    """Accepted notifications, streams, a call that is cancelled in the way of its era, and the end of a session."""
    server, begun = Server("web"), anyio.Event()

    @server.tool
    async def slow() -> str:
        begun.set()
        await anyio.sleep(60)
        return "slept"

    @server.resource("notes://{day}")
    def note(day: str) -> str:
        return day

    host = Host()
    with anyio.fail_after(30):
        async with server.serve_http(token=False) as running:
            entry = await host.connect(ServerSpec.parse("web", running.url, era=era))
            assert entry.connection is not None
            watch = await entry.connection.watch("notes://today")
            async with anyio.create_task_group() as tasks:

                async def call() -> None:
                    await host.call_tool("web", "slow", {})

                tasks.start_soon(call)
                await begun.wait()
                tasks.cancel_scope.cancel()
            await watch.stop()
            await host.disconnect("web")
    entries = host.journal.entries()
    did = {(one.http.kind, one.http.verb, one.http.status, one.http.method) for one in entries if one.http is not None}
    asked = next(one for one in entries if one.target == "slow" and one.direction == "send" and one.http is None)
    assert asked.status == "cancelled"
    assert {one.era for one in entries if one.http is not None and one.http.kind != "answer"} <= {era}
    if era == "legacy":
        assert ("answer", "POST", 202, "notifications/initialized") in did
        assert ("answer", "POST", 202, "notifications/cancelled") in did
        assert ("opened", "GET", 200, None) in did
        assert any(verb == "DELETE" and status in (200, 202, 204) for _, verb, status, _ in did)
    else:
        assert ("cancelled", "POST", None, "tools/call") in did
        assert ("opened", "POST", 200, "subscriptions/listen") in did
        assert ("cancelled", "POST", None, "subscriptions/listen") in did
        assert not any(verb in ("GET", "DELETE") for _, verb, _, _ in did), "this era has no sessions"
