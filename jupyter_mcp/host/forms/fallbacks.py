"""Where a form falls back to JSON, and why: counted and listed, so that it is known and not merely met."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from jupyter_mcp.host.forms.collecting import step
from jupyter_mcp.host.forms.model import model

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jupyter_mcp.host.forms.node import Node

__all__ = ["fallbacks", "walk"]

_MOST = 5_000  # nodes looked at


def fallbacks(schema: object) -> list[tuple[str, str]]:
    """The fields of a schema that are written as JSON, each with the reason.

    Args:
        schema: as for `model`.

    Returns:
        (place, reason) pairs. The place is a JSON pointer into a value; `*` stands for any entry of a list or any
        member that the schema does not name, `|2` for the second alternative.
    """
    return [(place, node.reason) for place, node in walk(model(schema)) if node.kind == "json"]


def walk(node: Node) -> Iterator[tuple[str, Node]]:
    """Every field of a form once, with its place; what refers back to itself is not entered again."""
    waiting = deque([("", node)])
    for _ in range(_MOST):
        if not waiting:
            return
        place, one = waiting.popleft()
        yield place, one
        if not one.again:
            waiting.extend(_inside(place, one))


def _inside(place: str, node: Node) -> Iterator[tuple[str, Node]]:
    for at, part in enumerate(node.parts):
        yield place + step(part.name if node.kind == "object" else at), part
    for part in (node.item, node.extra if node.open else None):
        if part is not None:
            yield f"{place}/*", part
    for at, branch in enumerate(node.branches, 1):
        yield f"{place}|{at}", branch
