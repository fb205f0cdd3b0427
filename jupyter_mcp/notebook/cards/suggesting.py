"""How the texts of a form could go on, by the server's own word (completion/complete), a moment after one stops typing.

For the arguments of prompts and the variables of templates: what is filled in otherwise goes along as context. Nothing
waits for a suggestion; one that comes too late or fails is dropped. The fields are the form's (`controls`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.render.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from concurrent.futures import Future

__all__ = ["Suggestions"]

PAUSE_SECONDS = 0.25
MAX_SUGGESTIONS = 100
Ask = Callable[[str, str, Mapping[str, str]], "Future[list[str]]"]


class Suggestions:
    """Suggestions for the fields of one form.

    Args:
        names: of the fields that the server is asked about.
        ask: asks it, given the name, what is typed, and the other values.
        values: what is filled in now; only texts go along.
    """

    def __init__(self, names: Iterable[str], ask: Ask, values: Callable[[], Mapping[str, Any]]) -> None:
        self.names = frozenset(names)
        self._ask = ask
        self._values = values
        self._shows: dict[str, Callable[[Sequence[str]], object]] = {}
        self._timers: dict[str, threading.Timer] = {}
        self._latest: dict[str, object] = {}

    def join(self, name: str, show: Callable[[Sequence[str]], object]) -> None:
        """A field is there: `show` is called with suggestions for it, on another thread."""
        self._shows[name] = show

    def prime(self) -> None:
        """Ask for the first suggestions of the first field."""
        if self._shows:
            self.typed(next(iter(self._shows)), "")

    def typed(self, name: str, text: str) -> None:
        """Something was typed into a field."""
        self._stop(name)
        timer = threading.Timer(PAUSE_SECONDS, self._begin, (name, text))
        timer.daemon = True
        self._timers[name] = timer
        timer.start()

    def close(self) -> None:
        """The form is gone: nobody is asked any more."""
        for name in list(self._timers):
            self._stop(name)
        self._latest.clear()
        self._shows.clear()

    def _stop(self, name: str) -> None:
        waiting = self._timers.pop(name, None)
        if waiting is not None:
            waiting.cancel()

    def _begin(self, name: str, text: str) -> None:
        ticket = self._latest[name] = object()
        others = {key: value for key, value in self._values().items() if key != name and isinstance(value, str)}
        try:
            future = self._ask(name, text, others)
        except Exception:  # no suggestions are no failure of the form
            return
        future.add_done_callback(lambda done: self._take(name, ticket, done))

    def _take(self, name: str, ticket: object, done: Future[list[str]]) -> None:
        if done.cancelled() or done.exception() is not None or self._latest.get(name) is not ticket:
            return
        show = self._shows.get(name)
        if show is not None:
            show(list(dict.fromkeys(clean(one) for one in done.result()[:MAX_SUGGESTIONS])))
