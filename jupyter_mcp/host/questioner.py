"""Servers' questions: who answers, in which order, and what goes back.

    a rule denies it  ->  a scripted answer  ->  the person (through a `QuestionUI`)  ->  nobody: cancelled at once

For sampling a model may stand between the person's consent and their look at its answer: that way is `sampling`'s.
Whatever answers, the answer is checked against what was asked before it is sent; a person is asked again with what was
wrong, a wrong script ends the call with one clear line. Nothing is rendered here.
Elicitation can be declined on the wire; sampling cannot, so its refusal is `InputRefused`. What comes after the consent
to open a page is `visits`.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import InputRefused, ModelError, RequestError, UsageError
from jupyter_mcp.host import sharing
from jupyter_mcp.host.events import QuestionClosed, QuestionOpened
from jupyter_mcp.host.policy import Deed
from jupyter_mcp.host.questions import OURSELVES, Answer, Question, QuestionKind, QuestionUI
from jupyter_mcp.host.reasons import why
from jupyter_mcp.host.sampling.advertised import Advertised
from jupyter_mcp.host.unanswered import how_to_script, quoted, refusal
from jupyter_mcp.host.visits import Visits
from jupyter_mcp.protocol.revisions import LATEST_MODERN
from jupyter_mcp.protocol.secrets import secret_question

if TYPE_CHECKING:
    from collections.abc import Awaitable, Coroutine, Generator, Sequence
    from contextlib import AbstractContextManager
    from types import ModuleType

    from jupyter_mcp.host.acts import Running
    from jupyter_mcp.host.answers import AnswerBook
    from jupyter_mcp.host.journal import Journal
    from jupyter_mcp.host.policy import Decision, Policy, Scope
    from jupyter_mcp.host.sampling.flow import Sampling, Turn
    from jupyter_mcp.host.sampling.limits import Limits
    from jupyter_mcp.models.book import ModelBook

__all__ = ["Fits", "Questioner", "how_to_script"]

Fits = Callable[[Answer], Mapping[str, str]]

_INVALID_PARAMS = -32602
_METHOD_NOT_FOUND = -32601
_ATTEMPTS = 50  # a UI that returns the same wrong answer for ever is not a person


class Questioner:
    """Answers what servers ask, for all connections of one host."""

    def __init__(self, policy: Policy, answers: AnswerBook, journal: Journal) -> None:
        self.policy = policy
        self.answers = answers
        self.journal = journal
        self.ui: QuestionUI | None = None
        self.note: Callable[[str, str], None] = lambda server, text: None
        self.models: Callable[[], ModelBook | None] = lambda: None
        self.visits = Visits(self)
        self._ids = itertools.count(1)

    @cached_property
    def advertised(self) -> Advertised:
        """What servers are told of sampling."""
        return Advertised(self.policy, self.answers, lambda: self.models(), lambda: self.ui)

    @cached_property
    def limits(self) -> Limits:
        """What is answered without asking."""
        from jupyter_mcp.host.sampling.limits import Limits

        return Limits()

    @cached_property
    def sampling(self) -> Sampling:
        """The way of a request for sampling; loaded with the first one."""
        from jupyter_mcp.host.sampling.flow import Sampling

        return Sampling(self, self.limits)

    async def answer(
        self,
        server: str,
        revision: str,
        method: str,
        params: Mapping[str, Any],
        *,
        act: Running | None,
        roots: Sequence[Mapping[str, Any]],
        by_hand: bool = True,
        again: bool = False,
        paused: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> dict[str, Any]:
        """The bare result for a server's request.

        Args:
            server, revision: of the connection it came over.
            method, params: what it asks, untrusted.
            act: the act during which it came, if that is known.
            roots: what `roots/list` answers.
            by_hand: the person connected this server, no file did.
            again: the answer makes the request of the act go out once more (else the server holds it still).
            paused: lets the clocks of our requests stand still.

        Raises:
            InputRefused: sampling or roots refused, or the act ended meanwhile.
            ModelError: no model could answer.
            RequestError: a request that makes no sense, with the code to answer.
            UsageError: a scripted answer does not fit.
        """
        if method == "roots/list":
            return await sharing.share_roots(self, server, act, roots, by_hand)
        try:
            question = self._question(server, method, params, act)
        except RequestError as error:
            self._unfit(server, method, error, act)
            raise

        if question.kind == "sampling":
            with self._turn(question, act) as turn:
                decide = partial(self.sampling.decide, question, revision, act, turn)
                return await self._put(question, method, act, decide, turn.decision)
        decision = self.policy_on(server, method, question.params)

        async def ask() -> Answer:
            answer = await self._decide(question, decision, revision, act)
            visiting = question.kind == "url" and answer.action == "accept" and answer.by == "person"
            return await self.visits.after_consent(question, answer, act, again, paused) if visiting else answer

        return await self._put(question, method, act, ask, decision)

    @contextmanager
    def _turn(self, question: Question, act: Running | None) -> Generator[Turn]:
        """What is too much is not even recorded, but whoever waits for the act is told. Raises `InputRefused`."""
        with ExitStack() as stack:
            try:
                turn = stack.enter_context(self.sampling.turn(question))
            except InputRefused as error:
                if act is not None:
                    act.note(str(error))
                raise
            yield turn

    async def _put(
        self,
        question: Question,
        method: str,
        act: Running | None,
        ask: Callable[[], Awaitable[Answer]],
        decision: Decision,
    ) -> dict[str, Any]:
        """Have it answered and recorded; the bare result."""
        server, rule = question.server, None if decision.rule is None else str(decision.rule)
        number = self.journal.begin(server, method, question.message[:200], "server", rule=rule)
        outcome, remark, sent, reason = "error", None, None, decision.reason
        try:
            answer = await (act.hang(ask) if act is not None else ask())
            outcome, remark = answer.action, answer.remark or (None if answer.by == "person" else f"by {answer.by}")
            sent, reason = answer.content, why(decision, answer)
        except (InputRefused, UsageError) as error:
            outcome, remark = ("refused" if isinstance(error, InputRefused) else "error"), str(error)
            raise
        except ModelError as error:
            remark = str(error)
            if act is not None:
                act.note(remark)
            self.note(server, remark)
            raise
        except BaseException:
            outcome = "cancelled"
            raise
        finally:
            self.journal.end(number, outcome, remark=remark, arguments=sent, reason=reason)
        return _result(question, answer)

    def _unfit(self, server: str, method: str, error: RequestError, act: Running | None) -> None:
        """A question that is not put to anybody: the person is told why, and that it was tried."""
        if error.code != _INVALID_PARAMS:
            return
        number = self.journal.begin(server, method, error.message[:200], "server")
        self.journal.end(number, "refused", remark=error.message)
        if act is not None:
            act.note(error.message)
        self.note(server, error.message)

    # --- deciding ----------------------------------------------------------------------------------------------------

    async def _decide(self, question: Question, decision: Decision, revision: str, act: Running | None) -> Answer:
        if decision.verdict == "deny":
            return self.closed(question, Answer("decline", by="policy", remark=decision.reason), act)
        scripted = await self.answers.take(question)
        if scripted is not None:
            return self.scripted(question, scripted.answer, act, revision)
        return await self.ask(question, act, revision)

    def policy_on(self, server: str, method: str, params: Mapping[str, Any]) -> Decision:
        """What the policy says to something that a server wants."""
        return self.policy.decide(Deed(server, method, method, params, "server"))

    def remember(self, server: str, method: str, scope: Scope) -> None:
        """Keep a person's yes to what a server wants. Raises as `Policy.remember`."""
        self.policy.remember(Deed(server, method, method, origin="server"), scope)

    def closed(self, question: Question, answer: Answer, act: Running | None) -> Answer:
        """A question that was answered without being put: it is shown and noted all the same."""
        return self._closed(question, answer, act, opened=False)

    def scripted(self, question: Question, answer: Answer, act: Running | None, revision: str) -> Answer:
        """A script's answer as it is sent. Raises `UsageError` when it does not fit."""
        return self.closed(question, self._checked_script(question, answer, revision), act)

    def must_fit(self, question: Question, problems: Mapping[str, str]) -> None:
        """Raise `UsageError` when a script's answer has problems."""
        _say_unfit(question, problems)

    async def ask(
        self, question: Question, act: Running | None, revision: str = "", fits: Fits | None = None
    ) -> Answer:
        """Put a question to the person until the answer fits or is a no; a nobody answers `cancel` with a note.

        Args:
            question: what is asked.
            act: the act it belongs to.
            revision: spoken by the server, where the answer is sent to it.
            fits: says what is wrong with an answer of a kind that is not sent (field -> sentence).
        """
        if self.ui is None:
            answer = Answer("cancel", by="headless", note=how_to_script(question, self.answers.misses(question)))
            return self._closed(question, answer, act, opened=False)
        if act is not None:
            act.emit(QuestionOpened(question))
        answer: Answer | None = None
        try:
            for _ in range(_ATTEMPTS):
                answer = await _in_context(act, self.ui.ask(question))
                answer, problems = _check(question, answer, revision) if fits is None else (answer, fits(answer))
                if not problems:
                    return self._closed(question, answer, act)
                question, answer = replace(question, problems=problems, draft=answer.content), None
            return self._closed(question, Answer("cancel", remark="no answer fitted"), act)
        except BaseException:
            if act is not None and answer is None:
                act.emit(QuestionClosed(question, None))
            raise

    def _closed(self, question: Question, answer: Answer, act: Running | None, *, opened: bool = True) -> Answer:
        if answer.by == "headless" and not answer.note:
            answer = replace(answer, note=how_to_script(question, self.answers.misses(question)))
        if act is not None:
            if not opened:
                act.emit(QuestionOpened(question))
            act.emit(QuestionClosed(question, answer))
            if answer.note:
                act.note(answer.note)
        if answer.note:
            self.note(question.server, answer.note)
        return answer

    def _checked_script(self, question: Question, answer: Answer, revision: str) -> Answer:
        checked, problems = _check(question, answer, revision, scripted=True)
        _say_unfit(question, problems)
        return checked

    async def approve(self, question: Question, act: Running | None, fits: Fits) -> Answer:
        """Ask whether an act may begin: a script made for approvals, else the person, else nobody.

        Raises:
            UsageError: a scripted answer does not fit.
        """
        scripted = await self.answers.take(question)
        if scripted is not None:
            _say_unfit(question, fits(scripted.answer) or _scope_problem(question, scripted.answer))
            return self._closed(question, scripted.answer, act, opened=False)
        return await self.ask(question, act, fits=fits)

    async def form(self, message: str, schema: Mapping[str, Any]) -> Answer:
        """Ask the person something of our own by a form: a script that names this notebook, else the person.

        Args:
            message: what it is about.
            schema: the form, as of an elicitation.

        Raises:
            UsageError: a scripted answer does not fit.
        """
        params = {"message": message, "requestedSchema": dict(schema)}
        question = Question(self.new_id(), "elicitation", OURSELVES, message, params)
        scripted = await self.answers.take(question)
        if scripted is not None:
            return self._closed(
                question, self._checked_script(question, scripted.answer, LATEST_MODERN), None, opened=False
            )
        return await self.ask(question, None, LATEST_MODERN)

    def reaches(self, kind: QuestionKind, server: str) -> bool:
        """Whether a question could be answered: by a script, or by somebody who is there, as far as that is known."""
        if self.answers.may_answer(kind, server):
            return True
        reachable = getattr(self.ui, "reachable", None)
        return self.ui is not None and (reachable is None or bool(reachable()))

    async def login(self, question: Question, act: Running | None, fits: Fits) -> Answer:
        """Ask the person to visit a login page: a script made for logins, else the person, else nobody.

        Raises:
            UsageError: a scripted answer does not fit.
        """
        return await self.approve(question, act, fits)

    async def inputs(self, question: Question) -> Answer:
        """Ask the person for values that a server's configuration needs: a script made for inputs, else the person.

        Raises:
            UsageError: a scripted answer does not fit.
        """
        scripted = await self.answers.take(question)
        if scripted is None:
            return await self.ask(question, None, LATEST_MODERN)
        return self.scripted(question, scripted.answer, None, LATEST_MODERN)

    # --- questions ---------------------------------------------------------------------------------------------------

    def new_id(self) -> str:
        """An id for a question, unique in this kernel."""
        return f"question-{next(self._ids)}"

    def _question(self, server: str, method: str, params: Mapping[str, Any], act: Running | None) -> Question:
        kind, message, warning = _kind(server, method, params)
        cause = act.cause if act is not None else None
        return Question(self.new_id(), kind, server, message, dict(params), cause=cause, warning=warning)


def _say_unfit(question: Question, problems: Mapping[str, str]) -> None:
    """Raises `UsageError` when a script's answer has problems."""
    if problems:
        said = "; ".join(f"{name}: {text}" for name, text in problems.items())
        asked = f"the question of {question.server} ({quoted(question.message)})"
        raise UsageError(f"The scripted answer does not fit {asked}: {said}", server=question.server)


def _scope_problem(question: Question, answer: Answer) -> Mapping[str, str]:
    """A script that wants a yes to hold for longer than it can is told so; once it does in any case."""
    offered = [str(one) for one in question.params.get("scopes") or ()]
    if answer.scope in ("", "once", "client", "never") or answer.scope in offered:
        return {}
    return {"scope": f"A yes to this holds for {' or '.join(offered) or 'once'}, not for {answer.scope!r}."}


async def _in_context(act: Running | None, asking: Coroutine[Any, Any, Answer]) -> Answer:
    """Ask in the context of whoever began the act: a legacy server's question arrives in that of its connection."""
    if act is None:
        return await asking
    return await asyncio.get_running_loop().create_task(asking, context=act.context)


def _validation() -> ModuleType:
    """It brings the forms, which a kernel whose servers ask nothing does not need."""
    from jupyter_mcp.host import validation

    return validation


def _kind(server: str, method: str, params: Mapping[str, Any]) -> tuple[QuestionKind, str, str | None]:
    message = params.get("message")
    message = message if isinstance(message, str) else ""
    if method == "sampling/createMessage":
        _well_formed(server, params)
        return "sampling", message or "a model's answer", None
    if method != "elicitation/create":
        raise RequestError(f"Unknown method {method}", code=_METHOD_NOT_FOUND, server=server)
    mode = params.get("mode") or "form"
    if mode == "form":
        return "elicitation", message, secret_question(_validation().as_form(params.get("requestedSchema")), message)
    if mode != "url":
        raise RequestError(f"Unknown elicitation mode {mode!r:.40}", code=_INVALID_PARAMS, server=server)
    from jupyter_mcp.host import urls

    address = urls.read(params.get("url"))
    if address.refusal is not None:
        text = f"{server} wants a page opened, which is refused. {address.refusal}"
        raise RequestError(text, code=_INVALID_PARAMS, server=server)
    return "url", message, " ".join(address.warnings) or None


def _well_formed(server: str, params: Mapping[str, Any]) -> None:
    """Raises `RequestError` for what nobody is shown and no model is sent."""
    from jupyter_mcp.host.sampling import request

    if wrong := request.problems(params):
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        text = f"{server} asked for sampling by a request that is not well formed. {wrong[0]}{more}"
        raise RequestError(text, code=_INVALID_PARAMS, server=server)


def _check(
    question: Question, answer: Answer, revision: str, *, scripted: bool = False
) -> tuple[Answer, Mapping[str, str]]:
    """The answer as it may be sent, and what is wrong with it."""
    if answer.action != "accept":
        return answer, {}
    content = answer.content or {}
    validation = _validation()
    if question.kind in ("elicitation", "inputs"):
        schema = question.params.get("requestedSchema")
        checked = validation.elicitation(schema, content, revision, fill_defaults=scripted)
    elif question.kind == "sampling":
        checked = validation.sampling(question.params, content, revision)
    else:
        return replace(answer, content=None), {}
    return replace(answer, content=checked.value), checked.problems


def _result(question: Question, answer: Answer) -> dict[str, Any]:
    """What is sent back. Raises `InputRefused` where a no cannot be sent."""
    if question.kind == "sampling":
        if answer.action == "accept":
            return dict(answer.content or {})
        raise InputRefused(refusal(question, answer), server=question.server)
    if answer.action == "accept" and question.kind == "elicitation":
        return {"action": "accept", "content": dict(answer.content or {})}
    return {"action": answer.action}
