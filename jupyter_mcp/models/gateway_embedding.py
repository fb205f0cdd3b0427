"""A provider's embedding model through pydantic-ai: texts go in, vectors come out, one request at a time.

A request is not tried again: whoever ranks can do without, and says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from jupyter_mcp.errors import ProviderError
from jupyter_mcp.models import gateway_errors, gateway_library
from jupyter_mcp.models.gateway_clients import LOOPBACK, Access, Client, embedding_client
from jupyter_mcp.models.gateway_ready import Clients

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jupyter_mcp.models.base import OnNote
    from jupyter_mcp.models.gateway_library import Library

__all__ = ["GatewayEmbedder"]

_BATCH = 64
_LONGEST = 6_000  # characters: below the 2,048 tokens that the smallest take, in most languages


class GatewayEmbedder:
    """An embedding model of a provider.

    Args:
        name: how it was configured ("openai:text-embedding-3-small").
        model: the provider's name of it.
        access: how it is reached.
        batch, longest: see `Embedder`.
    """

    def __init__(self, name: str, model: str, access: Access, *, batch: int = _BATCH, longest: int = _LONGEST) -> None:
        self.name = name
        self.model = model
        self.access = access
        self.place = _place(access)
        self.batch = batch
        self.longest = longest
        self._kind: Any = None
        self._clients = Clients(access, self._client)

    async def embed(
        self, texts: Sequence[str], *, query: bool = False, on_note: OnNote | None = None
    ) -> Sequence[Sequence[float]]:
        """See `Embedder.embed`."""
        del on_note  # nothing delays it but the provider
        if self._kind is None:
            self._kind = await gateway_library.load_embeddings(self.access.provider.wire)
        ready = await self._clients.ready()
        library = ready.library
        try:
            found = await ready.client.model.embed(list(texts), input_type="query" if query else "document")
            return list(found.embeddings)
        except library.errors as error:
            raise gateway_errors.told(library, error, self.model, self.access, ready.key) from None
        except (AttributeError, TypeError, ValueError) as error:  # what came is not what its library takes for granted
            title = self.access.provider.title
            raise ProviderError(f"{title} sent something that is no vector ({type(error).__name__}).") from None

    async def aclose(self) -> None:
        """Close the connections."""
        await self._clients.aclose()

    def _client(self, library: Library, key: str | None) -> Client:
        return embedding_client(self._kind, library, self.access, self.model, key)

    def __repr__(self) -> str:
        return f"<embedding model {self.name}: {self.place}>"


def _place(access: Access) -> str:
    host = urlsplit(access.url).hostname or ""
    if host in LOOPBACK:
        return "this machine"
    return f"{access.provider.title} ({host})" if access.own else host
