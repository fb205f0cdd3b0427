"""A server may say anything, in any order: whoever waits is answered, the connection lives, nothing grows."""

from __future__ import annotations

import asyncio
import copy
import logging
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, cast

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jupyter_mcp.client import questions
from jupyter_mcp.client.connection import Connection
from jupyter_mcp.errors import MCPError
from jupyter_mcp.protocol.methods import TABLE
from jupyter_mcp.transport.base import Refused, SessionEnded
from jupyter_mcp.transport.mock import ScriptTransport
from tests.client.peer import QUICK, FakePeer, legacy_start, modern_start, silent

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Coroutine

Era = Literal["legacy", "modern"]
FUZZ = settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
CAPABILITIES: dict[str, Any] = {
    "tools": {"listChanged": True},
    "resources": {"subscribe": True, "listChanged": True},
    "prompts": {"listChanged": True},
    "completions": {},
    "logging": {},
}
OPTIONS = replace(QUICK, timeout=0.3, max_timeout=1.0, startup_timeout=0.3, probe_timeout=0.05, max_rounds=3)

texts = st.text(max_size=12) | st.sampled_from(("", "complete", "input_required", "task", "x", "1", "2026-07-28"))
finite = st.floats(allow_nan=False, allow_infinity=False)
scalars = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | finite | texts
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=12
)
eras = st.sampled_from(("legacy", "modern"))
kinds = st.sampled_from(("stdio", "http"))


class Faults(logging.Handler):
    """What this package had to catch: a message it could not handle is a fault even when nothing else breaks."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.found.append(self.format(record))


def run(work: Coroutine[Any, Any, None]) -> None:
    """Run it on a loop of its own; what is logged as an error, or left over, fails."""
    faults = Faults()
    logger = logging.getLogger("jupyter_mcp")

    async def whole() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: faults.found.append(str(context)))
        await asyncio.wait_for(work, 20)
        await asyncio.sleep(0)
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert not left, left

    logger.addHandler(faults)
    try:
        asyncio.run(whole())
    finally:
        logger.removeHandler(faults)
    assert faults.found == []


@asynccontextmanager
async def opened(
    era: Era, kind: str = "stdio", answer: Any = silent
) -> AsyncGenerator[tuple[Connection, ScriptTransport]]:
    async def reply(method: str, params: Any, cause: Any) -> dict[str, Any]:
        return {"action": "decline"}

    start = legacy_start(CAPABILITIES) if era == "legacy" else modern_start(CAPABILITIES)
    script = ScriptTransport(*start, answer=answer, kind=kind)
    connection = Connection("demo", lambda: script, replace(OPTIONS, era=era), FakePeer(answer=reply))
    await connection.open()
    try:
        yield connection, script
    finally:
        await connection.close()


def result(id: Any, value: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "result": value}


# -- what comes unasked -------------------------------------------------------------------------------------------

names = st.sampled_from(sorted(TABLE)) | texts
other_ids = (
    st.integers(1000, 2000)
    | st.sampled_from(("a", "é", "", "1e3", "01"))
    | st.floats(1000.5, 2000.5)
    | st.lists(scalars)
)
PARAMS = {
    **dict.fromkeys(
        ("uri", "progressToken", "progress", "level", "data", "notifications", "_meta", "mode", "message"), values
    ),
    **dict.fromkeys(("requestedSchema", "messages", "taskId", "elicitationId"), values),
    "requestId": other_ids,
}
fields = {
    "jsonrpc": st.just("2.0") | values,
    "id": other_ids,
    "method": names | values,
    "params": values | st.fixed_dictionaries({}, optional=PARAMS),
    "result": values,
    "error": values | st.fixed_dictionaries({}, optional={"code": values, "message": values, "data": values}),
}
messages = st.fixed_dictionaries({}, optional=fields)


@FUZZ
@given(eras, kinds, st.lists(messages, max_size=20))
def test_whatever_comes_unasked_disturbs_no_call(era: Era, kind: str, said: list[dict[str, Any]]) -> None:
    async def work() -> None:
        async with opened(era, kind) as (connection, script):
            link = connection.link
            assert link is not None
            calls = [asyncio.ensure_future(connection.call_tool(name, timeout=10)) for name in ("one", "two")]
            await script.until(lambda: script.methods().count("tools/call") == 2)
            for message in said:
                link.on_message(message, 100)
                link.on_batch([message], 100)
            await asyncio.sleep(0)
            sent = [message for message in script.sent if message.get("method") == "tools/call"]
            for message in reversed(sent):
                script.say(result(message["id"], {"content": [], "name": message["params"]["name"]}))
            assert [(await call)["name"] for call in calls] == ["one", "two"]
            assert connection.state == "ready"
            assert len(connection.notes) <= 100

    run(work())


# -- answers ------------------------------------------------------------------------------------------------------

GOOD: dict[str, dict[str, Any]] = {
    "tools/call": {"content": [{"type": "text", "text": "x"}], "structuredContent": {}, "isError": False},
    "tools/list": {"tools": [{"name": "t", "inputSchema": {"type": "object"}, "annotations": {}}], "nextCursor": None},
    "resources/list": {"resources": [{"uri": "n://a", "name": "a"}]},
    "resources/templates/list": {"resourceTemplates": [{"uriTemplate": "n://{a}", "name": "a"}]},
    "resources/read": {"contents": [{"uri": "n://a", "text": "x"}]},
    "resources/subscribe": {},
    "resources/unsubscribe": {},
    "prompts/list": {"prompts": [{"name": "p", "arguments": [{"name": "a", "required": True}]}]},
    "prompts/get": {"messages": [{"role": "user", "content": {"type": "text", "text": "x"}}]},
    "completion/complete": {"completion": {"values": ["a"], "total": 1, "hasMore": False}},
    "logging/setLevel": {},
    "ping": {},
    "server/discover": {"supportedVersions": ["2026-07-28"], "capabilities": CAPABILITIES, "instructions": "x"},
}
HINTS: dict[str, Any] = {"resultType": "complete", "ttlMs": 60_000, "cacheScope": "private", "_meta": {}}
ASKS: dict[str, Any] = {
    "resultType": "input_required",
    "inputRequests": {"k": {"method": "elicitation/create", "params": {"message": "m", "requestedSchema": {}}}},
    "requestState": "s",
}


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of everything in a JSON value."""
    found = [path]
    if isinstance(value, dict):
        for key, item in cast("dict[str, Any]", value).items():
            found += places(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(cast("list[Any]", value)):
            found += places(item, (*path, index))
    return found


def put(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """A copy with another value at a path."""
    if not path:
        return new
    changed = copy.deepcopy(value)
    here = changed
    for step in path[:-1]:
        here = here[step]
    here[path[-1]] = new
    return changed


@st.composite
def spoiled(draw: st.DrawFn, good: dict[str, Any]) -> Any:
    """A good answer with something else somewhere in it."""
    answer: Any = good
    for _ in range(draw(st.integers(1, 2))):
        answer = put(answer, draw(st.sampled_from(places(answer))), draw(values))
    return answer


async def use(connection: Connection, method: str) -> None:
    """What leads to this request."""
    if method == "tools/call":
        await connection.call_tool("t", {}, on_progress=print, on_log=print)
    elif method == "resources/read":
        await connection.read("n://a")
    elif method == "prompts/get":
        await connection.get_prompt("p", {"a": "x"})
    elif method == "completion/complete":
        found = await connection.complete({"type": "ref/prompt", "name": "p"}, "a", "x")
        assert all(isinstance(text, str) for text in found["values"])
    elif method == "logging/setLevel":
        await connection.set_log_level("info")
    elif method in ("ping", "server/discover"):
        await connection.ping()
    elif method.startswith("resources/") and method.endswith("subscribe"):
        await (await connection.watch("n://a")).stop()
    else:
        kind = {"resources/templates/list": "templates"}.get(method) or method.partition("/")[0]
        listing = await connection.list(cast("Any", kind), refresh=True)
        assert all(isinstance(item, dict) for item in listing.items)


@FUZZ
@given(st.data(), eras, kinds)
def test_any_value_in_any_place_of_an_answer_ends_the_request_and_no_other(
    data: st.DataObject, era: Era, kind: str
) -> None:
    legacy_only = ("ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe")
    known = [m for m in GOOD if (m != "server/discover" if era == "legacy" else m not in legacy_only)]
    method = data.draw(st.sampled_from(known))
    hints = HINTS if era == "modern" else {}
    good = data.draw(st.sampled_from(({**GOOD[method], **hints}, ASKS))) if era == "modern" else GOOD[method]
    bad = [data.draw(spoiled(good)) for _ in range(5)]

    def answer(message: dict[str, Any]) -> Any:
        if "id" not in message or "method" not in message:
            return None
        if message["method"] == method and bad:
            return [result(message["id"], bad.pop())]
        fine = GOOD.get(message["method"])
        return None if fine is None else [result(message["id"], {**fine, **hints})]

    async def work() -> None:
        async with opened(era, kind, answer) as (connection, _):
            for _ in range(3):
                with suppress(MCPError):
                    await use(connection, method)
            bad.clear()
            assert connection.state == "ready"
            await connection.ping()  # which says again what it offers
            assert (await connection.call_tool("t"))["content"]

    run(work())


@FUZZ
@given(st.data(), kinds)
def test_any_value_in_any_place_of_the_handshake_connects_or_fails_in_words(data: st.DataObject, kind: str) -> None:
    discovered = data.draw(spoiled({**GOOD["server/discover"], **HINTS}) | st.just(None))
    shaken = data.draw(
        spoiled({"protocolVersion": "2025-11-25", "capabilities": CAPABILITIES, "serverInfo": {"name": "s"}})
    )
    refusal = data.draw(values)

    def answer(message: dict[str, Any]) -> Any:
        if message.get("method") == "server/discover":
            if discovered is None:
                return [{"jsonrpc": "2.0", "id": message["id"], "error": refusal}]
            return [result(message["id"], discovered)]
        if message.get("method") == "initialize":
            return [result(message["id"], shaken)]
        fine = GOOD.get(message.get("method", ""))
        return None if fine is None or "id" not in message else [result(message["id"], {**fine, **HINTS})]

    async def work() -> None:
        script = ScriptTransport(answer=answer, kind=kind)
        connection = Connection("demo", lambda: script, OPTIONS, FakePeer())
        try:
            await connection.open()
        except MCPError:
            assert connection.state == "closed"
        else:
            for kinds_ in ("tools", "resources", "prompts"):
                with suppress(MCPError):
                    await connection.list(kinds_)
            with suppress(MCPError):
                await connection.call_tool("t")
        await connection.close()

    run(work())


# -- order --------------------------------------------------------------------------------------------------------


@FUZZ
@given(st.data(), eras, kinds, st.integers(1, 8))
def test_answers_in_any_order_twice_late_or_never_reach_whom_they_are_for(
    data: st.DataObject, era: Era, kind: str, count: int
) -> None:
    order = data.draw(st.permutations(range(count)))
    fates = data.draw(
        st.lists(st.sampled_from(("once", "twice", "cancel", "fail", "text")), min_size=count, max_size=count)
    )

    async def work() -> None:
        async with opened(era, kind) as (connection, script):
            calls = [asyncio.ensure_future(connection.call_tool(str(n), timeout=10)) for n in range(count)]
            await script.until(lambda: script.methods().count("tools/call") == count)
            ids = {m["params"]["name"]: m["id"] for m in script.sent if m.get("method") == "tools/call"}
            for number in order:
                id, fate = ids[str(number)], fates[number]
                said = result(str(id) if fate == "text" else id, {"content": [], "number": number})
                if fate == "cancel":
                    calls[number].cancel()
                    await asyncio.sleep(0)
                if fate == "fail":
                    script.fail(id, Refused(502))
                script.say(said)
                if fate == "twice":
                    script.say({**said, "result": {"number": -1}})
            for number, call in enumerate(calls):
                if fates[number] == "cancel":
                    with suppress(asyncio.CancelledError):
                        await call
                    assert call.cancelled()
                elif fates[number] == "fail":
                    with suppress(MCPError):
                        await call
                    assert isinstance(call.exception(), MCPError)
                else:
                    assert (await call)["number"] == number
            assert connection.calls == ()
            assert connection.link is not None
            assert all(pending.call is None for pending in connection.link.waiting)

    run(work())


@FUZZ
@given(
    st.lists(
        st.tuples(
            st.sampled_from(("elicitation/create", "sampling/createMessage", "roots/list", "ping", "x/y")), values
        ),
        max_size=12,
    ),
    st.booleans(),
)
def test_every_question_is_answered_once_whatever_its_params_are(asked: list[tuple[str, Any]], before: bool) -> None:
    async def work() -> None:
        async with opened("legacy") as (connection, script):
            link = connection.link
            assert link is not None
            for number, (method, params) in enumerate(asked):
                link.on_message({"jsonrpc": "2.0", "id": f"q{number}", "method": method, "params": params}, 10)
            wanted = {f"q{number}" for number in range(len(asked))}
            await script.until(lambda: wanted <= {m.get("id") for m in script.sent if "method" not in m})
            answers = [m["id"] for m in script.sent if "method" not in m]
            assert sorted(answers) == sorted(wanted)

    run(work())


@FUZZ
@given(st.integers(0, 3), st.lists(st.sampled_from(("end", "fail", "renew", "idle")), max_size=6))
def test_sessions_that_end_in_the_middle_of_anything_lose_no_request(spare: int, story: list[str]) -> None:
    """Each read is answered, refused or begun anew; whatever happens to the session, it ends."""
    turns = list(story)
    initialize = {"protocolVersion": "2025-11-25", "capabilities": CAPABILITIES, "serverInfo": {}}

    def answer(message: dict[str, Any]) -> Any:
        method = message.get("method")
        if method == "initialize":
            return [result(message["id"], initialize)]
        if method != "resources/read":
            return None
        what = turns.pop(0) if turns else "idle"
        if what == "end":
            return [SessionEnded()]
        if what == "fail":
            return [Refused(502)]
        if what == "renew":
            return [SessionEnded(), result(message["id"], {"contents": []})]
        return [result(message["id"], {"contents": []})]

    async def work() -> None:
        async with opened("legacy", "http", answer) as (connection, _):
            reads = [asyncio.ensure_future(connection.read(f"n://{n}")) for n in range(4 + spare)]
            for read in reads:
                with suppress(MCPError):
                    await read
            assert connection.state == "ready"
            turns.clear()
            assert await connection.read("n://last") == {"contents": []}

    run(work())


# -- bounds -------------------------------------------------------------------------------------------------------


def test_a_flood_of_questions_is_refused_beyond_a_number() -> None:
    async def work() -> None:
        async with opened("legacy") as (connection, script):
            link = connection.link
            assert link is not None
            never = asyncio.Event()
            peer = cast("FakePeer", connection._peer)  # pyright: ignore[reportPrivateUsage]

            async def wait(method: str, params: Any, cause: Any) -> dict[str, Any]:
                await never.wait()
                return {}

            peer.answer = wait
            for number in range(questions.MOST + 50):
                link.on_message({"jsonrpc": "2.0", "id": number, "method": "roots/list"}, 10)
            await script.until(lambda: sum("error" in m for m in script.sent) == 50)
            assert len(peer.questions) == questions.MOST

    run(work())


def test_a_flood_of_pings_and_oddities_does_not_grow() -> None:
    async def work() -> None:
        async with opened("legacy") as (connection, script):
            link = connection.link
            assert link is not None
            for number in range(5000):
                link.on_message({"jsonrpc": "2.0", "id": f"p{number}", "method": "ping"}, 10)
                link.on_message({"jsonrpc": "2.0", "odd": number}, 10)
            assert len(asyncio.all_tasks()) < 1100
            await script.until(lambda: len(script.sent) > 500)
            assert len(connection.notes) < 5
            assert len(connection.noise) <= 200

    run(work())
