"""The acts: calling a tool, reading a resource, getting a prompt. One way in for every one of them:

    look it up  ->  check what is sent  ->  rules and consent  ->  the connection  ->  a plain result, journalled

Nothing here knows who asks (a line, a form, code, a model) beyond the word `origin`.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from jupyter_mcp.errors import (
    Cancelled,
    ConnectionLost,
    Denied,
    InputRefused,
    MCPError,
    RequestTimeout,
    ToolError,
    UsageError,
)
from jupyter_mcp.host import apps
from jupyter_mcp.host.acts import Acts, Running
from jupyter_mcp.host.catalogue import LISTS, Catalogue, OfferKind
from jupyter_mcp.host.checking import check_arguments, check_output, check_prompt_arguments
from jupyter_mcp.host.consent import Offered
from jupyter_mcp.host.events import OnEvent, Progress
from jupyter_mcp.host.journal.summary import summary
from jupyter_mcp.host.meta import checked_meta
from jupyter_mcp.host.policy import BY_HAND, Deed, fingerprint
from jupyter_mcp.host.policy.leaving import leaving
from jupyter_mcp.host.result import PromptResult, Read, Result
from jupyter_mcp.host.wording import nearest
from jupyter_mcp.protocol.salvage import display_name

if TYPE_CHECKING:
    from jupyter_mcp.client.connection import Connection
    from jupyter_mcp.client.peer import OnProgress
    from jupyter_mcp.host.consent import Consent
    from jupyter_mcp.host.entry import ServerEntry
    from jupyter_mcp.host.journal import Journal
    from jupyter_mcp.host.policy import Origin
    from jupyter_mcp.host.redaction import Redactor
    from jupyter_mcp.host.tasks import HostTask, TaskBook

__all__ = ["Doing"]

T = TypeVar("T")
_LONGEST_ERROR = 600
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f]")


class Doing:
    """Does what `Host` is asked for; `ready` gives a connected server or raises."""

    def __init__(
        self,
        acts: Acts,
        consent: Consent,
        journal: Journal,
        redactor: Redactor,
        ready: Callable[..., Awaitable[ServerEntry]],
        tasks: TaskBook,
    ) -> None:
        self._acts = acts
        self._consent = consent
        self._journal = journal
        self._redactor = redactor
        self._ready = ready
        self._tasks = tasks

    async def call_tool(
        self,
        server: str,
        name: str,
        arguments: Mapping[str, Any],
        *,
        origin: Origin,
        on_event: OnEvent | None,
        timeout: float | None,
        check: bool,
        yes: bool,
        background: bool,
        leaves: Sequence[str] = (),
        switched_on: bool = False,
        meta: Mapping[str, Any] | None = None,
        on_leave: Callable[[Mapping[str, Any]], object] | None = None,
    ) -> Result:
        """See `Host.call_tool`."""
        meta = checked_meta(meta)
        along = [*leaves, f"_meta with {', '.join(meta)}"] if meta else leaves
        act = Running(server, "tools/call", name, dict(arguments), on_event, leaves=along, meta=meta, on_leave=on_leave)
        entry, connection = await self._connected(server, act)
        tool = await self._item(connection, server, "tool", name)
        check_arguments(server, tool, act.arguments)
        deed = _deed(act, origin, yes=yes, tool=tool, trusted=entry.trusted, switched_on=switched_on)
        offered = _offered(act, entry, tool, lambda edited: check_arguments(server, tool, edited))

        async def work() -> Result:
            began = time.monotonic()
            raw = await self._tasks.call(
                act, connection, timeout=timeout, background=background, on_progress=_progress(act), on_log=_wanted
            )
            checked = check_output(tool, raw)
            notes = [*act.notes, checked.note] if checked.note else list(act.notes)
            return self._result(act, raw, time.monotonic() - began, notes, checked.fits)

        async def unchanged() -> None:
            """What was approved is what is called."""
            await connection.list("tools", refresh=True)  # not every server says that something changed
            if fingerprint(await self._item(connection, server, "tool", name)) != fingerprint(tool):
                text = f"{server} changed what it says of {name} while you were asked, so it was not called."
                raise Denied(text, server=server, hint="Call it again to see what it is now.")

        return self._checked(act, await self._do(act, deed, work, offered, unchanged), check)

    def goes_unasked(
        self, entry: ServerEntry, tool: Mapping[str, Any], *, origin: Origin, switched_on: bool = False
    ) -> bool:
        """See `Host.goes_unasked`."""
        act = Running(entry.name, "tools/call", str(tool.get("name") or ""), {})
        deed = _deed(act, origin, tool=tool, trusted=entry.trusted, switched_on=switched_on)
        return self._consent.goes_unasked(deed)

    async def task_result(self, task: HostTask, *, origin: Origin, on_event: OnEvent | None, check: bool) -> Result:
        """See `Host.task_result`."""
        act = Running(task.server, "tools/call", task.tool, dict(task.arguments), on_event, task=task)

        async def work() -> Result:
            began = time.monotonic()
            raw = await self._tasks.follow(act, _progress(act))
            return self._result(act, raw, time.monotonic() - began, list(act.notes), None)

        deed = _deed(act, origin, yes=True)  # it was approved when it was begun
        return self._checked(act, await self._do(act, deed, work), check)

    def _result(
        self, act: Running, raw: Mapping[str, Any], seconds: float, notes: Sequence[str], fits: bool | None
    ) -> Result:
        return Result(
            raw,
            server=act.server,
            tool=act.name,
            duration=seconds,
            notes=notes,
            sent=lambda: self._redactor.clean(act.arguments),
            request_id=act.request,
            fits=fits,
            mask=self._redactor.known,
        )

    def _checked(self, act: Running, result: Result, check: bool) -> Result:
        """The result; raises `ToolError` when the tool reports an error and that was asked for."""
        server, name = act.server, act.name
        if result.is_error and check:
            said = f"{server}.{name}: {_error_text(result)}"
            if act.notes and said[-1] not in ".!?":
                said += "."
            # Our notes may name the cause: a question that nobody could answer, and how to script it.
            error = ToolError(said, result=result, server=server, hint="\n".join(act.notes) or None)
            self._redactor.error(error, self._redactor.known)
            raise error
        return result

    async def read(
        self,
        server: str,
        uri: str,
        values: Mapping[str, Any] | None,
        *,
        fresh: bool,
        origin: Origin,
        on_event: OnEvent | None,
        timeout: float | None,
    ) -> Read:
        """See `Host.read`."""
        target = expand(uri, values) if values else uri
        act = Running(server, "resources/read", target, {}, on_event)
        _, connection = await self._connected(server, act)

        async def work() -> Read:
            began = time.monotonic()
            raw = await connection.read(target, fresh=fresh, timeout=timeout, on_note=act.note)
            seconds, known = time.monotonic() - began, self._redactor.known
            return Read(raw, uri=target, server=server, duration=seconds, notes=list(act.notes), mask=known)

        return await self._do(act, _deed(act, origin), work)

    async def get_prompt(
        self,
        server: str,
        name: str,
        arguments: Mapping[str, Any],
        *,
        origin: Origin,
        on_event: OnEvent | None,
        timeout: float | None,
    ) -> PromptResult:
        """See `Host.get_prompt`."""
        act = Running(server, "prompts/get", name, dict(arguments), on_event)
        entry, connection = await self._connected(server, act)
        prompt = await self._item(connection, server, "prompt", name)
        check_prompt_arguments(server, prompt, arguments)

        async def work() -> PromptResult:
            began = time.monotonic()
            texts = check_prompt_arguments(server, prompt, act.arguments)
            raw = await connection.get_prompt(name, texts, timeout=timeout)
            return PromptResult(
                raw, server=server, prompt=name, duration=time.monotonic() - began, notes=list(act.notes)
            )

        def check(edited: Mapping[str, Any]) -> None:
            check_prompt_arguments(server, prompt, edited)

        return await self._do(act, _deed(act, origin), work, _offered(act, entry, prompt, check))

    def offerer(self, catalogue: Catalogue, uri: str) -> str:
        """The server that offers a URI: by its list, else by a template that fits, else the only one with resources."""
        from jupyter_mcp.protocol import uritemplate

        listed = {offer.server for offer in catalogue.resources() if offer.name == uri}
        fitting = {
            o.server for o in catalogue.templates() if o.name == uri or uritemplate.match(o.name, uri) is not None
        }
        any_at_all = {offer.server for offer in (*catalogue.resources(), *catalogue.templates())}
        for found in (listed, fitting, any_at_all):
            if len(found) == 1:
                return found.pop()
            if found and found is not any_at_all:
                names = ", ".join(sorted(found))
                raise UsageError(f"{uri} is offered by {names}.", hint="Name the server: read SERVER URI")
        raise UsageError(f"No connected server offers {uri}.", hint="%mcp resources lists what there is.")

    # --- the way in --------------------------------------------------------------------------------------------------

    async def _do(
        self,
        act: Running,
        deed: Deed,
        work: Callable[[], Awaitable[T]],
        offered: Offered | None = None,
        unchanged: Callable[[], Awaitable[None]] | None = None,
    ) -> T:
        """Rules and consent, then the work; journalled from beginning to end.

        `unchanged` is called when somebody was asked, and raises when it is not any more what they were asked about.
        """
        number = self._journal.begin(act.server, act.method, act.name, deed.origin, arguments=act.arguments)
        outcome, remark, rule, reason, told = "error", None, None, None, None
        try:
            with self._acts.enter(act):
                leave = await self._consent.obtain(deed, act, offered or Offered())
                rule, reason, act.arguments = leave.rule, leave.reason, leave.arguments
                if leave.asked and unchanged is not None:
                    await unchanged()
                act.allowed()
                result = await act.run(work)
            told = summary(getattr(result, "raw", None), self._redactor.text)
            failed = isinstance(result, Result) and result.is_error
            outcome, remark = ("error", _error_text(cast("Result", result))) if failed else ("ok", None)
            return result
        except asyncio.CancelledError:
            outcome, remark = "cancelled", act.task.left() if act.task is not None else None
            raise
        except MCPError as error:
            error.server = error.server or act.server
            self._redactor.error(error, self._redactor.known)
            if isinstance(error, ConnectionLost):
                error.hint = _after_loss(act, error)
            rule = error.rule or rule if isinstance(error, Denied) else rule
            outcome, remark = _outcome(error), str(error)
            raise
        finally:
            changed = None if act.arguments is deed.arguments else act.arguments
            self._journal.end(number, outcome, remark=remark, rule=rule, arguments=changed, reason=reason, result=told)

    async def _connected(self, server: str, act: Running) -> tuple[ServerEntry, Connection]:
        entry = await self._ready(server, act.note)
        act.away = lambda: not entry.ready
        act.complain = lambda text: entry.say("note", text, level="error")
        assert entry.connection is not None
        return entry, entry.connection

    async def _item(self, connection: Connection, server: str, kind: OfferKind, name: str) -> Mapping[str, Any]:
        listing = await connection.list(LISTS[kind])
        if not any(item["name"] == name for item in listing.items):  # new, and its server tells late or never
            listing = await connection.list(LISTS[kind], refresh=True)
        for item in listing.items:
            if item["name"] == name:
                return item
        names = [str(item["name"]) for item in listing.items]
        near = nearest(name, names)
        some = (
            f"It has {', '.join(names[:10])}{' …' if len(names) > 10 else ''}."
            if names
            else f"It has no {LISTS[kind]}."
        )
        hint = f"Did you mean {server}.{near}?" if near else some
        raise UsageError(f"{server} has no {kind} {name!r}.", hint=hint, server=server)


def _deed(
    act: Running,
    origin: Origin,
    *,
    yes: bool = False,
    tool: Mapping[str, Any] | None = None,
    trusted: bool = False,
    switched_on: bool = False,
) -> Deed:
    """The act as the policy sees it."""
    hints = (tool or {}).get("annotations")
    return Deed(
        act.server,
        act.method,
        act.name,
        act.arguments,
        origin,
        annotations=cast("Mapping[str, Any]", hints) if isinstance(hints, Mapping) else {},
        trusted=trusted,
        # what a person begins needs no approval that a changed tool could void
        fingerprint=fingerprint(tool) if tool is not None and origin not in BY_HAND else None,
        yes=yes,
        off=_hidden(act, origin, tool),
        on=switched_on,
    )


def _hidden(act: Running, origin: Origin, tool: Mapping[str, Any] | None) -> str:
    """Why a tool is not there for whoever wants it, by its own server's word; "" when it is."""
    if tool is None or origin not in ("model", "app") or apps.may_call(origin, tool):
        return ""
    return f"{act.server} keeps {act.server}.{act.name} from {'models' if origin == 'model' else 'its apps'}"


def _offered(
    act: Running, entry: ServerEntry, item: Mapping[str, Any], check: Callable[[Mapping[str, Any]], None]
) -> Offered:
    """What the person is shown beside the act."""
    schema = item.get("inputSchema")
    shown = cast("Mapping[str, Any]", schema) if isinstance(schema, Mapping) else None
    return Offered(
        display_name(item) or act.name, shown, lambda: [*leaving(entry.spec, act.arguments), *act.leaves], check
    )


def expand(uri: str, values: Mapping[str, Any]) -> str:
    """The URI of a template and its values. Raises `UsageError` for a value that it has no place for, or none given."""
    from jupyter_mcp.protocol import uritemplate

    known = list(uritemplate.variables(uri))
    for name in values:
        if name not in known:
            near = nearest(name, known)
            hint = (
                f"Did you mean {near}?"
                if near
                else f"It takes {', '.join(known)}."
                if known
                else "It has no variables."
            )
            raise UsageError(f"{uri} takes no {name!r}.", hint=hint)
    return uritemplate.expand(uri, values)


def _after_loss(act: Running, error: ConnectionLost) -> str | None:
    """Whether it may have been done, and what to do now."""
    said = (error.hint or "").removeprefix("It may have been run.").removeprefix("It was not run.").strip()
    if act.method == "tools/call":  # asking for anything else twice changes nothing
        ran = "It may have been run. Look before you call it again." if error.may_have_run else "It was not run."
        said = f"{ran} {said}".rstrip()
    if act.away():
        said = f"{said} The next call connects {act.server} again.".strip()
    return said or None


def _outcome(error: MCPError) -> str:
    if isinstance(error, Denied):
        return "denied"
    if isinstance(error, InputRefused):
        return "refused"
    if isinstance(error, Cancelled):
        return "cancelled"
    return "timeout" if isinstance(error, RequestTimeout) else "error"


def _progress(act: Running) -> OnProgress:
    return lambda progress, total, text: act.emit(Progress(progress, total, text))


def _wanted(level: str, logger: str | None, data: Any) -> None:
    """Says that log messages are wanted; they come by `HostPeer.notify`, like all others."""


def _error_text(result: Result) -> str:
    """The tool's own words, shortened and printable."""
    text = _CONTROL.sub("", result.text).strip()
    found: Any = result.data
    if not text and isinstance(found, Mapping):
        data = cast("Mapping[str, Any]", found)
        text = str(data.get("error") or data.get("message") or "")
    if not text:
        return "the tool reported an error without saying which."
    return text if len(text) <= _LONGEST_ERROR else f"{text[:_LONGEST_ERROR]} …"
