"""A tool's result, a resource that was read, a prompt's messages. Pure.

What there is to show, and in which order, is decided by `sections`. A result without content says so: it is not the
same as a call that never ended.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.blocks import block_piece, section_piece, text_piece
from jupyter_mcp.notebook.render.piece import Piece, plain_line, stack, warning_line
from jupyter_mcp.notebook.render.sections import of_contents, of_result
from jupyter_mcp.notebook.render.text import count, flat
from jupyter_mcp.protocol.shapes import is_list, mapping_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["FITS", "empty_words", "label_of", "message_piece", "notes_of", "prompt_piece", "read_piece", "result_piece"]

MAX_BLOCKS = 40
MAX_TOTAL = 40_000  # characters of HTML without pictures and sounds: a saved notebook stays readable


def result_piece(result: Any) -> Piece:
    """A `Result`: name, error mark, blocks, structured content, notes."""
    label = label_of(result.server, result.tool)
    structured = mapping_of(result.raw).get("structuredContent")
    sections = of_result(_list(result.blocks), structured, is_error=bool(result.is_error))
    body = [section_piece(section, result.server) for section in sections[:MAX_BLOCKS]]
    if len(sections) > MAX_BLOCKS:
        body.append(plain_line(f"… {count(len(sections) - MAX_BLOCKS, 'more block')}; .content holds all"))
    notes = [warning_line(note) for note in notes_of(result)]
    if not body:
        body = [plain_line(empty_words(result), mark="i")]
    mark = FITS if getattr(result, "fits", None) is True else ""
    return _headed(label, bool(result.is_error), stack([*_fit(body, label), *notes]), mark)


FITS = "✓ fits its output schema"


def empty_words(result: Any) -> str:
    """What is said of a result without content, which is not the same as no result."""
    return "failed without a message" if result.is_error else "completed, returned no content"


def label_of(server: str | None, name: str | None) -> str:
    return ".".join(part for part in (flat(server or "", 40), flat(name or "", 120)) if part)


def _headed(label: str, is_error: bool, body: Piece, mark: str = "") -> Piece:
    """The name on one line with a short answer, else above it."""
    short = "\n" not in body.text and len(body.text) < 100
    joint = ": " if short else "\n"
    if is_error:
        head = html.note(f"<b>Error</b> from {html.code(label)}", "error")
        return Piece(head + body.html, f"Error from {label}{joint}{body.text}")
    said = f" {html.escape(mark)}" if mark else ""
    return Piece(html.muted(html.code(label) + said) + body.html, f"{label}{joint}{body.text}")


def _fit(pieces: Sequence[Piece], label: str) -> list[Piece]:
    """As many pieces as stay under the size of a readable output; pictures count little, they have their own limit."""
    kept: list[Piece] = []
    total = 0
    for at, piece in enumerate(pieces):
        weight = len(piece.html) if "data:" not in piece.html else 500
        if kept and total + weight > MAX_TOTAL:
            kept.append(plain_line(f"… {count(len(pieces) - at, 'more block')} of {label}; .content holds all"))
            break
        total += weight
        kept.append(piece)
    return kept


def notes_of(result: Any) -> list[str]:
    """Our remarks about it, each once."""
    found: list[str] = []
    for name in ("problems", "notes"):
        value = getattr(result, name, None)
        if isinstance(value, (list, tuple)):
            found += [str(one) for one in cast("Sequence[object]", value)]
    return list(dict.fromkeys(found))


def read_piece(read: Any) -> Piece:
    """A `Read`: the address, then each of its contents."""
    contents = [mapping_of(one.raw) for one in _list(read.contents)]
    label = flat(read.uri, 500)
    single = len(contents) == 1
    pieces: list[Piece] = []
    for at, part in enumerate(contents[:MAX_BLOCKS]):
        section = of_contents(part, "" if single else f".contents[{at}]", folded=not single)
        section = replace(section, framed=single and section.columns is not None)
        pieces.append(section_piece(section, read.server))
    if not contents:
        pieces = [plain_line("read, it has no contents", mark="i")]
    if len(contents) > MAX_BLOCKS:
        pieces.append(plain_line(f"… {count(len(contents) - MAX_BLOCKS, 'more part')}; .contents holds all"))
    kind = flat(contents[0].get("mimeType") or "", 60) if single else ""
    head = html.muted(f"{html.code(label)} {html.escape(kind)}")
    body = stack([*_fit(pieces, label), *(warning_line(note) for note in notes_of(read))])
    return Piece(head + body.html, f"{label}{f' ({kind})' if kind else ''}\n{body.text}")


def prompt_piece(prompt: Any) -> Piece:
    """A `PromptResult`: each message under its role."""
    messages = [mapping_of(message) for message in _list(prompt.dicts)]
    name = label_of(prompt.server, prompt.prompt)
    told = flat(prompt.description or "", 300)
    head = html.muted(f"{html.code(name)}{f' {html.escape(told)}' if told else ''}") if name or told else ""
    pieces = [message_piece(message, prompt.server) for message in messages[:MAX_BLOCKS]]
    if not pieces:
        pieces = [plain_line("the prompt has no messages", mark="i")]
    body = stack([*_fit(pieces, name), *(warning_line(note) for note in notes_of(prompt))])
    return Piece(head + body.html, "\n".join(line for line in (name, body.text) if line))


def message_piece(message: Mapping[str, Any], server: str = "") -> Piece:
    """One message of a prompt or of sampling: its role, then its block or blocks."""
    role = flat(message.get("role") or "unknown role", 40)
    content = message.get("content")
    blocks = content if is_list(content) else [content]
    parts = [text_piece(block) if isinstance(block, str) else block_piece(block, server) for block in blocks]
    body = stack(parts)
    return Piece(html.note(f"<b>{html.escape(role)}</b>") + html.quote(body.html), f"{role}: {body.text}")


def _list(value: object) -> list[Any]:
    return list(cast("Sequence[Any]", value)) if isinstance(value, (list, tuple)) else []
