"""Helpers for people who test a server of their own: a host that is connected to it, without a notebook.

    async with connected(server, answers={"name": "Ada"}) as client:
        result = await client.call("greet")
        assert result.text == "Hello Ada"

It is the same host as a notebook's (checks of arguments, questions, results), so a test sees what a person would.
`ScriptedModel` is a model that says what it was told to say, for conversations and sampling.
Nothing here asks anybody: a question without a scripted answer is cancelled. It stands above `host`, without IPython.
"""

from __future__ import annotations

from jupyter_mcp.models.scripted import ScriptedModel
from jupyter_mcp.testing.connected import Connected, connected

__all__ = ["Connected", "ScriptedModel", "connected"]
