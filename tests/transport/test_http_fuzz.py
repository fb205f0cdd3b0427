"""Whatever a server answers: each request ends once, nothing hangs, nothing is lost, nothing is left."""

from __future__ import annotations

import asyncio
import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jupyter_mcp.errors import MCPError
from jupyter_mcp.transport.base import Refused, SessionEnded
from jupyter_mcp.transport.http import HttpOptions
from tests.fakes.http import FakeHttp, Reply, Request
from tests.transport.web import legacy, modern, opened

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["jsonrpc", "id", "method", "result", "error", "code", "params"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)
events = st.sampled_from([b"data: ", b"id: 1\n", b"\n\n", b"\r\n", b": c\n", b"event: message\n", b"retry: 1\n"])
bodies = (
    st.binary(max_size=60)
    | json_values.map(lambda value: json.dumps(value).encode())
    | st.lists(events | json_values.map(lambda value: json.dumps(value).encode()), max_size=8).map(b"".join)
)
calm = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@calm
@given(
    status=st.sampled_from([200, 202, 204, 301, 307, 400, 401, 404, 500, 599]),
    kind=st.sampled_from(["application/json", "text/event-stream", "text/html", "", "%%%;;"]),
    body=bodies,
    cuts=st.lists(st.integers(1, 20), max_size=5),
    drops=st.booleans(),
    old=st.booleans(),
)
def test_any_answer_settles_its_request_once_and_the_next_one_works(
    status: int, kind: str, body: bytes, cuts: list[int], drops: bool, old: bool
) -> None:
    async def script(request: Request, reply: Reply) -> None:
        if request.method == "GET":
            await reply.send(405)
        elif request.json["id"] == "next":
            await reply.event_stream_of(reply.answer({}))
        elif status == 204:
            await reply.raw(b"HTTP/1.1 204 No Content\r\n\r\n")
        else:
            await reply.raw(
                f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
            )
            left = body
            for cut in cuts:
                if left:
                    await reply.piece(left[:cut])
                left = left[cut:]
            if left:
                await reply.piece(left)
            await (reply.end() if not drops else _dropped(reply))

    async def run() -> None:
        make = legacy if old else modern
        async with FakeHttp(script) as fake, opened(fake.url, HttpOptions(max_event=500)) as (transport, web):
            await transport.send(make("tools/call", 1))
            await web.until(lambda: web.answers(1) or web.batches or 1 in web.failed, 20)
            await transport.send(make("tools/list", "next"))
            await web.answer("next", 20)
            assert isinstance(web.failed.get(1, Refused(0)), (MCPError, Refused, SessionEnded))

    asyncio.run(run())


async def _dropped(reply: Reply) -> None:
    reply.drop()


@calm
@given(st.permutations([1, 2, 3, 4, 5]), st.lists(st.sampled_from([1, 2, 3, 4, 5]), max_size=3))
def test_answers_in_any_order_reach_their_requests(order: list[int], cancelled: list[int]) -> None:
    async def run() -> None:
        arrived = asyncio.Event()
        turns = {id: asyncio.Event() for id in order}

        async def script(request: Request, reply: Reply) -> None:
            if len(fake.requests) == len(order):
                arrived.set()
            await turns[request.json["id"]].wait()
            await reply.result({"n": request.json["id"]})

        async with FakeHttp(script) as fake, opened(fake.url) as (transport, web):
            for id in sorted(order):
                await transport.send(modern("tools/call", id))
            await arrived.wait()
            for id in cancelled:
                transport.cancel(id)
            for id in order:
                turns[id].set()
                if id not in cancelled:
                    assert (await web.answer(id))["result"] == {"n": id}
            assert web.failed == {} and not any(web.answers(id) for id in cancelled)

    asyncio.run(run())
