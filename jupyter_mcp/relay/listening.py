"""Hears of what changes in a notebook, by one stream that is begun anew when something else is wanted."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import MCPError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from jupyter_mcp.relay.upstream import Upstream
    from jupyter_mcp.transport.base import Message

    Heard = Callable[[str, "dict[str, Any] | None"], None]

__all__ = ["LISTS", "begin", "either"]

LISTS = ("tools", "resources", "prompts")


async def begin(way: Upstream, uris: Iterable[str], tasks: Iterable[str], heard: Heard) -> asyncio.Task[None]:
    """A stream that listens; it has begun, or ended already, when this returns. It ends when the notebook is gone.

    Args:
        way: to the notebook.
        uris: resources whose changes are wanted; those of all lists are.
        tasks: ids of tasks of which the same holds.
        heard: told (method, params) of each change.
    """
    acknowledged = asyncio.Event()
    stream = asyncio.get_running_loop().create_task(_stream(way, set(uris), set(tasks), heard, acknowledged))
    try:
        await either(stream, acknowledged)
    except asyncio.CancelledError:
        stream.cancel()
        raise
    return stream


async def _stream(way: Upstream, uris: set[str], tasks: set[str], heard: Heard, acknowledged: asyncio.Event) -> None:
    wanted: dict[str, Any] = {f"{kind}ListChanged": True for kind in LISTS}
    wanted |= {"resourceSubscriptions": sorted(uris)} if uris else {}
    wanted |= {"taskIds": sorted(tasks)} if tasks else {}

    async def note(message: Message) -> None:
        acknowledged.set()
        method: str = message["method"]
        params: Any = message.get("params")
        if method.endswith("/list_changed"):
            heard(method, None)
        elif method in ("notifications/resources/updated", "notifications/tasks"):
            heard(method, {key: value for key, value in params.items() if key != "_meta"})

    try:
        await way.request("subscriptions/listen", {"notifications": wanted}, on_note=note)
    except MCPError:
        pass  # gone: it is looked for again


async def either(task: asyncio.Task[None], event: asyncio.Event) -> bool:
    """Wait until the task has ended (False) or the event is set while it goes on (True)."""
    waiting = asyncio.get_running_loop().create_task(event.wait())
    try:
        await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
    return not task.done()
