"""How much a conversation may do and show, as one value."""

from __future__ import annotations

from dataclasses import dataclass, replace

__all__ = ["Limits"]

_CHARACTERS = 3  # of a token, at least, in most languages


@dataclass(frozen=True, slots=True)
class Limits:
    """
    Attributes:
        rounds: how often the model is asked for one question; in the last one it may call no tool.
        at_once: calls that run at the same time.
        calls: calls of one round; the model is told about those beyond.
        repeats: how often the very same call may give the very same result before it is no longer made.
        tools: so many are described to the model; of more it is given a search.
        found: tools that one search gives.
        result: characters of one result that the model sees; the notebook has it whole.
        results: characters of all results of one round.
        images: pictures that the model sees of one result.
        attachment: characters of one attached text; of a longer one its best passages are attached.
        history: characters of all that was said; beyond it old results are left out, oldest first.
        instructions: characters of one server's instructions.
        answer: tokens of one reply of the model; None is as many as its provider lets it have.
    """

    rounds: int = 12
    at_once: int = 8
    calls: int = 32
    repeats: int = 3
    tools: int = 40
    found: int = 8
    result: int = 16_000
    results: int = 64_000
    images: int = 4
    attachment: int = 24_000
    history: int = 400_000
    instructions: int = 2_000
    answer: int | None = None

    def within(self, context: int | None) -> Limits:
        """The same for a model that takes only so much at a time.

        Args:
            context: tokens that it takes, question and answer together; None where that is not known.
        """
        if context is None:
            return self
        whole = context * _CHARACTERS
        return replace(
            self,
            tools=min(self.tools, max(1, context // 400)),
            result=min(self.result, whole // 6),
            results=min(self.results, whole // 4),
            attachment=min(self.attachment, whole // 4),
            history=min(self.history, whole // 2),
            instructions=min(self.instructions, whole // 40),
            answer=min(self.answer or context, context // 8),
        )
