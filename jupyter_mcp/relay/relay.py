"""A server that answers by the answers of notebooks: each request is taken there and back.

A client of the modern era gets a round's questions as they come and brings the answers with its next request, as it
would without a relay in between. One of the legacy era is asked by requests, and the rounds are made here.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.errors import ConnectionLost, InputRefused, MCPError, RequestError
from jupyter_mcp.protocol import modern
from jupyter_mcp.protocol.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS
from jupyter_mcp.protocol.modern import Ask, Send
from jupyter_mcp.relay import shaping
from jupyter_mcp.server import results
from jupyter_mcp.server.dispatch import Dispatcher
from jupyter_mcp.server.failures import Failure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.relay.upstream import Upstream
    from jupyter_mcp.server.exchange import Exchange
    from jupyter_mcp.transport.base import Message

__all__ = ["Relay", "entries"]


class Relay(Dispatcher):
    """Answers a client's requests by a notebook's answers. Which notebook's is said by who derives from it."""

    def open_ledger(self, exchange: Exchange) -> None:
        """States are the notebook's."""

    def readable(self, uri: str) -> bool:
        """Whether there is such a resource is the notebook's to say."""
        return True

    # --- there and back

    async def carried(self, exchange: Exchange, way: Upstream, params: Mapping[str, Any]) -> dict[str, Any]:
        """A notebook's result, as the client's revision has it.

        Args:
            exchange: the client's request.
            way: to the notebook.
            params: for the notebook, without an envelope.

        Raises:
            ConnectionLost: there is no answer.
            Failure: the notebook answered with an error.
        """
        method = exchange.method
        try:
            if exchange.peer.era == "modern":
                return await self._once(exchange, way, params)
            return shaping.result(method, await self._rounds(exchange, way, params), exchange.features)
        except ConnectionLost:
            raise
        except RequestError as error:
            raise _failure(error, exchange) from None
        except InputRefused as error:
            if method == "tools/call":
                return results.error_result(str(error))
            raise Failure(INTERNAL_ERROR, str(error)) from None
        except MCPError as error:
            raise Failure(INTERNAL_ERROR, str(error)) from None

    async def _once(self, exchange: Exchange, way: Upstream, params: Mapping[str, Any]) -> dict[str, Any]:
        meta = modern.meta_of(exchange.params)
        if exchange.peer.era == "modern":
            level: str | None = meta.get(modern.LOG_LEVEL_KEY)
        else:
            level = exchange.peer.log_level or "info"

        async def note(message: Message) -> None:
            said = _said(exchange, message)
            if said is not None:
                await exchange.post(said)

        wants = "progressToken" in meta or level is not None
        return await way.request(
            exchange.method,
            params,
            client_info=exchange.peer.info,
            capabilities=exchange.peer.capabilities,
            log_level=level,
            on_note=note if wants else None,
        )

    async def _rounds(self, exchange: Exchange, way: Upstream, params: Mapping[str, Any]) -> dict[str, Any]:
        """All rounds of a request for a client that answers requests (legacy)."""
        flow = modern.rounds(exchange.method, params, capabilities=exchange.peer.capabilities)
        step = next(flow)
        while True:
            try:
                if isinstance(step, Send):
                    step = flow.send(await self._once(exchange, way, step.params))
                elif isinstance(step, Ask):
                    step = flow.send(await self._put(exchange, step.requests))
                else:
                    await asyncio.sleep(step.seconds)
                    step = next(flow)
            except StopIteration as done:
                return done.value

    async def _put(self, exchange: Exchange, requests: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """Ask the client; one after the other, as a person can answer."""
        answers: dict[str, Any] = {}
        ask = exchange.ask_client
        assert ask is not None
        for key, request in requests.items():
            method, params = (
                request["method"],
                shaping.question(request["method"], request["params"], exchange.features),
            )
            if "elicitationId" in params:
                exchange.peer.asked_to_open(params["elicitationId"])
            try:
                answers[key] = await ask(method, params)
            except RequestError as error:
                raise InputRefused(f"The client refused to answer: {error.message}") from None
        return answers


def _said(exchange: Exchange, message: Message) -> dict[str, Any] | None:
    """A notification of the notebook's, as one of this request; None when the agent does not want it."""
    params: Any = message.get("params") or {}
    if message["method"] == "notifications/progress":
        return exchange.progress(params.get("progress"), params.get("total"), params.get("message"))
    if message["method"] == "notifications/message":
        return exchange.log(params.get("level", "info"), params.get("data"), params.get("logger"))
    return None


def _failure(error: RequestError, exchange: Exchange) -> Failure:
    """An error of the notebook's, with the code that the agent's revision has for it."""
    data: Any = error.data
    missing = error.code == INVALID_PARAMS and isinstance(data, dict) and "uri" in data
    code = exchange.features.resource_not_found if missing else error.code
    return Failure(code, error.message, data)


def entries(result: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    """What a list holds, but for what is no object."""
    listed: Any = result.get(key)
    return [one for one in cast("list[Any]", listed) if isinstance(one, dict)] if isinstance(listed, list) else []
