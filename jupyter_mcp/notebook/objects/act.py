"""One act, waited for in either way: `now()` in ordinary code, `later()` in code that awaits.

Every act of the public API is written once, as an async function for the runtime's loop; the sync names and their
awaitable twins differ in nothing but how they wait. The runtime is imported when something is really done.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterable

from jupyter_mcp.errors import MCPError

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True, slots=True)
class Act(Generic[T]):
    """
    Attributes:
        label: what is waited for, in words ("demo.add"), shown when the person interrupts.
        start: runs on the runtime's loop and does it.
        after: what an interrupt leaves behind, in words.
        left: the whole sentence for an interrupt that ended only the waiting (a task goes on); None when it ended it.
    """

    label: str
    start: Callable[[], Awaitable[T]]
    after: str = "the connection stays usable"
    left: Callable[[], str | None] = lambda: None

    def now(self) -> T:
        """Do it and wait. Raises what it raises, or `Interrupted`."""
        from jupyter_mcp.runtime import wait

        return wait.run(self.start, label=self.label, after=self.after, left=self.left)

    async def later(self) -> T:
        """Do it and await it; widgets stay alive meanwhile."""
        from jupyter_mcp.runtime import wait

        return await wait.arun(self.start, label=self.label)

    def then(self, change: Callable[[T], U]) -> Act[U]:
        """The same act, its value changed by a quick function."""

        async def start() -> U:
            return change(await self.start())

        return Act(self.label, start, self.after, self.left)


def get_host() -> Any:
    """The kernel's host, made at first use."""
    from jupyter_mcp.runtime import state

    return state.get_host()


LISTING_SECONDS = 5.0
_listing: set[asyncio.Task[Any]] = set()


async def look_around(entries: Iterable[Any]) -> None:
    """Read what servers offer, for the card and for Tab. A slow server is waited for a little, then no longer."""
    await wait_a_little(_list(entry, kind) for entry in entries for kind in KINDS if entry.ready)


async def wait_a_little(listings: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Read lists at the same time; what takes longer than `LISTING_SECONDS` goes on by itself."""
    tasks = [asyncio.ensure_future(one) for one in listings]
    if tasks:
        _listing.update(tasks)
        for task in tasks:
            task.add_done_callback(_listing.discard)
        await asyncio.wait(tasks, timeout=LISTING_SECONDS)


async def _list(entry: Any, kind: str) -> None:
    try:
        await entry.connection.list(kind)
    except MCPError as error:
        entry.say("note", f"Cannot list its {kind}: {error}", level="warning")


KINDS = ("tools", "resources", "templates", "prompts")
