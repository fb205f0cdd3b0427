"""Who is asked, and what is asked for, in the tests of sampling."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from jupyter_mcp.host.answers import AnswerBook
from jupyter_mcp.host.journal import Journal
from jupyter_mcp.host.policy import Policy
from jupyter_mcp.host.questioner import Questioner
from jupyter_mcp.host.questions import Answer, Question
from jupyter_mcp.models.book import ModelBook

if TYPE_CHECKING:
    from collections.abc import Callable

    from jupyter_mcp.host.acts import Running

YES = Answer("accept")


class Person:
    """Answers from a list (answers, or functions of the question) and remembers what was asked."""

    def __init__(self, *answers: Answer | Callable[[Question], Any]) -> None:
        self.answers = list(answers)
        self.asked: list[Question] = []

    async def ask(self, question: Question) -> Answer:
        self.asked.append(question)
        answer = self.answers.pop(0)
        if isinstance(answer, Answer):
            return answer
        given = answer(question)
        return await given if inspect.isawaitable(given) else given


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def user(*blocks: Any) -> dict[str, Any]:
    content = [text(block) if isinstance(block, str) else block for block in blocks]
    return {"role": "user", "content": content[0] if len(content) == 1 else content}


def params(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"messages": list(messages) or [user("Summarise.")], "maxTokens": 50, **more}


TOOL = {"name": "look", "inputSchema": {"type": "object", "properties": {"x": {"type": "integer"}}}}


def asker(*models: Any, ui: Any = None) -> Questioner:
    """A questioner with these models configured."""
    book = ModelBook({})
    for model in models:
        book.set(model, default=not book.configured)
    made = Questioner(Policy(), AnswerBook(), Journal())
    made.models = lambda: book if models else None
    made.ui = ui
    return made


async def sample(
    questioner: Questioner,
    given: dict[str, Any] | None = None,
    *,
    server: str = "demo",
    revision: str = "2025-11-25",
    act: Running | None = None,
) -> dict[str, Any]:
    return await questioner.answer(
        server, revision, "sampling/createMessage", given or params(), act=act, roots=[], by_hand=True
    )
