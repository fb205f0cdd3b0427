"""Values that a server suggests for a prompt's argument or a template's variable, fetched in the background.

Asking takes as long as the server takes, so a Tab never waits for it: what is known is offered at once, what is not is
asked for (after a short pause, so that fast typing asks once) and offered at the next Tab.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from jupyter_mcp.protocol.shapes import as_list

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.host.catalogue import Offer

__all__ = ["Fetched", "fetched"]

_log = logging.getLogger(__name__)
PAUSE_SECONDS = 0.1
FRESH_SECONDS = 60.0
TIMEOUT_SECONDS = 10.0
_KEPT = 200

Key = tuple[str, str, str, frozenset[tuple[str, str]]]


class Fetched:
    """What servers suggested lately."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[Key, str], tuple[float, list[str]]] = OrderedDict()
        self._asked: dict[Key, str] = {}
        self._lock = threading.Lock()

    def values(self, offer: Offer, argument: str, prefix: str, chosen: Mapping[str, str]) -> list[str]:
        """What is known now; asks for what is not.

        Args:
            offer: a prompt or a template.
            argument: the argument or variable.
            prefix: what is typed of its value.
            chosen: the other arguments, as typed so far.
        """
        context = {name: value for name, value in chosen.items() if name != argument}
        key: Key = (offer.server, offer.name, argument, frozenset(context.items()))
        with self._lock:
            exact = self._fresh(key, prefix)
            best = exact if exact is not None else self._nearest(key, prefix)
            if exact is None and self._asked.get(key) != prefix:
                self._asked[key] = prefix
                ask = True
            else:
                ask = False
        if ask:
            self._begin(offer, key, argument, prefix, context)
        return [value for value in best or [] if value.lower().startswith(prefix.lower())]

    def forget(self) -> None:
        """Forget everything (a server is gone)."""
        with self._lock:
            self._known.clear()
            self._asked.clear()

    def _fresh(self, key: Key, prefix: str) -> list[str] | None:
        found = self._known.get((key, prefix))
        return found[1] if found is not None and time.monotonic() - found[0] < FRESH_SECONDS else None

    def _nearest(self, key: Key, prefix: str) -> list[str] | None:
        for length in range(len(prefix) - 1, -1, -1):
            found = self._fresh(key, prefix[:length])
            if found is not None:
                return found
        return None

    def _begin(self, offer: Offer, key: Key, argument: str, prefix: str, context: dict[str, str]) -> None:
        from jupyter_mcp.runtime import state
        from jupyter_mcp.runtime.thread import get_runtime

        host = state.existing_host()
        entry = None if host is None else host.servers.get(offer.server)
        if host is None or entry is None or not entry.ready or "completions" not in entry.capabilities:
            with self._lock:
                self._asked.pop(key, None)
            return
        reference = (
            {"type": "ref/prompt", "name": offer.name}
            if offer.kind == "prompt"
            else {"type": "ref/resource", "uri": offer.name}
        )

        async def ask() -> None:
            await asyncio.sleep(PAUSE_SECONDS)
            if self._asked.get(key) != prefix:
                return  # typed on meanwhile: the later question is the one that matters
            values: list[str] = []
            try:
                async with asyncio.timeout(TIMEOUT_SECONDS):
                    answer = await host.complete(offer.server, reference, argument, prefix, context)
                values = [str(value) for value in as_list(answer.get("values"))]
            except Exception as error:
                _log.info("no completion of %s.%s %s: %s", offer.server, offer.name, argument, error)
            self._keep(key, prefix, values)

        get_runtime().submit(ask)

    def _keep(self, key: Key, prefix: str, values: list[Any]) -> None:
        with self._lock:
            self._known[key, prefix] = (time.monotonic(), values)
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
            if self._asked.get(key) == prefix:
                del self._asked[key]


fetched = Fetched()
