"""`Server`: what an author writes to offer tools, resources and prompts.

    server = Server("notes")

    @server.tool
    def add(a: float, b: float) -> float:
        "Add two numbers."
        return a + b

    if __name__ == "__main__":
        server.run_stdio()

Functions stay what they are: a decorator registers its function and returns it unchanged. `def` handlers run on
threads, `async def` handlers on the loop; several requests run at once. Defining a server imports nothing heavy.

Below: `registry`, `pipe`, `http`, `dispatch`. `serve` takes any transport.
"""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any, Literal, Protocol

from jupyter_mcp._version import __version__
from jupyter_mcp.errors import UsageError
from jupyter_mcp.protocol import modern
from jupyter_mcp.protocol.inbound import ServerFacts
from jupyter_mcp.protocol.methods import TASKS_EXTENSION
from jupyter_mcp.protocol.revisions import ALL, MODERN
from jupyter_mcp.server import hints
from jupyter_mcp.server.dispatch import Dispatcher, Offer
from jupyter_mcp.server.offering import Offering
from jupyter_mcp.server.paging import PAGE_SIZE
from jupyter_mcp.server.parking import MAX_PARKED, Parking
from jupyter_mcp.server.pipe import Pipe
from jupyter_mcp.server.rounds import STATE_SECONDS, StateKeeper
from jupyter_mcp.server.tasks import TTL, ServerTasks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager

    from tornado.web import Application

    from jupyter_mcp.server.access import Verifier
    from jupyter_mcp.server.exchange import Exchange
    from jupyter_mcp.server.hints import CacheScope
    from jupyter_mcp.server.http.running import Running
    from jupyter_mcp.transport.base import Transport

_KINDS = ("tools", "resources", "prompts")


class Told(Protocol):
    """Who hears of changes: whatever serves clients."""

    def changed(self, method: str, params: dict[str, Any] | None = None) -> None:
        """Something clients may want to know changed. Any thread."""
        ...

    def watched(self) -> set[str]:
        """The URIs whose changes its clients asked to hear of. Any thread."""
        ...


class Server(Offering):
    """A server of one's own.

    Args:
        name: its name for clients.
        version: its version.
        title: its name for people.
        instructions: how and when to use it, for the model.
        description, website, icons: about it, for people.
        versions: the protocol revisions it speaks; all by default.
        offers: kinds ("tools", "resources", "prompts") to declare although there are none yet, because some will come.
        ttl_ms: how long clients may keep lists and resources (2026-07-28), in milliseconds; or for each method
            ("tools/list", "resources/read" …) its own.
        cache_scope: "public" when they are the same for everyone who asks, else "private"; or for each method.
        page_size: entries on one page of a list.
        state_key: the secret that signs `requestState`, for servers that run in several processes (32 bytes or more).
        state_seconds: how long a client may take to answer a question (2026-07-28).
        replay: "auto" has a handler that asked go on where it stopped, wherever that can be (2026-07-28); "always" has
            it run again from the top with the answers, as it must when another process gets them.
        max_parked: how many handlers may wait for answers at once (threads: a quarter of them); more run again.
        extensions: what the server does beyond the protocol, by id ("vendor.example/name"), each with its settings.
        task_ttl: seconds for which the outcome of a task is kept.

    Attributes:
        admit: called (on the loop) with every request before it is worked on; a `Failure` that it raises is the answer.
        answered: called (on the loop) with a request and the response that is about to be sent.
    """

    def __init__(
        self,
        name: str,
        *,
        version: str = __version__,
        title: str | None = None,
        instructions: str | None = None,
        description: str | None = None,
        website: str | None = None,
        icons: Sequence[Mapping[str, Any]] = (),
        versions: Sequence[str] = ALL,
        offers: Sequence[str] = (),
        ttl_ms: int | Mapping[str, int] = 0,
        cache_scope: CacheScope | Mapping[str, CacheScope] = "private",
        page_size: int = PAGE_SIZE,
        state_key: bytes | None = None,
        state_seconds: float = STATE_SECONDS,
        replay: Literal["auto", "always"] = "auto",
        max_parked: int = MAX_PARKED,
        extensions: Mapping[str, Mapping[str, Any]] | None = None,
        task_ttl: float = TTL,
    ) -> None:
        unknown = [version for version in versions if version not in ALL]
        if unknown or not versions:
            raise UsageError(f"Unknown protocol revision {unknown or 'list'}; known are {', '.join(ALL)}.")
        if wrong := [kind for kind in offers if kind not in _KINDS]:
            raise UsageError(f"A server offers {', '.join(_KINDS)}, not {', '.join(wrong)}.")
        if state_key is not None and len(state_key) < 32:
            raise UsageError("state_key needs at least 32 bytes.")
        if replay not in ("auto", "always"):
            raise UsageError(f'replay is "auto" or "always", not {replay!r}.')
        self.name = name
        self.instructions = instructions
        self.versions = tuple(versions)
        about = {
            "title": title,
            "description": description,
            "websiteUrl": website,
            "icons": [dict(one) for one in icons],
        }
        self.info: dict[str, Any] = {"name": name, "version": version} | {k: v for k, v in about.items() if v}
        self._short_info = {key: self.info[key] for key in ("name", "version", "title") if key in self.info}
        if task_ttl <= 0:
            raise UsageError("task_ttl is a number of seconds above 0.")
        tasks = ServerTasks(ttl=task_ttl, tell=self._notify)
        offer = Offer(
            keeper=StateKeeper(state_key, server=name, seconds=state_seconds),
            parking=Parking(max_parked if replay == "auto" else 0),
            tasks=tasks,
            page_size=page_size,
        )
        super().__init__(offer)
        self._offers = set(offers)
        self._hints = hints.of_methods(ttl_ms, cache_scope)
        self._extensions = {hints.extension_id(id): dict(settings) for id, settings in (extensions or {}).items()}
        self._sessions: set[Told] = set()
        self._lock = threading.Lock()
        self.dispatcher = Dispatcher(offer)
        self.admit: Callable[[Exchange], object] | None = None
        self.answered: Callable[[Exchange, Mapping[str, Any]], object] | None = None

    def __repr__(self) -> str:
        offer = self._offer
        resources = len(offer.resources) + len(offer.templates)
        return f"<Server {self.name!r}: {len(offer.tools)} tools, {resources} resources, {len(offer.prompts)} prompts>"

    # --- telling clients

    def tools_changed(self) -> None:
        """Tell clients that the list of tools changed (add and remove do it themselves). Any thread."""
        self._changed("tools")

    def resources_changed(self) -> None:
        """Tell clients that the list of resources changed. Any thread."""
        self._changed("resources")

    def prompts_changed(self) -> None:
        """Tell clients that the list of prompts changed. Any thread."""
        self._changed("prompts")

    def resource_updated(self, uri: str) -> None:
        """Tell the clients that watch this resource that it changed. Any thread."""
        self._notify("notifications/resources/updated", {"uri": uri})

    def elicitation_complete(self, elicitation_id: str) -> None:
        """Tell the client which this server sent to a page that the person is done there (2025-11-25). Any thread.

        Args:
            elicitation_id: what `elicit_url` or `UrlRequired` was given, or the answer's `elicitation_id`.

        Only the client that was asked hears of it. In 2026-07-28 there is no such message: a handler that waits for
        the page asks again, or looks whether the person has been there.
        """
        self._notify("notifications/elicitation/complete", {"elicitationId": elicitation_id})

    def _changed(self, kind: str) -> None:
        self._facts = None
        self._notify(f"notifications/{kind}/list_changed")

    def _notify(self, method: str, params: dict[str, Any] | None = None) -> None:
        with self._lock:
            sessions = list(self._sessions)
        for session in sessions:
            session.changed(method, params)

    def attach(self, session: Told) -> None:
        """From now on `session.changed(method, params)` is called for every change, on any thread."""
        with self._lock:
            self._sessions.add(session)

    def detach(self, session: Told) -> None:
        """The end of `attach`."""
        with self._lock:
            self._sessions.discard(session)

    def watched(self) -> set[str]:
        """The URIs whose changes somebody asked to hear of, as they were asked for. Any thread."""
        with self._lock:
            sessions = list(self._sessions)
        return {uri for session in sessions for uri in session.watched()}

    def tasks_visible(self, ids: object, principal: str) -> list[str]:
        """Those of the task ids whose changes this principal may be told."""
        return self._offer.tasks.visible(ids, principal)

    # --- what it says about itself

    @property
    def facts(self) -> ServerFacts:
        """What the inbound ladder must know."""
        found = self._facts
        if found is None:
            found = self._facts = ServerFacts(self.versions, self._capabilities())
        return found

    def capabilities(self) -> Mapping[str, Any]:
        """What it declares: a kind when it has some of it or said that it will."""
        return self.facts.capabilities

    def _capabilities(self) -> dict[str, Any]:
        offer = self._offer
        declared: dict[str, Any] = {}
        if offer.tools or "tools" in self._offers:
            declared["tools"] = {"listChanged": True}
        if offer.resources or offer.templates or "resources" in self._offers:
            declared["resources"] = {"subscribe": True, "listChanged": True}
        if offer.prompts or "prompts" in self._offers:
            declared["prompts"] = {"listChanged": True}
        if offer.prompts or offer.templates:
            declared["completions"] = {}
        if self._uses_context:
            declared["logging"] = {}
        extensions = {id: dict(settings) for id, settings in self._extensions.items()}
        if any(tool.task is not None for tool in offer.tools.values()):
            extensions.setdefault(TASKS_EXTENSION, {})
        if extensions:
            declared["extensions"] = extensions
        return declared

    def discover(self) -> dict[str, Any]:
        """The result of `server/discover`."""
        spoken = [version for version in self.versions if version in MODERN]
        found: dict[str, Any] = {"supportedVersions": spoken, "capabilities": self.capabilities()}
        return {**found, "instructions": self.instructions} if self.instructions else found

    def complete(self, method: str, result: dict[str, Any]) -> dict[str, Any]:
        """A result with what the modern era adds. Only `server/discover` says all about the server."""
        info = self.info if method == "server/discover" else self._short_info
        ttl_ms, scope = self._hints.get(method, hints.NO_HINTS)
        return modern.complete(method, result, server_info=info, ttl_ms=ttl_ms, cache_scope=scope)

    # --- serving

    async def serve(self, transport: Transport) -> None:
        """Serve one connection until it is closed."""
        pipe = Pipe(self, transport)
        self.attach(pipe)
        try:
            await pipe.run()
        finally:
            self.detach(pipe)
            await self.release()

    async def release(self) -> None:
        """End the handlers that wait for answers, once nobody is served any more (called after `detach`)."""
        if not self._sessions:
            await self._offer.parking.close()

    def run_stdio(self) -> None:
        """Serve this process's stdin and stdout, blocking; returns when the client is gone or at Ctrl-C.

        While it serves, what the process prints goes to stderr, so that a stray `print` cannot break the protocol.
        On a loop of one's own: `await server.serve(StdioServerTransport())`, made before the loop.

        Raises:
            ConnectionFailed: the process has no stdin and stdout.
            UsageError: an event loop runs already (in a notebook, for one).
        """
        from jupyter_mcp.server.stdio import StdioServerTransport

        if _loop_is_running():
            raise UsageError("run_stdio needs a process of its own; where a loop runs already, await server.serve(…).")
        transport = StdioServerTransport()
        try:
            asyncio.run(self.serve(transport))
        except KeyboardInterrupt:
            pass

    def serve_http(
        self,
        port: int = 0,
        host: str = "127.0.0.1",
        *,
        path: str = "/mcp",
        token: bool | str = True,
        verifier: Verifier | None = None,
        hosts: Sequence[str] = (),
        origins: Sequence[str] = (),
        sse: bool = False,
        grace: float = 5.0,
        **options: Any,
    ) -> AbstractAsyncContextManager[Running]:
        """Serve HTTP for the length of an `async with`, both eras at one URL.

            async with server.serve_http() as running:
                print(running.url, running.headers)

        Args:
            port: where to listen; 0 takes a free one.
            host: the address to listen on. Beyond loopback, put TLS in front of it.
            path: of the URL.
            token: True makes a random one (`running.token`), or with a verifier none; a text is the token; False wants
                none, and then without a verifier only loopback addresses are allowed.
            verifier: makes it a protected resource: whoever brings an access token that the verifier accepts may
                speak, as may whoever brings the token above. See `server.authorization`.
            hosts: names, beside the loopback ones and `host`, under which clients reach it (no ports).
            origins: origins of web pages that may call it ("https://example.org").
            sse: also serve the HTTP+SSE transport of 2024-11-05, at `sse` beside the path.
            grace: seconds that requests in flight are given at the end.
            options: with a verifier `resource` (the URL as clients use it; by default where it listens), `audiences`,
                `scopes`, `tool_scopes`, `users`, `scopes_supported`, `name`, `documentation`: see
                `server.authorization.protection.Protection`. Always `max_body`, `keep_alive`, `patience`,
                `max_sessions` …: see `server.http.endpoint.Endpoint`.

        Raises:
            UsageError: a host beyond loopback without a token, or with a verifier and without a resource.
            ConnectionFailed: it cannot listen there.
        """
        from jupyter_mcp.server.http.running import serve_http

        options |= {"path": path, "origins": origins, "sse": sse}
        return serve_http(
            self, port=port, host=host, token=token, verifier=verifier, hosts=hosts, grace=grace, **options
        )

    def run_http(self, port: int = 8000, host: str = "127.0.0.1", *, token: bool | str = True, **options: Any) -> None:
        """Serve HTTP, blocking until Ctrl-C or SIGTERM; the URL and a token that was made are printed once to stderr.

        Args as `serve_http`'s. Raises UsageError when an event loop runs already, and as `serve_http` does.
        """
        from jupyter_mcp.server.http.running import run_http

        if _loop_is_running():
            raise UsageError("run_http needs a process of its own; where a loop runs, use async with serve_http(…).")
        run_http(self, port=port, host=host, token=token, **options)

    def application(self, *, token: str | Literal[False], **options: Any) -> Application:
        """A tornado application that serves it, to listen with by one's own hand.

        Args:
            token: what clients must bring; False wants none, and then only loopback addresses are answered.
            options: see `server.http.endpoint.Endpoint`, which is also what to use to close it in good order.

        Raises UsageError for a token that is empty or none.
        """
        from jupyter_mcp.server.http.endpoint import Endpoint

        if not token and token is not False:  # a variable that was not set, above all
            raise UsageError("An empty token protects nothing; token=False says that none is wanted.")
        return Endpoint(self, token=token or None, **options).application()

    def tool_schema(self, name: str) -> Mapping[str, Any] | None:
        """The input schema of a tool; None when there is none of that name."""
        tool = self._offer.tools.get(name)
        return tool.arguments.schema if tool is not None else None


def _loop_is_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
