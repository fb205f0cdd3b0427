"""A signed token is taken when its issuer signed it, for now; nothing in it is believed before that."""

from __future__ import annotations

import base64
import hmac
import json
import subprocess
import sys
import time
from typing import Any, cast

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from joserfc.jwk import RSAKey

from jupyter_mcp.errors import ConnectionFailed, UsageError
from jupyter_mcp.server.authorization import JwtVerifier
from jupyter_mcp.server.authorization import jwt as room
from jupyter_mcp.server.authorization import keys as keys_room
from tests.server.authorization.issuers import (
    ISSUER,
    JWKS,
    METADATA,
    RESOURCE,
    Web,
    claims,
    edwards,
    elliptic,
    public,
    rsa,
    signed,
)

pytestmark = pytest.mark.anyio
KEY = rsa()


def verifier(web: Web | None = None, **options: Any) -> JwtVerifier:
    options = {"jwks_uri": JWKS, **options}
    return JwtVerifier(ISSUER, fetch=(web or Web(**{JWKS: public(KEY)})).fetch, **options)


# --- what is taken


async def test_a_token_of_the_issuer_says_who_and_what():
    access = await verifier().verify(signed(KEY))
    assert access is not None
    assert (access.subject, access.client, access.issuer) == ("ada", "notebook", ISSUER)
    assert (access.audience, access.scopes) == ((RESOURCE,), {"notes:read", "notes:write"})
    assert access.expires_at is not None and access.expires_at > time.time()


@pytest.mark.parametrize(
    ("key", "alg"),
    [
        (KEY, "RS256"),
        (KEY, "PS512"),
        (elliptic("one"), "ES256"),
        (elliptic("one", "P-384"), "ES384"),
        (edwards("one"), "Ed25519"),
    ],
)
async def test_every_kind_of_signature_that_proves_something_is_taken(key: Any, alg: str):
    assert await verifier(Web(**{JWKS: public(key)})).verify(signed(key, alg=alg)) is not None


@pytest.mark.parametrize("typ", [None, "JWT", "at+jwt", "application/at+jwt"])
async def test_every_way_to_say_what_it_is_will_do(typ: str | None):
    assert await verifier().verify(signed(KEY, typ=typ)) is not None


@pytest.mark.parametrize(
    ("said", "client"),
    [
        ({"client_id": None, "azp": "by-azp"}, "by-azp"),
        ({"client_id": None, "cid": "by-cid"}, "by-cid"),
        ({"client_id": None, "appid": "by-appid"}, "by-appid"),
        ({"client_id": None}, ""),
    ],
)
async def test_a_client_is_known_by_whatever_its_provider_calls_it(said: dict[str, Any], client: str):
    access = await verifier().verify(signed(KEY, claims(**said)))
    assert access is not None and access.client == client


@pytest.mark.parametrize(
    ("said", "scopes"),
    [
        ({"scope": None, "scp": "a b"}, {"a", "b"}),
        ({"scope": None, "scp": ["a", "b", 3]}, {"a", "b"}),
        ({"scope": "a", "scp": ["b"]}, {"a", "b"}),
        ({"scope": None}, set[str]()),
        ({"scope": {"a": 1}}, set[str]()),
    ],
)
async def test_scopes_are_read_as_providers_write_them(said: dict[str, Any], scopes: set[str]):
    access = await verifier().verify(signed(KEY, claims(**said)))
    assert access is not None and access.scopes == scopes


async def test_headers_that_mean_nothing_to_us_are_no_harm():
    assert await verifier().verify(signed(KEY, x5t="abc", nonce="of a provider")) is not None


async def test_clocks_may_differ_by_the_leeway():
    late = int(time.time()) - 10
    assert await verifier().verify(signed(KEY, claims(exp=late))) is not None
    assert await verifier(leeway=0).verify(signed(KEY, claims(exp=late))) is None


# --- what is not


@pytest.mark.parametrize(
    "said",
    [
        {"iss": "https://login.example/"},
        {"iss": "https://evil.example"},
        {"iss": None},
        {"exp": None},
        {"exp": "tomorrow"},
        {"exp": True},
        {"exp": int(time.time()) - 3600},
        {"exp": 1e300},
        {"nbf": int(time.time()) + 3600},
        {"iat": int(time.time()) + 3600},
        {"sub": None, "client_id": None},
        {"sub": 7, "client_id": None},
        {"cnf": {"jkt": "thumbprint"}},
        {"nonce": "of an ID token", "scope": None},
    ],
)
async def test_a_token_that_says_something_else_is_none(said: dict[str, Any]):
    assert await verifier().verify(signed(KEY, claims(**said))) is None


async def test_a_token_of_another_key_is_none():
    assert await verifier().verify(signed(rsa())) is None


@pytest.mark.parametrize("typ", ["logout+jwt", "dpop+jwt", "application/secevent+jwt"])
async def test_what_its_issuer_signed_for_something_else_is_no_access_token(typ: str):
    assert await verifier().verify(signed(KEY, typ=typ)) is None


async def test_a_published_key_is_no_shared_secret():
    """The oldest trick: HS256 with the public key, which everybody has, as its secret."""
    first = unsigned({"alg": "HS256", "kid": "one"}).rstrip(".")
    for secret in (KEY.as_pem(private=False), KEY.as_der(private=False)):
        signature = hmac.digest(secret, first.encode(), "sha256")
        assert await verifier().verify(f"{first}.{base64url(signature)}") is None


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unsigned(header: dict[str, Any]) -> str:
    parts = (json.dumps(header).encode(), json.dumps(claims()).encode())
    return ".".join(base64url(part) for part in parts) + "."


@pytest.mark.parametrize("alg", ["none", "None", "NONE", "", None, 7, ["RS256"], "HS256", "RSA-OAEP"])
async def test_a_token_without_a_signature_is_none(alg: Any):
    assert await verifier().verify(unsigned({"alg": alg, "kid": "one"})) is None


@pytest.mark.parametrize("token", ["", "opaque", "a.b.c", "....", "e30.e30.e30", "W10.e30.", "é.é.é", "." * 10_000])
async def test_what_is_no_token_at_all_is_none(token: str):
    assert await verifier().verify(token) is None


async def test_a_changed_token_is_none():
    head, body, signature = signed(KEY).split(".")
    said = claims(scope="everything")
    other = base64url(json.dumps(said).encode())
    assert await verifier().verify(f"{head}.{other}.{signature}") is None
    assert await verifier().verify(f"{head}.{body}.{signature[:-4]}AAAA") is None


@pytest.mark.parametrize("header", [{"jku": "https://evil.example/keys"}, {"x5u": "https://evil.example/c.pem"}])
async def test_the_token_does_not_say_where_its_key_is(header: dict[str, Any]):
    web = Web(**{JWKS: public(KEY), "https://evil.example/keys": public(EVIL := rsa())})
    assert await verifier(web).verify(signed(EVIL, **header)) is None
    assert web.urls == [JWKS]


async def test_a_key_in_the_token_is_not_used():
    evil = rsa()
    header: dict[str, Any] = {"jwk": evil.as_dict(private=False)}
    token = signed(evil, **header)
    assert await verifier().verify(token) is None


async def test_only_the_wanted_algorithms_are_taken():
    assert await verifier(algorithms=["ES256"]).verify(signed(KEY)) is None


async def test_a_critical_header_that_we_do_not_know_is_a_reason_to_refuse():
    plain = {"alg": "RS256", "kid": "one", "must": True}
    assert await verifier().verify(signed_by_hand(plain)) is not None
    assert await verifier().verify(signed_by_hand({**plain, "crit": ["must"]})) is None


def signed_by_hand(header: dict[str, Any]) -> str:
    """The library makes no token that it would not read."""
    first = unsigned(header).rstrip(".")
    private = cast("Any", KEY.private_key)
    return f"{first}.{base64url(private.sign(first.encode(), padding.PKCS1v15(), hashes.SHA256()))}"


# --- where the keys come from


@pytest.mark.parametrize(
    "place",
    [
        f"{ISSUER}/.well-known/oauth-authorization-server/tenant",
        f"{ISSUER}/.well-known/openid-configuration/tenant",
        f"{ISSUER}/tenant/.well-known/openid-configuration",
    ],
)
async def test_the_metadata_of_the_issuer_says_where_its_keys_are(place: str):
    issuer = f"{ISSUER}/tenant"
    web = Web(**{place: {"issuer": issuer, "jwks_uri": JWKS}, JWKS: public(KEY)})
    found = await JwtVerifier(issuer, fetch=web.fetch).verify(signed(KEY, claims(iss=issuer)))
    assert found is not None and web.urls[-2:] == [place, JWKS]


@pytest.mark.parametrize(
    "said",
    [
        {"issuer": "https://evil.example", "jwks_uri": JWKS},
        {"issuer": ISSUER, "jwks_uri": "http://login.example/keys"},
        {"issuer": ISSUER, "jwks_uri": "file:///etc/passwd"},
        {"issuer": ISSUER, "jwks_uri": 7},
        {"issuer": ISSUER},
    ],
)
async def test_metadata_of_somebody_else_or_with_an_odd_address_is_not_used(said: dict[str, Any]):
    web = Web(**{METADATA: said, JWKS: public(KEY), "http://login.example/keys": public(KEY)})
    with pytest.raises(ConnectionFailed, match="does not say where its keys are"):
        await JwtVerifier(ISSUER, fetch=web.fetch).verify(signed(KEY))
    assert JWKS not in web.urls


async def test_keys_are_read_once_for_many_tokens():
    web = Web(**{JWKS: public(KEY)})
    one = verifier(web)
    for _ in range(5):
        assert await one.verify(signed(KEY)) is not None
    assert web.urls == [JWKS]


async def test_a_new_key_is_looked_for_but_not_by_every_invented_token(monkeypatch: pytest.MonkeyPatch):
    web = Web(**{JWKS: public(KEY)})
    one, new = verifier(web), rsa("two")
    assert await one.verify(signed(KEY)) is not None
    web.answers[JWKS] = public(KEY, new)
    for _ in range(5):
        assert await one.verify(signed(new, kid="two")) is None, "looked a moment ago"
    assert len(web.asked) == 1
    monkeypatch.setattr(keys_room, "AGAIN_SECONDS", 0.0)
    assert await one.verify(signed(new, kid="two")) is not None
    assert len(web.asked) == 2


async def test_keys_that_cannot_be_read_again_stay(monkeypatch: pytest.MonkeyPatch):
    web = Web(**{JWKS: public(KEY)})
    one = verifier(web)
    assert await one.verify(signed(KEY)) is not None
    web.answers.clear()
    monkeypatch.setattr(keys_room, "AGAIN_SECONDS", 0.0)
    monkeypatch.setattr(keys_room, "KEPT_SECONDS", -1.0)
    assert await one.verify(signed(KEY)) is not None
    assert len(web.asked) == 2


async def test_without_keys_nobody_is_called_invalid():
    with pytest.raises(ConnectionFailed, match="cannot be reached"):
        await verifier(Web()).verify(signed(KEY))


async def test_keys_of_other_kinds_do_not_cost_the_set():
    odd: list[Any] = [
        {"kty": "future"},
        "no key",
        {"kty": "RSA", "n": "!", "e": "AQAB"},
        None,
        {"kty": "oct", "k": "AA"},
    ]
    odd.append({**KEY.as_dict(private=False), "use": "enc", "kid": "one"})
    web = Web(**{JWKS: {"keys": [*odd, *public(KEY)["keys"]]}})
    assert await verifier(web).verify(signed(KEY)) is not None


async def test_a_key_for_encryption_signs_nothing():
    web = Web(**{JWKS: {"keys": [{**KEY.as_dict(private=False), "use": "enc"}]}})
    assert await verifier(web).verify(signed(KEY)) is None


async def test_a_key_that_says_its_algorithm_is_for_that_one_only():
    key = rsa(alg="PS256")
    web = Web(**{JWKS: public(key)})
    assert await verifier(web).verify(signed(key, alg="PS256")) is not None
    assert await verifier(web).verify(signed_anyhow(key)) is None


def signed_anyhow(key: RSAKey) -> str:
    plain: dict[str, Any] = {k: v for k, v in key.as_dict(private=True).items() if k != "alg"}
    return signed(RSAKey.import_key(plain), alg="RS256")


async def test_keys_without_names_are_all_tried():
    named, first, second = rsa("else"), rsa(None), rsa(None)
    web = Web(**{JWKS: public(named, first, second)})
    assert await verifier(web).verify(signed(second, kid=None)) is not None
    assert await verifier(web).verify(signed(second, kid="unheard-of")) is not None


@pytest.mark.parametrize("said", [{"keys": "none"}, {}, {"keys": []}])
async def test_a_set_without_keys_lets_nobody_in(said: dict[str, Any]):
    assert await verifier(Web(**{JWKS: said})).verify(signed(KEY)) is None


# --- made


@pytest.mark.parametrize(
    ("issuer", "options"),
    [
        ("http://login.example", {}),
        ("login.example", {}),
        ("https://user@login.example", {}),
        (ISSUER, {"jwks_uri": "http://login.example/keys"}),
        (ISSUER, {"algorithms": ["HS256"]}),
        (ISSUER, {"algorithms": ["none"]}),
    ],
)
def test_what_can_be_no_issuer_is_refused_at_once(issuer: str, options: dict[str, Any]):
    with pytest.raises(UsageError):
        JwtVerifier(issuer, **options)


def test_without_joserfc_the_line_to_install_it_is_said(monkeypatch: pytest.MonkeyPatch):
    def none(name: str) -> None:
        return None

    monkeypatch.setattr("importlib.util.find_spec", none)
    with pytest.raises(UsageError, match=r"pip install \"jupyter-mcp-host\[auth\]\""):
        JwtVerifier(ISSUER)


def test_joserfc_is_not_loaded_before_the_first_token():
    code = (
        "import sys; from jupyter_mcp.server.authorization import JwtVerifier;"
        f"JwtVerifier({ISSUER!r}); sys.exit('joserfc' in sys.modules or 'cryptography' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_repr_says_whose_tokens_only():
    assert repr(verifier()) == f"<JwtVerifier of {ISSUER}>"
    assert room.ALGORITHMS and not any(name.startswith("HS") for name in room.ALGORITHMS)
