"""The network of a login: how far it goes, what goes along, how much it takes, and how its failures read."""

from __future__ import annotations

import asyncio
import gzip
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.client.auth import driver
from jupyter_mcp.client.auth.addresses import Near, Reach
from jupyter_mcp.client.auth.driver import MOST, Network, nearest, run
from jupyter_mcp.client.auth.steps import Flow, Request, Response
from jupyter_mcp.client.auth.store import MemoryStore
from jupyter_mcp.errors import AuthorizationFailed
from jupyter_mcp.transport.http import HttpOptions
from tests.client.auth.world import World
from tests.fakes import http

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable
    from pathlib import Path

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


async def fine(request: http.Request, reply: http.Reply) -> None:
    await reply.json({"fine": True}, dpop_nonce="n", set_cookie="a=b")


@asynccontextmanager
async def network(
    script: Any = fine, near: Near = Near.HERE, server: str = "", **options: Any
) -> AsyncGenerator[tuple[http.FakeHttp, driver.Send]]:
    """A fake server, and what sends to it; `server` is the MCP server, by default the fake itself."""
    async with http.FakeHttp(script) as fake:
        reach = Reach(server or fake.url, near)
        async with Network(HttpOptions(**options), reach) as send:
            yield fake, send


async def failure(script: Any, **more: Any) -> AuthorizationFailed:
    async with network(script, **more) as (fake, send):
        with pytest.raises(AuthorizationFailed) as caught:
            await send(Request("the step", fake.url + "?code=secret-code"))
    error = caught.value
    assert error.step == "the step" and "secret-code" not in str(error)
    assert str(error).startswith(f"Logging in failed at the step: {error.url} ")
    assert str(error).isprintable() and len(str(error)) < 900
    return error


async def test_an_answer_is_read_whole_with_the_headers_that_matter() -> None:
    async with network() as (fake, send):
        answer = await send(Request("s", fake.url, "POST", {"X-Own": "1"}, b"body"))
        assert (answer.status, answer.body) == (200, b'{"fine": true}')
        assert dict(answer.headers) == {"content-type": "application/json", "dpop-nonce": "n"}
        assert (fake.requests[0].method, fake.requests[0].body, fake.requests[0].header("X-Own")) == (
            "POST",
            b"body",
            "1",
        )


async def test_no_cookie_and_no_connection_is_kept_longer_than_the_login() -> None:
    async with network() as (fake, send):
        await send(Request("s", fake.url))
        await send(Request("s", fake.url + "/other"))
        assert [request.all("Cookie") for request in fake.requests] == [[], []]
        assert [request.target for request in fake.requests] == ["/mcp", "/mcp/other"]
        assert len({request.connection for request in fake.requests}) == 1


async def test_what_is_for_the_mcp_server_goes_to_no_other() -> None:
    options: dict[str, Any] = {"headers": {"X-Api-Key": "key-of-the-server", "authorization": "Bearer old"}}
    async with network(**options) as (fake, send):
        await send(Request("s", fake.url))
        assert fake.requests[0].header("X-Api-Key") == "key-of-the-server"
        assert fake.requests[0].header("Authorization") is None
    async with network(server="http://127.0.0.1:9/mcp", **options) as (fake, send):
        await send(Request("s", fake.url))
        assert "key-of-the-server" not in str(fake.requests[0].headers)


async def test_a_redirect_on_the_same_origin_is_followed_and_one_elsewhere_is_not() -> None:
    async def near(request: http.Request, reply: http.Reply) -> None:
        if request.target == "/mcp":
            await reply.send(302, location="/there")
        else:
            await reply.json({"target": request.target})

    async with network(near) as (fake, send):
        assert (await send(Request("s", fake.url))).body == b'{"target": "/there"}'
    for location in ("http://127.0.0.1:1/steal", "https://evil.example/", "file:///etc/passwd", "//evil.example/x"):
        error = await failure(redirecting(location))
        assert "is not there: “it redirects to" in str(error)


def redirecting(location: str) -> Callable[[http.Request, http.Reply], Any]:
    async def script(request: http.Request, reply: http.Reply) -> None:
        await reply.send(307, location=location)

    return script


async def test_a_redirect_never_takes_a_posted_code_to_another_origin() -> None:
    async with http.FakeHttp(fine) as thief, network(redirecting(thief.url)) as (fake, send):
        with pytest.raises(AuthorizationFailed):
            await send(Request.form("s", fake.url, {"code": "secret-code"}, {}))
        assert thief.requests == []


async def test_a_huge_answer_is_not_read() -> None:
    async def huge(request: http.Request, reply: http.Reply) -> None:
        await reply.send(200, b"x" * (2 * driver.MAX_BODY))

    async def bomb(request: http.Request, reply: http.Reply) -> None:
        await reply.send(200, gzip.compress(b"\0" * (64 * driver.MAX_BODY)), content_encoding="gzip")

    async def endless(request: http.Request, reply: http.Reply) -> None:
        await reply.stream(content_type="application/json")
        while True:
            await reply.piece(b"x" * 65536)

    for script in (huge, bomb, endless):
        assert "answered with more than 1 MiB" in str(await failure(script))


async def test_a_server_that_is_silent_is_waited_for_so_long(monkeypatch: pytest.MonkeyPatch) -> None:
    async def silent(request: http.Request, reply: http.Reply) -> None:
        await reply.gone()

    monkeypatch.setattr(driver, "SECONDS", 0.1)
    assert "did not answer within 0.1 s" in str(await failure(silent))
    monkeypatch.setattr(driver, "ALL_SECONDS", 0.15)
    async with network(silent) as (fake, send):
        for words in ("within 0.1 s", "within 0.0", "within 0 s|within -0"):
            with pytest.raises(AuthorizationFailed, match=words):
                await send(Request("s", fake.url))


async def test_a_server_that_breaks_off_or_is_not_there_is_said() -> None:
    async def drop(request: http.Request, reply: http.Reply) -> None:
        reply.drop()

    assert "closed the connection without an answer" in str(await failure(drop))
    async with Network(HttpOptions(), Reach("http://localhost/", Near.HERE)) as send:
        with pytest.raises(AuthorizationFailed, match=r"cannot be used: “127.0.0.1:1 refuses connections.”"):
            await send(Request("s", "http://127.0.0.1:1/token"))


async def test_a_name_that_stands_for_this_machine_is_not_connected_to_for_a_public_server() -> None:
    """What the check of the URL cannot see: the address that a name stands for."""
    async with http.FakeHttp(fine) as fake:
        port = fake.url.partition("127.0.0.1:")[2]
        url = f"http://localhost:{port}"
        async with Network(HttpOptions(), Reach("https://mcp.example.com/mcp")) as send:
            with pytest.raises(AuthorizationFailed, match="cannot be used"):
                await send(Request("s", url))
            assert (await send(Request("s", url, anywhere=True))).status == 200  # a person named it
        assert len(fake.requests) == 1


async def test_a_server_that_pretended_to_be_near_is_not_asked_when_it_is_far(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that is of this machine when it is looked at, and elsewhere when it is asked: no step is taken."""
    reach = Reach("http://flips.example:1/mcp", Near.HERE)
    loop = asyncio.get_running_loop()

    async def lookup(host: str, *args: Any, **more: Any) -> list[Any]:
        return [(2, 1, 6, "", ("93.184.216.34", 1))]

    monkeypatch.setattr(loop, "getaddrinfo", lookup)
    async with Network(HttpOptions(), reach) as send:
        with pytest.raises(AuthorizationFailed, match=r"flips.example:1 cannot be"):
            await send(Request("s", "http://flips.example:1/prm"))


async def test_how_near_a_server_is_is_found_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    loop = asyncio.get_running_loop()
    names = {"rebinding.example": ["10.0.0.1", "93.184.216.34"], "intranet.example": ["10.0.0.1"]}

    async def lookup(host: str, *args: Any, **more: Any) -> list[Any]:
        if host not in names:
            raise OSError("no such name")
        return [(2, 1, 6, "", (address, 0)) for address in names[host]]

    monkeypatch.setattr(loop, "getaddrinfo", lookup)
    options = HttpOptions()
    assert await nearest("http://127.0.0.1:1/mcp", options) is Near.HERE
    assert await nearest("http://localhost/mcp", options) is Near.HERE
    assert await nearest("https://10.1.1.1/mcp", options) is Near.PRIVATE
    assert await nearest("https://intranet.example/mcp", options) is Near.PRIVATE
    assert await nearest("https://rebinding.example/mcp", options) is Near.PUBLIC  # the farthest counts
    assert await nearest("https://only.a.proxy.knows.example/mcp", options) is Near.PUBLIC
    proxied = HttpOptions(proxy="http://127.0.0.1:3128")
    assert await nearest("https://intranet.example/mcp", proxied) is Near.PUBLIC  # the proxy looks it up
    assert await nearest("http://any/mcp", HttpOptions(socket=str(tmp_path / "s"))) is Near.HERE


# --- running flows ---------------------------------------------------------------------------------------------------


async def test_a_flow_that_asks_without_end_is_ended() -> None:
    def endless() -> Flow[None]:
        while True:
            yield Request("s", "https://a.example/")

    sent: list[Request] = []

    async def send(request: Request) -> Response:
        sent.append(request)
        return Response(200)

    world = World()
    with pytest.raises(AuthorizationFailed, match="too many"):
        await run(endless(), send, world.person, MemoryStore())
    assert len(sent) == MOST


async def test_what_goes_wrong_in_a_step_goes_wrong_in_the_flow_which_may_go_on() -> None:
    def patient() -> Flow[str]:
        try:
            yield Request("s", "https://a.example/")
        except AuthorizationFailed as error:
            return f"went on: {error.message}"
        return "no"

    async def send(request: Request) -> Response:
        raise AuthorizationFailed("away")

    assert await run(patient(), send, World().person, MemoryStore()) == "went on: away"


async def test_a_flow_that_is_cancelled_is_closed() -> None:
    closed: list[bool] = []
    began = asyncio.Event()

    def flow() -> Flow[None]:
        try:
            yield Request("s", "https://a.example/")
        finally:
            closed.append(True)

    async def send(request: Request) -> Response:
        began.set()
        await asyncio.Event().wait()
        raise AssertionError

    task = asyncio.ensure_future(run(flow(), send, World().person, MemoryStore()))
    await began.wait()
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled() and closed == [True]
