"""One request for sampling, from the policy to the answer that is sent. The only one here with effects.

    the policy denies           ->  refused
    a scripted answer           ->  sent; a scripted "accept" is consent to the model's answer too
    no model, or `human`        ->  the person writes the answer
    the policy asks             ->  the person consents (and may change all of it), the model writes, the person looks
    the policy lets it go       ->  the model writes and its answer is sent, as long as the server's allowance lasts

A refusal is an `Answer` that is none; failures of a model are `ModelError`s. What each era makes of both is decided
below, in `client.questions`.
"""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import InputRefused, MCPError, ProviderError
from jupyter_mcp.host.policy.rules import SCOPES
from jupyter_mcp.host.questions import OURSELVES, Answer, Question, SamplingOffer
from jupyter_mcp.host.sampling import reply as replies
from jupyter_mcp.host.sampling import request as requests
from jupyter_mcp.host.sampling.choosing import Chosen, choose
from jupyter_mcp.host.sampling.limits import USUAL
from jupyter_mcp.host.sampling.live import LiveReply
from jupyter_mcp.host.sampling.queue import Queue, Queues
from jupyter_mcp.protocol.revisions import LATEST_MODERN
from jupyter_mcp.protocol.shapes import is_list, is_mapping, mapping_of

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from jupyter_mcp.host.acts import Running
    from jupyter_mcp.host.policy import Decision
    from jupyter_mcp.host.questioner import Questioner
    from jupyter_mcp.host.sampling.limits import Hold, Limits
    from jupyter_mcp.models.base import Model, ModelReply, ModelRequest

__all__ = ["Sampling", "Turn"]

_METHOD = "sampling/createMessage"
_SETTLING = 1.0  # seconds for a card to take leave after its model failed


@dataclass(eq=False)
class Turn:
    """A request that is being dealt with.

    Attributes:
        queue: of its server.
        decision: of the policy.
        used_up: why the person is asked although a rule lets it go, or None.
        hold: what it uses of the server's allowance, when nobody is asked.
    """

    queue: Queue
    decision: Decision
    used_up: str | None = None
    hold: Hold | None = None


@dataclass(frozen=True)
class _Job:
    """What a model is asked, and for whom."""

    question: Question
    params: Mapping[str, Any]
    model: Model
    revision: str
    most_tokens: int | None = None


class Sampling:
    """Answers requests for sampling, for all connections of one host; on the runtime loop only.

    Args:
        questioner: asks the person, and knows policy, scripts and models.
        limits: what is answered without asking.
    """

    def __init__(self, questioner: Questioner, limits: Limits) -> None:
        self._questioner = questioner
        self._limits = limits
        self._queues = Queues(lambda server, text: questioner.note(server, text))
        self._slowed: set[str] = set()

    @contextmanager
    def turn(self, question: Question) -> Generator[Turn]:
        """Deal with a request, unless there are too many. Raises `InputRefused`."""
        with self._queues.turn(question.server) as queue:
            turn = Turn(queue, self._questioner.policy_on(question.server, _METHOD, question.params))
            if turn.decision.verdict == "go" and self._answers_alone(question):
                self._take(turn, question)
            try:
                yield turn
            finally:
                if turn.hold is not None:
                    turn.hold.settle(None)

    def _answers_alone(self, question: Question) -> bool:
        """Whether a model may answer: where the person does, no allowance is needed."""
        book = self._questioner.models()
        return book is not None and bool(book.configured)

    def _take(self, turn: Turn, question: Question) -> None:
        """Use the server's allowance. Raises `InputRefused` when it asks too often."""
        server, meter = question.server, self._limits.server(question.server)
        turn.used_up = meter.used_up()
        if turn.used_up:
            return
        if (wait := meter.too_fast()) is not None:
            may = meter.allowance.per_minute
            text = f"{server} may have {may} answers of a model a minute; the next one in {wait:.0f} s."
            if server not in self._slowed:
                self._slowed.add(server)
                self._questioner.note(server, text)
            raise InputRefused(text, server=server)
        self._slowed.discard(server)
        asked = requests.guess_tokens([question.params.get("systemPrompt") or "", question.params.get("messages")])
        turn.hold = meter.hold(asked, int(question.params["maxTokens"]))

    async def decide(self, question: Question, revision: str, act: Running | None, turn: Turn) -> Answer:
        """What becomes of it; an accepted answer holds the result that is sent.

        Raises:
            ModelError: no model could answer it.
            UsageError: a scripted answer does not fit.
        """
        asker = self._questioner
        if turn.decision.verdict == "deny":
            return asker.closed(question, Answer("decline", by="policy", remark=turn.decision.reason), act)
        scripted = await asker.answers.take(question)
        script = scripted.answer if scripted is not None else None
        if script is not None and (script.action != "accept" or _written(script)):
            return asker.scripted(question, script, act, revision)
        chosen = self._choose(question)
        if chosen.model is None:
            if script is not None:
                return asker.scripted(question, script, act, revision)
            async with turn.queue.asking:
                return await asker.ask(question, act, revision)
        offered = self._offered(question, chosen, turn)
        if script is not None:
            edits = script.content or {}
            asker.must_fit(offered, _unfit(offered, script, revision))
            return await self._alone(offered, self._job(offered, chosen, edits, revision), turn, act, "script")
        if turn.hold is not None:
            return await self._alone(offered, self._job(offered, chosen, {}, revision), turn, act, "model")
        async with turn.queue.asking:
            return await self._with_the_person(offered, chosen, revision, act, turn)

    def _choose(self, question: Question) -> Chosen:
        request = requests.model_request(question.params)
        preferences = question.params.get("modelPreferences")
        return choose(self._questioner.models(), request, preferences, self._limits)

    def _offered(self, question: Question, chosen: Chosen, turn: Turn) -> Question:
        """The question with what the host says beside it."""
        assert chosen.model is not None
        masked, masks = requests.masked(question.params, self._questioner.journal.redactor.clean)
        usual = {"calls": USUAL.calls, "tokens": USUAL.tokens, "per_minute": USUAL.per_minute}
        decision = turn.decision
        offer = SamplingOffer(
            chosen.model.name,
            chosen.why,
            tuple(chosen.able),
            dict(chosen.unable),
            masked if masks else dict(question.params),
            masks,
            f"{decision.reason}, but {turn.used_up}" if turn.used_up else decision.reason,
            ("once", "session") if turn.used_up else decision.scopes or ("once",),
            {name: value for name, value in usual.items() if value is not None},
            _ignored(question.params),
            self._questioner.journal.redactor.clean,
        )
        return replace(question, offer=offer)

    def _job(self, question: Question, chosen: Chosen, edits: Mapping[str, Any], revision: str) -> _Job:
        """What is asked in the end: with the person's changes, and masked unless they switched that off."""
        params = requests.edited(question.params, edits)
        if edits.get("redact", True):
            params, _ = requests.masked(params, self._questioner.journal.redactor.clean)
        model = chosen.able[edits.get("model") or next(iter(chosen.able))]
        return _Job(question, params, model, revision)

    # --- without asking ----------------------------------------------------------------------------------------------

    async def _alone(self, question: Question, job: _Job, turn: Turn, act: Running | None, by: str) -> Answer:
        """The model's answer, sent as it is. Raises `ModelError`."""
        if turn.hold is not None and turn.hold.tokens is not None:
            job = replace(job, most_tokens=turn.hold.tokens)
        if act is not None:
            act.note(f"{job.model.name} answers a request of {question.server}; nobody was asked.")
        async with turn.queue.running:
            reply = await self._write(job, LiveReply(job.model.name), turn.hold)
        answer = Answer(
            "accept",
            replies.result(job.params, reply, job.revision),
            remark=f"by {job.model.name}, {turn.decision.reason}",
            by="script" if by == "script" else "model",
        )
        return self._questioner.closed(replace(question, params=job.params), answer, act)

    # --- with the person ---------------------------------------------------------------------------------------------

    async def _with_the_person(
        self, question: Question, chosen: Chosen, revision: str, act: Running | None, turn: Turn
    ) -> Answer:
        answer = await self._questioner.ask(
            question, act, revision, fits=lambda answer: _unfit(question, answer, revision)
        )
        if answer.action != "accept":
            return answer
        if _written(answer):
            return replace(answer, content=_by_hand(question, answer, revision))
        edits = dict(answer.content or {})
        self._keep(question, answer, edits, turn, act)
        return await self._reviewed(self._job(question, chosen, edits, revision), act)

    def _keep(
        self, question: Question, answer: Answer, edits: Mapping[str, Any], turn: Turn, act: Running | None
    ) -> None:
        """A yes that is to hold longer: remembered, with the allowance that goes with it."""
        offer = question.offer
        wanted = answer.scope or "once"
        if offer is None or wanted == "once" or wanted not in offer.scopes or wanted not in SCOPES:
            return
        scope = SCOPES[SCOPES.index(wanted)]
        self._limits.allow(question.server, **mapping_of(edits.get("allowance")))
        if turn.used_up:
            return  # the rule is there already
        try:
            self._questioner.remember(question.server, _METHOD, scope)
        except MCPError as error:
            text = f"The yes to sampling for {question.server} holds for this once: {error}"
            self._questioner.note(question.server, text)
            if act is not None:
                act.note(text)

    async def _reviewed(self, job: _Job, act: Running | None) -> Answer:
        """The model's answer as the person sends it; a no while it is being written ends the writing."""
        live = LiveReply(job.model.name)
        offer = job.question.offer
        shown = replace(
            job.question,
            params=job.params,
            step="review",
            live=live,
            offer=None if offer is None else replace(offer, model=job.model.name),
        )
        writing = asyncio.ensure_future(self._write(job, live, None))
        asking = asyncio.ensure_future(
            self._questioner.ask(shown, act, job.revision, fits=lambda answer: _unfit_reply(job, answer))
        )
        for task in (writing, asking):
            task.add_done_callback(_retrieved)
        try:
            await asyncio.wait((writing, asking), return_when=asyncio.FIRST_COMPLETED)
            if writing.done() and (error := writing.exception()) is not None:
                await self._take_leave(shown, asking, error)
                raise error
            answer = await asking
            if answer.action != "accept":
                return answer
            reply = await writing
        finally:
            writing.cancel()
            asking.cancel()
        changed = (answer.content or {}).get("content")
        reply = reply if changed is None else replace(reply, content=_blocks(changed))
        return replace(answer, content=replies.result(job.params, reply, job.revision))

    async def _take_leave(self, shown: Question, asking: asyncio.Future[Answer], error: BaseException) -> None:
        """The model failed: the open card says so and closes."""
        settle = getattr(self._questioner.ui, "settle", None)
        if not asking.done() and settle is not None:
            settle(shown, Answer("cancel", by="model", remark=str(error)))
            await asyncio.wait((asking,), timeout=_SETTLING)

    async def human(self, request: ModelRequest) -> list[Any]:
        """The person as the model of a conversation of ours (`ModelBook.ask`). Raises `InputRefused`."""
        params: dict[str, Any] = {"messages": [dict(message) for message in request.messages]}
        params |= {"systemPrompt": request.system} if request.system else {}
        params |= {"maxTokens": request.max_tokens} if request.max_tokens else {}
        question = Question(self._questioner.new_id(), "sampling", OURSELVES, "an answer", params)
        scripted = await self._questioner.answers.take(question)
        if scripted is not None:
            answer = self._questioner.scripted(question, scripted.answer, None, LATEST_MODERN)
        else:
            answer = await self._questioner.ask(question, None, LATEST_MODERN)
        if answer.action != "accept":
            raise InputRefused("The answer was left to you, and you gave none.", hint=answer.note)
        return _blocks((answer.content or {}).get("content"))

    # --- the model ---------------------------------------------------------------------------------------------------

    async def _write(self, job: _Job, live: LiveReply, hold: Hold | None) -> ModelReply:
        """What the model says, fit to be sent. Raises `ModelError`."""
        request = requests.model_request(job.params, job.most_tokens)
        asked = requests.guess_tokens([request.system or "", list(request.messages), list(request.tools)])
        mine = self._limits.model(job.model.name).hold(asked, request.max_tokens)
        try:
            reply = await _generated(job.model, request, live)
            estimate = asked + requests.guess_tokens(reply.text)
            for each in (mine, hold):
                if each is not None:
                    each.settle(reply.usage, estimate)
            if wrong := replies.problems(job.params, reply.content, job.revision):
                said = " ".join(wrong)
                raise ProviderError(f"The answer of the model {job.model.name} cannot be sent: {said}")
        except BaseException as error:
            mine.settle(None)
            self._questioner.journal.redactor.error(error)
            live.end(None, str(error) or type(error).__name__)
            raise
        live.end(reply)
        return reply


async def _generated(model: Model, request: ModelRequest, live: LiveReply) -> ModelReply:
    """Its reply; whatever goes wrong in it is a `ModelError`."""
    from jupyter_mcp.errors import ModelError

    try:
        return await model.generate(request, live.add, live.delay)
    except ModelError:
        raise
    except Exception as error:
        raise ProviderError(f"The model {model.name} failed: {error or type(error).__name__}") from error


def _retrieved(task: asyncio.Future[Any]) -> None:
    """What nobody waits for any more is not reported as lost."""
    if not task.cancelled():
        task.exception()


def _written(answer: Answer) -> bool:
    """Whether it is an answer to the server, not to the question whether a model may be asked."""
    return bool(answer.content) and ("text" in answer.content or "content" in answer.content)


def _by_hand(question: Question, answer: Answer, revision: str) -> dict[str, Any]:
    from jupyter_mcp.host import validation

    return validation.sampling(question.params, answer.content or {}, revision).value


def _unfit(question: Question, answer: Answer, revision: str) -> Mapping[str, str]:
    """What is wrong with a consent."""
    content = answer.content or {}
    if answer.action != "accept" or not content:
        return {}
    if _written(answer):
        from jupyter_mcp.host import validation

        return validation.sampling(question.params, content, revision).problems
    offer = question.offer
    assert offer is not None
    if (model := content.get("model")) is not None and model not in offer.models:
        return {"model": offer.unable.get(str(model)) or f"There is no model {model!r:.80} for this."}
    if problem := _wrong_allowance(content.get("allowance")):
        return {"allowance": problem}
    return requests.edit_problems(question.params, content)


def _wrong_allowance(given: object) -> str:
    if given is None:
        return ""
    if not is_mapping(given) or set(given) - {"calls", "tokens", "per_minute"}:
        return "It is made of calls, tokens and per_minute."
    for name, value in given.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            return f"{name} is a whole number above 0."
    return ""


def _unfit_reply(job: _Job, answer: Answer) -> Mapping[str, str]:
    """What is wrong with the model's answer as the person changed it."""
    content = answer.content or {}
    if answer.action != "accept" or "content" not in content:
        return {}
    wrong = replies.problems(job.params, _blocks(content["content"]), job.revision)
    return {"content": " ".join(wrong)} if wrong else {}


def _blocks(content: Any) -> list[Any]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content if is_list(content) else [] if content is None else [content]


def _ignored(params: Mapping[str, Any]) -> tuple[str, ...]:
    wanted = params.get("includeContext")
    if wanted in (None, "none"):
        return ()
    whose = "of all servers" if wanted == "allServers" else "of its own"
    return (f"It asks for context {whose} besides; it gets none.",)
