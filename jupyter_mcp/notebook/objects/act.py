"""One act, waited for in either way: `now()` in ordinary code, `later()` in code that awaits.

Every act of the public API is written once, as an async function for the runtime's loop; the sync names and their
awaitable twins differ in nothing but how they wait. The runtime is imported when something is really done.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True, slots=True)
class Act(Generic[T]):
    """
    Attributes:
        label: what is waited for, in words ("demo.add"), shown when the person interrupts.
        start: runs on the runtime's loop and does it.
    """

    label: str
    start: Callable[[], Awaitable[T]]

    def now(self) -> T:
        """Do it and wait. Raises what it raises, or `Interrupted`."""
        from jupyter_mcp.runtime import wait

        return wait.run(self.start, label=self.label)

    async def later(self) -> T:
        """Do it and await it; widgets stay alive meanwhile."""
        from jupyter_mcp.runtime import wait

        return await wait.arun(self.start)

    def then(self, change: Callable[[T], U]) -> Act[U]:
        """The same act, its value changed by a quick function."""

        async def start() -> U:
            return change(await self.start())

        return Act(self.label, start)


def get_host() -> Any:
    """The kernel's host, made at first use."""
    from jupyter_mcp.runtime import state

    return state.get_host()
