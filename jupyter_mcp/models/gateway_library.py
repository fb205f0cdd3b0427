"""The one place where pydantic-ai is imported, at first use: it takes a second or two, on a thread of its own.

Its modules are handed out as they are. Nothing outside the gateway's modules knows of them.
"""

from __future__ import annotations

import asyncio
import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import NoModel

if TYPE_CHECKING:
    from types import ModuleType

    from jupyter_mcp.models.providers import Wire

__all__ = ["INSTALL", "Library", "load", "load_embeddings"]

INSTALL = 'Run %pip install "jupyter-mcp-host[models]" and restart the kernel.'
_MODEL = {"openai": "OpenAIChatModel", "anthropic": "AnthropicModel", "google": "GoogleModel"}
_EMBEDDINGS = {"openai": "OpenAIEmbeddingModel", "google": "GoogleEmbeddingModel"}


_loaded: dict[str, Library] = {}


@dataclass(frozen=True)
class Library:
    """What the gateway uses of pydantic-ai for one kind of API.

    Attributes:
        messages, tools, requests, exceptions, direct, http: its modules.
        model: the class of its models.
        providers: the module of that API's provider.
        others: the module for providers with an API like OpenAI's.
        sdk: the provider's own package.
    """

    messages: ModuleType
    tools: ModuleType
    requests: ModuleType
    exceptions: ModuleType
    direct: ModuleType
    http: ModuleType
    model: Any
    providers: ModuleType
    others: ModuleType | None
    sdk: ModuleType

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """What a request may raise when it is not our fault."""
        return (self.exceptions.AgentRunError, self.exceptions.UserError, self.http.HTTPError, self.http.StreamError)


async def load(wire: Wire) -> Library:
    """Import what one kind of API needs. Raises `NoModel` when it is not installed."""
    if wire in _loaded:
        return _loaded[wire]
    try:
        found = _loaded[wire] = await asyncio.to_thread(_load, wire)
    except ImportError as error:
        raise NoModel(f"This model needs a library that is not installed ({error.name}).", hint=INSTALL) from None
    return found


async def load_embeddings(wire: Wire) -> Any:
    """The class of that API's embedding models. Raises `NoModel` when it is not installed, or has none."""
    if wire not in _EMBEDDINGS:
        raise NoModel(f"An API like that of {wire} makes no vectors.")
    try:
        module = await asyncio.to_thread(importlib.import_module, f"pydantic_ai.embeddings.{wire}")
    except ImportError as error:
        raise NoModel(f"This model needs a library that is not installed ({error.name}).", hint=INSTALL) from None
    return getattr(module, _EMBEDDINGS[wire])


def _load(wire: Wire) -> Library:
    name = importlib.import_module
    return Library(
        messages=name("pydantic_ai.messages"),
        tools=name("pydantic_ai.tools"),
        requests=name("pydantic_ai.models"),
        exceptions=name("pydantic_ai.exceptions"),
        direct=name("pydantic_ai.direct"),
        http=name("httpx2"),
        model=getattr(name(f"pydantic_ai.models.{wire}"), _MODEL[wire]),
        providers=name(f"pydantic_ai.providers.{wire}"),
        others=name("pydantic_ai.providers.openai_compatible") if wire == "openai" else None,
        sdk=name("google.genai" if wire == "google" else wire),
    )
