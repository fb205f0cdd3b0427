"""What a card's buttons do, behind one small protocol, so that a card never blocks and never knows the host.

Every act returns a `concurrent.futures.Future` at once; cancelling it cancels the act on the server too. The default
implementation stands on the kernel's host and runtime; tests give their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from jupyter_mcp.errors import MCPError
from jupyter_mcp.protocol.shapes import as_list

if TYPE_CHECKING:
    from concurrent.futures import Future

    from jupyter_mcp.host.policy import Origin, Scope
    from jupyter_mcp.host.specs import ServerSpec
    from jupyter_mcp.notebook.render.views import ServerView
    from jupyter_mcp.runtime.place import Place

__all__ = ["CallOptions", "HostRunner", "Runner"]

OnEvent = Callable[[Any], None]


@dataclass(frozen=True)
class CallOptions:
    """How a call is made, beside its arguments.

    Attributes:
        meta: what goes along in the request's `_meta`. timeout: seconds without progress; None for the server's.
        task: ask for a task, where the server lets the client choose.
    """

    meta: Mapping[str, Any] | None = None
    timeout: float | None = None
    task: bool = False


class Runner(Protocol):
    """The acts that cards offer."""

    def call(
        self,
        server: str,
        tool: str,
        arguments: Mapping[str, Any],
        on_event: OnEvent,
        options: CallOptions | None = None,
    ) -> Future[Any]:
        """Call a tool; `on_event` gets `CallEvent`s on another thread. Yields a `Result`."""
        ...

    def read(self, server: str, uri: str) -> Future[Any]:
        """Read a resource. Yields a `Read`."""
        ...

    def prompt(self, server: str, name: str, arguments: Mapping[str, str]) -> Future[Any]:
        """Get a prompt. Yields a `PromptResult`."""
        ...

    def complete(
        self, server: str, ref: Mapping[str, Any], argument: str, value: str, context: Mapping[str, str]
    ) -> Future[list[str]]:
        """Suggestions for an argument of a prompt or a variable of a template; [] when the server has none."""
        ...

    def scopes(self) -> Sequence[Scope]:
        """For how long something may be switched, the shortest first."""
        ...

    def switched_off(self, server: str, name: str | None) -> str:
        """Why models cannot use a tool, or (None) a whole server, in words; "" when they can."""
        ...

    def switch(self, server: str, name: str | None, on: bool, scope: Scope) -> None:
        """Switch it. Raises `MCPError` when that cannot be kept."""
        ...

    def connect(self, spec: ServerSpec, origin: Origin) -> Future[Any]:
        """Connect to a server that a file names; "project" asks for a yes to exactly this."""
        ...

    def disconnect(self, server: str) -> Future[Any]:
        """Close a server's connection."""
        ...

    def reconnect(self, server: str) -> Future[Any]:
        """Start it again, by the same command or address."""
        ...

    def follow(self, changed: Callable[[str, ServerView | None], object]) -> Callable[[], object]:
        """Call `changed(name, view)` on another thread when a server's state or lists change (None: it is gone).

        What it returns ends that.
        """
        ...


class HostRunner:
    """The acts on this kernel's host. A pressed button is the person's consent, so the origin is "person".

    It is made where its card is displayed: what the server asks during an act appears in that cell.
    """

    def __init__(self) -> None:
        from jupyter_mcp.runtime import place

        self._place = place.here()

    @property
    def place(self) -> Place:
        """The cell that its card was displayed in."""
        return self._place

    def _submit(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Future[Any]:
        from jupyter_mcp.runtime import place
        from jupyter_mcp.runtime.thread import get_runtime

        token = place.current.set(self._place)
        try:
            return get_runtime().submit(function, *args, **kwargs)
        finally:
            place.current.reset(token)

    @property
    def _host(self) -> Any:
        from jupyter_mcp.runtime import state

        return state.get_host()

    def call(
        self,
        server: str,
        tool: str,
        arguments: Mapping[str, Any],
        on_event: OnEvent,
        options: CallOptions | None = None,
    ) -> Future[Any]:
        more = options or CallOptions()
        return self._submit(
            self._host.call_tool,
            server,
            tool,
            dict(arguments),
            origin="person",
            on_event=on_event,
            check=False,
            meta=more.meta,
            timeout=more.timeout,
            background=more.task,
        )

    def read(self, server: str, uri: str) -> Future[Any]:
        return self._submit(self._host.read, server, uri, origin="person")

    def prompt(self, server: str, name: str, arguments: Mapping[str, str]) -> Future[Any]:
        return self._submit(self._host.get_prompt, server, name, dict(arguments), origin="person")

    def complete(
        self, server: str, ref: Mapping[str, Any], argument: str, value: str, context: Mapping[str, str]
    ) -> Future[list[str]]:
        return self._submit(self._completions, server, dict(ref), argument, value, dict(context))

    async def _completions(
        self, server: str, ref: Mapping[str, Any], argument: str, value: str, context: Mapping[str, str]
    ) -> list[str]:
        answer = await self._host.complete(server, ref, argument, value, context)
        return [one for one in as_list(answer.get("values")) if isinstance(one, str)]

    def scopes(self) -> Sequence[Scope]:
        return [scope for scope in self._host.policy.scopes if scope != "once"]

    def switched_off(self, server: str, name: str | None) -> str:
        found = self._host.policy.disabled(server, name)
        return "" if found is None else f"switched off ({found})"

    def switch(self, server: str, name: str | None, on: bool, scope: Scope) -> None:
        from jupyter_mcp.host.policy.rules import literal

        policy = self._host.policy
        (policy.enable if on else policy.disable)(literal(server, name), scope)

    def connect(self, spec: ServerSpec, origin: Origin) -> Future[Any]:
        return self._submit(self._host.connect, spec, origin=origin)

    def disconnect(self, server: str) -> Future[Any]:
        return self._submit(self._host.disconnect, server)

    def reconnect(self, server: str) -> Future[Any]:
        return self._submit(self._reconnect, server)

    def follow(self, changed: Callable[[str, ServerView | None], object]) -> Callable[[], object]:
        from jupyter_mcp.notebook.objects.views import server_view

        host = self._host

        def listen(name: str) -> None:
            entry = host.servers.get(name)
            changed(name, server_view(entry) if entry is not None else None)

        def stop() -> None:
            with suppress(ValueError):
                host.listeners.remove(listen)

        host.listeners.append(listen)
        return stop

    async def _reconnect(self, server: str) -> Any:
        """Connect again and read the lists, so that the card can say how much is offered."""
        entry = await self._host.reconnect(server)
        for kind in ("tools", "resources", "templates", "prompts"):
            with suppress(MCPError):
                await entry.connection.list(kind)
        return entry
