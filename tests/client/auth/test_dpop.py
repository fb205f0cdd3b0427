"""Tokens bound to a key: a fresh proof with every request, nonces, and no step back to plain ones."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest
from joserfc import jwk, jwt

from jupyter_mcp.client.auth.dpop import DpopKey
from jupyter_mcp.errors import AuthorizationFailed
from tests.client.auth.world import ISSUER, PRM, URL, World, answer, form_of

if TYPE_CHECKING:
    from jupyter_mcp.client.auth.steps import Request, Response

pytestmark = pytest.mark.anyio

CHALLENGE = f'DPoP algs="ES256", resource_metadata="{PRM}/mcp"'


def read(proof: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Header and claims of a proof, whose signature is that of the key in it."""
    header: dict[str, Any] = json.loads(base64.urlsafe_b64decode(proof.partition(".")[0] + "=="))
    token = jwt.decode(proof, jwk.import_key(header["jwk"], "EC"))
    return header, dict(token.claims)


def bound(world: World, nonce: str = "") -> None:
    """A token endpoint that gives bound tokens, and wants a nonce."""

    def endpoint(request: Request) -> Response:
        header, claims = read(request.headers["DPoP"])
        assert (claims["htm"], claims["htu"]) == ("POST", f"{ISSUER}/token")
        assert "ath" not in claims and header["typ"] == "dpop+jwt" and "d" not in header["jwk"]
        if nonce and claims.get("nonce") != nonce:
            return answer({"error": "use_dpop_nonce"}, 400, dpop_nonce=nonce)
        return world.issue(form_of(request).get("scope", ""), "DPoP")

    world.pages[f"{ISSUER}/token"] = endpoint


async def logged_in(world: World, header: str = CHALLENGE, **settings: Any) -> Any:
    oauth = world.oauth(**settings)
    assert await oauth.answer(world.refusal(header))
    return oauth


def test_a_proof_says_what_it_is_for() -> None:
    key = DpopKey()
    header, claims = read(key.proof("POST", "https://a.example/mcp?x=1#y", 1000.9, "the-token"))
    assert header["alg"] == "ES256" and header["typ"] == "dpop+jwt" and "d" not in header["jwk"]
    assert (claims["htm"], claims["htu"], claims["iat"]) == ("POST", "https://a.example/mcp", 1000)
    digest = base64.urlsafe_b64encode(hashlib.sha256(b"the-token").digest()).rstrip(b"=").decode()
    assert claims["ath"] == digest and "nonce" not in claims
    assert key.thumbprint == jwk.import_key(header["jwk"], "EC").thumbprint()


def test_no_two_proofs_are_the_same() -> None:
    key = DpopKey()
    assert len({read(key.proof("GET", URL, 1.0))[1]["jti"] for _ in range(20)}) == 20


def test_each_origin_has_its_own_nonce() -> None:
    key = DpopKey()
    key.learn("https://a.example/x", "one")
    key.learn("https://b.example/x", "two")
    assert read(key.proof("GET", "https://a.example/y", 1.0))[1]["nonce"] == "one"
    assert "nonce" not in read(key.proof("GET", "https://c.example/y", 1.0))[1]
    key.learn("https://a.example/", "x" * 5000)
    key.learn("https://a.example/", "ä")
    assert read(key.proof("GET", "https://a.example/y", 1.0))[1]["nonce"] == "one"


def test_nonces_of_ever_more_origins_are_not_hoarded() -> None:
    key = DpopKey()
    for number in range(500):
        key.learn(f"https://{number}.example/", "n")
    assert "nonce" not in read(key.proof("GET", "https://0.example/", 1.0))[1]
    assert "nonce" in read(key.proof("GET", "https://499.example/", 1.0))[1]


def test_a_key_is_kept_and_not_shown() -> None:
    key = DpopKey()
    assert DpopKey.load(key.dump()).thumbprint == key.thumbprint
    assert json.loads(key.dump())["d"] not in repr(key)


async def test_a_server_that_insists_gets_bound_tokens_with_a_proof_each_time() -> None:
    world = World()
    bound(world)
    oauth = await logged_in(world)
    token = oauth.stored.tokens.access
    first, second = [await oauth.headers("POST", URL) for _ in range(2)]
    assert first["Authorization"] == second["Authorization"] == f"DPoP {token}"
    claims = [read(one["DPoP"])[1] for one in (first, second)]
    assert claims[0]["jti"] != claims[1]["jti"]
    assert {one["htu"] for one in claims} == {URL} and all("ath" in one for one in claims)
    asked = world.person.asked()
    assert asked["dpop_jkt"] == jwk.import_key(read(first["DPoP"])[0]["jwk"], "EC").thumbprint()


async def test_the_resources_metadata_may_insist_too() -> None:
    world = World(resource={"dpop_bound_access_tokens_required": True})
    bound(world)
    oauth = await logged_in(world, f'Bearer resource_metadata="{PRM}/mcp"')
    assert oauth.stored.tokens.kind == "DPoP"


async def test_where_nobody_insists_tokens_are_plain_unless_a_person_wants_them_bound() -> None:
    world = World(metadata={"dpop_signing_alg_values_supported": ["ES256"]})
    assert "DPoP" not in await (await logged_in(world, f'Bearer resource_metadata="{PRM}/mcp"')).headers("POST", URL)
    world = World(metadata={"dpop_signing_alg_values_supported": ["ES256"]})
    bound(world)
    oauth = await logged_in(world, f'Bearer resource_metadata="{PRM}/mcp"', dpop="always")
    assert "DPoP" in await oauth.headers("POST", URL)


async def test_the_token_endpoints_nonce_is_used_at_once_and_the_next_time() -> None:
    world = World()
    bound(world, "as-nonce")
    oauth = await logged_in(world)
    assert len(world.posts("token")) == 2
    world.now += 3600
    await oauth.headers("POST", URL)
    assert len(world.posts("token")) == 3


async def test_a_token_endpoint_that_always_wants_another_nonce_is_asked_twice() -> None:
    world = World()
    page = answer({"error": "use_dpop_nonce"}, 400, dpop_nonce="again")
    world.pages[f"{ISSUER}/token"] = page
    with pytest.raises(AuthorizationFailed, match="use_dpop_nonce"):
        await world.oauth().answer(world.refusal(CHALLENGE))
    assert len(world.posts("token")) == 2


async def test_the_servers_nonce_goes_into_the_next_proof_without_a_new_login() -> None:
    world = World()
    bound(world)
    oauth = await logged_in(world)
    sent = (await oauth.headers("POST", URL))["Authorization"]
    challenge = world.refusal('DPoP error="use_dpop_nonce"', sent=sent, dpop_nonce="rs-nonce")
    assert await oauth.answer(challenge)
    assert read((await oauth.headers("POST", URL))["DPoP"])[1]["nonce"] == "rs-nonce"
    oauth.learn(URL, "rs-nonce-2")
    assert read((await oauth.headers("POST", URL))["DPoP"])[1]["nonce"] == "rs-nonce-2"
    assert len(world.person.visits) == 1


async def test_a_plain_token_is_not_taken_for_a_bound_one() -> None:
    world = World()
    with pytest.raises(AuthorizationFailed, match="not bound to our key"):
        await world.oauth().answer(world.refusal(CHALLENGE))
    assert world.oauth().stored is None


async def test_an_authorization_server_that_takes_only_other_signatures_is_said() -> None:
    world = World(metadata={"dpop_signing_alg_values_supported": ["RS512", "none"]})
    with pytest.raises(AuthorizationFailed, match="does not take proofs in ES256"):
        await world.oauth().answer(world.refusal(CHALLENGE))
    assert world.person.visits == []


async def test_a_kept_login_goes_on_with_its_key() -> None:
    world = World()
    bound(world)
    first = await logged_in(world)
    second = await logged_in(world)
    proofs = [read((await one.headers("POST", URL))["DPoP"])[0]["jwk"] for one in (first, second)]
    assert proofs[0] == proofs[1]
    assert len(world.person.visits) == 1
    assert json.loads(first.stored.dpop_key)["d"] not in repr(first.stored)
