"""A provider on a real socket: it answers each request with the next of its scripted answers, and keeps what it got.

The seam of these tests is the network; pydantic-ai and the providers' own libraries are real.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

LIMIT = 20.0  # seconds


@dataclass
class Got:
    """A request as it came."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass
class Answer:
    """What is sent back.

    Attributes:
        status, headers, body: of the answer; a list is a stream of server-sent events.
        cut: bytes of the body after which the connection is dropped; None sends it whole.
        silent: nothing is sent, and the connection is kept.
    """

    body: Any = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    cut: int | None = None
    silent: bool = False

    def encoded(self) -> tuple[str, bytes]:
        body: object = self.body
        if isinstance(body, list):
            chunks = cast("list[Any]", body)
            events = [one if isinstance(one, str) else f"data: {json.dumps(one)}\n\n" for one in chunks]
            return "text/event-stream", "".join(events).encode()
        if isinstance(body, str):
            return "text/plain", body.encode()
        return "application/json", json.dumps(body).encode()


@dataclass
class Provider:
    """
    Attributes:
        url: where it is.
        answers: the next ones; the last is repeated.
        got: the requests, in order.
        dropped: set when a client hangs up on a request that is not answered.
    """

    url: str = ""
    answers: list[Answer] = field(default_factory=list[Answer])
    got: list[Got] = field(default_factory=list[Got])
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    dropped: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        first, *lines = head.rstrip().split("\r\n")
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        self.got.append(Got(first.split(" ")[1], headers, json.loads(body or b"{}")))
        self.arrived.set()
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if answer.silent:
            await reader.read()  # until the client hangs up
            self.dropped.set()
            return
        kind, data = answer.encoded()
        said = {"content-type": kind, "content-length": str(len(data)), "connection": "close", **answer.headers}
        lines = [f"HTTP/1.1 {answer.status} X", *(f"{name}: {value}" for name, value in said.items()), "", ""]
        writer.write("\r\n".join(lines).encode() + data[: answer.cut])
        await writer.drain()


@asynccontextmanager
async def provider(*answers: Answer) -> AsyncGenerator[Provider]:
    """A provider that listens on loopback."""
    made = Provider(answers=list(answers))
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        async with asyncio.timeout(LIMIT):
            yield made
    finally:
        server.close()


# --- answers in the shape of the OpenAI API ---------------------------------------------------------------------------


def completion(text: str | None = None, *, calls: Sequence[Mapping[str, Any]] = (), finish: str = "stop") -> Answer:
    """A whole chat completion."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [_call(one) for one in calls]
    choice = {"index": 0, "finish_reason": finish, "message": message}
    return Answer({**_FRAME, "object": "chat.completion", "choices": [choice], "usage": _USAGE})


def stream(
    *pieces: str, calls: Sequence[Mapping[str, Any]] = (), finish: str | None = "stop", cut: int | None = None
) -> Answer:
    """A chat completion in pieces."""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": piece} for piece in pieces]
    for number, one in enumerate(calls):
        call = _call(one)
        half = len(call["function"]["arguments"]) // 2
        texts = call["function"]["arguments"][:half], call["function"]["arguments"][half:]
        deltas.append(
            {"tool_calls": [{"index": number, **call, "function": {**call["function"], "arguments": texts[0]}}]}
        )
        deltas.append({"tool_calls": [{"index": number, "function": {"arguments": texts[1]}}]})
    chunks: list[Any] = [_chunk(delta) for delta in deltas]
    if finish is not None:
        chunks += [_chunk({}, finish), {**_FRAME, "object": "chat.completion.chunk", "choices": [], "usage": _USAGE}]
        chunks.append("data: [DONE]\n\n")
    return Answer(chunks, cut=cut)


def failure(status: int, message: str = "went wrong", headers: Mapping[str, str] | None = None, **more: Any) -> Answer:
    """An error."""
    return Answer({"error": {"message": message, "type": "error", **more}}, status, headers or {})


_FRAME = {"id": "chatcmpl-1", "created": 1_700_000_000, "model": "small-2026"}
_USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


def _call(one: Mapping[str, Any]) -> dict[str, Any]:
    arguments = one["input"] if isinstance(one["input"], str) else json.dumps(one["input"])
    return {"id": one["id"], "type": "function", "function": {"name": one["name"], "arguments": arguments}}


def _chunk(delta: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": dict(delta), "finish_reason": finish}
    return {**_FRAME, "object": "chat.completion.chunk", "choices": [choice]}
