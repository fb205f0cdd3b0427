"""`protected_server`: an MCP server that wants tokens of an authorization server; `InThread`: both, out of the way."""

from __future__ import annotations

import asyncio
import threading
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import ConnectionFailed
from jupyter_mcp.server import Server
from jupyter_mcp.testing.authorization.issuer import AuthorizationServer, authorization_server

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

    from jupyter_mcp.testing.authorization.records import Rules

READ, WRITE = "notes:read", "notes:write"
LIMIT = 20.0  # seconds for a start or an end


@asynccontextmanager
async def protected_server(
    server: Server,
    issuer: AuthorizationServer,
    *,
    scopes: Sequence[str] = (READ,),
    tool_scopes: Mapping[str, Sequence[str]] | None = None,
    kept: float = 0.0,
    **options: Any,
) -> AsyncGenerator[str]:
    """Serve on 127.0.0.1, for whoever has a token of the issuer; gives the URL.

    Args:
        server: what is served.
        issuer: whose tokens are taken. It issues tokens for the URL from now on.
        scopes: what a token must allow for anything at all.
        tool_scopes: what it must allow besides, to call tools, by their name: asking for that is what makes a client
            step up.
        kept: seconds for which the issuer's word about a token is kept.
        options: see `Server.serve_http`.
    """
    verifier = issuer.verifier(kept=kept)
    async with server.serve_http(verifier=verifier, scopes=scopes, tool_scopes=tool_scopes, **options) as running:
        issuer.book.resources.append(running.url)
        try:
            yield running.url
        finally:
            issuer.book.resources.remove(running.url)


def notes() -> Server:
    """A server of notes to protect: `read_notes` for `notes:read`, `add_note` for `notes:write` besides."""
    server = Server("notes")
    kept = ["Buy milk"]

    @server.tool
    def read_notes() -> list[str]:
        "All notes."
        return list(kept)

    @server.tool
    def add_note(text: str) -> int:
        "Add a note; how many there are then."
        kept.append(text)
        return len(kept)

    return server


class InThread:
    """An authorization server and a server that it protects, on a thread and a loop of their own.

        with InThread() as there:
            Browser().open(…)              # blocking is no harm
            there.issuer.rules.iss = "wrong"

    Args:
        server: what is served; by default `notes()`, where `add_note` wants `notes:write` besides.
        rules: how the authorization server behaves.
        tool_scopes: what tokens must allow to call tools, by their name.
        issuer_options: `path`, `subject`, `port`: see `authorization_server`.
        options: see `protected_server`.

    Attributes:
        url: of the protected server.
        issuer: the authorization server.
    """

    url: str
    issuer: AuthorizationServer

    def __init__(
        self,
        server: Server | None = None,
        *,
        rules: Rules | None = None,
        tool_scopes: Mapping[str, Sequence[str]] | None = None,
        issuer_options: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        self._server = server or notes()
        if server is None and tool_scopes is None:
            tool_scopes = {"add_note": (WRITE,)}
        self._options: dict[str, Any] = {"tool_scopes": tool_scopes, **options}
        self._issuer_options: dict[str, Any] = {"rules": rules, **(issuer_options or {})}
        self._thread: threading.Thread | None = None
        self._ready = threading.Event()
        self._failure: BaseException | None = None

    def __enter__(self) -> InThread:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Listen. Raises ConnectionFailed when it cannot."""
        self._thread = threading.Thread(target=asyncio.run, args=(self._run(),), name="authorization", daemon=True)
        self._thread.start()
        if not self._ready.wait(LIMIT):
            raise ConnectionFailed("The authorization server did not start in time.")
        if self._failure is not None:
            raise ConnectionFailed("The authorization server did not start.") from self._failure

    def stop(self) -> None:
        """End both. Nothing happens the second time."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._loop.call_soon_threadsafe(self._leave.set)
            thread.join(LIMIT)

    async def _run(self) -> None:
        self._loop, self._leave = asyncio.get_running_loop(), asyncio.Event()
        try:
            async with (
                authorization_server(**self._issuer_options) as self.issuer,
                protected_server(self._server, self.issuer, **self._options) as self.url,
            ):
                self._ready.set()
                await self._leave.wait()
        except BaseException as error:
            self._failure = error
            self._ready.set()
