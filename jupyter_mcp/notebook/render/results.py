"""A tool's result, a resource that was read, a prompt's messages. Pure.

Blocks come in the order in which they were sent. Structured content that a text block only repeats is shown once, in
the form that reads best. A result without content says so: it is not the same as a call that never ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.blocks import block_piece, contents_piece, kinds_of, text_piece
from jupyter_mcp.notebook.render.data import data_piece, same_data
from jupyter_mcp.notebook.render.piece import Piece, plain_line, stack, warning_line
from jupyter_mcp.notebook.render.text import count, flat
from jupyter_mcp.protocol.shapes import is_list, is_mapping, mapping_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["prompt_piece", "read_piece", "result_piece"]

MAX_BLOCKS = 40
MAX_TOTAL = 40_000  # characters of HTML without pictures and sounds: a saved notebook stays readable


def result_piece(result: Any) -> Piece:
    """A `Result`: name, error mark, blocks, structured content, notes."""
    label = label_of(result.server, result.tool)
    structured = mapping_of(result.raw).get("structuredContent")
    body = _body(_list(result.blocks), structured, result.server, is_error=bool(result.is_error))
    notes = [warning_line(note) for note in _notes(result)]
    if not body:
        said = "failed without a message" if result.is_error else "completed, returned no content"
        body = [plain_line(said, mark="i")]
    return _headed(label, bool(result.is_error), stack([*_fit(body, label), *notes]))


def label_of(server: str | None, name: str | None) -> str:
    return ".".join(part for part in (flat(server or "", 40), flat(name or "", 120)) if part)


def _headed(label: str, is_error: bool, body: Piece) -> Piece:
    """The name on one line with a short answer, else above it."""
    short = "\n" not in body.text and len(body.text) < 100
    joint = ": " if short else "\n"
    if is_error:
        head = html.note(f"<b>Error</b> from {html.code(label)}", "error")
        return Piece(head + body.html, f"Error from {label}{joint}{body.text}")
    return Piece(html.muted(html.code(label)) + body.html, f"{label}{joint}{body.text}")


def _body(blocks: Sequence[Any], structured: Any, server: str, *, is_error: bool) -> list[Piece]:
    shown = list(blocks)
    pieces: list[Piece] = []
    if structured is not None and not is_error:
        texts = [block.get("text") for block in shown if _is_text(block)]
        words = [text for text in texts if isinstance(text, str)]
        if same_data(words, structured):
            if _is_single_scalar(structured):
                structured = None  # {"result": 5} and the text "5": the text says it all
            else:
                shown = [block for block in shown if not _is_text(block)]
    pieces += _block_pieces(shown, server)
    if structured is not None:
        data = data_piece(structured)
        heading = html.note(html.muted("structured content")) if pieces else ""
        pieces.append(Piece(heading + data.html, data.text))
    return pieces


def _is_text(block: object) -> bool:
    return is_mapping(block) and block.get("type") == "text"


def _is_single_scalar(data: object) -> bool:
    """A plain value, alone or as the only member of a wrapper."""
    inner = next(iter(data.values())) if is_mapping(data) and len(data) == 1 else data
    return not is_mapping(inner) and not is_list(inner)


def _block_pieces(blocks: Sequence[Any], server: str) -> list[Piece]:
    seen: dict[str, int] = {}
    pieces: list[Piece] = []
    for block in blocks[:MAX_BLOCKS]:
        pieces.append(block_piece(block, server, seen))
        for kind in kinds_of(block):
            seen[kind] = seen.get(kind, 0) + 1
    if len(blocks) > MAX_BLOCKS:
        pieces.append(plain_line(f"… {count(len(blocks) - MAX_BLOCKS, 'more block')}; .content holds all"))
    return pieces


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


def _notes(result: Any) -> list[str]:
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
        pieces.append(contents_piece(part, "" if single else f".contents[{at}]", folded=not single))
    if not contents:
        pieces = [plain_line("read, it has no contents", mark="i")]
    if len(contents) > MAX_BLOCKS:
        pieces.append(plain_line(f"… {count(len(contents) - MAX_BLOCKS, 'more part')}; .contents holds all"))
    kind = flat(contents[0].get("mimeType") or "", 60) if single else ""
    head = html.muted(f"{html.code(label)} {html.escape(kind)}")
    body = stack([*_fit(pieces, label), *(warning_line(note) for note in _notes(read))])
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
    body = stack([*_fit(pieces, name), *(warning_line(note) for note in _notes(prompt))])
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
