"""How it is with this notebook, as pages are told."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from jupyter_mcp.host.questions import Question
from jupyter_mcp.notebook.panel import state


def entries(*states: str) -> Any:
    return [SimpleNamespace(name=f"s{n}", state=one, ready=one == "ready") for n, one in enumerate(states)]


def test_only_what_could_not_be_reached_counts_as_broken() -> None:
    said = state.seen(entries("ready", "starting", "closed", "reconnecting", "lost", "failed", "unresponsive"), [], 3)
    assert said["standing"] == {"connected": 1, "broken": 3, "waiting": 0}
    assert said["revision"] == "3"
    assert [one["state"] for one in said["servers"]][:2] == ["ready", "starting"]


def test_a_question_is_told_short_and_without_its_params() -> None:
    question = Question("q1", "login", "docs", "x" * 900, {"url": "https://login.example/?state=secret"})
    said = state.seen([], [question], 1)
    assert said["standing"]["waiting"] == 1
    assert set(said["questions"][0]) == {"id", "server", "title", "kind", "cell", "model"}
    assert "secret" not in str(said) and len(said["questions"][0]["title"]) <= 210


def test_a_page_is_told_where_a_question_is() -> None:
    question = Question("q1", "elicitation", "docs", "Which?", {})
    said = state.seen([], [question], 1, lambda one: {"cell": f"cell of {one.id}", "model": "m"})
    assert (said["questions"][0]["cell"], said["questions"][0]["model"]) == ("cell of q1", "m")
