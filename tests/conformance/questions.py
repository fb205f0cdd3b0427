"""What asks the client, the same in both eras: sampling, forms with defaults, forms with every kind of choice."""

import json
from typing import Any

from jupyter_mcp.server import AsyncContext, Elicited, Server

USER = {
    "type": "object",
    "properties": {
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"},
    },
    "required": ["username", "email"],
}
DEFAULTS = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "User name", "default": "John Doe"},
        "age": {"type": "integer", "description": "User age", "default": 30},
        "score": {"type": "number", "description": "User score", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "description": "Verification status", "default": True},
    },
}
_THREE = ["option1", "option2", "option3"]


def _titled(words: str) -> list[dict[str, str]]:
    return [{"const": f"value{n}", "title": f"{order} {words}"} for n, order in enumerate(("First", "Second"), 1)]


CHOICES = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": _THREE},
        "titledSingle": {"type": "string", "oneOf": _titled("Option")},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": _THREE}},
        "titledMulti": {"type": "array", "items": {"anyOf": _titled("Choice")}},
    },
}


def said(answer: Elicited) -> str:
    """An answer as the suites want it told."""
    return f"action={answer.action}, content={json.dumps(answer.data)}"


def add_to(server: Server) -> None:
    """All of it."""

    @server.tool
    async def test_sampling(prompt: str, ctx: AsyncContext) -> str:
        """Asks the client's model."""
        answer = await ctx.sample(prompt, max_tokens=100)
        return f"LLM response: {answer.text}"

    @server.tool
    async def test_elicitation(message: str, ctx: AsyncContext) -> str:
        """Asks the person."""
        return f"User response: {said(await ctx.elicit(message, USER))}"

    @server.tool
    async def test_elicitation_sep1034_defaults(ctx: AsyncContext) -> str:
        """Asks with a form whose every field has a default."""
        answer = await ctx.elicit("Please review and update the form fields with defaults", DEFAULTS)
        return f"Elicitation completed: {said(answer)}"

    @server.tool
    async def test_elicitation_sep1330_enums(ctx: AsyncContext) -> str:
        """Asks with a form that has every kind of choice."""
        answer = await ctx.elicit("Please select options from the enum fields", CHOICES)
        return f"Elicitation completed: {said(answer)}"

    _needing_a_capability(server)


def _needing_a_capability(server: Server) -> None:
    @server.tool
    async def test_missing_capability(ctx: AsyncContext) -> str:
        """Needs a client that samples."""
        return (await ctx.sample("Is anybody there?", max_tokens=10)).text

    @server.tool
    async def test_streaming_elicitation(ctx: AsyncContext) -> str:
        """Reports, then asks: the question must not travel as a request on the stream (2026-07-28)."""
        await ctx.progress(1, 2, "about to ask")
        answer: Any = await ctx.elicit("Shall this go on?", key="go_on")
        return said(answer)
