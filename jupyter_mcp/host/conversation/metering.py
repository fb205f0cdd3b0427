"""Asking a model within what it may give: its budget ends a question with an error, its rate only delays it.

The meters are those of `host.sampling.limits`, so that a conversation and the servers' requests count together.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import ModelError
from jupyter_mcp.host.sampling.request import guess_tokens

if TYPE_CHECKING:
    from jupyter_mcp.host.sampling.limits import Meter
    from jupyter_mcp.models.base import Model, ModelReply, ModelRequest, OnNote, OnText, OnTool

__all__ = ["generate"]

sleep = asyncio.sleep


async def generate(
    model: Model, meter: Meter, request: ModelRequest, on_text: OnText, on_note: OnNote, on_tool: OnTool
) -> ModelReply:
    """The model's reply, counted.

    Args:
        model, request: whom to ask, and what.
        meter: what the model gave and may give.
        on_text, on_note, on_tool: see `Model.generate`.

    Raises:
        ModelError: the model may give no more, or what it raises itself.
    """
    while (wait := meter.too_fast()) is not None:
        on_note(f"{model.name} is asked too often; it goes on in {wait:.0f} s.")
        await sleep(wait)
    if used := meter.used_up():
        raise ModelError(f"The model {model.name} may give no more in this kernel: {used}.")
    asked = guess_tokens([request.system or "", list(request.messages), list(request.tools)])
    hold = meter.hold(asked, request.max_tokens)
    try:
        more: dict[str, Any] = {"on_tool": on_tool} if "tool-stream" in model.supports else {}
        reply = await model.generate(request, on_text, on_note=on_note, **more)
        hold.settle(reply.usage, asked + guess_tokens(reply.text))
    finally:
        hold.settle(None)
    return reply
