"""The card of a task that was left: it is followed again while the card stands, and becomes its result at the end.

Its questions come to the card's cell, and the app of its tool stands below. "Leave" stops following; the task goes on
at the server.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from jupyter_mcp.host.events import TaskChanged
from jupyter_mcp.notebook.appbelow import begun
from jupyter_mcp.notebook.cards.call import LiveCall
from jupyter_mcp.notebook.render.bundles import bundle

if TYPE_CHECKING:
    from jupyter_mcp.host.events import CallEvent
    from jupyter_mcp.host.result import Result
    from jupyter_mcp.notebook.objects.task import Task
    from jupyter_mcp.runtime.thread import Pending

__all__ = ["follow"]


def follow(task: Task) -> LiveCall:
    """The card of a task, displayed here."""
    from jupyter_mcp.notebook.objects.act import get_host
    from jupyter_mcp.runtime.thread import get_runtime

    runtime, host = get_runtime(), get_host()
    started = threading.Event()
    waiting: list[Pending[Result]] = []

    def leave() -> None:
        started.wait(1.0)
        for pending in waiting:
            pending.cancel()

    live = LiveCall(task.record.name, lambda: runtime.submit(host.tasks.cancel, task.record))
    live.offer_to_leave(leave)
    live.show()
    record = task.record
    app = begun(record.server, record.tool, host.redactor.clean(dict(record.arguments)))

    def heard(event: CallEvent) -> None:
        live.event(event)

    def ended(pending: Pending[Result]) -> None:
        if pending.cancelled():
            live.end(bundle(task))  # it was left, and goes on
            return
        error = pending.exception()
        outcome = error if error is not None else pending.result()
        live.end(bundle(outcome))
        if app is not None:
            app.ends(outcome)

    live.event(TaskChanged(task.record))
    pending = runtime.submit(task.waiting(None, on_event=heard).start)
    waiting.append(pending)
    started.set()
    pending.add_done_callback(lambda _: ended(pending))
    return live
