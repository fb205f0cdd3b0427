"""A browser of this machine comes back to a listener that answers one address, and nobody else."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from jupyter_mcp.host.auth.loopback import Loopback

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

pytestmark = pytest.mark.anyio


class There:
    """A listener, what it was brought, and whether that is taken."""

    def __init__(self) -> None:
        self.brought: list[str] = []
        self.listener = Loopback(self.take)

    def take(self, query: str) -> bool:
        self.brought.append(query)
        return "state=right" in query

    async def ask(self, target: str = "/callback?code=abc&state=right", method: str = "GET", host: str = "") -> str:
        parts = urlsplit(self.listener.uri)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        writer.write(f"{method} {target} HTTP/1.1\r\nHost: {host or parts.netloc}\r\n\r\n".encode())
        answer = (await asyncio.wait_for(reader.read(), 5)).decode()
        writer.close()
        return answer


@pytest.fixture
async def there() -> AsyncGenerator[There]:
    found = There()
    await found.listener.open()
    yield found
    await found.listener.close()


async def test_a_browser_that_comes_back_is_told_to_go_to_the_notebook(there: There) -> None:
    answer = await there.ask()
    assert answer.startswith("HTTP/1.1 200 ")
    assert "go back to the notebook" in answer
    assert "abc" not in answer, "nothing of what it brought is shown"
    assert there.brought == ["code=abc&state=right"]


async def test_its_page_loads_nothing_and_is_kept_nowhere(there: There) -> None:
    head = (await there.ask()).partition("\r\n\r\n")[0]
    for line in (
        "Cache-Control: no-store",
        "Referrer-Policy: no-referrer",
        "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    ):
        assert line in head


async def test_it_listens_on_this_machine_only(there: There) -> None:
    assert urlsplit(there.listener.uri).hostname == "127.0.0.1"
    assert there.listener.uri.endswith("/callback")


@pytest.mark.parametrize(
    ("target", "method", "host", "status"),
    [
        ("/callback?code=abc&state=wrong", "GET", "", 400),
        ("/other?code=abc&state=right", "GET", "", 404),
        ("/callback?code=abc&state=right", "POST", "", 405),
        ("/callback?code=abc&state=right", "GET", "evil.example", 421),
        ("/callback?code=abc&state=right", "GET", "127.0.0.1", 421),
    ],
)
async def test_whatever_else_is_asked_changes_nothing(
    there: There, target: str, method: str, host: str, status: int
) -> None:
    assert (await there.ask(target, method, host)).startswith(f"HTTP/1.1 {status} ")
    assert (await there.ask()).startswith("HTTP/1.1 200 ")


async def test_what_is_no_request_ends_its_connection_only(there: There) -> None:
    parts = urlsplit(there.listener.uri)
    for junk in (b"\x00\xff" * 10, b"GET\r\n\r\n", b"x" * 40_000, b""):
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        writer.write(junk)
        writer.write_eof()
        assert b"HTTP/1.1 200" not in await asyncio.wait_for(reader.read(), 5)
        writer.close()
    assert (await there.ask()).startswith("HTTP/1.1 200 ")


async def test_nobody_listens_after_the_end(there: There) -> None:
    parts = urlsplit(there.listener.uri)
    await there.listener.close()
    await there.listener.close()
    with pytest.raises(OSError):
        await asyncio.open_connection(parts.hostname, parts.port)
