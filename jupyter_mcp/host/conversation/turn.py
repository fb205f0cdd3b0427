"""One question of a conversation and all that came of it, as values: the transcript. Nothing is asked or shown here."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jupyter_mcp.host.result import Result

__all__ = ["ModelCall", "Outcome", "Spent", "Stop", "Turn"]

Outcome = Literal[
    "running", "ok", "error", "denied", "unknown", "unreadable", "repeated", "too many", "cancelled", "searched"
]
Stop = Literal["running", "answered", "cut", "rounds", "loop", "silent", "interrupted", "failed"]

_FENCED = re.compile(r"^```(?:json)?\s*\n(.*?)^```\s*$", re.MULTILINE | re.DOTALL)


@dataclass(eq=False)
class ModelCall:
    """One call that the model wanted.

    Attributes:
        number: counts the calls of its turn from 1.
        name: what the model calls the tool.
        server, tool: what it is; "" when there is no such tool, the server also for the search of our own.
        arguments: as the model gave them, or as the person changed them.
        outcome: "running"; "ok", "error" (the tool or its server), "denied" (a rule or the person); not made at all:
            "unknown" tool, "unreadable" arguments, "repeated" without end, "too many" at once; "cancelled"; "searched".
        result: the whole result, if there is one.
        said: one sentence about what went wrong, or "".
        approval: who allowed or refused it, in words, when somebody was asked.
        passes_on: servers whose results are found again in the arguments.
        shown: the content blocks that the model got to see.
    """

    number: int
    name: str
    server: str = ""
    tool: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    outcome: Outcome = "running"
    result: Result | None = None
    said: str = ""
    approval: str = ""
    passes_on: Sequence[str] = ()
    shown: Sequence[Mapping[str, Any]] = ()

    @property
    def full_name(self) -> str:
        """`server.tool`, or the model's own word for what does not exist."""
        return f"{self.server}.{self.tool}" if self.server else self.name

    @property
    def made(self) -> bool:
        """Whether a server was really asked."""
        return self.outcome in ("ok", "error") and self.result is not None

    @property
    def data(self) -> Any:
        """The structured data of its result, or None."""
        return self.result.data if self.result is not None and not self.result.is_error else None

    def __repr__(self) -> str:
        return f"<ModelCall {self.number} {self.full_name}: {self.outcome}>"


@dataclass(frozen=True, slots=True)
class Spent:
    """What was used up.

    Attributes:
        input_tokens, output_tokens: as the model's provider counted them; None when it does not say.
        cost: US dollars, None where no price is known.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None

    def plus(self, other: Any) -> Spent:
        """Both together; what one of them does not know counts as nothing, what neither knows stays unknown."""
        return Spent(
            _sum(self.input_tokens, other.input_tokens),
            _sum(self.output_tokens, other.output_tokens),
            _sum(self.cost, other.cost),
        )


@dataclass(eq=False)
class Turn:
    """One question and its answer.

    Attributes:
        question: as the person wrote it.
        model: the name of the model that answered.
        parts: what was said and done, in order: texts of the model (str) and calls.
        attached: what went along with the question, in words.
        rounds: how often the model was asked.
        spent: tokens and cost.
        stop: why it ended: "answered"; "cut" (at the model's length), "rounds" (all were used), "loop" (the same call
            again and again), "silent" (the model said nothing), "interrupted" or "failed" (the error was raised).
        notes: remarks for the person.
        messages: the whole conversation up to the end of this turn, as MCP messages.
    """

    question: str
    model: str = ""
    parts: list[str | ModelCall] = field(default_factory=list[Any])
    attached: list[str] = field(default_factory=list[str])
    rounds: int = 0
    spent: Spent = field(default_factory=Spent)
    stop: Stop = "running"
    notes: list[str] = field(default_factory=list[str])
    messages: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    @property
    def text(self) -> str:
        """The answer: what the model said after its last call; when that is nothing, what it said before."""
        said: list[str] = []
        for part in reversed(self.parts):
            if isinstance(part, str):
                said.insert(0, part)
            elif said:
                break
        return "\n\n".join(text.strip() for text in said if text.strip())

    @property
    def calls(self) -> list[ModelCall]:
        """The calls, in the order in which the model wanted them."""
        return [part for part in self.parts if isinstance(part, ModelCall)]

    @property
    def data(self) -> Any:
        """The answer as JSON when it is that, or has one block of it; else the data of the last call that has some."""
        found = _json_in(self.text)
        if found is not None:
            return found
        return next((call.data for call in reversed(self.calls) if call.data is not None), None)

    @property
    def cost(self) -> float | None:
        """US dollars, None where no price is known."""
        return self.spent.cost

    def say(self, text: str) -> None:
        """More text of the model, behind what it said last."""
        if self.parts and isinstance(self.parts[-1], str):
            self.parts[-1] += text
        else:
            self.parts.append(text)

    def note(self, text: str) -> None:
        """A remark for the person, once."""
        if text not in self.notes:
            self.notes.append(text)


def _sum(one: Any, other: Any) -> Any:
    if one is None or other is None:
        return one if other is None else other
    return one + other


def _json_in(text: str) -> Any:
    blocks = _FENCED.findall(text)
    candidate = blocks[0] if len(blocks) == 1 else text
    candidate = candidate.strip()
    if not candidate or candidate[0] not in "{[":
        return None
    try:
        return json.loads(candidate)
    except (ValueError, RecursionError):
        return None
