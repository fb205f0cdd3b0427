"""A person is shown the page of an authorization server, and the answer comes back: `Person`, a `client.auth` visit.

    1. the rules have their word, and somebody has to be there; else it fails at once and says what to set
    2. the place where the browser will come back is made ready (`places`, `loopback`)
    3. the question is put: who wants to know, whose page it is, which scopes; the person's click opens it, nothing here
    4. the answer is what the browser brings back, a pasted address, a token in its place, or a no

Whichever comes first counts, once. The question is an ordinary one: scripts (`kind="login"`) answer it too.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
from typing import TYPE_CHECKING

from jupyter_mcp.client.auth.visit import Redirect, RedirectParams, read_redirect
from jupyter_mcp.errors import AuthorizationFailed
from jupyter_mcp.host import urls
from jupyter_mcp.host.auth.loopback import Loopback
from jupyter_mcp.host.auth.places import JupyterPage, choose, is_far
from jupyter_mcp.host.policy import Deed
from jupyter_mcp.host.policy.deed import LOGIN
from jupyter_mcp.host.questions import Answer, Question

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jupyter_mcp.client.auth.visit import Prepare, VisitRequest
    from jupyter_mcp.host.acts import Acts, Running
    from jupyter_mcp.host.auth.waiting import Waiting
    from jupyter_mcp.host.consent import Consent
    from jupyter_mcp.host.questioner import Questioner
    from jupyter_mcp.host.redaction import Redactor

__all__ = ["Person", "TokenGiven", "login_deed", "nobody"]

STEP = "the visit of the login page"
COMES_BACK_SECONDS = 60.0  # after a person said that they are done


class TokenGiven(AuthorizationFailed):
    """Instead of logging in, the person gave a token. Caught where the tokens of a server are known."""

    def __init__(self, token: str) -> None:
        super().__init__("A token was given instead of a login.", step=STEP)
        self.token = token


def login_deed(server: str, issuer: str = "", scopes: tuple[str, ...] = ()) -> Deed:
    """Logging in to a server, as the policy sees it."""
    told = {"issuer": issuer, "scopes": list(scopes)} if issuer else {}
    return Deed(server, LOGIN, LOGIN, told, "server")


def nobody(server: str, issuer: str) -> AuthorizationFailed:
    """Nobody can be asked."""
    return AuthorizationFailed(
        f"{server} wants somebody to log in at {issuer}, and nobody can be asked here.",
        step=STEP,
        server=server,
        hint=(
            f"Set a token (--bearer ${{TOKEN}}), or a client of your own (--oauth-grant client-credentials "
            f"--oauth-client-id ID --oauth-client-secret ${{SECRET}}); or log in once in a notebook that asks "
            f"(%mcp login {server}): what is kept then is used here too."
        ),
    )


class Person:
    """Implements `client.auth.visit.Visit` for one server.

    Args:
        questioner: puts the question.
        acts: during which of them it comes.
        consent: the rules.
        redactor: told what is secret.
        waiting: gets what a browser brings back.
        page: the Jupyter Server as a browser sees it, when that is known.
        far: whether the browser may be on another machine.
    """

    def __init__(
        self,
        questioner: Questioner,
        acts: Acts,
        consent: Consent,
        redactor: Redactor,
        waiting: Waiting,
        page: Callable[[], JupyterPage | None],
        far: Callable[[], bool] = is_far,
    ) -> None:
        self._questioner = questioner
        self._acts = acts
        self._consent = consent
        self._redactor = redactor
        self._waiting = waiting
        self._page = page
        self._far = far
        self._loopback: Loopback | None = None
        self._redirect: Redirect | None = None
        self._resource = ""

    async def prepare(self, context: Prepare) -> Redirect:
        """See `Visit.prepare`. Raises `Denied` too, when a rule says so."""
        self._consent.check(login_deed(context.server, context.issuer))
        if not context.assumed and not self._questioner.reaches("login", context.server):
            raise nobody(context.server, context.issuer)
        await self.close()
        self._resource = context.resource
        self._redirect = await self._ready()
        return self._redirect

    async def _ready(self) -> Redirect:
        page = self._page()
        kind = choose(page, self._far())
        if kind == "jupyter" and page is not None:
            return Redirect(page.callback, "jupyter", f"{page.kernel_id}.")
        try:
            self._loopback = await Loopback(self._waiting.deliver).open()
        except OSError as error:
            raise AuthorizationFailed(
                f"Nothing can listen on 127.0.0.1 for the browser to come back: {error.strerror or error}.", step=STEP
            ) from None
        return Redirect(self._loopback.uri, kind)

    async def close(self) -> None:
        """Listen no more."""
        loopback, self._loopback = self._loopback, None
        if loopback is not None:
            await loopback.close()

    async def visit(self, request: VisitRequest) -> RedirectParams | str:
        """See `Visit.visit`.

        Raises:
            TokenGiven: a token is used instead.
        """
        self._consent.check(login_deed(request.server, request.issuer, request.scopes))
        if not self._questioner.reaches("login", request.server):
            raise nobody(request.server, request.issuer)
        address = urls.read(request.authorize_url)
        if address.refusal is not None:
            raise AuthorizationFailed(
                f"{request.server} sends you to a page that is refused. {address.refusal}", step=STEP
            )
        act = self._acts.find(request.server)
        question = self._question(request, act, " ".join(address.warnings) or None)
        journal = self._questioner.journal
        number = journal.begin(request.server, "login", f"at {request.issuer}", "server")
        outcome, remark = "cancelled", None
        try:
            with self._waiting.expect(request.state) as back:
                found = await self._answered(question, request, back, act)
            outcome = "accept"
            return found
        except TokenGiven:
            outcome, remark = "accept", "a token was given instead"
            raise
        except AuthorizationFailed as error:
            outcome, remark = ("decline" if error.declined else "error"), str(error)
            raise
        finally:
            journal.end(number, outcome, remark=remark)
            await self.close()

    def _question(self, request: VisitRequest, act: Running | None, warning: str | None) -> Question:
        params = {
            "url": request.authorize_url,
            "issuer": request.issuer,
            "scopes": list(request.scopes),
            "resource": self._resource,
            "redirect_uri": request.redirect_uri,
            "place": "loopback" if self._redirect is None else self._redirect.kind,
        }
        message = f"Log in to {request.server}."
        cause = None if act is None else act.cause
        return Question(self._questioner.new_id(), "login", request.server, message, params, cause, warning)

    async def _answered(
        self, question: Question, request: VisitRequest, back: asyncio.Future[RedirectParams], act: Running | None
    ) -> RedirectParams | str:
        """What the browser or the person brings, whichever is first."""
        asking = asyncio.ensure_future(self._questioner.login(question, act, lambda answer: _problems(answer, request)))
        try:
            await asyncio.wait((asking, back), return_when=asyncio.FIRST_COMPLETED)
            if not back.done():
                return await self._given(asking.result(), request, back)
            settle = getattr(self._questioner.ui, "settle", None)
            if settle is not None and settle(question, Answer("accept", by="server")):
                await asyncio.wait((asking,), timeout=1.0)
            return self._learnt(back.result())
        finally:
            asking.cancel()
            await asyncio.wait((asking,), timeout=1.0)

    async def _given(
        self, answer: Answer, request: VisitRequest, back: asyncio.Future[RedirectParams]
    ) -> RedirectParams | str:
        """What an answer comes to."""
        content = answer.content or {}
        if answer.by == "headless":
            raise nobody(request.server, request.issuer)
        if answer.action != "accept":
            verb = "declined" if answer.action == "decline" else "cancelled"
            raise AuthorizationFailed(
                f"The login to {request.server} was {verb}.",
                step=STEP,
                declined=True,
                server=request.server,
                hint=f"%mcp login {request.server} begins it again.",
            )
        if token := str(content.get("token") or "").strip():
            raise TokenGiven(token)
        if pasted := str(content.get("redirect") or "").strip():
            return self._learnt(read_redirect(pasted, request.redirect_uri))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(COMES_BACK_SECONDS):
                return self._learnt(await back)
        raise AuthorizationFailed(
            f"No browser came back from {request.issuer}.",
            step=STEP,
            server=request.server,
            hint="If yours ended on a page that cannot be reached, give the address that it shows.",
        )

    def _learnt(self, params: RedirectParams) -> RedirectParams:
        if params.code:
            self._redactor.learn([params.code])
        return params


def _problems(answer: Answer, request: VisitRequest) -> Mapping[str, str]:
    """What is wrong with what a person or a script gave."""
    content = answer.content or {}
    token, pasted = content.get("token"), content.get("redirect")
    if answer.action != "accept":
        return {}
    if isinstance(token, str) and token.strip():
        return {} if token.strip().isascii() and len(token.split()) == 1 else {"token": "A token is one word."}
    if not isinstance(pasted, str) or not pasted.strip():
        return {}
    try:
        state = read_redirect(pasted, request.redirect_uri).state or ""
    except AuthorizationFailed as error:
        return {"redirect": " ".join(filter(None, (error.message, error.hint)))}
    if not hmac.compare_digest(state.encode(), request.state.encode()):
        return {"redirect": "This is the answer to another login. Open the page of this one, by its link."}
    return {}
