"""answer: what is answered in advance (rules: see `rules`, folders: `roots`)."""

from __future__ import annotations

from typing import Any

from jupyter_mcp.host import arguments
from jupyter_mcp.notebook.lineparse import Grammar, Option
from jupyter_mcp.notebook.objects.note import Note
from jupyter_mcp.notebook.verbs.base import Invocation, Verb

_ACTIONS = ("accept", "decline", "cancel")


def answer(call: Invocation) -> Any:
    from jupyter_mcp.notebook import api

    if _cleared(call):
        return Note("No scripted answers any more.")
    given = _answer(call)
    if given is None:
        if call.line.options:
            raise call.wrong("the answer is missing.")
        return api.answers_table()
    times = call.number("times")
    if times is not None and times != int(times):
        raise call.wrong(f"--times is a whole number, not {times:g}.")
    kind: Any = call.option("kind")
    scope: Any = call.option("scope") or ""
    api.answer(
        given,
        server=call.option("server"),
        match=call.option("match"),
        times=None if times is None else int(times),
        kind=kind,
        scope=scope,
        reason=call.option("reason"),
    )
    return Note("The next questions are answered by script.")


def _cleared(call: Invocation) -> bool:
    from jupyter_mcp.notebook import api

    words = call.line.words
    if not (len(words) == 1 and words[0].text == "clear" and words[0].bare):
        return False
    if call.line.options or call.line.pairs or call.body is not None:
        raise call.wrong("clear stands alone: it forgets every scripted answer.")
    api.host.answers.clear()
    return True


def _answer(call: Invocation) -> Any:
    """The answer of the line or the body; None when there is none."""
    line = call.line
    given: list[Any] = [call.value(word) for word in line.words]
    if line.body is not None:
        given.append(line.body)
    if line.pairs:
        given.append(arguments.coerce({}, call.pairs()))
    if call.body is not None:
        given.append(arguments.body(call.body, {}, call.names.read))
    if len(given) > 1:
        raise call.wrong("An answer is one thing: values, accept, decline, cancel, or $function.")
    return given[0] if given else None


VERBS = (
    Verb(
        "answer",
        "decisions",
        "answer [key=value… | JSON | accept | decline | cancel | $function | clear] "
        "[--server S] [--match TEXT] [--times N] [--kind KIND] [--scope SCOPE] [--reason TEXT]",
        "Answer servers' questions by script from now on; alone, it lists the scripted answers.",
        answer,
        Grammar(
            options=(
                Option("server", "S", "only questions of this server"),
                Option("match", "TEXT", "only questions with this text in message or field names"),
                Option("times", "N", "how often at most"),
                Option(
                    "kind",
                    "KIND",
                    "elicitation, url, sampling, approval, server or inputs",
                    choices=("elicitation", "url", "sampling", "approval", "server", "inputs", "login"),
                ),
                Option(
                    "scope",
                    "SCOPE",
                    "how long a yes to an act holds (with --kind approval or server)",
                    choices=("once", "session", "notebook", "project", "user"),
                ),
                Option("reason", "TEXT", "of decline, for whoever began the act"),
            ),
            pairs=True,
            json=True,
        ),
        most=1,
        body="the values: a JSON object, a Python dict, or `key: value` lines",
        details=(("clear", "forget every scripted answer"),),
        examples=(
            '%mcp answer {"city": "Paris"}',
            "%mcp answer decline --server demo --times 1",
            "%mcp answer accept --kind approval --scope session",
            "%mcp answer clear",
        ),
        completes=("answer",),
        python=("answer",),
    ),
)
