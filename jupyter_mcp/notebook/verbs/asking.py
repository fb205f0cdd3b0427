"""ask: a conversation with the configured model, which has what the servers offer as its tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.lineparse import Grammar, Option
from jupyter_mcp.notebook.verbs.base import Invocation, Verb

if TYPE_CHECKING:
    from collections.abc import Iterable


def ask(call: Invocation) -> Any:
    from jupyter_mcp.notebook import api

    question = _question(call)
    if question.strip() == "/":
        return _prompts()
    rounds = call.number("max-rounds")
    if rounds is not None and rounds != int(rounds):
        raise call.wrong(f"--max-rounds is a whole number, not {rounds:g}.")
    names = _several(call.line.options.get("context", []))  # names, with or without the $ of a value
    return api.ask(
        question,
        servers=_several(call.options("servers")) or None,
        tools=_several(call.options("tools")) or None,
        context=_variables(call, names) if names else None,
        auto_context=call.line.flag("auto-context"),
        new=call.line.flag("new"),
        max_rounds=None if rounds is None else int(rounds),
        model=call.option("model"),
    )


def _question(call: Invocation) -> str:
    words = call.words
    if call.body is not None and words:
        raise call.wrong("The question stands in the body, or quoted on the line, not in both.")
    if call.body is not None and call.body.strip():
        return call.body.strip("\n")
    if not words:
        raise call.wrong("The question is missing: write it below %%mcp ask.")
    return words[0]


def _several(given: Iterable[str]) -> list[str]:
    return [name.strip() for text in given for name in text.split(",") if name.strip()]


def _variables(call: Invocation, names: list[str]) -> dict[str, Any]:
    from jupyter_mcp.notebook.objects.attached import by_name

    return by_name((name.removeprefix("$") for name in names), call.names.all)


def _prompts() -> Any:
    """`/` alone: all prompts with what they are for."""
    from jupyter_mcp.notebook import api
    from jupyter_mcp.notebook.objects.offered import Offered

    if not api.servers:
        api.no_servers()
    return Offered("prompts", None, "")


VERBS = (
    Verb(
        "ask",
        "acts",
        "ask [--servers S] [--tools PATTERN] [--context NAME] [--auto-context] [--new] [--max-rounds N] [--model M]",
        "Ask the configured model; what the servers offer are its tools.",
        ask,
        Grammar(
            options=(
                Option("servers", "S", "only tools of these servers, from now on; several with commas", repeat=True),
                Option("tools", "PATTERN", "only these tools (server.tool or tool, with * and ?)", repeat=True),
                Option("context", "NAME", "variables of the notebook that go along", repeat=True),
                Option("auto-context", None, "propose resources that fit the question; you choose"),
                Option("new", None, "begin a new conversation"),
                Option("max-rounds", "N", "how often the model may be asked for this question"),
                Option("model", "M", "a configured model other than the default one"),
            ),
        ),
        most=1,
        body="the question",
        details=(
            ("@server:uri", "in the question: the resource goes along"),
            ("/server.prompt key=value", "on a line of its own: the prompt's messages go before the question"),
            ("/", "alone: all prompts"),
        ),
        examples=('%mcp ask "What is the weather in Paris?"', "%%mcp ask --new --servers demo"),
        completes=(),
        python=("ask",),
    ),
)
