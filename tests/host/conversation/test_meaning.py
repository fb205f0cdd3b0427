"""`--auto-context` by meaning: what is sent where and when it is said, and that words decide when a model fails."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import ProviderError
from jupyter_mcp.host.conversation.events import Noted
from jupyter_mcp.host.conversation.meaning import Ranker
from jupyter_mcp.host.conversation.ranking import Document
from jupyter_mcp.host.questions import Answer
from jupyter_mcp.models.embedding import VectorMemory
from jupyter_mcp.server import Server
from tests.host.conversation.helpers import Person, Watch, connected, scripted, talk

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence

    from jupyter_mcp.host.host import Host

pytestmark = pytest.mark.anyio
QUESTION = "Which payments are due?"
TEXTS = {
    "doc://bills": ("Bills of May", "Ada owes 300 euros."),
    "doc://weather": ("Weather of May", "It rained all month."),
    "doc://menu": ("The menu", "Soup and bread."),
    "doc://birds": ("Birds of the lake", "Swans, and a heron."),
    "doc://due": ("Due dates", "Library books."),
}
MEANING = {
    "bills": 0,
    "owes": 0,
    "payments": 0,
    "weather": 1,
    "rained": 1,
    "menu": 2,
    "soup": 2,
    "birds": 3,
    "swans": 3,
}


class Meaning:
    """Vectors by what a text is about; a model of the person's own."""

    place = "this machine"
    batch = 64
    longest = 1_000

    def __init__(self, before: Callable[[], Any] = list, name: str = "meaning") -> None:
        self.name = name
        self.sent: list[str] = []
        self.before = before

    async def embed(self, texts: Sequence[str], *, query: bool = False, on_note: Any = None) -> list[list[float]]:
        del query, on_note
        self.sent += texts
        waiting = self.before()
        if isinstance(waiting, asyncio.Event):
            await waiting.wait()
        return [
            [0.1 + sum(word in text.lower() for word, at in MEANING.items() if at == n) for n in range(4)]
            for text in texts
        ]


def library() -> Server:
    server = Server("library")
    for uri, (description, text) in TEXTS.items():
        offer(server, uri, description, text)
    return server


def offer(server: Server, uri: str, description: str, text: str, **options: Any) -> None:
    @server.resource(uri, description=description, **options)
    def read() -> str:
        return text


@pytest.fixture
async def host() -> AsyncGenerator[Host]:
    host = await connected({"library": library()})
    host.ui = Person(*(Answer("cancel") for _ in range(4)))
    entry = host.servers["library"]
    assert entry.connection is not None
    await entry.connection.list("resources")
    yield host
    await host.aclose()


def proposed(host: Host, which: int = -1) -> tuple[list[str], list[str]]:
    """What was put before the person, and what of it was ticked."""
    assert isinstance(host.ui, Person)
    field = host.ui.asked[which].params["requestedSchema"]["properties"]["attach"]
    names = [item["const"].removeprefix("library:doc://") for item in field["items"]["anyOf"]]
    return names, [name.removeprefix("library:doc://") for name in field["default"]]


async def ask(host: Host, watch: Watch | None = None, question: str = QUESTION) -> Any:
    return await talk(host, scripted("ok")).ask(question, auto_context=True, on_event=watch)


async def test_without_an_embedding_model_words_decide_and_nothing_is_said(host: Host) -> None:
    turn = await ask(host)
    assert proposed(host) == (["due"], ["due"])
    assert turn.notes == ["--auto-context: nothing was attached."]


async def test_what_means_the_like_is_found_beside_what_shares_words(host: Host) -> None:
    host.models.embed_with(Meaning())
    await ask(host)
    names, ticked = proposed(host)
    assert set(names) == {"bills", "due"}
    assert "due" in ticked


async def test_what_is_sent_is_said_before_it_is_sent_and_stays_in_the_record(host: Host) -> None:
    watch = Watch()
    told: list[list[str]] = []

    def look() -> list[str]:
        told.append([event.text for event in watch.events if isinstance(event, Noted)])
        return []

    model = Meaning(look)
    host.models.embed_with(model)
    turn = await ask(host, watch)
    first = "--auto-context: 5 texts of library (169 characters) and the question go to meaning (on this machine)."
    assert told[0] == [first]
    assert turn.notes[0] == first
    assert len(model.sent[0].splitlines()) == 2, "its name and its description: its text was not read yet"


async def test_what_was_ranked_once_is_not_sent_again(host: Host) -> None:
    model = Meaning()
    host.models.embed_with(model)
    await ask(host)
    count = len(model.sent)
    turn = await ask(host)
    assert len(model.sent) == count
    assert turn.notes == ["--auto-context: nothing was attached."]
    turn = await ask(host, question="Which payments were made?")
    assert turn.notes[0] == "--auto-context: the question goes to meaning (on this machine)."
    assert model.sent[count:] == ["Which payments were made?"]


async def test_secrets_that_the_kernel_gave_to_servers_are_masked_in_what_is_sent(host: Host) -> None:
    host.redactor.learn(["hunter2-of-ada"])
    model = Meaning()
    host.models.embed_with(model)
    await ask(host, question="Which payments are due to hunter2-of-ada?")
    assert model.sent
    assert not [text for text in model.sent if "hunter2" in text]


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (ProviderError("OpenAI refused the key (401).", status=401), "failed (OpenAI refused the key (401))"),
        (RuntimeError("no disk"), "failed (RuntimeError: no disk)"),
    ],
)
async def test_a_model_that_fails_leaves_the_ranking_to_the_words(host: Host, error: Exception, sentence: str) -> None:
    def fail() -> None:
        raise error

    host.models.embed_with(Meaning(fail))
    turn = await ask(host)
    assert proposed(host) == (["due"], ["due"])
    assert f"--auto-context: meaning {sentence}; the resources were ranked by their words alone." in turn.notes
    assert turn.text == "ok"


async def test_vectors_of_another_length_than_the_questions_leave_it_to_the_words(host: Host) -> None:
    class Uneven(Meaning):
        async def embed(self, texts: Sequence[str], *, query: bool = False, on_note: Any = None) -> list[list[float]]:
            return [[1.0] * (2 if query else 3) for _ in texts]

    host.models.embed_with(Uneven())
    turn = await ask(host)
    assert proposed(host) == (["due"], ["due"])
    assert "made vectors of different lengths" in turn.notes[1]


async def test_an_interrupt_ends_the_wait_for_vectors(host: Host) -> None:
    begun = asyncio.Event()

    def wait() -> asyncio.Event:
        begun.set()
        return asyncio.Event()

    host.models.embed_with(Meaning(wait))
    task = asyncio.ensure_future(ask(host))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert isinstance(host.ui, Person)
    assert host.ui.asked == []


# --- the ranker alone ------------------------------------------------------------------------------------------------


def ranker(model: Meaning, notes: list[str], seconds: float = 30.0) -> Ranker:
    return Ranker(QUESTION, VectorMemory(model), notes.append, notes.append, str, seconds)


async def test_a_model_that_takes_too_long_is_not_waited_for() -> None:
    notes: list[str] = []
    slow = ranker(Meaning(asyncio.Event), notes, 0.01)
    found = await slow.documents([Document("due"), Document("bills")], ["s", "s"], 5)
    assert [one.at for one in found] == [0]
    assert notes[-1] == (
        "--auto-context: meaning took more than 0.01 s (what it did by then is kept); "
        "the resources were ranked by their words alone."
    )


async def test_of_very_many_resources_those_that_share_words_are_looked_at_first() -> None:
    model = Meaning()
    documents = [Document(f"other {n}") for n in range(2_000)] + [Document("payments due")]
    found = await ranker(model, []).documents(documents, ["s"] * 2_001, 3)
    assert len(model.sent) == 401
    assert "payments due" in model.sent
    assert found[0].at == 2_000


async def test_passages_are_ranked_by_meaning_too() -> None:
    topics = ["", "Rain", "Ada owes 300 euros.", "", "Soup.", ""]
    filler = [f"Chapter {n}. {topic} " + "Nothing of note here. " * 45 for n, topic in enumerate(topics)]
    [found] = await ranker(Meaning(), []).texts([Document("book", "", "\n\n".join(filler))], ["s"], 5)
    assert found.order[0] == 2


async def test_of_long_texts_only_so_many_passages_are_looked_at() -> None:
    model = Meaning()
    books = ["\n\n".join(f"Part {n} of {book}. " + "It is long. " * 90 for n in range(100)) for book in "abcd"]
    await ranker(model, []).texts([Document(book[:1], "", book) for book in books], ["s"] * 4, 5)
    assert len(model.sent) == 48 + 1
