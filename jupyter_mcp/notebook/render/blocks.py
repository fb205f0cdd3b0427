"""Content blocks of tool results, prompts and sampling messages: text, images, audio, links, embedded resources.

A block is what the server sent, as a dict; an odd one is shown as what it is and harms nothing. Pure.
"""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Any

from jupyter_mcp.host.media import decode_base64, pictures_in, sniff_image
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.piece import Piece, plain_line, stack
from jupyter_mcp.notebook.render.text import clean, cut, flat, pretty, size
from jupyter_mcp.protocol.shapes import as_list, is_mapping, mapping_of

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["MAX_TEXT", "block_piece", "contents_piece", "image_piece", "text_piece"]

MAX_TEXT = 10_000  # characters of one text block
MAX_IMAGE = 3_000_000  # bytes of one image inside a saved notebook
MAX_AUDIO = 500_000
_AUDIO = re.compile(r"audio/[a-z0-9.+\-]{1,40}")
_CODE_LINE = re.compile(r"(?m)^(?: {2,}|\t|[|>{}\[\]]|```|\S+\s{3,}\S)")


def block_piece(block: object, server: str = "", index: Mapping[str, int] | None = None) -> Piece:
    """One content block.

    Args:
        block: the block as sent.
        server: whose it is, for the line that reads a linked resource.
        index: how many images, audios … came before, to name it (".images[0]").
    """
    if not is_mapping(block):
        return _unknown(block)
    kind = block.get("type")
    before = index or {}
    match kind:
        case "text":
            return _text(block.get("text"), before.get("image", 0))
        case "image":
            return image_piece(block, f".images[{before.get('image', 0)}]")
        case "audio":
            return _audio(block, f".audio[{before.get('audio', 0)}]")
        case "resource_link":
            return _link(block, server)
        case "resource":
            return _embedded(block.get("resource"), f".resources[{before.get('resource', 0)}]")
        case "tool_use":
            return _tool_use(block)
        case "tool_result":
            return _tool_result(block, server)
        case _:
            return _unknown(block)


def kinds_of(block: object) -> list[str]:
    """What a block counts as when later ones are numbered: an embedded picture is an image too."""
    if not is_mapping(block):
        return []
    kind = str(block.get("type"))
    if kind == "text":
        return [kind, *("image" for _ in _pictures(block.get("text")))]
    blob = mapping_of(block.get("resource")).get("blob")
    is_picture = kind == "resource" and isinstance(blob, str) and sniff_image(decode_base64(blob[:64])) is not None
    return [kind, "image"] if is_picture else [kind]


def _pictures(text: object) -> list[tuple[int, int, bytes]]:
    return pictures_in(text) if isinstance(text, str) else []


def _text(value: object, before: int) -> Piece:
    """Text, and the pictures some servers put into it as `data:` addresses, which are of no use as letters."""
    pictures = _pictures(value)
    if not isinstance(value, str) or not pictures:
        return text_piece(value)
    pieces: list[Piece] = []
    done = 0
    for at, (begin, end, data) in enumerate(pictures, before):
        pieces += [text_piece(value[done:begin])] if value[done:begin].strip() else []
        pieces.append(image_piece({"data": base64.b64encode(data).decode("ascii")}, f".images[{at}]"))
        done = end
    return stack([*pieces, text_piece(value[done:]) if value[done:].strip() else None])


def text_piece(value: object, whole: str = ".text") -> Piece:
    """Text as it is: JSON and anything laid out by columns or indentation monospaced, prose in the page's type."""
    text = clean(value if value is not None else "")
    shown = cut(text, MAX_TEXT, whole)
    return Piece(html.pre(shown, mono=_laid_out(shown)), shown)


def _laid_out(text: str) -> bool:
    return text[:1] in ("{", "[") or _CODE_LINE.search(text) is not None


def image_piece(block: Mapping[str, Any], where: str) -> Piece:
    """A picture, when its first bytes are those of one; its claimed type decides nothing."""
    data = decode_base64(block.get("data"))
    actual = sniff_image(data)
    claimed = flat(block.get("mimeType") or "unknown type", 60)
    if actual is None:
        said = f"[{claimed}, {size(len(data))}: not shown, it is no PNG, JPEG, GIF or WebP; {where} holds it]"
        return plain_line(said, mark="small")
    caption = f"{actual}, {_pixels(data, actual)}{size(len(data))}"
    if len(data) > MAX_IMAGE:
        return plain_line(f"[{caption}: too large to show here; {where} holds it]", mark="small")
    source = f"data:{actual};base64,{base64.b64encode(data).decode('ascii')}"
    picture = f'<img src="{source}" alt="image ({html.escape(caption)})" style="max-width:100%;height:auto">'
    return Piece(f"<p>{picture}<br>{html.muted(html.escape(caption))}</p>", f"[{caption}; {where} holds it]")


def _pixels(data: bytes, actual: str) -> str:
    if actual == "image/png" and len(data) >= 24:
        return f"{int.from_bytes(data[16:20], 'big')} × {int.from_bytes(data[20:24], 'big')}, "
    if actual == "image/gif" and len(data) >= 10:
        return f"{int.from_bytes(data[6:8], 'little')} × {int.from_bytes(data[8:10], 'little')}, "
    return ""


def _audio(block: Mapping[str, Any], where: str) -> Piece:
    data = decode_base64(block.get("data"))
    kind = str(block.get("mimeType") or "").lower()
    said = f"[{flat(kind or 'audio', 60)}, {size(len(data))}; {where} holds it]"
    if not data or len(data) > MAX_AUDIO or not _AUDIO.fullmatch(kind):
        return plain_line(said, mark="small")
    source = f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}"
    return Piece(f'<p><audio controls src="{source}"></audio><br>{html.muted(html.escape(said))}</p>', said)


def _link(block: Mapping[str, Any], server: str) -> Piece:
    """A resource by name: nothing is fetched, the line that reads it is shown."""
    uri = flat(block.get("uri") or "", 500)
    name = flat(block.get("title") or block.get("name") or "", 120)
    told = flat(block.get("description") or "", 200)
    command = f"%mcp read {server} {uri}" if server else f"%mcp read {uri}"
    label = f"{name} " if name and name != uri else ""
    more = f"<br>{html.muted(html.escape(told))}" if told else ""
    how = html.muted(f"read it: {html.code(command)}")
    markup = html.note(f"<b>Resource</b> {html.escape(label)}{html.code(uri)}{more}<br>{how}")
    return Piece(markup, f"Resource {label}{uri}{f': {told}' if told else ''}\n  read it: {command}")


def _embedded(resource: object, where: str) -> Piece:
    if not is_mapping(resource):
        return _unknown(resource)
    return contents_piece(resource, where, folded=True)


def contents_piece(resource: Mapping[str, Any], where: str, *, folded: bool) -> Piece:
    """The contents of a resource, text or blob; folded under its address or as the body itself."""
    uri = flat(resource.get("uri") or "resource", 500)
    kind = flat(resource.get("mimeType") or "", 60)
    body = _contents_body(resource, where)
    if not folded:
        return body
    head = f"<b>Resource</b> {html.code(uri)} {html.muted(html.escape(kind))}"
    return Piece(html.details(head, body.html), f"Resource {uri}{f' ({kind})' if kind else ''}:\n{body.text}")


def _contents_body(resource: Mapping[str, Any], where: str) -> Piece:
    if isinstance(resource.get("text"), str):
        return text_piece(resource["text"], f"{where}.text")
    blob = resource.get("blob")
    if isinstance(blob, str):
        data = decode_base64(blob)
        if sniff_image(data) is not None:
            return image_piece({"data": blob, "mimeType": resource.get("mimeType")}, f"{where}.bytes")
        said = f"[{flat(resource.get('mimeType') or 'binary data', 60)}, {size(len(data))}; {where}.bytes holds it]"
        return plain_line(said, mark="small")
    return plain_line("[no contents]", mark="small")


def _tool_use(block: Mapping[str, Any]) -> Piece:
    name, shown = flat(block.get("name") or "a tool", 120), cut(pretty(block.get("input")), 2_000)
    return Piece(html.note(f"<b>Calls</b> {html.code(name)}") + html.pre(shown), f"Calls {name}: {shown}")


def _tool_result(block: Mapping[str, Any], server: str) -> Piece:
    parts = [block_piece(part, server) for part in as_list(block.get("content"))]
    said = "Tool result (error)" if block.get("isError") is True else "Tool result"
    return Piece(
        html.note(f"<b>{said}</b>") + "".join(part.html for part in parts),
        "\n".join([f"{said}:", *(part.text for part in parts)]),
    )


def _unknown(block: object) -> Piece:
    kind = flat(block.get("type") or "no type", 60) if is_mapping(block) else type(block).__name__
    shown = cut(pretty(block), 2_000)
    summary = f"Content of an unknown kind ({html.escape(kind)})"
    return Piece(html.details(summary, html.pre(shown)), f"Content of an unknown kind ({kind}): {shown}")
