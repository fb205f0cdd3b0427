"""Texts as vectors, for ranking by meaning: what such a model is, and a memory of what it has seen.

Nothing is embedded that nobody asked for, and no text twice: vectors are kept by what their text holds, in memory only.
The adapters are this one's neighbours; who ranks is `host.conversation`.
"""

from __future__ import annotations

import hashlib
import math
from array import array
from collections import OrderedDict
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from jupyter_mcp.errors import ProviderError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jupyter_mcp.models.base import OnNote

__all__ = ["Embedder", "Vector", "VectorMemory", "unit"]

Vector = array
"""Numbers of single precision, of length one."""
_KEPT = 4_000  # vectors; of 1,536 numbers each these are 24 MB
_LONGEST_VECTOR = 16_384  # numbers


@runtime_checkable
class Embedder(Protocol):
    """A model that turns texts into vectors; texts that mean the like have vectors that point the like way.

    Attributes:
        name: how it was configured ("openai:text-embedding-3-small", "local").
        place: where texts go, for people ("OpenAI (api.openai.com)", "this machine").
        batch: how many texts one request takes.
        longest: characters of a text that it is given; the rest is left out.
    """

    @property
    def name(self) -> str: ...

    @property
    def place(self) -> str: ...

    @property
    def batch(self) -> int: ...

    @property
    def longest(self) -> int: ...

    async def embed(
        self, texts: Sequence[str], *, query: bool = False, on_note: OnNote | None = None
    ) -> Sequence[Sequence[float]]:
        """One vector for each text. Cancelling the task ends it.

        Args:
            texts: at most `batch`, none of them empty.
            query: whether these are questions; some models treat them differently from what answers them.
            on_note: told what delays it.

        Raises:
            NoModel: a library, a key or a file is missing.
            ProviderError: it, or whoever runs it, failed.
        """
        ...


class VectorMemory:
    """An embedder and the vectors it made, by the digest of their text; the oldest go first.

    Args:
        embedder: that makes those which are not here.
        most: how many are kept.
    """

    def __init__(self, embedder: Embedder, most: int = _KEPT) -> None:
        self.embedder = embedder
        self._most = most
        self._kept: OrderedDict[bytes, Vector[float]] = OrderedDict()

    def missing(self, texts: Sequence[str], *, query: bool = False) -> list[str]:
        """Those of the texts, cut as they would be sent, that have no vector yet; each once."""
        return [text for key, text in self._keyed(texts, query).items() if key not in self._kept]

    async def vectors(
        self, texts: Sequence[str], *, query: bool = False, on_note: OnNote | None = None
    ) -> list[Vector[float]]:
        """A vector for each text; what a request brought is kept even when a later one fails.

        Raises:
            NoModel, ProviderError: see `Embedder.embed`; also when what came is no vector for each text.
        """
        embedder = self.embedder
        found: dict[bytes, Vector[float]] = {}
        keyed = self._keyed(texts, query)
        for key in keyed:
            if key in self._kept:
                self._kept.move_to_end(key)
                found[key] = self._kept[key]
        wanted = [key for key in keyed if key not in found]
        for start in range(0, len(wanted), embedder.batch):
            keys = wanted[start : start + embedder.batch]
            made = await embedder.embed([keyed[key] for key in keys], query=query, on_note=on_note)
            if len(made) != len(keys):
                raise ProviderError(f"{embedder.name} made {len(made)} vectors of {len(keys)} texts.")
            for key, numbers in zip(keys, made, strict=True):
                found[key] = self._keep(key, unit(numbers, embedder.name))
        if len({len(vector) for vector in found.values()}) > 1:
            raise ProviderError(f"The vectors of {embedder.name} differ in length.")
        return [found[self._key(text, query)] for text in map(self._cut, texts)]

    def _keep(self, key: bytes, vector: Vector[float]) -> Vector[float]:
        self._kept[key] = vector
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return vector

    def _keyed(self, texts: Sequence[str], query: bool) -> dict[bytes, str]:
        return {self._key(text, query): text for text in map(self._cut, texts)}

    def _cut(self, text: str) -> str:
        return text[: self.embedder.longest].encode("utf-8", "replace").decode() or " "

    @staticmethod
    def _key(text: str, query: bool) -> bytes:
        return hashlib.sha256((b"q" if query else b"d") + text.encode()).digest()


def unit(numbers: Sequence[float], name: str = "the model") -> Vector[float]:
    """The vector of length one that points the same way.

    Raises:
        ProviderError: these are no numbers that point anywhere.
    """
    try:
        length = math.hypot(*numbers) if 0 < len(numbers) <= _LONGEST_VECTOR else 0.0
    except TypeError:
        length = 0.0
    if not math.isfinite(length) or length == 0.0:
        raise ProviderError(f"{name} sent something that is no vector.")
    return array("f", [number / length for number in numbers])
