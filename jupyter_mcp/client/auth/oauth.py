"""An `Authorization` by OAuth 2.1: knows the tokens of one server, and gets them when the server wants them.

It does nothing until the server refuses a request: then it finds out where to log in, takes what is kept about that, or
logs in. Many requests that are refused at once are one login. An access token that is about to end is renewed before it
is sent.

Above: the host, which makes one for a server. Below: `flow` and `driver`.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from jupyter_mcp.client.auth import driver
from jupyter_mcp.client.auth.addresses import Near, Reach, canonical, same_server
from jupyter_mcp.client.auth.challenges import wanted
from jupyter_mcp.client.auth.flow import Context, Login, Need, is_over, locate, obtain, renew
from jupyter_mcp.client.auth.settings import OAuthSettings
from jupyter_mcp.client.auth.store import StoreKey
from jupyter_mcp.client.auth.tokens import Asking, revoked
from jupyter_mcp.errors import AuthorizationFailed
from jupyter_mcp.transport.http.options import HttpOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jupyter_mcp.client.auth.driver import Send
    from jupyter_mcp.client.auth.steps import Flow
    from jupyter_mcp.client.auth.store import Stored, Tokens, TokenStore
    from jupyter_mcp.client.auth.visit import Visit
    from jupyter_mcp.transport.http.authorization import Challenge
    from jupyter_mcp.transport.traffic import HttpEvent

__all__ = ["OAuth"]

EARLY = 30.0  # seconds before its end that a token is renewed
QUIET = 60.0  # seconds that a person's no is the answer to whoever asks again by itself
REVOKE_SECONDS = 10.0

T = TypeVar("T")


class OAuth:
    """Implements `transport.http.authorization.Authorization`.

    Args:
        resource_url: URL of the MCP server.
        settings: see there.
        visit: shows pages to a person.
        store: keeps logins.
        name: what the server is called here.
        options: how the server is reached; proxy and certificates are used for logging in as well.
        send: what sends requests, in place of the network.
        clock: seconds since 1970.
        trace: told of each request of a login (purpose, URL without query, status), for the journal.
    """

    def __init__(
        self,
        resource_url: str,
        *,
        settings: OAuthSettings | None = None,
        visit: Visit,
        store: TokenStore,
        name: str,
        options: HttpOptions | None = None,
        send: Send | None = None,
        clock: Callable[[], float] = time.time,
        trace: Callable[[HttpEvent], None] = lambda event: None,
    ) -> None:
        self._options = options or HttpOptions()
        self._visit = visit
        self._store = store
        self._send = send
        self._trace = trace
        settings = settings or OAuthSettings()
        reach = Reach(resource_url, Near.PUBLIC, settings.anywhere)
        self._context = Context(resource_url, name, settings, reach, clock, secrets.token_urlsafe)
        self._login: Login | None = None
        self._work: _Shared | None = None
        self._no: tuple[float, AuthorizationFailed] | None = None

    def __repr__(self) -> str:
        who = "nobody yet" if self._login is None else f"by {self._login.stored.issuer}"
        return f"<OAuth {canonical(self._context.url)}: {who}>"

    @property
    def stored(self) -> Stored | None:
        """The login in use; None before there is one. Its repr shows no secret."""
        return None if self._login is None else self._login.stored

    # -- Authorization ------------------------------------------------------------------------------------------------

    async def headers(self, method: str, url: str) -> Mapping[str, str]:
        """The access token, renewed when its time is nearly up, and the proof that goes with it.

        Raises:
            AuthorizationFailed: it is over, and could not be renewed.
        """
        if not same_server(url, self._context.url):
            return {}
        tokens = self._tokens
        if tokens is not None and tokens.refresh is not None and self._ends_within(tokens, EARLY):
            tokens = await self._renewed(tokens)
        if tokens is None or self._login is None:
            return {}
        headers = {"Authorization": f"{tokens.kind} {tokens.access}"}
        if self._login.dpop is not None:
            headers["DPoP"] = self._login.dpop.proof(method, url, self._context.now(), tokens.access)
        return headers

    async def answer(self, challenge: Challenge) -> bool:
        """Log in, or log in for more. See `Authorization.answer`.

        Raises:
            AuthorizationFailed
        """
        want = wanted(challenge.www_authenticate)
        if challenge.dpop_nonce:
            self.learn(challenge.url, challenge.dpop_nonce)
        tokens = self._tokens
        current = "" if tokens is None else f"{tokens.kind} {tokens.access}"
        if tokens is not None and challenge.sent and challenge.sent != current:
            return True  # somebody else was faster
        ours = challenge.sent == current and tokens is not None
        if ours and want.error == "use_dpop_nonce" and challenge.dpop_nonce:
            return True
        more = want.error == "insufficient_scope"
        if challenge.status == 403 and not more and (challenge.sent or not want.bearer):
            return False  # it knows who we are, and says no
        earlier = self._login.asked if more and ours and self._login is not None else ()
        refused = tokens.access if ours and tokens is not None else ""
        await self._obtain(Need(want, refused, challenge.protocol_version, earlier))
        return True

    def learn(self, url: str, dpop_nonce: str) -> None:
        """See `Authorization.learn`."""
        if self._login is not None and self._login.dpop is not None:
            self._login.dpop.learn(url, dpop_nonce)

    # -- for a person -------------------------------------------------------------------------------------------------

    def afresh(self) -> None:
        """A person wants to use the server (connects it, say): an earlier no, and what was tried, count no more."""
        self._context.attempts.clear()
        self._no = None

    async def login(self) -> Stored:
        """Log in anew, whatever is kept. Raises `AuthorizationFailed`."""
        self.afresh()
        await self._obtain(Need(anew=True))
        assert self._login is not None
        return self._login.stored

    async def look(self) -> Stored | None:
        """What is kept of a login here, without logging in.

        Raises:
            AuthorizationFailed: it cannot be found out where one would log in.
        """
        if self._login is not None:
            return self._login.stored
        _, kept = await self._run(lambda context: locate(context, Need()))
        return kept

    async def logout(self) -> bool:
        """Give the tokens back, where they are taken back, and keep nothing. False: there was no login.

        Raises:
            AuthorizationFailed: it could not be found out where we are logged in.
        """
        stored = await self.look()
        self._login = None
        self.afresh()
        if stored is None:
            return False
        await self._store.forget(StoreKey(stored.issuer, stored.resource, self._context.name))
        self._context.registered.clear()
        if stored.tokens is not None and stored.revocation_endpoint:
            with contextlib.suppress(AuthorizationFailed, TimeoutError):
                async with asyncio.timeout(REVOKE_SECONDS):
                    await self._run(lambda context: _give_back(context, stored))
        return True

    # -- one at a time ------------------------------------------------------------------------------------------------

    @property
    def _tokens(self) -> Tokens | None:
        return None if self._login is None else self._login.stored.tokens

    def _ends_within(self, tokens: Tokens, seconds: float) -> bool:
        return tokens.expires_at is not None and tokens.expires_at - self._context.now() < seconds

    async def _renewed(self, before: Tokens) -> Tokens | None:
        """Fresh tokens; None when they have to be had in another way, which the server's refusal will bring about."""
        login = self._login
        assert login is not None
        try:
            await self._once(lambda context: renew(context, login.stored, login.dpop))
        except AuthorizationFailed as error:
            if is_over(error):
                if self._login is login:
                    self._login = None
                return None
            if self._ends_within(before, 0):
                raise
            return before
        return self._tokens

    async def _obtain(self, need: Need) -> None:
        if self._no is not None and self._context.now() - self._no[0] < QUIET:
            raise _again(self._no[1])
        try:
            await self._once(lambda context: obtain(context, need, self._login))
        except AuthorizationFailed as error:
            if error.declined:
                self._no = (self._context.now(), error)
            raise

    async def _once(self, make: Callable[[Context], Flow[Login]]) -> None:
        """Run a flow and use what it came to; who comes while one runs waits for that one."""
        if self._work is None:
            self._work = _Shared(asyncio.ensure_future(self._use(make)))
        work = self._work
        try:
            await work.join()
        finally:
            if self._work is work and (work.task.done() or not work.waiting):
                self._work = None

    async def _use(self, make: Callable[[Context], Flow[Login]]) -> None:
        login = await self._run(make)
        if self._work is not None and self._work.task is asyncio.current_task():  # else it was given up
            self._login = login

    async def _run(self, make: Callable[[Context], Flow[T]]) -> T:
        context = self._context
        try:
            if self._send is not None:
                send = driver.traced(self._send, self._trace)
                return await driver.run(make(context), send, self._visit, self._store)
            near = await driver.nearest(context.url, self._options)
            context = replace(context, reach=replace(context.reach, nearest=near))
            async with driver.Network(self._options, context.reach) as network:
                send = driver.traced(network, self._trace)
                return await driver.run(make(context), send, self._visit, self._store)
        except AuthorizationFailed as error:
            error.server = error.server or context.name
            raise


class _Shared:
    """A task that several wait for; it ends when nobody does any more."""

    def __init__(self, task: asyncio.Task[None]) -> None:
        self.task = task
        self.waiting = 0

    async def join(self) -> None:
        self.waiting += 1
        try:
            await asyncio.shield(self.task)
        finally:
            self.waiting -= 1
            if not self.waiting and not self.task.done():
                self.task.cancel()
                self.task.add_done_callback(lambda task: task.cancelled() or task.exception())  # nobody hears of it
                await asyncio.wait([self.task], timeout=1.0)


def _again(error: AuthorizationFailed) -> AuthorizationFailed:
    """The same, for somebody else."""
    return type(error)(
        error.message,
        step=error.step,
        url=error.url,
        said=error.said,
        declined=error.declined,
        server=error.server,
        hint=error.hint,
    )


def _give_back(context: Context, stored: Stored) -> Flow[None]:
    tokens, settings = stored.tokens, context.settings
    assert tokens is not None
    endpoint = context.reach.check(stored.revocation_endpoint, "giving back the token", "the revocation endpoint")
    asking = Asking(
        endpoint, stored.issuer, stored.client, context.now(), None, settings.private_key, settings.algorithm
    )
    if tokens.refresh is not None:
        yield from revoked(asking, endpoint, tokens.refresh, "refresh_token")
    yield from revoked(asking, endpoint, tokens.access, "access_token")
