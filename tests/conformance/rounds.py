"""Tools and a prompt that need several rounds (2026-07-28, "Multi Round-Trip Requests").

All but the last are plain handlers that ask; the keys are the suites'. Their state is whatever the server makes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.server import AsyncContext, Context, Elicit, Roots, Sample

if TYPE_CHECKING:
    from jupyter_mcp.server.questions import Question
    from tests.conformance.declaring import Declaring

CONFIRM = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}


def one_text(name: str) -> dict[str, Any]:
    """The form that asks for one text."""
    return {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]}


def add_to(declare: Declaring) -> None:
    """All of it."""
    _single(declare)
    _several(declare)
    _with_state(declare)


def _single(declare: Declaring) -> None:
    @declare.tool
    async def test_input_required_result_elicitation(ctx: AsyncContext) -> str:
        """Asks for a name."""
        answer = await ctx.elicit("What is your name?", one_text("name"), key="user_name")
        return f"Hello, {answer.data['name']}!" if answer.accepted else "Hello, whoever you are!"

    @declare.tool
    def test_input_required_result_sampling(ctx: Context) -> str:
        """Asks the client's model."""
        return ctx.sample("What is the capital of France?", max_tokens=100, key="capital_question").text

    @declare.tool
    async def test_input_required_result_list_roots(ctx: AsyncContext) -> str:
        """Asks for the client's folders."""
        return "Roots: " + ", ".join(root.uri for root in await ctx.roots(key="client_roots"))

    @declare.prompt
    def test_input_required_result_prompt(ctx: Context) -> str:
        """A prompt that asks first."""
        answer = ctx.elicit("What context should the prompt use?", one_text("context"), key="user_context")
        return f"Use this context: {answer.data['context'] if answer.accepted else 'none'}"


def _several(declare: Declaring) -> None:
    @declare.tool
    async def test_input_required_result_multiple_inputs(ctx: AsyncContext) -> str:
        """Asks three things in one round."""
        answers = await ctx.ask(
            {
                "user_name": Elicit("What is your name?", one_text("name")),
                "greeting": Sample("Generate a greeting", 50),
                "client_roots": Roots(),
            }
        )
        return f"{answers['greeting'].text} {answers['user_name'].data}, {len(answers['client_roots'])} roots"

    @declare.tool
    def test_input_required_result_capabilities(ctx: Context) -> str:
        """Asks only what the client says it can answer."""
        questions: dict[str, Question] = {}
        if ctx.can("elicitation", "form"):
            questions["user_name"] = Elicit("What is your name?", one_text("name"))
        if ctx.can("sampling"):
            questions["greeting"] = Sample("Generate a greeting", 50)
        answers = ctx.ask(questions) if questions else {}
        return f"answered: {', '.join(answers) or 'nothing'}"


def _with_state(declare: Declaring) -> None:
    @declare.tool
    def test_input_required_result_request_state(ctx: Context) -> str:
        """Asks for a yes; the answer is only good with the state that came with the question."""
        answer = ctx.elicit("Please confirm", CONFIRM, key="confirm")
        return f"state-ok: {answer.action}"

    @declare.tool
    async def test_input_required_result_tampered_state(ctx: AsyncContext) -> str:
        """As above; a changed state is refused before this runs."""
        answer = await ctx.elicit("Please confirm", CONFIRM, key="confirm")
        return f"confirmed: {answer.action}"

    @declare.tool
    def test_input_required_result_multi_round(ctx: Context) -> str:
        """Asks twice, one after the other."""
        name = ctx.elicit("Step 1: What is your name?", one_text("name"), key="step1")
        color = ctx.elicit("Step 2: What is your favorite color?", one_text("color"), key="step2")
        return f"{name.data} likes {color.data}"
