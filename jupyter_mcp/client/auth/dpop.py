"""Tokens that are bound to a key: a fresh proof goes with each request (DPoP).

A proof names the method, the URL and the token it is for, and is used once. A server may want a nonce of its own in it,
and names the next one in any answer; each origin has its own.

Source: RFC 9449; the draft extension `io.modelcontextprotocol/auth/dpop` (SEP-1932).
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from jupyter_mcp.client.auth import signing
from jupyter_mcp.client.auth.addresses import origin

if TYPE_CHECKING:
    from jupyter_mcp.client.auth.signing import Key

__all__ = ["DpopKey"]

_MOST_NONCES = 32
_LONGEST_NONCE = 4096


class DpopKey:
    """One key, and the nonces that servers want.

    Args:
        key: private; by default a fresh one.
    """

    def __init__(self, key: Key | None = None) -> None:
        self._key = key or signing.new_key()
        self._algorithm = signing.algorithm_of(self._key)
        self._public = signing.public(self._key)
        self._nonces: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"<DpopKey {self.thumbprint}>"

    @classmethod
    def load(cls, text: str) -> DpopKey:
        """What `dump` gave. Raises `AuthorizationFailed`."""
        return cls(signing.load_key(text))

    def dump(self) -> str:
        """The private key, as a JWK; for a place that keeps secrets."""
        return json.dumps(dict(self._key.as_dict(private=True)))

    @property
    def thumbprint(self) -> str:
        """By which an authorization server knows it (`jkt`)."""
        return signing.thumbprint(self._key)

    @property
    def algorithm(self) -> str:
        """In which it signs."""
        return self._algorithm

    def learn(self, url: str, nonce: str) -> None:
        """The server at this URL named the nonce of the next proof."""
        if not nonce.isascii() or len(nonce) > _LONGEST_NONCE:
            return
        self._nonces.pop(origin(url), None)
        self._nonces[origin(url)] = nonce
        while len(self._nonces) > _MOST_NONCES:
            del self._nonces[next(iter(self._nonces))]

    def proof(self, method: str, url: str, now: float, access_token: str | None = None) -> str:
        """The `DPoP` header of one request.

        Args:
            now: seconds since 1970.
            access_token: that goes along; None at the token endpoint.
        """
        parts = urlsplit(url)
        claims: dict[str, Any] = {
            "jti": secrets.token_urlsafe(24),
            "htm": method,
            "htu": urlunsplit((parts.scheme, parts.netloc, parts.path or "/", "", "")),
            "iat": int(now),
        }
        if access_token is not None:
            claims["ath"] = _digest(access_token)
        if nonce := self._nonces.get(origin(url)):
            claims["nonce"] = nonce
        return signing.sign({"typ": "dpop+jwt", "alg": self._algorithm, "jwk": self._public}, claims, self._key)


def _digest(token: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(token.encode("ascii")).digest()).rstrip(b"=").decode()
