"""What processes write to stdout when their authors were careless: the messages are found, and nothing is invented."""

from __future__ import annotations

import asyncio
import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.transport import stdout
from jupyter_mcp.transport.stdout import Output
from tests.transport.web import Web

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.anyio

ONE: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "result": {"t": "é☃", "deep": {"a": [{}, {}]}}}
TWO: dict[str, Any] = {"jsonrpc": "2.0", "id": 2, "result": {}}


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdout, "QUIET", 0.05)
    monkeypatch.setattr(stdout, "GLUED", 0.05)


def text(message: dict[str, Any], **how: Any) -> str:
    return json.dumps(message, ensure_ascii=False, **how)


WRITERS: dict[str, Callable[[dict[str, Any]], bytes]] = {
    "no line end": lambda m: text(m).encode(),
    "carriage returns": lambda m: text(m).encode() + b"\r",
    "indented": lambda m: text(m, indent=2).encode() + b"\n",
    "indented, CRLF": lambda m: text(m, indent=4).replace("\n", "\r\n").encode() + b"\r\n",
    "UTF-16": lambda m: (text(m) + "\n").encode("utf-16-le"),
    "UTF-16, CRLF": lambda m: (text(m) + "\r\n").encode("utf-16-le"),
    "UTF-16 with marks": lambda m: (text(m) + "\n").encode("utf-16"),
    "NUL behind": lambda m: text(m).encode() + b"\n\0",
    "colours": lambda m: b"\x1b[32m" + text(m).encode() + b"\x1b[0m\n",
    "marks": lambda m: b"\xef\xbb\xbf" + text(m).encode() + b"\r\n",
    "lengths": lambda m: b"Content-Length: %d\r\n\r\n" % len(text(m).encode()) + text(m).encode(),
}


@pytest.mark.parametrize("size", [1, 7, 100_000])
@pytest.mark.parametrize("writer", WRITERS)
async def test_a_message_is_found_however_it_was_written_and_in_whatever_pieces(writer: str, size: int) -> None:
    web = Web()
    output = Output(web)
    for number, message in enumerate((ONE, TWO, ONE), 1):
        data = WRITERS[writer](message)
        for start in range(0, len(data), size):
            output.feed(data[start : start + size])
        await web.until(lambda number=number: len(web.messages) >= number, 5)
        assert web.messages[-1] == message
    output.eof()
    assert len(web.messages) == 3 and not web.failed
    assert writer == "lengths" or not web.noise


async def test_a_message_that_only_pauses_is_not_cut() -> None:
    web = Web()
    output = Output(web)
    whole = text({"jsonrpc": "2.0", "id": 1, "result": {"a": {"b": {}}, "c": {}}}).encode()
    places = [0, *(at + 1 for at, byte in enumerate(whole[:-1]) if byte == ord("}")), len(whole)]
    for begin, end in pairwise(places):
        output.feed(whole[begin:end])
        await asyncio.sleep(0.12)  # longer than it waits
        assert end == len(whole) or not web.messages
    assert web.messages == [json.loads(whole)]
    output.eof()
    assert len(web.messages) == 1


async def test_an_object_over_several_lines_that_is_no_message_costs_nothing_behind_it() -> None:
    web = Web()
    output = Output(web)
    output.feed(
        b"{\n  level: 'info',\n  nested: {\n  }\n}\n" + text(ONE).encode() + b"\n{\n" + text(TWO).encode() + b"\n"
    )
    assert web.messages == [ONE, TWO]
    assert [noise.text for noise in web.noise] == ["{ level: 'info', nested: { } }", "{"]


async def test_lines_that_might_become_a_message_do_not_pile_up() -> None:
    web = Web()
    output = Output(web)
    output.feed(b"{\n" + b"x" * 1000 * 1000 + b"\n")
    for _ in range(5):
        output.feed(b"x" * 1000 * 1000 + b"\n")
    assert len(web.noise) >= 1
    output.feed(b"{\n" + b"}\n" * 2000)
    output.feed(text(ONE).encode() + b"\n")
    assert web.messages == [ONE]


async def test_a_glued_answer_is_due_at_the_end_at_the_latest() -> None:
    web = Web()
    output = Output(web)
    output.feed(b"> " + text(ONE).encode() + b"\n")
    assert not web.messages and web.noise
    output.eof()
    assert web.messages == [ONE]
    await asyncio.sleep(0.1)
    assert web.messages == [ONE]
