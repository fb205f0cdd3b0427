"""Text boxes that ask the server how their text could go on (completion/complete), a moment after one stops typing.

Used for prompt arguments and template variables: the other values chosen so far go along as context. Nothing waits for
a suggestion; one that comes too late or fails is dropped.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.text import clean, flat

if TYPE_CHECKING:
    from concurrent.futures import Future

__all__ = ["SuggestingFields"]

PAUSE_SECONDS = 0.25
MAX_SUGGESTIONS = 100
Ask = Callable[[str, str, Mapping[str, str]], "Future[list[str]]"]


class SuggestingFields:
    """One text box for each name.

    Args:
        names: (name, description, whether it is required).
        ask: asks for suggestions, given the name, what is typed, and the other values.
        changed: called after each change.
    """

    def __init__(self, names: list[tuple[str, str, bool]], ask: Ask, changed: Callable[[], object]) -> None:
        self._required = [name for name, _, required in names if required]
        self._ask = ask
        self._changed = changed
        self._boxes: dict[str, Any] = {}
        self._timers: dict[str, threading.Timer] = {}
        self._latest: dict[str, object] = {}
        rows = [self._row(*one) for one in names]
        self.root = kit.column(rows)

    def _row(self, name: str, told: str, required: bool) -> Any:
        box = kit.widgets.Combobox(
            description=name, ensure_option=False, continuous_update=True, layout={"width": "min(420px, 100%)"}
        )
        kit.watch(box, lambda: self._on_value(name))
        self._boxes[name] = box
        word = f" {html.muted('(required)')}" if required else ""
        help_ = f'<div class="jmcp-help">{html.escape(flat(told, 400))}</div>' if told else ""
        head = kit.markup(f"<div><b>{html.escape(name)}</b>{word}{help_}</div>")
        return kit.column([head, kit.row([box], "jmcp-control")], "jmcp-field")

    @property
    def values(self) -> dict[str, str]:
        """What is filled in; blank ones are left out."""
        return {name: box.value for name, box in self._boxes.items() if box.value}

    @property
    def needed(self) -> list[str]:
        return [name for name in self._required if not self._boxes[name].value]

    def lock(self, locked: bool) -> None:
        for box in self._boxes.values():
            box.disabled = locked

    def prime(self) -> None:
        """Ask for the first suggestions of the first box."""
        if self._boxes:
            self._later(next(iter(self._boxes)))

    def _on_value(self, name: str) -> None:
        self._changed()
        self._later(name)

    def _later(self, name: str) -> None:
        waiting = self._timers.pop(name, None)
        if waiting is not None:
            waiting.cancel()
        timer = threading.Timer(PAUSE_SECONDS, self._begin, (name,))
        timer.daemon = True
        self._timers[name] = timer
        timer.start()

    def _begin(self, name: str) -> None:
        ticket = self._latest[name] = object()
        value = self._boxes[name].value
        others = {key: text for key, text in self.values.items() if key != name}
        try:
            future = self._ask(name, value, others)
        except Exception:  # no suggestions are no failure of the form
            return
        future.add_done_callback(lambda done: self._take(name, ticket, done))

    def _take(self, name: str, ticket: object, done: Future[list[str]]) -> None:
        if done.cancelled() or done.exception() is not None or self._latest.get(name) is not ticket:
            return
        options = list(dict.fromkeys(clean(one) for one in done.result()[:MAX_SUGGESTIONS]))
        box = self._boxes[name]
        if list(box.options) != options:
            box.options = options
