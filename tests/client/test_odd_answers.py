"""Answers that are odd in what is around them or in them: each ends its call at once, as what was meant or in words."""

from __future__ import annotations

import asyncio
import json
import time

import pytest

from jupyter_mcp.errors import RemoteProtocolError, RequestError
from tests.client.peer import FakePeer, process

pytestmark = pytest.mark.anyio

FINE = {"content": [{"type": "text", "text": "fine"}]}
ANSWER = json.dumps({"jsonrpc": "2.0", "id": "$ID", "result": FINE})
STRANGER = json.dumps({"jsonrpc": "2.0", "id": 999_999, "result": {}})


@pytest.mark.parametrize(
    "line",
    [
        f"\x1b[0m{ANSWER}\x1b[0m",
        f"\x1b]0;title\x07\x1b[2J{ANSWER}",
        ANSWER + "\r" + STRANGER,
        STRANGER + ANSWER,
        f"[{STRANGER},{ANSWER}]",
        json.dumps({"jsonrpc": "2.0", "id": "$ID", "method": "tools/call", "params": {}, "result": FINE}),
        json.dumps({"jsonrpc": "2.0", "id": "$ID", "method": None, "params": None, "error": None, "result": FINE}),
        json.dumps({"jsonrpc": "2.0", "id": "$ID", "error": False, "result": FINE}),
        json.dumps({"jsonrpc": "2.0", "id": "$ID", "error": {}, "result": FINE}),
        json.dumps({"id": "$ID", "result": FINE}),
    ],
)
async def test_what_was_meant_is_taken(line: str) -> None:
    async with process() as (connection, _):
        started = time.monotonic()
        assert await connection.call_tool("raw", {"lines": [line]}, timeout=20) == FINE
        assert time.monotonic() - started < 3


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"jsonrpc":"2.0","id":"$ID","result":{"n":' + "9" * 5000 + "}}", "too many digits"),
        ('{"jsonrpc":"2.0","id":"$ID","result":' + "[" * 100_000 + "}", "cannot be read"),
        ('{"jsonrpc":"2.0","result":{"id":1,"n":' + "9" * 5000 + '},"id":"$ID"}', "too many digits"),
        ('{"jsonrpc":"2.0","id":"$ID","result":{"broken":tru}}', "not JSON"),
    ],
)
async def test_what_cannot_be_read_ends_its_call_and_no_other(line: str, said: str) -> None:
    async with process() as (connection, _):
        other = asyncio.ensure_future(connection.call_tool("sleep", {"seconds": 0.3}, timeout=20))
        started = time.monotonic()
        with pytest.raises(RemoteProtocolError, match=said):
            await connection.call_tool("raw", {"lines": [line]}, timeout=20)
        assert time.monotonic() - started < 3
        assert (await other)["content"][0]["text"] == "slept"


async def test_an_answer_behind_a_text_is_taken_when_no_other_comes() -> None:
    async with process(FakePeer()) as (connection, _):
        started = time.monotonic()
        assert await connection.call_tool("raw", {"lines": ["Loading... " + ANSWER]}, timeout=20) == FINE
        assert time.monotonic() - started < 3
        assert connection.noise[-1].startswith("Loading...")


async def test_an_answer_behind_a_text_does_not_stand_in_for_the_proper_one() -> None:
    logged = json.dumps({"jsonrpc": "2.0", "id": "$ID", "result": {"content": [{"type": "text", "text": "not ours"}]}})
    async with process(FakePeer()) as (connection, _):
        lines = ["[debug] upstream said " + logged, ANSWER]
        assert await connection.call_tool("raw", {"lines": lines}, timeout=20) == FINE


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ({"code": -32000, "message": None, "data": "quota"}, "quota"),
        ({"code": "E", "detail": ["quota"]}, "quota"),
        (["quota"], "quota"),
        (42, "42"),
        ("", "without a message"),
    ],
)
async def test_an_error_in_any_shape_is_told_with_the_text_there_is(error: object, said: str) -> None:
    line = json.dumps({"jsonrpc": "2.0", "id": "$ID", "error": error})
    async with process() as (connection, _):
        with pytest.raises(RequestError, match=said):
            await connection.call_tool("raw", {"lines": [line]}, timeout=20)
