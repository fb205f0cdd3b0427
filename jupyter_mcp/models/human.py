"""The person as a model: whoever can show a question to the person is given the request and brings the answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import NoModel
from jupyter_mcp.models.base import Feature, ModelReply, ModelRequest, Ranks, reply_of

if TYPE_CHECKING:
    from jupyter_mcp.models.base import OnNote, OnText

__all__ = ["AskHuman", "HumanModel"]

AskHuman = Callable[[ModelRequest], Awaitable[Any]]
"""Shows the request to the person; returns what they wrote, in any form that `reply_of` reads."""

_SHOWN: frozenset[Feature] = frozenset({"text", "image", "audio"})


class HumanModel:
    """The person writes the answer.

    Args:
        ask: returns who asks the person, or None while nobody can be asked.
    """

    name = "human"
    ranks = Ranks()
    supports = _SHOWN

    def __init__(self, ask: Callable[[], AskHuman | None]) -> None:
        self._ask = ask

    async def generate(
        self, request: ModelRequest, on_text: OnText | None = None, on_note: OnNote | None = None
    ) -> ModelReply:
        """What the person wrote. Raises `NoModel` when nobody can be asked."""
        ask = self._ask()
        if ask is None:
            raise NoModel("The model is human, and nobody can be asked here.", hint="Choose another: %mcp model …")
        if on_note is not None:
            on_note("The person is asked for the answer.")
        reply = reply_of(await ask(request), self.name)
        if on_text is not None and reply.text:
            on_text(reply.text)
        return reply

    def __repr__(self) -> str:
        return "<model human>"
