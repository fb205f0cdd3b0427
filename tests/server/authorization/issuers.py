"""Issuers for the tests of verifiers: answers by address, requests on record; keys, and tokens signed with them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from joserfc import jwt
from joserfc.jwk import ECKey, OKPKey, RSAKey
from joserfc.jws import JWSRegistry

from jupyter_mcp.errors import ConnectionFailed

if TYPE_CHECKING:
    from jupyter_mcp.server.authorization.fetching import Asked

ISSUER = "https://login.example"
JWKS = f"{ISSUER}/keys"
RESOURCE = "https://notes.example/mcp"
METADATA = f"{ISSUER}/.well-known/oauth-authorization-server"


class Web:
    """What a verifier's `fetch` reaches.

    Attributes:
        answers: by address; what is not here cannot be reached.
        asked: the requests that came.
    """

    def __init__(self, **answers: Any) -> None:
        self.answers: dict[str, Any] = answers
        self.asked: list[Asked] = []

    async def fetch(self, asked: Asked) -> dict[str, Any]:
        self.asked.append(asked)
        answer: Any = self.answers.get(asked.url)
        if answer is None:
            raise ConnectionFailed(f"{asked.url} cannot be reached.")
        return answer

    @property
    def urls(self) -> list[str]:
        return [one.url for one in self.asked]


def rsa(kid: str | None = "one", bits: int = 2048, **more: Any) -> RSAKey:
    parameters: Any = {**({"kid": kid} if kid else {}), **more}
    return RSAKey.generate_key(bits, parameters, private=True)


def elliptic(kid: str = "ec", curve: Any = "P-256") -> ECKey:
    return ECKey.generate_key(curve, {"kid": kid}, private=True)


def edwards(kid: str = "ed") -> OKPKey:
    return OKPKey.generate_key("Ed25519", {"kid": kid}, private=True)


def public(*keys: Any) -> dict[str, Any]:
    """A JWKS of their public halves."""
    return {"keys": [key.as_dict(private=False) for key in keys]}


def claims(**more: Any) -> dict[str, Any]:
    """Those of a token in order; None leaves one out."""
    now = time.time()
    given: dict[str, Any] = {"iss": ISSUER, "sub": "ada", "aud": RESOURCE, "exp": int(now + 300), "iat": int(now)}
    given |= {"client_id": "notebook", "scope": "notes:read notes:write", **more}
    return {key: value for key, value in given.items() if value is not None}


def signed(
    key: RSAKey | ECKey | OKPKey,
    said: dict[str, Any] | None = None,
    *,
    alg: str = "RS256",
    kid: str | None = "one",
    typ: str | None = "at+jwt",
    **header: Any,
) -> str:
    """A token."""
    head: dict[str, Any] = {"alg": alg, "kid": kid, "typ": typ, **header}
    head = {name: value for name, value in head.items() if value is not None}
    registry = JWSRegistry(algorithms=[alg], strict_check_header=False)
    return jwt.encode(head, said or claims(), key, registry=registry, default_type=None)
