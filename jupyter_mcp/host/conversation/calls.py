"""The calls that a model wants in one round: each is made, or has a stated reason why it is not.

    not JSON, no object    "unreadable"   the model is told where it breaks
    no such tool           "unknown"      with the nearest name
    more than a round has  "too many"     not made
    the same, again        "repeated"     not made once it has given the same several times
    no by rule or person   "denied"       with the person's words
    anything else          "ok" or "error"; what went wrong is for the model to deal with

They run at the same time, so many at once; everything goes by `Host.call_tool` as the model's act. A cancelled round
leaves an answer for each call, so that the conversation can go on.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from collections import Counter
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import Denied, MCPError, ToolError, UsageError
from jupyter_mcp.host.conversation.events import CallEnded, CallSent, CallStarted, CallTold
from jupyter_mcp.host.conversation.results import Budget, error_for_model, result_for_model, text_block
from jupyter_mcp.host.conversation.shown import summary
from jupyter_mcp.host.conversation.toolbox import SEARCH
from jupyter_mcp.host.conversation.turn import ModelCall
from jupyter_mcp.host.conversation.untrusted import one_line
from jupyter_mcp.host.events import QuestionClosed
from jupyter_mcp.host.wording import decode_json, nearest
from jupyter_mcp.protocol.shapes import is_object, mapping_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from jupyter_mcp.host.conversation.events import ConversationEvent
    from jupyter_mcp.host.conversation.limits import Limits
    from jupyter_mcp.host.conversation.provenance import Provenance
    from jupyter_mcp.host.conversation.toolbox import Toolbox
    from jupyter_mcp.host.conversation.turn import Outcome, Turn
    from jupyter_mcp.host.events import CallEvent
    from jupyter_mcp.host.host import Host
    from jupyter_mcp.host.questions import Answer
    from jupyter_mcp.host.result import Result

__all__ = ["Calls", "arguments_of"]

_log = logging.getLogger("jupyter_mcp.host")
_REPEATED = "Not done: this very call has been answered, and again with the same. Use that, or do something else."
_TOO_MANY = "Not done: one round has at most {most} calls, and the last one has none."
CANCELLED = "Not done: the person interrupted."


class Calls:
    """Makes the calls of one turn.

    Args:
        host, toolbox: through whom, and which tools there are.
        limits: how many, and how much of each the model sees.
        provenance: what the servers returned in this conversation.
        supports: what the model takes besides text.
        tell: who watches.
    """

    def __init__(
        self,
        host: Host,
        toolbox: Toolbox,
        limits: Limits,
        provenance: Provenance,
        supports: frozenset[str],
        tell: Callable[[ConversationEvent], None],
    ) -> None:
        self._host = host
        self._toolbox = toolbox
        self._limits = limits
        self._provenance = provenance
        self._supports = supports
        self._tell = tell
        self._gate = asyncio.Semaphore(limits.at_once)
        self._given: Counter[str] = Counter()  # how often in a row a call gave the same
        self._gave: dict[str, str] = {}
        self._under_way: Counter[str] = Counter()

    def begin(self, turn: Turn, uses: Sequence[Mapping[str, Any]]) -> list[ModelCall]:
        """The calls of these `tool_use` blocks, written down in the turn; none is made yet."""
        first = len(turn.calls) + 1
        calls = [ModelCall(number, str(use.get("name") or "")) for number, use in enumerate(uses, first)]
        turn.parts += calls
        return calls

    async def make(
        self, calls: Sequence[ModelCall], uses: Sequence[Mapping[str, Any]], *, closed: bool = False
    ) -> None:
        """Make them; afterwards each has an outcome and what the model is shown. Raises nothing but a cancellation.

        Args:
            calls, uses: of one round, in the same order.
            closed: it was the last round: none is made.
        """
        most = 0 if closed else self._limits.calls
        tasks = [
            asyncio.ensure_future(self._one(call, use.get("input"), place < most))
            for place, (call, use) in enumerate(zip(calls, uses, strict=True))
        ]
        try:
            await asyncio.gather(*tasks)
        except BaseException:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise
        finally:
            for call in calls:
                if call.outcome == "running":
                    self._end(call, "cancelled", CANCELLED)
        self._cut(calls)

    def stuck(self, calls: Sequence[ModelCall]) -> bool:
        """Whether a round brought nothing but what had been refused as a repetition."""
        return bool(calls) and all(call.outcome == "repeated" for call in calls)

    # --- one call ----------------------------------------------------------------------------------------------------

    async def _one(self, call: ModelCall, given: object, within: bool) -> None:
        problem = arguments_of(call, given)
        if not within:
            return self._refuse(call, "too many", _TOO_MANY.format(most=self._limits.calls))
        if call.name == SEARCH and self._toolbox.searching:
            return self._refuse(call, "unreadable", problem) if problem else await self._search(call)
        offer = self._toolbox.find(call.name)
        if offer is None:
            return self._refuse(call, "unknown", self._unknown(call.name))
        call.server, call.tool = offer.server, offer.name
        if problem:
            return self._refuse(call, "unreadable", problem)
        if self._worn_out(call):
            return self._refuse(call, "repeated", _REPEATED)
        call.passes_on = self._provenance.sources(call.server, call.arguments)
        self._tell(CallStarted(call))
        key = _key(call)
        self._under_way[key] += 1
        try:
            async with self._gate:
                await self._call(call)
        finally:
            self._under_way[key] -= 1
        self._remember(call, key)
        return None

    async def _call(self, call: ModelCall) -> None:
        """Make it; whatever goes wrong is its outcome."""
        try:
            result = await self._host.call_tool(
                call.server,
                call.tool,
                call.arguments,
                origin="model",
                on_event=lambda event: self._told(call, event),
                on_leave=lambda arguments: self._tell(CallSent(call, arguments)),
                check=False,
                leaves=[f"words that {name} returned in this conversation" for name in call.passes_on],
                switched_on=self._toolbox.switches.is_on(call.server, call.tool),
            )
        except Denied as error:
            self._end(call, "denied", str(error), told=error.message)  # the hint is for the person
        except MCPError as error:
            self._end(call, "error", str(error), error.result if isinstance(error, ToolError) else None)
        except Exception as error:
            _log.exception("the call of %s by a model failed", call.full_name)
            self._end(call, "error", f"{call.full_name} failed in the notebook: {type(error).__name__}.")
        else:
            self._done(call, result)

    def _told(self, call: ModelCall, event: CallEvent) -> None:
        if isinstance(event, QuestionClosed) and event.question.kind == "approval" and event.answer is not None:
            call.approval = _approval(event.answer)
            changed = mapping_of(event.answer.content).get("arguments")
            if is_object(changed):
                call.arguments = changed
        self._tell(CallTold(call, event))

    def _done(self, call: ModelCall, result: Result) -> None:
        call.result = result
        call.outcome = "error" if result.is_error else "ok"
        call.said = one_line(result.text, 300) if result.is_error else ""
        self._provenance.returned(call.server, result.text)
        if result.raw.get("structuredContent") is not None:
            self._provenance.returned(call.server, json.dumps(result.raw["structuredContent"], ensure_ascii=False))
        self._tell(CallEnded(call))

    async def _search(self, call: ModelCall) -> None:
        """The search of our own: what it finds is described to the model from the next round on."""
        query = str(call.arguments.get("query") or "")
        wanted = call.arguments.get("limit")
        limit = min(max(wanted, 1), 20) if isinstance(wanted, int) else self._limits.found
        try:
            found = await self._toolbox.search(query, limit)
        except UsageError as error:
            self._refuse(call, "error", str(error))
            return
        lines = [f"{self._toolbox.name_of(offer)}: {summary(offer)}" for offer in found]
        head = "You can call these now:" if lines else f"No tool fits {one_line(query, 80)!r}; try other words."
        call.shown = [text_block("\n".join([head, *lines]))]
        call.outcome = "searched"
        call.said = f"{len(found)} found" if found else "nothing found"
        self._tell(CallEnded(call))

    def _unknown(self, name: str) -> str:
        near = self._toolbox.near(name)
        if not near:
            return f"There is no tool {one_line(name, 80)!r}, and none at all right now."
        names = [*([SEARCH] if self._toolbox.searching else []), *near]
        hint = f"Did you mean {near[0]}?" if nearest(name, near) else f"There are {', '.join(names)}."
        return f"There is no tool {one_line(name, 80)!r}. {hint}"

    def _refuse(self, call: ModelCall, outcome: Outcome, said: str) -> None:
        self._tell(CallStarted(call))
        self._end(call, outcome, said)

    def _end(
        self, call: ModelCall, outcome: Outcome, said: str, result: Result | None = None, *, told: str | None = None
    ) -> None:
        call.outcome, call.said, call.result = outcome, said, result
        call.shown = error_for_model(said if told is None else told)
        self._tell(CallEnded(call))

    # --- again and again ---------------------------------------------------------------------------------------------

    def _worn_out(self, call: ModelCall) -> bool:
        key = _key(call)
        return self._given[key] + self._under_way[key] >= self._limits.repeats

    def _remember(self, call: ModelCall, key: str) -> None:
        """Count how often in a row this call gave what it gave last; a no of the person's is not asked for twice."""
        gave = _digest([call.outcome, call.said, call.result.raw if call.result else None])
        self._given[key] = self._given[key] + 1 if self._gave.get(key) == gave else 1
        self._gave[key] = gave
        if call.outcome == "denied":
            self._given[key] = self._limits.repeats

    # --- what the model sees -----------------------------------------------------------------------------------------

    def _cut(self, calls: Sequence[ModelCall]) -> None:
        """Show each result within its share of the round's budget."""
        shown = [call for call in calls if call.result is not None]
        share = min(self._limits.result, self._limits.results // max(1, len(shown)))
        for call in shown:
            assert call.result is not None
            call.shown = result_for_model(call.result, Budget(share, self._limits.images, self._supports))


def arguments_of(call: ModelCall, given: object) -> str:
    """Set the call's arguments; returns what is wrong with them, or ""."""
    if isinstance(given, str):
        try:
            given = _decoded(given.strip())
        except UsageError as error:
            return f"Not done: {error}. Call it again with one JSON object."
    if given is None:
        given = {}
    if not is_object(given):
        return "Not done: the arguments are no JSON object. Call it again with one."
    call.arguments = given
    return ""


def _approval(answer: Answer) -> str:
    """Who said what, for the transcript."""
    who = {"person": "you", "script": "a script"}.get(answer.by)
    if who is None:
        return ""
    if answer.action != "accept":
        return f"refused by {who}" if answer.action == "decline" else f"{who} made no choice"
    scope = answer.scope or "once"
    how = (
        scope if scope == "once" else f"for this {scope}" if scope in ("session", "notebook", "project") else "for good"
    )
    return f"allowed by {who}, {how}"


def _decoded(text: str) -> object:
    if not text:
        return {}
    value, end = decode_json(text, "the arguments")
    if text[end:].strip():
        raise UsageError(f"something follows the JSON of the arguments: {one_line(text[end:], 60)}")
    return value


def _key(call: ModelCall) -> str:
    return _digest([call.server, call.tool, call.arguments])


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()
