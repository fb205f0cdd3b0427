"""Is a cell running, which was the last one, and has a cell been run again since?

IPython's `pre_run_cell` and `post_run_cell` tell (the other pair, `pre_execute`, also fires for widget messages).
Nothing is displayed or run here, except the callbacks others leave for the end or the beginning of a cell.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from jupyter_mcp.runtime import frontend

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

__all__ = ["Cells", "cells"]

_REMEMBERED = 2000


class Cells:
    """Follows the cells of one shell; `watch` may be called any number of times.

    Attributes:
        running: a cell is running now.
        began: when it began, as `time.monotonic()` says; of the last one, when none is running.
        last: identity and message of the cell that was run last.
        at_begin, at_end: called when a cell begins and ends.
    """

    def __init__(self) -> None:
        self._shell: Any | None = None
        self.running = False
        self.began = 0.0
        self._aside = 0
        self.last: tuple[Any, dict[str, Any]] | None = None
        self._runs: dict[str, str] = {}
        self.at_begin: list[Callable[[], object]] = []
        self.at_end: list[Callable[[], object]] = []

    def watch(self) -> None:
        """Begin to follow the shell of this process, if there is one."""
        shell = frontend.shell()
        if shell is None or shell is self._shell:
            return
        self.unwatch()
        self._shell = shell
        shell.events.register("pre_run_cell", self._begin)
        shell.events.register("post_run_cell", self._end)
        here = frontend.parent()
        if here is not None and here[1]["header"].get("msg_type") == "execute_request":
            self.running = True  # watching begins inside a cell, whose end will be seen
            self.began = time.monotonic()
            self._note(here)

    def unwatch(self) -> None:
        """Stop following."""
        shell, self._shell, self.running = self._shell, None, False
        if shell is None:
            return
        for event, function in (("pre_run_cell", self._begin), ("post_run_cell", self._end)):
            try:
                shell.events.unregister(event, function)
            except ValueError:  # somebody has reset the events
                continue

    @property
    def number(self) -> int:
        """The number of the cell that runs now, else of the last one, as in `In [3]`; 0 when there is none.

        The shell's own count says the number of the next cell already while this one runs, or does not: it depends on
        IPython's version.
        """
        history = getattr(self._shell, "history_manager", None)
        return 0 if history is None else max(0, len(history.input_hist_raw) - 1)

    @property
    def id(self) -> str | None:
        """The id of the cell that was run last, where the page gives its cells one."""
        return _cell_id(self.last[1]) if self.last is not None else None

    @contextmanager
    def aside(self) -> Generator[None]:
        """What IPython runs inside is no cell of the notebook: nobody is told that one begins or ends."""
        self._aside += 1
        try:
            yield
        finally:
            self._aside -= 1

    def rerun(self, message: dict[str, Any]) -> bool:
        """Whether the cell that was run by that message has been run again since (its output is gone)."""
        cell_id, message_id = _cell_id(message), message["header"]["msg_id"]
        return cell_id is not None and self._runs.get(cell_id, message_id) != message_id

    def _begin(self, _info: Any = None) -> None:
        if self._aside:
            return
        self.running = True
        self.began = time.monotonic()
        here = frontend.parent()
        if here is not None:
            self._note(here)
        for function in list(self.at_begin):
            function()

    def _end(self, _result: Any = None) -> None:
        if self._aside:
            return
        self.running = False
        for function in list(self.at_end):
            function()

    def _note(self, here: tuple[Any, dict[str, Any]]) -> None:
        self.last = here
        message = here[1]
        cell_id = _cell_id(message)
        if cell_id is not None:
            self._runs.pop(cell_id, None)
            self._runs[cell_id] = message["header"]["msg_id"]
            if len(self._runs) > _REMEMBERED:
                del self._runs[next(iter(self._runs))]


def _cell_id(message: dict[str, Any]) -> str | None:
    metadata: dict[str, Any] = message.get("metadata") or {}
    return metadata.get("cellId")


cells = Cells()
