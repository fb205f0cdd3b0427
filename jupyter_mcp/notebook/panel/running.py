"""What goes on in a notebook, and what went on, for a page: running calls and tasks with Cancel, the last acts.

Everything that servers or people wrote is redacted and bounded. All run on the runtime's loop.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import UsageError
from jupyter_mcp.notebook.panel import asked
from jupyter_mcp.notebook.render.text import clean, cut, flat

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.host.acts import Running
    from jupyter_mcp.host.host import Host
    from jupyter_mcp.host.journal import Act
    from jupyter_mcp.host.tasks import HostTask

__all__ = ["ACTS", "cancelled", "happened", "rows"]

MAX_RUNNING = 50
MAX_ACTS = 100
_TASK = "task "


def rows(host: Host) -> list[dict[str, Any]]:
    """Calls, reads, prompts and tasks that go on: `id`, `label`, `seconds`, `progress`, `total`, `message`, `task`.

    What waits for somebody's yes is no act yet, but a question. A task that is waited for is one row, not two.
    """
    acts = [act for act in host.acts if act.began is not None]
    waited = {id(act.task) for act in acts if act.task is not None}
    tasks = [task for task in host.tasks.of() if not task.ended and id(task) not in waited]
    return [*(_of_act(host, act) for act in acts), *(_of_task(host, task) for task in tasks)][:MAX_RUNNING]


async def cancelled(data: Mapping[str, Any]) -> dict[str, Any]:
    """End what a row of `rows` stands for: `{"cancelled": bool}`, False when it was over by itself.

    Args:
        data: `id`, as in the row.

    Raises:
        MCPError: a task's server could not be told.
    """
    from jupyter_mcp.runtime import state

    host, which = state.existing_host(), asked.text(data, "id")
    if host is None:
        return {"cancelled": False}
    if which.startswith(_TASK):
        task = next((one for one in host.tasks.of() if one.key == which[len(_TASK) :]), None)
        return {"cancelled": task is not None and not task.ended and (await host.tasks.cancel(task)).ended}
    if not which.isdecimal():
        raise UsageError(f"Nothing that goes on is called {flat(which, 60)!r}.")
    act = next((one for one in host.acts if one.number == int(which)), None)
    if act is not None and act.task is not None:
        await host.tasks.cancel(act.task)
        return {"cancelled": True}
    said = "" if act is None else f"{act.server}.{act.name} was cancelled in the panel."
    return {"cancelled": host.acts.cancel(int(which), said)}


async def happened(data: Mapping[str, Any]) -> dict[str, Any]:
    """The last acts, the newest first: `{"acts": [{"number", "time", "label", "method", "by", "outcome", …}]}`."""
    from jupyter_mcp.runtime import state

    host = state.existing_host()
    found = host.journal.acts()[-MAX_ACTS:] if host is not None else []
    return {"acts": [_of_entry(one) for one in reversed(found)]}


ACTS = {"cancel": cancelled, "activity": happened}
"""By the name that a page asks for."""


def _of_act(host: Host, act: Running) -> dict[str, Any]:
    told = act.progress
    return {
        "id": str(act.number),
        "label": flat(f"{act.server}.{act.name}", 200),
        "seconds": round(time.monotonic() - (act.began or 0.0), 1),
        "progress": _number(told.progress) if told is not None else None,
        "total": _number(told.total) if told is not None else None,
        "message": flat(host.redactor.known(told.message), 200) if told is not None and told.message else "",
        "task": act.task.key if act.task is not None else "",
    }


def _number(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _of_task(host: Host, task: HostTask) -> dict[str, Any]:
    return {
        "id": f"{_TASK}{task.key}",
        "label": flat(task.name, 200),
        "seconds": None,
        "progress": None,
        "total": None,
        "message": flat(host.redactor.known(task.message or task.status), 200),
        "task": task.key,
    }


def _of_entry(act: Act) -> dict[str, Any]:
    said = [part for part in (act.remark, act.result) if part]
    return {
        "number": act.number,
        "time": act.time,
        "label": flat(
            f"{act.server}.{act.name}" if act.name and "/" in act.method else f"{act.server}: {act.method}", 200
        ),
        "method": flat(act.method, 80),
        "by": flat(act.origin, 40),
        "outcome": flat(act.outcome, 40),
        "seconds": None if act.duration is None else round(act.duration, 3),
        "said": cut(clean("\n".join(said)), 1_000),
    }
