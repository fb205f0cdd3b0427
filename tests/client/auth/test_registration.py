"""Who we are to an authorization server: given, by a document, registered; and how its token endpoint learns it."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from jupyter_mcp.client.auth.registration import application_type, preferred
from jupyter_mcp.client.auth.steps import Response
from jupyter_mcp.client.auth.visit import Redirect
from jupyter_mcp.errors import AuthorizationFailed
from tests.client.auth.world import CALLBACK, ISSUER, World, answer, html

pytestmark = pytest.mark.anyio

DOCUMENT = "https://client.example/metadata.json"


async def logged_in(world: World, **settings: Any) -> Any:
    oauth = world.oauth(**settings)
    assert await oauth.answer(world.refusal())
    return oauth


async def test_what_is_registered() -> None:
    world = World()
    await logged_in(world)
    (request,) = world.posts("register")
    said = json.loads(request.body)
    del said["software_version"]
    assert said == {
        "client_name": "Jupyter MCP",
        "redirect_uris": [CALLBACK],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "application_type": "native",
        "software_id": "jupyter_mcp",
    }


@pytest.mark.parametrize(
    ("uri", "kind"),
    [
        ("http://127.0.0.1:1/callback", "native"),
        ("http://localhost/x", "native"),
        ("http://[::1]:1/x", "native"),
        ("com.example.app:/callback", "native"),
        ("https://hub.example.org/user/x/jupyter-mcp/oauth/callback", "web"),
    ],
)
def test_the_kind_of_application_follows_from_where_the_browser_comes_back(uri: str, kind: str) -> None:
    assert application_type(uri) == kind


async def test_the_grant_of_refreshing_is_left_out_where_there_is_none() -> None:
    world = World(metadata={"grant_types_supported": ["authorization_code"]})
    await logged_in(world)
    assert json.loads(world.posts("register")[0].body)["grant_types"] == ["authorization_code"]


async def test_a_client_id_that_was_given_goes_before_everything() -> None:
    world = World(metadata={"client_id_metadata_document_supported": True})
    world.client("ours", None)
    oauth = await logged_in(world, client_id="ours", document=DOCUMENT)
    assert world.posts("register") == []
    assert (oauth.stored.client.id, oauth.stored.client.source) == ("ours", "given")


async def test_a_document_goes_before_registering_where_documents_are_taken() -> None:
    world = World(metadata={"client_id_metadata_document_supported": True})
    world.client(DOCUMENT, None)
    await logged_in(world, document=DOCUMENT)
    assert world.person.asked()["client_id"] == DOCUMENT
    assert world.posts("register") == []
    world = World()
    await logged_in(world, document=DOCUMENT)
    assert world.person.asked()["client_id"] == "client-1"


async def test_another_place_to_come_back_to_is_another_client() -> None:
    world = World()
    oauth = await logged_in(world)
    world.person.redirect = Redirect("http://127.0.0.1:8888/callback")
    await oauth.login()
    assert len(world.posts("register")) == 2


async def test_a_secret_that_has_ended_is_not_used() -> None:
    world = World(metadata={"token_endpoint_auth_methods_supported": ["client_secret_basic"]})
    ends = {"client_id": "short", "client_secret": "secret-that-ends", "client_secret_expires_at": world.now + 60}
    world.client("short", "secret-that-ends")
    world.pages[f"{ISSUER}/register"] = answer(ends, 201)
    oauth = await logged_in(world)
    await oauth.login()
    assert len(world.posts("register")) == 1
    world.now += 120
    await oauth.login()
    assert len(world.posts("register")) == 2


async def test_without_any_way_to_become_somebody_it_says_what_to_set() -> None:
    world = World(metadata={"registration_endpoint": None})
    with pytest.raises(AuthorizationFailed) as caught:
        await world.oauth().answer(world.refusal())
    assert "registers no clients by itself" in str(caught.value)
    assert "--oauth-client-id" in str(caught.value)
    assert world.person.visits == []


@pytest.mark.parametrize(
    ("page", "words"),
    [
        (answer({"error": "invalid_redirect_uri", "error_description": "no\nloopback"}, 400), "“invalid_redirect_uri"),
        (html(status=403), "answered with HTTP 403."),
        (answer([1], 201), "did not answer with a JSON object"),
        (html(status=201), "did not answer with a JSON object"),
        (answer({}, 201), "gave no client id"),
        (answer({"client_id": ""}, 201), "gave no client id"),
        (answer({"client_id": 7}, 201), "gave no client id"),
        (answer({"client_id": "a\r\nX: b"}, 201), "gave no client id"),
        (Response(302), "answered with HTTP 302"),
    ],
)
async def test_a_registration_that_fails_ends_the_login_before_a_person_is_asked(page: Response, words: str) -> None:
    world = World()
    world.pages[f"{ISSUER}/register"] = page
    with pytest.raises(AuthorizationFailed) as caught:
        await world.oauth().answer(world.refusal())
    assert words in str(caught.value)
    assert (caught.value.step, caught.value.url) == ("registration", f"{ISSUER}/register")
    assert str(caught.value).isprintable()
    assert world.person.visits == []


# --- how the token endpoint learns it --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("methods", "method"),
    [
        (None, "client_secret_basic"),
        ([], "client_secret_basic"),
        (["client_secret_post"], "client_secret_post"),
        (["private_key_jwt", "client_secret_post", "client_secret_basic"], "client_secret_basic"),
        (["none"], "none"),
        (["tls_client_auth"], "client_secret_basic"),
    ],
)
def test_how_a_client_with_a_secret_shows_it(methods: list[str] | None, method: str) -> None:
    assert preferred(methods) == method


@pytest.mark.parametrize(
    ("methods", "header", "fields"),
    [
        (["client_secret_basic"], True, set[str]()),
        (["client_secret_post"], False, {"client_id", "client_secret"}),
        (["none"], False, {"client_id"}),
    ],
)
async def test_the_token_endpoint_is_shown_what_it_takes(methods: list[str], header: bool, fields: set[str]) -> None:
    world = World(metadata={"token_endpoint_auth_methods_supported": methods})
    id_, secret = "a:b c", "secret:ü/+"
    world.client(id_, secret)
    await logged_in(world, client_id=id_, client_secret=secret)
    (request,) = world.posts("token")
    (form,) = world.seen("token")
    assert {name for name in form if name.startswith("client_")} == fields
    if header:
        pair = base64.b64decode(request.headers["Authorization"].removeprefix("Basic ")).decode()
        assert pair == "a%3Ab%20c:secret%3A%C3%BC%2F%2B"
    else:
        assert "Authorization" not in request.headers


async def test_what_the_registration_says_about_it_counts() -> None:
    world = World(metadata={"token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"]})
    said = {"client_id": "x", "client_secret": "secret-of-x", "token_endpoint_auth_method": "client_secret_post"}
    world.client("x", "secret-of-x")
    world.pages[f"{ISSUER}/register"] = answer(said, 201)
    await logged_in(world)
    assert world.seen("token")[0]["client_secret"] == "secret-of-x"
    said["token_endpoint_auth_method"] = "something_else"
    oauth = await logged_in(world)
    await oauth.login()
    assert oauth.stored.client.auth_method in ("client_secret_post", "client_secret_basic")
