"""Vectors are made once for each text, checked, and kept in memory; who makes them is named by the person."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import NoModel, ProviderError, UsageError
from jupyter_mcp.models import providers
from jupyter_mcp.models.book import ModelBook
from jupyter_mcp.models.embedding import Embedder, VectorMemory, unit

if TYPE_CHECKING:
    from collections.abc import Sequence

pytestmark = pytest.mark.anyio


class Lengths:
    """Vectors of a text's length, and what was sent."""

    name = "lengths"
    place = "this machine"
    batch = 2
    longest = 10

    def __init__(self, *wrong: Any) -> None:
        self.sent: list[list[str]] = []
        self.wrong = list(wrong)
        self.closed = False

    async def embed(self, texts: Sequence[str], *, query: bool = False, on_note: Any = None) -> Any:
        del on_note
        self.sent.append([f"? {text}" if query else text for text in texts])
        if self.wrong:
            made = self.wrong.pop(0)
            if isinstance(made, Exception):
                raise made
            return made
        return [[float(len(text)), 1.0] for text in texts]

    async def aclose(self) -> None:
        self.closed = True


async def test_each_text_is_sent_once_in_bundles_and_every_place_gets_its_vector() -> None:
    embedder = Lengths()
    memory = VectorMemory(embedder)
    found = await memory.vectors(["a", "bb", "a", "ccc"])
    assert embedder.sent == [["a", "bb"], ["ccc"]]
    assert found[0] == found[2]
    assert [round(vector[0] / vector[1]) for vector in found] == [1, 2, 1, 3]
    assert await memory.vectors(["ccc", "a"]) == [found[3], found[0]]
    assert len(embedder.sent) == 2
    assert memory.missing(["a", "d", "d"]) == ["d"]


async def test_a_question_is_another_thing_than_a_text() -> None:
    embedder = Lengths()
    memory = VectorMemory(embedder)
    await memory.vectors(["a"])
    assert memory.missing(["a"], query=True) == ["a"]
    await memory.vectors(["a"], query=True)
    assert embedder.sent == [["a"], ["? a"]]


async def test_a_long_text_is_cut_and_an_empty_one_or_half_a_character_harms_nothing() -> None:
    embedder = Lengths()
    memory = VectorMemory(embedder)
    await memory.vectors(["x" * 50, "x" * 60, "", "\ud800"])
    assert embedder.sent == [["x" * 10, " "], ["?"]]


async def test_what_came_before_a_failure_is_kept() -> None:
    embedder = Lengths([[1.0], [2.0]], ProviderError("gone"))
    memory = VectorMemory(embedder)
    with pytest.raises(ProviderError, match="gone"):
        await memory.vectors(["a", "b", "c"])
    assert memory.missing(["a", "b", "c"]) == ["c"]


async def test_only_so_many_are_kept_and_those_not_used_for_longest_go() -> None:
    memory = VectorMemory(Lengths(), most=2)
    await memory.vectors(["a", "b"])
    await memory.vectors(["a"])
    found = await memory.vectors(["a", "c", "dd"])
    assert len(found) == 3
    assert memory.missing(["a", "b", "c", "dd"]) == ["a", "b"]


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        ([[1.0]], r"lengths made 1 vectors of 2 texts\."),
        ([[1.0], [1.0, 2.0]], r"The vectors of lengths differ in length\."),
        ([[1.0], [0.0]], r"lengths sent something that is no vector\."),
        ([[1.0], []], "no vector"),
        ([[1.0], [math.nan]], "no vector"),
        ([[1.0], [math.inf]], "no vector"),
        ([[1.0], ["one"]], "no vector"),
        ([[1.0], None], "no vector"),
        ([[1.0], [1.0] * 20_000], "no vector"),
    ],
)
async def test_what_is_no_vector_for_each_text_is_an_error(made: Any, sentence: str) -> None:
    with pytest.raises(ProviderError, match=sentence):
        await VectorMemory(Lengths(made)).vectors(["a", "b"])


def test_a_vector_is_kept_at_length_one() -> None:
    assert list(unit([3.0, 4.0])) == pytest.approx([0.6, 0.8])
    assert list(unit([3e200, 4e200])) == pytest.approx([0.6, 0.8])


# --- which one -------------------------------------------------------------------------------------------------------


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if every library were there."""

    def always(module: str) -> bool:
        return True

    monkeypatch.setattr(providers, "_installed", always)


def test_without_a_name_there_is_none_and_no_key_is_looked_for() -> None:
    class Untouched(dict[str, str]):
        def get(self, key: str, default: Any = None) -> Any:
            raise AssertionError(key)

    assert ModelBook(Untouched()).vectors is None


@pytest.mark.usefixtures("installed")
def test_a_providers_model_says_where_texts_go() -> None:
    book = ModelBook({"OPENAI_API_KEY": "sk-of-openai", "GOOGLE_API_KEY": "other"})
    places: dict[str, str] = {}
    for name in ("openai:text-embedding-3-small", "google:gemini-embedding-001", "ollama:nomic-embed-text"):
        made = book.embed_with(name)
        assert isinstance(made, Embedder)
        assert book.vectors is not None
        assert book.vectors.embedder is made
        places[made.name] = made.place
        assert "sk-of-openai" not in f"{made!r}{vars(made)}"
    assert places == {
        "openai:text-embedding-3-small": "OpenAI (api.openai.com)",
        "google:gemini-embedding-001": "Google (generativelanguage.googleapis.com)",
        "ollama:nomic-embed-text": "this machine",
    }
    other = book.embed_with("openai:e5", url="https://vectors.example/v1")
    assert other is not None
    assert other.place == "vectors.example"


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("what", "options", "sentence"),
    [
        ("anthropic:claude", {}, r"Anthropic has no embedding models\. There are openai, google, .* and local\."),
        ("anthropic:claude", {"url": "http://localhost:1/v1"}, "Anthropic has no embedding models"),
        ("groq:x", {}, "Groq has no embedding models"),
        ("opnai:x", {}, "Did you mean openai"),
        ("ollama", {}, r"Which embedding model of Ollama\? \(ollama:nomic-embed-text …\)"),
        ("local", {"key": "x"}, "url and key are for models of a provider, not for local"),
        (7, {}, "A int is no embedding model"),
        (Lengths(), {"url": "http://localhost:1"}, "are for models of a provider"),
        ("openai:x", {"url": "ftp://somewhere"}, "http"),
    ],
)
def test_what_is_no_embedding_model_is_said(what: Any, options: dict[str, Any], sentence: str) -> None:
    book = ModelBook({})
    with pytest.raises(UsageError, match=sentence):
        book.embed_with(what, **options)
    assert book.vectors is None


@pytest.mark.usefixtures("installed")
def test_a_missing_key_is_said_at_once() -> None:
    with pytest.raises(NoModel, match="OpenAI needs a key, and OPENAI_API_KEY is not set"):
        ModelBook({"GOOGLE_API_KEY": "another"}).embed_with("openai:text-embedding-3-small")


async def test_it_is_taken_away_with_off_and_closed_at_the_end() -> None:
    book = ModelBook({})
    first, second = Lengths(), Lengths()
    book.embed_with(first)
    book.embed_with(second)
    assert book.embed_with("off") is None
    assert book.vectors is None
    book.embed_with(second)
    await book.aclose()
    assert (first.closed, second.closed) == (True, True)
