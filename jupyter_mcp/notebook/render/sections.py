"""What there is to show of a result, a resource or a message: sections, in the order in which they were sent. Pure.

The static form (`render.blocks`) and the live one (`cards.results`) draw the same sections, so that what is saved and
what was seen say the same. A section holds what the server sent; nothing in it is safe yet.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from jupyter_mcp.host.media import decode_base64, is_drawing, pictures_in, sniff_image
from jupyter_mcp.host.tables import find_columns
from jupyter_mcp.notebook.render.annotations import server_word
from jupyter_mcp.notebook.render.data import same_data, table_of
from jupyter_mcp.notebook.render.text import flat
from jupyter_mcp.notebook.render.textkinds import kind_of
from jupyter_mcp.protocol.shapes import is_list, is_mapping, mapping_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jupyter_mcp.host.tables import Columns

__all__ = ["Section", "kinds_of", "of_block", "of_contents", "of_result", "of_text"]

Kind = Literal["text", "markdown", "data", "rows", "image", "drawing", "audio", "file", "link", "resource", "block"]


@dataclass(frozen=True)
class Section:
    """One thing to show.

    Attributes:
        kind: "text", "markdown" and "rows" have `text`; "data" a JSON `value` (and `text` when it was sent as one);
            "image", "drawing" (SVG), "audio" and "file" have `octets`; "link" and "block" (anything else) `value`, as
            sent; "resource" its `inner`.
        where: how a program gets it (".text", ".images[0]").
        mime: what the server calls it.
        columns: the table in it.
        framed: `.df()` of the whole gives that table.
        heading: a word of ours above it. uri: the address of a resource.
        word: the server's annotations, in words.
    """

    kind: Kind
    where: str = ""
    text: str = ""
    value: Any = None
    octets: bytes = b""
    mime: str = ""
    columns: Columns | None = None
    framed: bool = False
    heading: str = ""
    uri: str = ""
    word: str = ""
    inner: tuple[Section, ...] = ()


def of_result(blocks: Sequence[Any], structured: Any, *, is_error: bool = False) -> list[Section]:
    """The sections of a tool's result. Structured content that a text only repeats is one section."""
    shown = list(blocks)
    if structured is not None and not is_error:
        texts = [block.get("text") for block in shown if _is_text(block)]
        words = [text for text in texts if isinstance(text, str)]
        if same_data(words, structured):
            if _is_single_scalar(structured):
                structured = None  # {"result": 5} and the text "5": the text says it all
            else:
                shown = [block for block in shown if not _is_text(block)]
    sections = _of_blocks(shown)
    if structured is not None:
        heading = "structured content" if sections else ""
        sections.append(Section("data", ".data", value=structured, columns=table_of(structured), heading=heading))
    return _framed(sections, structured)


def _framed(sections: list[Section], structured: Any) -> list[Section]:
    """Mark the one table that `.df()` finds: that of the structured content, else the first."""
    taken = structured is not None and find_columns(structured) is not None
    for at, section in enumerate(sections):
        if section.columns is not None and (not taken or section.value is structured):
            sections[at] = replace(section, framed=True)
            break
    return sections


def _of_blocks(blocks: Sequence[Any]) -> list[Section]:
    seen: dict[str, int] = {}
    sections: list[Section] = []
    for block in blocks:
        sections += of_block(block, seen)
        for kind in kinds_of(block):
            seen[kind] = seen.get(kind, 0) + 1
    return sections


def of_block(block: object, before: Mapping[str, int] | None = None, *, as_sent: bool = False) -> list[Section]:
    """The sections of one content block: one, but for a text with pictures in it.

    Args:
        block: as sent.
        before: how many images, sounds … came before, to name it (".images[0]").
        as_sent: texts are shown to the letter (a reader of Markdown does not see all that a model sees).
    """
    if not is_mapping(block):
        return [Section("block", value=block)]
    count, word = before or {}, server_word(block.get("annotations"))
    match block.get("type"):
        case "text":
            found = _of_text_block(block.get("text"), count.get("image", 0), as_sent)
        case "image":
            found = [_picture(block.get("data"), block.get("mimeType"), f".images[{count.get('image', 0)}]")]
        case "audio":
            data, mime = decode_base64(block.get("data")), _mime(block.get("mimeType"))
            found = [Section("audio", f".audio[{count.get('audio', 0)}]", octets=data, mime=mime)]
        case "resource_link":
            found = [Section("link", value=block, uri=str(block.get("uri") or ""), mime=_mime(block.get("mimeType")))]
        case "resource" if is_mapping(block.get("resource")):
            found = [of_contents(block["resource"], f".resources[{count.get('resource', 0)}]", folded=True)]
        case _:
            found = [Section("block", value=block)]
    return [replace(found[0], word=word), *found[1:]] if word else found


def kinds_of(block: object) -> list[str]:
    """What a block counts as when later ones are numbered: an embedded picture is an image too."""
    if not is_mapping(block):
        return []
    kind = str(block.get("type"))
    if kind == "text":
        return [kind, *("image" for _ in _pictures(block.get("text")))]
    resource = mapping_of(block.get("resource"))
    blob = resource.get("blob")
    is_picture = isinstance(blob, str) and (
        str(resource.get("mimeType")).startswith("image/") or sniff_image(decode_base64(blob[:64])) is not None
    )
    return [kind, "image"] if kind == "resource" and is_picture else [kind]


def _pictures(text: object) -> list[tuple[int, int, bytes]]:
    return pictures_in(text) if isinstance(text, str) else []


def _of_text_block(value: object, before: int, as_sent: bool) -> list[Section]:
    """Text, and the pictures some servers put into it as `data:` addresses, which are of no use as letters."""
    if not isinstance(value, str):
        return [Section("text", ".text", str("" if value is None else value))]
    pictures = _pictures(value)
    if not pictures:
        return [Section("text", ".text", value) if as_sent else of_text(value)]
    sections: list[Section] = []
    done = 0
    for at, (begin, end, data) in enumerate(pictures, before):
        if value[done:begin].strip():
            sections.append(Section("text", ".text", value[done:begin]))
        sections.append(Section("image", f".images[{at}]", octets=data, mime=sniff_image(data) or ""))
        done = end
    return [*sections, *([Section("text", ".text", value[done:])] if value[done:].strip() else [])]


def of_text(text: str, mime: str = "", where: str = ".text") -> Section:
    """A text by what it is."""
    data = text.encode("utf-8", "replace") if mime.startswith("image/svg") else b""
    if data and is_drawing(data):
        return Section("drawing", where, text, octets=data, mime=mime)
    found = kind_of(text, mime)
    if found.kind == "json":
        return Section("data", where, text, found.data, mime=mime, columns=found.columns)
    return Section(found.kind, where, text, mime=mime, columns=found.columns)


def _picture(data: object, mime: object, where: str) -> Section:
    octets = decode_base64(data)
    if sniff_image(octets) is None and is_drawing(octets):
        return Section("drawing", where, octets=octets, mime="image/svg+xml")
    return Section("image", where, octets=octets, mime=_mime(mime))


def of_contents(part: Mapping[str, Any], where: str = "", *, folded: bool = False) -> Section:
    """The contents of a resource, text or blob.

    Args:
        part: as sent.
        where: how a program gets it ("" for the only part of a resource that was read).
        folded: put it under its address.
    """
    uri, mime = str(part.get("uri") or ""), _mime(part.get("mimeType"))
    body = replace(_body(part, mime, where), uri=uri)
    return Section("resource", where, mime=mime, uri=uri, inner=(body,)) if folded else body


def _body(part: Mapping[str, Any], mime: str, where: str) -> Section:
    text, blob = part.get("text"), part.get("blob")
    if isinstance(text, str):
        return of_text(text, mime, f"{where}.text")
    if not isinstance(blob, str):
        return Section("file", where, mime=mime)
    data = decode_base64(blob)
    if sniff_image(data) is not None or (mime.startswith("image/svg") and is_drawing(data)):
        return _picture(base64.b64encode(data).decode("ascii"), mime, f"{where}.bytes")
    if mime.startswith("audio/"):
        return Section("audio", f"{where}.bytes", octets=data, mime=mime)
    if mime.startswith("text/") or mime.partition(";")[0].endswith(("json", "xml", "yaml")):
        try:
            return of_text(data.decode("utf-8-sig"), mime, f"{where}.text")
        except UnicodeDecodeError:
            pass
    return Section("file", f"{where}.bytes", octets=data, mime=mime)


def _mime(value: object) -> str:
    return flat(value, 80).lower() if isinstance(value, str) else ""


def _is_text(block: object) -> bool:
    return is_mapping(block) and block.get("type") == "text"


def _is_single_scalar(data: object) -> bool:
    """A plain value, alone or as the only member of a wrapper."""
    inner = next(iter(data.values())) if is_mapping(data) and len(data) == 1 else data
    return not is_mapping(inner) and not is_list(inner)
