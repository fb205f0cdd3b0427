"""What asks the client, the same in both eras: sampling, forms with defaults, forms with every kind of choice."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jupyter_mcp.server import AsyncContext, Context, Elicited
    from tests.conformance.declaring import Declaring

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


def add_to(declare: Declaring) -> None:
    """All of it."""

    @declare.tool
    def test_sampling(prompt: str, ctx: Context) -> str:
        """Asks the client's model."""
        answer = ctx.sample(prompt, max_tokens=100)
        return f"LLM response: {answer.text}"

    @declare.tool
    async def test_elicitation(message: str, ctx: AsyncContext) -> str:
        """Asks the person."""
        return f"User response: {said(await ctx.elicit(message, USER))}"

    @declare.tool
    async def test_elicitation_sep1034_defaults(ctx: AsyncContext) -> str:
        """Asks with a form whose every field has a default."""
        answer = await ctx.elicit("Please review and update the form fields with defaults", DEFAULTS)
        return f"Elicitation completed: {said(answer)}"

    @declare.tool
    def test_elicitation_sep1330_enums(ctx: Context) -> str:
        """Asks with a form that has every kind of choice."""
        answer = ctx.elicit("Please select options from the enum fields", CHOICES)
        return f"Elicitation completed: {said(answer)}"

    _needing_a_capability(declare)


def _needing_a_capability(declare: Declaring) -> None:
    @declare.tool
    def test_missing_capability(ctx: Context) -> str:
        """Needs a client that samples."""
        return ctx.sample("Is anybody there?", max_tokens=10).text

    @declare.tool
    def test_streaming_elicitation(ctx: Context) -> str:
        """Reports, then asks: the question must not travel as a request on the stream (2026-07-28)."""
        ctx.progress(1, 2, "about to ask")
        answer: Any = ctx.elicit("Shall this go on?", key="go_on")
        return said(answer)
