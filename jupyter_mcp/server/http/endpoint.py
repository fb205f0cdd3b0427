"""The endpoint of a server: what all its HTTP requests share, for any tornado application.

    endpoint = Endpoint(server, token="…")
    application = tornado.web.Application([*my_rules, *endpoint.rules()])
    …
    await endpoint.close()

One URL serves both eras. `handler` takes each request apart and works with what is here: who may speak (`guard`), the
sessions of the legacy era, the work of the stateless one, and one timer for all streams.

Below: `sessions`, `work`. Above: `server`, `running`, whoever embeds it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.errors import UsageError
from jupyter_mcp.protocol import headers
from jupyter_mcp.protocol.headers import ParamHeaders
from jupyter_mcp.protocol.revisions import LEGACY, MODERN
from jupyter_mcp.server.http.guard import LOOPBACK_NAMES, Names, Refusal, Token
from jupyter_mcp.server.http.sessions import Sessions
from jupyter_mcp.server.work import Work

if TYPE_CHECKING:
    from tornado.web import Application, RequestHandler

    from jupyter_mcp.server.authorization.protection import Protection
    from jupyter_mcp.server.http.guarded import Guarded
    from jupyter_mcp.server.http.response import Response
    from jupyter_mcp.server.server import Server

MAX_BODY = 16 * 2**20
_PATIENT = 8  # intervals of silence from a reader who takes nothing
_BODY_SECONDS = 120.0  # for a body to come in


class Endpoint:
    """A server's place under a tornado application.

    Args:
        server: what is served.
        token: the bearer token that every request must bring. None: the application that embeds it decides who may
            speak (a handler of its own, see `EndpointMixin.authenticate`); the handler that comes with it then
            answers on loopback addresses only.
        protection: makes it a protected resource: who brings an access token that it accepts may speak too.
        path: of the URL.
        hosts: names that `Host` may say, without a port; a request under another name is refused (DNS rebinding).
        origins: origins of pages, beside its own, that may call it ("https://example.org").
        sse: also serve the HTTP+SSE transport of 2024-11-05, at `sse` and `messages` beside the path.
        max_body: bytes of one request's body.
        keep_alive: seconds of silence after which a comment keeps a stream open.
        patience: seconds for a request to be answered by plain JSON; then its answer becomes a stream of events.
        json: False answers every request that succeeds by a stream of events.
        max_sessions: sessions of the legacy era; beyond it the one unused for the longest is ended.
        session_idle: seconds after which an unused session is ended.
        max_open: requests and streams at one time; beyond it the answer is 503.

    Attributes:
        open: responses that are streams of events now.
        running: how many requests and streams there are now.
        on_refused: told why a request was refused before it got as far as JSON-RPC (Host, Origin, token, size, room).
        life: of the process, where a gateway is to know when it is another (`forwarded`); "": nothing is told of that.
        token_hint: a sentence for whoever comes with a wrong token or none: where the right one is found.
    """

    def __init__(
        self,
        server: Server,
        *,
        token: str | None,
        protection: Protection | None = None,
        path: str = "/mcp",
        hosts: Sequence[str] = LOOPBACK_NAMES,
        origins: Sequence[str] = (),
        sse: bool = False,
        max_body: int = MAX_BODY,
        keep_alive: float = 15.0,
        patience: float = 0.2,
        json: bool = True,
        max_sessions: int = 1_000,
        session_idle: float = 3600.0,
        max_open: int = 10_000,
    ) -> None:
        if not path.startswith("/") or not all(part and part.isprintable() for part in path[1:].split("/")):
            raise UsageError(f"The path of an endpoint begins with a slash and does not end with one: {path!r}.")
        self.server = server
        self.path = path
        self.token = Token.of(token) if token is not None else None
        self.protection = protection
        self.names = Names((*hosts, protection.host) if protection is not None else hosts, origins)
        self.sse = sse
        self.max_body = max_body
        self.patience = patience
        self.json = json
        self.max_open = max_open
        self.sessions = Sessions(server, most=max_sessions, idle=session_idle)
        self.modern = tuple(version for version in server.versions if version in MODERN)
        self.legacy = tuple(version for version in server.versions if version in LEGACY)
        self.open: set[Response] = set()
        self._expected: dict[Guarded, float] = {}  # requests whose body is still coming -> since when
        self.running = 0
        self.on_refused: Callable[[Refusal], object] | None = None
        self.life = ""
        self.token_hint = ""
        self.closing = False
        self._interval = keep_alive / 2
        self._timer: asyncio.TimerHandle | None = None
        self._work: Work | None = None
        self._param_headers: dict[str, tuple[Any, ParamHeaders]] = {}

    def __repr__(self) -> str:
        return (
            f"<Endpoint {self.path} of {self.server.name!r}: {len(self.sessions)} sessions, {len(self.open)} streams>"
        )

    # --- where it goes

    def rules(self) -> list[tuple[str, type, dict[str, Any]]]:
        """Its rules for a tornado application."""
        from jupyter_mcp.server.http.handler import EndpointHandler

        given = {"endpoint": self}
        rules: list[tuple[str, type, dict[str, Any]]] = [(re.escape(self.path) + "/?", EndpointHandler, given)]
        if self.sse:
            from jupyter_mcp.server.http.old_sse import MessagesHandler, StreamHandler

            base = re.escape(self.path.rpartition("/")[0])
            rules += [(f"{base}/sse/?", StreamHandler, given), (f"{base}/messages/?", MessagesHandler, given)]
        if self.protection is not None:
            from jupyter_mcp.server.http.metadata import MetadataHandler, metadata_pattern

            rules.append((metadata_pattern(self.protection, self.path), MetadataHandler, given))
        return rules

    def application(self) -> Application:
        """A tornado application with nothing else. It logs no requests."""
        from tornado.web import Application

        from jupyter_mcp.server.http.handler import NowhereHandler

        return Application(
            self.rules(),
            log_function=_unlogged,
            default_handler_class=NowhereHandler,
            default_handler_args={"endpoint": self},
        )

    # --- what its requests share

    @property
    def work(self) -> Work:
        """What stateless requests share. Made at the first one: only then is there a loop."""
        if self._work is None:
            self._work = Work(self.server)
            self.server.attach(self._work)
        return self._work

    def enter(self) -> bool:
        """One more request; False: there is no room for it, or no time any more."""
        if self.closing or self.running >= self.max_open:
            return False
        self.running += 1
        self._watch()
        return True

    def expect_body(self, handler: Guarded) -> None:
        """The body of this request is about to come. (A timer for all: one each would cost more than the rest.)"""
        self._expected[handler] = asyncio.get_running_loop().time()
        self._watch()

    def got_body(self, handler: Guarded) -> None:
        """It is there, or will not come."""
        self._expected.pop(handler, None)

    def leave(self) -> None:
        """One less."""
        self.running -= 1

    def _watch(self) -> None:
        if self._timer is None and not self.closing:
            self._timer = asyncio.get_running_loop().call_later(self._interval, self._tick)

    def _tick(self) -> None:
        self._timer = None
        for response in list(self.open):
            response.keep_alive(_PATIENT)
        late = asyncio.get_running_loop().time() - _BODY_SECONDS
        for handler in [one for one, since in self._expected.items() if since < late]:
            handler.response.abort()
        self.sessions.expire()
        if self.running or self._expected or len(self.sessions):
            self._watch()

    def param_headers(self, message: Mapping[str, Any]) -> ParamHeaders | None:
        """What the schema of the tool that this request calls wants repeated in headers."""
        if message.get("method") != "tools/call":
            return None
        params = message.get("params")
        name = cast("Mapping[str, Any]", params).get("name") if isinstance(params, Mapping) else None
        schema = self.server.tool_schema(name) if isinstance(name, str) else None
        if schema is None:
            return None
        known = self._param_headers.get(cast("str", name))
        if known is None or known[0] is not schema:
            found = headers.read_param_headers(schema)
            known = (schema, found if isinstance(found, ParamHeaders) else ParamHeaders({}))
            self._param_headers[cast("str", name)] = known
        return known[1]

    # --- the end

    async def close(self, grace: float = 5.0) -> None:
        """End in good order: streams that listen get their result, what runs is given `grace` seconds, then cancelled.

        From its beginning new requests are answered by 503.
        """
        self.closing = True
        work = self._work
        if work is not None:
            work.end_listens()
        finishing = [asyncio.ensure_future(self.sessions.close(grace))]
        if work is not None:
            finishing.append(asyncio.ensure_future(self._finish(work, grace)))
        await asyncio.gather(*finishing)
        for response in list(self.open):
            response.end()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        await self.server.release()

    async def _finish(self, work: Work, grace: float) -> None:
        await work.finish(grace)
        await work.stop()
        self.server.detach(work)


def _unlogged(handler: RequestHandler) -> None:
    """Requests are not logged: their addresses may hold what only the client should know."""
