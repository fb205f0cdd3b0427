"""`Conversation`: a question's answer and all that came of it, and the way to ask the next one.

The conversation itself is the host's; here is how the notebook holds it: one goes on from cell to cell until a new one
is begun, and each answer is an object of its own that stays as it was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import UsageError
from jupyter_mcp.notebook.objects.act import Act, get_host
from jupyter_mcp.notebook.objects.attached import attachments
from jupyter_mcp.protocol.framing import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from jupyter_mcp.host import conversation as talking
    from jupyter_mcp.host.conversation.events import OnConversationEvent
    from jupyter_mcp.host.conversation.switching import ConversationSwitches
    from jupyter_mcp.host.result import Result
    from jupyter_mcp.notebook.render.views import ToolCallView

__all__ = ["Conversation", "asking", "begun", "call_view", "forget", "last", "masked", "reset", "switch", "switches"]

_current: list[talking.Conversation] = []
_to_come: list[tuple[str, bool]] = []  # switches for the conversation that the next question begins


class Conversation:
    """A conversation as it stood after one question: its transcript.

    Attributes:
        question: what was asked.
        model: the name of the model that answered.
    """

    def __init__(self, conversation: talking.Conversation, turn: talking.Turn) -> None:
        self._conversation = conversation
        self._turn = turn
        self.question = turn.question
        self.model = turn.model

    @property
    def text(self) -> str:
        """The answer."""
        return self._turn.text

    @property
    def calls(self) -> list[talking.ModelCall]:
        """The calls that the model wanted, in order: `.server`, `.tool`, `.arguments`, `.outcome`, `.result`."""
        return self._turn.calls

    @property
    def data(self) -> Any:
        """The answer as JSON when it is that or has one block of it, else the data of the last call that has some."""
        return self._turn.data

    @property
    def cost(self) -> float | None:
        """US dollars for this answer; None where no price is known."""
        return self._turn.cost

    @property
    def usage(self) -> talking.Spent:
        """Tokens and cost of this answer."""
        return self._turn.spent

    @property
    def messages(self) -> list[dict[str, Any]]:
        """All that was said up to this answer, as MCP messages."""
        return self._turn.messages

    @property
    def attached(self) -> list[str]:
        """What went along with the question, in words."""
        return self._turn.attached

    @property
    def rounds(self) -> int:
        """How often the model was asked."""
        return self._turn.rounds

    @property
    def stop(self) -> str:
        """Why it ended: "answered", "cut", "rounds", "loop", "silent"; "interrupted" by you, "failed" by its model."""
        return self._turn.stop

    def ask(self, question: str, **options: Any) -> Conversation:
        """Ask the next question of this conversation. Arguments and errors as of `mcp.ask`."""
        _set(self._conversation)
        from jupyter_mcp.notebook import api

        return api.ask(question, **options)

    def __mcp_view__(self) -> Any:
        from jupyter_mcp.notebook.render.views import ConversationView

        turn = self._turn
        spent = turn.spent
        counted = [tokens for tokens in (spent.input_tokens, spent.output_tokens) if tokens is not None]
        return ConversationView(
            model=turn.model,
            parts=[masked(part) if isinstance(part, str) else call_view(part) for part in turn.parts],
            attached=turn.attached,
            notes=turn.notes,
            rounds=turn.rounds,
            tokens=sum(counted) if counted else None,
            cost=spent.cost,
        )

    def __repr__(self) -> str:
        count = len(self.calls)
        calls = f", {count} call{'s'[: count != 1]}" if count else ""
        return f"<Conversation with {self.model}{calls}: {printable(' '.join(masked(self.text).split()))}>"


def call_view(call: talking.ModelCall) -> ToolCallView:
    """One call as it is drawn, secrets masked in what was sent."""
    from jupyter_mcp.notebook.render.views import ToolCallView

    clean = get_host().redactor.clean
    return ToolCallView(
        label=call.full_name,
        arguments=clean(dict(call.arguments)),
        status=call.outcome,
        result=None if call.result is None else _without_secrets(call.result, clean),
        said=masked(call.said),
        approval=call.approval,
        passes_on=list(call.passes_on),
    )


def _without_secrets(result: Result, clean: Callable[[Any], Any]) -> Result:
    """The same for the eye: nobody chose to see what a model calls for. Pictures and sounds are left as they are."""
    raw = {**result.raw, "content": [_clean_block(block, clean) for block in result.blocks]}
    if "structuredContent" in raw:
        raw["structuredContent"] = clean(raw["structuredContent"])
    return type(result)(raw, server=result.server, tool=result.tool, duration=result.duration, notes=result.notes)


def _clean_block(block: Mapping[str, Any], clean: Callable[[Any], Any]) -> dict[str, Any]:
    held = {key: clean(value) if key == "text" else value for key, value in block.items()}
    resource = held.get("resource")
    if isinstance(resource, dict) and "text" in resource:
        held["resource"] = {**resource, "text": clean(resource["text"])}
    return held


def masked(text: str) -> str:
    """A text without the secrets that this kernel gave to servers."""
    return str(get_host().redactor.known(text))


# --- asking ----------------------------------------------------------------------------------------------------------


def begun() -> talking.Conversation | None:
    """The conversation that the next question goes on with, if there is one."""
    return _current[0] if _current and _current[0].host is get_host() else None


def last() -> Conversation | None:
    """What became of the last question, also of one that was interrupted or whose model failed."""
    conversation = begun()
    return (
        Conversation(conversation, conversation.turns[-1]) if conversation is not None and conversation.turns else None
    )


def forget() -> None:
    """The next question begins a new conversation."""
    _current.clear()
    _to_come.clear()


def _set(conversation: talking.Conversation) -> None:
    _current[:] = [conversation]
    _to_come.clear()


# --- what is switched for one conversation ---------------------------------------------------------------------------


def switch(pattern: str, *, on: bool) -> None:
    """Switch tools or servers for the present conversation; before there is one, for the one that begins next.

    Raises:
        UsageError: that is no pattern.
    """
    switches().set(pattern, on=on)
    if begun() is None:
        _to_come.append((pattern, on))


def reset(pattern: str | None = None) -> int:
    """Take back what was switched for the present conversation; returns how much that was."""
    count = switches().reset(pattern)
    _to_come[:] = [one for one in _to_come if pattern is not None and one[0].strip() != pattern.strip()]
    return count


def switches() -> ConversationSwitches:
    """What is switched for the present conversation, or for the one to come."""
    from jupyter_mcp.host.conversation.switching import ConversationSwitches

    conversation = begun()
    if conversation is not None:
        return conversation.toolbox.switches
    found = ConversationSwitches(get_host().policy)
    for pattern, on in _to_come:
        found.set(pattern, on=on)
    return found


# --- the next question -----------------------------------------------------------------------------------------------


def asking(
    question: str,
    *,
    servers: Sequence[str] | None = None,
    tools: Sequence[str] | None = None,
    context: object = None,
    auto_context: bool = False,
    new: bool = False,
    max_rounds: int | None = None,
    model: Any = None,
    system: str | None = None,
    on_event: OnConversationEvent | None = None,
) -> Act[Conversation]:
    """The act of asking; arguments as of `mcp.ask`.

    Raises:
        UsageError: there is no such server, `max_rounds` is no number of rounds, or something of the context cannot go
            along.
        NoModel: no model is configured.
    """
    if max_rounds is not None and max_rounds < 1:
        raise UsageError(f"max_rounds is 1 or more, not {max_rounds}.")
    for name in servers or ():
        _connected(name)  # a slip is said before it holds for all questions to come
    conversation = _conversation(new=new, model=model)
    toolbox = conversation.toolbox
    if servers is not None:
        toolbox.servers = list(servers)
    if tools is not None:
        toolbox.tools = list(tools)
    if system is not None:
        conversation.system = system

    given = attachments(context, question, conversation.limits, conversation.model)

    async def start() -> Conversation:
        turn = await conversation.ask(
            question, context=given, auto_context=auto_context, on_event=on_event, max_rounds=max_rounds
        )
        return Conversation(conversation, turn)

    after = "what was said stays, in mcp.host.conversation; ask on with the next question"
    return Act(f"the answer of {conversation.model.name}", start, after)


def _connected(name: str) -> None:
    """Raises `UsageError` when there is no server of that name now."""
    host = get_host()
    if host.find(name) is not host.servers.get(name):
        raise UsageError(f"{name} is not connected.", hint=f"%mcp reconnect {name} connects it again.")


def _conversation(*, new: bool, model: Any) -> talking.Conversation:
    """The one to go on with, its model the one that is wanted now."""
    from jupyter_mcp.host.conversation import Conversation as Talk

    host = get_host()
    found = None if new else begun()
    chosen = _model(model, found)
    if found is None:
        found = Talk(host, chosen)
        if not new:
            found.toolbox.switches = switches()
        _set(found)
    found.model = chosen
    return found


def _model(wanted: Any, conversation: talking.Conversation | None) -> Any:
    """A model of one's own, a configured one by its name, else the default one; without any, the one so far."""
    from jupyter_mcp.models.base import Model

    if isinstance(wanted, Model):
        return wanted
    book: Any = get_host().models
    if wanted is not None:
        return book.find(str(wanted))
    if book.default is None and conversation is not None:
        return conversation.model
    return book.choose().model
