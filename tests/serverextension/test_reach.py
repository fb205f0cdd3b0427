"""A kernel is asked over its control channel, and one that says nothing or no is told apart."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from jupyter_client.multikernelmanager import AsyncMultiKernelManager

from jupyter_mcp.serverextension.line import Lines
from jupyter_mcp.serverextension.reach import KernelSaidNo, KernelSilent, answers, control, data_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

pytestmark = pytest.mark.anyio
ECHO = """%load_ext jupyter_mcp
from jupyter_mcp.kernel import control
import asyncio
async def echo(data):
    await asyncio.sleep(data.get("seconds", 0.01))
    return data
control.handle("echo", echo)"""


@pytest.fixture
async def kernels() -> AsyncGenerator[tuple[Any, str]]:
    """A manager with one kernel, whose extension is loaded when it is told to."""
    manager: Any = AsyncMultiKernelManager()
    kernel_id = await manager.start_kernel(kernel_name="python3")
    yield manager, kernel_id
    await manager.shutdown_all(now=True)


async def run(manager: Any, kernel_id: str, code: str) -> None:
    client: Any = manager.get_kernel(kernel_id).client()
    client.start_channels()
    try:
        await client.wait_for_ready(timeout=60)
        reply = await client.execute_interactive(code, timeout=60)
        assert reply["content"]["status"] == "ok"
    finally:
        client.stop_channels()


async def test_a_kernel_answers_or_says_no_or_says_nothing(kernels: tuple[Any, str]) -> None:
    manager, kernel_id = kernels
    await run(manager, kernel_id, "pass")
    with pytest.raises(KernelSilent, match="did not answer"):
        await control(manager, kernel_id, "oauth", {"query": ""}, 0.5)
    await run(manager, kernel_id, "%load_ext jupyter_mcp")
    assert await control(manager, kernel_id, "oauth", {"query": "state=x&code=y"}) == {"delivered": False}
    with pytest.raises(KernelSaidNo, match="kind 'nothing'"):
        await control(manager, kernel_id, "nothing", {})
    with pytest.raises(KeyError):
        await control(manager, "no-such-kernel", "oauth", {})


async def test_many_ask_one_kernel_at_once_and_each_gets_its_own_answer(kernels: tuple[Any, str]) -> None:
    manager, kernel_id = kernels
    await run(manager, kernel_id, ECHO)
    line = Lines(manager).to(kernel_id)
    by_line = [line.ask("echo", {"n": n}, 30) for n in range(50)]
    once = [control(manager, kernel_id, "echo", {"n": n}, 30) for n in range(50, 60)]
    found = await asyncio.gather(*by_line, *once)
    assert [one["n"] for one in found] == list(range(60))
    assert await line.ask("echo", {"n": 7}, 30) == {"n": 7}, "who asked once and hung up has taken nobody's place"
    line.close()
    with pytest.raises(KernelSilent, match="hung up"):
        await line.ask("echo", {}, 1)


async def test_many_requests_on_one_line_at_a_time_are_all_answered(kernels: tuple[Any, str]) -> None:
    manager, kernel_id = kernels
    await run(manager, kernel_id, ECHO)
    lines = Lines(manager)

    async def ask(number: int) -> Any:
        await asyncio.sleep(number * 0.0003)  # so that some are sent while answers to others come in
        data = {"number": number, "seconds": 0.001 * (number % 3)}
        return (await lines.to(kernel_id).ask("echo", data, 20.0))["number"]

    try:
        for _ in range(100):
            assert await asyncio.gather(*(ask(number) for number in range(12))) == list(range(12))
    finally:
        lines.close()


async def test_a_line_that_gets_no_answer_is_hung_up_and_the_next_one_gets_it(kernels: tuple[Any, str]) -> None:
    manager, kernel_id = kernels
    await run(manager, kernel_id, "pass")  # it does not know our message yet
    lines = Lines(manager)
    dead = lines.to(kernel_id)
    with pytest.raises(KernelSilent, match="did not answer"):
        await dead.ask("echo", {}, 0.5)
    assert dead.over
    await run(manager, kernel_id, ECHO)
    assert await lines.to(kernel_id).ask("echo", {"n": 1}, 30) == {"n": 1}
    lines.close()


@pytest.mark.parametrize("odd", [{}, {"header": 7, "parent_header": [], "content": "x"}, {"content": {"status": "ok"}}])
def test_a_reply_that_is_none_is_a_no(odd: dict[str, Any]) -> None:
    assert answers(odd) == ""
    with pytest.raises(KernelSaidNo):
        data_of(odd)
