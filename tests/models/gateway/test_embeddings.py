"""Vectors of a provider: what is sent where, with which key, and what is said when it fails. pydantic-ai is real."""

from __future__ import annotations

import base64
import json
import struct
from typing import Any

import pytest

from jupyter_mcp.errors import ProviderError
from jupyter_mcp.models.book import ModelBook
from jupyter_mcp.models.embedding import VectorMemory
from jupyter_mcp.models.gateway_clients import Access
from jupyter_mcp.models.gateway_embedding import GatewayEmbedder
from jupyter_mcp.models.providers import PROVIDERS
from tests.models.gateway.provider import Answer, Provider, provider

pytestmark = pytest.mark.anyio
KEY = "sk-very-secret-key"


def vectors(*numbers: list[float], packed: bool = False) -> Answer:
    """An answer in the shape of OpenAI's API, its numbers as such or as bytes."""
    data = [
        {"object": "embedding", "index": at, "embedding": _packed(one) if packed else one}
        for at, one in enumerate(numbers)
    ]
    usage = {"prompt_tokens": 3, "total_tokens": 3}
    return Answer({"object": "list", "data": data, "model": "small", "usage": usage})


def _packed(numbers: list[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()


def embedder(there: Provider, name: str = "openai") -> GatewayEmbedder:
    return GatewayEmbedder(f"{name}:small", "small", Access(PROVIDERS[name], there.url, lambda: KEY))


@pytest.mark.parametrize("packed", [False, True])
async def test_texts_go_out_together_and_vectors_come_back_in_their_order(packed: bool) -> None:
    async with provider(vectors([3.0, 4.0], [0.0, 2.0], packed=packed)) as there:
        made = embedder(there)
        found = await VectorMemory(made).vectors(["one", "two"])
        await made.aclose()
    assert [[round(number, 6) for number in vector] for vector in found] == [[0.6, 0.8], [0.0, 1.0]]
    [got] = there.got
    assert got.path == "/v1/embeddings"
    assert (got.body["model"], got.body["input"]) == ("small", ["one", "two"])
    assert got.headers["authorization"] == f"Bearer {KEY}"


async def test_googles_api_is_spoken_too() -> None:
    answer = Answer({"embeddings": [{"values": [3.0, 4.0]}]})
    async with provider(answer) as there:
        made = embedder(there, "google")
        found = await made.embed(["one"], query=True)
        await made.aclose()
    assert [list(one) for one in found] == [[3.0, 4.0]]
    assert there.got[0].headers["x-goog-api-key"] == KEY
    assert "RETRIEVAL_QUERY" in json.dumps(there.got[0].body)


async def test_an_address_that_was_named_gets_no_key_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "GOOGLE_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, f"{name}-in-the-environment")
    async with provider(vectors([1.0])) as there:
        book = ModelBook()
        book.embed_with("openai:e5", url=there.url)
        assert book.vectors is not None
        await book.vectors.vectors(["one"])
        await book.aclose()
    assert "in-the-environment" not in json.dumps([[got.headers, got.body] for got in there.got])


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (Answer({"error": {"message": "no"}}, 401), r"refused the key \(401\)"),
        (Answer({"error": {"message": f"{KEY} is odd"}}, 500), r"\(500\): … is odd"),
        (Answer({"error": {"message": "which?"}}, 404), r"has no model 'small'"),
        (Answer("not json"), "OpenAI sent something that is no"),
        (Answer({"data": None, "model": "small"}), "OpenAI sent something that is no"),
        (Answer({"object": "list", "data": [{"embedding": None}], "model": "small"}), "is no"),
        (Answer({"object": "list", "data": [{"embedding": "??"}], "model": "small"}), "is no"),
        (Answer({"object": "list", "data": [], "model": "small"}), r"is no|made 0 vectors of 1 texts"),
    ],
)
async def test_each_failure_is_one_sentence_without_the_key(answer: Answer, sentence: str) -> None:
    async with provider(answer) as there:
        made = embedder(there)
        with pytest.raises(ProviderError, match=sentence) as caught:
            await VectorMemory(made).vectors(["one"])
        await made.aclose()
    assert KEY not in str(caught.value)
    assert len(there.got) == 1, "it is not tried again"


async def test_where_nothing_listens_it_is_said() -> None:
    async with provider(vectors([1.0])) as there:
        pass
    made: Any = embedder(there)
    with pytest.raises(ProviderError, match="cannot be reached"):
        await made.embed(["one"])
