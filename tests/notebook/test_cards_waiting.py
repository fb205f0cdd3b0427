"""When a running call gets a card of its own: not while its question stands on the page."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from jupyter_mcp.host.events import Progress, QuestionClosed, QuestionOpened
from jupyter_mcp.host.questions import Question
from jupyter_mcp.notebook import waiting
from jupyter_mcp.notebook.objects.act import Act
from jupyter_mcp.runtime import jobs

QUESTION = Question("1", "elicitation", "demo", "?", {})


@pytest.fixture
def posted(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    found: list[Any] = []
    monkeypatch.setattr(waiting, "LATE_SECONDS", 0.01)

    def post(function: Any, place: Any = None) -> None:
        found.append(function)

    monkeypatch.setattr(jobs, "post", post)
    return found


async def accompany(*steps: Any) -> None:
    """A call that tells these events and takes longer than a person waits after each."""
    card = waiting._Card("demo.book", None)  # pyright: ignore[reportPrivateUsage]

    async def start() -> None:
        for step in steps:
            card.event(step)
            await asyncio.sleep(waiting.LATE_SECONDS * 4)

    await card.accompany(Act("demo.book", start))


@pytest.mark.anyio
async def test_a_call_that_only_waits_for_the_person_has_no_second_card(posted: list[Any]) -> None:
    await accompany(QuestionOpened(QUESTION))
    assert posted == []


@pytest.mark.anyio
async def test_a_call_that_goes_on_after_the_answer_gets_its_card(posted: list[Any]) -> None:
    await accompany(QuestionOpened(QUESTION), QuestionClosed(QUESTION, None))
    assert len(posted) == 1


@pytest.mark.anyio
async def test_progress_shows_a_card_at_once_and_only_one(posted: list[Any]) -> None:
    await accompany(Progress(1, 2), Progress(2, 2))
    assert len(posted) == 1
