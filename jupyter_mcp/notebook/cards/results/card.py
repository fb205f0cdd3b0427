"""A result in a cell as a live card, when there is more to do with it than to look at it.

Its static form stands beside it and is what is saved. A short answer, or a picture, is its static form alone: no card
is made for it, and no component loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.host.result import Result
from jupyter_mcp.notebook.render.blocks import MAX_TEXT
from jupyter_mcp.notebook.render.sections import of_result
from jupyter_mcp.protocol.shapes import is_list, is_mapping, mapping_of

if TYPE_CHECKING:
    from jupyter_mcp.notebook.cards.live import Card
    from jupyter_mcp.notebook.render.sections import Section

__all__ = ["deserves_card", "result_card", "shown_live"]

_MANY_ROWS = 6
_MANY_MEMBERS = 12


def deserves_card(result: object) -> bool:
    """Whether it is a result with a table to sort, a tree to unfold, a link to read, or a long text."""
    if not isinstance(result, Result):
        return False
    structured = mapping_of(result.raw).get("structuredContent")
    return any(map(_deserves, of_result(result.blocks, structured, is_error=result.is_error)))


def _deserves(section: Section) -> bool:
    if section.columns is not None:
        return max(map(len, section.columns.values()), default=0) >= _MANY_ROWS
    if section.kind == "data":
        return _has_more_than(section.value, _MANY_MEMBERS)
    if section.kind == "resource":
        return any(map(_deserves, section.inner))
    return section.kind == "link" or (section.kind in ("text", "markdown") and len(section.text) > MAX_TEXT)


def _has_more_than(value: Any, number: int) -> bool:
    """Whether a value has more members, at any depth; looks at no more of them."""
    waiting, seen = [value], 0
    while waiting and seen <= number:
        one = waiting.pop()
        inner = list(one.values()) if is_mapping(one) else one if is_list(one) else []
        seen += len(inner)
        waiting += inner[: number + 1]
    return seen > number


def shown_live(value: object) -> bool:
    """Display a result that deserves a card as one; False, and nothing is displayed, for everything else."""
    if not isinstance(value, Result) or not deserves_card(value):
        return False
    result_card(value)
    return True


def result_card(result: Result) -> Card:
    """Display a result live, in the current cell. Main thread."""
    from jupyter_mcp.notebook.cards import kit
    from jupyter_mcp.notebook.cards.live import Card
    from jupyter_mcp.notebook.cards.results.view import ResultView
    from jupyter_mcp.notebook.cards.runner import HostRunner
    from jupyter_mcp.notebook.render.bundles import bundle

    view = ResultView(result, HostRunner())
    return Card(kit.root([view.root]), lambda: bundle(result)).show()
