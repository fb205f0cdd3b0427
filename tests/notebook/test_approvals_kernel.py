"""Every way to approve, in a real kernel: by the card, by `input()`, by script; an act, and the start of a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.runtime.kernels import LiveKernel, Run, live_kernel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SETUP = """
%load_ext jupyter_mcp
import functools, sys
import jupyter_mcp as mcp
from jupyter_mcp.errors import Denied
from jupyter_mcp.host.specs import ServerSpec
from jupyter_mcp.runtime import wait
from jupyter_mcp.runtime.state import desk, get_host

def begin(**arguments):
    "A call that a model begins: what was sent, or why it was not."
    call = functools.partial(get_host().call_tool, "demo", "add", arguments, origin="model")
    try:
        print("CAME", wait.run(call, label="demo.add").text)
    except Denied as error:
        print("DENIED", error)

def start():
    "A server that a project's file names."
    spec = ServerSpec.parse("theirs", f"{sys.executable} -m jupyter_mcp.demo")
    try:
        wait.run(functools.partial(get_host().connect, spec, origin="project"), label="theirs")
        print("CAME", mcp.servers["theirs"].state)
        mcp.disconnect("theirs")
    except Denied as error:
        print("DENIED", error)
"""


@pytest.fixture(scope="module")
def kernel() -> Iterator[LiveKernel]:
    with live_kernel(setup=SETUP) as started:
        started.run("%mcp connect demo ;")
        yield started


def widget(kernel: LiveKernel, run: Run, label: str, model: str) -> str:
    """Wait for the newest widget of that label; its comm."""

    def found() -> list[str]:
        messages = [*run.messages, *(one for many in kernel.other.values() for one in many)]  # also those of a press
        contents = [one["content"] for one in messages if one["header"]["msg_type"] == "comm_open"]
        opened = [(one["comm_id"], one["data"]["state"]) for one in contents]
        return [at for at, state in opened if state.get("description") == label and state.get("_model_name") == model]

    kernel.until(lambda: bool(found()), why=lambda: f"no {model} {label!r}; it said {run.displays}")
    return found()[-1]


def press(kernel: LiveKernel, run: Run, label: str) -> None:
    at = widget(kernel, run, label, "ButtonModel")
    kernel.comm(at, {"method": "custom", "content": {"event": "click"}})


def put(kernel: LiveKernel, run: Run, label: str, model: str, value: object) -> None:
    at = widget(kernel, run, label, model)
    kernel.comm(at, {"method": "update", "state": {"value": value}, "buffer_paths": []})


def by_card(kernel: LiveKernel, run: Run) -> None:
    put(kernel, run, "Change", "ToggleButtonModel", True)
    put(kernel, run, "a", "TextModel", "40")
    press(kernel, run, "Allow once")


def by_input(kernel: LiveKernel, run: Run) -> None:
    assert "[e]dit" in kernel.answer("e")
    kernel.answer('{"a": 40, "b": 2}')
    kernel.answer("y")


def by_script(kernel: LiveKernel, run: Run) -> None:
    del kernel, run


CHANGES: list[tuple[str, Callable[[LiveKernel, Run], None]]] = [
    ("", by_card),
    ('desk().mode = "stdin"', by_input),
    ('mcp.answer({"arguments": {"a": 40, "b": 2}}, kind="approval", times=1)', by_script),
]


@pytest.fixture(autouse=True)
def ordinary(kernel: LiveKernel) -> Iterator[None]:
    yield
    kernel.run('desk().mode = "auto"; get_host().answers.clear(); get_host().policy.forget()')


@pytest.mark.parametrize(("prepare", "answer"), CHANGES, ids=["card", "input", "script"])
def test_the_arguments_are_changed_and_so_they_are_sent(
    kernel: LiveKernel, prepare: str, answer: Callable[[LiveKernel, Run], None]
) -> None:
    run = kernel.start(f"{prepare}\nbegin(a=1, b=2)", allow_stdin=True)
    answer(kernel, run)
    kernel.finish(run)
    assert "CAME 42" in run.text


DENIALS: list[tuple[str, Callable[[LiveKernel, Run], None]]] = [
    ("", lambda kernel, run: (put(kernel, run, "Reason", "TextModel", "too many"), press(kernel, run, "Deny"))[0]),
    ('desk().mode = "stdin"', lambda kernel, run: (kernel.answer("n too many"), None)[1]),
    ('mcp.answer("decline", kind="approval", reason="too many")', by_script),
]


@pytest.mark.parametrize(("prepare", "answer"), DENIALS, ids=["card", "input", "script"])
def test_a_no_carries_its_reason(kernel: LiveKernel, prepare: str, answer: Callable[[LiveKernel, Run], None]) -> None:
    run = kernel.start(f"{prepare}\nbegin(a=1, b=2)", allow_stdin=True)
    answer(kernel, run)
    kernel.finish(run)
    assert "DENIED demo.add was declined: too many" in run.text


LONGER: list[tuple[str, Callable[[LiveKernel, Run], None]]] = [
    ("", lambda kernel, run: press(kernel, run, "Allow for this session")),
    ('desk().mode = "stdin"', lambda kernel, run: (kernel.answer("s"), None)[1]),
    ('mcp.answer("accept", kind="approval", scope="session", times=1)', by_script),
]


@pytest.mark.parametrize(("prepare", "answer"), LONGER, ids=["card", "input", "script"])
def test_a_yes_for_the_session_is_asked_once(
    kernel: LiveKernel, prepare: str, answer: Callable[[LiveKernel, Run], None]
) -> None:
    run = kernel.start(f"{prepare}\nbegin(a=1, b=2)\nbegin(a=2, b=2)", allow_stdin=True)
    answer(kernel, run)
    kernel.finish(run)
    assert run.text.replace("\n", " ").endswith("CAME 3 CAME 4 ")


STARTS: list[tuple[str, Callable[[LiveKernel, Run], None]]] = [
    ("", lambda kernel, run: press(kernel, run, "Start once")),
    ('desk().mode = "stdin"', lambda kernel, run: (kernel.answer("y"), None)[1]),
    ('mcp.answer("accept", kind="server", server="theirs")', by_script),
]


@pytest.mark.parametrize(("prepare", "answer"), STARTS, ids=["card", "input", "script"])
def test_a_projects_server_is_started(
    kernel: LiveKernel, prepare: str, answer: Callable[[LiveKernel, Run], None]
) -> None:
    run = kernel.start(f"{prepare}\nstart()", allow_stdin=True)
    answer(kernel, run)
    kernel.finish(run)
    assert "CAME ready" in run.text


@pytest.mark.parametrize("act", ["begin(a=1, b=2)", "start()"])
def test_where_nobody_sits_nothing_is_done_and_a_line_says_how_to_script_it(kernel: LiveKernel, act: str) -> None:
    run = kernel.run(act)
    assert "DENIED" in run.text
    assert "CAME" not in run.text
