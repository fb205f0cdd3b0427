"""Several resources read into one variable: `{uri: value}`, for the cells that follow."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.acts import error_piece
from jupyter_mcp.notebook.render.text import count, flat

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Future

    from jupyter_mcp.notebook.cards.explorer.source import Source
    from jupyter_mcp.notebook.cards.runner import Runner

__all__ = ["Collect", "value_of"]

MOST = 200


def value_of(read: Any) -> Any:
    """What a resource is worth in a notebook: JSON as data, text as text, a picture as `Image`, else its bytes."""
    if read.data is not None:
        return read.data
    if read.text:
        return read.text
    return read.image if read.image is not None else read.bytes


class Collect:
    """The line below the tree: how many are ticked, the variable's name, and the button.

    Args:
        runner: reads.
        source: binds.
        selected: the ids that are ticked ("resource", server, URI in lines; others are left out).
        done: called when they have been read.
    """

    def __init__(
        self, runner: Runner, source: Source, selected: Callable[[], Sequence[str]], done: Callable[[], object]
    ) -> None:
        self._runner, self._source, self._selected, self._done = runner, source, selected, done
        self._guard = threading.Lock()
        self._said = kit.markup("")
        self._name = kit.widgets.Text(
            "resources", description="Name of the variable", continuous_update=True, layout={"width": "160px"}
        )
        self._read = kit.button("Read into a variable", self._press, look="primary")
        self._clear = kit.button("Untick all", done)
        self._outcome = kit.markup("")
        kit.watch(self._name, self.refresh)
        self._controls = kit.row([self._said, kit.row([self._name], "jmcp-control"), self._read, self._clear])
        self.root = kit.column([self._controls, self._outcome])
        self.show(False)

    def show(self, shown: bool) -> None:
        """Whether it is there at all."""
        self._shown = shown
        kit.hide(self.root, not shown)
        self.refresh()

    def refresh(self) -> None:
        """What is ticked, or the name, is another now."""
        chosen = self._addresses()
        kit.hide(self._controls, not chosen)
        name = self._name.value.strip()
        fine = re.fullmatch(r"[^\W\d]\w*", name) is not None
        there = f" {name} exists; it is replaced." if fine and self._source.has_variable(name) else ""
        kit.paint(self._said, kit.status(f"{count(len(chosen), 'resource')} ticked.{there}"))
        self._read.disabled = not fine

    def _addresses(self) -> list[tuple[str, str]]:
        parts = [name.split("\n") for name in self._selected()]
        return [(part[1], part[2]) for part in parts if part[0] == "resource" and len(part) >= 3][:MOST]

    def _press(self) -> None:
        chosen, name = self._addresses(), self._name.value.strip()
        if not chosen or self._read.disabled:
            return
        self._read.disabled = True
        kit.paint(self._outcome, kit.status(f"Reading {count(len(chosen), 'resource')} …"))
        left = len(chosen)
        futures: list[Future[Any]] = [self._runner.read(server, uri) for server, uri in chosen]

        def ended(_: object) -> None:
            nonlocal left
            with self._guard:
                left -= 1
                over = left == 0
            if over:
                self._bind(name, chosen, futures)

        for future in futures:
            future.add_done_callback(ended)

    def _bind(self, name: str, chosen: Sequence[tuple[str, str]], futures: Sequence[Future[Any]]) -> None:
        """On the thread on which the last one ended."""
        values: dict[str, Any] = {}
        problems: list[str] = []
        several = len({uri for _, uri in chosen}) < len(chosen)
        for (server, uri), future in zip(chosen, futures, strict=True):
            error = None if future.cancelled() else future.exception()
            if future.cancelled() or error is not None:
                said = error_piece(error).html if error is not None else html.note("cancelled")
                problems.append(f"{html.code(flat(uri, 200))} {said}")
            else:
                values[f"{server} {uri}" if several else uri] = value_of(future.result())
        try:
            self._source.bind(name, values)
            said = html.note(f"{html.code(name)} holds {html.escape(count(len(values), 'value'))} by address.", "good")
        except ValueError as error:
            said = html.note(html.escape(error), "error")
        self._done()
        kit.paint(self._outcome, f'<div role="status" aria-live="polite">{said}{"".join(problems)}</div>')
        self.refresh()
