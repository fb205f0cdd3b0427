"""One run of a handler: what its context talks to, and how its questions find their answers.

The two eras meet here and nowhere above. A question is a request to the client in the legacy era. In the modern one it
is looked up among the answers so far (`Ledger`); a question that has no answer yet ends the round, and then

- a plain `Run` is given up: `NeedInput` goes through the handler, which runs again from the top with the answers;
- a `DetachedRun` waits in a task of its own, and goes on where it stopped when somebody brings the answers.

Above: `context`, `detached`, `dispatch`. Below: `exchange`, `questions`, `rounds`.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import Cancelled, InputRefused, RemoteProtocolError, RequestError
from jupyter_mcp.protocol import jsonrpc
from jupyter_mcp.server.forms import InvalidAnswer
from jupyter_mcp.server.questions import Elicit, Question, check_allowed, digest_of
from jupyter_mcp.server.rounds import MAX_ATTEMPTS, Asked, Ledger, NeedInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from jupyter_mcp.server.exchange import Exchange
    from jupyter_mcp.server.questions import InputRequired, UrlRequired

_MAX_ROUNDS = 10  # of questions that a handler asks by its own hand, where it is not the client who counts
PAUSE = 0.25  # seconds between runs of a handler that says "not done yet"
_PAGE = "page-needed-"  # keys of the pages that a handler cannot do without


class Run:
    """A handler that runs for one request.

    Attributes:
        exchange: the request it runs for.
        ledger: the answers so far.
        cancelled: nobody wants its outcome any more.
    """

    __slots__ = ("_asked", "_on_cancel", "cancelled", "exchange", "ledger", "loop")

    def __init__(self, exchange: Exchange) -> None:
        self.exchange = exchange
        self.ledger = exchange.ledger = exchange.ledger or Ledger()
        self.loop = exchange.loop
        self.cancelled = False
        self._asked = 0
        self._on_cancel: set[Callable[[], object]] = set()
        exchange.on_cancel(self.cancel)

    # --- cancelling

    def cancel(self) -> None:
        """Whatever waits in the handler's context ends (on the loop)."""
        self.cancelled = True
        for callback in list(self._on_cancel):
            callback()

    def on_cancel(self, callback: Callable[[], object]) -> Callable[[], None]:
        """Have `callback` called when the run is cancelled; returns how to take it back. Any thread."""
        self._on_cancel.add(callback)
        if self.cancelled:
            callback()
        return lambda: self._on_cancel.discard(callback)

    def check(self) -> None:
        """Raises `Cancelled` when nobody wants the outcome any more."""
        if self.cancelled:
            raise Cancelled("The client cancelled this call.")

    def page_done(self, elicitation_id: str) -> dict[str, Any] | None:
        """The notification that the person is done at a page, or None: the revision has none, or nobody was asked."""
        self.check()
        exchange = self.exchange
        if not exchange.features.elicitation_ids or not exchange.peer.pages.pop(elicitation_id, False):
            return None
        return jsonrpc.notification("notifications/elicitation/complete", {"elicitationId": elicitation_id})

    # --- questions

    async def ask(self, questions: Mapping[str | None, Question]) -> dict[str | None, Any]:
        """Put questions and wait for all answers.

        Args:
            questions: key -> question; the key None is made from the order of asking.

        Raises:
            NeedInput: the handler is to be run again with the answers; it carries the questions through it.
            MissingCapability: the client does not answer such questions.
            RemoteProtocolError: its answers did not fit again and again.
            InputRefused: it answered with an error.
            ConnectionLost: it went away meanwhile.
        """
        self.check()
        if self.exchange.ask_client is not None:
            return await self._ask_client(questions)
        keyed = {given: given if given is not None else self._next_key() for given in questions}
        try:
            while True:
                try:
                    return self._recorded(questions, keyed)
                except NeedInput as need:
                    await self._unanswered(need)
                self.check()
        finally:
            self._leave(keyed.values())

    async def by_hand(self, wanted: InputRequired) -> None:
        """Ask what a handler returned; when this returns it is to be run again. Raises as `ask`."""
        peer, features = self.exchange.peer, self.exchange.features
        prepared = {key: (one, check_allowed(one, peer.capabilities, features)) for key, one in wanted.requests.items()}
        requests = {key: (question.method, params) for key, (question, params) in prepared.items()}
        self.ledger.state = wanted.state
        if self.exchange.ask_client is not None:
            self._count_round(requests)
            self.ledger.responses = await self._collect(requests)
            if not requests:
                await asyncio.sleep(PAUSE)
        else:
            await self._again_by_hand({key: Asked(*request, digest_of(*request)) for key, request in requests.items()})

    async def send_to(self, wanted: UrlRequired) -> None:
        """Send the person to pages; when this returns the handler is to be run again.

        Raises:
            RequestError: legacy: -32042, for the client to send the person there and call again.
            BaseException: as `ask`.
        """
        peer, features = self.exchange.peer, self.exchange.features
        prepared = [(page, check_allowed(page, peer.capabilities, features) or {}) for page in wanted.pages]
        if peer.era == "legacy":
            for page in wanted.pages:
                peer.asked_to_open(page.elicitation_id)
            pages = [params for _, params in prepared]
            raise RequestError(wanted.message, code=wanted.code, data={"elicitations": pages})
        asked = {
            f"{_PAGE}{number}": Asked(page.method, params, digest_of(page.method, params))
            for number, (page, params) in enumerate(prepared, 1)
        }
        await self._again_by_hand(asked)

    def check_pages(self) -> None:
        """Before a handler runs again after `send_to`: a no ends it. Raises `InputRefused`."""
        for key, answer in self.ledger.responses.items():
            if key.startswith(_PAGE) and answer.get("action") in ("decline", "cancel"):
                raise InputRefused("The person did not open the page that this needs.")

    def _count_round(self, requests: Mapping[str, Any]) -> None:
        self._asked += bool(requests)
        if self._asked > _MAX_ROUNDS:
            raise RequestError(f"The handler asked more than {_MAX_ROUNDS} rounds of questions", code=-32603)

    async def _again_by_hand(self, asked: dict[str, Asked]) -> None:
        raise NeedInput(asked)

    async def _unanswered(self, need: NeedInput) -> None:
        """Questions without an answer. Returns when there may be some; raises `need` when it is to be run again."""
        raise need

    def _leave(self, keys: Iterable[str]) -> None:
        """These questions are not asked any more."""

    def _next_key(self) -> str:
        self._asked += 1
        return f"q{self._asked}"

    def _recorded(
        self, questions: Mapping[str | None, Question], keyed: Mapping[str | None, str]
    ) -> dict[str | None, Any]:
        """The answers that earlier rounds brought. Raises as `ask`; `NeedInput` for those that are missing."""
        exchange = self.exchange
        answers: dict[str | None, Any] = {}
        missing: dict[str, Asked] = {}
        for given, question in questions.items():
            key = keyed[given]
            params = check_allowed(question, exchange.peer.capabilities, exchange.features)
            digest = digest_of(question.method, params)
            recorded = self.ledger.answer(key, digest, named=given is not None)
            if recorded is not None:
                try:
                    answers[given] = question.read(recorded)
                    continue
                except InvalidAnswer as error:
                    if self.ledger.refuse(key) >= MAX_ATTEMPTS:
                        raise _never_fits(question, error) from None
                    params = _again(question, params, error)
            missing[key] = Asked(question.method, params, digest)
        if missing:
            raise NeedInput(missing)
        return answers

    # --- questions to a client that answers requests (legacy)

    async def _ask_client(self, questions: Mapping[str | None, Question]) -> dict[str | None, Any]:
        peer, features = self.exchange.peer, self.exchange.features
        prepared = {
            key: (question, check_allowed(question, peer.capabilities, features)) for key, question in questions.items()
        }
        try:
            if len(prepared) == 1:
                key, (question, params) = next(iter(prepared.items()))
                return {key: await self._ask_one(question, params)}
            async with asyncio.TaskGroup() as group:
                tasks = {key: group.create_task(self._ask_one(*pair)) for key, pair in prepared.items()}
            return {key: task.result() for key, task in tasks.items()}
        except BaseExceptionGroup as several:
            raise several.exceptions[0] from None

    async def _ask_one(self, question: Question, params: dict[str, Any] | None) -> Any:
        ask = self.exchange.ask_client
        assert ask is not None
        if isinstance(question, Elicit) and question.url is not None:
            self.exchange.peer.asked_to_open(question.elicitation_id)
        attempts = 0
        while True:
            self.check()
            try:
                result = await ask(question.method, params)
            except RequestError as error:
                raise InputRefused(f"The client refused {_noun(question)}: {error.message}") from None
            try:
                return question.read(result)
            except InvalidAnswer as error:
                attempts += 1
                if attempts >= MAX_ATTEMPTS:
                    raise _never_fits(question, error) from None
                params = _again(question, question.params(self.exchange.features), error)

    async def _collect(self, requests: Mapping[str, tuple[str, dict[str, Any] | None]]) -> dict[str, Any]:
        """The bare answers to several requests, for a handler that asks by its own hand."""
        ask = self.exchange.ask_client
        assert ask is not None
        try:
            answers = await asyncio.gather(*(ask(method, params) for method, params in requests.values()))
        except RequestError as error:
            raise InputRefused(f"The client refused to answer: {error.message}") from None
        return dict(zip(requests, answers, strict=True))


def _noun(question: Question) -> str:
    return {"elicitation/create": "the question", "sampling/createMessage": "to sample"}.get(
        question.method, "its roots"
    )


def _never_fits(question: Question, error: InvalidAnswer) -> RemoteProtocolError:
    return RemoteProtocolError(f"The client's answer to {question.method} does not fit, {MAX_ATTEMPTS} times: {error}.")


def _again(question: Question, params: dict[str, Any] | None, error: InvalidAnswer) -> dict[str, Any] | None:
    """The question once more, saying what was wrong with the answer."""
    if params is None or not isinstance(question, Elicit):
        return params
    return {**params, "message": f"{question.message}\n\nThe last answer did not fit: {error}."}
