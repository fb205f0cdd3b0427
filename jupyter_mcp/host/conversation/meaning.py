"""Ranking by meaning beside ranking by words, when the person named an embedding model; without one, by words alone.

What is sent is said before it is sent: how many texts of which servers, and where they go. Known secrets are masked in
them. A model that fails or takes too long costs nothing but that: words decide, and a sentence says so.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jupyter_mcp.errors import ModelError
from jupyter_mcp.host.conversation.fusion import by_likeness, fuse
from jupyter_mcp.host.conversation.ranking import Document, passages, rank

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from jupyter_mcp.models.embedding import VectorMemory

__all__ = ["Found", "Ranker"]

_MOST = 400  # documents of which vectors are made for one question; those that share words with it come first
_MOST_PASSAGES = 48  # of all that was read for one question
_SECONDS = 30.0  # for all vectors of one question


@dataclass(frozen=True, slots=True)
class Found:
    """
    Attributes:
        at: the place of the document among those that were given.
        score: how well it fits, above zero; comparable within one ranking only.
        clearly: whether it stands out, by words or as the first of all.
        order: the places of its passages, the best first; empty when none was ranked by meaning.
    """

    at: int
    score: float
    clearly: bool
    order: tuple[int, ...] = ()


class Ranker:
    """Ranks documents against one question.

    Args:
        question: what they are ranked by.
        memory: of the embedding model; None ranks by words.
        note: takes remarks for the person, which stay.
        told: takes what is happening now.
        mask: takes secrets out of a text that is sent.
        seconds: how long all vectors together may take.
    """

    def __init__(
        self,
        question: str,
        memory: VectorMemory | None,
        note: Callable[[str], object],
        told: Callable[[str], None],
        mask: Callable[[str], str],
        seconds: float = _SECONDS,
    ) -> None:
        self._question = question
        self._memory = memory
        self._note = note
        self._told = told
        self._mask = mask
        self._deadline = asyncio.get_running_loop().time() + seconds
        self._seconds = seconds

    async def documents(self, documents: Sequence[Document], servers: Sequence[str], limit: int) -> list[Found]:
        """The documents that fit, best first.

        Args:
            documents: what is ranked.
            servers: of each, whose it is.
            limit: how many at most.

        Raises:
            UsageError: this Python cannot rank texts.
        """
        scored = await asyncio.to_thread(rank, documents, self._question, len(documents))
        if self._memory is None:
            return _by_words(scored, limit)
        chosen = _first([at for at, _ in scored], len(documents), _MOST)
        texts = [self._mask(_text(documents[at])) for at in chosen]
        order = await self._alike(texts, [servers[at] for at in chosen], [documents[at].weight for at in chosen])
        if order is None:
            return _by_words(scored, limit)
        by_meaning = [chosen[at] for at in order][: max(limit, 1)]
        return _together(scored, by_meaning, limit)

    async def texts(self, documents: Sequence[Document], servers: Sequence[str], limit: int) -> list[Found]:
        """The same for documents whose texts are there: by their best passages."""
        scored = await asyncio.to_thread(rank, documents, self._question, len(documents))
        if self._memory is None:
            return _by_words(scored, limit)
        pieces = [passages(document.text) for document in documents]
        parts = await asyncio.to_thread(self._likely, pieces)
        texts = [self._mask(pieces[at][piece]) for at, piece in parts]
        weights = [documents[at].weight for at, _ in parts]
        order = await self._alike(texts, [servers[at] for at, _ in parts], weights)
        if order is None:
            return _by_words(scored, limit)
        ranked = [parts[place] for place in order]
        by_meaning = list(dict.fromkeys(at for at, _ in ranked))
        orders = await asyncio.to_thread(self._orders, pieces, ranked)
        return [Found(one.at, one.score, one.clearly, orders[one.at]) for one in _together(scored, by_meaning, limit)]

    def _likely(self, pieces: Sequence[Sequence[str]]) -> list[tuple[int, int]]:
        """The passages that are looked at: of each document as many, those first that share words with the question."""
        share = max(1, _MOST_PASSAGES // max(1, len(pieces)))
        return [
            (at, piece)
            for at, some in enumerate(pieces)
            for piece in _first(_words_order(some, self._question), len(some), share)
        ]

    def _orders(self, pieces: Sequence[Sequence[str]], ranked: Sequence[tuple[int, int]]) -> list[tuple[int, ...]]:
        """Of each document its passages, by words and meaning together."""
        return [
            tuple(
                piece
                for piece, _ in fuse(
                    [_words_order(some, self._question), [piece for one, piece in ranked if one == at]]
                )
            )
            for at, some in enumerate(pieces)
        ]

    async def _alike(self, texts: Sequence[str], servers: Sequence[str], weights: Sequence[float]) -> list[int] | None:
        """The texts that stand out, the most alike first; None when the model failed, which is said, once."""
        memory = self._memory
        if memory is None or not texts:
            return None
        try:
            async with asyncio.timeout_at(self._deadline):
                self._announce(memory, texts, servers)
                vectors = await memory.vectors(texts, on_note=self._told)
                [question] = await memory.vectors([self._mask(self._question)], query=True, on_note=self._told)
        except TimeoutError:
            self._give_up(memory, f"took more than {self._seconds:g} s (what it did by then is kept)")
        except ModelError as error:
            self._give_up(memory, f"failed ({str(error).rstrip('.')})")
        except Exception as error:  # an embedder of the person's own may raise anything
            self._give_up(memory, f"failed ({type(error).__name__}: {error})")
        else:
            if not vectors or len(question) == len(vectors[0]):
                return await asyncio.to_thread(by_likeness, question, vectors, weights)
            self._give_up(memory, "made vectors of different lengths")
        return None

    def _announce(self, memory: VectorMemory, texts: Sequence[str], servers: Sequence[str]) -> None:
        """Say what is about to be sent, and where; nothing when all of it is known already."""
        going = [(text, server) for text, server in zip(texts, servers, strict=True) if memory.missing([text])]
        parts: list[str] = []
        if going:
            size = sum(len(text[: memory.embedder.longest]) for text, _ in going)
            of = ", ".join(sorted({server for _, server in going}))
            parts.append(f"{len(going)} text{'s'[: len(going) != 1]} of {of} ({size:,} characters)")
        if memory.missing([self._mask(self._question)], query=True):
            parts.append("the question")
        if parts:
            goes = "goes" if parts == ["the question"] else "go"
            self._note(f"--auto-context: {' and '.join(parts)} {goes} to {memory.embedder.name} ({_where(memory)}).")

    def _give_up(self, memory: VectorMemory, why: str) -> None:
        self._memory = None
        self._note(f"--auto-context: {memory.embedder.name} {why}; the resources were ranked by their words alone.")


def _where(memory: VectorMemory) -> str:
    place = memory.embedder.place
    return f"on {place}" if place == "this machine" else place


# --- orders ----------------------------------------------------------------------------------------------------------

_CLEARLY = 0.35  # of the best score by words: what is worth less does not stand out


def _by_words(scored: Sequence[tuple[int, float]], limit: int) -> list[Found]:
    best = scored[0][1] if scored else 0.0
    return [Found(at, score, score >= best * _CLEARLY) for at, score in scored[:limit]]


def _together(scored: Sequence[tuple[int, float]], by_meaning: Sequence[int], limit: int) -> list[Found]:
    clear = {one.at for one in _by_words(scored, len(scored)) if one.clearly}
    fused = fuse([[at for at, _ in scored], by_meaning], limit)
    return [Found(at, score, place == 0 or at in clear) for place, (at, score) in enumerate(fused)]


def _first(preferred: Sequence[int], count: int, most: int) -> list[int]:
    """At most so many of `count` places, the preferred ones first."""
    return list(dict.fromkeys([*preferred[:most], *range(count)]))[:most]


def _words_order(pieces: Sequence[str], question: str) -> list[int]:
    return [at for at, _ in rank([Document("", "", piece) for piece in pieces], question, len(pieces))]


def _text(document: Document) -> str:
    return "\n".join(part for part in (document.name.strip(), document.description, document.text) if part)
