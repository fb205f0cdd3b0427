"""A host whose servers want a login: over real HTTP, with an authorization server and a person who is scripted."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from jupyter_mcp.errors import AuthorizationFailed, ConnectionFailed, Denied, UsageError
from jupyter_mcp.host.host import Host
from jupyter_mcp.host.place import NotebookPlace
from jupyter_mcp.host.questions import Answer
from jupyter_mcp.host.specs import ServerSpec
from jupyter_mcp.server import Server
from jupyter_mcp.testing.authorization import Browser, InThread

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator
    from pathlib import Path

    from jupyter_mcp.host.questions import Question

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def there() -> Generator[InThread]:
    with InThread() as found:
        yield found


@pytest.fixture
async def host(tmp_path: Path) -> AsyncGenerator[Host]:
    found = Host(place=NotebookPlace(None, tmp_path, tmp_path / "data"))
    yield found
    await found.aclose()


def follows(host: Host, press: str = "approve") -> Browser:
    """A person whose browser comes back by itself."""
    browser = Browser(press=press, follow=True)

    def visit(question: Question) -> str:
        browser.open(question.url)
        return "accept"

    host.answers.add(visit, kind="login")
    return browser


def spec(there: InThread, name: str = "docs", **options: object) -> ServerSpec:
    return ServerSpec.parse(name, there.url, **options)


async def test_a_refusal_becomes_a_login_and_the_request_goes_out_again(host: Host, there: InThread) -> None:
    browser = follows(host)
    entry = await host.connect(spec(there))
    assert entry.ready
    assert "Buy milk" in (await host.call_tool("docs", "read_notes")).text
    assert len(browser.visited) == 1
    who = await host.whoami("docs")
    assert (who.how, who.issuer, who.scopes, who.renews) == (
        "login", there.issuer.issuer, ("notes:read",), True,
    )  # fmt: skip
    assert who.kept == "a file that only you can read"


async def test_more_rights_are_asked_for_when_a_tool_needs_them(host: Host, there: InThread) -> None:
    browser = follows(host)
    await host.connect(spec(there))
    await host.call_tool("docs", "add_note", {"text": "Call home"})
    assert len(browser.visited) == 2
    assert (await host.whoami("docs")).scopes == ("notes:read", "notes:write")


async def test_another_host_of_the_same_person_uses_what_is_kept(host: Host, there: InThread, tmp_path: Path) -> None:
    follows(host)
    await host.connect(spec(there))
    other = Host(place=NotebookPlace(None, tmp_path, tmp_path / "data"))
    try:
        await other.connect(spec(there))
        assert "Buy milk" in (await other.call_tool("docs", "read_notes")).text
    finally:
        await other.aclose()


async def test_logging_out_gives_the_tokens_back_and_keeps_nothing(host: Host, there: InThread, tmp_path: Path) -> None:
    follows(host)
    await host.connect(spec(there))
    kept = (await host.whoami("docs")).client_id
    assert await host.logout("docs")
    assert not await host.logout("docs")
    assert (await host.whoami("docs")).how == "nobody"
    assert list((tmp_path / "data" / "logins").iterdir()) == []
    assert host.find("docs").state == "closed", "nothing asks for a login by itself"
    assert kept and not [token for token in there.issuer.book.live if kept in token]


async def test_logging_in_anew_visits_the_page_whatever_is_kept(host: Host, there: InThread) -> None:
    browser = follows(host)
    await host.connect(spec(there))
    await host.login("docs")
    assert len(browser.visited) == 2


async def test_nobody_there_fails_at_once_and_says_what_to_set(host: Host, there: InThread) -> None:
    with pytest.raises(AuthorizationFailed, match="nobody can be asked") as failed:
        await asyncio.wait_for(host.connect(spec(there)), 20)
    said = str(failed.value)
    assert "--bearer" in said and "--oauth-grant client-credentials" in said and there.issuer.issuer in said
    assert not (await host.whoami("docs")).client_id


async def test_a_no_at_the_page_is_said_with_the_step_and_the_place(host: Host, there: InThread) -> None:
    follows(host, "decline")
    with pytest.raises(AuthorizationFailed, match="denied") as failed:
        await host.connect(spec(there))
    assert failed.value.declined and failed.value.server == "docs"


async def test_a_no_of_the_person_leaves_nothing_behind(host: Host, there: InThread, tmp_path: Path) -> None:
    host.answers.add("cancel", kind="login")
    with pytest.raises(AuthorizationFailed, match="was cancelled") as failed:
        await host.connect(spec(there))
    assert failed.value.declined
    assert not (tmp_path / "data" / "logins").exists()


async def test_a_no_is_not_remembered_when_the_person_connects_again(host: Host, there: InThread) -> None:
    host.answers.add("cancel", kind="login", times=1)
    with pytest.raises(AuthorizationFailed):
        await host.connect(spec(there))
    follows(host)
    assert (await host.connect(spec(there))).ready


async def test_a_rule_has_the_last_word_before_anything_is_sent(host: Host, there: InThread) -> None:
    browser = follows(host)
    host.policy.deny("docs.authorization/login")
    with pytest.raises(Denied, match="docs"):
        await host.connect(spec(there))
    assert browser.visited == []


async def test_a_pasted_address_counts_and_a_wrong_one_does_not(host: Host, there: InThread) -> None:
    asked: list[Question] = []

    class Person:
        """Pastes the address of another login first."""

        async def ask(self, question: Question) -> Answer:
            asked.append(question)
            if len(asked) == 1:
                wrong = f"{question.params['redirect_uri']}?code=stolen&state=another"
                return Answer("accept", {"redirect": wrong})
            back = await Browser(follow=False).visit(question.url)
            return Answer("accept", {"redirect": f"  {back}\n"})

    host.ui = Person()
    assert (await host.connect(spec(there))).ready
    assert [set(question.problems) for question in asked] == [set(), {"redirect"}]
    assert "another login" in asked[1].problems["redirect"]


async def test_a_token_in_place_of_a_login_is_used_and_kept_in_memory(
    host: Host, there: InThread, tmp_path: Path
) -> None:
    me = there.issuer.book.clients.add("me", secret="a-long-client-secret")
    form = {"grant_type": "client_credentials", "scope": "notes:read", "resource": there.url}
    token = there.issuer.book.token(form, me)["access_token"]
    host.answers.add({"token": token}, kind="login")
    await host.connect(spec(there))
    who = await host.whoami("docs")
    assert (who.how, who.kept) == ("token", "this kernel's memory")
    assert token not in repr(who)
    assert not (tmp_path / "data" / "logins").exists()
    assert await host.logout("docs")


async def test_a_token_that_was_given_goes_to_the_very_server_and_no_other_port(host: Host, there: InThread) -> None:
    host.answers.add({"token": "a-token-of-mine"}, kind="login", times=1)
    one = spec(there)
    gate = host.logins.gate(one)
    assert gate is not None
    await gate.login()
    assert (await gate.headers("POST", there.url))["Authorization"] == "Bearer a-token-of-mine"
    port = urlsplit(there.url).port or 0
    for other in (there.url.replace(str(port), str(port + 1)), "http://127.0.0.1/mcp", "http://127.0.0.2/mcp"):
        assert await gate.headers("POST", other) == {}, other


async def test_client_credentials_ask_nobody(host: Host, there: InThread) -> None:
    there.issuer.book.clients.add("robot", secret="the-robots-secret", method="client_secret_basic")
    options = {"oauth_client_id": "robot", "oauth_client_secret": "${ROBOT}", "oauth_grant": "client-credentials"}
    host._connections._environ = {"ROBOT": "the-robots-secret"}  # pyright: ignore[reportPrivateUsage]
    entry = await host.connect(spec(there, **options))
    assert entry.ready and (await host.whoami("docs")).client_id == "robot"
    assert (
        "the-robots-secret" not in f"{entry.spec!r} {entry.spec.describe()} {host.redactor.text('the-robots-secret')}"
    )


async def test_a_header_of_ones_own_is_never_replaced_by_a_login(host: Host, there: InThread) -> None:
    browser = follows(host)
    with pytest.raises(ConnectionFailed, match="401"):
        await host.connect(spec(there, bearer="no-such-token-at-all"))
    assert browser.visited == []
    assert (await host.whoami("docs")).how == "header"
    with pytest.raises(UsageError, match="header of your own"):
        await host.login("docs")


async def test_a_server_of_another_kind_has_nothing_to_log_in_to(host: Host) -> None:
    await host.connect(ServerSpec.parse("here", Server("here")))
    for act in (host.login, host.logout, host.whoami):
        with pytest.raises(UsageError, match="not reached over HTTP"):
            await act("here")


async def test_who_one_is_to_a_server_that_cannot_be_asked_is_not_known(tmp_path: Path) -> None:
    host = Host(place=NotebookPlace(None, tmp_path, tmp_path / "data"))
    with InThread() as gone:
        follows(host)
        await host.connect(spec(gone))
    host.logins.forget("docs")  # as a kernel that has not asked yet
    try:
        with pytest.raises(AuthorizationFailed):
            await host.whoami("docs")
    finally:
        await host.aclose()


async def test_many_refusals_at_once_are_one_login(host: Host, there: InThread) -> None:
    browser = follows(host)
    await host.connect(spec(there))
    there.issuer.book.end_grants()
    there.issuer.book.end_access_tokens()
    results = await asyncio.gather(*(host.call_tool("docs", "read_notes") for _ in range(6)))
    assert {result.text for result in results} == {results[0].text}
    assert len(browser.visited) == 2


async def test_a_request_that_is_given_up_leaves_the_login_to_those_that_wait(host: Host, there: InThread) -> None:
    follows(host)
    await host.connect(spec(there))
    host.answers.clear()
    asked = asyncio.Event()
    pages: list[str] = []

    class Person:
        """Leaves the page open."""

        async def ask(self, question: Question) -> Answer:
            pages.append(question.url)
            asked.set()
            return await asyncio.Future[Answer]()

    host.ui = Person()
    there.issuer.book.end_grants()
    there.issuer.book.end_access_tokens()
    first, second = (asyncio.create_task(host.call_tool("docs", "read_notes")) for _ in range(2))
    await asyncio.wait_for(asked.wait(), 20)
    gate = host.logins.gate(host._connections.filled(host.find("docs")))  # pyright: ignore[reportPrivateUsage]
    async with asyncio.timeout(20):
        while gate is None or gate._answering < 2:  # pyright: ignore[reportPrivateUsage]  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    first.cancel()
    await asyncio.wait([first], timeout=20)
    await asyncio.to_thread(Browser(follow=True).open, pages[0])
    assert "Buy milk" in (await asyncio.wait_for(second, 20)).text
    assert len(pages) == 1


async def test_a_server_without_a_page_asks_for_one_token_however_many_requests_it_refuses(host: Host) -> None:
    server, asked = Server("keyed"), list["Question"]()

    @server.tool
    def hello() -> str:
        """Say hello."""
        return "hello"

    class Person:
        """Has a key."""

        async def ask(self, question: Question) -> Answer:
            asked.append(question)
            return Answer("accept", {"token": "the-key-of-the-person"})

    host.ui = Person()
    async with server.serve_http(token="the-key-of-the-person") as running:
        entry = await host.connect(ServerSpec.parse("keyed", running.url))
        results = await asyncio.gather(*(host.call_tool("keyed", "hello") for _ in range(4)))
    assert {result.text for result in results} == {"hello"}
    assert [question.kind for question in asked] == ["inputs"]
    assert entry.ready and "API key" in asked[0].message
    assert "the-key-of-the-person" not in repr(host.logins.gate(host._connections.filled(entry)))  # pyright: ignore[reportPrivateUsage]


async def test_the_journal_says_that_there_was_a_login_and_none_of_its_secrets(host: Host, there: InThread) -> None:
    follows(host)
    await host.connect(spec(there))
    await host.call_tool("docs", "read_notes")
    said = "\n".join(map(repr, [*host.journal.acts(), *host.journal.entries()]))
    assert "login" in said and there.issuer.issuer in said
    assert "token" in said and "POST" in said, "the trace has the requests of a login"
    assert not [secret for secret in there.issuer.book.issued if secret in said]
