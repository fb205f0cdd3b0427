"""Lines out of bytes: any split, any length, any noise."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_mcp.protocol import jsonrpc
from jupyter_mcp.protocol.framing import Cut, LineDecoder, parse_line, printable


def lines_of(pieces: list[bytes]) -> list[bytes]:
    decoder = LineDecoder()
    out = [line for piece in pieces for line in decoder.feed(piece)]
    return out + decoder.eof()


@given(
    st.lists(st.sampled_from([b"\n", b"\r\n", b"{}", b'{"a":1}', b"\xef\xbb\xbf", b" ", b"noise", b"\r", b"\xff"])),
    st.lists(st.integers(0, 60)),
)
def test_any_split_of_the_bytes_gives_the_same_lines(parts: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(parts)
    places = sorted({min(cut, len(stream)) for cut in cuts} | {0, len(stream)})
    pieces = [stream[a:b] for a, b in pairwise(places)]
    assert lines_of(pieces) == lines_of([stream]) == lines_of([stream[i : i + 1] for i in range(len(stream))])


def test_crlf_bom_and_blank_lines_leave_no_trace() -> None:
    assert lines_of([b'\xef\xbb\xbf{"a":1}\r\n\r\n\n  \n{"b":2}\n']) == [b'{"a":1}', b'{"b":2}']


def test_the_last_line_needs_no_newline() -> None:
    decoder = LineDecoder()
    assert decoder.feed(b'{"a":1}') == []
    assert decoder.eof() == [b'{"a":1}']
    assert decoder.eof() == []


class Searched(bytes):
    """Bytes that count how often they are looked through."""

    times = 0

    def __contains__(self, key: object, /) -> bool:
        Searched.times += 1
        return bytes.__contains__(self, key)  # pyright: ignore[reportArgumentType]


def test_a_long_line_in_small_pieces_is_searched_once_and_joined_once() -> None:
    pieces = [Searched(b"x" * 1000) for _ in range(5000)]
    decoder = LineDecoder()
    assert all(decoder.feed(piece) == [] for piece in pieces)
    assert Searched.times == len(pieces)
    assert [len(line) for line in decoder.feed(b"\n")] == [5_000_000]


def test_one_message_is_one_message() -> None:
    line = parse_line(b'{"jsonrpc":"2.0","id":1,"result":{}}')
    assert (line.messages, line.noise, line.batch, line.code) == (
        [{"jsonrpc": "2.0", "id": 1, "result": {}}],
        None,
        False,
        0,
    )


@pytest.mark.parametrize(
    ("raw", "text", "code"),
    [
        (b"\x1b[32mStarting demo server v0\x1b[0m", "Starting demo server v0", jsonrpc.PARSE_ERROR),
        (b"[info] 3 plugins loaded", "[info] 3 plugins loaded", jsonrpc.PARSE_ERROR),
        (
            b'{"level":30,"msg":"json style log line"}',
            '{"level":30,"msg":"json style log line"}',
            jsonrpc.INVALID_REQUEST,
        ),
        (b"123", "123", jsonrpc.INVALID_REQUEST),
        (b"null", "null", jsonrpc.INVALID_REQUEST),
        (b"[]", "[]", jsonrpc.INVALID_REQUEST),
        (b"[1,2]", "[1,2]", jsonrpc.INVALID_REQUEST),
        (b"\xff\xfe{", "\ufffd\ufffd{", jsonrpc.PARSE_ERROR),
        (b"[" * 5000, "[" * 199 + "…", jsonrpc.PARSE_ERROR),
    ],
)
def test_what_is_not_json_rpc_is_noise_in_printable_words(raw: bytes, text: str, code: int) -> None:
    line = parse_line(raw)
    assert (line.messages, line.noise, line.code) == ([], text, code)


def test_a_malformed_message_is_handed_on_so_that_a_server_can_answer() -> None:
    line = parse_line(b'{"jsonrpc":"2.0","id":5,"method":7}')
    assert line.noise is None and jsonrpc.kind(line.messages[0]) == "invalid"


def test_a_batch_is_told_apart_and_its_noise_does_not_cost_the_rest() -> None:
    line = parse_line(b'[{"jsonrpc":"2.0","id":1,"method":"ping"},17,{"jsonrpc":"2.0","method":"n"}]')
    assert line.batch and [m["method"] for m in line.messages] == ["ping", "n"]
    assert line.noise is not None


def test_a_bad_byte_costs_a_character_not_the_message() -> None:
    line = parse_line(b'{"jsonrpc":"2.0","id":1,"result":{"t":"caf\xe9"}}')
    assert line.messages == [{"jsonrpc": "2.0", "id": 1, "result": {"t": "caf\ufffd"}}]
    assert line.noise is not None and "UTF-8" in line.noise


@given(st.binary(max_size=200))
def test_no_line_whatsoever_makes_it_raise(raw: bytes) -> None:
    line = parse_line(raw)
    assert line.messages or line.noise is not None


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;title\x07hi", "hi"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b[1;31mred\x1b[0m \x1b[2Kx", "red x"),
        ("a\x00\x08b\u202ec\u2028d", "a b c d"),
        ("tab\tstays", "tab\tstays"),
        ("x" * 500, "x" * 199 + "…"),
        ("\x1b", ""),
        ("\ud800", "?"),
    ],
)
def test_foreign_text_is_made_safe_to_show(text: str, shown: str) -> None:
    assert printable(text) == shown


# --- lines that are no JSON and hold messages all the same -----------------------------------------------------------

ONE, TWO = b'{"jsonrpc":"2.0","id":1,"result":{}}', b'{"jsonrpc":"2.0","id":2,"result":{"n":NaN}}'


@pytest.mark.parametrize("between", [b"", b"\r", b" ", b"\r\r\t"])
def test_messages_without_a_line_end_between_them_are_all_taken(between: bytes) -> None:
    line = parse_line(between.join([ONE, TWO, ONE]))
    assert [message["id"] for message in line.messages] == [1, 2, 1]
    assert not line.batch and line.noise is not None


@pytest.mark.parametrize("before", [b"\x1b[0m", b"\x1b[2J\x1b[H", b"\x1b]0;title\x07", b"\x00", b"\x1b[?25l\r"])
@pytest.mark.parametrize("behind", [b"", b"\x1b[0m", b"\x00\x00"])
def test_terminal_codes_around_a_message_do_not_cost_it(before: bytes, behind: bytes) -> None:
    line = parse_line(before + ONE + behind)
    assert (line.messages, line.noise) == ([{"jsonrpc": "2.0", "id": 1, "result": {}}], None)


@pytest.mark.parametrize("text", [b"Loading... ", b"50%\r", b"DEBUG: sent {x}: "])
def test_an_answer_behind_a_text_is_set_apart_and_nothing_else_is(text: bytes) -> None:
    line = parse_line(text + ONE)
    assert (line.messages, line.glued) == ([], {"jsonrpc": "2.0", "id": 1, "result": {}})
    assert line.noise is not None
    for other in (b'{"jsonrpc":"2.0","id":1,"method":"ping"}', ONE + b" was sent", ONE + TWO, b'{"id":1,"name":"x"}'):
        assert parse_line(text + other).glued is None


@pytest.mark.parametrize(
    ("line", "id"),
    [
        (b'{"jsonrpc":"2.0","id":7,"result":{"n":' + b"9" * 5000 + b"}}", 7),
        (b'{"id":"7","jsonrpc":"2.0","result":' + b"[" * 100_000 + b"}", "7"),
        (b'{"jsonrpc":"2.0","result":{"id":3,"n":' + b"9" * 5000 + b'},"id":7}', 7),
        (b'{"result":{"n":tru},"id": -7,"jsonrpc":"2.0"}', -7),
        (b'{"jsonrpc": "2.0", "id": 7, "result": {"t": "cut sho', 7),
        (b'{"jsonrpc":"2.0","result":{"id":3},"x":tru}', None),
        (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{tru}}', None),
        (b'[info] {"jsonrpc":"2.0","id":7,"result":{tru}', None),
        (b'{"level":30,"id":7,"msg":tru}', None),
    ],
)
def test_an_unreadable_line_says_which_request_it_answers_when_that_is_certain(line: bytes, id: int | str | None):
    found = parse_line(line)
    assert (found.messages, found.answers, bool(found.why)) == ([], id, True)
    assert found.noise is not None and len(found.noise) <= 200


@given(st.lists(st.sampled_from([b"\n", b"ab", b"c" * 7, b"\r\n", b"d" * 25])), st.lists(st.integers(0, 90)))
def test_a_line_that_is_too_long_is_told_once_and_costs_itself_only(parts: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(parts)
    places = sorted({min(cut, len(stream)) for cut in cuts} | {0, len(stream)})

    def told(pieces: list[bytes]) -> list[tuple[bool, bytes]]:
        decoder = LineDecoder(10)
        lines = [line for piece in pieces for line in decoder.feed(piece)] + decoder.eof()
        return [(isinstance(line, Cut), b"" if isinstance(line, Cut) else line) for line in lines]

    wanted = [(len(raw) > 10, b"" if len(raw) > 10 else raw.strip()) for raw in stream.split(b"\n") if raw.strip()]
    assert told([stream[a:b] for a, b in pairwise(places)]) == told([stream]) == wanted


def test_an_endless_line_does_not_grow() -> None:
    decoder = LineDecoder(1000)
    first = decoder.feed(b'{"jsonrpc":"2.0","id":7,"result":"' + b"x" * 1000)
    assert [parse_line(line).answers for line in first] == [7]
    assert all(decoder.feed(b"x" * 500) == [] for _ in range(100))
    assert sum(map(len, decoder._parts)) == 0  # pyright: ignore[reportPrivateUsage]
    assert decoder.feed(b"\n" + ONE + b"\n") == [ONE]
