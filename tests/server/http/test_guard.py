"""Nobody speaks to an endpoint who may not: Host, Origin, token; and no secret is ever shown."""

from __future__ import annotations

import asyncio
import errno
import hmac
import io
import logging
import os
import pickle
import signal
import subprocess
import sys
import traceback
from contextlib import redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, Any

import pytest
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler, stream_request_body

from jupyter_mcp.errors import ConnectionFailed, UsageError
from jupyter_mcp.server import AsyncContext, Server
from jupyter_mcp.server.http import guard
from jupyter_mcp.server.http.endpoint import Endpoint
from jupyter_mcp.server.http.guard import Names, Token, is_loopback
from jupyter_mcp.server.http.handler import EndpointMixin
from jupyter_mcp.server.http.running import Running
from tests.server.http.conftest import serving
from tests.server.http.raw import Raw

if TYPE_CHECKING:
    from collections.abc import Awaitable

pytestmark = pytest.mark.anyio
METHODS = ("POST", "GET", "DELETE")
SECRET = "a-secret-that-nobody-may-see"


# --- the token


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "authorization",
    [None, "", "Bearer", "Bearer ", "Bearer wrong", f"Basic {SECRET}", SECRET, f"Bearer {SECRET}x", "Bearer \xe9"],
)
async def test_without_the_token_nothing_is_answered(method: str, authorization: str | None):
    async with serving(token=SECRET) as (raw, _, _):
        answer = await raw.http(method, {"Authorization": authorization}, b"{}" if method == "POST" else None)
        assert answer.status == 401
        assert answer.headers["www-authenticate"].startswith("Bearer")
        assert SECRET not in await answer.text()


@pytest.mark.parametrize(
    ("headers", "status", "said"),
    [
        ({"Authorization": "Bearer wrong"}, 401, "This is not the token of this server. It is below the keyboard."),
        (
            {"Authorization": None},
            401,
            "This server wants a token (Authorization: Bearer). It is below the keyboard.",
        ),
        ({"Origin": "http://evil.example"}, 403, "Requests from pages of 'http://evil.example' are not taken"),
        ({"Host": "evil.example"}, 421, "This server does not answer to the name 'evil.example'"),
    ],
)
async def test_who_is_refused_is_told_why_in_the_words_of_json_rpc(
    headers: dict[str, str | None], status: int, said: str
):
    """Many clients show what a JSON-RPC error says; of another body users learn only that there was an error."""
    async with serving(token=SECRET) as (raw, _, _):
        raw.running.endpoint.token_hint = "It is below the keyboard."
        answer = await raw.modern("tools/list", headers=headers)
        assert (answer.status, answer.kind) == (status, "application/json")
        message = await answer.json()
        assert (message["jsonrpc"], message["id"], message["error"]["code"]) == ("2.0", None, -32600)
        assert message["error"]["message"].startswith(said)
        plain = await raw.http("GET", {**headers})
        assert (plain.status, plain.kind) == (status, "text/plain; charset=utf-8")
        assert (await plain.text()).startswith(said)


async def test_the_token_is_taken_whatever_the_case_of_the_scheme():
    async with serving(token=SECRET) as (raw, _, _):
        assert (await raw.modern("tools/list", headers={"Authorization": f"bearer {SECRET}"})).status == 200


async def test_two_authorizations_are_none():
    assert Token.of(SECRET).check([f"Bearer {SECRET}"] * 2) is not None


async def test_a_token_in_the_address_is_no_token():
    async with serving(token=SECRET) as (raw, _, _):
        answer = await raw.http("POST", {"Authorization": None}, b"{}", path=f"{raw.path}?token={SECRET}")
        assert answer.status == 401


def test_tokens_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch):
    compared: list[tuple[Any, Any]] = []

    def compare(left: Any, right: Any) -> bool:
        compared.append((left, right))
        return left == right

    monkeypatch.setattr(guard.hmac, "compare_digest", compare)
    token = Token.of(SECRET)
    for given in ("", "short", SECRET, "x" * 10_000):
        token.check([f"Bearer {given}"])
    assert len(compared) == 4 and all(len(left) == len(right) == 32 for left, right in compared)
    assert hmac is guard.hmac


async def test_the_principal_is_a_digest_and_never_the_token():
    server = Server("who")

    @server.tool
    async def who(ctx: AsyncContext) -> str:
        return ctx.principal

    async with serving(server, token=SECRET) as (raw, _, _):
        modern = (await (await raw.modern("tools/call", {"name": "who"})).json())["result"]["content"][0]["text"]
        await raw.initialize()
        legacy = (await (await raw.request("tools/call", {"name": "who"})).last())["result"]["content"][0]["text"]
        assert modern == legacy and len(modern) == 32 and SECRET not in modern


async def test_the_token_is_in_no_repr_no_log_no_error(caplog: pytest.LogCaptureFixture):
    out = io.StringIO()
    caplog.set_level(logging.DEBUG)
    with redirect_stderr(out), redirect_stdout(out):
        async with serving(token=SECRET) as (raw, _, _):
            endpoint = raw.running.endpoint
            shown = f"{raw.running!r} {endpoint!r} {endpoint.token!r} {vars(endpoint)!r}"
            for body in (b"{", b"\xff", b"[]", b"null"):
                await (await raw.post(body)).text()
            await raw.http("PUT")
            await raw.http("GET", path="/elsewhere")
    assert SECRET not in shown + out.getvalue() + caplog.text
    with pytest.raises(UsageError) as caught:
        Token.of(f"{SECRET} \n")
    assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_a_token_object_holds_no_token():
    assert SECRET.encode() not in pickle.dumps(Token.of(SECRET))


@pytest.mark.parametrize("token", ["", "two words", "t\u00e9l\u00e9", "line\nend"])
async def test_what_cannot_be_a_token_is_refused_before_anything_listens(token: str):
    with pytest.raises(UsageError):
        async with Server("x").serve_http(token=token):
            pass


async def test_a_random_token_is_made_by_default():
    async with Server("x").serve_http() as one, Server("x").serve_http() as two:
        assert one.token and two.token and one.token != two.token and len(one.token) >= 43


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org", ""])
async def test_without_a_token_only_loopback_is_listened_on(host: str):
    with pytest.raises(UsageError, match="loopback"):
        async with Server("x").serve_http(host=host, token=False):
            pass


async def test_without_a_token_host_and_origin_are_still_checked():
    async with serving(token=False) as (raw, _, _):
        assert (await raw.modern("tools/list")).status == 200
        assert (await raw.modern("tools/list", headers={"Host": "evil.example"})).status == 421
        assert (await raw.modern("tools/list", headers={"Origin": "http://evil.example"})).status == 403


@pytest.mark.parametrize("host", ["localhost", "::1", "127.0.0.2"])
async def test_every_loopback_address_can_be_listened_on(host: str):
    try:
        async with Server("x").serve_http(host=host, token=False) as running:
            where = f"[{host}]" if ":" in host else host
            assert running.url == f"http://{where}:{running.port}/mcp"
            _, writer = await asyncio.open_connection(host, running.port)
            writer.close()
            await writer.wait_closed()
    except ConnectionFailed as error:
        pytest.skip(f"this machine has no such address: {error}")


async def test_an_address_that_is_taken_is_one_sentence():
    async with Server("x").serve_http() as running:
        with pytest.raises(ConnectionFailed, match=f"Cannot listen on 127.0.0.1:{running.port}"):
            async with Server("y").serve_http(running.port):
                pass


# --- Host and Origin


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "evil.example:80"}, 421),
        ({"Host": "127.0.0.1.evil.example"}, 421),
        ({"Host": "localhost.evil.example:1"}, 421),
        ({"Host": "192.0.2.7"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost:1"}, 403),
        ({"Origin": "http://127.0.0.1"}, 403),
        ({"Origin": "file://"}, 403),
    ],
)
async def test_a_foreign_host_or_origin_is_refused_before_the_token(
    method: str, headers: dict[str, str | None], status: int
):
    async with serving() as (raw, _, _):
        answer = await raw.http(method, {**headers, "Authorization": None}, b"{}" if method == "POST" else None)
        assert answer.status == status
        assert not any(name.startswith("access-control") for name in answer.headers)


async def test_its_own_names_and_its_own_origin_are_taken():
    async with serving(hosts=("nb.example",), origins=("https://Page.example/",)) as (raw, _, _):
        port = raw.running.port
        for host in (f"localhost:{port}", "LOCALHOST", f"127.0.0.1:{port}", "[::1]:9", "nb.example", "nb.example.:443"):
            assert (await raw.modern("tools/list", headers={"Host": host})).status == 200, host
        for origin in (f"http://127.0.0.1:{port}", "https://page.example"):
            assert (await raw.modern("tools/list", headers={"Origin": origin})).status == 200, origin
        assert (await raw.modern("tools/list", headers={"Origin": "http://page.example"})).status == 403


@pytest.mark.parametrize(
    "host", ["", " ", "localhost@evil.example", "user@localhost", "localhost/x", "[::1", "a:b:c", "localhost:99999999"]
)
def test_a_host_that_is_no_name_is_not_ours(host: str):
    assert Names(("localhost", "[::1]")).check([host], []) is not None


def test_one_host_and_one_origin():
    names = Names(("localhost",))
    assert names.check(["localhost"], []) is None
    for hosts, origins in (([], []), (["localhost"] * 2, []), (["localhost"], ["http://localhost"] * 2)):
        refusal = names.check(hosts, origins)
        assert refusal is not None and refusal.status == 400


def test_what_passed_once_is_not_remembered_without_bound():
    names = Names(("localhost",))
    for port in range(1000):
        assert names.check([f"localhost:{port}"], []) is None
    assert len(names._known) <= 64  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("localhost", True), ("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("[::1]", True)]
    + [(host, False) for host in ("0.0.0.0", "::", "", "10.0.0.1", "localhost.example", "127.0.0.1.example", "nb")],
)
def test_which_addresses_are_this_machine_only(host: str, loopback: bool):
    assert is_loopback(host) == loopback


# --- embedding


class Users(RequestHandler):
    """A handler of an application with users of its own."""

    slow = False

    def prepare(self) -> Awaitable[None] | None:
        if self.slow:
            return self._find_user()
        self._look_up()
        return None

    async def _find_user(self) -> None:
        await asyncio.sleep(0)
        if self.request.headers.get("X-Key") == "to the login page":
            self.redirect("/login")
        self._look_up()

    def _look_up(self) -> None:
        self.current_user = {"key-1": "ann", "key-2": "bob"}.get(self.request.headers.get("X-Key", ""))


@stream_request_body
class Mine(EndpointMixin, Users):
    def authenticate(self) -> str | None:
        return self.current_user


class MineSlowly(Mine):
    slow = True


@pytest.mark.parametrize("handler", [Mine, MineSlowly])
async def test_an_application_that_embeds_it_may_decide_who_speaks(handler: type[Mine]):
    server = Server("who")

    @server.tool
    async def who(ctx: AsyncContext) -> str:
        return ctx.principal

    endpoint = Endpoint(server, token=None, path="/hub/mcp")
    http = HTTPServer(Application([(path, handler, given) for path, _, given in endpoint.rules()]))
    sockets = bind_sockets(0, "127.0.0.1")
    http.add_sockets(sockets)
    async with Raw(Running("", None, sockets[0].getsockname()[1], endpoint)) as raw:
        for key, name in (("key-1", "ann"), ("key-2", "bob")):
            answer = await raw.modern("tools/call", {"name": "who"}, headers={"X-Key": key})
            assert (await answer.json())["result"]["content"][0]["text"] == name
        assert (await raw.modern("tools/list")).status == 401
        raw.base["X-Key"] = "key-1"
        await raw.initialize()
        assert (await raw.request("ping")).status == 200
        assert (await raw.request("ping", headers={"X-Key": "key-2"})).status == 404
        if handler.slow:
            assert (await raw.request("ping", headers={"X-Key": "to the login page"})).status == 302
    http.stop()
    await endpoint.close()
    await http.close_all_connections()


def test_an_application_without_a_word_on_the_token_is_not_made():
    with pytest.raises(TypeError):
        Server("x").application()  # pyright: ignore[reportCallIssue]
    assert isinstance(Server("x").application(token="t"), Application)


async def test_the_announcement_is_made_once_and_its_command_works(capsys: pytest.CaptureFixture[str]):
    from jupyter_mcp.server.http.running import _announce  # pyright: ignore[reportPrivateUsage]

    server = Server("notes")
    async with server.serve_http() as running:
        _announce(server, running, told=True)
        text = capsys.readouterr().err
        assert f"%mcp connect notes {running.url} --bearer {running.token}" in text
    async with server.serve_http(token=SECRET) as running:
        _announce(server, running, told=False)
        text = capsys.readouterr().err
        assert SECRET not in text
        assert f"{running.url} --bearer TOKEN" in text
    async with server.serve_http(token=False) as running:
        _announce(server, running, told=False)
        assert "--bearer" not in capsys.readouterr().err


@pytest.mark.parametrize("name", ["notes", "My shop v1.2", "büro", "—", "a.b", "x" * 80, "-", "a b--"])
def test_the_name_in_the_announcement_is_one_that_a_notebook_takes(name: str):
    from jupyter_mcp.host.specs import NAME_RULE
    from jupyter_mcp.server.http.running import _handle  # pyright: ignore[reportPrivateUsage]

    assert NAME_RULE.match(_handle(name)), _handle(name)
    assert not _handle(name).startswith("-")


async def test_a_port_that_is_taken_is_said_in_one_line():
    async with Server("first").serve_http() as running:
        with pytest.raises(ConnectionFailed) as failed:
            async with Server("second").serve_http(port=running.port):
                pass
    assert str(failed.value) == (
        f"Cannot listen on 127.0.0.1:{running.port}: {os.strerror(errno.EADDRINUSE)}. port=0 takes one that is free."
    )


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGTERM")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_server_program_ends_in_good_order_when_it_is_told_to(how: signal.Signals):
    program = "from jupyter_mcp.server import Server\nServer('x').run_http(0)\nprint('the end')"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None and "listens at" in process.stderr.readline()
        process.send_signal(how)
        out, err = process.communicate(timeout=30)
    assert (out, process.returncode) == ("the end\n", 0)
    assert "Traceback" not in err
