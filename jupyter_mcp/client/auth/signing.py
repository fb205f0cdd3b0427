"""What is signed with keys: the one place that knows the JOSE library, imported at first use (extra [auth]).

Source: RFC 7515, RFC 7517, RFC 7519, RFC 7523 section 3, RFC 7638.
"""

from __future__ import annotations

import json
import secrets
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import AuthorizationFailed

if TYPE_CHECKING:
    from joserfc.jwk import ECKey, OKPKey, RSAKey

    Key = ECKey | OKPKey | RSAKey

__all__ = ["client_assertion", "load_key", "new_key", "public", "sign", "thumbprint"]

LIFE = 60
"""Seconds that an assertion about us is valid."""
_STEP = "signing"
_OF_CURVE = {"P-256": "ES256", "P-384": "ES384", "P-521": "ES512"}
_OF_RSA = ("RS256", "PS256", "RS384", "RS512", "PS384", "PS512")


def _library() -> tuple[Any, Any]:
    """Its modules for keys and for tokens. Raises AuthorizationFailed when it is not there."""
    try:
        import joserfc.jwk
        import joserfc.jwt
    except ImportError:
        raise AuthorizationFailed(
            "Logging in with a key of one's own (private_key_jwt, DPoP) needs the package joserfc.",
            step=_STEP,
            hint='%pip install "jupyter-mcp-host[auth]", then connect again.',
        ) from None
    return joserfc.jwk, joserfc.jwt


def new_key() -> Key:
    """A fresh key for ES256."""
    return _library()[0].ECKey.generate_key("P-256")


def load_key(text: str) -> Key:
    """A private key: PEM, or a JWK as JSON. Raises `AuthorizationFailed`, which does not show it."""
    jwk, _ = _library()
    try:
        data: Any = json.loads(text) if text.lstrip().startswith("{") else text
        kinds = (str(data["kty"]),) if isinstance(data, dict) else ("EC", "RSA", "OKP")  # pyright: ignore[reportUnknownArgumentType]
    except (ValueError, KeyError):
        raise _no_key() from None
    for kind in kinds:
        try:
            key = jwk.import_key(data, kind)
            if kind != "oct" and key.is_private:
                return key
        except Exception:  # noqa: S112 - each kind refuses the others in its own way
            continue
    raise _no_key()


def _no_key() -> AuthorizationFailed:
    text = "The private key cannot be read."
    return AuthorizationFailed(text, step=_STEP, hint="Give a PEM without a password (EC, RSA or Ed25519), or a JWK.")


def algorithm_of(key: Key, wanted: str | None = None) -> str:
    """In which algorithm a key signs. Raises `AuthorizationFailed` when it cannot sign in the wanted one."""
    public_key: dict[str, Any] = dict(key.as_dict(private=False))
    kind, curve = public_key.get("kty"), str(public_key.get("crv"))
    able = _OF_RSA if kind == "RSA" else (_OF_CURVE.get(curve, ""),) if kind == "EC" else ("EdDSA", "Ed25519")
    if wanted is None:
        return able[0]
    if wanted not in able:
        raise AuthorizationFailed(f"The private key cannot sign in {wanted[:20]!r}.", step=_STEP)
    return wanted


def sign(header: dict[str, Any], claims: dict[str, Any], key: Key) -> str:
    """A signed JWT."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the old name of an algorithm, which is what servers know
        return _library()[1].encode(header, claims, key, algorithms=[header["alg"]])


def public(key: Key) -> dict[str, Any]:
    """The public half, as a JWK."""
    return dict(key.as_dict(private=False))


def thumbprint(key: Key) -> str:
    """Its name (RFC 7638)."""
    return key.thumbprint()


def client_assertion(client_id: str, audience: str, private_key: str | None, wanted: str | None, now: float) -> str:
    """What says who we are, signed (RFC 7523, 3); for one use, by the audience and nobody else.

    Args:
        audience: the authorization server's issuer.
        private_key: see `load_key`.
        wanted: the algorithm; None is that of the key.
        now: seconds since 1970.
    """
    if private_key is None:
        raise AuthorizationFailed("There is no private key to sign with.", step=_STEP)
    key = load_key(private_key)
    claims = {
        "iss": client_id,
        "sub": client_id,
        "aud": audience,
        "iat": int(now),
        "exp": int(now) + LIFE,
        "jti": secrets.token_urlsafe(24),
    }
    return sign({"alg": algorithm_of(key, wanted), "typ": "JWT"}, claims, key)
