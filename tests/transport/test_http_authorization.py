"""The seam for whoever may act: what goes along with a request, what becomes of a refusal, and whose time it takes."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from jupyter_mcp.client.connection import Connection, ConnectOptions
from jupyter_mcp.errors import AuthorizationFailed, ConnectionLost
from jupyter_mcp.transport.base import Refused
from jupyter_mcp.transport.http import HttpOptions, HttpTransport, streams
from jupyter_mcp.transport.http.authorization import MOST_ANSWERS, Challenge
from jupyter_mcp.transport.http.wire import Wire
from tests.client.peer import FakePeer
from tests.fakes.http import FakeHttp, Reply, Request
from tests.transport.web import legacy, opened, opened_sse

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

pytestmark = pytest.mark.anyio

CHALLENGE = 'Bearer resource_metadata="http://127.0.0.1/prm", scope="a b"'


class Doorman:
    """An `Authorization` that has one token after the other; `answers` says what it does about each refusal."""

    def __init__(self, *answers: bool | Exception | Callable[[], Awaitable[bool]]) -> None:
        self.token = 0
        self.challenges: list[Challenge] = []
        self.asked: list[tuple[str, str]] = []
        self.nonces: list[tuple[str, str]] = []
        self._answers = list(answers)

    async def headers(self, method: str, url: str) -> Mapping[str, str]:
        self.asked.append((method, url))
        return {"Authorization": f"Bearer token-{self.token}"} if self.token else {}

    async def answer(self, challenge: Challenge) -> bool:
        self.challenges.append(challenge)
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        result = answer if isinstance(answer, bool) else await answer()
        self.token += result
        return result

    def learn(self, url: str, dpop_nonce: str) -> None:
        self.nonces.append((url, dpop_nonce))


async def guarded(request: Request, reply: Reply) -> None:
    """A server that wants token 1."""
    if request.header("Authorization") != "Bearer token-1":
        await reply.json({"error": "who?"}, 401, WWW_Authenticate=CHALLENGE, DPoP_Nonce="n-1")
    else:
        await reply.result({})


def using(doorman: Doorman, **headers: str) -> HttpOptions:
    return HttpOptions(headers=headers, authorization=doorman)


async def test_a_refused_request_is_sent_once_more_with_what_was_found_meanwhile() -> None:
    doorman = Doorman(True)
    async with FakeHttp(guarded) as fake, opened(fake.url, using(doorman)) as (transport, web):
        await transport.send(legacy("tools/list", 1))
        assert (await web.answer(1))["result"] == {}
        assert [request.header("Authorization") for request in fake.requests] == [None, "Bearer token-1"]
        assert [request.json["id"] for request in fake.requests] == [1, 1]
    (challenge,) = doorman.challenges
    assert (challenge.status, challenge.method, challenge.url) == (401, "POST", fake.url)
    assert challenge.www_authenticate == [CHALLENGE]
    assert (challenge.dpop_nonce, challenge.sent) == ("n-1", "")


async def test_a_challenge_says_what_was_sent_but_never_shows_it() -> None:
    doorman = Doorman(True, True)
    doorman.token = 7
    async with FakeHttp(guarded) as fake, opened(fake.url, using(doorman)) as (transport, web):
        doorman.token = -1
        await transport.send(legacy("tools/list", 1))
        await web.answer(1)
    assert doorman.challenges[0].sent == "Bearer token--1"
    assert "token" not in repr(doorman.challenges[0])


async def test_an_answer_of_no_leaves_the_refusal_as_it_is() -> None:
    async with FakeHttp(guarded) as fake, opened(fake.url, using(Doorman(False))) as (transport, web):
        await transport.send(legacy("tools/list", 1))
        error = await web.failure(1)
        assert isinstance(error, Refused)
        assert (error.status, error.challenge, error.body) == (401, CHALLENGE, '{"error": "who?"}')
        assert len(fake.requests) == 1


async def test_the_end_of_the_way_is_the_error_of_the_request() -> None:
    failed = AuthorizationFailed("The server's registration failed.", step="registration")
    async with FakeHttp(guarded) as fake, opened(fake.url, using(Doorman(failed))) as (transport, web):
        await transport.send(legacy("tools/list", 1))
        assert await web.failure(1) is failed


async def test_a_server_that_refuses_for_ever_is_not_asked_for_ever() -> None:
    async def never(request: Request, reply: Reply) -> None:
        await reply.send(403)

    doorman = Doorman(*[True] * 50)
    async with FakeHttp(never) as fake, opened(fake.url, using(doorman)) as (transport, web):
        await transport.send(legacy("tools/list", 1))
        error = await web.failure(1)
        assert isinstance(error, Refused)
        assert error.authorized
        assert len(fake.requests) == MOST_ANSWERS + 1


async def test_what_the_authorization_says_goes_before_headers_that_were_given() -> None:
    doorman = Doorman()
    doorman.token = 1
    options = using(doorman, authorization="Basic old", X_Key="kept")
    async with FakeHttp(guarded) as fake, opened(fake.url, options) as (transport, web):
        await transport.send(legacy("tools/list", 1))
        await web.answer(1)
        assert fake.requests[0].all("Authorization") == ["Bearer token-1"]
        assert fake.requests[0].header("X_Key") == "kept"


async def test_headers_are_asked_for_anew_where_a_redirect_leads() -> None:
    async def moved(request: Request, reply: Reply) -> None:
        if request.target == "/mcp":
            await reply.send(307, location="/there")
        else:
            await reply.result({})

    doorman = Doorman()
    async with FakeHttp(moved) as fake, opened(fake.url, using(doorman)) as (transport, web):
        await transport.send(legacy("tools/list", 1))
        await web.answer(1)
        assert doorman.asked == [("POST", fake.url), ("POST", fake.url.replace("/mcp", "/there"))]


async def test_a_nonce_in_any_answer_is_learnt() -> None:
    async def fine(request: Request, reply: Reply) -> None:
        await reply.result({}, DPoP_Nonce="next")

    doorman = Doorman()
    async with FakeHttp(fine) as fake, opened(fake.url, using(doorman)) as (transport, web):
        await transport.send(legacy("tools/list", 1))
        await web.answer(1)
        assert doorman.nonces == [(fake.url, "next")]


async def test_the_older_transport_asks_as_well() -> None:
    async def older(request: Request, reply: Reply) -> None:
        if request.header("Authorization") is None:
            await reply.send(401)
        elif request.method == "GET":
            await reply.stream()
            await reply.piece(b"event: endpoint\ndata: /messages\n\n")
            await reply.gone()
        else:
            await reply.accepted()

    async with FakeHttp(older) as fake, opened_sse(fake.url, using(Doorman(True))) as (transport, _):
        await transport.send(legacy("notifications/initialized"))
        assert [request.method for request in fake.requests] == ["GET", "GET", "POST"]


async def test_saying_goodbye_is_no_reason_to_log_in() -> None:
    async def gone(request: Request, reply: Reply) -> None:
        await reply.send(401)

    doorman = Doorman()
    async with FakeHttp(gone) as fake:
        wire = Wire(fake.url, using(doorman))
        wire.open()
        answer = await wire.send("DELETE", {})
        answer.close()
        await wire.close()
    assert answer.status == 401
    assert doorman.challenges == []


async def test_a_wire_connects_to_no_address_that_it_may_not() -> None:
    wire = Wire("http://localhost:9/x", HttpOptions(), may_connect=lambda address: False)
    wire.open()
    with pytest.raises(ConnectionLost) as caught:
        await wire.send("GET", {})
    await wire.close()
    assert not caught.value.may_have_run


# --- whose time it takes ---------------------------------------------------------------------------------------------


async def mcp(request: Request, reply: Reply) -> None:
    """A legacy server that wants token 1."""
    if request.header("Authorization") != "Bearer token-1":
        await reply.send(401)
    elif request.rpc == "initialize":
        about = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "x", "version": "1"}}
        await reply.result(about)
    elif request.rpc == "server/discover":
        await reply.send(404)
    elif request.method == "POST" and "id" in request.json:
        await reply.result({})
    else:
        await reply.send(405 if request.method == "GET" else 202)


async def test_while_a_person_logs_in_no_clock_runs() -> None:
    """The person takes three times as long as the server may take for its first answer."""
    asked = asyncio.Event()
    patience = ConnectOptions(probe_timeout=0.1, startup_timeout=0.1, timeout=0.1)

    async def takes_long() -> bool:
        asked.set()
        await asyncio.sleep(0.3)
        return True

    async with FakeHttp(mcp) as fake:
        options = using(Doorman(takes_long))
        connection = Connection("slow", lambda: HttpTransport(fake.url, options), patience, FakePeer())
        await connection.open()
        assert asked.is_set()
        assert connection.era == "legacy"
        assert [request.rpc for request in fake.requests[:3]] == ["server/discover", "server/discover", "initialize"]
        await connection.close()


async def test_a_refusal_by_the_person_is_what_connecting_raises_and_nothing_else_is_tried() -> None:
    failed = AuthorizationFailed("The server cannot be used: you declined.", declined=True)
    async with FakeHttp(mcp) as fake:
        options = using(Doorman(failed))
        connection = Connection("mine", lambda: HttpTransport(fake.url, options), ConnectOptions(), FakePeer())
        with pytest.raises(AuthorizationFailed) as caught:
            await connection.open()
        assert len(fake.requests) == 1
    assert caught.value is failed
    assert str(caught.value) == "The server 'mine' cannot be used: you declined."
    assert caught.value.server == "mine"
    assert connection.state == "closed"


async def test_a_message_without_an_answer_waits_for_the_person_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "POST_LIMIT", 0.1)

    async def takes_long() -> bool:
        await asyncio.sleep(0.3)
        return True

    async def notified(request: Request, reply: Reply) -> None:
        await reply.send(202 if request.header("Authorization") else 401)

    async with FakeHttp(notified) as fake, opened(fake.url, using(Doorman(takes_long))) as (transport, web):
        await transport.send(legacy("notifications/x"))
        assert [request.header("Authorization") for request in fake.requests] == [None, "Bearer token-1"]
        assert web.noise == []
