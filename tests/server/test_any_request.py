"""Any JSON value in any field of a request: exactly one answer, never an exception, and the next request is served."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import datetime  # noqa: TC003  (the server reads the annotation)
import io
from typing import Any, Literal, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jupyter_mcp.protocol import jsonrpc, modern
from jupyter_mcp.protocol.revisions import era
from jupyter_mcp.server import AsyncContext, Context, Elicit, InputRequired, Roots, Sample, Server, UrlRequired
from jupyter_mcp.server.session import Session
from tests.server.talk import EVERYTHING, INFO

REVISIONS = ["2024-11-05", "2025-03-26", "2025-11-25", "2026-07-28"]
MODERN = "2026-07-28"
text = st.text(st.characters(codec=None, categories=["L", "N", "P", "S", "Z", "C"]), max_size=8)
numbers = st.integers() | st.sampled_from([0, -1, 2**53, 2**63, 10**400]) | st.floats(allow_nan=False)
scalars = st.none() | st.booleans() | numbers | text
known = st.sampled_from(
    ["add", "typed", "seat", "ask", "notes://x", "review", "tools", "accept", "2026-07-28", "name", "", "\ud800", "0"]
)
anything = st.recursive(
    scalars | known,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(known | text, inner, max_size=3),
    max_leaves=8,
)
quick = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def make() -> Server:
    server = Server("any", ttl_ms=5, extensions={"x.example/y": {}})

    @server.tool
    async def add(a: int, b: float = 1) -> float:
        return a + b

    @server.tool
    async def typed(
        kind: Literal["a", 2], day: datetime.date | None = None, more: dict[str, list[int]] | None = None, any: Any = 0
    ) -> dict[str, Any]:
        return {"kind": kind, "day": day, "more": more, "any": any}

    @server.tool
    async def seat(ctx: AsyncContext, city: str = "Rome") -> list[Any]:
        await ctx.progress(1, 2, city)
        await ctx.log("error", city)
        answers = await ctx.ask({"seat": Elicit("Seat?", Literal["a", "b"]), "word": Sample(city), "where": Roots()})
        page = await ctx.elicit_url(city, "https://example.org", key=city)
        return [answers["seat"].data, answers["word"].text, len(answers["where"]), page.action, ctx.meta]

    @server.tool
    def blocking(ctx: Context) -> Any:
        return ctx.elicit("How many?", int).data

    @server.tool
    async def by_hand(ctx: AsyncContext) -> Any:
        return [ctx.responses, ctx.state] if ctx.state else InputRequired({"n": Elicit("n?", int)}, state={"n": 1})

    @server.tool
    async def page_first(ctx: AsyncContext) -> str:
        if not ctx.responses:
            raise UrlRequired(Elicit("Open.", url="https://example.org"))
        return "open"

    @server.resource("notes://{day}")
    async def note(day: str, ctx: AsyncContext) -> str:
        return f"{day} {ctx.extension('x.example/y')}"

    @server.prompt("review")
    async def review(lines: int, language: Literal["python", "perl"] = "perl") -> str:
        return f"{lines} {language}"

    @server.completion(note, "day")
    async def days(prefix: str, chosen: dict[str, str]) -> list[str]:
        return [prefix, *chosen]

    return server


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("tools/list", {"cursor": "x"}),
    ("resources/list", {}),
    ("resources/templates/list", {}),
    ("prompts/list", {}),
    ("tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}}),
    ("tools/call", {"name": "typed", "arguments": {"kind": "a", "day": "2026-01-01", "more": {"x": [1]}, "any": 1}}),
    ("tools/call", {"name": "seat", "arguments": {"city": "x"}}),
    ("tools/call", {"name": "blocking", "arguments": {}}),
    ("tools/call", {"name": "by_hand", "requestState": "x", "inputResponses": {"n": {"action": "accept"}}}),
    ("tools/call", {"name": "page_first"}),
    ("resources/read", {"uri": "notes://today"}),
    ("prompts/get", {"name": "review", "arguments": {"lines": "1", "language": "perl"}}),
    (
        "completion/complete",
        {
            "ref": {"type": "ref/prompt", "name": "review", "uri": "notes://{day}"},
            "argument": {"name": "language", "value": "p"},
            "context": {"arguments": {"x": "y"}},
        },
    ),
    ("logging/setLevel", {"level": "info"}),
    ("resources/subscribe", {"uri": "notes://today"}),
    ("resources/unsubscribe", {"uri": "notes://today"}),
    ("ping", {}),
    ("server/discover", {}),
    ("tasks/get", {"taskId": "x"}),
    ("initialize", {"protocolVersion": "2025-11-25", "capabilities": EVERYTHING, "clientInfo": INFO}),
]


def paths(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a JSON value."""
    inner: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        inner = list(cast("dict[str, Any]", value).items())
    elif isinstance(value, list):
        inner = list(enumerate(cast("list[Any]", value)))
    return [here, *(path for key, item in inner for path in paths(item, (*here, key)))]


@st.composite
def requests(draw: st.DrawFn, revision: str) -> dict[str, Any]:
    """A good request of which up to three fields were replaced."""
    method, params = copy.deepcopy(draw(st.sampled_from(CALLS)))
    meta: dict[str, Any] = {"progressToken": 1}
    if era(revision) == "modern":
        meta |= {
            modern.REVISION_KEY: revision,
            modern.CAPABILITIES_KEY: EVERYTHING | {"extensions": {"x.example/y": {"z": 1}}},
            modern.CLIENT_INFO_KEY: INFO,
            modern.LOG_LEVEL_KEY: "debug",
        }
    message: Any = {"jsonrpc": "2.0", "id": 7, "method": method, "params": {**params, "_meta": meta}}
    message = copy.deepcopy(message)
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(paths(message)[1:]))
        holder = message
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] = draw(anything)
    return message


class Recorder:
    """A way that keeps what was sent, if it can be sent at all."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.news = asyncio.Event()

    def post(self, message: Any) -> None:
        jsonrpc.encode(message)
        self.sent.append(message)
        self.news.set()

    async def send(self, message: Any) -> None:
        self.post(message)

    note = post
    tell = send

    def drop(self) -> None:
        raise AssertionError("nobody cancelled anything")

    def close_stream(self, retry_ms: int) -> None: ...


async def settle(session: Session, way: Recorder, answers: list[Any]) -> None:
    """Answer the server's questions with whatever there is until all requests are answered."""
    asked = 0
    async with asyncio.timeout(20):
        while len(session.work):
            for message in way.sent:
                if "method" in message and "id" in message and not message.get("answered"):
                    message["answered"] = True
                    reply = answers[asked % len(answers)]
                    asked += 1
                    session.take({"jsonrpc": "2.0", "id": message["id"], "result": reply}, way)
            way.news.clear()
            waiting = asyncio.ensure_future(way.news.wait())
            await asyncio.wait(
                {waiting, asyncio.ensure_future(session.work.finish(0.005))}, return_when="FIRST_COMPLETED"
            )
            waiting.cancel()


def outcomes(way: Recorder) -> list[dict[str, Any]]:
    return [message for message in way.sent if "method" not in message]


def asks(result: Any) -> bool:
    return type(result) is dict and cast("dict[str, Any]", result).get("resultType") == "input_required"


def check(answer: dict[str, Any], id_: object) -> None:
    assert answer["jsonrpc"] == "2.0"
    assert type(answer["id"]) is type(id_)
    assert answer["id"] == id_
    if "error" in answer:
        assert type(answer["error"]["code"]) is int
        assert isinstance(answer["error"]["message"], str)
        assert "Internal error" not in answer["error"]["message"], answer
    else:
        assert isinstance(answer["result"], dict)


async def handshake(session: Session, way: Recorder, revision: str) -> None:
    if era(revision) == "legacy":
        params = {"protocolVersion": revision, "capabilities": EVERYTHING, "clientInfo": INFO}
        session.take({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}, way)
        session.take({"jsonrpc": "2.0", "method": "notifications/initialized"}, way)
    else:
        session.take(good(revision), way)
    await settle(session, way, [{}])
    way.sent.clear()


def good(revision: str) -> dict[str, Any]:
    params: dict[str, Any] = {"name": "add", "arguments": {"a": 1}}
    if era(revision) == "modern":
        params = modern.envelope(params, revision=revision, client_info=INFO, capabilities={})
    return {"jsonrpc": "2.0", "id": "good", "method": "tools/call", "params": params}


async def exchange(revision: str, message: Any, answers: list[Any], *, shaken: bool = True) -> list[dict[str, Any]]:
    """What one odd message is answered with; rounds are answered too."""
    way = Recorder()
    session = Session(make(), way)
    if shaken:
        await handshake(session, way, revision)
    session.take(message, way)
    await settle(session, way, answers)
    found = outcomes(way)
    for number in range(3):
        result: Any = found[-1].get("result") if found else None
        if not asks(result):
            break
        again = {**message["params"], "requestState": result.get("requestState")}
        keys = result.get("inputRequests", {})
        again["inputResponses"] = {key: answers[(number + at) % len(answers)] for at, key in enumerate(keys)}
        way.sent.clear()
        session.take({**message, "params": again}, way)
        await settle(session, way, answers)
        found = outcomes(way)
    way.sent.clear()
    if session.revision is None and era(revision) == "legacy":
        await handshake(session, way, revision)
    session.take(good(revision), way)
    await settle(session, way, answers)
    (after,) = outcomes(way)
    assert "result" in after or not shaken, after
    await session.work.stop()
    return found


def run(revision: str, message: Any, answers: list[Any], *, shaken: bool = True) -> list[dict[str, Any]]:
    with contextlib.redirect_stderr(io.StringIO()):  # what goes wrong in handlers is told their author
        return asyncio.run(exchange(revision, message, answers, shaken=shaken))


answers_of_clients = st.lists(
    anything
    | st.fixed_dictionaries({"action": st.just("accept") | anything, "content": st.just({"value": 1}) | anything}),
    min_size=1,
    max_size=3,
)


@pytest.mark.parametrize("revision", REVISIONS)
@quick
@given(data=st.data())
def test_a_request_with_odd_fields_gets_exactly_one_answer(revision: str, data: st.DataObject):
    message = data.draw(requests(revision))
    found = run(revision, message, data.draw(answers_of_clients))
    kind = jsonrpc.kind(message)
    if kind == "request" and message["method"] != "subscriptions/listen":
        (answer,) = found
        check(answer, message["id"])
    elif kind == "invalid" or jsonrpc.is_bare(message):
        (answer,) = found
        assert answer["error"]["code"] == jsonrpc.INVALID_REQUEST
    else:
        assert not found


@pytest.mark.parametrize("revision", REVISIONS)
@quick
@given(message=st.dictionaries(st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error"]), anything))
def test_a_first_message_of_any_shape_never_spoils_the_rest(revision: str, message: dict[str, Any]):
    found = run(revision, message, [{}], shaken=False)
    assert len(found) == (jsonrpc.kind(message) in ("request", "invalid") or jsonrpc.is_bare(message))


@pytest.mark.parametrize("revision", REVISIONS)
@quick
@given(
    method=st.sampled_from(["notifications/cancelled", "notifications/progress", "notifications/initialized"]) | text,
    params=anything,
)
def test_a_notification_is_never_answered(revision: str, method: str, params: Any):
    assert not run(revision, {"jsonrpc": "2.0", "method": method, "params": params}, [{}])
