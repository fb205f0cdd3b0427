"""What goes on as a page sees it, and its Cancel."""

from __future__ import annotations

import json
import math
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import Cancelled, UsageError
from jupyter_mcp.notebook import api
from jupyter_mcp.notebook.panel import running
from jupyter_mcp.notebook.panel import state as told
from jupyter_mcp.runtime import state
from jupyter_mcp.runtime.thread import get_runtime
from jupyter_mcp.server import AsyncContext, Server

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.notebook.conftest import Cells

SECRET = "sk-ant-api03-" + "z9Q4" * 12


def ask(act: str, **data: Any) -> Any:
    acts = {**running.ACTS, **told.ACTS}
    return get_runtime().submit(acts[act], data).result(30)


def until(condition: Callable[[], object]) -> Any:
    end = time.monotonic() + 30
    while not (found := condition()):
        assert time.monotonic() < end, ask("state")
        time.sleep(0.01)
    return found


@pytest.fixture
def slow(cells: Cells) -> Cells:
    """A notebook with a server whose tool says how far it is and goes on until it is cancelled."""
    server = Server("s")

    @server.tool
    async def wait(ctx: AsyncContext, far: float = 3, of: float = 10) -> str:
        import asyncio

        await ctx.progress(far, of, f"at \x1b[31m{far}")
        await asyncio.Event().wait()
        return "never"

    @server.tool
    def quick() -> str:
        return "done"

    cells.put(s=server)
    cells.run("%mcp connect s $s ;")
    return cells


def test_nothing_goes_on_in_a_kernel_that_used_no_server(cells: Cells) -> None:
    assert ask("state")["running"] == []
    assert ask("activity") == {"acts": []}
    assert ask("cancel", id="1") == {"cancelled": False}


def test_a_call_is_seen_with_how_far_it_is_and_ends_by_cancel(slow: Cells) -> None:
    call = api.servers["s"].tools.wait.start()
    (one,) = until(lambda: [row for row in ask("state")["running"] if row["progress"] is not None])
    assert (one["label"], one["progress"], one["total"], one["message"]) == ("s.wait", 3, 10, "at 3")
    assert one["seconds"] >= 0
    assert ask("cancel", id=one["id"]) == {"cancelled": True}
    with pytest.raises(Cancelled, match=r"s\.wait was cancelled in the panel"):
        call.result(30)
    assert ask("state")["running"] == []
    assert ask("cancel", id=one["id"]) == {"cancelled": False}
    assert ask("activity")["acts"][0]["outcome"] == "cancelled"


def test_a_cell_that_waits_for_it_says_so_in_a_line(slow: Cells) -> None:
    def press() -> None:
        (one,) = until(lambda: ask("state")["running"])
        ask("cancel", id=one["id"])

    thread = threading.Thread(target=press)
    thread.start()
    with pytest.raises(Cancelled, match="was cancelled in the panel"):
        slow.run("%mcp call s.wait")
    thread.join(30)


def test_numbers_that_no_json_has_are_left_out() -> None:
    assert running._number(math.inf) is None  # pyright: ignore[reportPrivateUsage]
    assert running._number(math.nan) is None  # pyright: ignore[reportPrivateUsage]
    assert running._number(0.5) == 0.5  # pyright: ignore[reportPrivateUsage]


def test_the_last_acts_are_told_newest_first_and_again_only_when_there_are_more(slow: Cells) -> None:
    before = ask("state")["acted"]
    slow.run("%mcp call s.quick")
    assert ask("state")["acted"] == before + 2  # it began, and it ended
    newest = ask("activity")["acts"][0]
    assert (newest["label"], newest["by"], newest["outcome"]) == ("s.quick", "person", "ok")
    assert "done" in newest["said"]
    assert ask("state")["acted"] == before + 2


def test_no_secret_is_in_what_went_on(cells: Cells) -> None:
    server = Server("s")

    @server.tool
    def say(text: str) -> str:
        raise ValueError(f"cannot say {text}")

    cells.put(s=server, secret=SECRET)
    cells.run("%mcp connect s $s ;")
    with pytest.raises(Exception, match="cannot say"):
        cells.run("%mcp call s.say text=$secret")
    said = ask("activity")
    assert said["acts"][0]["outcome"] == "error"
    assert SECRET not in json.dumps(said)


@pytest.mark.parametrize("odd", [{}, {"id": 3}, {"id": "x"}, {"id": "-1"}])
def test_what_makes_no_sense_is_refused_in_a_sentence(slow: Cells, odd: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        ask("cancel", **odd)


def test_a_task_that_nobody_waits_for_is_a_row_and_can_be_cancelled(cells: Cells) -> None:
    cells.run("%mcp connect demo")
    call = api.servers["demo"].tools.survey.start()
    (one,) = until(lambda: [row for row in ask("state")["running"] if row["task"]])
    assert one["label"] == "demo.survey"
    assert ask("cancel", id=one["id"]) == {"cancelled": True}
    with pytest.raises(Exception, match="cancelled"):
        call.result(30)
    until(lambda: not ask("state")["running"])
    assert all(task.ended for task in state.get_host().tasks.of())
