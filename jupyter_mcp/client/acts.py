"""What is done with a server, act by act: each one request with its params, the same in both eras.

Only words here: how a request travels, and what its failures mean, is `calls`; the connection they belong to is
`connection.Connection`, which is one of these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.client.peer import Call
from jupyter_mcp.errors import ConnectionLost, RequestTimeout, UsageError
from jupyter_mcp.protocol import jsonrpc
from jupyter_mcp.protocol.capabilities import declared, may_notify
from jupyter_mcp.protocol.methods import known
from jupyter_mcp.protocol.modern import LOG_LEVELS, cache_hints
from jupyter_mcp.protocol.revisions import features

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jupyter_mcp.client.cache import Cache
    from jupyter_mcp.client.calls import Calls
    from jupyter_mcp.client.listings import Kind, Listing
    from jupyter_mcp.client.peer import OnLog, OnProgress
    from jupyter_mcp.client.session import Session
    from jupyter_mcp.client.tasks import OnTask, Tasks
    from jupyter_mcp.protocol.tasks import TaskState

READ = "resources/read"


def _unseen(state: TaskState) -> None:
    """Nobody watches the task."""


class Acts:
    """The acts of a connection. Each raises what `Connection.request` raises.

    Attributes:
        cache: what the server said and let be kept; None while it let nothing be.
        changes: how often it said that something had changed.
    """

    name: str
    session: Session | None
    requests: Calls
    cache: Cache | None
    changes: int
    tasks: Tasks

    def listing(self, kind: Kind) -> Listing | None:
        """What was listed last; never waits."""
        raise NotImplementedError

    @property
    def ready(self) -> bool:
        """Whether requests can be sent."""
        raise NotImplementedError

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        on_progress: OnProgress | None = None,
        on_log: OnLog | None = None,
        background: bool = False,
        on_task: OnTask | None = None,
        on_id: Callable[[int | str], object] | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """tools/call; the result as the server sent it (an `isError` result is a result).

        A call that becomes a task is waited for until the task ends; cancelling the waiting asyncio task leaves it.

        Args:
            background: 2025-11-25: ask for a task where the tool may be one, not only where it must.
            on_task: told of the task and of every change of its state.
            on_id: told the JSON-RPC id of the request; of each, when it takes several rounds.
            meta: what goes along in the request's `_meta`, beside the protocol's own keys.
        """
        level = "info" if on_log is not None and self._logs() else None
        params: dict[str, Any] = {"name": name, "arguments": dict(arguments or {})}
        if self.session is not None and self.tasks.asks_for(self.session, self._tool(name), background=background):
            params["task"] = {}
        if meta:
            params["_meta"] = dict(meta)
        return await self.requests.run(
            "tools/call",
            params,
            timeout=timeout,
            on_progress=on_progress,
            on_log=on_log,
            log_level=level,
            on_task=on_task or _unseen,
            on_id=on_id,
        )

    async def follow_task(
        self,
        state: TaskState,
        *,
        name: str = "",
        arguments: Mapping[str, Any] | None = None,
        on_progress: OnProgress | None = None,
        on_task: OnTask | None = None,
    ) -> dict[str, Any]:
        """Wait for a task that was begun earlier; the result of its call, as of `call_tool`.

        Args:
            state: the task, as it was last.
            name, arguments: of the tool, for whoever asks what a question is about.
        """
        call = Call("tools/call", name, dict(arguments or {}), on_progress)
        return await self.requests.follow(call, state, on_task or _unseen)

    def _tool(self, name: str) -> Mapping[str, Any] | None:
        """The tool as it was listed, if it was."""
        listing = self.listing("tools")
        return next((tool for tool in listing.items if tool.get("name") == name), None) if listing else None

    def _logs(self) -> bool:
        session = self.session
        return session is not None and session.log_level is None and declared(session.capabilities, ("logging",))

    async def read(
        self,
        uri: str,
        *,
        fresh: bool = False,
        timeout: float | None = None,
        on_note: Callable[[str], None] | None = None,
    ) -> dict[str, Any]:
        """resources/read; the URI goes out exactly as given.

        Args:
            fresh: ask the server in any case, also while what it said last is still fresh by its own word (`ttlMs`).
            on_note: told when the server cannot be asked and what it said earlier is returned.
        """
        params = {"uri": uri}
        if self.session is None or self.session.era == "legacy" or not self.ready:
            return await self.requests.run(READ, params, timeout=timeout)
        if not fresh and self.cache is not None and (kept := self.cache.fresh(READ, uri)) is not None:
            return kept.copy()
        try:
            return await self.requests.run(READ, params, timeout=timeout, keep=self.keeper(READ, uri, shared=False))
        except (ConnectionLost, RequestTimeout) as error:
            kept = None if fresh or self.cache is None else self.cache.stale(READ, uri)
            if kept is None:
                raise
            if on_note is not None:
                on_note(f"{error} What it said earlier is shown.")
            return kept.copy()

    def keeper(self, method: str, key: str, *, shared: bool) -> Callable[[dict[str, Any]], None]:
        """Takes a result to be kept for as long as it says, unless the server reports a change until it comes."""
        changes = self.changes

        def keep(result: dict[str, Any]) -> None:
            if cache_hints(result)[0] and changes == self.changes:
                if self.cache is None:
                    from jupyter_mcp.client.cache import Cache

                    self.cache = Cache()
                self.cache.put(method, key, result, shared=shared)

        return keep

    async def get_prompt(
        self, name: str, arguments: Mapping[str, str] | None = None, *, timeout: float | None = None
    ) -> dict[str, Any]:
        """prompts/get."""
        params: dict[str, Any] = {"name": name}
        if arguments:
            params["arguments"] = dict(arguments)
        return await self.requests.run("prompts/get", params, timeout=timeout)

    async def complete(
        self, ref: Mapping[str, Any], argument_name: str, value: str, context: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """completion/complete: {"values": [text, …], "total"?, "hasMore"?}; no values where nothing is completed.

        Args:
            ref: {"type": "ref/prompt", "name": …} or {"type": "ref/resource", "uri": …}.
            argument_name, value: what is being typed.
            context: arguments chosen already.
        """
        session = self.session
        if session is not None and self.ready and not session.allows("completion/complete"):
            return {"values": []}
        params: dict[str, Any] = {"ref": dict(ref), "argument": {"name": argument_name, "value": value}}
        if context and session is not None and features(session.revision).completion_context:
            params["context"] = {"arguments": dict(context)}
        result = await self.requests.run("completion/complete", params)
        found = result.get("completion")
        completion = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
        values = completion.get("values")
        texts = (
            [item for item in cast("list[Any]", values) if isinstance(item, str)] if isinstance(values, list) else []
        )
        return {**completion, "values": texts}

    async def set_log_level(self, level: str) -> None:
        """Which log messages the server sends from now on (legacy: told at once; modern: with every request)."""
        if level not in LOG_LEVELS:
            raise UsageError(f"There is no log level {level!r}; there are {', '.join(LOG_LEVELS)}.", server=self.name)
        if self.session is not None and self.session.era == "modern":
            self.session.log_level = level
        else:
            await self.requests.run("logging/setLevel", {"level": level})

    async def ping(self, *, timeout: float | None = None) -> None:
        """Ask for a sign of life (modern: server/discover, whose answer also renews what is known of the server)."""
        session = self.session
        if session is None or session.era == "legacy":
            await self.requests.run("ping", None, timeout=timeout)
        else:
            session.learn(await self.requests.run("server/discover", None, timeout=timeout))

    async def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Send a notification, if the era and what we declared allow it; else nothing is sent."""
        session = self.session
        if session is None or not self.ready:
            return
        if known(method, session.revision, "client") is None:
            return
        if may_notify(session.client_capabilities, method, session.revision, "client"):
            await session.link.tell(jsonrpc.notification(method, params))
