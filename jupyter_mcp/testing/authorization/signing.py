"""Access tokens that carry their own proof, for resource servers that check them by the issuer's keys (RFC 9068).

Needs `joserfc` (extra `[auth]`), at first use.
"""

from __future__ import annotations

import secrets
import time
from typing import Any

ALGORITHM = "ES256"


class Signer:
    """The key of an authorization server, made at first use."""

    def __init__(self) -> None:
        self._key: Any = None

    def keys(self) -> dict[str, Any]:
        """The public half, as a JWKS."""
        return {"keys": [{**self._own().as_dict(private=False), "use": "sig", "alg": ALGORITHM}]}

    def sign(self, said: dict[str, Any]) -> str:
        """A token that says this.

        Args:
            said: what introspection would answer, without `active`.
        """
        from joserfc import jwt

        key = self._own()
        claims = {**said, "iat": int(time.time()), "jti": secrets.token_urlsafe(8)}
        return jwt.encode({"alg": ALGORITHM, "kid": key.kid, "typ": "at+jwt"}, claims, key)

    def renew(self) -> None:
        """Another key from now on, as issuers do without a word."""
        self._key = None

    def _own(self) -> Any:
        from joserfc.jwk import ECKey

        if self._key is None:
            self._key = ECKey.generate_key("P-256", {"kid": secrets.token_urlsafe(6)}, private=True)
        return self._key
