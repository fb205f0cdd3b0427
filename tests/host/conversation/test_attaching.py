"""What goes along with a question, what is proposed, and what is passed on from one server to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import UnsupportedContent, UsageError
from jupyter_mcp.host.conversation import Limits, of_text
from jupyter_mcp.host.conversation.attaching import fitting
from jupyter_mcp.host.conversation.provenance import Provenance
from jupyter_mcp.host.questions import OURSELVES, Answer
from jupyter_mcp.models.scripted import ScriptedModel
from jupyter_mcp.server import Server, assistant, user
from tests.host.conversation.helpers import Person, connected, demo, scripted, talk, use

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from jupyter_mcp.host.host import Host

pytestmark = pytest.mark.anyio
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 40


def library() -> Server:
    """Resources to be found, some of them annotated."""
    server = Server("library")
    texts: dict[str, tuple[str, str, Any]] = {
        "doc://invoices": ("Invoices of May", "Ada paid 300 euros.\n\nCharles paid 20 euros.", {}),
        "doc://weather": ("Weather of May", "It rained all month.", {}),
        "doc://menu": ("The menu", "Soup and bread.", {}),
        "doc://secret": ("Invoices for people only", "Not for models: 9 euros.", {"audience": ["user"]}),
    }
    for uri, (description, text, hints) in texts.items():
        offer(server, uri, text, description=description, annotations=hints or None)
    return server


def offer(server: Server, uri: str, text: str | bytes, **options: Any) -> None:
    """One resource that holds this."""

    @server.resource(uri, **options)
    def read() -> str | bytes:
        return text


@pytest.fixture
async def host() -> AsyncGenerator[Host]:
    host = await connected({"demo": demo(), "library": library()})
    for entry in host.servers.values():
        assert entry.connection is not None
        await entry.connection.list("resources")
    yield host
    await host.aclose()


def said(model: ScriptedModel, request: int = 0, message: int = -1) -> str:
    return "\n".join(block.get("text", "") for block in model.requests[request].messages[message]["content"])


# --- by name ---------------------------------------------------------------------------------------------------------


async def test_a_mentioned_resource_goes_before_the_question(host: Host) -> None:
    model = scripted("noon")
    turn = await talk(host, model).ask("When? See @demo:notes://today.")
    assert said(model) == (
        "Attached by the person: the resource demo:notes://today (26 characters)\n\nAda meets Charles at noon.\n"
        "When? See @demo:notes://today."
    )
    assert turn.attached == ["demo:notes://today (text/plain, 26 characters)"]


async def test_a_prompts_messages_go_before_the_question_in_their_roles() -> None:
    server = Server("s")

    @server.prompt
    def dialogue() -> list[Any]:
        return [user("Hello"), assistant("Hi, what do you need?")]

    host = await connected({"s": server})
    model = scripted("ok")
    try:
        await talk(host, model).ask("/dialogue\nA review.")
    finally:
        await host.aclose()
    roles = [(message["role"], message["content"][0]["text"]) for message in model.requests[0].messages]
    assert roles == [("user", "Hello"), ("assistant", "Hi, what do you need?"), ("user", "A review.")]


async def test_a_prompt_alone_is_a_question(host: Host) -> None:
    model = scripted("ok")
    await talk(host, model).ask("/demo.review language=python")
    assert said(model) == "Review this python (short)."


async def test_missing_arguments_are_asked_for_in_a_form_of_the_notebooks_own() -> None:
    person = Person(Answer("accept", {"language": "perl"}))
    host = await connected({"demo": demo()}, ui=person)
    model = scripted("ok")
    try:
        await talk(host, model).ask("/demo.review style=long")
    finally:
        await host.aclose()
    [question] = person.asked
    assert (question.server, question.message) == (OURSELVES, "/demo.review needs language.")
    assert list(question.params["requestedSchema"]["properties"]) == ["language"]
    assert said(model) == "Review this perl (long)."


async def test_a_form_that_is_declined_asks_nothing() -> None:
    host = await connected({"demo": demo()}, ui=Person(Answer("decline")))
    model = scripted()
    try:
        with pytest.raises(UsageError, match=r"Write /demo\.review language=…"):
            await talk(host, model).ask("/demo.review")
    finally:
        await host.aclose()
    assert model.requests == []


async def test_a_script_for_servers_forms_fills_in_none_of_ours(host: Host) -> None:
    host.answers.add({"language": "perl"})
    with pytest.raises(UsageError, match="needs language"):
        await talk(host, scripted()).ask("/demo.review")


async def test_a_picture_for_a_model_that_sees_none_is_an_error_and_nothing_is_asked() -> None:
    server = Server("s")
    offer(server, "pic://1", PNG, mime_type="image/png")
    host = await connected({"s": server})
    blind = ScriptedModel(["never"], name="blind", supports=frozenset({"text", "tools"}))
    try:
        with pytest.raises(UnsupportedContent, match="blind takes no image"):
            await talk(host, blind).ask("What is on @s:pic://1?")
        sees = scripted("a cat")
        await talk(host, sees).ask("What is on @s:pic://1?")
    finally:
        await host.aclose()
    assert blind.requests == []
    assert [block["type"] for block in sees.requests[0].messages[0]["content"]] == ["text", "image", "text"]


async def test_of_a_long_text_the_passages_that_fit_go_along(host: Host) -> None:
    parts = [f"Chapter {n}\n" + "filler words here. " * 30 for n in range(30)]
    parts[17] += "The zebra lives here."
    shown, told = fitting("\n\n".join(parts), "Where does the zebra live?", 2_000)
    assert "The zebra lives here." in shown
    assert len(shown) <= 2_000
    assert told == "1 of 15 passages, of 17,499 characters"


async def test_a_text_that_fits_goes_along_whole() -> None:
    assert fitting("short\n\ntext", "nothing", 100) == ("short\n\ntext", "11 characters")
    attachment = of_text("note", "Ada", "who?", Limits())
    assert attachment.label == "note (3 characters)"


# --- proposed --------------------------------------------------------------------------------------------------------


async def auto(host: Host, model: ScriptedModel, question: str) -> Any:
    return await talk(host, model).ask(question, auto_context=True)


async def test_the_best_resources_are_proposed_with_their_sizes_and_the_chosen_go_along(host: Host) -> None:
    person = Person(Answer("accept", {"attach": ["library:doc://invoices"]}))
    host.ui = person
    model = scripted("300")
    turn = await auto(host, model, "Who paid the invoices of May?")
    [question] = person.asked
    items = question.params["requestedSchema"]["properties"]["attach"]["items"]["anyOf"]
    assert [item["const"] for item in items] == ["library:doc://invoices", "library:doc://weather"]
    assert items[0]["title"] == "library:doc://invoices, 43 characters: “Ada paid 300 euros. Charles paid 20 euros.”"
    assert question.server == OURSELVES
    assert "Ada paid 300 euros." in said(model)
    assert turn.attached == ["library:doc://invoices (text/plain, 43 characters)"]


async def test_only_what_clearly_fits_is_ticked(host: Host) -> None:
    person = Person(Answer("cancel"))
    host.ui = person
    await auto(host, scripted("ok"), "Who paid euros for the invoices?")
    assert person.asked[0].params["requestedSchema"]["properties"]["attach"]["default"] == ["library:doc://invoices"]


async def test_what_nobody_saw_is_not_attached(host: Host) -> None:
    host.answers.add("accept")  # a script for servers' forms
    model = scripted("ok")
    turn = await auto(host, model, "Who paid the invoices?")
    assert said(model) == "Who paid the invoices?"
    assert (turn.attached, turn.notes[0].startswith("--auto-context: nobody could be asked")) == ([], True)


async def test_a_script_that_names_this_notebook_chooses(host: Host) -> None:
    host.answers.add("accept", server="this notebook")
    model = scripted("ok")
    turn = await auto(host, model, "Who paid the invoices?")
    assert turn.attached == ["library:doc://invoices (text/plain, 43 characters)"]


async def test_a_no_attaches_nothing_and_the_question_is_asked(host: Host) -> None:
    host.ui = Person(Answer("decline"))
    turn = await auto(host, scripted("ok"), "Who paid the invoices?")
    assert (turn.text, turn.attached, turn.notes) == ("ok", [], ["--auto-context: nothing was attached."])


async def test_where_nothing_fits_nobody_is_asked(host: Host) -> None:
    person = Person()
    host.ui = person
    turn = await auto(host, scripted("ok"), "Quantum chromodynamics?")
    assert (person.asked, turn.notes) == ([], ["--auto-context: no resource fits the question."])


async def test_what_is_for_people_only_or_switched_off_is_not_proposed(host: Host) -> None:
    person = Person(Answer("cancel"))
    host.ui = person
    host.policy.disable("library.doc://weather")
    await auto(host, scripted("ok"), "Who paid the invoices of May?")
    items = person.asked[0].params["requestedSchema"]["properties"]["attach"]["items"]["anyOf"]
    assert [item["const"] for item in items] == ["library:doc://invoices"]


async def test_priority_and_date_count_among_equals() -> None:
    server = Server("s")
    for name, hints in (
        ("a", {"priority": 0.1}),
        ("b", {"priority": 0.9}),
        ("c", {"priority": 0.5, "lastModified": "2026-01-01T00:00:00Z"}),
        ("d", {"priority": 0.5, "lastModified": "2025-01-01T00:00:00Z"}),
    ):
        offer(server, f"x://{name}", "striped", description="zebra", annotations=hints)
    for number in range(8):
        offer(server, f"y://{number}", "plain", description="other")
    person = Person(Answer("cancel"))
    host = await connected({"s": server}, ui=person)
    try:
        await host.resolve("resource", "x://a", "s")
        await auto(host, scripted("ok"), "zebra")
    finally:
        await host.aclose()
    items = person.asked[0].params["requestedSchema"]["properties"]["attach"]["items"]["anyOf"]
    assert [item["const"] for item in items] == ["s:x://b", "s:x://c", "s:x://d", "s:x://a"]


# --- from one server to another --------------------------------------------------------------------------------------


def test_copied_words_are_traced_to_the_server_that_returned_them() -> None:
    seen = Provenance()
    seen.returned("docs", "The launch code is BLUE-HERON-2291, tell nobody about it at all.")
    assert seen.sources("mail", {"body": ["the  LAUNCH code is blue-heron-2291"]}) == ["docs"]
    assert seen.sources("mail", {"text": "x" * 60 + " BLUE-HERON-2291, " + "y" * 60}) == ["docs"]
    assert seen.sources("docs", {"body": "The launch code is BLUE-HERON-2291"}) == []
    assert seen.sources("mail", {"body": "something else entirely", "n": 2291}) == []


def test_the_persons_own_words_and_what_the_server_said_itself_are_no_secret_from_it() -> None:
    seen = Provenance()
    seen.returned("docs", "the quarterly report of Ada")
    seen.returned("mail", "found: the quarterly report of Ada, in the inbox")
    assert seen.sources("mail", {"q": "the quarterly report of Ada"}) == []
    seen.returned("docs", "another line of the report")
    seen.person_said("Send another line of the report to Bob")
    assert seen.sources("disk", {"q": "another line of the report"}) == []


async def test_the_person_who_approves_a_call_sees_what_it_passes_on() -> None:
    person = Person(Answer("accept"), Answer("accept"))
    mail = Server("mail")

    @mail.tool
    def send(body: str) -> str:
        return "sent"

    host = await connected({"demo": demo(), "mail": mail}, ui=person)
    secret = "the blue heron lands at midnight"
    try:
        model = scripted([use("demo__echo", text=secret)], [use("mail__send", body=f"FYI: {secret}")], "sent")
        turn = await talk(host, model).ask("go")
    finally:
        await host.aclose()
    assert "words that demo returned in this conversation" in person.asked[1].params["leaves"]
    assert [list(call.passes_on) for call in turn.calls] == [[], ["demo"]]
