"""Which model is configured, which answers, and why."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_mcp.errors import NoModel, UsageError
from jupyter_mcp.models.base import ModelRequest, Ranks
from jupyter_mcp.models.book import ModelBook
from jupyter_mcp.models.scripted import ScriptedModel

HELLO = ModelRequest([{"role": "user", "content": {"type": "text", "text": "hello"}}])


def book(**ranks: Ranks | None) -> ModelBook:
    """A book of scripted models; the last one is the default."""
    made = ModelBook({})
    for name, rank in ranks.items():
        made.set(ScriptedModel([], name=name, ranks=rank))
    return made


def preferring(*hints: Any, **priorities: float) -> dict[str, Any]:
    return {"hints": [{"name": hint} for hint in hints], **{f"{name}Priority": p for name, p in priorities.items()}}


FAST = Ranks(cost=0.9, speed=0.9, intelligence=0.2)
WISE = Ranks(cost=0.1, speed=0.3, intelligence=0.9)


def test_the_last_one_set_answers_and_the_others_stay() -> None:
    made = book(a=None, b=None)
    assert list(made.configured) == ["a", "b"]
    assert made.default is made.configured["b"]
    made.set(ScriptedModel([], name="c"), default=False)
    assert (list(made.configured), made.default) == (["a", "b", "c"], made.configured["b"])


def test_when_the_default_is_removed_the_first_of_the_others_answers() -> None:
    made = book(a=None, b=None)
    made.remove("b")
    assert made.default is made.configured["a"]
    made.remove("a")
    assert made.default is None
    with pytest.raises(UsageError, match="There are none"):
        made.remove("a")


def test_without_a_model_it_is_said_how_to_configure_one() -> None:
    with pytest.raises(NoModel, match=r"No model is configured\. Configure one: %mcp model"):
        book().choose()


@pytest.mark.parametrize(
    ("preferences", "name", "reason"),
    [
        (None, "wise-large", "it is the default"),
        ({}, "wise-large", "it is the default"),
        (preferring("fast"), "fast-small", "the hint 'fast' fits it"),
        (preferring("SMALL"), "fast-small", "the hint 'SMALL' fits it"),
        (preferring("claude", "plain"), "plain", "the hint 'plain' fits it"),
        (preferring("plain", "fast", intelligence=1), "plain", "the hint 'plain' fits it"),
        (preferring("a", speed=1), "fast-small", "the hint 'a' fits it; it ranks best for speed 1"),
        (preferring("a"), "wise-large", "the hint 'a' fits it; it is the first that is configured"),
        (preferring(speed=0.5), "fast-small", "it ranks best for speed 0.5"),
        (preferring(intelligence=1, speed=0.1), "wise-large", "it ranks best for speed 0.1, intelligence 1"),
        (preferring(cost=0), "wise-large", "it is the default"),
        (preferring("gpt", cost=1), "fast-small", "no hint fits (gpt); it ranks best for cost 1"),
        (preferring("gpt"), "wise-large", "no hint fits (gpt); it is the first that is configured"),
    ],
)
def test_hints_come_before_priorities_and_only_the_configured_are_chosen(
    preferences: Any, name: str, reason: str
) -> None:
    made = book(**{"fast-small": FAST, "plain": None, "wise-large": WISE})
    choice = made.choose(preferences)
    assert (choice.model.name, choice.reason) == (name, reason)


@pytest.mark.parametrize(
    "preferences",
    [
        "fast",
        {"hints": "fast"},
        {"hints": [None, {"name": 3}, {"name": " "}, "fast"]},
        {"speedPriority": "1", "costPriority": True},
        {"speedPriority": float("nan"), "intelligencePriority": -1},
    ],
)
def test_preferences_that_make_no_sense_choose_nothing(preferences: Any) -> None:
    made = book(fast=FAST, wise=WISE)
    choice = made.choose(preferences)
    assert (choice.model.name, choice.reason) == ("wise", "it is the default")


def test_a_priority_beyond_1_counts_as_1() -> None:
    choice = book(fast=FAST, wise=WISE).choose({"speedPriority": 1e300, "intelligencePriority": 1})
    assert choice.reason == "it ranks best for speed 1, intelligence 1"


def test_an_only_model_answers_whatever_is_preferred() -> None:
    assert book(a=None).choose(preferring("claude", speed=1)).reason == "it is the only model configured"


def test_a_model_is_found_by_a_part_of_its_name_when_only_one_has_it() -> None:
    made = book(**{"fast-small": None, "fast-large": None})
    assert made.find("LARGE").name == "fast-large"
    for part in ("fast", "gpt", ""):
        with pytest.raises(NoModel, match="There are fast-small, fast-large"):
            made.find(part)


async def _function(request: ModelRequest) -> str:
    return "first"


@pytest.mark.anyio
async def test_a_function_is_looked_up_at_each_use_so_that_a_cell_run_again_counts() -> None:
    made, names = ModelBook({}), {"mine": _function}
    made.lookup = names.__getitem__
    model = made.set("python:mine")
    assert (model.name, (await model.generate(HELLO)).text) == ("python:mine", "first")
    names["mine"] = lambda request: "second"  # pyright: ignore[reportArgumentType]
    assert (await model.generate(HELLO)).text == "second"
    del names["mine"]
    with pytest.raises(UsageError, match="no function 'mine'"):
        await model.generate(HELLO)


@pytest.mark.anyio
async def test_who_asks_the_person_may_come_later_than_the_model() -> None:
    made = ModelBook({})
    model = made.set("human")
    with pytest.raises(NoModel):
        await model.generate(HELLO)

    async def ask(request: ModelRequest) -> str:
        return "written"

    made.ask = ask
    assert (await model.generate(HELLO)).text == "written"


def test_a_listener_is_told_of_each_change_and_only_then() -> None:
    made = ModelBook({})
    told: list[int] = []
    made.listeners.append(lambda: told.append(len(made.configured)))
    made.set("human")
    made.choose()
    made.remove("human")
    assert told == [1, 0]


class Held(ScriptedModel):
    """A model that holds something."""

    closed = 0

    async def aclose(self) -> None:
        self.closed += 1
        raise OSError("already gone")


@pytest.mark.anyio
async def test_what_models_hold_is_let_go_of_once_also_by_those_that_were_replaced() -> None:
    made = ModelBook({})
    first, second, third = (Held([], name=name) for name in ("a", "a", "b"))
    for model in (first, second, third):
        made.set(model)
    made.remove("b")
    await made.aclose()
    assert [model.closed for model in (first, second, third)] == [1, 1, 1]
