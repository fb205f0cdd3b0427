"""From a refusal to tokens: the whole of it, as one flow made of the others.

    1. where to log in                      discovery
    2. what is kept: used while it is good  store
    3. renewed, when that is all it needs   tokens
    4. had anew: by a person in a browser, or by a grant of one's own
    5. kept, when all of it worked

Nothing is kept of a login that did not come to its end. No network, no clock and no randomness here: they are in
`Context`. Above: `oauth`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from jupyter_mcp.client.auth.authorize import check_page, page, read_answer
from jupyter_mcp.client.auth.challenges import Wanted
from jupyter_mcp.client.auth.discovery import Found, discover, nothing_there
from jupyter_mcp.client.auth.failing import failed
from jupyter_mcp.client.auth.registration import given, identify, not_registered
from jupyter_mcp.client.auth.steps import Forget, Load, Save
from jupyter_mcp.client.auth.stepup import Attempts, scopes_for
from jupyter_mcp.client.auth.store import Client, Stored, StoreKey, Tokens
from jupyter_mcp.client.auth.tokens import Asking, refreshed, traded_code
from jupyter_mcp.client.auth.visit import Prepare, Redirect
from jupyter_mcp.errors import AuthorizationFailed

if TYPE_CHECKING:
    from collections.abc import Callable

    from jupyter_mcp.client.auth.addresses import Reach
    from jupyter_mcp.client.auth.dpop import DpopKey
    from jupyter_mcp.client.auth.settings import OAuthSettings
    from jupyter_mcp.client.auth.steps import Flow

__all__ = ["Context", "Login", "Need", "locate", "obtain", "renew"]

# Errors of a token endpoint after which the refresh token, or the client, is of no use any more (RFC 6749, 5.2)
_OVER = frozenset(
    (
        *("invalid_grant", "invalid_client", "unauthorized_client", "invalid_scope", "invalid_request"),
        "unsupported_grant_type",
    )
)
_ENOUGH = 30.0  # seconds that a token has to be good for


@dataclass(frozen=True)
class Context:
    """Everything about one server that does not change.

    Attributes:
        url: of the MCP server.
        name: what it is called here.
        settings: see there.
        reach: where a login may go.
        now: seconds since 1970.
        random: gives a text of so many random bytes that stands in a URL as it is.
        attempts: how often a person was sent to a page.
        registered: who we are to authorization servers where no login has come to its end yet.
    """

    url: str
    name: str
    settings: OAuthSettings
    reach: Reach
    now: Callable[[], float]
    random: Callable[[int], str]
    attempts: Attempts = field(default_factory=Attempts)
    registered: dict[StoreKey, Client] = field(default_factory=dict[StoreKey, Client], repr=False)


@dataclass(frozen=True)
class Need:
    """What a login is wanted for.

    Attributes:
        wanted: what the refusal said.
        refused: the access token that was not taken; "" when none was sent.
        version: protocol version of the request; "" when it brought none.
        earlier: scopes asked for before, where the refusal wants more.
        anew: whatever is kept, a person wants to log in.
    """

    wanted: Wanted = field(default_factory=Wanted)
    refused: str = field(default="", repr=False)
    version: str = ""
    earlier: tuple[str, ...] = ()
    anew: bool = False


@dataclass(frozen=True)
class Login:
    """What a flow came to.

    Attributes:
        stored: as it is kept.
        dpop: the key that the tokens are bound to.
        asked: the scopes that were asked for.
    """

    stored: Stored
    dpop: DpopKey | None = None
    asked: tuple[str, ...] = ()


def key_of(found: Found, context: Context) -> StoreKey:
    """Under which key a login is kept."""
    return StoreKey(found.server.issuer, found.resource, context.name)


def locate(context: Context, need: Need, prefer: str = "") -> Flow[tuple[Found, Stored | None]]:
    """Where to log in, and what is kept about that."""
    found = yield from discover(
        context.url, context.reach, need.wanted.metadata_url, need.version, context.settings.issuer or prefer
    )
    kept: Stored | None = yield Load(key_of(found, context))
    if kept is not None and (kept.issuer, kept.resource) != (found.server.issuer, found.resource):
        kept = None  # whatever the place gave us: it is somebody else's
    return found, kept


def obtain(context: Context, need: Need, before: Login | None) -> Flow[Login]:
    """Tokens that the server takes, in whatever way is the least trouble.

    Args:
        before: what we had until now.

    Raises:
        AuthorizationFailed
    """
    prefer = "" if before is None else before.stored.issuer
    found, kept = yield from locate(context, need, prefer)
    if kept is None and before is not None and before.stored.issuer == found.server.issuer:
        kept = before.stored  # nothing could be kept where logins are kept
    tokens = None if kept is None else kept.tokens
    if kept is not None and tokens is not None and not need.anew and not need.earlier:
        if tokens.access != need.refused and not _is_ending(tokens, context.now()):
            return Login(kept, _key(kept), tokens.scopes)
        if tokens.refresh is not None:
            try:
                return (yield from renew(context, kept, _key(kept)))
            except AuthorizationFailed as error:
                if not is_over(error):
                    raise
                if _is(error, "invalid_client"):
                    kept = None
    return (yield from _anew(context, need, found, kept))


def renew(context: Context, kept: Stored, dpop: DpopKey | None) -> Flow[Login]:
    """Fresh tokens for the refresh token, where they were had before. Raises `AuthorizationFailed`."""
    tokens, settings = kept.tokens, context.settings
    assert tokens is not None and tokens.refresh is not None
    asking = Asking(
        kept.token_endpoint, kept.issuer, kept.client, context.now(), dpop, settings.private_key, settings.algorithm
    )
    context.reach.check(asking.endpoint, "renewing the token", "the token endpoint")
    fresh = yield from refreshed(asking, tokens, kept.resource)
    stored = replace(kept, tokens=fresh)
    yield Save(StoreKey(kept.issuer, kept.resource, context.name), stored)
    return Login(stored, dpop, fresh.scopes)


def _anew(context: Context, need: Need, found: Found, kept: Stored | None) -> Flow[Login]:
    """Log in from the beginning."""
    settings, server = context.settings, found.server
    dpop = _wanted_key(settings, need, found)
    asked = scopes_for(
        need.wanted.scopes,
        found.scopes,
        server.scopes,
        need.earlier,
        settings.scopes,
        settings.offline and settings.grant is None,
    )
    if not _was_over(kept, need, context) and not context.attempts.may(server.issuer, asked, context.now()):
        raise _never_content(context, found, need)
    if settings.grant is None:
        client, tokens = yield from _by_person(context, found, asked, kept, dpop)
    else:
        client, tokens = yield from _by_grant(context, found, asked, dpop)
    stored = Stored(
        server.issuer,
        found.resource,
        client,
        tokens,
        None if dpop is None else dpop.dump(),
        server.token_endpoint,
        server.revocation_endpoint,
    )
    yield Save(key_of(found, context), stored)
    return Login(stored, dpop, tuple(dict.fromkeys((*asked, *tokens.scopes))))


def _by_person(
    context: Context, found: Found, asked: tuple[str, ...], kept: Stored | None, dpop: DpopKey | None
) -> Flow[tuple[Client, Tokens]]:
    """A person lets us in, in a browser."""
    server, key = found.server, key_of(found, context)
    check_page(server)
    redirect: Redirect = yield Prepare(context.name, server.issuer, found.resource, server.assumed)
    known = context.registered.get(key) or (None if kept is None else kept.client)
    try:
        client = yield from identify(server, context.settings, redirect.uri, asked, known, context.now())
    except AuthorizationFailed as error:
        if server.assumed and not_registered(error):
            raise nothing_there(context.url) from None
        raise
    context.registered[key] = client
    verifier = context.random(48)
    visit = page(
        server,
        name=context.name,
        client_id=client.id,
        redirect_uri=redirect.uri,
        state=redirect.state_prefix + context.random(32),
        verifier=verifier,
        resource=found.resource,
        scopes=asked,
        key_thumbprint="" if dpop is None else dpop.thumbprint,
    )
    code = read_answer((yield visit), visit, server)
    try:
        asking = _asking(context, found, client, dpop)
        tokens = yield from traded_code(asking, code, verifier, redirect.uri, found.resource, asked)
    except AuthorizationFailed as error:
        if _is(error, "invalid_client"):  # it was forgotten there: be somebody new the next time
            context.registered.pop(key, None)
            yield Forget(key)
        raise
    context.registered.pop(key, None)
    return client, tokens


def _by_grant(
    context: Context, found: Found, asked: tuple[str, ...], dpop: DpopKey | None
) -> Flow[tuple[Client, Tokens]]:
    """Without a person."""
    assert context.settings.grant is not None
    client = given(context.settings, found.server)
    if client is None:
        hint = "Give the client id with --oauth-client-id."
        raise failed(
            "registration", found.server.issuer, "has to know the client, and no client id is given", hint=hint
        )
    tokens = yield from context.settings.grant.tokens(_asking(context, found, client, dpop), found.resource, asked)
    return client, tokens


def _asking(context: Context, found: Found, client: Client, dpop: DpopKey | None) -> Asking:
    settings = context.settings
    return Asking(
        found.server.token_endpoint,
        found.server.issuer,
        client,
        context.now(),
        dpop,
        settings.private_key,
        settings.algorithm,
    )


# --- keys ------------------------------------------------------------------------------------------------------------


def _key(kept: Stored) -> DpopKey | None:
    if kept.dpop_key is None:
        return None
    from jupyter_mcp.client.auth.dpop import DpopKey

    return DpopKey.load(kept.dpop_key)


def _wanted_key(settings: OAuthSettings, need: Need, found: Found) -> DpopKey | None:
    """A fresh key, where tokens have to be bound to one."""
    insists = need.wanted.dpop or found.dpop_required
    if settings.dpop == "never" or (settings.dpop == "auto" and not insists):
        return None
    from jupyter_mcp.client.auth.dpop import DpopKey

    key = DpopKey()
    known = found.server.dpop_algorithms
    if known and key.algorithm not in known:
        raise failed("the proof of possession", found.server.issuer, f"does not take proofs in {key.algorithm}")
    return key


# --- what an end means -----------------------------------------------------------------------------------------------


def is_over(error: AuthorizationFailed) -> bool:
    """Whether renewing is of no use any more; anything else may be otherwise the next time."""
    return any(_is(error, code) for code in _OVER)


def _is(error: AuthorizationFailed, code: str) -> bool:
    return error.said.partition(" ")[0] == code


def _is_ending(tokens: Tokens, now: float) -> bool:
    return tokens.expires_at is not None and tokens.expires_at - now < _ENOUGH


def _was_over(kept: Stored | None, need: Need, context: Context) -> bool:
    """Whether a token was refused because its time was up, which is no reason to count."""
    tokens = None if kept is None else kept.tokens
    return tokens is not None and tokens.access == need.refused and _is_ending(tokens, context.now())


def _never_content(context: Context, found: Found, need: Need) -> AuthorizationFailed:
    names = " ".join(need.wanted.scopes or ()) or "none that it names"
    return failed(
        "the scopes" if need.earlier else "the access token",
        context.url,
        f"does not take what {found.server.issuer} gives, though it was asked twice (scopes: {names})",
        hint=f"%mcp login {context.name} tries again; it may be that you lack the right.",
    )
