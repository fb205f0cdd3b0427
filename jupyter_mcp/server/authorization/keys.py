"""The published keys of an issuer: found by its metadata, kept, read again when a new one is needed.

Issuers change their keys without a word: a token that names an unknown key makes us look again, at most every
`AGAIN_SECONDS`, because anybody can invent such a token. Keys that cannot be read now stay those that were read last.

Above: `jwt`. Source: RFC 7517, RFC 8414 3.1, OpenID Connect Discovery 4.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from jupyter_mcp.errors import ConnectionFailed
from jupyter_mcp.server.authorization.fetching import Asked
from jupyter_mcp.server.authorization.urls import wrong_url

if TYPE_CHECKING:
    from jupyter_mcp.server.authorization.fetching import Fetch

KEPT_SECONDS = 3600.0
AGAIN_SECONDS = 30.0
MOST_KEYS = 100
LEAST_RSA_BITS = 2048
_KINDS = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}  # by how an algorithm begins
_CURVES = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521", "Ed25519": "Ed25519", "EdDSA": "Ed25519"}


class Keys:
    """The keys of one issuer.

    Args:
        issuer: whose.
        jwks_uri: where they are; None: as its metadata says.
        fetch: how requests are sent.
    """

    def __init__(self, issuer: str, jwks_uri: str | None, fetch: Fetch) -> None:
        self._issuer = issuer
        self._uri = jwks_uri
        self._fetch = fetch
        self._keys: list[Any] = []
        self._read_at: float | None = None
        self._tried_at = -AGAIN_SECONDS
        self._failure = ""
        self._lock = asyncio.Lock()

    async def find(self, algorithm: str, kid: str | None) -> list[Any]:
        """The keys that may have signed a token.

        Args:
            algorithm: of its signature.
            kid: the key that it names; None when it names none.

        Raises:
            ConnectionFailed: no keys have been read so far, and they cannot be read now.
        """
        stale = self._read_at is None or time.monotonic() - self._read_at > KEPT_SECONDS
        if stale or not self._fitting(algorithm, kid):
            async with self._lock:
                if time.monotonic() - self._tried_at >= AGAIN_SECONDS:
                    await self._read()
        if self._read_at is None:
            raise ConnectionFailed(self._failure)
        return self._fitting(algorithm, kid)

    def _fitting(self, algorithm: str, kid: str | None) -> list[Any]:
        found = [key for key in self._keys if _fits(key, algorithm)]
        return [key for key in found if kid is None or key.get("kid") in (kid, None)]

    async def _read(self) -> None:
        self._tried_at = time.monotonic()
        try:
            uri = self._uri or await self._find_uri()
            said = await self._fetch(Asked(uri))
        except ConnectionFailed as error:
            self._failure = str(error)
            return
        listed = said.get("keys")
        given = cast("list[object]", listed)[:MOST_KEYS] if isinstance(listed, list) else []
        self._keys = [key for one in given if (key := _import(one)) is not None]
        self._read_at = time.monotonic()

    async def _find_uri(self) -> str:
        """Where the keys are, by the issuer's metadata. Raises ConnectionFailed."""
        parts = urlsplit(self._issuer)
        origin, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
        places = (
            f"{origin}/.well-known/oauth-authorization-server{path}",
            f"{origin}/.well-known/openid-configuration{path}",
            f"{origin}{path}/.well-known/openid-configuration",
        )
        for place in dict.fromkeys(places):
            try:
                said = await self._fetch(Asked(place))
            except ConnectionFailed:
                continue
            uri = said.get("jwks_uri")
            if said.get("issuer") == self._issuer and isinstance(uri, str) and not wrong_url(uri.partition("?")[0]):
                return uri
        raise ConnectionFailed(f"The metadata of {self._issuer} cannot be read, or does not say where its keys are.")


def _import(value: object) -> Any:
    """A public key for signatures; None for anything else, which may be a kind that we do not know."""
    from joserfc.errors import JoseError
    from joserfc.jwk import import_key

    if not isinstance(value, dict):
        return None
    given = cast("dict[str, Any]", value)
    if given.get("use", "sig") != "sig" or given.get("kty") not in _KINDS.values():
        return None
    if given["kty"] == "RSA" and len(str(given.get("n", ""))) * 6 < LEAST_RSA_BITS - 12:
        return None
    try:
        return import_key(cast("Any", given))
    except (JoseError, ValueError, TypeError):
        return None


def _fits(key: Any, algorithm: str) -> bool:
    """Whether a key is one for this algorithm, by its kind, its curve, and what it says itself."""
    given = key.as_dict(private=False)
    said = given.get("alg")
    if said is not None and said != algorithm and {said, algorithm} != {"EdDSA", "Ed25519"}:
        return False
    curve = _CURVES.get(algorithm)
    return given.get("kty") == _KINDS[algorithm[:2]] and (curve is None or given.get("crv") == curve)
