"""What a handler may return beside plain values: images, audio, files, links, messages, a whole tool result.

Each knows its block on the wire. What a revision cannot carry is degraded here, in one place (`for_revision`): audio
before 2025-03-26 and resource links before 2025-06-18 become text that says so.
"""

from __future__ import annotations

import base64
import mimetypes
import typing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

from jupyter_mcp.errors import UsageError

if typing.TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from jupyter_mcp.protocol.revisions import Features

Role = Literal["user", "assistant"]

_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"ID3", "audio/mpeg"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
    (b"%PDF-", "application/pdf"),
)


def sniff(data: bytes) -> str | None:
    """The MIME type of well-known binary formats by their first bytes, else None."""
    if data[:4] == b"RIFF":
        return {b"WEBP": "image/webp", b"WAVE": "audio/wav"}.get(data[8:12])
    return next((mime for start, mime in _SIGNATURES if data.startswith(start)), None)


def _load(data: bytes | bytearray | memoryview | str | os.PathLike[str], what: str) -> tuple[bytes, str | None]:
    if isinstance(data, (bytes, bytearray, memoryview)):
        return bytes(data), None
    path = Path(data)
    try:
        return path.read_bytes(), mimetypes.guess_type(path.name)[0]
    except OSError as error:
        raise UsageError(f"{what} cannot read its file: {error.strerror or error}.") from None


class _Media:
    """Bytes with a MIME type; `data` may be the path of a file."""

    kind: Literal["image", "audio"]
    default: str

    def __init__(
        self,
        data: bytes | bytearray | memoryview | str | os.PathLike[str],
        mime_type: str | None = None,
        *,
        annotations: Mapping[str, Any] | None = None,
    ) -> None:
        self.data, guessed = _load(data, type(self).__name__)
        self.mime_type = mime_type or sniff(self.data) or guessed or self.default
        self.annotations = annotations

    def block(self) -> dict[str, Any]:
        """The content block."""
        found = {"type": self.kind, "data": base64.b64encode(self.data).decode(), "mimeType": self.mime_type}
        return {**found, "annotations": dict(self.annotations)} if self.annotations else found


class Image(_Media):
    """A picture: `Image(png_bytes)`, `Image("plot.png")`."""

    kind = "image"
    default = "image/png"


class Audio(_Media):
    """A sound: `Audio(wav_bytes)`, `Audio("note.wav")`."""

    kind = "audio"
    default = "audio/wav"


@dataclass(frozen=True, slots=True)
class Text:
    """Text with annotations (`audience`, `priority`); a plain `str` does where there are none."""

    text: str
    annotations: Mapping[str, Any] | None = None

    def block(self) -> dict[str, Any]:
        """The content block."""
        found: dict[str, Any] = {"type": "text", "text": self.text}
        return {**found, "annotations": dict(self.annotations)} if self.annotations else found


@dataclass(frozen=True, slots=True)
class Embedded:
    """A resource inside the result: its URI and its text or bytes."""

    uri: str
    data: str | bytes
    mime_type: str | None = None

    def block(self) -> dict[str, Any]:
        """The content block."""
        return {"type": "resource", "resource": contents(self.uri, self.data, self.mime_type)}


@dataclass(frozen=True, slots=True)
class Link:
    """A pointer to a resource, which the client may read."""

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None

    def block(self) -> dict[str, Any]:
        """The content block."""
        optional = {"title": self.title, "description": self.description, "mimeType": self.mime_type}
        given = {key: value for key, value in optional.items() if value is not None}
        return {"type": "resource_link", "uri": self.uri, "name": self.name, **given}


@dataclass(frozen=True, slots=True)
class ToolResult:
    """A whole tool result, where the plain return value does not say it all.

    Attributes:
        content: what `CallToolResult.content` shall hold: text, blocks, `Image` …, one or a list.
        structured: the structured content (`NONE` leaves it out).
        is_error: the tool failed; the content says why.
        meta: the result's `_meta`.
    """

    NONE: typing.ClassVar[Any] = object()

    content: Any = ()
    structured: Any = NONE
    is_error: bool = False
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a prompt. `user("…")` and `assistant("…")` make them."""

    role: Role
    content: Any


def user(content: Any) -> Message:
    """A prompt message in the person's words."""
    return Message("user", content)


def assistant(content: Any) -> Message:
    """A prompt message in the assistant's words."""
    return Message("assistant", content)


_TYPES: tuple[type, ...] = (Image, Audio, Text, Embedded, Link, ToolResult, Message)
_REQUIRED: dict[str, set[str]] = {
    "text": {"type", "text"},
    "image": {"type", "data", "mimeType"},
    "audio": {"type", "data", "mimeType"},
    "resource": {"type", "resource"},
    "resource_link": {"type", "uri", "name"},
}
_ALLOWED = {"type", "text", "data", "mimeType", "resource", "uri", "name", "title", "description", "size", "icons"} | {
    "annotations",
    "_meta",
}


def is_content_type(annotation: Any) -> bool:
    """Whether a return annotation names content (so that it has no output schema)."""
    if not isinstance(annotation, type):
        return False
    kind = cast("type[Any]", annotation)
    return issubclass(kind, _TYPES) or kind.__name__ == "InputRequired" or _is_protocol_type(kind)


def _is_protocol_type(kind: type[Any]) -> bool:
    return kind.__module__ == "jupyter_mcp.protocol.types"


def block_of(value: Any) -> dict[str, Any] | None:
    """The content block that a value is, or None when it is data.

    A dict is a block only when it has exactly the members of one: `{"type": "text", "text": …}`.
    """
    if isinstance(value, (Image, Audio, Text, Embedded, Link)):
        return value.block()
    if isinstance(value, dict):
        mapping = cast("dict[Any, Any]", value)
        kind = mapping.get("type")
        required = _REQUIRED.get(kind) if isinstance(kind, str) else None
        return mapping if required is not None and required <= mapping.keys() <= _ALLOWED else None
    if _is_protocol_type(cast("type[Any]", type(value))) and hasattr(value, "type"):
        return value.model_dump(by_alias=True, exclude_none=True, mode="json")
    return None


def contents(uri: str, data: str | bytes, mime_type: str | None) -> dict[str, Any]:
    """One `ResourceContents` (text or blob)."""
    if isinstance(data, str):
        return {"uri": uri, "mimeType": mime_type or "text/plain", "text": data}
    mime_type = mime_type or sniff(data) or "application/octet-stream"
    return {"uri": uri, "mimeType": mime_type, "blob": base64.b64encode(data).decode()}


def for_revision(block: Mapping[str, Any], features: Features) -> dict[str, Any]:
    """A block as the revision can carry it."""
    kind = block.get("type")
    if kind == "audio" and not features.audio:
        return {"type": "text", "text": f"[audio, {block.get('mimeType')}: this protocol revision cannot carry it]"}
    if kind == "resource_link" and not features.resource_links:
        words = [block.get("title") or block.get("name"), block.get("description"), block.get("uri")]
        return {"type": "text", "text": " – ".join(str(word) for word in words if word)}
    dropped = [key for key, kept in (("icons", features.icons), ("_meta", features.meta)) if not kept and key in block]
    return {key: value for key, value in block.items() if key not in dropped} if dropped else dict(block)


def blocks_for_revision(blocks: Sequence[Mapping[str, Any]], features: Features) -> list[dict[str, Any]]:
    """Several blocks as the revision can carry them."""
    return [for_revision(block, features) for block in blocks]
