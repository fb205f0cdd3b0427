"""JupyterLab's settings in a kernel: applied once, never over what the notebook has said."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.host.policy import Deed
from jupyter_mcp.notebook.panel import defaults
from jupyter_mcp.runtime import state
from jupyter_mcp.runtime.thread import get_runtime

if TYPE_CHECKING:
    from tests.notebook.conftest import Cells

DEMO = {"command": sys.executable, "args": ["-m", "jupyter_mcp.demo"]}


def apply(**data: Any) -> Any:
    return get_runtime().submit(defaults.applied, data).result(60)


def verdict(tool: str, origin: Any) -> str:
    return state.get_host().policy.decide(Deed("s", "tools/call", tool, origin=origin)).verdict


@pytest.mark.parametrize("nothing", [{}, {"servers": {}, "policy": "usual", "model": ""}, {"servers": 3}])
def test_settings_that_say_nothing_make_no_host(cells: Cells, nothing: dict[str, Any]) -> None:
    assert apply(**nothing) == {"connected": [], "problems": [], "done": False}
    assert state.existing_host() is None


def test_servers_are_connected_once_and_one_that_fails_is_a_sentence(cells: Cells) -> None:
    broken = {"command": "jupyter-mcp-no-such-command"}
    told = apply(servers={"d": DEMO, "broken": broken})
    assert told["connected"] == ["d"]
    assert len(told["problems"]) == 1
    assert "broken" in told["problems"][0]
    assert cells.run("%mcp call d.add a=1 b=2").text == "3"
    cells.run("%mcp disconnect d")
    assert apply(servers={"d": DEMO})["done"] is False
    assert "d" not in state.get_host().servers


def test_a_server_of_the_notebook_keeps_its_name(served: Cells) -> None:
    assert apply(servers={"s": DEMO})["connected"] == []
    assert served.run("%mcp call s.add a=1 b=2").data == 3


def test_a_default_policy_holds_where_no_rule_speaks(served: Cells) -> None:
    assert (verdict("add", "code"), verdict("add", "model")) == ("go", "ask")
    apply(policy="ask")
    assert (verdict("add", "code"), verdict("add", "model")) == ("ask", "ask")
    served.run("import jupyter_mcp as mcp; mcp.allow('s.add')")
    assert (verdict("add", "code"), verdict("echo", "code")) == ("go", "ask")
    served.run("%mcp policy why s.echo")
    assert "the default policy is 'ask' (settings)" in served.text
    apply(policy="allow", again=True)
    assert (verdict("add", "model"), verdict("echo", "model")) == ("go", "go")
    served.run("mcp.ask_first('s.*')")
    assert verdict("echo", "code") == "ask"
    apply(policy="usual", again=True)
    served.run("mcp.policy.reset()")
    assert (verdict("echo", "code"), verdict("echo", "model")) == ("go", "ask")


def test_a_policy_that_there_is_not_is_a_sentence_and_changes_nothing(served: Cells) -> None:
    assert "usual, ask, allow" in apply(policy="never")["problems"][0]
    assert verdict("add", "code") == "go"


def test_a_model_is_taken_unless_the_notebook_chose_one(cells: Cells) -> None:
    told = apply(model="no-such-provider:x")
    assert "no-such-provider" in told["problems"][0]
    assert apply(model="human", again=True) == {"connected": [], "problems": [], "done": True}
    chosen = state.get_host().models.default
    assert chosen is not None
    assert apply(model="python:len", again=True)["problems"] == []
    assert state.get_host().models.default is chosen
