"""What a server offers: tools, resources, templates, prompts, and who completes their arguments.

Entries know their description on the wire at a revision (made once each) and nothing about requests. Lists keep the
order of registration, so that they are the same for every client. Above: `server`, `dispatch`.
"""

from __future__ import annotations

import re
import threading
import typing
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Any, Generic, TypeVar

from jupyter_mcp.errors import UsageError
from jupyter_mcp.protocol import uritemplate
from jupyter_mcp.server import outputs
from jupyter_mcp.server.outputs import Output
from jupyter_mcp.server.results import wrapped_schema
from jupyter_mcp.server.tasks import TaskWork

if typing.TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from jupyter_mcp.protocol.revisions import Features
    from jupyter_mcp.server.infer import Arguments
    from jupyter_mcp.server.signature import Handler
    from jupyter_mcp.server.tasks import TaskWish

_TOOL_NAME = re.compile(r"[A-Za-z0-9_.\-]{1,128}")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:.+", re.DOTALL)
MAX_COMPLETIONS = 100


class NotFound(LookupError):
    """A handler raises it when the thing that was asked for does not exist (a resource, mostly)."""


@dataclass(frozen=True)
class Labels:
    """What all entries may say about themselves.

    Attributes:
        title, description: for people and models.
        icons: `{"src": …, "mimeType": …}` dicts.
        meta: the `_meta` of the entry.
        annotations: tools: hints (`readOnlyHint` …); resources: `audience`, `priority`.
    """

    title: str | None = None
    description: str | None = None
    icons: Sequence[Mapping[str, Any]] = ()
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    annotations: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def wire(self, features: Features, *, annotated: bool = True) -> dict[str, Any]:
        """Those that are given and that the revision knows."""
        found: dict[str, Any] = {}
        if self.title and features.titles:
            found["title"] = self.title
        if self.description:
            found["description"] = self.description
        if self.icons and features.icons:
            found["icons"] = [dict(icon) for icon in self.icons]
        if self.annotations and annotated:
            found["annotations"] = dict(self.annotations)
        if self.meta and features.meta:
            found["_meta"] = dict(self.meta)
        return found


@dataclass(frozen=True)
class ToolEntry:
    """One tool."""

    name: str
    handler: Handler
    labels: Labels
    arguments: Arguments
    own_output: Mapping[str, Any] | None = None
    wants_structured: bool = True
    task: TaskWish | None = None

    @property
    def asks_first(self) -> bool:
        """Whether its function runs in the call and returns the work of the task."""
        return self.handler.returns in (TaskWork, TaskWork.__name__)

    @cached_property
    def output(self) -> Output:
        """The declared output, from the annotation or the author."""
        if not self.wants_structured:
            return Output()
        if self.own_output is not None:
            return Output(dict(self.own_output))
        if self.asks_first:
            return Output()
        return outputs.declared(self.handler.returns)

    def wire(self, features: Features) -> dict[str, Any]:
        tool: dict[str, Any] = {"name": self.name, **self.labels.wire(features, annotated=features.tool_annotations)}
        if self.labels.title and not features.titles and features.tool_annotations:
            tool["annotations"] = {"title": self.labels.title, **self.labels.annotations}
        tool["inputSchema"] = self.arguments.schema
        if features.structured_content and self.output.schema is not None:
            tool["outputSchema"] = wrapped_schema(self.output.schema, features)
        return tool


@dataclass(frozen=True)
class ResourceEntry:
    """One resource with a fixed URI."""

    uri: str
    name: str
    handler: Handler
    labels: Labels
    mime_type: str | None = None
    size: int | None = None
    cache: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def wire(self, features: Features) -> dict[str, Any]:
        resource = {"uri": self.uri, "name": self.name, **self.labels.wire(features)}
        if self.mime_type:
            resource["mimeType"] = self.mime_type
        if self.size is not None and features.audio:  # `size` came with 2025-03-26, as audio did
            resource["size"] = self.size
        return resource


@dataclass(frozen=True)
class TemplateEntry:
    """Resources of one shape, by URI template."""

    template: str
    name: str
    handler: Handler
    labels: Labels
    arguments: Arguments
    mime_type: str | None = None
    cache: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def wire(self, features: Features) -> dict[str, Any]:
        found = {"uriTemplate": self.template, "name": self.name, **self.labels.wire(features)}
        return {**found, "mimeType": self.mime_type} if self.mime_type else found


@dataclass(frozen=True)
class PromptEntry:
    """One prompt."""

    name: str
    handler: Handler
    labels: Labels
    arguments: Arguments

    def wire(self, features: Features) -> dict[str, Any]:
        prompt: dict[str, Any] = {"name": self.name, **self.labels.wire(features, annotated=False)}
        described = self.handler.doc.parameters
        schemas = typing.cast("dict[str, Any]", self.arguments.schema.get("properties", {}))
        listed: list[dict[str, Any]] = []
        for parameter in self.handler.parameters:
            schema = schemas.get(parameter.name, {})
            argument: dict[str, Any] = {"name": parameter.name, "required": parameter.required}
            if description := described.get(parameter.name) or schema.get("description"):
                argument["description"] = description
            if features.titles and schema.get("title"):
                argument["title"] = schema["title"]
            listed.append(argument)
        return {**prompt, "arguments": listed} if listed else prompt


E = TypeVar("E", ToolEntry, ResourceEntry, TemplateEntry, PromptEntry)


class Shelf(Generic[E]):
    """The entries of one kind, in order of registration; safe to change from any thread."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._entries: dict[str, E] = {}
        self._wire: dict[str, list[tuple[str, dict[str, Any]]]] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: str) -> bool:
        return key in self._entries

    def get(self, key: str) -> E | None:
        """The entry of that name or URI, or None."""
        return self._entries.get(key)

    def values(self) -> Iterable[E]:
        """All entries, as of now."""
        return list(self._entries.values())

    def add(self, key: str, entry: E) -> None:
        """Register. The same function defined again (a cell that runs twice) takes its old place.

        Raises:
            UsageError: another function has that name.
        """
        with self._lock:
            old = self._entries.get(key)
            if old is not None and not _same_origin(old.handler.function, entry.handler.function):
                raise UsageError(f"There is already a {self._what} {key!r} on this server.")
            self._entries[key] = entry
            self._wire.clear()

    def remove(self, key: str) -> None:
        """Take an entry away. Raises UsageError when there is none."""
        with self._lock:
            if self._entries.pop(key, None) is None:
                raise UsageError(f"There is no {self._what} {key!r} on this server.")
            self._wire.clear()

    def wire(self, revision: str, features: Features) -> list[tuple[str, dict[str, Any]]]:
        """Key and description of every entry at a revision, made once."""
        found = self._wire.get(revision)
        if found is None:
            entries = dict(self._entries)
            found = self._wire[revision] = [(key, entry.wire(features)) for key, entry in entries.items()]
        return found


def _same_origin(one: Callable[..., Any], other: Callable[..., Any]) -> bool:
    def origin(function: Any) -> tuple[str | None, str | None]:
        return getattr(function, "__module__", None), getattr(function, "__qualname__", None)

    return one is other or (origin(one) == origin(other) and origin(one)[1] is not None)


def check_tool_name(name: str) -> str:
    """The name, when clients will take it. Raises UsageError."""
    if not _TOOL_NAME.fullmatch(name):
        raise UsageError(f"A tool's name has 1 to 128 letters, digits, _, - or dots; {name!r} has not.")
    return name


def check_uri(uri: str) -> str:
    """The URI (or template), when it is absolute. Raises UsageError."""
    if not _URI.fullmatch(uri):
        raise UsageError(f"A resource's URI begins with a scheme, such as notes://today; {uri!r} does not.")
    return uri


def check_template(template: str, handler: Handler) -> None:
    """Variables and parameters must be the same names. Raises UsageError."""
    try:
        variables = uritemplate.variables(template)
    except ValueError as error:
        raise UsageError(f"{template!r} is not a URI template: {error}.") from None
    names = handler.parameter_names
    missing = [name for name in variables if name not in names]
    if missing and not handler.extra:
        raise UsageError(f"{handler.name}() does not take {', '.join(missing)}, which {template!r} gives.")
    left = [one.name for one in handler.parameters if one.required and one.name not in variables]
    if left:
        raise UsageError(f"{handler.name}() needs {', '.join(left)}, which {template!r} does not give.")


def own_choices(annotation: Any) -> list[str]:
    """The values an annotation allows, as text: of a Literal, an Enum, a bool; [] when it allows anything."""
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        return own_choices(typing.get_args(annotation)[0])
    if origin is typing.Literal:
        return [str(value) for value in typing.get_args(annotation) if value is not None]
    if annotation is bool:
        return ["true", "false"]
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return [str(member.value) for member in annotation]
    return (
        [choice for part in typing.get_args(annotation) for choice in own_choices(part)] if origin is not list else []
    )
