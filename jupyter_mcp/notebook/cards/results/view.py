"""A result, a resource or a prompt as one widget: its sections, remarks, how long it took, and what to do with it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.journal.repeat import repeat_call
from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.results.part import part
from jupyter_mcp.notebook.cards.runner import HostRunner
from jupyter_mcp.notebook.cards.spelling import python_call
from jupyter_mcp.notebook.components.copy import Copy
from jupyter_mcp.notebook.components.newcell import NewCell
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.formatters import masked
from jupyter_mcp.notebook.render.piece import plain_line, warning_line
from jupyter_mcp.notebook.render.results import FITS, MAX_BLOCKS, empty_words, label_of, message_piece, notes_of
from jupyter_mcp.notebook.render.sections import of_block, of_contents, of_result
from jupyter_mcp.notebook.render.text import count
from jupyter_mcp.protocol.shapes import mapping_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jupyter_mcp.host.result import PromptResult, Read, Result
    from jupyter_mcp.notebook.cards.runner import Runner
    from jupyter_mcp.notebook.render.sections import Section

__all__ = ["ResultView", "block_view", "contents_view", "prompt_view", "read_view"]


class ResultView:
    """What a tool returned.

    Args:
        result: of the call.
        runner: reads what it links to.
        named: say whose it is (not where that stands above it already).

    Attributes:
        root: the widget.
    """

    def __init__(self, result: Result, runner: Runner, *, named: bool = True) -> None:
        self._result = result
        structured = mapping_of(result.raw).get("structuredContent")
        sections = of_result(result.blocks, structured, is_error=result.is_error)
        parts = _parts(sections, result.server, runner, ".content holds all")
        if not sections:
            parts = [kit.markup(plain_line(empty_words(result), mark="i").html)]
        notes = [kit.markup(warning_line(note).html) for note in notes_of(result)]
        copy = Copy(_copies(result), self._copied)
        cell = NewCell([("magic", "Insert the call as a cell", "code"), ("python", "… as Python", "code")], self._cell)
        head, foot = kit.markup(_head(result, named)), kit.markup(_foot(result))
        self.root = kit.column([head, *parts, *notes, foot, kit.row([copy, cell])])

    def _copied(self, key: str) -> str:
        result = self._result
        if key == "text":
            return masked(result.text)
        value = result.data if key == "data" else dict(result.raw)
        return masked(json.dumps(value, ensure_ascii=False, indent=2, default=str))

    def _cell(self, key: str) -> str:
        result = self._result
        repeat = repeat_call(result.server, result.tool, result.arguments)
        try:
            return repeat.magic if key == "magic" else repeat.python
        except UsageError:  # a name that fits in no line
            return python_call(result.server, result.tool, result.arguments)


def _copies(result: Result) -> list[tuple[str, str]]:
    """What there is to copy."""
    found = [("text", "Copy text")] if result.text else []
    return [*found, *([("data", "Copy JSON")] if result.data is not None else []), ("raw", "Copy all as sent")]


def _head(result: Result, named: bool) -> str:
    """Its mark; an error says so in words, and what it is about."""
    label = html.code(label_of(result.server, result.tool))
    if result.is_error:
        said = html.note(f"<b>Error</b> from {label}", "error")
        return said + html.note(html.muted("The tool itself reports it; its own words follow."))
    said = [*([label] if named else []), *([FITS] if result.fits else [])]
    return html.note(html.muted(" ".join(said))) if said else ""


def _foot(result: Result) -> str:
    said = [f"{_seconds(result.duration)}"] if result.duration else []
    if result.request_id is not None:
        said.append(f"request {html.escape(str(result.request_id)[:60])}")
    return html.note(html.muted(" · ".join(said))) if said else ""


def _seconds(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.2f} s"


def _parts(sections: Sequence[Section], server: str, runner: Runner, whole: str) -> list[Any]:
    made = [part(section, server, runner) for section in sections[:MAX_BLOCKS]]
    if len(sections) > MAX_BLOCKS:
        made.append(kit.markup(plain_line(f"… {count(len(sections) - MAX_BLOCKS, 'more block')}; {whole}").html))
    return made


def read_view(read: Read, runner: Runner | None = None) -> Any:
    """The parts of a resource that was read."""
    contents = [mapping_of(one.raw) for one in read.contents]
    single = len(contents) == 1
    sections = [
        of_contents(one, "" if single else f".contents[{at}]", folded=not single) for at, one in enumerate(contents)
    ]
    if single:
        sections = [replace(sections[0], framed=sections[0].columns is not None)]
    if not sections:
        return kit.markup(plain_line("read, it has no contents", mark="i").html)
    notes = [kit.markup(warning_line(note).html) for note in notes_of(read)]
    return kit.column([*_parts(sections, read.server, _acting(runner), ".contents holds all"), *notes])


def prompt_view(prompt: PromptResult) -> Any:
    """The messages of a prompt, each under its role, to the letter: they are what a model gets."""
    pieces = [message_piece(mapping_of(message), prompt.server).html for message in prompt.dicts[:MAX_BLOCKS]]
    if not pieces:
        return kit.markup(plain_line("the prompt has no messages", mark="i").html)
    return kit.column([kit.markup(piece) for piece in pieces])


def block_view(block: object, server: str = "", runner: Runner | None = None) -> Any:
    """One content block."""
    return kit.column([part(section, server, _acting(runner)) for section in of_block(block)])


def contents_view(contents: Mapping[str, Any], server: str = "", runner: Runner | None = None) -> Any:
    """One part of a resource."""
    return part(of_contents(contents), server, _acting(runner))


def _acting(runner: Runner | None) -> Runner:
    return runner or HostRunner()
