"""A provider's model through pydantic-ai: one request, one reply, no loop of its own.

Requests are tried again, a few times and with the person told, only when nothing has been shown of the reply yet and
the provider says, or it is likely, that it will work a little later. Clients are made for the event loop they run on.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import ProviderError
from jupyter_mcp.models import gateway_errors, gateway_messages
from jupyter_mcp.models.base import INVALID_INPUT, Feature, ModelReply, ModelRequest, Ranks
from jupyter_mcp.models.gateway_clients import Access, client
from jupyter_mcp.models.gateway_ready import Clients
from jupyter_mcp.models.gateway_stream import CallsWritten, text_of_event
from jupyter_mcp.models.messages import blocks_of, refuse_unsupported

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jupyter_mcp.models.base import OnNote, OnText, OnTool
    from jupyter_mcp.models.gateway_library import Library
    from jupyter_mcp.models.gateway_ready import Ready

__all__ = ["Access", "GatewayModel", "Patience"]

_REMEMBERED = 200  # responses
_TAKES: dict[str, frozenset[Feature]] = {
    "openai": frozenset({"text", "image", "tools", "stream", "tool-stream"}),
    "anthropic": frozenset({"text", "image", "tools", "stream", "tool-stream"}),
    "google": frozenset({"text", "image", "audio", "tools", "stream", "tool-stream"}),
}


@dataclass(frozen=True)
class Patience:
    """How often a request is tried, and how long is waited in between.

    Attributes:
        attempts: at most, the first one included.
        first: seconds before the second attempt, when the provider does not say; doubled for each one after it.
        longest: seconds; where the provider wants a longer wait, the person decides.
    """

    attempts: int = 3
    first: float = 1.0
    longest: float = 20.0

    def wait(self, attempt: int, said: float | None) -> float | None:
        """Seconds before the attempt after this one (1 is the first), or None when there is none."""
        seconds = self.first * 2 ** (attempt - 1) if said is None else said
        return seconds if attempt < self.attempts and seconds <= self.longest else None


class GatewayModel:
    """A model of a provider.

    Args:
        name: how it was configured ("openai:gpt-5-mini").
        model: the provider's name of it.
        access: how it is reached.
        ranks: how it compares with others.
        patience: with a provider that fails.
        further: what is said in the body of a request beside what was asked.
    """

    def __init__(
        self,
        name: str,
        model: str,
        access: Access,
        *,
        ranks: Ranks | None = None,
        patience: Patience | None = None,
        further: Callable[[ModelRequest], Mapping[str, Any]] | None = None,
    ) -> None:
        self.name = name
        self.model = model
        self.access = access
        self.ranks = ranks or Ranks()
        hears: frozenset[Feature] = frozenset({"audio"}) if "audio" in model else frozenset()
        self.supports = _TAKES[access.provider.wire] | hears
        self.about = access.provider.title if access.own else access.url
        self._patience = patience or Patience()
        self._further = further
        self._clients = Clients(access, lambda library, key: client(library, access, model, key))
        self._responses: OrderedDict[str, Any] = OrderedDict()

    async def generate(
        self,
        request: ModelRequest,
        on_text: OnText | None = None,
        on_note: OnNote | None = None,
        on_tool: OnTool | None = None,
    ) -> ModelReply:
        """See `Model.generate`."""
        refuse_unsupported(request, self)
        ready = await self._clients.ready()
        attempt = 1
        while True:
            shown: list[str] = []
            try:
                return await self._once(ready, request, on_text, on_tool, shown)
            except ready.library.errors as error:
                told = gateway_errors.told(ready.library, error, self.model, self.access, ready.key)
                wait = None
                if not shown and gateway_errors.worth_another(ready.library, error):
                    wait = self._patience.wait(attempt, told.retry_after)
            if wait is None:
                raise _broken_off(told, shown) if shown else told
            if on_note is not None:
                on_note(f"{told.message} Attempt {attempt + 1} of {self._patience.attempts} in {wait:g} s.")
            await asyncio.sleep(wait)
            attempt += 1

    async def aclose(self) -> None:
        """Close the connections."""
        await self._clients.aclose()

    async def _once(
        self, ready: Ready, request: ModelRequest, on_text: OnText | None, on_tool: OnTool | None, shown: list[str]
    ) -> ModelReply:
        library, model = ready.library, ready.client.model
        asked = (model, gateway_messages.history(library, request, self._remembered))
        said: dict[str, Any] = {
            "model_settings": self._settings(request),
            "model_request_parameters": gateway_messages.parameters(library, request.tools),
        }
        if on_text is None:
            response = await library.direct.model_request(*asked, **said)
        else:
            calls = CallsWritten(on_tool)
            async with library.direct.model_request_stream(*asked, **said) as stream:
                async for event in stream:
                    calls.take(event)
                    piece = text_of_event(event)
                    if piece:
                        shown.append(piece)
                        on_text(piece)
                response = stream.get()
        return self._read(library, response)

    def _settings(self, request: ModelRequest) -> dict[str, Any]:
        found: dict[str, Any] = {
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
            "stop_sequences": list(request.stop_sequences) or None,
            "tool_choice": request.tool_mode if request.tools else None,
            "timeout": self.access.timeout,
            "extra_body": dict(self._further(request)) or None if self._further is not None else None,
        }
        return {name: value for name, value in found.items() if value is not None}

    def _read(self, library: Library, response: Any) -> ModelReply:
        reply = gateway_messages.reply(library, response)
        title = self.access.provider.title
        if response.finish_reason is None:
            raise library.exceptions.UnexpectedModelBehavior(f"the reply of {title} has no end")
        if not reply.content:
            raise ProviderError(_nothing(title, reply.stop_reason))
        self._remember(reply, response)
        return reply

    # --- what providers want back word for word ----------------------------------------------------------------------

    def _remember(self, reply: ModelReply, response: Any) -> None:
        """Keep a response that calls tools: its thoughts belong to the calls when their results are sent."""
        uses = reply.tool_uses
        if not uses or any(INVALID_INPUT in (use.get("_meta") or {}) for use in uses):
            return
        for use in uses:
            self._responses[str(use["id"])] = (list(reply.content), response)
        while len(self._responses) > _REMEMBERED:
            self._responses.popitem(last=False)

    def _remembered(self, message: Mapping[str, Any]) -> Any | None:
        """The response that this very message came from."""
        content = blocks_of(message)
        first = next((block["id"] for block in content if block["type"] == "tool_use"), None)
        known = self._responses.get(str(first))
        return known[1] if known is not None and known[0] == content else None

    def __repr__(self) -> str:
        return f"<model {self.name}>"


def _nothing(title: str, stop: str | None) -> str:
    if stop == "maxTokens":
        return f"The model of {title} used all its tokens without saying anything."
    if stop == "contentFilter":
        return f"{title} refused to answer this."
    return f"{title} answered with nothing."


def _broken_off(error: ProviderError, shown: list[str]) -> ProviderError:
    text = "".join(shown)
    return ProviderError(
        f"The reply broke off after {len(text):,} characters. {error.message}",
        status=error.status,
        retry_after=error.retry_after,
        partial=text,
        hint=error.hint,
    )
