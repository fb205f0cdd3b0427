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
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, overload

from jupyter_mcp._version import __version__
from jupyter_mcp.errors import UsageError
from jupyter_mcp.protocol import modern
from jupyter_mcp.protocol.inbound import ServerFacts
from jupyter_mcp.protocol.methods import TASKS_EXTENSION
from jupyter_mcp.protocol.revisions import ALL, MODERN
from jupyter_mcp.server import hints, registry
from jupyter_mcp.server.dispatch import Dispatcher, Offer
from jupyter_mcp.server.infer import Arguments
from jupyter_mcp.server.paging import PAGE_SIZE
from jupyter_mcp.server.parking import MAX_PARKED, Parking
from jupyter_mcp.server.pipe import Pipe
from jupyter_mcp.server.registry import Labels, PromptEntry, ResourceEntry, TemplateEntry, ToolEntry
from jupyter_mcp.server.rounds import STATE_SECONDS, StateKeeper
from jupyter_mcp.server.signature import Handler, inspect_handler
from jupyter_mcp.server.tasks import TTL, ServerTasks, TaskWish

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from tornado.web import Application

    from jupyter_mcp.server.hints import CacheScope
    from jupyter_mcp.server.http.running import Running
    from jupyter_mcp.transport.base import Transport

F = TypeVar("F", bound=Callable[..., Any])
_KINDS = ("tools", "resources", "prompts")


class Told(Protocol):
    """Who hears of changes: whatever serves clients."""

    def changed(self, method: str, params: dict[str, Any] | None = None) -> None:
        """Something clients may want to know changed. Any thread."""
        ...


class Server:
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
        self._offer = Offer(
            keeper=StateKeeper(state_key, seconds=state_seconds),
            parking=Parking(max_parked if replay == "auto" else 0),
            tasks=tasks,
            page_size=page_size,
        )
        self._offers = set(offers)
        self._hints = hints.of_methods(ttl_ms, cache_scope)
        self._extensions = {hints.extension_id(id): dict(settings) for id, settings in (extensions or {}).items()}
        self._uses_context = False
        self._facts: ServerFacts | None = None
        self._sessions: set[Told] = set()
        self._lock = threading.Lock()
        self.dispatcher = Dispatcher(self._offer)

    def __repr__(self) -> str:
        offer = self._offer
        resources = len(offer.resources) + len(offer.templates)
        return f"<Server {self.name!r}: {len(offer.tools)} tools, {resources} resources, {len(offer.prompts)} prompts>"

    # --- tools

    @overload
    def tool(self, function: F, /) -> F: ...

    @overload
    def tool(self, name: str | None = None, /, **options: Any) -> Callable[[F], F]: ...

    def tool(self, function: Any = None, /, **options: Any) -> Any:
        """Make a function a tool: `@server.tool`, `@server.tool("name", title="…", annotations={…})`.

        Name, description and schemas come from the function: its name, docstring, annotations. Options: see `add_tool`.
        """
        if callable(function):
            self.add_tool(function, **options)
            return function
        if function is not None:
            options["name"] = function

        def decorate(decorated: Callable[..., Any]) -> Callable[..., Any]:
            self.add_tool(decorated, **options)
            return decorated

        return decorate

    def add_tool(
        self,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        annotations: Mapping[str, Any] | None = None,
        icons: Sequence[Mapping[str, Any]] = (),
        meta: Mapping[str, Any] | None = None,
        input_schema: Mapping[str, Any] | None = None,
        output_schema: Mapping[str, Any] | None = None,
        structured: bool = True,
        task: TaskWish | Literal[False] | None = None,
    ) -> None:
        """Register a tool.

        Args:
            function: `def` or `async def`; its parameters are the arguments. A parameter annotated `Context`
                (`AsyncContext`), or named `ctx` without annotation, gets the context and is no argument.
            name: instead of the function's.
            title, description, icons, meta: for people and models; the description is the docstring by default.
            annotations: hints such as `readOnlyHint`, `destructiveHint`, `idempotentHint`, `openWorldHint`.
            input_schema, output_schema: JSON Schemas of your own, used verbatim.
            structured: False returns text and content only.
            task: True runs it as a task for clients that declare the tasks extension; "required" refuses all others.
                A function annotated `-> TaskWork` runs in the call itself and returns the work of the task.

        Raises:
            UsageError: the function cannot be a tool, or the name is taken.
        """
        handler = self._inspect(function, "tool", name)
        if input_schema is not None and input_schema.get("type") != "object":
            raise UsageError(f"The input schema of the tool {handler.name!r} must be of type object.")
        entry = ToolEntry(
            registry.check_tool_name(name or handler.name),
            handler,
            _labels(handler, title, description, icons, meta, annotations),
            Arguments(handler, input_schema),
            output_schema,
            structured,
            task or None,
        )
        self._offer.tools.add(entry.name, entry)
        self._changed("tools")

    def remove_tool(self, name: str) -> None:
        """Take a tool away. Raises UsageError when there is none of that name."""
        self._offer.tools.remove(name)
        self._changed("tools")

    # --- resources

    def resource(self, uri: str, /, **options: Any) -> Callable[[F], F]:
        """Make a function a resource, or with `{variables}` in the URI a template of resources.

        `@server.resource("notes://today")`, `@server.resource("notes://{day}")`; options: see `add_resource`.
        """

        def decorate(function: F) -> F:
            self.add_resource(uri, function, **options)
            return function

        return decorate

    def add_resource(
        self,
        uri: str,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        mime_type: str | None = None,
        size: int | None = None,
        annotations: Mapping[str, Any] | None = None,
        icons: Sequence[Mapping[str, Any]] = (),
        meta: Mapping[str, Any] | None = None,
        ttl_ms: int | None = None,
        cache_scope: CacheScope | None = None,
    ) -> None:
        """Register a resource or a template.

        Args:
            uri: fixed, or a URI template (RFC 6570) whose variables are the function's parameters.
            function: returns text, bytes, an `Image`, or data (sent as JSON); raises `NotFound` for what is not there.
            name: by default the function's.
            mime_type: by default what the value suggests.
            size: bytes, if known.
            ttl_ms, cache_scope: as the server's, for this one.

        Raises:
            UsageError: URI and function do not fit, or the URI is taken.
        """
        registry.check_uri(uri)
        handler = self._inspect(function, "resource", name)
        labels = _labels(handler, title, description, icons, meta, annotations)
        cache = hints.own(ttl_ms, cache_scope)
        if "{" in uri:
            registry.check_template(uri, handler)
            arguments = Arguments(handler)
            self._offer.templates.add(
                uri, TemplateEntry(uri, name or handler.name, handler, labels, arguments, mime_type, cache)
            )
        else:
            if left := [one.name for one in handler.parameters if one.required]:
                raise UsageError(f"{handler.name}() needs {', '.join(left)}, which the URI {uri!r} does not give.")
            entry = ResourceEntry(uri, name or handler.name, handler, labels, mime_type, size, cache)
            self._offer.resources.add(uri, entry)
        self._changed("resources")

    def remove_resource(self, uri: str) -> None:
        """Take a resource or template away. Raises UsageError when there is none."""
        (self._offer.templates if uri in self._offer.templates else self._offer.resources).remove(uri)
        self._changed("resources")

    # --- prompts

    @overload
    def prompt(self, function: F, /) -> F: ...

    @overload
    def prompt(self, name: str | None = None, /, **options: Any) -> Callable[[F], F]: ...

    def prompt(self, function: Any = None, /, **options: Any) -> Any:
        """Make a function a prompt: `@server.prompt`, `@server.prompt("name", …)`; options: see `add_prompt`."""
        if callable(function):
            self.add_prompt(function, **options)
            return function
        if function is not None:
            options["name"] = function

        def decorate(decorated: Callable[..., Any]) -> Callable[..., Any]:
            self.add_prompt(decorated, **options)
            return decorated

        return decorate

    def add_prompt(
        self,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        icons: Sequence[Mapping[str, Any]] = (),
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        """Register a prompt; the function returns text, `user(…)` and `assistant(…)` messages, or a list of them.

        Its arguments are text on the wire and converted to the annotations. Raises UsageError as `add_tool`.
        """
        handler = self._inspect(function, "prompt", name)
        labels = _labels(handler, title, description, icons, meta, None)
        entry = PromptEntry(name or handler.name, handler, labels, Arguments(handler))
        self._offer.prompts.add(entry.name, entry)
        self._changed("prompts")

    def remove_prompt(self, name: str) -> None:
        """Take a prompt away. Raises UsageError when there is none of that name."""
        self._offer.prompts.remove(name)
        self._changed("prompts")

    # --- completion

    def completion(self, of: str | Callable[..., Any], argument: str, /) -> Callable[[F], F]:
        """Complete an argument of a prompt or a variable of a template.

        Args:
            of: the prompt's name, the URI template, or the decorated function.
            argument: which argument.

        The decorated function takes what was typed so far and, if it has a second parameter, the arguments chosen
        already; it returns the values, best first. Literals, enums and booleans need none.

        Raises:
            UsageError: there is no such prompt, template or argument.
        """

        def decorate(function: F) -> F:
            kind, key, handler = self._completed(of)
            if argument not in handler.parameter_names:
                known = ", ".join(handler.parameter_names) or "none"
                raise UsageError(f"{key!r} has no argument {argument!r}; it has {known}.")
            completer = self._inspect(function, "completion", None)
            if completer.context or not 1 <= len(completer.parameters) <= 2:
                raise UsageError("A completion takes what was typed, and maybe the arguments chosen so far.")
            self._offer.completers[kind, key, argument] = completer
            self._facts = None
            return function

        return decorate

    def _completed(self, of: str | Callable[..., Any]) -> tuple[str, str, Handler]:
        for kind, shelf in (("prompt", self._offer.prompts), ("template", self._offer.templates)):
            for entry in shelf.values():
                key = entry.name if isinstance(entry, PromptEntry) else entry.template
                if of in (key, entry.handler.function):
                    return kind, key, entry.handler
        raise UsageError(f"There is no prompt or resource template {of if isinstance(of, str) else of.__name__!r} yet.")

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
            token: True makes a random one (`running.token`); a text is the token; False wants none, and then only
                loopback addresses are allowed.
            hosts: names, beside the loopback ones and `host`, under which clients reach it (no ports).
            origins: origins of web pages that may call it ("https://example.org").
            sse: also serve the HTTP+SSE transport of 2024-11-05, at `sse` beside the path.
            grace: seconds that requests in flight are given at the end.
            options: `max_body`, `keep_alive`, `patience`, `max_sessions` …: see `server.http.endpoint.Endpoint`.

        Raises:
            UsageError: a host beyond loopback without a token.
            ConnectionFailed: it cannot listen there.
        """
        from jupyter_mcp.server.http.running import serve_http

        options |= {"path": path, "origins": origins, "sse": sse}
        return serve_http(self, port=port, host=host, token=token, hosts=hosts, grace=grace, **options)

    def run_http(self, port: int = 8000, host: str = "127.0.0.1", *, token: bool | str = True, **options: Any) -> None:
        """Serve HTTP, blocking until Ctrl-C; the URL, and the token that was made, are printed once to stderr.

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
        """
        from jupyter_mcp.server.http.endpoint import Endpoint

        return Endpoint(self, token=token or None, **options).application()

    def tool_schema(self, name: str) -> Mapping[str, Any] | None:
        """The input schema of a tool; None when there is none of that name."""
        tool = self._offer.tools.get(name)
        return tool.arguments.schema if tool is not None else None

    def _inspect(self, function: Callable[..., Any], what: str, name: str | None) -> Handler:
        handler = inspect_handler(function, what=what, name=name)
        self._uses_context = self._uses_context or handler.context is not None
        return handler


def _loop_is_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _labels(
    handler: Handler,
    title: str | None,
    description: str | None,
    icons: Sequence[Mapping[str, Any]],
    meta: Mapping[str, Any] | None,
    annotations: Mapping[str, Any] | None,
) -> Labels:
    return Labels(title, description or handler.doc.text or None, icons, meta or {}, annotations or {})
