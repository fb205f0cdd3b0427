"""Server-sent events out of bytes: any split, any line end, any size."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_mcp.protocol.sse import Event, SseDecoder, TooLarge, comment, encode

Items = list[Event | TooLarge]


def items_of(pieces: list[bytes], limit: int = 1000) -> tuple[Items, str | None, int | None, int]:
    decoder = SseDecoder(limit)
    out = [item for piece in pieces for item in decoder.feed(piece)]
    return out, decoder.last_id, decoder.retry, decoder.comments


def data_of(stream: bytes) -> list[bytes]:
    return [item.data for item in items_of([stream])[0] if isinstance(item, Event)]


PARTS = [
    *(b"\n", b"\r\n", b"\r", b"\n\n", b"\r\r", b"\r\n\r\n"),
    *(
        b"data: ",
        b"data:",
        b"data",
        b"event: ping",
        b"event:",
        b"id: 7",
        b"id",
        b"id: a\0b",
        b"retry: 250",
        b"retry: x",
    ),
    *(
        b": keep",
        b":",
        b"\xef\xbb\xbf",
        b"\xff",
        "é漢🎉\u2028x\u0085".encode(),
        b'{"jsonrpc":"2.0"}',
        b" ",
        b"unknown: 1",
    ),
    *(b"x" * 40, b"y" * 5000, b"id: " + b"z" * 5000, b"id: " + b"z" * 90),
]


@given(
    st.lists(st.sampled_from(PARTS), max_size=30), st.lists(st.integers(0, 400)), st.sampled_from([1, 30, 120, 9000])
)
def test_any_split_of_the_bytes_gives_the_same_items(parts: list[bytes], cuts: list[int], limit: int) -> None:
    stream = b"".join(parts)
    places = sorted({min(cut, len(stream)) for cut in cuts} | {0, len(stream)})
    whole = items_of([stream], limit)
    assert items_of([stream[a:b] for a, b in pairwise(places)], limit) == whole
    assert items_of([stream[i : i + 1] for i in range(len(stream))], limit) == whole


@given(st.binary(max_size=300), st.integers(1, 50))
def test_no_bytes_whatsoever_make_it_raise_or_keep_more_than_the_limit(raw: bytes, limit: int) -> None:
    for item in items_of([raw], limit)[0]:
        assert not isinstance(item, Event) or len(item.data) <= limit


@given(st.text(), st.text(st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs"])), st.integers(0, 10**6))
def test_what_is_encoded_is_decoded(text: str, name: str, retry: int) -> None:
    data = text.encode("utf-8", "replace")
    (event,) = items_of([encode(data + b"x", event=name, id=name, retry=retry)], 10**6)[0]
    assert isinstance(event, Event)
    assert event.data == (data + b"x").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    assert (event.event, event.id, event.retry) == (name or "message", name, retry)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_every_line_end_ends_a_line(end: bytes) -> None:
    stream = end.join([b"event: add", b"data: 1", b"data: 2", b"id: 5", b"", b"data: 3", b"", b""])
    assert items_of([stream])[0] == [Event(b"1\n2", "add", "5"), Event(b"3")]


def test_characters_are_never_cut_and_no_other_line_end_is_one() -> None:
    text = "é漢字🎉\u2028x\u0085✅\x0b\x0c\x1c"
    stream = b"data: " + text.encode() + b"\n\n"
    decoder = SseDecoder()
    items = [item for i in range(len(stream)) for item in decoder.feed(stream[i : i + 1])]
    assert [item.data.decode() for item in items if isinstance(item, Event)] == [text]


def test_the_byte_order_mark_is_dropped_at_the_start_only() -> None:
    assert data_of(b"\xef\xbb\xbfdata: 1\n\n\xef\xbb\xbfdata: 2\n\ndata: 3\n\n") == [b"1", b"3"]


def test_an_event_without_data_means_nothing_but_keeps_its_id_and_retry() -> None:
    items, last_id, retry, _ = items_of([b"id: 2\nretry: 500\ndata:\n\nid: 3\ndata: \n\nevent: x\n\n"])
    assert (items, last_id, retry) == ([], "3", 500)


def test_an_id_counts_from_the_end_of_its_event() -> None:
    decoder = SseDecoder()
    decoder.feed(b"id: 1\ndata: a\n\nid: 2\ndata: b\n")
    assert decoder.last_id == "1"
    decoder.feed(b"\n")
    assert decoder.last_id == "2"
    decoder.feed(b"data: c\n\n")
    assert decoder.last_id == "2"
    decoder.feed(b"id\ndata: d\n\n")
    assert decoder.last_id is None


def test_an_id_that_could_not_travel_back_is_not_taken() -> None:
    assert items_of([b"id: 1\ndata: a\n\nid: a\0b\ndata: b\n\nid: " + b"z" * 5000 + b"\ndata: c\n\n"], 10**6)[1] == "1"


def test_a_retry_that_is_no_number_is_ignored() -> None:
    stream = b"retry: 10\n\nretry: -5\n\nretry: 1.5\n\nretry:\n\nretry: \xd9\xa3\n\nretry: " + b"9" * 40 + b"\n\n"
    assert items_of([stream])[2] == 10


def test_comments_are_counted_and_not_kept() -> None:
    decoder = SseDecoder(limit=100)
    tracemalloc.start()
    try:
        for _ in range(200):
            assert decoder.feed(b": " + b"k" * 9998) == []  # one comment of 2 MB
        assert tracemalloc.get_traced_memory()[1] < 500_000
    finally:
        tracemalloc.stop()
    assert decoder.feed(b"\n:\ndata: 1\n\n") == [Event(b"1")]
    assert decoder.comments == 2


def test_an_oversize_event_costs_itself_only_and_is_told_at_once() -> None:
    decoder = SseDecoder(limit=1000)
    assert decoder.feed(b'id: 4\ndata: {"jsonrpc":"2.0","id":3,"result":{"t":"' + b"x" * 900) == []
    (told,) = decoder.feed(b"x" * 200)
    assert told == TooLarge(1000, (b'{"jsonrpc":"2.0","id":3,"result":{"t":"' + b"x" * 900)[:256])
    assert decoder.feed(b"x" * 50_000) == []
    assert decoder.feed(b"\ndata: more\n\ndata: next\n\n") == [Event(b"next")]
    assert decoder.last_id == "4"


def test_an_oversize_event_of_many_lines_is_bounded_too() -> None:
    decoder = SseDecoder(limit=1000)
    items = [item for _ in range(500) for item in decoder.feed(b"data: 12345\n")]
    assert [type(item) for item in items] == [TooLarge]
    assert decoder.feed(b"\ndata: ok\n\n") == [Event(b"ok")]


def test_an_event_that_is_not_ended_is_not_an_event() -> None:
    assert data_of(b"data: 1\n\ndata: 2\n") == [b"1"]


def test_a_stream_that_comes_anew_goes_on_with_its_last_id() -> None:
    decoder = SseDecoder()
    decoder.feed(b"id: 1\nretry: 20\ndata: a\n\ndata: half")
    decoder.restart()
    assert decoder.feed(b"\xef\xbb\xbfdata: b\n\n") == [Event(b"b")]
    assert (decoder.last_id, decoder.retry, decoder.events) == ("1", 20, 2)


class Counted(bytes):
    """Bytes that count how often they are looked through."""

    looked = 0

    def __contains__(self, key: object, /) -> bool:
        Counted.looked += len(self)
        return bytes.__contains__(self, key)  # pyright: ignore[reportArgumentType]


def test_a_long_line_in_small_pieces_is_looked_through_once() -> None:
    Counted.looked = 0
    decoder = SseDecoder()
    decoder.feed(b"data: ")
    piece = Counted(b"x" * 1000)
    for _ in range(10_000):
        assert decoder.feed(piece) == []
    assert Counted.looked <= 2 * 10_000_000  # for CR and for LF
    (event,) = decoder.feed(b"\n\n")
    assert isinstance(event, Event) and len(event.data) == 10_000_000


def test_encoding_refuses_what_would_be_read_otherwise() -> None:
    for bad in ("a\nb", "a\rb", "a\0b"):
        with pytest.raises(ValueError, match="cannot hold"):
            encode(b"{}", id=bad)
    assert encode(b"", id="9", retry=20) == b"id: 9\nretry: 20\ndata: \n\n"
    assert encode(b"{}", event="endpoint") == b"event: endpoint\ndata: {}\n\n"


def test_a_comment_is_a_comment_whatever_it_says() -> None:
    decoder = SseDecoder()
    assert decoder.feed(comment() + comment("still\ndata: here") + encode(b"1")) == [Event(b"1")]
    assert decoder.comments == 2


def test_what_has_begun_at_the_end_of_the_stream_is_given_without_moving_the_last_id() -> None:
    decoder = SseDecoder()
    decoder.feed(b"id: 1\ndata: a\n\nid: 2\ndata: b\ndata: c")
    assert decoder.eof() == Event(b"b\nc", "message", "2")
    assert decoder.last_id == "1"
    assert decoder.eof() is None
    for nothing in (b"", b": x", b"id: 3\n", b"\n", b"data:", b"data: x\n\n"):
        decoder.restart()
        decoder.feed(nothing)
        assert decoder.eof() is None
