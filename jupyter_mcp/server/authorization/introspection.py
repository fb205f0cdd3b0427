"""Tokens that only their issuer can read: it is asked (RFC 7662).

An answer is kept for a short time, so that a client's many requests do not become as many questions; that is also how
long a revoked token may still be taken.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import ConnectionFailed, UsageError
from jupyter_mcp.server.access import Access, read_audience, read_scopes
from jupyter_mcp.server.authorization.fetching import Asked, fetch
from jupyter_mcp.server.authorization.urls import wrong_url

if TYPE_CHECKING:
    from jupyter_mcp.server.authorization.fetching import Fetch

KEPT_SECONDS = 30.0
MOST_KEPT = 10_000
MOST_ASKED = 16
"""Questions at one time: whoever sends invented tokens must not make a flood of them."""


class IntrospectionVerifier:
    """Asks the issuer about each token.

    Args:
        issuer: the authorization server, as its metadata names it.
        endpoint: its introspection endpoint.
        client_id, client_secret: of this server, as it is registered there to ask.
        audience: what a token without `aud` is taken to be for. Give it only if the issuer answers this client about
            its own tokens and no others; without it such tokens are refused.
        kept: seconds for which an answer is kept; 0 asks each time.
        fetch: how requests are sent, where the usual way does not do (a proxy).

    Raises:
        UsageError: an address that cannot be one.
    """

    def __init__(
        self,
        issuer: str,
        endpoint: str,
        *,
        client_id: str,
        client_secret: str,
        audience: str | None = None,
        kept: float = KEPT_SECONDS,
        fetch: Fetch = fetch,
    ) -> None:
        if problem := wrong_url(issuer) or wrong_url(endpoint.partition("?")[0]):
            raise UsageError(f"An issuer and its introspection endpoint are https URLs; {problem}.")
        if not client_id or not client_secret:
            raise UsageError("Introspection needs the client id and secret that this server has at the issuer.")
        self.issuers = (issuer,)
        self._endpoint = endpoint
        self._credentials = (client_id, client_secret)
        self._audience = audience
        self._kept = kept
        self._fetch = fetch
        self._known: OrderedDict[bytes, tuple[float, Access | None]] = OrderedDict()
        self._asking: dict[bytes, asyncio.Task[Access | None]] = {}

    def __repr__(self) -> str:
        return f"<IntrospectionVerifier at {self._endpoint}>"

    async def verify(self, token: str) -> Access | None:
        """What the issuer says of it. Raises ConnectionFailed when it says nothing."""
        key = hashlib.sha256(token.encode()).digest()
        now = time.time()
        known = self._known.get(key)
        if known is not None and now < known[0]:
            return known[1]
        asking = self._asking.get(key)
        if asking is None:
            if len(self._asking) >= MOST_ASKED:
                raise ConnectionFailed(f"{self._endpoint} is being asked about {MOST_ASKED} tokens already.")
            asking = self._asking[key] = asyncio.ensure_future(self._ask(token))
            asking.add_done_callback(lambda _: self._asking.pop(key, None))
        access = await asyncio.shield(asking)
        self._keep(key, access, now)
        return access

    def _keep(self, key: bytes, access: Access | None, now: float) -> None:
        if self._kept <= 0:
            return
        ends = access.expires_at if access is not None and access.expires_at is not None else now + self._kept
        self._known[key] = (min(ends, now + self._kept), access)
        self._known.move_to_end(key)
        while len(self._known) > MOST_KEPT:
            self._known.popitem(last=False)

    async def _ask(self, token: str) -> Access | None:
        form = {"token": token, "token_type_hint": "access_token"}
        said = await self._fetch(Asked(self._endpoint, form, self._credentials))
        return self._read(said)

    def _read(self, said: dict[str, Any]) -> Access | None:
        """`active` is all that an issuer must say; what it says besides has to fit."""
        if said.get("active") is not True or "cnf" in said:  # bound to a key that a bearer does not prove
            return None
        if said.get("iss", self.issuers[0]) not in self.issuers or not _is_now(said):
            return None
        if str(said.get("token_type", "bearer")).lower() not in ("bearer", "access_token"):
            return None
        client = said.get("client_id")
        subject = said.get("sub") or client
        if not isinstance(subject, str):
            return None
        audience = read_audience(said.get("aud"))
        if "aud" not in said and self._audience is not None:
            audience = (self._audience,)
        ends = said.get("exp")
        return Access(
            subject=subject,
            client=client if isinstance(client, str) else "",
            issuer=self.issuers[0],
            audience=audience,
            scopes=read_scopes(said.get("scope")),
            expires_at=float(ends) if ends is not None else None,
            claims=said,
        )


def _is_now(said: dict[str, Any]) -> bool:
    """Whether `exp` and `nbf`, where they are given, are numbers and include this moment."""
    ends, begins = said.get("exp"), said.get("nbf")
    for moment in (ends, begins):
        if moment is not None and (isinstance(moment, bool) or not isinstance(moment, int | float)):
            return False
    now = time.time()
    return (ends is None or now < ends) and (begins is None or begins <= now)
