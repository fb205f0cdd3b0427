"""Sections as static HTML and text: texts, tables, pictures, sounds, links, embedded resources. Pure.

A block is what the server sent, as a dict; an odd one is shown as what it is and harms nothing.
"""

from __future__ import annotations

from typing import Any

from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.data import columns_piece, data_piece
from jupyter_mcp.notebook.render.markdown import markdown
from jupyter_mcp.notebook.render.pictures import audio_piece, drawing_piece, file_piece, picture_piece
from jupyter_mcp.notebook.render.piece import Piece, plain_line, stack
from jupyter_mcp.notebook.render.sections import Section, of_block
from jupyter_mcp.notebook.render.text import clean, cut, flat, pretty
from jupyter_mcp.notebook.render.textkinds import laid_out
from jupyter_mcp.protocol.shapes import as_list, is_mapping

__all__ = ["MAX_TEXT", "block_piece", "link_head", "read_line", "section_piece", "text_piece", "word_piece"]

MAX_TEXT = 10_000  # characters of one text
MAX_LINE = 80  # characters of a JSON text that needs no laying out


def block_piece(block: object, server: str = "") -> Piece:
    """One content block of a message, its text to the letter.

    Args:
        block: the block as sent.
        server: whose it is, for the line that reads a linked resource.
    """
    return stack([section_piece(section, server) for section in of_block(block, as_sent=True)])


def section_piece(section: Section, server: str = "") -> Piece:
    """One section, under what the server says about it."""
    heading = Piece(html.note(html.muted(html.escape(section.heading))), "") if section.heading else None
    word = word_piece(section.word, server) if section.word else None
    return stack([heading, word, _drawn(section, server)])


def word_piece(word: str, server: str) -> Piece:
    """The server's annotations, as its own words."""
    return plain_line(f"{flat(server, 40) or 'The server'} says: {word}", mark="small")


def _drawn(section: Section, server: str) -> Piece:
    match section.kind:
        case "text":
            return text_piece(section.text, section.where)
        case "markdown":
            shown = cut(clean(section.text), MAX_TEXT, section.where)
            drawn = markdown(section.text, whole=section.where, limit=MAX_TEXT, breaks=True)
            framed = html.note(html.muted(f"{html.code('.df()')} makes a data frame of its table"))
            return Piece(drawn + (framed if section.framed else ""), shown)
        case "rows":
            return columns_piece(section.columns or {}, framed=section.framed)
        case "data":
            return _data(section)
        case "image":
            return picture_piece(section)
        case "drawing":
            return drawing_piece(section)
        case "audio":
            return audio_piece(section)
        case "file":
            return file_piece(section)
        case "link":
            return _link(section, server)
        case "resource":
            return _resource(section, server)
        case "block":
            return _block(section.value, server)


def text_piece(value: object, whole: str = ".text") -> Piece:
    """Text as it is: JSON and anything laid out by columns or indentation monospaced, prose in the page's type."""
    text = clean(value if value is not None else "")
    shown = cut(text, MAX_TEXT, whole)
    return Piece(html.pre(shown, mono=laid_out(shown)), shown)


def _data(section: Section) -> Piece:
    """JSON that came as a text stays that text when it is short, or somebody has laid it out."""
    if section.text and section.columns is None:
        sent = section.text.strip()
        return text_piece(sent if "\n" in sent or len(sent) <= MAX_LINE else pretty(section.value), section.where)
    return data_piece(section.value, section.where if section.framed or not section.text else "")


def link_head(section: Section) -> str:
    """Name, address and description of a linked resource, as safe HTML."""
    uri = flat(section.uri, 500)
    name, told = _names(section)
    more = f"<br>{html.muted(html.escape(told))}" if told else ""
    return f"<b>Resource</b> {html.escape(name)}{html.code(uri)}{more}"


def _names(section: Section) -> tuple[str, str]:
    block = section.value
    name = flat(block.get("title") or block.get("name") or "", 120)
    return (f"{name} " if name and name != section.uri else ""), flat(block.get("description") or "", 200)


def read_line(server: str, uri: str) -> str:
    """The line that reads a resource."""
    return f"%mcp read {server} {uri}" if server else f"%mcp read {uri}"


def _link(section: Section, server: str) -> Piece:
    """A resource by name: nothing is fetched, the line that reads it is shown."""
    uri = flat(section.uri, 500)
    (name, told), command = _names(section), read_line(server, uri)
    markup = html.note(f"{link_head(section)}<br>{html.muted(f'read it: {html.code(command)}')}")
    return Piece(markup, f"Resource {name}{uri}{f': {told}' if told else ''}\n  read it: {command}")


def _resource(section: Section, server: str) -> Piece:
    uri, kind = flat(section.uri or "resource", 500), flat(section.mime, 60)
    body = stack([section_piece(part, server) for part in section.inner])
    head = f"<b>Resource</b> {html.code(uri)} {html.muted(html.escape(kind))}"
    return Piece(html.details(head, body.html), f"Resource {uri}{f' ({kind})' if kind else ''}:\n{body.text}")


def _block(block: Any, server: str) -> Piece:
    """A block of sampling, or of a kind that is not known here."""
    match block.get("type") if is_mapping(block) else None:
        case "tool_use":
            name, shown = flat(block.get("name") or "a tool", 120), cut(pretty(block.get("input")), 2_000)
            return Piece(html.note(f"<b>Calls</b> {html.code(name)}") + html.pre(shown), f"Calls {name}: {shown}")
        case "tool_result":
            body = stack([block_piece(part, server) for part in as_list(block.get("content"))])
            said = "Tool result (error)" if block.get("isError") is True else "Tool result"
            return Piece(html.note(f"<b>{said}</b>") + body.html, f"{said}:\n{body.text}")
        case _:
            return _unknown(block)


def _unknown(block: object) -> Piece:
    kind = flat(block.get("type") or "no type", 60) if is_mapping(block) else type(block).__name__
    shown = cut(pretty(block), 2_000)
    summary = f"Content of an unknown kind ({html.escape(kind)})"
    return Piece(html.details(summary, html.pre(shown)), f"Content of an unknown kind ({kind}): {shown}")
