"""Logging in without a person: as the client itself, by the place where it runs, by its organisation."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from joserfc import jwk, jwt

from jupyter_mcp.client.auth.clientcredentials import ClientCredentials
from jupyter_mcp.client.auth.enterprise import Enterprise
from jupyter_mcp.client.auth.signing import LIFE
from jupyter_mcp.client.auth.workload import Workload
from jupyter_mcp.errors import AuthorizationFailed
from tests.client.auth.world import ISSUER, PRM, URL, World, answer, bearer, form_of

if TYPE_CHECKING:
    from jupyter_mcp.client.auth.steps import Request, Response

pytestmark = pytest.mark.anyio

SECRET = "client-secret-of-the-service"
IDP = "https://idp.corp.example/token"
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"


def service(**more: Any) -> tuple[World, dict[str, Any]]:
    """A world that knows the client "service", and settings for it."""
    world = World(metadata=more.pop("metadata", None))
    world.client("service", SECRET)
    return world, {"client_id": "service", "client_secret": SECRET, "grant": ClientCredentials(), **more}


async def logged_in(world: World, settings: dict[str, Any], header: str | None = None) -> Any:
    oauth = world.oauth(**settings)
    assert await oauth.answer(world.refusal(header))
    assert world.person.prepared == [] and world.person.visits == []
    return oauth


async def failure(world: World, settings: dict[str, Any]) -> AuthorizationFailed:
    oauth = world.oauth(**settings)
    with pytest.raises(AuthorizationFailed) as caught:
        await oauth.answer(world.refusal())
    assert oauth.stored is None
    return caught.value


# --- the client itself -----------------------------------------------------------------------------------------------


async def test_a_client_logs_in_as_itself_with_its_secret() -> None:
    world, settings = service()
    oauth = await logged_in(world, settings, f'Bearer scope="read", resource_metadata="{PRM}/mcp"')
    assert world.seen("token") == [{"grant_type": "client_credentials", "resource": URL, "scope": "read"}]
    header = world.posts("token")[0].headers["Authorization"]
    assert base64.b64decode(header.removeprefix("Basic ")).decode() == f"service:{SECRET}"
    assert (await bearer(oauth)).startswith("Bearer access-")


async def test_it_needs_no_page_and_no_pkce() -> None:
    world, settings = service(metadata={"authorization_endpoint": None, "code_challenge_methods_supported": None})
    await logged_in(world, settings)


async def test_when_its_token_is_over_it_logs_in_again() -> None:
    world, settings = service()
    world.grants_refresh = False
    oauth = await logged_in(world, settings)
    for _ in range(4):
        world.now += 3600
        assert await oauth.answer(world.refusal(sent=await bearer(oauth)))
    assert len(world.seen("token")) == 5


async def test_more_scopes_are_asked_for_without_a_person() -> None:
    world, settings = service()
    oauth = await logged_in(world, settings, f'Bearer scope="read", resource_metadata="{PRM}/mcp"')
    more = f'Bearer error="insufficient_scope", scope="write", resource_metadata="{PRM}/mcp"'
    assert await oauth.answer(world.refusal(more, 403, await bearer(oauth)))
    assert [form["scope"] for form in world.seen("token")] == ["read", "read write"]


async def test_a_wrong_secret_is_one_sentence_without_it() -> None:
    world, settings = service(client_secret="not-the-secret-at-all")
    error = await failure(world, settings)
    assert "the token request: https://login.example.com/token answered with HTTP 401: “invalid_client”" in str(error)
    assert "not-the-secret" not in repr(error) + str(error)


async def test_without_a_client_id_it_says_what_to_set() -> None:
    world, settings = service(client_id=None)
    assert "--oauth-client-id" in str(await failure(world, settings))


def pem(key: Any) -> str:
    encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    return key.private_bytes(encoding, form, serialization.NoEncryption()).decode()


KEYS = {
    "ES256": lambda: ec.generate_private_key(ec.SECP256R1()),
    "ES384": lambda: ec.generate_private_key(ec.SECP384R1()),
    "RS256": lambda: rsa.generate_private_key(65537, 2048),
    "EdDSA": ed25519.Ed25519PrivateKey.generate,
}
KINDS: dict[str, Any] = {"ES256": "EC", "ES384": "EC", "RS256": "RSA", "EdDSA": "OKP"}


@pytest.mark.filterwarnings("ignore:EdDSA is deprecated")
@pytest.mark.parametrize("algorithm", KEYS)
async def test_a_client_may_sign_instead(algorithm: str) -> None:
    key = pem(KEYS[algorithm]())
    world, settings = service(client_secret=None, private_key=key)
    await logged_in(world, settings)
    (form,) = world.seen("token")
    assert form["client_assertion_type"] == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    read: Any = jwk.import_key
    token = jwt.decode(form["client_assertion"], read(key, KINDS[algorithm]), algorithms=[algorithm])
    assert token.header["alg"] == algorithm
    claims = token.claims
    assert (claims["iss"], claims["sub"], claims["aud"]) == ("service", "service", ISSUER)
    assert (claims["iat"], claims["exp"]) == (int(world.now), int(world.now) + LIFE)
    assert len(claims["jti"]) >= 24
    assert "Authorization" not in world.posts("token")[0].headers


async def test_each_signature_is_for_one_use() -> None:
    world, settings = service(client_secret=None, private_key=pem(KEYS["ES256"]()))
    oauth = await logged_in(world, settings)
    await oauth.login()
    assert len({form["client_assertion"] for form in world.seen("token")}) == 2


async def test_a_key_may_be_a_jwk() -> None:
    key = jwk.ECKey.generate_key("P-256")
    text = json.dumps(dict(key.as_dict(private=True)))
    world, settings = service(client_secret=None, private_key=text)
    await logged_in(world, settings)
    assert jwt.decode(world.seen("token")[0]["client_assertion"], key).claims["sub"] == "service"


@pytest.mark.parametrize(
    ("key", "algorithm", "words"),
    [
        ("nonsense-secret", None, "The private key cannot be read."),
        ('{"kty": "oct", "k": "bm9uc2Vuc2Utc2VjcmV0"}', None, "The private key cannot be read."),
        ('{"kty": 3}', None, "The private key cannot be read."),
        ("{", None, "The private key cannot be read."),
        ("public", None, "The private key cannot be read."),
        (None, "RS256", "cannot sign in 'RS256'"),
        (None, "none", "cannot sign in 'none'"),
        (None, "HS256", "cannot sign in 'HS256'"),
    ],
)
async def test_a_key_that_cannot_sign_is_one_sentence_without_it(key: str | None, algorithm: Any, words: str) -> None:
    if key == "public":
        key = jwk.ECKey.generate_key("P-256").as_pem(private=False).decode()
    world, settings = service(client_secret=None, private_key=key or pem(KEYS["ES256"]()), algorithm=algorithm)
    error = await failure(world, settings)
    assert words in str(error)
    assert "nonsense" not in str(error) and "bm9u" not in str(error)
    assert world.posts("token") == []


# --- the place where it runs -----------------------------------------------------------------------------------------


async def test_a_workload_trades_in_the_token_of_its_platform() -> None:
    world = World()
    world.client("workload", None)
    audiences: list[str] = []

    def platform(audience: str) -> str:
        audiences.append(audience)
        return "platform-token-1"

    await logged_in(world, {"client_id": "workload", "grant": Workload(platform)})
    assert audiences == [ISSUER]
    assert world.seen("token") == [
        {"grant_type": JWT_BEARER, "assertion": "platform-token-1", "resource": URL, "client_id": "workload"}
    ]


@pytest.mark.parametrize("error", ["invalid_grant", "invalid_scope", "unauthorized_client"])
async def test_a_workload_that_is_refused_tries_neither_again_nor_otherwise(error: str) -> None:
    world = World()
    world.pages[f"{ISSUER}/token"] = answer({"error": error}, 400)
    failed = await failure(world, {"client_id": "workload", "grant": Workload("platform-token-1")})
    assert failed.said == error
    assert len(world.posts("token")) == 1
    assert "platform-token-1" not in repr(failed) + str(failed)


async def test_a_platform_without_a_token_is_said() -> None:
    failed = await failure(World(), {"client_id": "workload", "grant": Workload(lambda audience: "")})
    assert str(failed) == "The platform gave no token for this workload."


# --- an organisation -------------------------------------------------------------------------------------------------


def organisation(exchange: Response | None = None) -> tuple[World, dict[str, Any]]:
    world, settings = service()
    given = {"access_token": "id-jag-1", "token_type": "N_A"}
    kind = {"issued_token_type": "urn:ietf:params:oauth:token-type:id-jag"}
    world.pages[IDP] = exchange or answer(given | kind)
    grant = Enterprise(IDP, lambda: "id-token-of-ada", "at-the-idp", "idp-client-secret")
    return world, settings | {"grant": grant}


async def test_an_identity_provider_trades_a_persons_token_for_a_grant() -> None:
    world, settings = organisation()
    await logged_in(world, settings)
    exchange, bearer_grant = (request for request in world.requests if request.method == "POST")
    assert (exchange.url, exchange.anywhere, bearer_grant.anywhere) == (IDP, True, False)
    assert form_of(exchange) == {
        "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
        "requested_token_type": "urn:ietf:params:oauth:token-type:id-jag",
        "audience": ISSUER,
        "resource": URL,
        "subject_token": "id-token-of-ada",
        "subject_token_type": "urn:ietf:params:oauth:token-type:id_token",
    }
    pair = base64.b64decode(exchange.headers["Authorization"].removeprefix("Basic ")).decode()
    assert pair == "at-the-idp:idp-client-secret"
    assert form_of(bearer_grant) == {"grant_type": JWT_BEARER, "assertion": "id-jag-1"}


@pytest.mark.parametrize(
    ("exchange", "words"),
    [
        (answer({"error": "access_denied"}, 403), "answered with HTTP 403: “access_denied”"),
        (answer({"access_token": "id-token-of-ada", "issued_token_type": "urn:x"}), "something else than the grant"),
        (answer({"issued_token_type": "urn:ietf:params:oauth:token-type:id-jag"}), "gave no grant"),
        (answer([]), "something else than the grant"),
    ],
)
async def test_an_identity_provider_that_says_no_is_the_end(exchange: Response, words: str) -> None:
    world, settings = organisation(exchange)
    error = await failure(world, settings)
    assert words in str(error) and IDP in str(error)
    assert "id-token-of-ada" not in str(error)
    assert world.posts("token")[-1].url == IDP


def test_settings_show_no_secret() -> None:
    _, settings = organisation()
    shown = repr(World().oauth(**settings)) + repr(settings["grant"]) + repr(Workload("platform-token-1"))
    assert not [one for one in ("id-token", "idp-client-secret", SECRET, "platform-token") if one in shown]


def echoing(request: Request) -> Response:
    """A token endpoint that repeats all it got, as broken ones do."""
    return answer({"error": "invalid_request", "error_description": request.body.decode() + str(request.headers)}, 400)


@pytest.mark.parametrize("kind", ["client", "workload", "organisation"])
async def test_what_an_endpoint_repeats_of_ours_is_not_passed_on(kind: str) -> None:
    world, settings = organisation() if kind == "organisation" else service()
    if kind == "workload":
        settings |= {"grant": Workload("platform-token/1+2"), "client_secret": None}
    world.pages[f"{ISSUER}/token"] = echoing
    if kind == "organisation":
        world.pages[IDP] = echoing
    text = str(await failure(world, settings))
    basic = base64.b64encode(f"service:{SECRET}".encode()).decode()
    secrets = (SECRET, basic, "platform-token", "id-token-of-ada", "idp-client-secret", "id-jag-1")
    assert not [secret for secret in secrets if secret in text]
    assert "•••" in text
