"""The control channel of a real kernel: answered while a cell computes; nonsense is an error in a sentence."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest
from jupyter_client.manager import KernelManager

from jupyter_mcp.kernel import control

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from jupyter_client.blocking.client import BlockingKernelClient

KINDS = """
%load_ext jupyter_mcp
import asyncio
from jupyter_mcp.kernel import control
async def slow(data):
    await asyncio.sleep(float(data.get("seconds", 0)))
    return {"slow": True}
def broken(data):
    raise RuntimeError("it broke")
control.handle("echo", lambda data: {"echo": data})
control.handle("slow", slow)
control.handle("broken", broken)
"""


def ignore(_: Any) -> None:
    """What the cell shows."""


class Kernel:
    """A kernel with kinds to ask for."""

    def __init__(self, client: BlockingKernelClient) -> None:
        self.client = client

    def run(self, code: str) -> None:
        reply: Any = self.client.execute_interactive(code, timeout=60, output_hook=ignore)
        assert reply["content"]["status"] == "ok", reply["content"]

    def send(self, content: dict[str, Any]) -> str:
        message: Any = self.client.session.msg(control.REQUEST, content)
        self.client.control_channel.send(message)
        return message["header"]["msg_id"]

    def reply(self, request: str, seconds: float = 20) -> dict[str, Any]:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found: Any = self.client.get_control_msg(timeout=seconds)
            if found["parent_header"].get("msg_id") == request:
                assert found["msg_type"] == control.REPLY
                return found["content"]
        raise TimeoutError(request)

    def ask(self, kind: str, **data: Any) -> dict[str, Any]:
        return self.reply(self.send({"version": control.VERSION, "kind": kind, "data": data}))


@pytest.fixture(scope="module")
def kernel() -> Generator[Kernel]:
    manager = KernelManager()
    manager.start_kernel()
    client = manager.blocking_client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        made = Kernel(client)
        made.run(KINDS)
        yield made
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_a_request_is_answered_while_a_cell_computes(kernel: Kernel, tmp_path: Path) -> None:
    gate = tmp_path / "end"
    cell = kernel.client.execute(f"import os, time\nwhile not os.path.exists({str(gate)!r}): time.sleep(0.02)")
    assert kernel.ask("echo", a=[1, "x"]) == {"status": "ok", "data": {"echo": {"a": [1, "x"]}}}
    assert kernel.ask("slow") == {"status": "ok", "data": {"slow": True}}
    gate.touch()
    reply: Any = kernel.client.get_shell_msg(timeout=20)
    assert reply["parent_header"]["msg_id"] == cell


def test_a_slow_answer_holds_up_no_other(kernel: Kernel) -> None:
    slow = kernel.send({"version": control.VERSION, "kind": "slow", "data": {"seconds": 1}})
    assert kernel.ask("echo")["status"] == "ok"
    assert kernel.reply(slow) == {"status": "ok", "data": {"slow": True}}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"version": 1, "kind": "nothing", "data": {}}, "no request of the kind 'nothing'"),
        ({"version": 2, "kind": "echo", "data": {}}, "version 1"),
        ({"kind": ["echo"], "data": {}}, "version 1"),
        ({"version": 1, "kind": ["echo"], "data": {}}, "no request of the kind"),
        ({"version": 1, "kind": "echo", "data": 3}, "is an object"),
        ({"version": 1, "kind": "broken", "data": {}}, "it broke"),
        ({"version": 1, "kind": "panel", "data": {"act": "nothing"}}, "does not know the act 'nothing'"),
        ({"version": 1, "kind": "panel", "data": {"act": "prompt_cell"}}, "has to be a text"),
    ],
)
def test_what_makes_no_sense_is_an_error_in_a_sentence(kernel: Kernel, content: dict[str, Any], said: str) -> None:
    reply = kernel.reply(kernel.send(content))
    assert reply["status"] == "error"
    assert said in reply["evalue"]


def test_pages_ask_for_the_state_and_find_the_comm_that_tells_of_changes(kernel: Kernel) -> None:
    assert kernel.ask("panel", act="state")["data"]["standing"] == {"connected": 0, "broken": 0, "waiting": 0}
    message: Any = kernel.client.session.msg("comm_info_request", {"target_name": "jupyter_mcp.panel"})
    kernel.client.control_channel.send(message)
    comms: Any = kernel.client.get_control_msg(timeout=20)["content"]["comms"]
    (comm,) = comms
    told: list[Any] = []

    def hear(message: Any) -> None:
        if message["msg_type"] == "comm_msg" and message["content"]["comm_id"] == comm:
            told.append(message["content"]["data"])

    reply: Any = kernel.client.execute_interactive("%mcp connect demo", timeout=60, output_hook=hear)
    assert reply["content"]["status"] == "ok"
    assert {"event": "changed"} in told
    assert kernel.ask("panel", act="state")["data"]["servers"] == [{"name": "demo", "state": "ready"}]


def test_after_unloading_nothing_answers_and_loading_again_answers(kernel: Kernel) -> None:
    kernel.run("%unload_ext jupyter_mcp\n%load_ext jupyter_mcp")
    assert kernel.ask("panel", act="state")["status"] == "ok"
