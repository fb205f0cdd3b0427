"""What we send to a server to say who we are is shown nowhere, although the server says it back wherever it can."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.client import opening
from jupyter_mcp.errors import ConnectionFailed, MCPError, RequestError
from jupyter_mcp.host.host import Host
from jupyter_mcp.host.redaction import MASK, Redactor
from jupyter_mcp.host.specs import ServerSpec
from tests.fakes.http import FakeHttp, Reply, Request

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

pytestmark = pytest.mark.anyio
SECRET = "Zq9-what-nobody-may-see-77aa"
HEADERS = {"Authorization": f"Bearer {SECRET}"}
WAYS: list[tuple[str, dict[str, Any]]] = [
    ("", {"bearer": SECRET}),
    ("", {"bearer": "${SECRET}"}),
    ("", {"headers": {"X-Api-Key": SECRET}}),
    ("", {"headers": {"X-Odd": "${SECRET}"}}),
    (f"?token={SECRET}", {}),
]


@pytest.fixture(autouse=True)
def _nothing_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "_remembered", {})


async def refused(request: Request, reply: Reply) -> None:
    await reply.send(401, f"bad token {SECRET}".encode(), www_authenticate=f'Bearer error_description="{SECRET}"')


async def broken(request: Request, reply: Reply) -> None:
    await reply.send(500, f"<pre>{SECRET}</pre>".encode(), content_type="text/html")


async def reason(request: Request, reply: Reply) -> None:
    await reply.raw(f"HTTP/1.1 503 {SECRET}\r\nContent-Length: 0\r\n\r\n".encode())


async def elsewhere(request: Request, reply: Reply) -> None:
    await reply.send(307, location=f"http://elsewhere.example/{SECRET}")


async def rpc(request: Request, reply: Reply) -> None:
    error = {"code": -32000, "message": f"no {SECRET}", "data": {"sent": [SECRET]}}
    await reply.json({"jsonrpc": "2.0", "id": request.json and request.json["id"], "error": error}, 400)


async def echoing(request: Request, reply: Reply) -> None:
    """A server that works, and says the secret back in all it says about itself."""
    method = request.rpc
    if method == "initialize":
        info = {"name": f"srv {SECRET}", "version": SECRET}
        result: dict[str, Any] = {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": info,
            "instructions": f"use {SECRET}",
        }
        await reply.result(result, mcp_session_id=SECRET)
    elif method == "tools/list":
        await reply.result({"tools": [{"name": "fail", "inputSchema": {"type": "object"}}]})
    elif method == "tools/call":
        error = {"code": -32000, "message": f"failed {SECRET}", "data": {SECRET: [SECRET]}}
        await reply.json({"jsonrpc": "2.0", "id": request.json["id"], "error": error})
    elif method.startswith("notifications/"):
        await reply.accepted()
    else:
        await reply.send(405)


def told(host: Host, error: BaseException | None) -> str:
    """All that a person can see of it."""
    said = [repr(entry) + repr(entry.spec) + repr(dict(entry.info)) for entry in host.servers.values()]
    said += [str(line) for entry in host.servers.values() for line in entry.log]
    said += [str(entry.trouble) for entry in host.servers.values()]
    said += [str(entry) for entry in (*host.journal.acts(), *host.journal.entries())]
    if error is not None:
        said += [str(error), repr(error), repr(vars(error)), *traceback.format_exception(error)]
    return "\n".join(said)


@pytest.mark.parametrize(("query", "options"), WAYS)
@pytest.mark.parametrize("script", [refused, broken, reason, elsewhere, rpc])
async def test_a_refused_connection_shows_no_secret(
    script: Callable[[Request, Reply], Awaitable[None]], query: str, options: dict[str, Any]
):
    host = Host(environ={"SECRET": SECRET})
    async with FakeHttp(script) as fake:
        with pytest.raises(ConnectionFailed) as caught:
            await host.connect(ServerSpec.parse("it", fake.url + query, **options))
        assert MASK in repr(caught.value) and MASK not in (caught.value.hint or "")
        assert SECRET not in told(host, caught.value)
        await host.aclose()


@pytest.mark.parametrize(("query", "options"), WAYS)
async def test_a_call_that_fails_shows_no_secret(query: str, options: dict[str, Any]):
    host = Host(environ={"SECRET": SECRET})
    async with FakeHttp(echoing) as fake:
        entry = await host.connect(ServerSpec.parse("it", fake.url + query, **options))
        assert (entry.info["name"], entry.instructions) == (f"srv {MASK}", f"use {MASK}")
        with pytest.raises(RequestError) as caught:
            await host.call_tool("it", "fail", {})
        assert caught.value.message == f"failed {MASK}"
        assert SECRET not in told(host, caught.value)
        await host.aclose()


def _fails() -> None:
    try:
        try:
            raise OSError(SECRET)
        except OSError as error:
            raise RequestError(SECRET, code=1, data={"a": [SECRET]}) from error
    except RequestError as error:
        raise ConnectionFailed("it", hint=SECRET, stderr=[SECRET], body=SECRET) from error


def test_an_error_is_masked_with_all_that_it_came_from():
    redactor = Redactor()
    redactor.learn([SECRET])
    with pytest.raises(ConnectionFailed) as caught:
        _fails()
    error = caught.value
    redactor.error(error)
    assert SECRET not in "".join(traceback.format_exception(error)) + repr(error) + repr(vars(error))
    assert error.stderr == [MASK] and isinstance(error.__cause__, RequestError)


def test_errors_that_lead_back_to_themselves_are_masked_too():
    redactor = Redactor()
    redactor.learn([SECRET])
    one, two = MCPError(SECRET), MCPError(SECRET)
    one.__cause__, two.__cause__ = two, one
    redactor.error(one)
    assert str(one) == str(two) == MASK


def test_only_what_was_learnt_is_masked_in_the_errors_of_calls():
    redactor = Redactor()
    redactor.learn([SECRET])
    assert redactor.known(f"{SECRET} sk-0123456789abcdef0123456789") == f"{MASK} sk-0123456789abcdef0123456789"


async def test_what_one_token_was_told_is_not_shown_to_the_next():
    """The same server, named alike, with another token: nothing kept for the first is used."""

    async def private(request: Request, reply: Reply) -> None:
        who = (request.header("Authorization") or "").removeprefix("Bearer ")
        method = request.rpc
        common = {"resultType": "complete", "ttlMs": 3_600_000, "cacheScope": "private"}
        if method == "server/discover":
            info = {"name": "it", "version": "1"}
            await reply.result(
                {"supportedVersions": ["2026-07-28"], "capabilities": {"resources": {}}, "serverInfo": info, **common}
            )
        elif method == "resources/list":
            await reply.result({"resources": [{"uri": "x://me", "name": who}], **common})
        elif method == "resources/read":
            await reply.result({"contents": [{"uri": "x://me", "text": who}], **common})
        else:
            await reply.send(405)

    environ = {"TOKEN": "first-token"}
    host = Host(environ=environ)
    async with FakeHttp(private) as fake:

        async def shown() -> tuple[str, str]:
            connection = host.servers["it"].connection
            assert connection is not None
            (item,) = (await connection.list("resources")).items
            return item["name"], (await host.read("it", "x://me")).text

        spec = ServerSpec.parse("it", fake.url, bearer="${TOKEN}")
        await host.connect(spec)
        assert await shown() == ("first-token", "first-token")
        before = len(fake.requests)
        assert await shown() == ("first-token", "first-token") and len(fake.requests) == before
        environ["TOKEN"] = "second-token"
        await host.reconnect("it")
        assert await shown() == ("second-token", "second-token")
        await host.connect(ServerSpec.parse("it", fake.url, bearer="third-token"))
        assert await shown() == ("third-token", "third-token")
        await host.aclose()
