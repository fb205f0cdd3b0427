"""Leaving a call that has become a task: the waiting ends, the task goes on.

For code that wants a result that is an error like any other end without one; for a line that was typed it is none: its
value is the task.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import Cancelled

if TYPE_CHECKING:
    from collections.abc import Callable

    from jupyter_mcp.host.tasks import HostTask

__all__ = ["Left", "or_left"]


class Left(Cancelled):
    """The person stopped waiting; the task goes on.

    Attributes:
        task: which.
    """

    def __init__(self, message: str, task: HostTask | None) -> None:
        super().__init__(message)
        self.task = task


def or_left(wait: Callable[[], Any]) -> Any:
    """What `wait()` returns, for a magic; when the person left it to the task, the task, and a line that says so."""
    from jupyter_mcp.notebook import showing
    from jupyter_mcp.notebook.objects.note import Note
    from jupyter_mcp.notebook.objects.task import Task

    try:
        return wait()
    except Left as left:
        if left.task is None:
            raise
        showing.display(Note(str(left)))
        task = Task(left.task)
        showing.shown_already(task)
        return task
