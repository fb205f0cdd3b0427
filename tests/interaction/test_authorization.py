"""Our client, our server and an authorization server between them, over real HTTP and in both eras: the whole way in,
and what becomes of an attacker who sits at each of its ends."""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import parse_qs, urlsplit

import pytest
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler

from jupyter_mcp.client import opening
from jupyter_mcp.client.auth.oauth import OAuth
from jupyter_mcp.client.auth.settings import OAuthSettings
from jupyter_mcp.client.auth.store import MemoryStore
from jupyter_mcp.client.auth.visit import Prepare, Redirect, RedirectParams, VisitRequest
from jupyter_mcp.client.connection import Connection
from jupyter_mcp.errors import AuthorizationFailed, MCPError
from jupyter_mcp.testing.authorization import (
    AuthorizationServer,
    Browser,
    Rules,
    authorization_server,
    notes,
    protected_server,
)
from jupyter_mcp.transport.http import HttpOptions, HttpTransport
from tests.client.peer import PATIENT, FakePeer

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

pytestmark = pytest.mark.anyio
CALLBACK = "http://127.0.0.1:9/callback"
ERAS: list[Literal["legacy", "modern"]] = ["legacy", "modern"]


@pytest.fixture(autouse=True)
def _nothing_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "_remembered", {})


class Person:
    """Implements `Visit` with a scripted browser.

    Attributes:
        change: what an attacker makes of the redirect on its way back.
    """

    def __init__(self) -> None:
        self.browser = Browser()
        self.visits: list[VisitRequest] = []
        self.change: Callable[[str], str] = str

    async def prepare(self, context: Prepare) -> Redirect:
        return Redirect(CALLBACK)

    async def visit(self, request: VisitRequest) -> RedirectParams | str:
        self.visits.append(request)
        return self.change(await self.browser.visit(request.authorize_url))

    @property
    def scopes(self) -> list[str]:
        """What each page asked for."""
        return [parse_qs(urlsplit(one).query)["scope"][0] for one in self.browser.visited]


class World:
    """Everybody who takes part.

    Attributes:
        calls: sends requests.
        said: all that our side told anybody: journal, log, notes, errors, reprs.
    """

    def __init__(self, issuer: AuthorizationServer, url: str, era: Any, caplog: pytest.LogCaptureFixture) -> None:
        self.issuer, self.url, self.era = issuer, url, era
        self.person, self.store, self.peer = Person(), MemoryStore(), FakePeer()
        self.errors: list[str] = []
        self._caplog = caplog
        settings = OAuthSettings(client_name="Ours")
        self.oauth = OAuth(
            url,
            settings=settings,
            visit=self.person,
            store=self.store,
            name="notes",
            trace=self.peer.traffic.append,
        )

    @asynccontextmanager
    async def connected(self) -> AsyncGenerator[Connection]:
        options = HttpOptions(authorization=self.oauth)
        choose = replace(PATIENT, era=self.era)
        connection = Connection("notes", lambda: HttpTransport(self.url, options), choose, self.peer)
        try:
            await connection.open()
            yield connection
        finally:
            await connection.close()

    async def refused(self) -> MCPError:
        """Why it cannot be connected to."""
        with pytest.raises(MCPError) as caught:
            async with self.connected():
                pass
        self.errors += [str(caught.value), repr(caught.value), str(vars(caught.value))]
        assert self.oauth.stored is None, "nothing is half stored"
        return caught.value

    @property
    def said(self) -> str:
        told = [self.peer.traffic, self.peer.wired, self.peer.notes, self.peer.lines, self.oauth, self.oauth.stored]
        return " ".join([*map(repr, told), *self.errors, self._caplog.text])

    def check_secrets(self) -> None:
        """Nothing that was secret has been told to anybody."""
        assert self.issuer.book.issued
        assert [secret for secret in self.issuer.book.issued if secret in self.said] == []


@asynccontextmanager
async def world(era: Any, caplog: pytest.LogCaptureFixture, **rules: Any) -> AsyncGenerator[World]:
    caplog.set_level(logging.DEBUG)
    async with (
        authorization_server(rules=Rules(**rules)) as issuer,
        protected_server(notes(), issuer, tool_scopes={"add_note": ("notes:write",)}) as url,
    ):
        one = World(issuer, url, era, caplog)
        yield one
        one.check_secrets()


def text(result: Any) -> str:
    return result["content"][0]["text"]


# --- the whole way


@pytest.mark.parametrize("era", ERAS)
async def test_a_person_is_asked_once_and_again_when_a_tool_needs_more(era: Any, caplog: pytest.LogCaptureFixture):
    async with world(era, caplog) as one, one.connected() as connection:
        assert connection.era == era
        assert "Buy milk" in text(await connection.call_tool("read_notes", {}))
        assert one.person.scopes == ["notes:read"]
        assert text(await connection.call_tool("add_note", {"text": "Call Grace"})) == "2"
        assert [set(scopes.split()) for scopes in one.person.scopes[1:]] == [{"notes:read", "notes:write"}]
        assert text(await connection.call_tool("add_note", {"text": "Call Ada"})) == "3"
        assert len(one.person.visits) == 2


@pytest.mark.parametrize("era", ERAS)
async def test_a_token_that_ends_is_renewed_without_a_person(era: Any, caplog: pytest.LogCaptureFixture):
    async with world(era, caplog) as one, one.connected() as connection:
        for _ in range(3):
            one.issuer.book.end_access_tokens()
            assert "Buy milk" in text(await connection.call_tool("read_notes", {}))
        assert len(one.person.visits) == 1


@pytest.mark.parametrize("era", ERAS)
async def test_a_grant_that_was_taken_back_asks_the_person_again(era: Any, caplog: pytest.LogCaptureFixture):
    async with world(era, caplog) as one, one.connected() as connection:
        one.issuer.book.end_grants()
        assert "Buy milk" in text(await connection.call_tool("read_notes", {}))
        assert len(one.person.visits) == 2


async def test_logging_out_ends_the_tokens_there_too(caplog: pytest.LogCaptureFixture):
    async with world("modern", caplog) as one, one.connected():
        assert len(one.issuer.book.live) == 1
        assert await one.oauth.logout()
        assert one.issuer.book.live == [] and one.oauth.stored is None


@pytest.mark.parametrize("era", ERAS)
async def test_a_person_who_says_no_is_not_asked_again_by_the_next_try(era: Any, caplog: pytest.LogCaptureFixture):
    async with world(era, caplog) as one:
        one.person.browser.press = "decline"
        failure = await one.refused()
        assert isinstance(failure, AuthorizationFailed) and failure.declined
        await one.refused()
        assert len(one.person.visits) == 1


async def test_signed_tokens_and_a_path_of_the_issuer_make_no_difference(caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    async with (
        authorization_server(rules=Rules(signed=True), path="/tenant/one") as issuer,
        protected_server(notes(), issuer) as url,
    ):
        one = World(issuer, url, "auto", caplog)
        async with one.connected() as connection:
            assert "Buy milk" in text(await connection.call_tool("read_notes", {}))
        one.check_secrets()


# --- an attacker between the browser and us


CHANGES: list[Callable[[str], str]] = [
    lambda back: back.replace("state=", "state=x"),
    lambda back: back.replace("state=", "other="),
    lambda back: f"{CALLBACK}?code=stolen-code-of-somebody-else",
    lambda back: back.replace("127.0.0.1:9", "evil.example"),
    lambda back: f"{back}&code=second",
    lambda back: f"{back}&state=second",
    lambda back: f"{back}&iss=https%3A%2F%2Fevil.example",
    lambda back: back.split("&iss=")[0],
    lambda back: back.replace("code=", "error=x&other="),
]


@pytest.mark.parametrize("change", CHANGES)
async def test_a_redirect_that_was_meddled_with_takes_no_code_to_the_token_endpoint(
    change: Callable[[str], str], caplog: pytest.LogCaptureFixture
):
    async with world("modern", caplog) as one:
        one.person.change = change
        await one.refused()
        assert "POST /token" not in one.issuer.seen


@pytest.mark.parametrize("iss", ["wrong", "none"])
async def test_a_redirect_of_another_issuer_takes_no_code_to_the_token_endpoint(
    iss: Any, caplog: pytest.LogCaptureFixture
):
    async with world("modern", caplog, iss=iss) as one:
        await one.refused()
        assert "POST /token" not in one.issuer.seen


async def test_a_code_that_a_thief_was_faster_with_ends_everything(caplog: pytest.LogCaptureFixture):
    """The thief has the code and not the verifier; we come second, and nothing that came of the code stays good."""
    async with world("modern", caplog) as one:

        def steal(back: str) -> str:
            code = parse_qs(urlsplit(back).query)["code"][0]
            client = next(iter(one.issuer.book.clients))
            form = {"grant_type": "authorization_code", "code": code, "code_verifier": "guess", "resource": one.url}
            with pytest.raises(Exception, match="verifier"):
                one.issuer.book.token({**form, "redirect_uri": CALLBACK}, client)
            return back

        one.person.change = steal
        failure = await one.refused()
        assert "invalid_grant" in str(failure)
        assert one.issuer.book.live == []


# --- an attacker who writes the metadata


@pytest.mark.parametrize(
    "metadata",
    [
        {"issuer": "https://evil.example"},
        {"issuer": None},
        {"token_endpoint": "file:///etc/passwd"},
        {"token_endpoint": "ftp://127.0.0.1/token"},
        {"token_endpoint": "http://evil.example/token"},
        {"token_endpoint": "//evil.example/token"},
        {"token_endpoint": None},
        {"authorization_endpoint": "javascript:alert(document.domain)"},
        {"authorization_endpoint": "data:text/html,<script>alert(1)</script>"},
        {"authorization_endpoint": "http://evil.example/authorize"},
        {"authorization_endpoint": "https://ada:password@evil.example/authorize"},
        {"authorization_endpoint": None},
        {"registration_endpoint": "http://evil.example/register"},
        {"revocation_endpoint": "smb://evil.example/share"},
        {"code_challenge_methods_supported": None},
        {"code_challenge_methods_supported": ["plain"]},
        {"code_challenge_methods_supported": "S256"},
        {"response_types_supported": "x" * 2_000_000},
    ],
)
async def test_metadata_that_leads_elsewhere_sends_nobody_there(
    metadata: dict[str, Any], caplog: pytest.LogCaptureFixture
):
    async with world("modern", caplog, metadata=metadata) as one:
        failure = await one.refused()
        assert one.person.visits == [] and "POST /token" not in one.issuer.seen
        assert one.issuer.book.clients.get("client-1") is None, "nobody was registered either"
        assert len(str(failure)) < 600 and "\n" not in str(failure)


async def test_a_token_endpoint_that_sends_us_elsewhere_is_not_followed(caplog: pytest.LogCaptureFixture):
    """A redirect would take code and verifier along."""
    came: list[bytes] = []

    class Away(RequestHandler):
        def post(self) -> None:
            self.redirect(f"http://localhost:{self.settings['port']}/stolen", status=307)

    class Stolen(RequestHandler):
        def post(self) -> None:
            came.append(self.request.body)

    async with (
        listening([("/token", Away), ("/stolen", Stolen)]) as port,
        world("modern", caplog, metadata={"token_endpoint": f"http://127.0.0.1:{port}/token"}) as one,
    ):
        await one.refused()
    assert came == []


@pytest.mark.parametrize(
    "answer",
    [
        b'{"access_token": "a\\r\\nX-Evil: 1", "token_type": "Bearer"}',
        b'{"access_token": "", "token_type": "Bearer"}',
        b'{"access_token": ["a"], "token_type": "Bearer"}',
        b'{"access_token": "fine"}',
        b'{"access_token": "fine", "token_type": "mac"}',
        b"<html>Sign in</html>",
        b"[" * 100_000,
        b'{"access_token": "' + b"x" * 2_000_000 + b'", "token_type": "Bearer"}',
    ],
)
async def test_a_token_endpoint_that_answers_with_something_odd_ends_the_login(
    answer: bytes, caplog: pytest.LogCaptureFixture
):
    class Odd(RequestHandler):
        def post(self) -> None:
            body: Any = self
            body.finish(answer)

    async with (
        listening([("/token", Odd)]) as port,
        world("modern", caplog, metadata={"token_endpoint": f"http://127.0.0.1:{port}/token"}) as one,
    ):
        assert isinstance(await one.refused(), AuthorizationFailed)


async def test_a_token_endpoint_that_repeats_what_it_was_sent_makes_no_secret_known(caplog: pytest.LogCaptureFixture):
    class Echo(RequestHandler):
        def post(self) -> None:
            self.set_status(400)
            said = {"error": "invalid_grant", "error_description": self.request.body.decode()}
            body: Any = self
            body.finish(json.dumps(said))

    async with (
        listening([("/token", Echo)]) as port,
        world("modern", caplog, metadata={"token_endpoint": f"http://127.0.0.1:{port}/token"}) as one,
    ):
        failure = await one.refused()
        assert "invalid_grant" in str(failure)


@asynccontextmanager
async def listening(rules: list[Any]) -> AsyncGenerator[int]:
    """Somebody else's server on this machine; its port."""
    sockets = bind_sockets(0, "127.0.0.1")
    port = sockets[0].getsockname()[1]
    server = HTTPServer(Application(rules, port=port))
    server.add_sockets(sockets)
    try:
        yield port
    finally:
        server.stop()
        await server.close_all_connections()


# --- an attacker at the server


async def test_a_server_that_always_wants_more_does_not_keep_a_person_busy(caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    async with (
        authorization_server(rules=Rules(scopes=("notes:read", "notes:write"))) as issuer,
        protected_server(notes(), issuer, tool_scopes={"add_note": ("notes:admin",)}) as url,
    ):
        one = World(issuer, url, "modern", caplog)
        async with one.connected() as connection:
            with pytest.raises(MCPError):
                await connection.call_tool("add_note", {"text": "x"})
            with pytest.raises(MCPError):
                await connection.call_tool("add_note", {"text": "x"})
            assert len(one.person.visits) <= 4
            assert "Buy milk" in text(await connection.call_tool("read_notes", {})), "what was granted goes on"


async def test_many_calls_at_once_are_one_login(caplog: pytest.LogCaptureFixture):
    async with world("modern", caplog) as one, one.connected() as connection:
        one.issuer.book.end_access_tokens()
        called = [connection.call_tool("read_notes", {}) for _ in range(20)]
        assert all("Buy milk" in text(result) for result in await asyncio.gather(*called))
        assert one.issuer.seen.count("POST /token") == 2
