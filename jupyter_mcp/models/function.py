"""A function of the notebook as a model: `python:my_function`, or any callable.

It gets the `ModelRequest` and returns text, a block, a list of blocks or a `ModelReply`. A plain function runs on a
thread of its own, so that one that takes long holds up no connection; one that is cancelled runs on, unheard.
"""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import MCPError, ProviderError
from jupyter_mcp.models.base import Feature, ModelReply, ModelRequest, Ranks, reply_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from jupyter_mcp.models.base import OnNote, OnText

__all__ = ["FunctionModel"]

_ALL: frozenset[Feature] = frozenset({"text", "image", "audio", "tools"})


class FunctionModel:
    """A model that is a function.

    Args:
        function: called with the request; or, with `late`, called with nothing and returns the function, so that a
            cell that is run again replaces it.
        name: how it is called; "python:" and the function's own name by default.
        ranks: how it compares with others.
        late: whether `function` returns the function.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        name: str | None = None,
        *,
        ranks: Ranks | None = None,
        late: bool = False,
    ) -> None:
        self._function = function
        self._late = late
        self.name = name or f"python:{getattr(function, '__name__', type(function).__name__)}"
        self.ranks = ranks or Ranks()
        self.supports = _ALL

    async def generate(
        self, request: ModelRequest, on_text: OnText | None = None, on_note: OnNote | None = None
    ) -> ModelReply:
        """See `Model.generate`. An error of the function's own is a `ProviderError` that names it."""
        del on_note
        function = self._function() if self._late else self._function
        try:
            reply = reply_of(await _called(function, request), self.name)
        except MCPError:
            raise
        except Exception as error:
            raise ProviderError(f"The model {self.name} failed: {type(error).__name__}: {error}") from error
        if on_text is not None and reply.text:
            on_text(reply.text)
        return reply

    def __repr__(self) -> str:
        return f"<model {self.name}>"


async def _called(function: Callable[..., Any], request: ModelRequest) -> Any:
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None)):  # noqa: B004
        return await function(request)
    value = await asyncio.to_thread(function, request)
    return await value if inspect.isawaitable(value) else value
