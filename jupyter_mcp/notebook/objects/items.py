"""One tool, resource, template or prompt, as an object of the notebook."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, cast, overload

from jupyter_mcp.notebook.objects.names import python_name
from jupyter_mcp.notebook.objects.signature import Arguments, docstring
from jupyter_mcp.protocol.framing import printable
from jupyter_mcp.protocol.shapes import mapping_of

if TYPE_CHECKING:
    import inspect

    from jupyter_mcp.host.result import PromptResult, Read, Result
    from jupyter_mcp.notebook.objects.call import Call
    from jupyter_mcp.notebook.objects.server import Server


class _Docstring:
    """`__doc__` of a class, and for an instance the text made from what the server says about it."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __get__(self, item: Any, owner: type) -> str:
        return self._text if item is None else item._docstring()


class Item:
    """What all four have in common.

    Attributes:
        server: the `Server` that offers it.
        raw: as the server sent it.
        key: what identifies it on the server (a name or a URI).
    """

    _key = "name"

    def __init__(self, server: Server, raw: Mapping[str, Any]) -> None:
        self.server = server
        self.raw = raw

    @property
    def key(self) -> str:
        return str(self.raw.get(self._key, ""))

    @property
    def name(self) -> str:
        return str(self.raw.get("name") or self.key)

    @property
    def full_name(self) -> str:
        """`server.name`, as everywhere in this notebook."""
        return f"{self.server.name}.{self.key}"

    @property
    def title(self) -> str:
        """What to show to a person: the title, else the name."""
        return str(self.raw.get("title") or self.name)

    @property
    def description(self) -> str:
        return str(self.raw.get("description") or "")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.server.name}.{printable(self.key)}>"

    def __eq__(self, other: object) -> bool:
        return (
            type(self) is type(other)
            and isinstance(other, Item)
            and self.key == other.key
            and self.server.name == other.server.name
        )

    def __hash__(self) -> int:
        return hash((type(self), self.server.name, self.key))


def search_text(item: Item) -> str:
    """What a search looks through."""
    return f"{item.key}\n{item.name}\n{item.title}\n{item.description}".lower()


class Tool(Item):
    __doc__ = cast(
        "str", _Docstring("A tool: call it like a function. Its signature and docstring come from its schema.")
    )

    def __init__(self, server: Server, raw: Mapping[str, Any]) -> None:
        super().__init__(server, raw)
        self.__name__ = python_name(self.name) or "tool"
        self.__qualname__ = f"{server.name}.{self.name}"

    @property
    def __signature__(self) -> inspect.Signature:
        return self._arguments.signature

    @property
    def title(self) -> str:
        return str(self.raw.get("title") or self.annotations.get("title") or self.name)

    @property
    def input_schema(self) -> Mapping[str, Any]:
        schema = self.raw.get("inputSchema")
        return cast("Mapping[str, Any]", schema) if isinstance(schema, Mapping) else {"type": "object"}

    @property
    def output_schema(self) -> Mapping[str, Any] | None:
        schema = self.raw.get("outputSchema")
        return cast("Mapping[str, Any]", schema) if isinstance(schema, Mapping) else None

    @property
    def annotations(self) -> Mapping[str, Any]:
        """The server's own hints (readOnlyHint …); never trusted by the policy."""
        hints = self.raw.get("annotations")
        return cast("Mapping[str, Any]", hints) if isinstance(hints, Mapping) else {}

    def __call__(self, /, *args: Any, **kwargs: Any) -> Result:
        """Call the tool and wait. Raises `ToolError` when the tool reports a failure."""
        return self.call(self._bound(args, kwargs))

    @overload
    def call(
        self,
        args: Mapping[str, Any] | None = None,
        *,
        check: bool = True,
        timeout: float | None = None,
        meta: Mapping[str, Any] | None = None,
        background: Literal[False] = False,
    ) -> Result: ...

    @overload
    def call(
        self,
        args: Mapping[str, Any] | None = None,
        *,
        check: bool = True,
        timeout: float | None = None,
        meta: Mapping[str, Any] | None = None,
        background: Literal[True],
    ) -> Call: ...

    def call(
        self,
        args: Mapping[str, Any] | None = None,
        *,
        check: bool = True,
        timeout: float | None = None,
        meta: Mapping[str, Any] | None = None,
        background: bool = False,
    ) -> Result | Call:
        """Call the tool with an arguments object, by the server's own names.

        Args:
            args: the arguments.
            check: raise `ToolError` when the tool reports a failure; False returns that `Result`.
            timeout: seconds without progress, None for the server's.
            meta: what goes along in the request's `_meta`: any JSON object with keys of your own.
            background: begin the call and return at once, as `start` does; the `Call` tells how it goes.
        """
        if background:
            from jupyter_mcp.notebook.objects.call import Call

            return Call.begin(self.server, self.name, args or {}, check=check, timeout=timeout, meta=meta)
        from jupyter_mcp.notebook.waiting import watched

        acts, sent = self.server.by("code"), args or {}
        return watched(
            self.full_name,
            lambda told: acts.call(self.name, sent, check=check, timeout=timeout, meta=meta, on_event=told),
        )

    async def aio(self, /, *args: Any, **kwargs: Any) -> Result:
        """The awaitable twin of calling the tool."""
        return await self.server._acts.call(self.name, self._bound(args, kwargs)).later()  # pyright: ignore[reportPrivateUsage]

    def start(self, /, *args: Any, **kwargs: Any) -> Call:
        """Begin the call and return at once; the `Call` tells how it goes."""
        from jupyter_mcp.notebook.objects.call import Call

        return Call.begin(self.server, self.name, self._bound(args, kwargs))

    def form(self) -> None:
        """Show a form for this tool's arguments, with a button that calls it."""
        from jupyter_mcp.notebook.showing import tool_form

        tool_form(self)

    @property
    def python_names(self) -> Mapping[str, str]:
        """Python name -> the argument's own name."""
        return self._arguments.names

    def _docstring(self) -> str:
        return docstring(self.title if self.title != self.name else "", self.description, self.input_schema)

    @cached_property
    def _arguments(self) -> Arguments:
        return Arguments(self.input_schema)

    def _bound(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        return self._arguments.bind(args, kwargs, f"{self.server.name}.{self.name}")


class Resource(Item):
    """A resource. `.read()` reads it."""

    _key = "uri"

    @property
    def uri(self) -> str:
        return self.key

    @property
    def mime_type(self) -> str | None:
        kind = self.raw.get("mimeType")
        return kind if isinstance(kind, str) else None

    def read(self, *, fresh: bool = False) -> Read:
        """The contents; `fresh` asks the server also while what it said last is still good by its own word."""
        return self.server.read(self.uri, fresh=fresh)


class Template(Item):
    """A resource template. `.read(variable=…)` fills it and reads that resource."""

    _key = "uriTemplate"

    @property
    def uri_template(self) -> str:
        return self.key

    @property
    def variables(self) -> list[str]:
        from jupyter_mcp.protocol import uritemplate

        return list(uritemplate.variables(self.key))

    def read(self, **values: Any) -> Read:
        """The contents of the resource these values lead to; `fresh=True` as with a resource."""
        return self.server.read(self.key, **values)

    __call__ = read


class Prompt(Item):
    __doc__ = cast("str", _Docstring("A prompt: call it like a function to get its messages."))

    def __init__(self, server: Server, raw: Mapping[str, Any]) -> None:
        super().__init__(server, raw)
        self.__name__ = python_name(self.name) or "prompt"
        self.__qualname__ = f"{server.name}.{self.name}"

    @property
    def __signature__(self) -> inspect.Signature:
        return self._arguments.signature

    @property
    def arguments(self) -> list[Mapping[str, Any]]:
        """As the server declares them: name, title, description, required."""
        found = self.raw.get("arguments")
        listed = cast("list[Any]", found) if isinstance(found, list) else []
        found = [mapping_of(item) for item in listed]
        return [item for item in found if isinstance(item.get("name"), str)]

    @cached_property
    def schema(self) -> Mapping[str, Any]:
        """The arguments as an object schema (they are all text)."""
        from jupyter_mcp.host.untyped import prompt_schema

        return prompt_schema(self.raw)

    def __call__(self, /, *args: Any, **kwargs: Any) -> PromptResult:
        """Get the prompt's messages for these arguments."""
        from jupyter_mcp.notebook.waiting import watched

        acts, sent = self.server.by("code"), self._bound(args, kwargs)
        return watched(self.full_name, lambda told: acts.prompt(self.name, sent, on_event=told))

    async def aio(self, /, *args: Any, **kwargs: Any) -> PromptResult:
        """The awaitable twin of calling the prompt."""
        return await self.server._acts.prompt(self.name, self._bound(args, kwargs)).later()  # pyright: ignore[reportPrivateUsage]

    @property
    def python_names(self) -> Mapping[str, str]:
        """Python name -> the argument's own name."""
        return self._arguments.names

    def _docstring(self) -> str:
        return docstring(self.title if self.title != self.name else "", self.description, self.schema)

    @cached_property
    def _arguments(self) -> Arguments:
        return Arguments(self.schema)

    def _bound(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        return self._arguments.bind(args, kwargs, f"{self.server.name}.{self.name}")
