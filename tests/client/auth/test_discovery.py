"""From a refusal to the authorization server: where its metadata is looked for, and which is believed."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_mcp.client.auth.discovery import resource_places, server_places
from jupyter_mcp.client.auth.steps import Response
from jupyter_mcp.errors import AuthorizationFailed
from tests.client.auth.world import ISSUER, METADATA, NOT_FOUND, PRM, URL, World, answer, bearer, html

pytestmark = pytest.mark.anyio

BASE = "https://mcp.example.com"
OIDC = "/.well-known/openid-configuration"


async def failure(world: World, header: str | None = None) -> AuthorizationFailed:
    """Why a login ends; nobody was asked and nothing is kept."""
    oauth = world.oauth()
    with pytest.raises(AuthorizationFailed) as caught:
        await oauth.answer(world.refusal(header))
    assert world.person.visits == []
    assert oauth.stored is None
    assert not [request for request in world.requests if request.method == "POST"]
    message = str(caught.value)
    assert message.isprintable() and len(message) < 900
    assert caught.value.server == "docs"
    return caught.value


async def asked_for(world: World, header: str | None = None) -> list[str]:
    """The addresses that were asked until a person could log in."""
    assert await world.oauth().answer(world.refusal(header))
    return [request.url for request in world.requests if request.method == "GET"]


# --- the resource ----------------------------------------------------------------------------------------------------


def test_the_places_of_a_resource_are_its_path_and_its_root() -> None:
    assert resource_places(f"{BASE}/a/mcp") == [f"{PRM}/a/mcp", PRM]
    assert resource_places(f"{BASE}/a/mcp/?t=1") == [f"{PRM}/a/mcp?t=1", PRM]
    assert resource_places(f"{BASE}/") == [PRM]


async def test_what_the_refusal_says_is_asked_and_nothing_else() -> None:
    world = World()
    world.pages[f"{BASE}/meta.json"] = answer(world.resource)
    header = f'Bearer resource_metadata="{BASE}/meta.json"'
    assert await asked_for(world, header) == [f"{BASE}/meta.json", ISSUER + METADATA]


async def test_without_a_word_the_path_is_asked_and_then_the_root() -> None:
    world = World(resource={"resource": BASE})
    world.pages[f"{PRM}/mcp"] = NOT_FOUND
    world.pages[PRM] = answer(world.resource)
    assert await asked_for(world, "") == [f"{PRM}/mcp", PRM, ISSUER + METADATA]
    assert world.person.asked()["resource"] == BASE


async def test_a_page_that_is_there_for_any_path_is_no_metadata() -> None:
    world = World()
    world.pages[f"{PRM}/mcp"] = html()
    world.pages[PRM] = answer(world.resource)
    assert await asked_for(world, "Bearer") == [f"{PRM}/mcp", PRM, ISSUER + METADATA]


async def test_metadata_that_is_said_to_be_on_another_host_is_never_fetched() -> None:
    world = World()
    header = 'Bearer resource_metadata="https://evil.example.org/prm"'
    assert await asked_for(world, header) == [f"{PRM}/mcp", ISSUER + METADATA]  # its own host's is
    world = World()
    world.pages[f"{PRM}/mcp"] = NOT_FOUND
    error = await failure(world, header)
    assert "https://evil.example.org/prm is not on the host of the MCP server" in str(error)
    assert not [request for request in world.requests if "evil" in request.url]


@pytest.mark.parametrize(
    "url", ["http://169.254.169.254/prm", "javascript:1", "https://me:pw@mcp.example.com/prm", "http://[::1", "//x"]
)
async def test_metadata_that_is_said_to_be_nowhere_is_never_fetched(url: str) -> None:
    world = World()
    assert await asked_for(world, f'Bearer resource_metadata="{url}"') == [f"{PRM}/mcp", ISSUER + METADATA]


@pytest.mark.parametrize(
    ("page", "words"),
    [
        (Response(200, {}, b"nonsense"), "did not answer with a JSON object"),
        (Response(200, {}, b"[]"), "did not answer with a JSON object"),
        (Response(200, {}, b"[" * 100_000), "did not answer with a JSON object"),
        (Response(200, {}, b"\xff\xfe"), "did not answer with a JSON object"),
        (html(), "did not answer with a JSON object"),
        (answer({"error": "broken"}, 500), "answered with HTTP 500: “broken”"),
        (Response(403, {"content-type": "text/plain"}, b"go\x1b[31m away\n"), "HTTP 403: “go"),
    ],
)
async def test_metadata_that_the_refusal_names_has_to_be_some(page: Response, words: str) -> None:
    world = World()
    world.pages[f"{PRM}/mcp"] = page
    error = await failure(world)
    assert words in str(error)
    assert (error.step, error.url) == ("the server's metadata", f"{PRM}/mcp")


@pytest.mark.parametrize(
    "resource",
    [
        "https://evil.example.org/mcp",
        "https://mcp.example.com.evil.org/mcp",
        "https://mcp.example.com/mcp/other",
        "https://mcp.example.com/mcp#x",
        "http://mcp.example.com/mcp",
        "http://[",
        "urn:x",
    ],
)
async def test_a_server_that_says_that_it_is_another_is_not_logged_in_to(resource: str) -> None:
    error = await failure(World(resource={"resource": resource}))
    assert "says that it is another resource" in str(error)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"resource": None}, "names no resource"),
        ({"resource": 7}, "names no resource"),
        ({"authorization_servers": None}, "names no authorization server"),
        ({"authorization_servers": list[str]()}, "names no authorization server"),
        ({"authorization_servers": "https://login.example.com"}, "names no authorization server"),
        ({"authorization_servers": [3, None]}, "names no authorization server"),
        ({"authorization_servers": ["javascript:alert(1)"]}, "no https URL"),
        ({"authorization_servers": ["http://login.example.com"]}, "not https"),
        ({"authorization_servers": ["https://127.0.0.1:8080"]}, "private network"),
        ({"authorization_servers": ["https://169.254.169.254"]}, "private network"),
        ({"authorization_servers": ["https://login.example.com/?x=1"]}, "names an authorization server that is none"),
        ({"authorization_servers": ["https://a@login.example.com"]}, "a user or a fragment"),
    ],
)
async def test_metadata_of_a_resource_that_cannot_be_followed(fields: dict[str, Any], words: str) -> None:
    assert words in str(await failure(World(resource=fields)))


async def test_of_several_authorization_servers_the_one_that_we_are_known_to_is_taken() -> None:
    world = World(resource={"authorization_servers": ["https://other.example.com", ISSUER]})
    world.client("given", "client-secret-of-ours")
    oauth = world.oauth(client_id="given", client_secret="client-secret-of-ours", issuer=ISSUER)
    assert await oauth.answer(world.refusal())
    assert oauth.stored is not None and oauth.stored.issuer == ISSUER


async def test_the_version_of_the_request_is_told_to_those_who_are_asked() -> None:
    world = World()
    await world.oauth().answer(world.refusal(protocol_version="2025-11-25"))
    said = [request.headers.get("MCP-Protocol-Version") for request in world.requests if request.method == "GET"]
    assert said == ["2025-11-25", "2025-11-25"]


# --- the authorization server ----------------------------------------------------------------------------------------


def test_the_places_of_an_authorization_server() -> None:
    assert server_places("https://a.example") == [f"https://a.example{METADATA}", f"https://a.example{OIDC}"]
    assert server_places("https://a.example/") == server_places("https://a.example")
    assert server_places("https://a.example/t/1") == [
        f"https://a.example{METADATA}/t/1",
        f"https://a.example{OIDC}/t/1",
        f"https://a.example/t/1{OIDC}",
    ]


@pytest.mark.parametrize("place", range(3))
async def test_metadata_is_found_at_any_of_them(place: int) -> None:
    world = World(issuer=f"{ISSUER}/tenant")
    places = server_places(world.issuer)
    del world.pages  # what is not set below is not there
    world.pages = {url: html() if number % 2 else NOT_FOUND for number, url in enumerate(places)}
    world.pages[places[place]] = answer(world.metadata)
    assert (await asked_for(world))[1:] == places[: place + 1]


@pytest.mark.parametrize("first", [answer({"error": "x"}, 500), Response(503)])
async def test_one_place_that_breaks_does_not_hide_the_others(first: Response) -> None:
    world = World()
    world.pages = {ISSUER + METADATA: first, ISSUER + OIDC: answer(world.metadata)}
    assert (await asked_for(world))[1:] == [ISSUER + METADATA, ISSUER + OIDC]
    world = World()
    world.pages = {ISSUER + METADATA: first}
    assert f"answered with HTTP {first.status}" in str(await failure(world))


async def test_an_authorization_server_without_metadata_is_not_guessed_at() -> None:
    world = World()
    world.pages[ISSUER + METADATA] = NOT_FOUND
    error = await failure(world)
    assert str(error) == (
        "Logging in failed at the authorization server's metadata: https://login.example.com has none, "
        "at any of 2 places."
    )


@pytest.mark.parametrize(
    "issuer",
    [f"{ISSUER}/", "https://evil.example.org", "https://LOGIN.example.com", f"{ISSUER}:443", f"{ISSUER}/x", None, 3],
)
async def test_an_issuer_that_is_not_the_one_that_was_asked_about_is_refused(issuer: Any) -> None:
    error = await failure(World(metadata={"issuer": issuer}))
    assert "says that it is another issuer" in str(error)


@pytest.mark.parametrize("name", ["authorization", "token", "registration", "revocation"])
@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "http://login.example.com/x", "https://127.0.0.1/x", "https://a@b.example/", "x" * 4000],
)
async def test_no_address_of_the_metadata_leads_where_it_must_not(name: str, url: str) -> None:
    error = await failure(World(metadata={f"{name}_endpoint": url}))
    assert error.step == "the authorization server's metadata"


async def test_an_authorization_server_needs_a_token_endpoint() -> None:
    assert "names no token endpoint" in str(await failure(World(metadata={"token_endpoint": None})))
    assert "names no token endpoint" in str(await failure(World(metadata={"token_endpoint": ["x"]})))


@pytest.mark.parametrize("methods", [None, [], ["plain"], "S256", {"S256": 1}])
async def test_an_authorization_server_that_does_not_say_that_it_knows_pkce_is_not_used(methods: Any) -> None:
    error = await failure(World(metadata={"code_challenge_methods_supported": methods}))
    assert "does not say that it knows PKCE" in str(error)


async def test_a_client_that_never_ends_asking_is_ended() -> None:
    """A thousand authorization servers in the metadata are one that is looked at."""
    world = World(resource={"authorization_servers": [f"https://{number}.example" for number in range(1000)]})
    await failure(world)
    assert len(world.requests) == 3


# --- as 2025-03-26 has it --------------------------------------------------------------------------------------------


def older(issuer: str = BASE, **metadata: Any) -> World:
    """A server that is its own authorization server and has no metadata as a resource."""
    world = World(issuer=BASE, metadata=metadata | {"issuer": issuer})
    world.pages[f"{PRM}/mcp"] = NOT_FOUND
    return world


async def test_without_metadata_of_a_resource_the_servers_own_origin_is_the_authorization_server() -> None:
    world = older()
    assert await asked_for(world, "Bearer") == [f"{PRM}/mcp", PRM, BASE + METADATA]
    assert world.person.asked()["resource"] == URL


async def test_there_an_issuer_of_the_same_origin_will_do() -> None:
    world = older(f"{BASE}/oauth", authorization_response_iss_parameter_supported=None)
    world.person.says = lambda visit: f"{visit.redirect_uri}?code={only_code(world, visit)}&state={visit.state}"
    oauth = world.oauth()
    assert await oauth.answer(world.refusal(""))
    assert oauth.stored is not None and oauth.stored.issuer == f"{BASE}/oauth"


def only_code(world: World, visit: Any) -> str:
    return world.let_in(visit)["code"]


@pytest.mark.parametrize(
    "issuer", ["https://evil.example.org", "http://mcp.example.com", "https://mcp.example.com:8443", ""]
)
async def test_one_of_another_origin_will_not(issuer: str) -> None:
    assert "says that it is another issuer" in str(await failure(older(issuer), ""))


async def test_without_any_metadata_the_fixed_paths_are_used() -> None:
    world = older()
    world.pages[BASE + METADATA] = NOT_FOUND
    world.person.says = lambda visit: f"{visit.redirect_uri}?code={only_code(world, visit)}&state={visit.state}"
    oauth = world.oauth()
    assert await oauth.answer(world.refusal(""))
    assert world.person.visits[0].authorize_url.startswith(f"{BASE}/authorize?")
    assert (await bearer(oauth)).startswith("Bearer access-")


async def test_a_server_that_knows_no_oauth_at_all_says_what_to_set() -> None:
    world = older()
    world.pages[BASE + METADATA] = html()
    world.pages[f"{BASE}/register"] = NOT_FOUND
    oauth = world.oauth()
    with pytest.raises(AuthorizationFailed) as caught:
        await oauth.answer(world.refusal(""))
    assert str(caught.value) == (
        "The server wants to know who you are, and https://mcp.example.com offers no way to log in. "
        "Give a token with --bearer, or a header with --header."
    )
    assert world.person.visits == []
