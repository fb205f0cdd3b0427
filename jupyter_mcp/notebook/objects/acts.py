"""What can be done with one server, each act once (see `act`): the synchronous and the awaitable names share them.

All of it goes through the host's one way in: arguments checked, policy asked, journalled.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.events import TaskChanged
from jupyter_mcp.host.plain import plain
from jupyter_mcp.notebook.objects.act import Act, get_host
from jupyter_mcp.protocol.shapes import as_list

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.host.events import CallEvent, OnEvent
    from jupyter_mcp.host.result import PromptResult, Read, Result
    from jupyter_mcp.host.tasks import HostTask


class Ping:
    """A server answered.

    Attributes:
        server: which one.
        seconds: how long it took (not in its picture, so that saved cells can be compared).
    """

    def __init__(self, server: str, seconds: float) -> None:
        self.server = server
        self.seconds = seconds

    def __float__(self) -> float:
        return self.seconds

    def __repr__(self) -> str:
        return f"<{self.server} answered>"

    def __mcp_view__(self) -> Any:
        from jupyter_mcp.notebook.render.views import NoteView

        return NoteView(f"{self.server} answers.", "good")


class ServerActs:
    """The acts on one server.

    Args:
        name: the server's name in the host; None lets the host find it (`read` only).
        origin: who begins them: "code" for Python, "person" for a typed line.
    """

    def __init__(self, name: str | None, origin: str = "code") -> None:
        self.name = name or ""
        self.origin = origin

    def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        check: bool = True,
        timeout: float | None = None,
        yes: bool = False,
        background: bool = False,
        meta: Mapping[str, Any] | None = None,
        on_event: OnEvent | None = None,
    ) -> Act[Result]:
        """Call a tool. When it became a task, an interrupt leaves that."""
        sent = plain(arguments, "the arguments")
        tasks: list[HostTask] = []

        def heard(event: CallEvent) -> None:
            if isinstance(event, TaskChanged) and not tasks:
                tasks.append(event.task)
            if on_event is not None:
                on_event(event)

        async def start() -> Result:
            return await get_host().call_tool(
                self.name,
                tool,
                sent,
                origin=self.origin,
                on_event=heard,
                timeout=timeout,
                check=check,
                yes=yes,
                background=background,
                meta=meta,
            )

        return Act(f"{self.name}.{tool}", start, left=lambda: tasks[0].left() if tasks else None)

    def read(
        self,
        uri: str,
        values: Mapping[str, Any] | None = None,
        *,
        fresh: bool = False,
        on_event: OnEvent | None = None,
    ) -> Act[Read]:
        """Read a resource, or the one that a template leads to with these values; `fresh` asks in any case."""
        sent = plain(values or {}, "the variables")

        async def start() -> Read:
            return await get_host().read(
                self.name or None, uri, sent or None, fresh=fresh, origin=self.origin, on_event=on_event
            )

        return Act(f"{self.name} {uri}".strip(), start)

    def prompt(self, name: str, arguments: Mapping[str, Any], *, on_event: OnEvent | None = None) -> Act[PromptResult]:
        """Get a prompt's messages; arguments of prompts are text."""
        sent = {key: _text(value) for key, value in arguments.items()}

        async def start() -> PromptResult:
            return await get_host().get_prompt(self.name, name, sent, origin=self.origin, on_event=on_event)

        return Act(f"{self.name}.{name}", start)

    def complete(
        self, reference: Mapping[str, str], argument: str, prefix: str, context: Mapping[str, str] | None = None
    ) -> Act[list[str]]:
        """Ask the server how an argument could go on."""

        async def start() -> list[str]:
            answer = await get_host().complete(self.name, reference, argument, prefix, context)
            return [str(value) for value in as_list(answer.get("values"))]

        return Act(f"completion of {argument}", start)

    def items(self, kind: str) -> Act[list[Mapping[str, Any]]]:
        """What the server offers of one kind."""

        async def start() -> list[Mapping[str, Any]]:
            listing = await (await get_host().connection(self.name)).list(kind)
            return list(listing.items)

        return Act(f"the {kind} of {self.name}", start)

    def ping(self) -> Act[Ping]:
        """See whether the server answers."""

        async def start() -> Ping:
            begin = time.perf_counter()
            await (await get_host().connection(self.name)).ping()
            return Ping(self.name, time.perf_counter() - begin)

        return Act(f"ping {self.name}", start)

    def log_level(self, level: str) -> Act[None]:
        """Which log messages the server sends."""

        async def start() -> None:
            await (await get_host().connection(self.name)).set_log_level(level)

        return Act(f"log level of {self.name}", start)


def fresh_of(uri: str, values: dict[str, Any]) -> bool:
    """Takes `fresh` out of keywords, unless it is a variable of the template."""
    from jupyter_mcp.protocol import uritemplate

    if "fresh" not in values or "fresh" in uritemplate.variables(uri):
        return False
    return bool(values.pop("fresh"))


def reference(item: Any) -> dict[str, str]:
    """What completion/complete calls a prompt or a template."""
    from jupyter_mcp.notebook.objects.items import Prompt, Template

    if isinstance(item, Prompt):
        return {"type": "ref/prompt", "name": item.name}
    if isinstance(item, Template):
        return {"type": "ref/resource", "uri": item.uri_template}
    if isinstance(item, str):
        return {"type": "ref/resource", "uri": item} if "{" in item else {"type": "ref/prompt", "name": item}
    raise UsageError(f"MCP has completion for the arguments of prompts and templates, not for a {type(item).__name__}.")


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    import json

    made = plain(value, "the argument")
    return made if isinstance(made, str) else json.dumps(made, ensure_ascii=False)
