"""Scripted answers to servers' questions (`mcp.answer`, `%mcp answer`): which rule answers which question.

A rule is an answer and what it is for: a server, words in the question, a number of times. The most specific rule wins,
among equals the latest. Whether an answer fits the question's form is decided by `validation`, for scripts and for
persons alike.

Approvals are not answered here unless a rule says `kind="approval"` (`kind="server"` for the start of a server): a
script for a form must never approve an act. Such a rule may change the arguments, say for how long a yes holds, and
give a no its reason.
"""

from __future__ import annotations

import inspect
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.questions import OURSELVES, Answer, Question, QuestionKind

__all__ = ["AnswerBook", "Scripted", "ScriptedAnswer", "properties"]

ScriptedAnswer = Mapping[str, Any] | str | Callable[[Question], Any]
Scope = Literal["", "once", "session", "notebook", "project", "user"]
_SCOPES: tuple[Scope, ...] = ("", "once", "session", "notebook", "project", "user")
_ACTIONS = ("accept", "decline", "cancel")
_USAGE = 'mcp.answer({"field": value}) | mcp.answer("accept" | "decline" | "cancel") | mcp.answer(function)'
_FOR_ACTS = (
    'mcp.answer("accept", kind="approval", scope="session") | mcp.answer({"arguments": {…}}, kind="approval")'
    ' | mcp.answer("decline", kind="approval", reason="…")'
)


@dataclass(eq=False)
class _Rule:
    answer: ScriptedAnswer
    server: str | None
    match: re.Pattern[str] | None
    kind: QuestionKind | None
    left: int | None
    number: int
    scope: Scope = ""
    reason: str | None = None

    @property
    def rank(self) -> tuple[int, int]:
        return sum(part is not None for part in (self.match, self.server, self.kind)), self.number

    def speaks_of(self, question: Question) -> bool:
        if question.server == OURSELVES and self.server != OURSELVES:
            return False  # a script for servers' forms decides nothing that the notebook asks
        if self.server is not None and self.server != question.server:
            return False
        if self.kind is not None and self.kind != question.kind:
            return False
        return self.match is None or any(self.match.search(text) for text in _texts(question))

    def fits(self, question: Question) -> bool:
        """Whether an answer of this form can be meant for a question of this kind."""
        if question.kind in ("approval", "server", "inputs", "login") and self.kind != question.kind:
            return False
        if question.kind in ("approval", "server"):
            return True  # leave to act is given in so many words
        if self.answer == "accept" and question.kind == "sampling":
            return self.kind == "sampling"  # a yes to forms is none to asking a model
        if isinstance(self.answer, str):
            return self.answer in _ACTIONS or question.kind == "sampling"
        values = _values(self.answer)
        if values is None:
            return True
        if question.kind == "sampling":
            return "text" in values or "content" in values
        if question.kind == "url":
            return False
        if question.kind == "login":
            return "redirect" in values or "token" in values
        # Values for another form must not end this one: without a `match`, at least one field has to be common.
        return self.match is not None or not values or any(key in properties(question) for key in values)


@dataclass(frozen=True)
class Scripted:
    """An answer found in the book, not yet checked against the form."""

    answer: Answer
    rule: str


class AnswerBook:
    """The scripted answers of one kernel. Rules may be added from any thread."""

    def __init__(self) -> None:
        self._rules: list[_Rule] = []
        self._lock = threading.Lock()
        self._count = 0

    def add(
        self,
        answer: ScriptedAnswer,
        *,
        server: str | None = None,
        match: str | re.Pattern[str] | None = None,
        times: int | None = None,
        kind: QuestionKind | None = None,
        scope: Scope = "",
        reason: str | None = None,
    ) -> None:
        """Answer questions by script from now on.

        Args:
            answer: values of a form (a mapping; for sampling {"text": …}, for an approval {"arguments": {…}}, which
                takes the place of what was to be sent); "accept" (with the form's defaults),
                "decline" or "cancel"; the text of a sampling (a string, with `kind="sampling"`); or a function of the
                `Question` that returns one of these, an awaitable of one, or None when the question is not for it. Of a
                login (`kind="login"`) such a function visits `question.url` and returns the address it came back to.
            server: only questions of this server.
            match: only questions whose message, field names or titles hold this text or regular expression, in
                upper or lower case.
            times: how often at most.
            kind: only questions of this kind. Leave to act ("approval"), to start a server ("server") and a login
                ("login") are given only where they are named.
            scope: of these two, how long a yes holds: "once", "session", "notebook", "project" or "user".
            reason: of a no; kept in the journal, and told to whoever began an act that was not approved.

        Raises:
            UsageError: an answer that can never be one.
        """
        if isinstance(answer, str) and answer not in _ACTIONS and kind != "sampling":
            raise UsageError(f"{answer!r} is no answer.", usage=_USAGE)
        if not (isinstance(answer, Mapping | str) or callable(answer)):
            raise UsageError(f"A {type(answer).__name__} is no answer.", usage=_USAGE)
        if times is not None and times < 1:
            raise UsageError(f"times is 1 or more, not {times}.", usage=_USAGE)
        given = cast("ScriptedAnswer", answer)
        if problem := _odd(given, kind, scope, reason):
            raise UsageError(problem, usage=_FOR_ACTS)
        with self._lock:
            self._count += 1
            rule = _Rule(given, server, _pattern(match), kind, times, self._count, scope, reason)
            self._rules.append(rule)

    def clear(self) -> None:
        """Forget every rule."""
        with self._lock:
            self._rules.clear()

    def __len__(self) -> int:
        return len(self._rules)

    def describe(self) -> list[str]:
        """One line for each rule, oldest first, without the values."""
        with self._lock:
            return [_describe(rule) for rule in self._rules]

    async def take(self, question: Question) -> Scripted | None:
        """The answer of the best rule for this question, or None; the rule is used up by one.

        Raises:
            UsageError: a rule's function failed or returned something that is no answer.
        """
        with self._lock:
            rules = sorted(self._rules, key=lambda rule: rule.rank, reverse=True)
        for rule in rules:
            if rule.speaks_of(question) and rule.fits(question) and self._use(rule):
                answer = await _evaluate(rule.answer, question)
                if answer is not None:
                    return Scripted(_with(answer, rule), _describe(rule))
                self._give_back(rule)
        return None

    def may_answer(self, kind: QuestionKind, server: str) -> bool:
        """Whether a rule could answer some question of this kind of a server."""
        with self._lock:
            rules = list(self._rules)
        asked = Question("", kind, server, "", {})
        return any(replace(rule, match=None).speaks_of(asked) and rule.fits(asked) for rule in rules)

    def misses(self, question: Question) -> bool:
        """Whether there are values for forms that could be meant for this question, and none for its fields."""
        if question.kind != "elicitation":
            return False
        with self._lock:
            return any(rule.speaks_of(question) and not rule.fits(question) for rule in self._rules)

    def _use(self, rule: _Rule) -> bool:
        """Take one use of a rule; False when another question took the last one meanwhile."""
        with self._lock:
            if rule not in self._rules:
                return False
            if rule.left is not None:
                rule.left -= 1
                if rule.left == 0:
                    self._rules.remove(rule)
            return True

    def _give_back(self, rule: _Rule) -> None:
        with self._lock:
            if rule.left is not None:
                rule.left += 1
                if rule not in self._rules:
                    self._rules.append(rule)


def _odd(answer: object, kind: QuestionKind | None, scope: str, reason: str | None) -> str:
    """What is wrong with an answer to an approval, or with a scope or reason for something else."""
    if scope not in _SCOPES:
        return f"A yes holds for {', '.join(one for one in _SCOPES if one)}, not {scope!r}."
    acts = kind in ("approval", "server")
    if scope and (not acts or answer in ("decline", "cancel")):
        return 'A scope is for a yes to an act: kind="approval" or kind="server".'
    if reason is not None and answer != "decline" and not callable(answer):
        return 'A reason is for an answer of "decline".'
    values = _values(answer)
    if values is None or not acts:
        return ""
    if kind == "server":
        return "What is started cannot be changed here."
    if set(values) != {"arguments"} or not isinstance(values["arguments"], Mapping):
        return 'Changed arguments are given whole: {"arguments": {…}}.'
    return ""


def _with(answer: Answer, rule: _Rule) -> Answer:
    """With what the rule says besides. Whatever a function returned, no person answered."""
    answer = replace(answer, by="script") if answer.by == "person" else answer
    if answer.action == "accept" and rule.scope and not answer.scope:
        return replace(answer, scope=rule.scope)
    if answer.action == "decline" and rule.reason and not answer.remark:
        return replace(answer, remark=rule.reason)
    return answer


def properties(question: Question) -> dict[str, Any]:
    """The fields a question's form has; empty when it has none (or is none)."""
    schema = question.params.get("requestedSchema")
    found: Any = cast("Mapping[str, Any]", schema).get("properties") if isinstance(schema, Mapping) else None
    return dict(cast("Mapping[str, Any]", found)) if isinstance(found, Mapping) else {}


async def _evaluate(answer: Any, question: Question) -> Answer | None:
    if callable(answer):
        answer = await _called(answer, question)
    if answer is None or isinstance(answer, Answer):
        return answer
    if isinstance(answer, Mapping):
        return Answer("accept", dict(cast("Mapping[str, Any]", answer)), by="script")
    if isinstance(answer, str) and answer in _ACTIONS:
        return Answer(answer, {} if answer == "accept" and question.kind == "elicitation" else None, by="script")
    if isinstance(answer, str) and question.kind == "sampling":
        return Answer("accept", {"text": answer}, by="script")
    if isinstance(answer, str) and question.kind == "login":
        return Answer("accept", {"redirect": answer}, by="script")
    raise UsageError(
        f"The scripted answer to {question.server} returned {answer!r:.60}, which is no answer.", usage=_USAGE
    )


async def _called(function: Callable[[Question], Any], question: Question) -> Any:
    """The function may take its time, so it does not run on the loop that keeps the connections alive."""
    from anyio import to_thread

    try:
        value = await to_thread.run_sync(function, question, abandon_on_cancel=True)
        return await value if inspect.isawaitable(value) else value
    except UsageError:
        raise
    except Exception as reason:
        raise UsageError(
            f"The scripted answer to {question.server} failed with {type(reason).__name__}: {reason}"
        ) from reason


def _values(answer: Any) -> Mapping[str, Any] | None:
    return cast("Mapping[str, Any]", answer) if isinstance(answer, Mapping) else None


def _texts(question: Question) -> list[str]:
    texts = [question.message]
    for name, field in properties(question).items():
        texts.append(name)
        title = cast("Mapping[str, Any]", field).get("title") if isinstance(field, Mapping) else None
        if isinstance(title, str):
            texts.append(title)
    return texts


def _pattern(match: str | re.Pattern[str] | None) -> re.Pattern[str] | None:
    if match is None or isinstance(match, re.Pattern):
        return match
    try:
        return re.compile(match, re.IGNORECASE)
    except re.error:
        return re.compile(re.escape(match), re.IGNORECASE)


def _describe(rule: _Rule) -> str:
    if isinstance(rule.answer, str):
        what = rule.answer if rule.answer in _ACTIONS else "a text"
    elif (values := _values(rule.answer)) is not None:
        what = "values for " + (", ".join(map(str, values)) or "no field")
    else:
        what = f"function {getattr(rule.answer, '__name__', type(rule.answer).__name__)}"
    parts = [what]
    parts += [f"server={rule.server}"] if rule.server else []
    parts += [f"match={rule.match.pattern}"] if rule.match else []
    parts += [f"kind={rule.kind}"] if rule.kind else []
    parts += [f"scope={rule.scope}"] if rule.scope else []
    parts += [f"times={rule.left}"] if rule.left else []
    return ", ".join(parts)
