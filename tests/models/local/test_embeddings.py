"""Vectors of a real model behind a real OpenAI-compatible server, and a question whose context is ranked by them.

So small a model, which was not made for this, says little about meaning; what has to hold is the way there and back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jupyter_mcp.errors import ProviderError, UsageError
from jupyter_mcp.host.questions import Answer
from jupyter_mcp.models.book import ModelBook
from jupyter_mcp.models.local import LocalEmbedder
from tests.host.conversation.helpers import Person, connected, demo, scripted, talk

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(300)]


@pytest.fixture
async def local() -> AsyncGenerator[LocalEmbedder]:
    made = LocalEmbedder()
    yield made
    await made.aclose()


async def test_the_same_text_has_the_same_vector_and_it_says_that_it_is_loaded(local: LocalEmbedder) -> None:
    notes: list[str] = []
    first = await local.embed(["rain", "an invoice"], on_note=notes.append)
    again = await local.embed(["rain"], query=True, on_note=notes.append)
    assert list(first[0]) == pytest.approx(list(again[0]), abs=1e-3)
    assert len(first[0]) == len(first[1]) == 576
    assert list(first[0]) != pytest.approx(list(first[1]), abs=1e-3)
    assert notes == ["The model local is being loaded."]


async def test_it_is_reached_as_a_provider_with_an_address_and_a_key_of_its_own(local: LocalEmbedder) -> None:
    await local.embed(["start"])
    running = local._starter.running  # pyright: ignore[reportPrivateUsage]
    assert running is not None
    book = ModelBook({"LOCAL_KEY": running.access.key() or ""})
    book.embed_with("openai:any", url=running.access.url, key="${LOCAL_KEY}")
    assert book.vectors is not None
    assert book.vectors.embedder.place == "this machine"
    assert len((await book.vectors.vectors(["rain"]))[0]) == 576
    book.embed_with("openai:any", url=running.access.url, key="wrong")
    with pytest.raises(ProviderError, match=r"refused the key \(401\)"):
        await book.vectors.vectors(["rain"])
    await book.aclose()


async def test_a_question_is_ranked_by_it_end_to_end(local: LocalEmbedder) -> None:
    host = await connected({"demo": demo()})
    host.ui = Person(Answer("accept", {"attach": ["demo:notes://today"]}))
    try:
        host.models.embed_with(local)
        await host.resolve("resource", "notes://today", "demo")
        turn = await talk(host, scripted("ok")).ask("When do they see each other?", auto_context=True)
    finally:
        await host.aclose()
    assert turn.attached == ["demo:notes://today (text/plain, 26 characters)"]
    assert turn.notes[0].endswith("and the question go to local (on this machine).")
    assert not [note for note in turn.notes if "words alone" in note]


async def test_a_text_of_many_tokens_is_cut_to_what_it_takes(local: LocalEmbedder) -> None:
    [vector] = await local.embed(["一" * local.longest])
    assert len(vector) == 576


async def test_a_process_that_dies_is_said_and_started_again(local: LocalEmbedder) -> None:
    await local.embed(["rain"])
    running = local._starter.running  # pyright: ignore[reportPrivateUsage]
    assert running is not None
    running.process.kill()
    await running.process.wait()
    assert len(await local.embed(["rain"])) == 1


async def test_a_file_that_is_no_model_is_told(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.gguf"
    wrong.write_bytes(b"hello")
    made = LocalEmbedder(str(wrong))
    with pytest.raises(ProviderError, match=r"local:wrong\.gguf could not be loaded: ."):
        await made.embed(["hello"])
    with pytest.raises(UsageError, match="There is no file"):
        LocalEmbedder(str(tmp_path / "nowhere.gguf"))
