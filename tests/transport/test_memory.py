"""Two ends in one process: what is sent arrives, as if it had travelled."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from jupyter_mcp.errors import ConnectionLost, LocalProtocolError
from jupyter_mcp.transport.memory import memory_pair
from tests.transport.recorder import Recorder

pytestmark = pytest.mark.anyio

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


async def test_messages_arrive_in_order_as_copies_and_later() -> None:
    left, right = memory_pair()
    one, two = Recorder(), Recorder()
    await left.open(one)
    await right.open(two)
    mutable: dict[str, Any] = {"jsonrpc": "2.0", "method": "m", "params": {"x": [1]}}
    size = await left.send(mutable)
    mutable["params"] = None
    await left.send(PING)
    assert two.messages == []  # nobody is called while they send
    await two.until(lambda: len(two.messages) == 2)
    assert two.messages[0]["params"] == {"x": [1]}
    assert two.sizes[0] == size
    await right.send({"jsonrpc": "2.0", "id": 1, "result": {}})
    await one.until(lambda: one.messages)


async def test_what_is_sent_before_the_other_end_is_open_waits_for_it() -> None:
    left, right = memory_pair()
    await left.open(Recorder())
    await left.send(PING)
    await asyncio.sleep(0)
    late = Recorder()
    await right.open(late)
    await late.until(lambda: late.messages)
    assert late.messages == [PING]


async def test_closing_one_end_closes_both_once_after_what_was_sent() -> None:
    left, right = memory_pair()
    one, two = Recorder(), Recorder()
    await left.open(one)
    await right.open(two)
    await left.send(PING)
    await asyncio.gather(left.close(), right.close(), left.close())
    await two.until(lambda: two.closed)
    assert two.messages == [PING]
    assert len(one.closed) == len(two.closed) == 1
    for end in (left, right):
        with pytest.raises(ConnectionLost):
            await end.send(PING)


async def test_an_end_that_opens_after_the_other_closed_learns_it() -> None:
    left, right = memory_pair()
    await left.open(Recorder())
    await left.close()
    late = Recorder()
    await right.open(late)
    await late.until(lambda: late.closed)
    assert len(late.closed) == 1


async def test_what_is_not_json_cannot_be_sent() -> None:
    left, _ = memory_pair()
    with pytest.raises(LocalProtocolError, match="NaN"):
        await left.send({"jsonrpc": "2.0", "method": "m", "params": {"x": float("nan")}})


async def test_a_batch_arrives_as_one() -> None:
    left, right = memory_pair()
    recorder = Recorder()
    await right.open(recorder)
    await left.send([PING, {**PING, "id": 2}])
    await recorder.until(lambda: recorder.batches)
    assert [message["id"] for message in recorder.batches[0]] == [1, 2]
