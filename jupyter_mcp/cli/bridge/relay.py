"""The bridge's server: what it is to the agent, and each request taken to the notebook that is meant.

Which one that is may be asked of the agent: in a round's questions, or by a request, as its era has it.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.cli.bridge import offline
from jupyter_mcp.cli.bridge.choosing import Nobody, Several, described
from jupyter_mcp.cli.bridge.notebooks import Notebooks, find
from jupyter_mcp.cli.bridge.way import OURSELVES, Way
from jupyter_mcp.errors import ConnectionLost, RequestError
from jupyter_mcp.protocol import modern
from jupyter_mcp.protocol.capabilities import client_allows
from jupyter_mcp.protocol.methods import TASKS_EXTENSION
from jupyter_mcp.relay import shaping, usual
from jupyter_mcp.relay.relay import Relay, entries
from jupyter_mcp.server import results
from jupyter_mcp.server.server import Server

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from jupyter_mcp.cli.bridge.notebooks import Look
    from jupyter_mcp.kernel.identity import Live
    from jupyter_mcp.server.dispatch import Offer
    from jupyter_mcp.server.exchange import Exchange

INSTRUCTIONS = (
    "A live Jupyter notebook: its variables, plots and functions, as they are now, also while a cell is running. "
    "Begin with list_variables. When no notebook is served, ask the person to run %mcp serve in it."
)
WHICH = "jupyter-mcp-host/notebook"
"""The key of the bridge's own question among those of a round."""
_ASKING = frozenset(("tools/call", "resources/read", "prompts/get"))
_LISTENS = frozenset(("resources/subscribe", "resources/unsubscribe", "subscriptions/listen"))


class Bridge(Server):
    """The server that the agent sees.

    Args:
        place: the working directory.
        wanted: the name of the notebook, if the person gave one.
        look: gives the live notebooks.
    """

    def __init__(
        self,
        place: str,
        wanted: str | None = None,
        *,
        look: Look = find,
        name: str | None = None,
    ) -> None:
        super().__init__(
            name or OURSELVES["name"],
            title=None if name else OURSELVES["title"],
            instructions=None if name else INSTRUCTIONS,
            offers=("tools", "resources", "prompts"),
            extensions={TASKS_EXTENSION: {}},
        )
        self._tasks_watched: set[str] = set()
        self._deployed: list[Live] = []
        self._begun = asyncio.Event()
        self.notebooks = Notebooks(
            place,
            name or wanted,
            changed=self._notify,
            watched=self._all_watched,
            look=look if name is None else lambda: self._deployed,
        )
        self.dispatcher = NotebookRelay(self._offer, self.notebooks, self._begun.wait if name else None)
        self.admit = self._admitted

    def begin(self, notebook: Live) -> None:
        """The notebook that is deployed has run, and is served there."""
        self._deployed.append(notebook)
        self._begun.set()

    def _capabilities(self) -> dict[str, Any]:
        return {**super()._capabilities(), "completions": {}, "logging": {}}

    def _admitted(self, exchange: Exchange) -> None:
        self.notebooks.follow()
        if exchange.method in _LISTENS:
            asyncio.get_running_loop().call_soon(self.notebooks.watch_again)

    def _all_watched(self) -> tuple[set[str], set[str]]:
        return self.watched(), self._tasks_watched

    def tasks_visible(self, ids: object, principal: str) -> list[str]:
        """A client's stream listens to these tasks; the notebook decides which of them it may."""
        given = [one for one in cast("list[Any]", ids) if isinstance(one, str)] if isinstance(ids, list) else []
        self._tasks_watched.update(given)
        return given


class NotebookRelay(Relay):
    """Answers the agent's requests by the notebook's answers."""

    def __init__(
        self, offer: Offer, notebooks: Notebooks, begun: Callable[[], Awaitable[object]] | None = None
    ) -> None:
        super().__init__(offer)
        self._notebooks = notebooks
        self._begun = begun  # of a notebook that is deployed: waits until it has run
        self._tools = usual.NAMES if begun is None else frozenset[str]()

    def answer(self, exchange: Exchange) -> dict[str, Any] | Awaitable[dict[str, Any]]:
        """The result, at once or later. Raises `Failure` (now, or when awaited)."""
        return {} if exchange.method == "ping" else self._answer(exchange)

    async def _answer(self, exchange: Exchange) -> dict[str, Any]:
        params = {key: value for key, value in exchange.params.items() if key != "_meta"}
        named = _named(exchange.method, params)
        if self._begun is not None:
            await self._begun()
        way = await self._notebooks.way(named)
        if isinstance(way, Several):
            found = await self._ask_which(exchange, way, params)
            if isinstance(found, dict):
                return found
            way = found
        if not isinstance(way, Way):
            self._has_listed(exchange, None)
            return offline.answer(exchange, way)
        return await self._taken(exchange, way, params, named)

    # --- which notebook

    async def _ask_which(
        self, exchange: Exchange, several: Several, params: dict[str, Any]
    ) -> Way | Several | Nobody | dict[str, Any]:
        """Ask the agent, where it can be asked; a dict is the result to answer with now."""
        if exchange.method not in _ASKING:
            return several
        asked = _which(several)
        if client_allows(exchange.peer.capabilities, "elicitation/create", asked) is not None:
            return several
        if exchange.ask_client is None:
            responses = dict(params.get("inputResponses") or {})
            if WHICH not in responses:
                return modern.input_required({WHICH: {"method": "elicitation/create", "params": asked}}, None)
            answered: Any = responses.pop(WHICH)
            params.pop("inputResponses")
            params.update({"inputResponses": responses} if responses else {})
        else:
            question = shaping.question("elicitation/create", asked, exchange.features)
            try:
                answered = await exchange.ask_client("elicitation/create", question)
            except RequestError:
                return several
        slug = _picked(answered, several)
        if slug is None:
            return Nobody("No notebook was chosen. Say which one by the argument `notebook`.")
        self._notebooks.pick(slug)
        return await self._notebooks.way(slug)

    # --- there and back

    async def _taken(self, exchange: Exchange, way: Way, params: dict[str, Any], named: str | None) -> dict[str, Any]:
        """Have it answered; once more when the notebook had moved and has not run it."""
        try:
            return await self._asked(exchange, way, params)
        except ConnectionLost as lost:
            await self._notebooks.lost(way)
            if lost.may_have_run and exchange.method == "tools/call":
                text = "The notebook's kernel went away during the call. It may have been run."
                return results.error_result(text)
        again = await self._notebooks.way(named)
        if isinstance(again, Way):
            try:
                return await self._asked(exchange, again, params)
            except ConnectionLost:
                await self._notebooks.lost(again)
        self._has_listed(exchange, None)
        reason = Nobody("The notebook does not answer. Its kernel may be restarting; run %mcp serve in it again.")
        return offline.answer(exchange, again if isinstance(again, Nobody) else reason)

    async def _asked(self, exchange: Exchange, way: Way, params: dict[str, Any]) -> dict[str, Any]:
        """The notebook's result. Raises ConnectionLost, Failure."""
        result = await self.carried(exchange, way, _naming(exchange.method, params, way.slug, self._tools))
        if exchange.method == "tools/list":
            way.learn_tools(entries(result, "tools"))
        self._has_listed(exchange, way)
        return result

    def _has_listed(self, exchange: Exchange, way: Way | None) -> None:
        if exchange.method.endswith("/list"):
            self._notebooks.listed(way)


def _named(method: str, params: Mapping[str, Any]) -> str | None:
    """The slug that a request says, if it says one."""
    arguments: Any = params.get("arguments")
    if method == "tools/call" and isinstance(arguments, dict):
        said: Any = cast("dict[str, Any]", arguments).get("notebook")
        return said if isinstance(said, str) else None
    reference: Any = params.get("ref")
    uri: Any = cast("dict[str, Any]", reference).get("uri") if isinstance(reference, dict) else params.get("uri")
    if isinstance(uri, str) and uri.startswith("notebook://"):
        return uri.removeprefix("notebook://").partition("/")[0] or None
    return None


def _naming(method: str, params: dict[str, Any], slug: str, tools: frozenset[str]) -> dict[str, Any]:
    """The params, with the notebook named where a tool wants that and the agent left it out."""
    if method != "tools/call" or params["name"] not in tools:
        return params
    arguments: dict[str, Any] = params.get("arguments") or {}
    return params if "notebook" in arguments else {**params, "arguments": {**arguments, "notebook": slug}}


def _which(several: Several) -> dict[str, Any]:
    choices = [{"const": one.slug, "title": described(one)} for one in several.notebooks]
    field = {"type": "string", "title": "Notebook", "oneOf": choices}
    return {
        "mode": "form",
        "message": "Several notebooks are served here. Which one is meant?",
        "requestedSchema": {"type": "object", "properties": {"notebook": field}, "required": ["notebook"]},
    }


def _picked(answered: object, several: Several) -> str | None:
    given: dict[str, Any] = cast("dict[str, Any]", answered) if isinstance(answered, dict) else {}
    content: Any = given.get("content")
    if given.get("action") != "accept" or not isinstance(content, dict):
        return None
    said = cast("dict[str, Any]", content).get("notebook")
    return said if said in [one.slug for one in several.notebooks] else None


def serve(place: str, wanted: str | None = None, *, look: Look = find) -> None:
    """Serve stdin and stdout until the agent is gone or Ctrl-C. Raises ConnectionFailed without stdin and stdout."""
    from jupyter_mcp.server.stdio import StdioServerTransport

    transport = StdioServerTransport()

    async def run() -> None:
        bridge = Bridge(place, wanted, look=look)
        try:
            await bridge.serve(transport)
        finally:
            await bridge.notebooks.close()

    try:
        asyncio.run(run())
    except KeyboardInterrupt:
        pass
