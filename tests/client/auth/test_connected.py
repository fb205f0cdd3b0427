"""A connection to a protected server, over real HTTP: it logs in, asks for more, and leaves no secret anywhere."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.client.auth.oauth import OAuth
from jupyter_mcp.client.auth.store import MemoryStore
from jupyter_mcp.client.auth.visit import Prepare, Redirect, VisitRequest
from jupyter_mcp.client.connection import Connection, ConnectOptions
from jupyter_mcp.errors import AuthorizationFailed
from jupyter_mcp.testing.authorization import Browser, authorization_server, notes, protected_server
from jupyter_mcp.transport.http import HttpOptions, HttpTransport
from tests.client.peer import FakePeer

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

pytestmark = pytest.mark.anyio


class Visitor:
    """Implements `Visit` with a scripted browser."""

    def __init__(self, press: str = "approve") -> None:
        self.browser = Browser(press=press)
        self.scopes: list[tuple[str, ...]] = []

    async def prepare(self, context: Prepare) -> Redirect:
        return Redirect("http://127.0.0.1:9/callback")

    async def visit(self, request: VisitRequest) -> str:
        self.scopes.append(request.scopes)
        return await self.browser.visit(request.authorize_url)


class Protected:
    """Both servers, and a connection that is not open yet."""

    def __init__(self, url: str, issuer: Any, era: Any, press: str) -> None:
        self.issuer = issuer
        self.visitor = Visitor(press)
        self.trace: list[Any] = []
        self.peer = FakePeer()
        self.oauth = OAuth(
            url, visit=self.visitor, store=MemoryStore(), name="notes", trace=self.trace.append, options=HttpOptions()
        )
        options = HttpOptions(authorization=self.oauth)
        patience = ConnectOptions(era=era, timeout=20.0)
        self.connection = Connection("notes", lambda: HttpTransport(url, options), patience, self.peer)


@asynccontextmanager
async def protected(era: Any = "auto", press: str = "approve") -> AsyncGenerator[Protected]:
    async with (
        authorization_server() as issuer,
        protected_server(notes(), issuer, tool_scopes={"add_note": ["notes:write"]}) as url,
    ):
        both = Protected(url, issuer, era, press)
        try:
            yield both
        finally:
            await both.connection.close()


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_server_that_asks_who_we_are_is_logged_in_to_while_it_is_connected(era: str) -> None:
    async with protected(era) as both:
        await both.connection.open()
        assert both.connection.era == era
        assert {tool["name"] for tool in (await both.connection.list("tools")).items} == {"read_notes", "add_note"}
        assert len(both.visitor.scopes) == 1


async def test_a_tool_that_needs_more_asks_once_more_and_is_called() -> None:
    async with protected() as both:
        await both.connection.open()
        await both.connection.call_tool("add_note", {"text": "hello"})
        assert both.visitor.scopes[1] == tuple(dict.fromkeys((*both.visitor.scopes[0], "notes:write")))
        await both.connection.call_tool("add_note", {"text": "again"})
        assert len(both.visitor.scopes) == 2


async def test_a_token_that_ends_in_the_middle_is_renewed_without_a_person() -> None:
    async with protected() as both:
        await both.connection.open()
        both.issuer.book.end_access_tokens()
        await both.connection.call_tool("read_notes", {})
        assert len(both.visitor.scopes) == 1


async def test_a_grant_that_ends_leads_back_to_the_person() -> None:
    async with protected() as both:
        await both.connection.open()
        both.issuer.book.end_grants()
        await both.connection.call_tool("read_notes", {})
        assert len(both.visitor.scopes) == 2


async def test_a_person_who_declines_ends_connecting_with_one_sentence() -> None:
    async with protected(press="decline") as both:
        with pytest.raises(AuthorizationFailed) as caught:
            await both.connection.open()
        assert caught.value.declined and caught.value.server == "notes"
        assert "access was denied" in str(caught.value)
        assert both.oauth.stored is None
        assert both.connection.state == "closed"


async def test_of_all_secrets_none_is_in_a_log_a_trace_or_a_repr(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with protected() as both:
        await both.connection.open()
        await both.connection.call_tool("add_note", {"text": "hello"})
        both.issuer.book.end_grants()
        await both.connection.call_tool("read_notes", {})
        shown = [repr(both.oauth), repr(both.oauth.stored), repr(both.trace), repr(both.peer.traffic)]
        shown += [repr(both.peer.wired), repr(both.peer.notes), repr(vars(both.connection))]
        secrets = [str(secret) for secret in both.issuer.book.issued]
    everything = "\n".join([*shown, caplog.text])
    assert len(secrets) > 5
    assert [secret for secret in secrets if secret in everything] == []


PROGRAM = """
import json, sys
import jupyter_mcp.client.auth.oauth
print(json.dumps(list(sys.modules)))
"""


def test_knowing_how_to_log_in_loads_neither_http_nor_signing() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stdout))
    assert not {"aiohttp", "yarl", "joserfc", "cryptography"} & loaded
    assert not {f"jupyter_mcp.client.auth.{name}" for name in ("dpop", "signing", "enterprise", "workload")} & loaded


def test_without_the_extra_signing_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    from jupyter_mcp.client.auth import signing

    monkeypatch.setitem(sys.modules, "joserfc", None)
    monkeypatch.setitem(sys.modules, "joserfc.jwk", None)
    with pytest.raises(AuthorizationFailed) as caught:
        signing.new_key()
    assert 'pip install "jupyter-mcp-host[auth]"' in str(caught.value)
