"""What a model is: a request goes in, a reply comes out, both made of the protocol's content blocks.

A `Model` knows nothing of servers, consent or conversations. Whoever calls it has checked the messages (`messages`) and
asked whoever had to be asked. Pure values and one interface; the adapters are this one's neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, cast, runtime_checkable

from jupyter_mcp.errors import UsageError
from jupyter_mcp.models.messages import text_of
from jupyter_mcp.protocol.shapes import is_mapping

__all__ = [
    "INVALID_INPUT",
    "Feature",
    "Model",
    "ModelReply",
    "ModelRequest",
    "OnNote",
    "OnText",
    "OnTool",
    "Ranks",
    "ToolWriting",
    "Usage",
    "reply_of",
]

Feature = Literal["text", "image", "audio", "tools", "stream", "tool-stream"]
OnText = Callable[[str], None]
"""Told each piece of the reply's text as it comes; called on the loop that `generate` runs on."""
OnNote = Callable[[str], None]
"""Told, in a sentence for people, of what delays the reply (another attempt, a model that is being loaded)."""


@dataclass(frozen=True, slots=True)
class ToolWriting:
    """A call that the model is still writing.

    Attributes:
        place: which of the calls of the reply, from 0.
        name: of the tool, as the model calls it.
        text: the arguments so far: the beginning of a JSON object.
    """

    place: int
    name: str
    text: str


OnTool = Callable[[ToolWriting], None]
"""Told how far a call is written, as it grows; another attempt begins anew. Only models that say "tool-stream" do."""

INVALID_INPUT = "jupyter-mcp/invalid-input"
"""In `_meta` of a tool_use: the arguments as the model wrote them, when they are no JSON object; its input is empty."""


@dataclass(frozen=True)
class Ranks:
    """How a model compares with others, each from 0 (worst) to 1 (best); None is not declared.

    Attributes:
        cost: 1 is the cheapest.
        speed: 1 is the fastest.
        intelligence: 1 is the most capable.
    """

    cost: float | None = None
    speed: float | None = None
    intelligence: float | None = None

    def __post_init__(self) -> None:
        for name, value in self.declared.items():
            if isinstance(value, bool) or not 0 <= value <= 1:
                raise UsageError(f"The rank {name} is a number from 0 to 1, not {value!r}.")

    @property
    def declared(self) -> dict[str, float]:
        """Those that are declared, by name."""
        found = {"cost": self.cost, "speed": self.speed, "intelligence": self.intelligence}
        return {name: value for name, value in found.items() if value is not None}


@dataclass(frozen=True)
class Usage:
    """What one reply took.

    Attributes:
        input_tokens, output_tokens: as the provider counts them; None when it does not say.
        cost: US dollars, only where the price is known.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None


@dataclass(frozen=True)
class ModelRequest:
    """One question to a model.

    Attributes:
        messages: `{"role": "user" | "assistant", "content": block or list of blocks}`, oldest first.
        system: the system prompt.
        tools: what the model may call, as the protocol describes tools (`name`, `description`, `inputSchema`).
        tool_choice: `{"mode": "auto" | "required" | "none"}`; None is auto.
        max_tokens: the most tokens of the reply.
        temperature: as the provider understands it, usually 0 to 2.
        stop_sequences: texts that end the reply.
        metadata: what a server sent beside it; functions and scripts see it, providers do not.
    """

    messages: Sequence[Mapping[str, Any]]
    system: str | None = None
    tools: Sequence[Mapping[str, Any]] = ()
    tool_choice: Mapping[str, Any] | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    stop_sequences: Sequence[str] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def text(self) -> str:
        """The text of the last message."""
        return text_of(self.messages[-1]) if self.messages else ""

    @property
    def tool_mode(self) -> str:
        """ "auto", "required" or "none"."""
        return str((self.tool_choice or {}).get("mode") or "auto")


@dataclass(frozen=True)
class ModelReply:
    """What a model said.

    Attributes:
        content: blocks of the protocol: text, image, audio, tool_use.
        model: the name of the model that answered, as its provider says it.
        stop_reason: "endTurn", "maxTokens", "stopSequence", "toolUse", or the provider's own word; None is unknown.
        usage: what it took.
    """

    content: Sequence[Mapping[str, Any]]
    model: str
    stop_reason: str | None = "endTurn"
    usage: Usage = field(default_factory=Usage)

    @property
    def text(self) -> str:
        """Its text blocks, one after the other."""
        return "".join(str(block.get("text", "")) for block in self.content if block.get("type") == "text")

    @property
    def tool_uses(self) -> list[Mapping[str, Any]]:
        """The tools it wants called: blocks with `id`, `name`, `input`."""
        return [block for block in self.content if block.get("type") == "tool_use"]


@runtime_checkable
class Model(Protocol):
    """A model that can be asked.

    Attributes:
        name: how it was configured ("openai:gpt-5-mini", "local").
        ranks: how it compares with others.
        supports: what it takes; "stream" when the text of its replies comes in pieces, "tool-stream" when its calls do
            too: then `generate` takes `on_tool`.
    """

    @property
    def name(self) -> str: ...

    @property
    def ranks(self) -> Ranks: ...

    @property
    def supports(self) -> frozenset[Feature]: ...

    async def generate(
        self, request: ModelRequest, on_text: OnText | None = None, on_note: OnNote | None = None
    ) -> ModelReply:
        """Answer. Cancelling the task ends it.

        Args:
            request: its messages have been checked.
            on_text: told the text as it comes (all at once when the model cannot stream).
            on_note: told what delays it.

        Raises:
            NoModel: it cannot be used here: a library, a key or the person is missing.
            UnsupportedContent: a block it does not take.
            ProviderError: it, or whoever runs it, failed.
        """
        ...


def reply_of(value: object, model: str) -> ModelReply:
    """A reply from what a script or a function gives: text, a block, a list of blocks, or a whole `ModelReply`.

    Args:
        value: what it gave.
        model: the name of who gave it.

    Raises:
        UsageError: it is none of these.
    """
    if isinstance(value, ModelReply):
        return value
    if isinstance(value, str):
        return ModelReply([{"type": "text", "text": value}], model)
    blocks = [value] if is_mapping(value) else value
    if not isinstance(blocks, list | tuple):
        raise UsageError(f"{model} replied with a {type(value).__name__}; it is text, a block or a list of blocks.")
    found = [_block(block, model) for block in cast("Sequence[object]", blocks)]
    wants_tools = any(block["type"] == "tool_use" for block in found)
    return ModelReply(found, model, "toolUse" if wants_tools else "endTurn")


def _block(block: object, model: str) -> Mapping[str, Any]:
    if isinstance(block, str):
        return {"type": "text", "text": block}
    if is_mapping(block) and isinstance(block.get("type"), str):
        return block
    raise UsageError(f"{model} replied with something that is no content block: {block!r:.80}")
