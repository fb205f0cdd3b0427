"""Bytes that came as base64: images and sounds as objects, and what a blob really is by its first bytes. Pure.

An image shows itself in a notebook only when its first bytes are those of a PNG, JPEG, GIF or WebP; what the server
calls it does not matter. SVG, which may hold scripts, is a drawing: who shows it does so in an `<img>`, which runs
none.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os

__all__ = ["Audio", "Image", "decode_base64", "is_drawing", "pictures_in", "sniff_image", "split_pictures"]

_DRAWING = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]{0,200}\?>\s*)?"
    rb"(?:<!--(?:(?!-->).)*-->\s*)*(?:<!DOCTYPE svg[^>\[]{0,300}>\s*)?<svg[\s>/]",
    re.DOTALL,
)
_BEGINNINGS = ("iVBORw", "/9j/", "R0lGOD", "UklGR")  # of the base64 of a PNG, JPEG, GIF, WebP
_INLINE = re.compile(r"(?:!\[[^\]\n]*\]\()?data:image/[a-z]+;base64,([A-Za-z0-9+/]{40,}={0,2})\)?")


def decode_base64(text: Any) -> bytes:
    """The bytes of a base64 text, also URL-safe, unpadded, in lines or with a `data:` head; b"" if it is none."""
    if not isinstance(text, str):
        return b""
    if text.startswith("data:"):
        text = text.partition(",")[2]
    compact = re.sub(r"\s+", "", text).translate(str.maketrans("-_", "+/")).rstrip("=")
    try:
        return base64.b64decode(compact + "=" * (-len(compact) % 4), validate=True)
    except (binascii.Error, ValueError):
        return b""


def sniff_image(data: bytes) -> str | None:
    """MIME type by the first bytes: PNG, JPEG, GIF or WebP; else None."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    return "image/webp" if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else None


def is_drawing(data: bytes) -> bool:
    """Whether the bytes begin as an SVG document does."""
    return _DRAWING.match(data[:4_096]) is not None


def pictures_in(text: str) -> list[tuple[int, int, bytes]]:
    """Pictures that a text carries as letters: begin, end, bytes of each.

    As `data:` addresses, in Markdown or bare; or as nothing but the base64 of one picture.
    """
    if text.lstrip()[:6].startswith(_BEGINNINGS) and (data := decode_base64(text)) and sniff_image(data) is not None:
        return [(0, len(text), data)]
    if ";base64," not in text:
        return []
    found = [(hit.start(), hit.end(), decode_base64(hit[1])) for hit in _INLINE.finditer(text)]
    return [(begin, end, data) for begin, end, data in found if sniff_image(data) is not None]


def split_pictures(text: str) -> list[str | bytes]:
    """A text and the pictures in it, in order."""
    parts: list[str | bytes] = []
    done = 0
    for begin, end, data in pictures_in(text):
        parts += [text[done:begin], data]
        done = end
    return [part for part in (*parts, text[done:]) if part]


@dataclass(frozen=True, slots=True)
class Image:
    """One image.

    Attributes:
        data: its bytes.
        mime_type: what the server calls it, untrusted.
        block: the content block it came in.
    """

    data: bytes = field(repr=False)
    mime_type: str
    block: dict[str, Any] = field(default_factory=dict[str, Any], repr=False, compare=False)

    @property
    def actual_type(self) -> str | None:
        """What its first bytes say: PNG, JPEG, GIF, WebP, or None."""
        return sniff_image(self.data)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the bytes to a file."""
        Path(path).write_bytes(self.data)

    def _repr_png_(self) -> bytes | None:
        return self.data if self.actual_type == "image/png" else None

    def _repr_jpeg_(self) -> bytes | None:
        return self.data if self.actual_type == "image/jpeg" else None

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """IPython knows PNG and JPEG by the methods above; the other two go by their MIME type."""
        actual = self.actual_type
        if actual in ("image/gif", "image/webp"):
            return {actual: base64.b64encode(self.data).decode(), "text/plain": repr(self)}
        return {}

    def __repr__(self) -> str:
        return f"<Image {self.actual_type or self.mime_type}, {len(self.data):,} bytes>"


@dataclass(frozen=True, slots=True)
class Audio:
    """One sound; fields as of `Image`."""

    data: bytes = field(repr=False)
    mime_type: str
    block: dict[str, Any] = field(default_factory=dict[str, Any], repr=False, compare=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the bytes to a file."""
        Path(path).write_bytes(self.data)

    def __repr__(self) -> str:
        return f"<Audio {self.mime_type}, {len(self.data):,} bytes>"
