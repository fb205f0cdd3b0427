"""The notebooks that this bridge speaks with: the one that is meant, found again after a restart, and its changes.

One of them is followed: its lists are the agent's lists, its changes are told. A request that names another live one
is taken there; names are unique on this machine, and whoever writes one means it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jupyter_mcp.cli.bridge import choosing
from jupyter_mcp.cli.bridge.choosing import Nobody, Several
from jupyter_mcp.cli.bridge.way import Way
from jupyter_mcp.relay import listening

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from jupyter_mcp.kernel.identity import Live

    Look = Callable[[], "Sequence[Live] | Awaitable[Sequence[Live] | Nobody]"]

LOOK_SECONDS = 1.0
"""How often it is looked for while there is none; a look is one listing of a folder, or of a Jupyter Server."""
AGAIN_SECONDS = 0.2


def find() -> Sequence[Live]:
    """The notebooks that are served now."""
    from jupyter_mcp.kernel import identity

    return identity.live()


class Notebooks:
    """All there is to know of them.

    Args:
        place: the working directory.
        wanted: the name that the person gave.
        look: gives the live ones, at once or later, or why that is not known.
        changed: told (method, params) what the agent may want to know.
        watched: gives the URIs and the ids of tasks that the agent listens to.

    Attributes:
        chosen: the slug of the one that is meant, once it is known.
    """

    def __init__(
        self,
        place: str,
        wanted: str | None,
        *,
        changed: Callable[[str, dict[str, Any] | None], None],
        watched: Callable[[], tuple[set[str], set[str]]],
        look: Look = find,
    ) -> None:
        self._place = place
        self._wanted = wanted
        self._look = look
        self._changed = changed
        self._watched = watched
        self._ways: dict[str, Way] = {}
        self._following: asyncio.Task[None] | None = None
        self._again = asyncio.Event()  # what is listened to, or to whom, is something else now
        self._wake = asyncio.Event()
        self._given: object = None  # what the agent's lists were made of
        self._has_lists = False
        self.chosen: str | None = None

    # --- finding

    async def way(self, named: str | None = None) -> Way | Several | Nobody:
        """The way to the notebook that is meant, or why there is none.

        Args:
            named: the slug that the request says.
        """
        slug = named if self._wanted is None and named is not None else self.chosen
        held = self._ways.get(slug) if slug is not None else None
        if held is not None:
            return held
        alive = await self._alive()
        choice = alive if isinstance(alive, Nobody) else self._chosen(alive, named)
        if isinstance(choice, (Several, Nobody)):
            return choice
        return await self._opened(choice)

    async def _alive(self) -> Sequence[Live] | Nobody:
        found = self._look()
        return found if isinstance(found, (Nobody, Sequence)) else await found

    def _chosen(self, alive: Sequence[Live], named: str | None) -> Live | Several | Nobody:
        if self._wanted is None and named is not None:
            found = next((one for one in alive if one.slug == named), None)
            if found is not None:
                self._follow_if_free(found.slug, alive)
                return found
        choice = choosing.choose(alive, self._place, self._wanted, self.chosen)
        if not isinstance(choice, (Several, Nobody)):
            self.pick(choice.slug)
        return choice

    def _follow_if_free(self, slug: str, alive: Sequence[Live]) -> None:
        """The agent names a notebook while none is meant, or the one that was is gone."""
        if not any(one.slug == self.chosen for one in alive):
            self.pick(slug)

    def pick(self, slug: str) -> None:
        """This one is meant."""
        if self.chosen != slug:
            self.chosen = slug
            self._wake.set()
            self._again.set()

    async def _opened(self, live: Live) -> Way:
        held = self._ways.get(live.slug)
        if held is not None:
            return held
        way = self._ways[live.slug] = Way(live)
        await way.open()
        self._wake.set()
        return way

    async def lost(self, way: Way) -> None:
        """It cannot be reached this way any more."""
        if self._ways.get(way.slug) is way:
            del self._ways[way.slug]
            await way.close()

    # --- following

    def follow(self) -> None:
        """Begin to tell the agent of changes; once."""
        if self._following is None:
            self._following = asyncio.get_running_loop().create_task(self._follow(), name="mcp bridge follow")

    def listed(self, way: Way | None) -> None:
        """The agent has got a list, of this notebook's or of none; it will be told when that is not so any more."""
        self._has_lists = True
        self._given = _made_of(way)

    def watch_again(self) -> None:
        """What the agent listens to is something else now."""
        self._again.set()

    async def _follow(self) -> None:
        while True:
            self._wake.clear()
            way = await self.way()
            self._tell_lists()
            if isinstance(way, Way):
                await self._listen(way)
                self._tell_lists()
                await asyncio.sleep(AGAIN_SECONDS)
                continue
            try:
                async with asyncio.timeout(LOOK_SECONDS):
                    await self._wake.wait()
            except TimeoutError:
                pass

    def _tell_lists(self) -> None:
        """Tell that the lists are others, when they are; and that what was watched may be."""
        way = self._ways.get(self.chosen or "")
        state = _made_of(way)
        if state == self._given:
            return
        self._given = state
        for kind in listening.LISTS if self._has_lists else ():
            self._changed(f"notifications/{kind}/list_changed", None)
        for uri in self._watched()[0] if way is not None else ():
            self._changed("notifications/resources/updated", {"uri": uri})

    async def _listen(self, way: Way) -> None:
        """Hear of its changes until it is gone, or another one is meant."""
        stream: asyncio.Task[None] | None = None
        try:
            while self._ways.get(way.slug) is way and way.slug == self.chosen:
                self._again.clear()
                before, stream = stream, await listening.begin(way, *self._watched(), self._changed)
                if before is not None:
                    before.cancel()  # after the new one has begun: nothing is missed in between
                if not await listening.either(stream, self._again):
                    await self.lost(way)
        finally:
            if stream is not None:
                stream.cancel()

    async def close(self) -> None:
        """Leave them all."""
        if self._following is not None:
            self._following.cancel()
        ways, self._ways = self._ways, {}
        await asyncio.gather(*(way.close() for way in ways.values()))


def _made_of(way: Way | None) -> object:
    """What lists are made of: a notebook as it was begun, or none."""
    return None if way is None else (way.slug, way.live.url, way.live.started)
