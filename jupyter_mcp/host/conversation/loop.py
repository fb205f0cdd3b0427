"""A conversation: a question, the model, the calls that it wants, their results, and so on until it has answered.

    attachments  ->  the question  ->  [ the tools as they are now  ->  the model  ->  its calls ]  ->  the answer

One conversation has one history; each question adds a turn. Every call goes by `Host.call_tool` as the model's act, so
rules and approvals are the host's, and their no comes back to the model in words. Whatever ends a turn (an interrupt, a
provider's error), what was said stays, and the next question goes on from there. Nothing is rendered here.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.conversation.attaching import attach, prompt_names
from jupyter_mcp.host.conversation.briefing import briefing, told_of
from jupyter_mcp.host.conversation.calls import Calls
from jupyter_mcp.host.conversation.events import Attached, CatalogueChanged, Noted, RoundEnded, TextDelta
from jupyter_mcp.host.conversation.from_apps import told_by_apps
from jupyter_mcp.host.conversation.history import History, tool_result
from jupyter_mcp.host.conversation.limits import Limits
from jupyter_mcp.host.conversation.mentions import read_question
from jupyter_mcp.host.conversation.names import ToolNames
from jupyter_mcp.host.conversation.proposing import propose
from jupyter_mcp.host.conversation.provenance import Provenance
from jupyter_mcp.host.conversation.results import text_block
from jupyter_mcp.host.conversation.toolbox import Changes, Toolbox
from jupyter_mcp.host.conversation.turn import Turn
from jupyter_mcp.host.conversation.writing import Writing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from jupyter_mcp.host.conversation.attaching import Attachment
    from jupyter_mcp.host.conversation.events import ConversationEvent, OnConversationEvent
    from jupyter_mcp.host.conversation.turn import ModelCall
    from jupyter_mcp.host.host import Host
    from jupyter_mcp.models.base import Model, ModelReply

__all__ = ["Conversation"]

_INTERRUPTED = "[interrupted by the person]"
_FAILED = "[the model could not be asked]"


class Conversation:
    """One conversation of a person with a model that has tools.

    Args:
        host: whose servers and policy.
        model: whom to ask; may be set to another between two questions. One that says how many tokens it takes in all
            (`context`) is shown no more than that.
        servers: only tools of these servers; None is all.
        tools: only tools that one of these patterns fits (`server.tool` or `tool`, with `*` and `?`); None is all.
        limits: how much it may do.
        system: the person's own instructions, beside ours.

    Attributes:
        turns: what was asked and came of it, oldest first.
    """

    def __init__(
        self,
        host: Host,
        model: Model,
        *,
        servers: Sequence[str] | None = None,
        tools: Sequence[str] | None = None,
        limits: Limits | None = None,
        system: str = "",
    ) -> None:
        self.host = host
        self.model = model
        self._limits = limits or Limits()
        self.system = system
        self.turns: list[Turn] = []
        self._names = ToolNames()
        self.toolbox = Toolbox(host, self._names, self.limits, servers, tools)
        self._history = History()
        self._provenance = Provenance()
        self._texts: dict[str, str] = {}  # of resources that were read, by `server:uri`
        self._asking = False

    @property
    def limits(self) -> Limits:
        """How much it may do with the model that it has now."""
        return self._limits.within(getattr(self.model, "context", None))

    @property
    def messages(self) -> list[dict[str, Any]]:
        """All that was said, as MCP messages."""
        return self._history.messages

    async def ask(
        self,
        text: str,
        *,
        context: Sequence[Attachment] = (),
        auto_context: bool = False,
        on_event: OnConversationEvent | None = None,
        max_rounds: int | None = None,
    ) -> Turn:
        """Ask a question and wait for the answer.

        Args:
            text: the question. `@server:uri` in it attaches a resource, a line `/server.prompt key=value` a prompt.
            context: what goes along besides.
            auto_context: propose resources that fit the question to the person, who chooses.
            on_event: told what happens meanwhile, on the runtime thread.
            max_rounds: how often the model may be asked; in the last of them it can call no tool.

        Raises:
            UsageError: nothing is asked, a server or prompt that is named is not there, or another question is being
                answered.
            UnsupportedContent: the model cannot take what is attached.
            ModelError: the model could not answer; what happened until then is the last of `turns`.
        """
        if self._asking:
            raise UsageError("This conversation is still busy with another question.", hint="Begin a new one: --new")
        self._asking = True
        try:
            self.toolbox.limits = self.limits
            self.toolbox.check()
            turn = Turn(text, self.model.name)
            question, attachments = await self._attached(turn, auto_context, on_event or _nobody)
            if not question and not attachments and not context:
                raise UsageError("There is no question.")
            self.turns.append(turn)
            work = _Work(self, turn, on_event or _nobody, max_rounds or self.limits.rounds)
            await work.run(question, [*context, *attachments])
        finally:
            self._asking = False
        return turn

    async def _attached(
        self, turn: Turn, auto_context: bool, tell: OnConversationEvent
    ) -> tuple[str, list[Attachment]]:
        """The question without its prompt lines, and what it names or the person chose."""
        asked = read_question(turn.question, list(self.host.servers), await prompt_names(self.host, turn.question))
        found = await attach(self.host, asked, self.model, self.limits)
        if "shared" in vars(self.host):  # a page of a server has been shown
            found += told_by_apps(self.host.shared, self.limits, self.model.supports)
        if auto_context:
            servers = self.toolbox.in_scope()
            found += await propose(
                self.host,
                asked.text,
                self.model,
                self.limits,
                servers=servers,
                known=self._texts,
                note=_noting(turn, tell),
                told=lambda text: tell(Noted(text)),
                is_off=self.toolbox.switches.is_off,
            )
        for attachment in found:
            self._texts |= attachment.texts
        return asked.text, found


class _Work:
    """One question being answered."""

    def __init__(self, conversation: Conversation, turn: Turn, tell: OnConversationEvent, rounds: int) -> None:
        self._conversation = conversation
        self._turn = turn
        self._tell: OnConversationEvent = tell
        self._rounds = rounds
        self._history = conversation._history  # pyright: ignore[reportPrivateUsage]
        self._provenance = conversation._provenance  # pyright: ignore[reportPrivateUsage]
        self._toolbox = conversation.toolbox
        self._model = conversation.model
        self._calls = Calls(
            conversation.host, self._toolbox, conversation.limits, self._provenance, self._model.supports, tell
        )
        self._heard = ""

    async def run(self, question: str, attachments: Sequence[Attachment]) -> None:
        """Rounds until there is an answer or a reason to stop; the history is fit for the next question afterwards."""
        self._begin(question, attachments)
        if "tools" not in self._model.supports:
            self._turn.note(f"{self._turn.model} takes no tools: it answers without them.")
        try:
            for number in range(1, self._rounds + 1):
                if await self._round(number):
                    break
        except asyncio.CancelledError:
            self._turn.stop = "interrupted"
            self._leave(_INTERRUPTED)
            raise
        except BaseException:
            self._turn.stop = "failed"
            self._leave(_FAILED)
            raise
        finally:
            self._turn.messages = list(self._history.messages)

    def _begin(self, question: str, attachments: Sequence[Attachment]) -> None:
        turn = self._turn
        self._provenance.person_said(question)
        for attachment in attachments:
            turn.attached.append(attachment.label)
            for server, text in attachment.origins:
                self._provenance.returned(server, text)
            for message in attachment.messages:
                self._history.add(message["role"], message["content"])
            self._history.add("user", attachment.blocks)
            self._tell(Attached(attachment.label))
        self._history.add("user", [text_block(question)] if question else [])

    async def _round(self, number: int) -> bool:
        """Ask the model once and do what it wants. True when that was the last time."""
        turn, last = self._turn, number == self._rounds
        changes = await self._toolbox.refresh()
        news = changes if len(self._conversation.turns) > 1 or number > 1 else None
        if news:
            self._tell(CatalogueChanged(changes))
        reply = await self._generate(news, last)
        turn.rounds = number
        turn.spent = turn.spent.plus(reply.usage)
        uses = self._history.add_reply(reply.content)
        self._heard = ""
        calls = self._calls.begin(turn, uses)
        try:
            await self._calls.make(calls, uses, closed=last)
        finally:
            self._history.add("user", [tool_result(use, call) for use, call in zip(uses, calls, strict=True)])
        self._tell(RoundEnded(number, reply.stop_reason))
        return self._over(reply, calls, last)

    async def _generate(self, news: Changes | None, last: bool) -> ModelReply:
        """The model's next words; what it does not stream is told at the end."""
        from jupyter_mcp.host.conversation.metering import generate
        from jupyter_mcp.models.base import ModelRequest

        tools = self._toolbox.described() if "tools" in self._model.supports else []
        request = ModelRequest(
            messages=self._history.request(self._conversation.limits.history),
            system=self._system(news, last),
            tools=tools,
            tool_choice={"mode": "none" if last else "auto"} if tools else None,
            max_tokens=self._conversation.limits.answer,
        )
        self._heard = ""
        meter = self._conversation.host.limits.model(self._model.name)
        host, first = self._conversation.host, len(self._turn.calls) + 1
        writing = Writing(host, self._toolbox, first, self._tell)
        reply = await generate(self._model, meter, request, self._hear, lambda text: self._tell(Noted(text)), writing)
        said = "".join(str(block.get("text") or "") for block in reply.content if block.get("type") == "text")
        if said != self._heard:
            self._hear(said[len(self._heard) :] if said.startswith(self._heard) else "")
        return reply

    def _hear(self, text: str) -> None:
        if text:
            self._heard += text
            self._turn.say(text)
            self._tell(TextDelta(text))

    def _system(self, news: Changes | None, last: bool) -> str:
        conversation = self._conversation
        entries = [(name, conversation.host.servers[name]) for name in self._toolbox.in_scope()]
        said = [(name, entry.instructions or "") for name, entry in entries]
        system = briefing(said, conversation.limits.instructions, conversation.system)
        more = told_of(news, last=last and self._rounds > 1)
        return f"{system}\n\n{more}" if more else system

    def _over(self, reply: ModelReply, calls: Sequence[ModelCall], last: bool) -> bool:
        """Whether the turn ends here, and why."""
        turn = self._turn
        if not calls:
            self._answered(reply)
            return True
        if self._calls.stuck(calls):
            turn.stop = "loop"
            turn.note(f"{turn.model} made the same call again and again; it was stopped.")
        elif last:
            turn.stop = "rounds"
            turn.note(f"{turn.model} used all {self._rounds} rounds without an answer (--max-rounds allows more).")
        if turn.stop == "running":
            return False
        self._history.add("assistant", [text_block("[stopped by the notebook]")])
        return True

    def _answered(self, reply: ModelReply) -> None:
        turn = self._turn
        if reply.stop_reason == "maxTokens":
            turn.stop = "cut"
            turn.note(f"The answer of {turn.model} was cut at its greatest length.")
        elif not any(block.get("type") != "text" or block.get("text") for block in reply.content):
            turn.stop = "silent"
            turn.note(f"{turn.model} answered nothing.")
            self._history.add("assistant", [text_block("[no answer]")])
        else:
            turn.stop = "answered"

    def _leave(self, why: str) -> None:
        """End the turn in the history, so that the next question can follow."""
        last = self._history.messages[-1] if self._history.messages else None
        spoken = self._heard and (last is None or last["role"] != "assistant")
        self._history.add("assistant", [text_block(f"{self._heard} {why}" if spoken else why)])


def _noting(turn: Turn, tell: OnConversationEvent) -> Callable[[str], object]:
    """Takes remarks that are seen at once and stay."""

    def note(text: str) -> None:
        turn.note(text)
        tell(Noted(text))

    return note


def _nobody(event: ConversationEvent) -> None:
    """Nobody watches."""
