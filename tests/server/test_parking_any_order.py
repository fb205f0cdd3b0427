"""Handlers that wait, under any course of events: answered in parts, twice, late, elsewhere, cancelled."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jupyter_mcp.server import AsyncContext, Context, Server
from tests.server.talk import RpcFailure, Talk

NEW = "2026-07-28"
KEY = b"k" * 32
QUESTIONS = ("a", "b", "c")
moves = st.lists(
    st.tuples(st.sampled_from(["some", "none", "wrong", "twice", "old", "moved"]), st.sets(st.sampled_from(QUESTIONS))),
    max_size=6,
)


def make(log: list[str]) -> Server:
    server = Server("any", state_key=KEY)

    @server.tool("parallel")
    async def parallel(ctx: AsyncContext) -> dict[str, int]:
        log.append("began")
        async with asyncio.TaskGroup() as group:
            tasks = {key: group.create_task(ctx.elicit(f"{key}?", int, key=key)) for key in QUESTIONS}
        log.append("done")
        return {key: task.result().data for key, task in tasks.items()}

    @server.tool("serial")
    def serial(ctx: Context) -> dict[str, int]:
        log.append("began")
        answers = {key: ctx.elicit(f"{key}?", int, key=key).data for key in QUESTIONS}
        log.append("done")
        return answers

    return server


def fitting(keys: Any) -> dict[str, Any]:
    return {key: {"action": "accept", "content": {"value": ord(key)}} for key in keys}


async def play(kind: str, course: list[tuple[str, set[str]]]) -> None:
    log: list[str] = []
    restarts = wrong = 0
    async with Talk(make(log), NEW) as one, Talk(make(log), NEW) as two:
        here, other = one, two
        params: dict[str, Any] = {"name": kind, "arguments": {}}
        result = await here.request("tools/call", params)
        used: list[dict[str, Any]] = []
        for move, keys in course:
            if result["resultType"] == "complete":
                break
            if move == "old" and used:
                try:
                    await here.request("tools/call", used[0])
                except RpcFailure as refused:
                    assert "used before" in refused.message  # noqa: PT017
                else:
                    restarts += 1  # it was used up in the other process, which this one cannot know
                continue
            given = fitting(keys) if move != "none" else {}
            if move == "wrong" and wrong < 2:
                wrong += 1
                given = {key: {"action": "accept", "content": {"value": "x"}} for key in keys}
            retry = {**params, "requestState": result["requestState"], "inputResponses": given}
            if move == "moved":
                here, other = other, here
                restarts += 1
            used.append(retry)
            if move == "twice":
                waiting = [(await here.start("tools/call", retry))[1] for _ in range(2)]
                (result,) = [outcome["result"] for outcome in [await one for one in waiting] if "result" in outcome]
            else:
                result = await here.request("tools/call", retry)
        while result["resultType"] == "input_required":
            more = {"requestState": result["requestState"], "inputResponses": fitting(result["inputRequests"])}
            result = await here.request("tools/call", {**params, **more})
        assert result["structuredContent"] == {key: ord(key) for key in QUESTIONS}
        assert log.count("began") <= 1 + restarts


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(kind=st.sampled_from(["parallel", "serial"]), course=moves)
def test_every_course_of_events_comes_to_the_same_result_and_runs_no_more_than_it_must(
    kind: str, course: list[tuple[str, set[str]]]
):
    asyncio.run(play(kind, course))
