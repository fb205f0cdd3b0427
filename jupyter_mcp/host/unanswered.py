"""What is said where a question got no answer: how to script one, and why what was wanted is refused. Pure.

The words only; who is asked, and what becomes of it, is `questioner`'s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jupyter_mcp.host.answers import properties

if TYPE_CHECKING:
    from jupyter_mcp.host.questions import Answer, Question

__all__ = ["how_to_script", "quoted", "refusal"]


def how_to_script(question: Question, misses: bool = False) -> str:
    """One line: what was asked, that nobody could be asked, and the call that scripts the answer.

    Args:
        question: what was asked.
        misses: there is a script for forms, and it has nothing for this one.
    """
    head = f"{question.server} asked {quoted(question.message)} and nobody could answer"
    if misses:
        lacks = "has one of its fields" if properties(question) else "is for a question without fields"
        head = (
            f"{question.server} asked {quoted(question.message)}, nobody could answer, and no scripted answer {lacks}"
        )
    if question.kind == "server":
        script = f'mcp.answer("accept", server="{question.server}", kind="server")'
        return f"Nobody could be asked whether {question.server} may be started; script it: {script}"
    if question.kind == "approval":
        name = f"{question.server}.{question.params.get('tool')}"
        return f'Nobody could be asked; approve it in advance with mcp.allow("{name}").'
    target = f'server="{question.server}"'
    if question.kind == "sampling" and question.offer is not None:
        return f'{head}; let {question.offer.model} answer: mcp.allow("{question.server}.sampling/*").'
    if question.kind == "sampling":
        return f'{head}; script it: mcp.answer({{"text": "…"}}, {target}, kind="sampling")'
    if question.kind == "login":
        return f'{head}; script it: mcp.answer(function, {target}, kind="login")'
    if question.kind == "url":
        return f'{head}; script it: mcp.answer("accept", {target}, kind="url")'
    own = ', kind="inputs"' if question.kind == "inputs" else ""
    names = list(properties(question))
    fields = ", ".join(f'"{name}": …' for name in names[:4]) + (", …" if len(names) > 4 else "")
    example = "{" + fields + "}" if names else '"accept"'
    return f"{head}; script it: mcp.answer({example}, {target}{own})"


def refusal(question: Question, answer: Answer) -> str:
    """Why a request for sampling was refused, one sentence."""
    if answer.by == "headless":
        return f"{question.server} asked for sampling, and nobody could be asked whether a model may answer."
    if answer.by == "policy":
        return f"The rule {answer.remark!r} refuses sampling for {question.server}."
    verb = "declined" if answer.action == "decline" else "cancelled"
    return f"The request of {question.server} for sampling was {verb}."


def quoted(message: str) -> str:
    """A server's words in a sentence of ours, shortened."""
    flat = " ".join(message.split())
    return f"“{flat[:80]}{'…' if len(flat) > 80 else ''}”" if flat else "something"
