"""`Server`: one connected server as an object of the notebook, thin over the host's entry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.objects.act import Act, get_host, look_around
from jupyter_mcp.notebook.objects.acts import Ping, ServerActs, fresh_of, reference
from jupyter_mcp.notebook.objects.collections import Prompts, Resources, Templates, Tools

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from jupyter_mcp.host.entry import ServerEntry
    from jupyter_mcp.host.result import PromptResult, Read, Result
    from jupyter_mcp.notebook.objects.happened import Log
    from jupyter_mcp.notebook.objects.task import Tasks
    from jupyter_mcp.notebook.objects.trace import Trace
    from jupyter_mcp.notebook.objects.watch import Watch


class Server:
    """A connected MCP server.

    Attributes:
        name: how this notebook calls it.
        entry: the host's record of it.
        tools, resources, templates, prompts: what it offers (attributes, not properties: Tab looks through those).
    """

    def __init__(self, entry: ServerEntry) -> None:
        self.entry = entry
        self.tools = Tools(self)
        self.resources = Resources(self)
        self.templates = Templates(self)
        self.prompts = Prompts(self)
        self._acts = ServerActs(entry.name)

    # --- what it is --------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self.entry.name

    @property
    def state(self) -> str:
        """ "starting", "ready", "unresponsive", "reconnecting", "lost" (it went away), "closed" or "failed"."""
        return self.entry.state

    @property
    def era(self) -> str | None:
        """ "legacy" or "modern"; None before the first answer."""
        return self.entry.era

    @property
    def revision(self) -> str | None:
        return self.entry.revision

    @property
    def info(self) -> Mapping[str, Any]:
        """Name, title, version … as the server says."""
        return self.entry.info

    @property
    def instructions(self) -> str | None:
        return self.entry.instructions

    @property
    def capabilities(self) -> Mapping[str, Any]:
        return self.entry.capabilities

    @property
    def stderr(self) -> Sequence[str]:
        """The last lines of the process's stderr, secrets masked."""
        return self.entry.stderr

    @property
    def log(self) -> Log:
        """stderr, log messages and notes."""
        from jupyter_mcp.notebook.objects.happened import Log

        return Log.of(self.entry)

    @property
    def trace(self) -> Trace:
        """The messages to and from this server, secrets redacted."""
        from jupyter_mcp.notebook.objects.trace import Trace

        return Trace.of(get_host().journal.entries(self.name), self.name)

    @property
    def tasks(self) -> Tasks:
        """Tool calls that outlive their request; `server.tasks["t1"]` is one of them."""
        from jupyter_mcp.notebook.objects.task import Tasks

        return Tasks(self.name)

    # --- what it does ------------------------------------------------------------------------------------------------

    def read(self, uri: str, **values: Any) -> Read:
        """Read a resource: a URI, or a template with its variables.

        A server may say for how long what it answers is good; `fresh=True` asks it in any case.
        """
        from jupyter_mcp.notebook.waiting import watched

        fresh = fresh_of(uri, values)
        return watched(f"{self.name} {uri}", lambda told: self._acts.read(uri, values, fresh=fresh, on_event=told))

    def complete(
        self, item: Any, argument: str, prefix: str = "", context: Mapping[str, str] | None = None
    ) -> list[str]:
        """How an argument of a prompt or template could go on, by the server.

        Args:
            item: a `Prompt`, a `Template`, a prompt's name or a URI template.
            argument: which argument.
            prefix: what is there already.
            context: the arguments chosen so far.
        """
        return self._acts.complete(reference(item), argument, prefix, context).now()

    def watch(self, uri: str, callback: Callable[[str], Any] | None = None) -> Watch:
        """Be told when a resource changes; `.stop()` of what it returns ends that."""
        return self._watch(uri, callback).now()

    def ping(self) -> Ping:
        """See whether the server answers; `.seconds` is how long it took."""
        return self._acts.ping().now()

    def reconnect(self) -> Server:
        """Close the connection and open it again, as first given."""
        return self._reconnect().now()

    def close(self) -> None:
        """Close the connection and forget the server."""
        self._close().now()

    @property
    def aio(self) -> AsyncServer:
        """The awaitable twins: `await server.aio.read(…)`."""
        return AsyncServer(self)

    def __repr__(self) -> str:
        words = [self.name, self.state, *(part for part in (self.era, self.revision) if part)]
        return f"<Server {' '.join(words)}>"

    def __mcp_view__(self) -> Any:
        from jupyter_mcp.notebook.objects.views import server_view

        return server_view(self.entry)

    def by(self, origin: str) -> ServerActs:
        """The acts on this server, begun by somebody else than code (`"person"`: a typed line)."""
        return ServerActs(self.name, origin)

    def _items(self, kind: str) -> Sequence[Mapping[str, Any]]:
        from jupyter_mcp.notebook.objects.views import cached

        found = cached(self.entry, kind)
        if found is not None:
            return found.items
        return self._acts.items(kind).now()

    def _watch(self, uri: str, callback: Callable[[str], Any] | None) -> Act[Watch]:
        from jupyter_mcp.notebook.objects.watch import Watch

        return Watch.begin(self, uri, callback)

    def _reconnect(self) -> Act[Server]:
        async def start() -> Server:
            from jupyter_mcp.notebook.objects.servers import server_of

            entry = await get_host().reconnect(self.name)
            await look_around([entry])
            return server_of(entry)

        return Act(f"reconnect {self.name}", start)

    def _close(self) -> Act[None]:
        async def start() -> None:
            host = get_host()
            if host.servers.get(self.name) is self.entry:
                await host.disconnect(self.name)

        return Act(f"disconnect {self.name}", start)


class AsyncServer:
    """What a `Server` does, awaitable."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._acts = server._acts  # pyright: ignore[reportPrivateUsage]

    async def call(self, tool: str, args: Mapping[str, Any] | None = None, *, check: bool = True) -> Result:
        return await self._acts.call(tool, args or {}, check=check).later()

    async def read(self, uri: str, **values: Any) -> Read:
        fresh = fresh_of(uri, values)
        return await self._acts.read(uri, values, fresh=fresh).later()

    async def prompt(self, name: str, args: Mapping[str, Any] | None = None) -> PromptResult:
        return await self._acts.prompt(name, args or {}).later()

    async def complete(
        self, item: Any, argument: str, prefix: str = "", context: Mapping[str, str] | None = None
    ) -> list[str]:
        return await self._acts.complete(reference(item), argument, prefix, context).later()

    async def watch(self, uri: str, callback: Callable[[str], Any] | None = None) -> Watch:
        return await self._server._watch(uri, callback).later()  # pyright: ignore[reportPrivateUsage]

    async def ping(self) -> Ping:
        return await self._acts.ping().later()

    async def reconnect(self) -> Server:
        return await self._server._reconnect().later()  # pyright: ignore[reportPrivateUsage]

    async def close(self) -> None:
        await self._server._close().later()  # pyright: ignore[reportPrivateUsage]

    def __repr__(self) -> str:
        return f"<AsyncServer {self._server.name}>"
