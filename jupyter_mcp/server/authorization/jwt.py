"""Tokens that carry their own proof: signed by their issuer, checked with its published keys (RFC 7519, RFC 9068).

Needs `joserfc`, which comes with the extra `[auth]`; it is imported when the first token is checked. RULES

- Only asymmetric algorithms: a key that is published proves nothing when it is also the secret (RFC 8725, 3.1).
- What looks at a token before its signature is checked (which key, which algorithm) decides nothing else.
- A token that is bound to a key (`cnf`, RFC 9449) is not taken from a bearer, who has not proved that he has the key.

Above: whoever makes a server. Below: `keys`.
"""

from __future__ import annotations

import base64
import json
import time
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.errors import UsageError
from jupyter_mcp.server.access import Access, read_audience, read_scopes
from jupyter_mcp.server.authorization.fetching import fetch
from jupyter_mcp.server.authorization.keys import Keys
from jupyter_mcp.server.authorization.urls import wrong_url

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jupyter_mcp.server.authorization.fetching import Fetch

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519", "EdDSA")
LEEWAY = 30.0  # seconds by which clocks may differ
_TYPES = ("", "jwt", "at+jwt", "application/jwt", "application/at+jwt")
_SUBJECT_CLIENT = ("client_id", "azp", "cid", "appid")  # RFC 9068; OpenID; and what large providers call it


class JwtVerifier:
    """Checks tokens with the keys that their issuer publishes.

    Args:
        issuer: the authorization server, exactly as its tokens name it in `iss`.
        jwks_uri: where its keys are; by default as its metadata says.
        algorithms: signatures that are taken.
        scope_claims: where scopes are: of these all are read.
        leeway: seconds by which the clocks may differ.
        fetch: how requests are sent, where the usual way does not do (a proxy).

    Raises:
        UsageError: an address that cannot be one, an algorithm that proves nothing, or `joserfc` is not installed.
    """

    def __init__(
        self,
        issuer: str,
        *,
        jwks_uri: str | None = None,
        algorithms: Sequence[str] = ALGORITHMS,
        scope_claims: Sequence[str] = ("scope", "scp"),
        leeway: float = LEEWAY,
        fetch: Fetch = fetch,
    ) -> None:
        problem = wrong_url(issuer) or (wrong_url(jwks_uri.partition("?")[0]) if jwks_uri else "")
        if problem:
            raise UsageError(f"An issuer and its keys are at https URLs; {problem}.")
        if wrong := [one for one in algorithms if one not in ALGORITHMS]:
            raise UsageError(f"{wrong[0]} does not prove who signed a token; use some of {', '.join(ALGORITHMS)}.")
        _need_joserfc()
        self.issuers = (issuer,)
        self._algorithms = tuple(algorithms)
        self._scope_claims = tuple(scope_claims)
        self._leeway = leeway
        self._keys = Keys(issuer, jwks_uri, fetch)

    def __repr__(self) -> str:
        return f"<JwtVerifier of {self.issuers[0]}>"

    async def verify(self, token: str) -> Access | None:
        """What the token says, when its issuer signed it. Raises ConnectionFailed when its keys cannot be had."""
        header = _header(token)
        algorithm, kid = header.get("alg"), header.get("kid")
        if algorithm not in self._algorithms or not isinstance(kid, str | None):
            return None
        if str(header.get("typ", "")).lower() not in _TYPES:
            return None  # an ID token of OpenID says "JWT" at most; a logout token says what it is
        for key in await self._keys.find(cast("str", algorithm), kid):
            claims = _checked(token, key, self._algorithms)
            if claims is not None:
                return self._read(claims)
        return None

    def _read(self, claims: Mapping[str, Any]) -> Access | None:
        if claims.get("iss") != self.issuers[0] or "cnf" in claims or not self._is_now(claims):
            return None
        if "nonce" in claims and not any(name in claims for name in self._scope_claims):
            return None  # an ID token: it says who somebody is, and allows nothing
        client = next((claims[name] for name in _SUBJECT_CLIENT if isinstance(claims.get(name), str)), "")
        subject = claims.get("sub") or client
        if not isinstance(subject, str) or not subject:
            return None
        scopes = frozenset[str]().union(*(read_scopes(claims.get(name)) for name in self._scope_claims))
        return Access(
            subject=subject,
            client=client,
            issuer=self.issuers[0],
            audience=read_audience(claims.get("aud")),
            scopes=scopes,
            expires_at=claims["exp"] + self._leeway,
            claims=claims,
        )

    def _is_now(self, claims: Mapping[str, Any]) -> bool:
        """`exp` must be there; what else says when it is good has to fit."""
        moments = [claims.get(name) for name in ("exp", "nbf", "iat")]
        if any(not _is_moment(one) for one in moments if one is not None):
            return False
        ends, *begins = moments
        now = time.time()
        begun = all(one <= now + self._leeway for one in begins if one is not None)
        return ends is not None and now < ends + self._leeway and begun


def _is_moment(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e12


def _header(token: str) -> dict[str, Any]:
    """The header of a token, unverified; {} when it is none."""
    head, dot, _ = token.partition(".")
    try:
        found: object = json.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4))) if dot else None
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _checked(token: str, key: Any, algorithms: Sequence[str]) -> dict[str, Any] | None:
    """The claims of a token that this key signed; else None."""
    from joserfc import jwt
    from joserfc.errors import JoseError
    from joserfc.jws import JWSRegistry

    registry = JWSRegistry(algorithms=list(algorithms), strict_check_header=False)
    try:
        return jwt.decode(token, key, registry=registry).claims
    except (JoseError, ValueError, TypeError, RecursionError):
        return None


def _need_joserfc() -> None:
    from importlib.util import find_spec

    if find_spec("joserfc") is None:
        raise UsageError(
            "Signed tokens need the package joserfc.", hint='Install it: pip install "jupyter-mcp-host[auth]".'
        )
