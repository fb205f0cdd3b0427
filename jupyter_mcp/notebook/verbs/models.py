"""model, models: which model answers, and which there are."""

from __future__ import annotations

from typing import Any

from jupyter_mcp.notebook.lineparse import Grammar, Option
from jupyter_mcp.notebook.objects.note import Note
from jupyter_mcp.notebook.verbs.base import Invocation, Verb

_RANKS = ("cost", "speed", "intelligence")


def model(call: Invocation) -> Any:
    from jupyter_mcp.notebook import modelling
    from jupyter_mcp.notebook.objects.models import Models, book

    if call.line.last("embeddings") is not None:
        return _embeddings(call)
    if not call.line.words:
        if call.line.options:
            raise call.wrong("Which model?")
        return Models()
    [word] = call.line.words
    if call.line.flag("remove"):
        if len(call.line.options) > 1:
            raise call.wrong("--remove stands alone.")
        Models().remove(call.text(word))
        return Note(_after(book().default))
    made = modelling.model(
        call.value(word),
        url=call.option("url"),
        key=_key(call),
        ranks=_ranks(call),
        timeout=call.number("timeout"),
        default=not call.line.flag("keep"),
        limit=_limit(call),
    )
    assert made is not None
    if made is not book().default:
        return Note(f"{made.name} is configured; {_after(book().default)}")
    return Note(f"{_after(made)}{_warning(made)}")


def _embeddings(call: Invocation) -> Note:
    """Name the embedding model, and say what will go where."""
    from jupyter_mcp.notebook import modelling
    from jupyter_mcp.notebook.objects.models import book

    others = set(call.line.options) - {"embeddings", "url", "key", "timeout"}
    if call.line.words or others:
        raise call.wrong("--embeddings stands on a line of its own, with --url, --key and --timeout at most.")
    wanted = call.option("embeddings")
    modelling.model(embeddings=wanted, url=call.option("url"), key=_key(call), timeout=call.number("timeout"))
    memory = book().vectors
    if memory is None:
        return Note("Resources are ranked by their words alone; nothing is sent anywhere for it.")
    made = memory.embedder
    where = f"stay on {made.place}" if made.place == "this machine" else f"are sent to {made.place}"
    return Note(
        f"{made.name} ranks resources for --auto-context from now on: their names, descriptions and texts, and the"
        f" question, {where} when you use it.{_warning(made)}"
    )


def _limit(call: Invocation) -> dict[str, float] | None:
    """What it may give, in the words of `mcp.model(limit=)`."""
    found: dict[str, float] = {}
    for option, name in (("calls", "calls"), ("tokens", "tokens"), ("spend", "cost"), ("per-minute", "per_minute")):
        number = call.number(option)
        if number is not None:
            found[name] = number if option == "spend" else int(number)
    return found or None


def _after(default: Any) -> str:
    return "No model is configured any more." if default is None else f"{default.name} answers from now on."


def _warning(made: Any) -> str:
    return " It is a demonstration, and often wrong." if getattr(made, "demo", False) else ""


def _key(call: Invocation) -> str | None:
    """A key is a variable: what is typed here is saved with the notebook."""
    typed = call.line.last("key")
    if typed is not None and not typed.startswith(("$", "{")):
        raise call.wrong(
            "A key that is written into a cell is saved with the notebook.",
            hint="Name the variable that holds it: --key ${MY_KEY} (environment) or --key $my_key (notebook).",
        )
    return call.option("key")


def _ranks(call: Invocation) -> dict[str, float] | None:
    found: dict[str, float] = {}
    for name in _RANKS:
        text = call.option(name)
        if text is None:
            continue
        try:
            found[name] = float(text)
        except ValueError:
            raise call.wrong(f"--{name} is a number from 0 to 1, not {text!r}.") from None
    return found or None


def models(call: Invocation) -> Any:
    del call
    from jupyter_mcp.notebook.objects.models import Models

    return Models()


VERBS = (
    Verb(
        "model",
        "decisions",
        "model [NAME] [--url URL] [--key ${VAR}] [--cost N] [--speed N] [--intelligence N] [--timeout S] [--keep]"
        " [--calls N] [--tokens N] [--spend USD] [--per-minute N] [--embeddings NAME]",
        "Choose the model that answers servers' requests and %%mcp ask.",
        model,
        Grammar(
            options=(
                Option("url", "URL", "the address of an API like the provider's; its own key is not sent there"),
                Option("key", "${VAR}", "the environment variable that holds the key"),
                Option("cost", "N", "how cheap it is beside the others, 0 to 1 (1 is the cheapest)"),
                Option("speed", "N", "how fast, 0 to 1"),
                Option("intelligence", "N", "how capable, 0 to 1"),
                Option("timeout", "S", "seconds that the provider may be silent (300)"),
                Option("calls", "N", "how many answers it may give in this kernel"),
                Option("tokens", "N", "how many tokens, questions and answers together"),
                Option("spend", "USD", "how much they may cost, where the price is known"),
                Option("per-minute", "N", "how many answers within a minute"),
                Option("keep", None, "the present model goes on answering; a server may prefer this one"),
                Option("remove", None, "forget this model"),
                Option("embeddings", "NAME", "alone: what ranks resources for ask --auto-context, or off"),
            ),
        ),
        most=1,
        details=(
            ("PROVIDER:MODEL", "openai, anthropic, google, ollama, openrouter … (%mcp models lists them)"),
            ("local, local:FILE.gguf", "a small model on this machine, for demonstrations; or a file of your own"),
            ("human", "you write or edit the answers"),
            ("python:FUNCTION", "a function of this notebook: it gets the request and returns text"),
        ),
        examples=(
            "%mcp model openai:gpt-5-mini",
            "%mcp model ollama:llama3.2 --cost 1 --keep",
            "%mcp model openai:qwen3 --url http://localhost:8000/v1",
            "%mcp model python:my_function",
            "%mcp model --embeddings ollama:nomic-embed-text",
        ),
        completes=("model",),
        python=("model", "host.model"),
    ),
    Verb(
        "models",
        "decisions",
        "models",
        "The models that are configured, and those that could be.",
        models,
        examples=("%mcp models",),
        python=("host.models",),
    ),
)
