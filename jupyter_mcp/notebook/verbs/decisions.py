"""answer, allow, deny, ask_first, policy, roots: what is decided in advance."""

from __future__ import annotations

from typing import Any

from jupyter_mcp.host import arguments
from jupyter_mcp.notebook.lineparse import Grammar, Option
from jupyter_mcp.notebook.objects.note import Note
from jupyter_mcp.notebook.verbs.base import Invocation, Verb

_ACTIONS = ("accept", "decline", "cancel")
_EFFECTS = ("allow", "deny", "ask_first")


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
    api.answer(
        given,
        server=call.option("server"),
        match=call.option("match"),
        times=None if times is None else int(times),
        kind=kind,
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


def allow(call: Invocation) -> Any:
    return _rule(call, "allow")


def deny(call: Invocation) -> Any:
    return _rule(call, "deny")


def ask_first(call: Invocation) -> Any:
    return _rule(call, "ask_first")


def _rule(call: Invocation, effect: str) -> Any:
    from jupyter_mcp.notebook import api

    patterns = call.need(1, "PATTERN")
    for pattern in patterns:
        getattr(api, effect)(pattern)
    return Note(f"{effect} {', '.join(patterns)}")


def policy(call: Invocation) -> Any:
    from jupyter_mcp.notebook import api

    words = call.words
    if call.body is not None:
        return _policy_body(call, words)
    if not words:
        return api.policy
    if words == ["reset"]:
        api.policy.reset()
        return Note("No rules any more.")
    if words[0] == "why" and len(words) == 2:
        return api.policy.why(words[1])
    raise call.wrong(f"policy takes nothing, `why SERVER.TOOL` or `reset`, not {' '.join(words)!r}.")


def _policy_body(call: Invocation, words: list[str]) -> Any:
    """`allow PATTERN` lines; all are read before the first is applied."""
    from jupyter_mcp.notebook import api

    if words:
        raise call.wrong("%%mcp policy takes its rules from the body.")
    rules: list[tuple[str, str]] = []
    for number, text in enumerate((call.body or "").splitlines(), 1):
        parts = text.split("#")[0].replace(":", " ", 1).split()
        if not parts:
            continue
        if len(parts) < 2 or parts[0] not in _EFFECTS:
            raise call.wrong(f"line {number} of the body is not `allow|deny|ask_first PATTERN`: {text.strip()}")
        rules += [(parts[0], pattern) for pattern in parts[1:]]
    for effect, pattern in rules:
        getattr(api, effect)(pattern)
    return api.policy


def roots(call: Invocation) -> Any:
    from jupyter_mcp.notebook import api

    folders = [call.value(word) for word in call.line.words]
    if call.body is not None:
        folders += [
            line.strip() for line in call.body.splitlines() if line.strip() and not line.lstrip().startswith("#")
        ]
    if folders == ["none"]:
        folders = []
    elif not folders:
        return api.roots_table()
    api.host.roots = folders
    return api.roots_table()


VERBS = (
    Verb(
        "answer",
        "decisions",
        "answer [key=value… | JSON | accept | decline | cancel | $function | clear] "
        "[--server S] [--match TEXT] [--times N]",
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
                    "elicitation, url, sampling or approval",
                    choices=("elicitation", "url", "sampling", "approval"),
                ),
            ),
            pairs=True,
            json=True,
        ),
        most=1,
        body="the values: a JSON object, a Python dict, or `key: value` lines",
        details=(("clear", "forget every scripted answer"),),
        examples=('%mcp answer {"city": "Paris"}', "%mcp answer decline --server demo --times 1", "%mcp answer clear"),
        completes=("answer",),
        python=("answer",),
    ),
    Verb(
        "allow",
        "decisions",
        "allow PATTERN…",
        "Do not ask before these acts, whoever begins them.",
        allow,
        most=None,
        examples=("%mcp allow demo.*",),
        completes=("pattern", "*"),
        python=("allow",),
    ),
    Verb(
        "deny",
        "decisions",
        "deny PATTERN…",
        "Refuse these acts, whoever begins them.",
        deny,
        most=None,
        examples=("%mcp deny demo.delete",),
        completes=("pattern", "*"),
        python=("deny",),
    ),
    Verb(
        "ask_first",
        "decisions",
        "ask_first PATTERN…",
        "Ask before these acts, also when you begin them.",
        ask_first,
        most=None,
        examples=("%mcp ask_first demo.book",),
        completes=("pattern", "*"),
        python=("ask_first",),
    ),
    Verb(
        "policy",
        "decisions",
        "policy [why SERVER.TOOL | reset]",
        "The rules; which one decides about an act; forget them all.",
        policy,
        most=2,
        body="one `allow|deny|ask_first PATTERN` a line",
        examples=("%mcp policy", "%mcp policy why demo.book", "%mcp policy reset"),
        completes=("policy", "tool"),
        python=("policy",),
    ),
    Verb(
        "roots",
        "decisions",
        "roots [FOLDER… | none]",
        "The folders that servers are told about (until you say: the notebook's and those in a server's command).",
        roots,
        most=None,
        body="one folder a line",
        examples=("%mcp roots", "%mcp roots data results"),
        python=("host.roots",),
    ),
)
