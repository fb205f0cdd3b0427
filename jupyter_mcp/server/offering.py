"""What authors register on a server: tools, resources, prompts, completions, by decorator or by call.

Functions stay what they are: a decorator registers its function and returns it unchanged. Nothing heavy is imported.

Above: `server`. Below: `registry`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from jupyter_mcp.errors import UsageError
from jupyter_mcp.server import hints, registry
from jupyter_mcp.server.infer import Arguments
from jupyter_mcp.server.registry import Labels, PromptEntry, ResourceEntry, TemplateEntry, ToolEntry
from jupyter_mcp.server.signature import Handler, inspect_handler

if TYPE_CHECKING:
    from jupyter_mcp.protocol.inbound import ServerFacts
    from jupyter_mcp.protocol.revisions import Features
    from jupyter_mcp.server.dispatch import Offer
    from jupyter_mcp.server.hints import CacheScope
    from jupyter_mcp.server.paging import Entry
    from jupyter_mcp.server.tasks import TaskWish

F = TypeVar("F", bound=Callable[..., Any])


class Offering:
    """The registering half of `Server`.

    Args:
        offer: what is filled.
    """

    def __init__(self, offer: Offer) -> None:
        self._offer = offer
        self._uses_context = False
        self._facts: ServerFacts | None = None  # made from the offer when they are wanted

    def _changed(self, kind: str) -> None:
        """The list of this kind is another one now."""
        raise NotImplementedError

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

    def more_resources(self, listing: Callable[[Features], Sequence[Entry]]) -> None:
        """List what comes and goes by itself after the resources that were added; a template reads it.

        Args:
            listing: called on the loop for every `resources/list`: URI and description (as on the wire, at these
                features) of each. A sequence that makes its entries when they are looked at spares the other pages.
        """
        self._offer.more_resources = listing
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

    def _inspect(self, function: Callable[..., Any], what: str, name: str | None) -> Handler:
        handler = inspect_handler(function, what=what, name=name)
        self._uses_context = self._uses_context or handler.context is not None
        return handler


def _labels(
    handler: Handler,
    title: str | None,
    description: str | None,
    icons: Sequence[Mapping[str, Any]],
    meta: Mapping[str, Any] | None,
    annotations: Mapping[str, Any] | None,
) -> Labels:
    return Labels(title, description or handler.doc.text or None, icons, meta or {}, annotations or {})
