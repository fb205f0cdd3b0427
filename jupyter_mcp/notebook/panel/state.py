"""What a page knows of this kernel's host without asking any server: how servers are, and which questions wait."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.render.text import flat

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from jupyter_mcp.host.entry import ServerEntry
    from jupyter_mcp.host.questions import Question

__all__ = ["ACTS", "seen", "snapshot", "turn", "visit"]

_numbers = itertools.count(1)
_revision = [0]
_visits = [0]

_BROKEN = ("lost", "unresponsive", "failed")  # one that is starting, or was logged out, is not


def turn() -> None:
    """A server or its lists are others: what was read of them is old."""
    _revision[0] = next(_numbers)


def visit() -> None:
    """Whoever comes to this notebook as a server, or what they may see, is another."""
    _visits[0] = next(_numbers)


def seen(
    entries: Sequence[ServerEntry],
    questions: Sequence[Question],
    revision: int,
    drawn: Callable[[Question], Mapping[str, str]] = lambda _: {"cell": "", "model": ""},
    running: Sequence[Mapping[str, Any]] = (),
    acted: int = 0,
    visits: int = 0,
) -> dict[str, Any]:
    """The state as pages get it. Pure.

    Args:
        entries, questions: all there are. revision: of the servers and their lists.
        drawn: the id of the `cell` that a question is put in, and of its card's widget (`model`), "" as long as there
            is none.
        running: what goes on (`running.rows`). acted: how many acts there have been.
        visits: another whenever this notebook as a server is.

    Returns:
        `revision` (another whenever a server or its lists are), `standing` (`connected`, `broken`, `waiting`: counts),
        `servers` (`name`, `state`) and `questions` (`id`, `server`, `title`, `kind`, `cell`,
        `model`) and `running`, oldest first; `acted`, `visits`.
    """
    ready = sum(entry.ready for entry in entries)
    broken = sum(entry.state in _BROKEN for entry in entries)
    return {
        "revision": str(revision),
        "standing": {"connected": ready, "broken": broken, "waiting": len(questions)},
        "servers": [{"name": entry.name, "state": entry.state} for entry in entries],
        "questions": [
            {"id": one.id, "server": flat(one.server, 60), "title": flat(one.message, 200), "kind": one.kind}
            | dict(drawn(one))
            for one in questions
        ],
        "running": list(running),
        "acted": acted,
        "visits": visits,
    }


async def snapshot(data: Mapping[str, Any]) -> dict[str, Any]:
    """The state now; a kernel that has used no server makes no host for it."""
    from jupyter_mcp.notebook.panel.running import rows
    from jupyter_mcp.runtime import state

    host = state.existing_host()
    if host is None:
        return seen((), (), _revision[0], visits=_visits[0])
    return seen(
        list(host.servers.values()),
        list(state.desk().open),
        _revision[0],
        _drawn,
        rows(host),
        host.journal.acted,
        _visits[0],
    )


def _drawn(question: Question) -> dict[str, str]:
    """Where a question is, so that a page can go there, or draw its card a second time."""
    from jupyter_mcp.runtime import state

    desk = state.desk()
    card = getattr(desk.presented(question), "card", None)
    return {
        "cell": desk.cell_of(question),
        "model": card.root.model_id if card is not None and not card.over else "",
    }


ACTS = {"state": snapshot}
"""By the name that a page asks for."""
