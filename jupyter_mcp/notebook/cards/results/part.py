"""The widget of one section: static HTML where that says it all, a component where one can do more with it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from jupyter_mcp.host.media import sniff_image
from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.results.fold import Fold
from jupyter_mcp.notebook.cards.results.text import long_text, markdown_text
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.blocks import MAX_TEXT, section_piece, word_piece
from jupyter_mcp.notebook.render.data import data_piece
from jupyter_mcp.notebook.render.pictures import audio_type, caption
from jupyter_mcp.notebook.render.text import flat
from jupyter_mcp.protocol.shapes import is_list, is_mapping

if TYPE_CHECKING:
    from collections.abc import Callable

    from jupyter_mcp.notebook.cards.runner import Runner
    from jupyter_mcp.notebook.render.sections import Section

__all__ = ["part"]

_ENDINGS = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp", "image/svg+xml": "svg"}
_FEW = 12  # members of a flat object that are simply listed


def part(section: Section, server: str, runner: Runner) -> Any:
    """The widget of a section, under the word of the server about it.

    Args:
        section: what to show.
        server: whose it is.
        runner: reads linked resources.
    """
    above: list[Any] = []
    if section.heading:
        above.append(kit.markup(html.note(html.muted(html.escape(section.heading)))))
    if section.word:
        above.append(kit.markup(word_piece(section.word, server).html))
    made = _made(replace(section, heading="", word=""), server, runner)
    return kit.column([*above, made]) if above else made


def _made(section: Section, server: str, runner: Runner) -> Any:
    match section.kind:
        case "text" if len(section.text) > MAX_TEXT:
            return long_text(section)
        case "markdown":
            return markdown_text(section)
        case "rows":
            return _table(section)
        case "data":
            return _data(section)
        case "image" | "drawing" | "audio":
            return _media(section)
        case "file" if section.octets:
            return _file(section)
        case "link":
            from jupyter_mcp.notebook.cards.results.links import Link

            return Link(section, server, runner).root
        case "resource":
            return _resource(section, server, runner)
        case _:
            return kit.markup(section_piece(section, server).html)


def _data(section: Section) -> Any:
    if section.columns is not None and max(map(len, section.columns.values()), default=0) > 1:
        return _table(section)
    value = section.value
    flat_one = is_mapping(value) and len(value) <= _FEW and not any(is_mapping(v) or is_list(v) for v in value.values())
    if flat_one or not (is_mapping(value) or is_list(value)):
        return kit.markup(data_piece(value, section.where).html)
    from jupyter_mcp.notebook.components.tree import Tree

    return Tree(value, section.heading or "JSON value").root


def _table(section: Section) -> Any:
    from jupyter_mcp.notebook.cards.results.table import table

    return table(section)


def _media(section: Section) -> Any:
    mime = _mime(section)
    if mime is None or not section.octets:
        return kit.markup(section_piece(section).html)
    from jupyter_mcp.notebook.components.media import Media

    kind: Any = section.kind
    return Media(kind, section.octets, mime, caption=caption(section), name=_name(section, mime))


def _mime(section: Section) -> str | None:
    if section.kind == "drawing":
        return "image/svg+xml"
    return sniff_image(section.octets) if section.kind == "image" else audio_type(section.mime)


def _name(section: Section, mime: str) -> str:
    last = section.uri.partition("?")[0].rstrip("/").rpartition("/")[2]
    if "." in last:
        return last
    number = "".join(char for char in section.where if char.isdigit())
    return f"{last or section.kind}{number}.{_ENDINGS.get(mime, mime.partition('/')[2])}"


def _file(section: Section) -> Any:
    from jupyter_mcp.notebook.components.file import File

    data = section.octets
    made = File(section.uri or "file", len(data), lambda: data, is_pdf=data.startswith(b"%PDF-"))
    return kit.column([kit.markup(section_piece(section).html), made])


def _resource(section: Section, server: str, runner: Runner) -> Any:
    """Folded under its address; what is in it is made when it is opened."""
    label = flat(section.uri or "resource", 120)
    make: Callable[[], Any] = lambda: kit.column([part(inner, server, runner) for inner in section.inner])  # noqa: E731
    return Fold(f"Resource {label}", make, note=flat(section.mime, 60)).root
