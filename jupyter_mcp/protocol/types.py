"""Public models of what servers and clients exchange: tools, resources, prompts, content, sampling, elicitation.

snake_case attributes over the wire's camelCase names; unknown members are kept (`model_extra`) and come back out.
`dump(model)` gives the dict that was parsed. They stand at the public surface only: the hot path works on dicts, and
`salvage` mends those before a model is made of them.

Source: schemas of all revisions up to 2026-07-28.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, cast

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic.alias_generators import to_camel

from jupyter_mcp.protocol.shapes import is_object

Role = Literal["user", "assistant"]
LoggingLevel = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]


class Model(BaseModel):
    """Base: extra members kept, attributes by snake_case or wire name, built at first use."""

    model_config = ConfigDict(
        extra="allow", alias_generator=to_camel, populate_by_name=True, defer_build=True, protected_namespaces=()
    )
    _always: ClassVar[frozenset[str]] = frozenset()  # members that the wire requires although they have a default

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        cls._always = frozenset(
            name for name, field in cls.model_fields.items() if not field.is_required() and field.default is not None
        )

    def model_post_init(self, context: Any, /) -> None:
        """Count the required members with a default as set, so that `dump` writes them."""
        if self._always:
            self.__pydantic_fields_set__.update(self._always)


class WithMeta(Model):
    """A model with `_meta` (attribute `meta`)."""

    meta: dict[str, Any] | None = Field(default=None, alias="_meta")


def dump(model: BaseModel) -> dict[str, Any]:
    """The wire's dict: by alias, only what was set."""
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)


# --- common ----------------------------------------------------------------------------------------------------------


class Icon(Model):
    """A picture to show beside a name. Untrusted: never load `src` without the checks of the specification."""

    src: str
    mime_type: str | None = None
    sizes: list[str] | None = None
    theme: str | None = None


class Implementation(Model):
    """Name and version of a client or server; for display only."""

    name: str
    version: str = ""
    title: str | None = None
    description: str | None = None
    website_url: str | None = None
    icons: list[Icon] | None = None


class Annotations(Model):
    """For whom content is meant, how important it is (0 to 1), when it changed (ISO 8601)."""

    audience: list[Role] | None = None
    priority: float | None = None
    last_modified: str | None = None


# --- tools, resources, prompts ---------------------------------------------------------------------------------------


class ToolAnnotations(Model):
    """A server's own hints about a tool. Untrusted."""

    title: str | None = None
    read_only_hint: bool | None = None
    destructive_hint: bool | None = None
    idempotent_hint: bool | None = None
    open_world_hint: bool | None = None


class Tool(WithMeta):
    """A tool as it is listed."""

    name: str
    title: str | None = None
    description: str | None = None
    input_schema: dict[str, Any] = Field(default_factory=lambda: cast("dict[str, Any]", {"type": "object"}))
    output_schema: dict[str, Any] | None = None
    annotations: ToolAnnotations | None = None
    icons: list[Icon] | None = None


class Resource(WithMeta):
    """A resource as it is listed. `size` is in bytes."""

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    annotations: Annotations | None = None
    icons: list[Icon] | None = None


class ResourceTemplate(WithMeta):
    """A family of resources: an RFC 6570 template of their URIs."""

    uri_template: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    annotations: Annotations | None = None
    icons: list[Icon] | None = None


class PromptArgument(Model):
    """An argument of a prompt; its value is always text."""

    name: str
    title: str | None = None
    description: str | None = None
    required: bool | None = None


class Prompt(WithMeta):
    """A prompt as it is listed."""

    name: str
    title: str | None = None
    description: str | None = None
    arguments: list[PromptArgument] | None = None
    icons: list[Icon] | None = None


# --- content ---------------------------------------------------------------------------------------------------------


class TextContent(WithMeta):
    """Text."""

    type: Literal["text"] = "text"
    text: str
    annotations: Annotations | None = None


class ImageContent(WithMeta):
    """A picture; `data` is base64."""

    type: Literal["image"] = "image"
    data: str
    mime_type: str = "application/octet-stream"
    annotations: Annotations | None = None


class AudioContent(WithMeta):
    """Sound; `data` is base64."""

    type: Literal["audio"] = "audio"
    data: str
    mime_type: str = "application/octet-stream"
    annotations: Annotations | None = None


class ResourceLink(WithMeta):
    """A pointer to a resource, which need not be in the server's list."""

    type: Literal["resource_link"] = "resource_link"
    uri: str
    name: str = ""
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    annotations: Annotations | None = None
    icons: list[Icon] | None = None


class ResourceContents(WithMeta):
    """The contents of a resource: `text`, or `blob` in base64."""

    uri: str
    mime_type: str | None = None
    text: str | None = None
    blob: str | None = None


class EmbeddedResource(WithMeta):
    """A resource inside a result."""

    type: Literal["resource"] = "resource"
    resource: ResourceContents
    annotations: Annotations | None = None


class ToolUseContent(WithMeta):
    """Sampling: the model wants this tool called."""

    type: Literal["tool_use"] = "tool_use"
    id: str
    name: str
    input: dict[str, Any]


class ToolResultContent(WithMeta):
    """Sampling: what a tool answered; `structured_content` is any JSON."""

    type: Literal["tool_result"] = "tool_result"
    tool_use_id: str
    content: list[ContentBlock] = Field(default_factory=lambda: cast("list[ContentBlock]", []))
    structured_content: Any = None
    is_error: bool | None = None


class UnknownContent(WithMeta):
    """A block of a type that nobody here knows; its members are in `model_extra`."""

    type: str = "unknown"


def _block_tag(value: Any) -> str:
    kind = value.get("type") if is_object(value) else getattr(value, "type", None)
    if isinstance(value, UnknownContent):
        return "unknown"  # perhaps a malformed block of a known type
    return kind if isinstance(kind, str) and kind in _BLOCKS else "unknown"


def _or_unknown(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    try:
        return handler(value)
    except ValidationError:
        if not isinstance(value, dict):
            raise
        return _unknown(cast("dict[str, Any]", value))


def _unknown(block: dict[str, Any]) -> UnknownContent:
    kind, meta = block.get("type"), block.get("_meta")
    kept = {**block, "type": kind if isinstance(kind, str) else "unknown", "_meta": meta if is_object(meta) else None}
    return UnknownContent.model_validate(kept if "_meta" in block else {k: v for k, v in kept.items() if k != "_meta"})


ContentBlock = Annotated[
    Annotated[TextContent, Tag("text")]
    | Annotated[ImageContent, Tag("image")]
    | Annotated[AudioContent, Tag("audio")]
    | Annotated[ResourceLink, Tag("resource_link")]
    | Annotated[EmbeddedResource, Tag("resource")]
    | Annotated[ToolUseContent, Tag("tool_use")]
    | Annotated[ToolResultContent, Tag("tool_result")]
    | Annotated[UnknownContent, Tag("unknown")],
    Discriminator(_block_tag),
    WrapValidator(_or_unknown),
]
_BLOCKS: dict[str, type[WithMeta]] = {
    "text": TextContent,
    "image": ImageContent,
    "audio": AudioContent,
    "resource_link": ResourceLink,
    "resource": EmbeddedResource,
    "tool_use": ToolUseContent,
    "tool_result": ToolResultContent,
}


def content_block(block: dict[str, Any]) -> ContentBlock:
    """The model of one block; a block that does not fit its type comes back as `UnknownContent`, never as an error."""
    kind = _BLOCKS.get(_block_tag(block))
    try:
        return cast("ContentBlock", kind.model_validate(block)) if kind is not None else _unknown(block)
    except ValidationError:
        return _unknown(block)


# --- results ---------------------------------------------------------------------------------------------------------


class Result(WithMeta):
    """Base of results; `result_type` is there since 2026-07-28."""

    result_type: str | None = None


class CallToolResult(Result):
    """What a tool answered."""

    content: list[ContentBlock] = Field(default_factory=lambda: cast("list[ContentBlock]", []))
    structured_content: Any = None
    is_error: bool | None = None


class ReadResourceResult(Result):
    """What a resource holds."""

    contents: list[ResourceContents]
    ttl_ms: int | None = None
    cache_scope: str | None = None


class PromptMessage(Model):
    """One message of a prompt; `role` is "user" or "assistant". Some servers send several blocks."""

    role: str
    content: ContentBlock | list[ContentBlock]


class GetPromptResult(Result):
    """A prompt filled in."""

    description: str | None = None
    messages: list[PromptMessage]


class Completion(Model):
    """Suggestions, best first; `total` may be more than there are."""

    values: list[str]
    total: int | None = None
    has_more: bool | None = None


class CompleteResult(Result):
    """What `completion/complete` answers."""

    completion: Completion


class DiscoverResult(Result):
    """What `server/discover` answers."""

    supported_versions: list[str]
    capabilities: dict[str, Any]
    instructions: str | None = None
    ttl_ms: int | None = None
    cache_scope: str | None = None


# --- what servers ask ------------------------------------------------------------------------------------------------


class SamplingMessage(WithMeta):
    """One message of a conversation; `role` is "user" or "assistant", content a block or, since 2025-11-25, a list."""

    role: str
    content: ContentBlock | list[ContentBlock]


class ModelHint(Model):
    """Part of a model's name, advisory."""

    name: str | None = None


class ModelPreferences(Model):
    """What matters to the server in a model; priorities are 0 to 1."""

    hints: list[ModelHint] | None = None
    cost_priority: float | None = None
    speed_priority: float | None = None
    intelligence_priority: float | None = None


class ToolChoice(Model):
    """Whether the model may, must or must not use tools."""

    mode: Literal["auto", "required", "none"] | None = None


class CreateMessageParams(WithMeta):
    """A server asks for a model's words."""

    messages: list[SamplingMessage]
    max_tokens: int
    model_preferences: ModelPreferences | None = None
    system_prompt: str | None = None
    include_context: str | None = None
    temperature: float | None = None
    stop_sequences: list[str] | None = None
    metadata: dict[str, Any] | None = None
    tools: list[Tool] | None = None
    tool_choice: ToolChoice | None = None


class CreateMessageResult(WithMeta):
    """A model's (or a person's) words for a server."""

    role: Role = "assistant"
    content: ContentBlock | list[ContentBlock]
    model: str
    stop_reason: str | None = None


class ElicitParams(WithMeta):
    """A server asks the person: a form (`requested_schema`) or, since 2025-11-25, a page (`url`)."""

    mode: str | None = None
    message: str
    requested_schema: dict[str, Any] | None = None
    url: str | None = None
    elicitation_id: str | None = None


class ElicitResult(WithMeta):
    """The person's answer."""

    action: Literal["accept", "decline", "cancel"]
    content: dict[str, Any] | None = None


class Root(WithMeta):
    """A folder or file that the client works on; a file:// URI."""

    uri: str
    name: str | None = None


class ListRootsResult(WithMeta):
    """What `roots/list` answers."""

    roots: list[Root]


# --- notifications ---------------------------------------------------------------------------------------------------


class LogMessage(WithMeta):
    """Params of `notifications/message`."""

    level: LoggingLevel
    logger: str | None = None
    data: Any = None


class Progress(WithMeta):
    """Params of `notifications/progress`."""

    progress_token: int | str
    progress: float
    total: float | None = None
    message: str | None = None
