"""The logins of one host: what lets the requests of each server over HTTP in, and what a person does about it.

A `Gate` stands at each server without a token of the person's own. It does nothing until the server refuses a request;
then it logs in (`client.auth`), asking the person (`asking`) where that is the way, or, where a server offers no way to
log in, asks for a token. A token that was given is kept in memory only.

One gate for a server, however often it is connected anew. Everything here runs on the runtime loop.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from jupyter_mcp.errors import AuthorizationFailed, UsageError
from jupyter_mcp.host.auth.waiting import Waiting
from jupyter_mcp.host.questions import Question

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from jupyter_mcp.client.auth.oauth import OAuth
    from jupyter_mcp.client.auth.store import Stored
    from jupyter_mcp.host.acts import Acts
    from jupyter_mcp.host.auth.asking import Person
    from jupyter_mcp.host.auth.places import JupyterPage
    from jupyter_mcp.host.auth.stores import Kept
    from jupyter_mcp.host.consent import Consent
    from jupyter_mcp.host.questioner import Questioner
    from jupyter_mcp.host.redaction import Redactor
    from jupyter_mcp.host.specs import ServerSpec
    from jupyter_mcp.transport.http.authorization import Challenge
    from jupyter_mcp.transport.http.options import HttpOptions

__all__ = ["Gate", "Logins", "Who"]

How = Literal["login", "token", "header", "nobody"]


@dataclass(frozen=True, slots=True)
class Who:
    """As whom a server knows us. Nothing of it is secret.

    Attributes:
        server, url: of the MCP server.
        how: "login" (OAuth), "token" (given when it was asked for), "header" (of the person's own: --bearer, --header),
            "nobody".
        issuer: the authorization server.
        client_id: who we are there.
        scopes: what was granted.
        expires_at: seconds since 1970 when the access token ends; None when it was not said.
        renews: it is renewed by itself.
        bound: it is of no use to whoever steals it (DPoP).
        kept: where the login is kept, in words.
    """

    server: str
    url: str
    how: How
    issuer: str = ""
    client_id: str = ""
    scopes: tuple[str, ...] = ()
    expires_at: float | None = None
    renews: bool = False
    bound: bool = False
    kept: str = ""


class Logins:
    """The logins of one host.

    Args:
        questioner: puts questions.
        acts: those in flight.
        consent: the rules.
        redactor: told what is secret.
        folder: the person's own, for what is remembered; None: no login outlives the kernel.

    Attributes:
        waiting: what a browser brings back is handed to it.
        page: says how a browser sees the Jupyter Server; whoever has pages sets it.
    """

    def __init__(
        self, questioner: Questioner, acts: Acts, consent: Consent, redactor: Redactor, folder: Path | None
    ) -> None:
        self.waiting = Waiting()
        self.page: Callable[[], JupyterPage | None] = lambda: None
        self.questioner = questioner
        self.consent = consent
        self.redactor = redactor
        self._acts = acts
        self._folder = folder
        self._gates: dict[str, Gate] = {}
        self._store: Kept | None = None

    @property
    def store(self) -> Kept:
        """Where logins are kept."""
        if self._store is None:
            from jupyter_mcp.host.auth.stores import kept_for

            self._store = kept_for(self._folder, self.redactor.learn)
        return self._store

    def person(self) -> Person:
        """Who is asked, for one server."""
        from jupyter_mcp.host.auth.asking import Person

        return Person(self.questioner, self._acts, self.consent, self.redactor, self.waiting, lambda: self.page())

    def lets_in(self, spec: ServerSpec, options: HttpOptions) -> Gate | None:
        """What lets the requests of a server in that is reached in this way; see `gate`."""
        gate = self.gate(spec)
        return None if gate is None else gate.reached_by(options)

    def gate(self, spec: ServerSpec) -> Gate | None:
        """What lets the requests of a server in; None for one that needs none of ours.

        Args:
            spec: with its placeholders filled.
        """
        if spec.kind != "http" or _own_header(spec):
            self._gates.pop(spec.name, None)
            return None
        known = self._gates.get(spec.name)
        if known is None or known.spec != spec:
            known = self._gates[spec.name] = Gate(self, spec)
        return known

    def afresh(self, name: str) -> None:
        """A person begins anew: an earlier no is not remembered."""
        if (gate := self._gates.get(name)) is not None:
            gate.afresh()

    def forget(self, name: str) -> None:
        """The server was disconnected; what is kept of it stays kept, a token that was given does not."""
        self._gates.pop(name, None)

    # --- for a person ------------------------------------------------------------------------------------------------

    async def login(self, spec: ServerSpec) -> Who:
        """Log in to a server anew. Raises `UsageError` where there is nothing to log in to, else as `OAuth.login`."""
        gate = self._asked_for(spec)
        await gate.login()
        return await self.whoami(spec)

    async def logout(self, spec: ServerSpec) -> bool:
        """Give tokens back and forget them; False: there was nothing. Raises as `login`."""
        return await self._asked_for(spec).logout()

    async def whoami(self, spec: ServerSpec) -> Who:
        """As whom a server knows us.

        Raises:
            UsageError: it is not reached over HTTP.
            AuthorizationFailed: it cannot be found out where one would log in.
        """
        from jupyter_mcp.client.auth.discovery import NoLogin
        from jupyter_mcp.client.auth.store import StoreKey

        url = _plain(_must_be_http(spec).url)
        if _own_header(spec):
            return Who(spec.name, url, "header")
        gate = self.gate(spec)
        assert gate is not None
        if gate.has_token:
            return Who(spec.name, url, "token", kept="this kernel's memory")
        try:
            stored = await gate.look()
        except NoLogin:
            stored = None
        if stored is None or stored.tokens is None:
            return Who(spec.name, url, "nobody")
        tokens = stored.tokens
        return Who(
            spec.name,
            url,
            "login",
            stored.issuer,
            stored.client.id,
            tokens.scopes,
            tokens.expires_at,
            tokens.refresh is not None,
            stored.dpop_key is not None,
            self.store.where(StoreKey(stored.issuer, stored.resource, spec.name)),
        )

    def _asked_for(self, spec: ServerSpec) -> Gate:
        gate = self.gate(_must_be_http(spec))
        if gate is None:
            raise UsageError(
                f"{spec.name} is reached with a header of your own; there is nothing to log in to.",
                server=spec.name,
                hint=f"Connect it without --bearer and --header Authorization to log in: %mcp connect {spec.name} URL",
            )
        return gate


class Gate:
    """Implements `transport.http.authorization.Authorization` for one server. Its repr shows no secret.

    Args:
        logins: of the host.
        spec: of the server, with its placeholders filled. It is never shown.
    """

    def __init__(self, logins: Logins, spec: ServerSpec) -> None:
        self.spec = spec
        self._logins = logins
        self._options: HttpOptions | None = None
        self._oauth: OAuth | None = None
        self._person: Person | None = None
        self._token = ""
        self._answering = 0
        self._asking = asyncio.Lock()

    def __repr__(self) -> str:
        return f"<Gate {self.spec.name}>"

    def reached_by(self, options: HttpOptions) -> Gate:
        """The gate itself; a login takes the same way as the server's own messages."""
        self._options = replace(options, authorization=None)
        return self

    @property
    def has_token(self) -> bool:
        """Whether a token was given when it was asked for."""
        return bool(self._token)

    # --- Authorization -----------------------------------------------------------------------------------------------

    async def headers(self, method: str, url: str) -> Mapping[str, str]:
        """See `Authorization.headers`."""
        if self._token:
            from jupyter_mcp.client.auth.addresses import same_server

            return {"Authorization": f"Bearer {self._token}"} if same_server(url, self.spec.url) else {}
        return {} if self._oauth is None else await self._oauth.headers(method, url)

    async def answer(self, challenge: Challenge) -> bool:
        """See `Authorization.answer`. Raises `Denied` where a rule says so."""
        from jupyter_mcp.client.auth.discovery import NoLogin
        from jupyter_mcp.host.auth.asking import TokenGiven, login_deed

        name = self.spec.name
        mine = f"Bearer {self._token}" if self._token else ""
        if mine and challenge.sent != mine:
            return True  # it was given meanwhile
        if mine and challenge.status == 403:
            return False  # it knows who we are, and says no
        self._logins.consent.check(login_deed(name))
        refused, self._token = self._token, ""
        self._answering += 1
        try:
            return await (await self._login_of_it()).answer(challenge)
        except TokenGiven as given:
            return self._take(given.token)
        except NoLogin as error:
            if self.spec.headers or not self._logins.questioner.reaches("inputs", name):
                return False  # the refusal says that the key is not taken, or how to give one
            async with self._asking:
                return bool(self._token) or self._take(await self._asked(error, refused))
        finally:
            self._answering -= 1
            if not self._answering:  # else another request still waits for the same browser
                await self._put_away()

    def learn(self, url: str, dpop_nonce: str) -> None:
        """See `Authorization.learn`."""
        if self._oauth is not None:
            self._oauth.learn(url, dpop_nonce)

    # --- for a person ------------------------------------------------------------------------------------------------

    async def login(self) -> None:
        """Log in anew. Raises as `answer`."""
        from jupyter_mcp.client.auth.discovery import NoLogin
        from jupyter_mcp.host.auth.asking import TokenGiven, login_deed

        self._logins.consent.check(login_deed(self.spec.name))
        try:
            await (await self._login_of_it()).login()
            self._token = ""
        except TokenGiven as given:
            self._take(given.token)
        except NoLogin as error:
            self._take(await self._asked(error, ""))
        finally:
            await self._put_away()

    def afresh(self) -> None:
        """An earlier no is not remembered."""
        if self._oauth is not None:
            self._oauth.afresh()

    async def logout(self) -> bool:
        """Forget everything that lets us in; False: there was nothing."""
        from jupyter_mcp.client.auth.discovery import NoLogin

        had, self._token = bool(self._token), ""
        oauth = await self._login_of_it()
        try:
            return await oauth.logout() or had
        except NoLogin:
            return had
        except AuthorizationFailed:
            if had:
                return True
            raise

    async def look(self) -> Stored | None:
        """What is kept of a login, without logging in. Raises `AuthorizationFailed`."""
        return await (await self._login_of_it()).look()

    # --- details -----------------------------------------------------------------------------------------------------

    async def _login_of_it(self) -> OAuth:
        if self._oauth is None:
            from jupyter_mcp.client.auth.oauth import OAuth

            settings = self.spec.login.settings()
            self._logins.redactor.learn(
                one for one in (settings.client_secret, settings.private_key) if one is not None
            )
            self._person = self._logins.person()
            self._oauth = OAuth(
                self.spec.url,
                settings=settings,
                visit=self._person,
                store=self._logins.store,
                name=self.spec.name,
                options=self._options,
                trace=partial(self._logins.questioner.journal.http, self.spec.name),
            )
        return self._oauth

    async def _put_away(self) -> None:
        if self._person is not None:
            with contextlib.suppress(OSError):
                await self._person.close()

    def _take(self, token: str) -> bool:
        self._logins.redactor.learn([token, f"Bearer {token}"])
        self._token = token
        return True

    async def _asked(self, error: AuthorizationFailed, refused: str) -> str:
        """A token of the person's, where there is no way to log in. Raises `error` when there is none to be had."""
        questioner = self._logins.questioner
        name = self.spec.name
        if not questioner.reaches("inputs", name):
            raise error
        site = urlsplit(self.spec.url).netloc.rpartition("@")[2]
        message = f"{name} ({site}) wants a token, such as an API key, and offers no page to log in at."
        field = {"type": "string", "title": "Token", "format": "password", "minLength": 1}
        params: dict[str, Any] = {
            "message": message,
            "requestedSchema": {"type": "object", "properties": {"token": field}, "required": ["token"]},
            "source": "",
        }
        problems = {"token": "This token was not taken."} if refused else {}
        answer = await questioner.inputs(
            Question(questioner.new_id(), "inputs", name, message, params, problems=problems)
        )
        token = str((answer.content or {}).get("token") or "").strip()
        if answer.action != "accept" or not token or (answer.by == "script" and token == refused):
            error.declined = answer.action != "accept" and answer.by == "person"
            raise error
        return token


def _own_header(spec: ServerSpec) -> bool:
    return any(name.lower() == "authorization" for name in spec.headers) or "@" in urlsplit(spec.url).netloc


def _must_be_http(spec: ServerSpec) -> ServerSpec:
    if spec.kind != "http":
        raise UsageError(
            f"{spec.name} is not reached over HTTP; there is nothing to log in to.",
            server=spec.name,
            hint="What a command needs to know is given by --env.",
        )
    return spec


def _plain(url: str) -> str:
    from jupyter_mcp.host.specs.describe import url as shown

    return shown(url)
