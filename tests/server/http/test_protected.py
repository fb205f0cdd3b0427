"""A protected endpoint, over real HTTP and in both eras: nobody in without a token for it, and everybody told where to
get one."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import ConnectionFailed, UsageError
from jupyter_mcp.server import Context, Server
from jupyter_mcp.server.authorization import Access
from jupyter_mcp.server.http.running import announcement
from tests.server.http.conftest import serving, until

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from tests.server.http.raw import Raw

pytestmark = pytest.mark.anyio
ISSUER = "https://login.example"
PATH = "/.well-known/oauth-protected-resource/mcp"
ADA, BOB, FULL, OTHER = "ada-s-token", "bob-s-token", "ada-s-other-token", "for-somebody-else"


class Desk:
    """A verifier that knows a few tokens, for whatever resource it is told.

    Attributes:
        gate: while it is given and not set, every answer waits.
        away: the issuer cannot be asked.
        seconds: for which tokens are still good; None: nothing is said of it.
        asked: the tokens it was asked about.
    """

    issuers: Sequence[str] = (ISSUER,)

    def __init__(self) -> None:
        self.resource = ""
        self.gate: asyncio.Event | None = None
        self.away = False
        self.asked: list[str] = []
        self.seconds: float | None = None

    async def verify(self, token: str) -> Access | None:
        self.asked.append(token)
        if self.gate is not None:
            await self.gate.wait()
        if self.away:
            raise ConnectionFailed("The issuer is away.")
        who = {ADA: ("ada", "read"), FULL: ("ada", "read write"), BOB: ("bob", "read"), OTHER: ("ada", "read")}
        if token not in who:
            return None
        subject, scopes = who[token]
        audience = "https://other.example/mcp" if token == OTHER else self.resource
        ends = None if self.seconds is None else time.time() + self.seconds
        return Access(subject, "client", ISSUER, (audience,), frozenset(scopes.split()), ends)


@asynccontextmanager
async def protected(**options: Any) -> AsyncGenerator[tuple[Raw, Desk]]:
    """The sample server; reading needs `read`, and `add` needs `write` besides."""
    desk = Desk()
    given: dict[str, Any] = {"verifier": desk, "scopes": ["read"], "tool_scopes": {"add": ["write"]}, **options}
    async with serving(**given) as (raw, _, _):
        desk.resource = raw.running.endpoint.protection.resource if raw.running.endpoint.protection else ""
        yield raw, desk


def bearer(token: str | None) -> dict[str, str | None]:
    return {"Authorization": f"Bearer {token}" if token is not None else None}


def let_in(raw: Raw, token: str) -> Raw:
    raw.base["Authorization"] = f"Bearer {token}"
    return raw


# --- the way in


@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
@pytest.mark.parametrize("token", [None, "invented", OTHER])
async def test_without_a_token_for_it_nobody_speaks_to_it(method: str, token: str | None):
    async with protected() as (raw, _):
        answer = await raw.http(method, bearer(token), b"{}" if method == "POST" else None)
        assert answer.status == 401
        where = f'resource_metadata="http://127.0.0.1:{raw.running.port}{PATH}"'
        assert where in answer.headers["www-authenticate"] and 'scope="read"' in answer.headers["www-authenticate"]
        assert ("invalid_token" in answer.headers["www-authenticate"]) is (token is not None)
        assert str(token) not in await answer.text()


async def test_the_place_that_a_challenge_names_says_who_issues_tokens():
    async with protected(name="Notes") as (raw, _):
        for path in (PATH, PATH.removesuffix("/mcp"), PATH + "/"):
            answer = await raw.http("GET", bearer(None), path=path)
            assert (answer.status, answer.kind, answer.headers["access-control-allow-origin"]) == (
                *(200, "application/json"),
                "*",
            )
            said = await answer.json()
            assert said["resource"] == raw.running.url and said["authorization_servers"] == [ISSUER]
            assert said["scopes_supported"] == ["read", "write"] and said["resource_name"] == "Notes"


async def test_pages_may_read_the_metadata_and_only_that():
    async with protected() as (raw, _):
        page: dict[str, str | None] = {"Origin": "https://inspector.example", "Authorization": None}
        assert (await raw.http("GET", page, path=PATH)).status == 200
        asked = await raw.http("OPTIONS", {**page, "Access-Control-Request-Method": "GET"}, path=PATH)
        assert (asked.status, asked.headers["access-control-allow-origin"]) == (204, "*")
        assert (await raw.http("POST", {**page, **bearer(ADA)}, b"{}")).status == 403
        assert (await raw.http("POST", bearer(None), b"{}", path=PATH)).status == 405


async def test_the_metadata_is_not_told_under_a_foreign_name():
    async with protected() as (raw, _):
        answer = await raw.http("GET", {"Host": "evil.example"}, path=PATH)
        assert answer.status == 421


async def test_who_is_not_protected_has_no_such_metadata():
    async with serving() as (raw, _, _):
        assert (await raw.http("GET", path=PATH)).status == 404


# --- both eras


async def test_the_modern_era_works_with_a_token():
    async with protected() as (raw, _):
        answer = await let_in(raw, ADA).modern("tools/list")
        assert answer.status == 200 and "result" in await answer.last()


async def test_the_legacy_era_works_with_a_token():
    async with protected() as (raw, _):
        await let_in(raw, ADA).initialize()
        assert "result" in await (await raw.request("tools/list")).last()


@pytest.mark.parametrize("era", ["modern", "legacy"])
async def test_a_tool_that_needs_more_sends_the_client_for_more_and_takes_it_then(era: str):
    async with protected() as (raw, _):
        let_in(raw, ADA)
        if era == "legacy":
            await raw.initialize()
        send = raw.modern if era == "modern" else raw.request
        call: dict[str, Any] = {"name": "add", "arguments": {"a": 1}}
        refused = await send("tools/call", call)
        assert refused.status == 403
        challenge = refused.headers["www-authenticate"]
        assert 'error="insufficient_scope"' in challenge and 'scope="read write"' in challenge
        assert "This needs more than the access token allows: write." in (await refused.json())["error"]["message"]
        let_in(raw, FULL)
        answer = await (await send("tools/call", call)).last()
        assert answer["result"]["content"][0]["text"] == "2", "the session is ada's, whichever token she brings"


async def test_a_batch_does_not_carry_a_call_past_the_check():
    async with protected() as (raw, _):
        await let_in(raw, ADA).initialize("2025-03-26")
        ping = {"jsonrpc": "2.0", "id": 8, "method": "ping"}
        call = {"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": "add", "arguments": {"a": 1}}}
        assert (await raw.post([ping, call])).status == 403
        assert (await raw.post([ping])).status == 200


async def test_a_session_is_its_owners():
    async with protected() as (raw, _):
        await let_in(raw, ADA).initialize()
        let_in(raw, BOB)
        assert (await raw.request("tools/list")).status == 404
        assert (await raw.get()).status == 404
        assert (await raw.http("DELETE", raw.of_session())).status == 404
        let_in(raw, ADA)
        assert (await raw.request("tools/list")).status == 200


async def test_the_older_transport_is_protected_too():
    async with protected(sse=True) as (raw, _):
        assert (await raw.http("GET", {"Accept": "text/event-stream"}, path="/sse")).status == 401
        let_in(raw, ADA)
        stream = await raw.http("GET", {"Accept": "text/event-stream"}, path="/sse")
        assert stream.status == 200
        event = await stream.event()
        assert event is not None
        call = {"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": "add", "arguments": {"a": 1}}}
        assert (await raw.post(call, path=event.data.decode())).status == 403
        let_in(raw, FULL)
        assert (await raw.post(call, path=event.data.decode())).status == 202


@pytest.mark.parametrize("era", ["modern", "legacy"])
async def test_a_handler_may_ask_whose_token_it_is(era: str):
    server = Server("whose")

    @server.tool
    def whose(ctx: Context) -> str:
        return f"{ctx.access.subject} {sorted(ctx.access.scopes)}" if ctx.access is not None else "nobody's"

    async with protected(server=server, token="own-token") as (raw, _):
        own = raw.base["Authorization"]
        kept = await raw.connect()
        seen: list[str] = []
        for authorization in (f"Bearer {ADA}", own, f"Bearer {FULL}", f"Bearer {BOB}", own):
            raw.base["Authorization"] = authorization
            if era == "legacy":
                raw.session = None
                await raw.initialize()
            send = raw.modern if era == "modern" else raw.request
            answer = await (await send("tools/call", {"name": "whose", "arguments": {}}, on=kept)).last()
            seen.append(answer["result"]["content"][0]["text"])
    assert seen == ["ada ['read']", "nobody's", "ada ['read', 'write']", "bob ['read']", "nobody's"]


@pytest.mark.parametrize("way", ["listen", "GET", "sse"])
async def test_what_tells_of_changes_ends_with_the_token_it_was_opened_with(way: str):
    async with protected(sse=True, keep_alive=0.05) as (raw, desk):
        let_in(raw, ADA)
        if way == "GET":
            await raw.initialize()
        desk.seconds = 0.2
        if way == "listen":
            stream = await raw.modern("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
        elif way == "GET":
            stream = await raw.get()
        else:
            stream = await raw.http("GET", {"Accept": "text/event-stream"}, path="/sse")
        assert stream.status == 200
        assert await stream.connection.is_closed()
        assert await until(lambda: raw.running.endpoint.running == 0) is None


# --- what goes wrong


async def test_an_issuer_that_is_away_is_a_reason_to_come_again():
    async with protected() as (raw, desk):
        desk.away = True
        answer = await let_in(raw, ADA).modern("tools/list")
        assert (answer.status, answer.headers["retry-after"]) == (503, "1")
        assert "www-authenticate" not in answer.headers, "the token is not to be thrown away"


async def test_a_verifier_that_breaks_lets_nobody_in(capfd: pytest.CaptureFixture[str]):
    async with protected() as (raw, desk):

        async def broken(token: str) -> Access | None:
            raise KeyError("a bug")

        desk.verify = broken
        assert (await let_in(raw, ADA).modern("tools/list")).status == 500
    assert "KeyError" in capfd.readouterr().err


async def test_a_client_that_does_not_wait_for_the_verifier_leaves_nothing_behind():
    async with protected() as (raw, desk):
        desk.gate = asyncio.Event()
        connection = await raw.connect()
        await connection.send("POST", "/mcp", {**raw.base, "Authorization": f"Bearer {ADA}"}, b"{}")
        await until(lambda: bool(desk.asked))
        connection.abort()
        desk.gate.set()
        assert (await let_in(raw, ADA).modern("tools/list")).status == 200
        await until(lambda: raw.running.endpoint.running == 0)


async def test_a_large_body_waits_until_its_sender_is_known():
    async with protected(max_body=1000) as (raw, desk):
        desk.gate = asyncio.Event()
        sending = asyncio.ensure_future(raw.http("POST", bearer("invented"), b"x" * 3000))
        await until(lambda: bool(desk.asked))
        desk.gate.set()
        assert (await sending).status == 401
        assert (await let_in(raw, ADA).http("POST", {"Content-Type": "application/json"}, b"x" * 3000)).status == 413


@pytest.mark.parametrize("where", ["?access_token=", "?token="])
async def test_a_token_in_an_address_is_not_looked_at(where: str):
    async with protected() as (raw, desk):
        assert (await raw.http("POST", bearer(None), b"{}", path=f"/mcp{where}{ADA}")).status == 401
        assert desk.asked == []


async def test_what_refused_requests_are_told_of_is_heard_by_the_server():
    heard: list[int] = []
    async with protected() as (raw, _):
        raw.running.endpoint.on_refused = lambda refusal: heard.append(refusal.status)
        await raw.modern("tools/list", headers=bearer(None))
        await let_in(raw, ADA).modern("tools/call", {"name": "add", "arguments": {"a": 1}})
    assert heard == [401, 403]


# --- its own token beside it


async def test_a_server_may_have_a_token_of_its_own_besides():
    """For those on the same machine, who need no provider: the bridge to a notebook."""
    async with protected(token="own-token") as (raw, desk):
        assert raw.running.token == "own-token"
        call: dict[str, Any] = {"name": "add", "arguments": {"a": 1}}
        assert (await raw.modern("tools/call", call)).status == 200, "it allows everything"
        assert desk.asked == []
        assert (await let_in(raw, ADA).modern("tools/list")).status == 200


async def test_with_a_verifier_no_token_is_made():
    async with protected() as (raw, _):
        assert raw.running.token is None and raw.running.headers == {}
        assert "Authorization" not in raw.base


# --- how it is made


async def test_behind_a_proxy_the_resource_is_the_proxys_address():
    async with protected(resource="https://notes.example/a/mcp") as (raw, _):
        answer = await raw.http("POST", {**bearer(None), "Host": "notes.example"}, b"{}")
        where = "https://notes.example/.well-known/oauth-protected-resource/a/mcp"
        assert f'resource_metadata="{where}"' in answer.headers["www-authenticate"]
        for path in ("/a/mcp", "/mcp", ""):
            said = await raw.http("GET", path=f"/.well-known/oauth-protected-resource{path}")
            assert (await said.json())["resource"] == "https://notes.example/a/mcp"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"host": "0.0.0.0"}, "needs resource"),
        ({"host": "0.0.0.0", "resource": "http://notes.example/mcp"}, "not https"),
        ({"resource": "notes"}, "no http"),
        ({"token": ""}, "protects nothing"),
    ],
)
async def test_what_would_leave_clients_lost_or_tokens_in_the_clear_is_refused(options: dict[str, Any], said: str):
    with pytest.raises(UsageError, match=said):
        async with protected(**options):
            pass


@pytest.mark.parametrize(
    "options", [{"resource": "https://notes.example/mcp"}, {"scopes": ["a"]}, {"audiences": ["a"]}]
)
async def test_what_only_a_verifier_uses_is_not_left_unused_in_silence(options: dict[str, Any]):
    with pytest.raises(UsageError, match="with a verifier"):
        async with Server("notes").serve_http(**options):
            pass


def test_the_person_who_starts_it_reads_that_it_wants_tokens():
    assert "--bearer" not in announcement("notes", "https://notes.example/mcp", None, told=False)
