"""Streams without a socket: whatever happens in whatever order, a client that comes back misses nothing it may have."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_mcp.errors import LocalProtocolError
from jupyter_mcp.protocol.sse import Event, SseDecoder
from jupyter_mcp.server.http import streams
from jupyter_mcp.server.http.streams import Stream, accepts, parse_event_id

pytestmark = pytest.mark.anyio


class FakeBody:
    """A response that takes so many writes before its reader stops reading."""

    def __init__(self, room: int = 10**9) -> None:
        self.data = b""
        self.answered: tuple[int, bytes] | None = None
        self.begun = self.ended = self.aborted = False
        self.room = room
        self.waiting: asyncio.Future[None] | None = None

    def answer(self, status: int, data: bytes) -> None:
        self.answered, self.ended = (status, data), True

    def begin(self) -> None:
        self.begun = True

    def write(self, data: bytes) -> asyncio.Future[None]:
        assert self.begun and not self.ended and self.waiting is None
        self.data += data
        self.room -= 1
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self.room > 0:
            future.set_result(None)
        else:
            self.waiting = future
        return future

    def end(self) -> None:
        self.ended = True

    def abort(self) -> None:
        self.aborted = self.ended = True

    async def read(self, room: int = 10**9) -> None:
        """The reader reads again."""
        self.room, waiting, self.waiting = room, self.waiting, None
        if waiting is not None and not waiting.done():
            waiting.set_result(None)
        await asyncio.sleep(0)

    def events(self) -> list[tuple[str | None, Any]]:
        decoder = SseDecoder()
        return [(one.id, json.loads(one.data)) for one in decoder.feed(self.data) if isinstance(one, Event)]

    @property
    def last_id(self) -> str | None:
        decoder = SseDecoder()
        decoder.feed(self.data)
        return decoder.last_id


def note(n: int) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "n", "params": {"n": n}}


ANSWER: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "result": {}}


async def test_an_answer_alone_is_json_and_nothing_follows_it():
    body = FakeBody()
    stream = Stream(body)
    stream.post(ANSWER)
    stream.post(ANSWER)
    stream.note(note(1))
    assert body.answered == (200, json.dumps(ANSWER, separators=(",", ":")).encode()) and not body.begun


async def test_what_is_no_json_leaves_the_stream_as_it_was():
    body = FakeBody()
    stream = Stream(body, name="1")
    with pytest.raises(LocalProtocolError):
        await stream.send({"jsonrpc": "2.0", "id": 1, "result": {"x": float("nan")}})
    with pytest.raises(LocalProtocolError):
        await stream.tell({"jsonrpc": "2.0", "method": "n", "params": {"x": {1, 2}}})
    await stream.send(ANSWER)
    assert body.answered is not None


@given(
    steps=st.lists(st.sampled_from(("note", "lose", "come", "slow", "read", "send away")), max_size=40),
    prime=st.booleans(),
)
async def test_a_client_that_comes_back_gets_every_event_once_and_in_order(steps: list[str], prime: bool):
    body: FakeBody | None = FakeBody()
    stream = Stream(body, name="s", prime=prime)
    stream.open()
    bodies = [body]
    sent = 0

    def come() -> FakeBody:
        last = next((one.last_id for one in reversed(bodies) if one.last_id is not None), None)
        after = parse_event_id(last) if last is not None else ("s", 0)
        assert after is not None and after[0] == "s"
        new = FakeBody()
        stream.attach(new, after[1])
        bodies.append(new)
        return new

    for step in [*steps, "come"]:
        if step == "note":
            sent += 1
            stream.note(note(sent))
        elif step == "lose" and body is not None:
            stream.detach(body)
            body = None
        elif step == "come":
            body = come()
        elif step == "slow" and body is not None and not body.ended:
            body.room = 1
        elif step == "read" and body is not None:
            await body.read()
        elif step == "send away" and (body is None or body.waiting is None):
            stream.close_stream(1)
            body = None if prime else body
    stream.post(ANSWER)
    assert body is not None
    await body.read()
    while not body.ended:
        await body.read()
    seen = [event for one in bodies for event in one.events()]
    assert [message["params"]["n"] for _, message in seen[:-1]] == list(range(1, sent + 1))
    assert seen[-1][1] == ANSWER
    ids = [id_ for id_, _ in seen]
    assert len(set(ids)) == len(ids)


async def test_tell_waits_while_the_client_reads_slowly_and_goes_on_when_it_left():
    body = FakeBody(room=1)
    stream = Stream(body, name="1")
    waiting = asyncio.create_task(stream.tell(note(1)))
    await asyncio.sleep(0)
    assert not waiting.done()
    await body.read(room=1)
    await waiting
    waiting = asyncio.create_task(stream.tell(note(2)))
    await asyncio.sleep(0)
    assert not waiting.done()
    stream.detach(body)
    await waiting


async def test_a_note_that_waits_already_is_not_told_twice():
    body = FakeBody(room=1)
    stream = Stream(body)
    for n in (1, 2, 2, 2, 3, 2):
        stream.note(note(n))
    await body.read()
    assert [message["params"]["n"] for _, message in body.events()] == [1, 2, 3]


@pytest.mark.parametrize("limit", ["MOST_EVENTS", "MOST_BYTES"])
async def test_what_is_kept_has_a_bound_and_the_oldest_goes_first(limit: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(streams, limit, 10 if limit == "MOST_EVENTS" else 500)
    stream = Stream(None, name="1")
    stream.opened = True
    for n in range(1, 101):
        stream.note(note(n))
    assert stream.kept <= 600
    body = FakeBody()
    stream.attach(body, 0)
    numbers = [message["params"]["n"] for _, message in body.events()]
    assert numbers == list(range(numbers[0], 101)) and 5 < len(numbers) <= 10


async def test_one_event_larger_than_the_bound_is_kept(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(streams, "MOST_BYTES", 10)
    stream = Stream(None, name="1")
    stream.opened = True
    stream.post({"jsonrpc": "2.0", "id": 1, "result": {"text": "x" * 1000}})
    body = FakeBody()
    stream.attach(body, 0)
    assert len(body.events()) == 1 and body.ended


async def test_a_modern_reader_who_takes_nothing_loses_the_response(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(streams, "MOST_EVENTS", 10)
    body = FakeBody(room=1)
    stream = Stream(body)
    for n in range(20):
        stream.note(note(n))
    assert body.aborted and stream.kept == 0


async def test_dropping_ends_the_response_whatever_the_client_reads():
    for events in (True, False):
        body = FakeBody()
        stream = Stream(body, events=events)
        stream.drop()
        assert body.ended and body.answered is None


@pytest.mark.parametrize(
    ("text", "found"),
    [("0-1", ("0", 1)), ("12-345", ("12", 345)), ("a-b-7", ("a-b", 7))]
    + [(text, None) for text in ("", "-", "1-", "-1", "1", "1-x", "1-²", "1-" + "9" * 16)],
)
def test_event_ids_are_read_or_refused(text: str, found: tuple[str, int] | None):
    assert parse_event_id(text) == found


@given(st.lists(st.text(max_size=30), max_size=3))
def test_any_accept_header_is_read(values: list[str]):
    assert len(accepts(values)) == 2
