"""An authorization server is asked over HTTP with care: no redirect, no other address, no huge answer."""

from __future__ import annotations

import base64
import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import pytest
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler

from jupyter_mcp.errors import ConnectionFailed
from jupyter_mcp.server.authorization import fetching
from jupyter_mcp.server.authorization.fetching import Asked, fetch

if TYPE_CHECKING:
    from collections.abc import Generator

pytestmark = pytest.mark.anyio


class Handler(RequestHandler):
    """Answers with what the test wants, and keeps what came."""

    def initialize(self, status: int, body: bytes, headers: dict[str, str], came: list[Any]) -> None:
        self.given = (status, body, headers)
        self.came = came

    def post(self) -> None:
        self.came.append(self.request)
        status, body, headers = self.given
        self.set_status(status)
        for name, value in headers.items():
            self.set_header(name, value)
        cast("Any", self).finish(body)

    get = post


@contextmanager
def answering(body: bytes = b"{}", status: int = 200, **headers: str) -> Generator[tuple[str, list[Any]]]:
    """A server that has one answer; its address, and what came."""
    came: list[Any] = []
    given = {"status": status, "body": body, "headers": headers, "came": came}
    server = HTTPServer(Application([(".*", Handler, given)]))
    sockets = bind_sockets(0, "127.0.0.1")
    server.add_sockets(sockets)
    try:
        yield f"http://127.0.0.1:{sockets[0].getsockname()[1]}/introspect", came
    finally:
        server.stop()


async def test_a_form_is_posted_with_the_credentials_of_who_asks():
    with answering(b'{"active": true}') as (url, came):
        assert await fetch(Asked(url, {"token": "a b&c"}, ("id:1", "s ecret"))) == {"active": True}
    request = came[0]
    assert (request.method, request.body) == ("POST", b"token=a+b%26c")
    assert base64.b64decode(request.headers["Authorization"].split()[1]) == b"id%3A1:s+ecret"


async def test_without_a_form_it_is_a_get():
    with answering(b'{"keys": []}') as (url, came):
        assert await fetch(Asked(url)) == {"keys": []}
    assert came[0].method == "GET" and "Authorization" not in came[0].headers


async def test_a_redirect_is_not_followed():
    with answering(b'{"active": true}') as (other, came), answering(b"", 302, Location=other) as (url, _):
        with pytest.raises(ConnectionFailed, match="status 302"):
            await fetch(Asked(url, {"token": "t"}))
        assert came == []


@pytest.mark.parametrize("body", [b"[]", b"", b"<html>", b"\xff", b"null", b"[" * 100_000])
async def test_what_is_no_json_object_is_no_answer(body: bytes):
    with answering(body) as (url, _), pytest.raises(ConnectionFailed, match="JSON object"):
        await fetch(Asked(url))


async def test_a_huge_answer_is_not_read(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fetching, "LIMIT", 10_000)
    with answering(json.dumps({"keys": "x" * 20_000}).encode()) as (url, _), pytest.raises(ConnectionFailed):
        await fetch(Asked(url))


@pytest.mark.parametrize("url", ["http://login.example/x", "file:///etc/passwd", "https://a@login.example/", "x"])
async def test_only_https_or_this_machine_is_asked(url: str):
    with pytest.raises(ConnectionFailed, match="not an address to ask"):
        await fetch(Asked(url, {"token": "t"}))


async def test_who_cannot_be_reached_is_named():
    with answering() as (url, _):
        pass
    with pytest.raises(ConnectionFailed, match=url):
        await fetch(Asked(url))


def test_a_question_does_not_show_what_is_secret_in_it():
    assert "t0ken" not in repr(Asked("https://login.example", {"token": "t0ken"}, ("id", "s3cret")))
    assert "s3cret" not in repr(Asked("https://login.example", None, ("id", "s3cret")))
