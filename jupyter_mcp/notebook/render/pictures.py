"""Pictures, drawings, sounds and other bytes as static HTML: inside the page, bounded, never run. Pure.

What a server calls its bytes decides nothing: a picture is what begins like a PNG, JPEG, GIF or WebP. A drawing (SVG)
can hold scripts and addresses; in an `<img>` a browser neither runs nor loads them, so it is shown there and nowhere
else.
"""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING

from jupyter_mcp.host.media import sniff_image
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.piece import Piece, plain_line
from jupyter_mcp.notebook.render.text import flat, size

if TYPE_CHECKING:
    from jupyter_mcp.notebook.render.sections import Section

__all__ = ["audio_piece", "audio_type", "caption", "drawing_piece", "file_piece", "picture_piece"]

MAX_IMAGE = 3_000_000  # bytes of one picture inside a saved notebook
MAX_DRAWING = 300_000
MAX_AUDIO = 500_000
_AUDIO = re.compile(r"audio/[a-z0-9.+\-]{1,40}")


def picture_piece(section: Section) -> Piece:
    """A picture, when its first bytes are those of one."""
    actual = sniff_image(section.octets)
    if actual is None:
        claimed = flat(section.mime or "unknown type", 60)
        return plain_line(
            f"[{claimed}, {size(len(section.octets))}: not shown, it is no PNG, JPEG, GIF or WebP; "
            f"{section.where} holds it]",
            mark="small",
        )
    return _embedded(section, actual, MAX_IMAGE)


def drawing_piece(section: Section) -> Piece:
    """An SVG drawing, as an image only."""
    return _embedded(section, "image/svg+xml", MAX_DRAWING)


def _embedded(section: Section, mime: str, limit: int) -> Piece:
    said = caption(section)
    if len(section.octets) > limit:
        return plain_line(f"[{said}: too large to show here; {section.where} holds it]", mark="small")
    source = f"data:{mime};base64,{base64.b64encode(section.octets).decode('ascii')}"
    picture = f'<img src="{source}" alt="image ({html.escape(said)})" style="max-width:100%;height:auto">'
    return Piece(f"<p>{picture}<br>{html.muted(html.escape(said))}</p>", f"[{said}; {section.where} holds it]")


def caption(section: Section) -> str:
    """What bytes are: "image/png, 640 × 480, 12 kB"."""
    data, length = section.octets, size(len(section.octets))
    if section.kind == "drawing":
        return f"image/svg+xml, {length}"
    actual = sniff_image(data) if section.kind == "image" else None
    if actual is None:
        return f"{flat(section.mime or ('audio' if section.kind == 'audio' else 'binary data'), 60)}, {length}"
    return f"{actual}, {_pixels(data, actual)}{length}"


def _pixels(data: bytes, actual: str) -> str:
    if actual == "image/png" and len(data) >= 24:
        return f"{int.from_bytes(data[16:20], 'big')} × {int.from_bytes(data[20:24], 'big')}, "
    if actual == "image/gif" and len(data) >= 10:
        return f"{int.from_bytes(data[6:8], 'little')} × {int.from_bytes(data[8:10], 'little')}, "
    return ""


def audio_type(mime: str) -> str | None:
    """The MIME type of a sound, when it is one and nothing besides."""
    return mime if _AUDIO.fullmatch(mime) else None


def audio_piece(section: Section) -> Piece:
    """A player for a small sound."""
    said, kind = f"[{caption(section)}; {section.where} holds it]", audio_type(section.mime)
    if not section.octets or len(section.octets) > MAX_AUDIO or kind is None:
        return plain_line(said, mark="small")
    source = f"data:{kind};base64,{base64.b64encode(section.octets).decode('ascii')}"
    return Piece(f'<p><audio controls src="{source}"></audio><br>{html.muted(html.escape(said))}</p>', said)


def file_piece(section: Section) -> Piece:
    """Bytes of another kind: how many, and where they are."""
    if not section.octets and not section.where.endswith(".bytes"):
        return plain_line("[no contents]", mark="small")
    return plain_line(f"[{caption(section)}; {section.where} holds it]", mark="small")
