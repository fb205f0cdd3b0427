"""The page a person visits, and what the browser brings back: ours, whole, and from whom we asked, or nothing."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from jupyter_mcp.client.auth.authorize import challenge, page, read_answer
from jupyter_mcp.client.auth.metadata import ServerMetadata
from jupyter_mcp.client.auth.visit import RedirectParams, VisitRequest, read_redirect
from jupyter_mcp.errors import AuthorizationFailed
from tests.client.auth.world import CALLBACK, ISSUER, URL, World

pytestmark = pytest.mark.anyio

SERVER = ServerMetadata(ISSUER, f"{ISSUER}/authorize", f"{ISSUER}/token", pkce_methods=("S256",))
NAMES_ITSELF = ServerMetadata(ISSUER, f"{ISSUER}/authorize", f"{ISSUER}/token", says_issuer=True)


def visit(server: ServerMetadata = SERVER, **more: Any) -> VisitRequest:
    given: dict[str, Any] = {
        "name": "docs",
        "client_id": "me",
        "redirect_uri": CALLBACK,
        "state": "the-state",
        "verifier": "v" * 43,
        "resource": URL,
        "scopes": (),
    }
    return page(server, **(given | more))


def test_the_challenge_is_the_example_of_rfc_7636() -> None:
    assert challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk") == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


def test_the_page_keeps_what_its_address_had_and_holds_no_secret() -> None:
    server = ServerMetadata(ISSUER, f"{ISSUER}/authorize?tenant=a%20b")
    asked = visit(server, scopes=("read", "offline_access"), key_thumbprint="thumb")
    query = parse_qs(urlsplit(asked.authorize_url).query)
    assert query["tenant"] == ["a b"] and query["scope"] == ["read offline_access"]
    assert query["prompt"] == ["consent"] and query["dpop_jkt"] == ["thumb"]
    assert "v" * 43 not in asked.authorize_url
    assert "the-state" not in repr(asked) and "code_challenge" not in repr(asked)


def test_the_code_is_what_came_back_with_our_state() -> None:
    assert read_answer(RedirectParams("c", "the-state"), visit(), SERVER) == "c"
    assert read_answer(RedirectParams("c", "the-state", ISSUER), visit(), SERVER) == "c"
    assert read_answer(RedirectParams("c", "the-state", ISSUER), visit(), NAMES_ITSELF) == "c"
    assert read_answer(f"{CALLBACK}?code=a%2Fb&state=the-state", visit(), SERVER) == "a/b"


@pytest.mark.parametrize(
    ("answer", "server", "words"),
    [
        (RedirectParams("c", None), SERVER, "by something else than what was asked"),
        (RedirectParams("c", ""), SERVER, "by something else than what was asked"),
        (RedirectParams("c", "the-statE"), SERVER, "by something else than what was asked"),
        (RedirectParams("c", "the-state-ü"), SERVER, "by something else than what was asked"),
        (RedirectParams(None, "other", error="access_denied"), SERVER, "by something else than what was asked"),
        (
            RedirectParams("c", "the-state", "https://evil.example"),
            SERVER,
            "names as its issuer: “https://evil.example”",
        ),
        (RedirectParams("c", "the-state", f"{ISSUER}/"), SERVER, "names as its issuer"),
        (RedirectParams("c", "the-state", ISSUER.upper()), SERVER, "names as its issuer"),
        (RedirectParams("c", "the-state", ""), SERVER, "names as its issuer"),
        (RedirectParams("c", "the-state", None), NAMES_ITSELF, "names as its issuer: “nobody”"),
        (RedirectParams(None, "the-state"), SERVER, "without a code"),
        (RedirectParams("", "the-state"), SERVER, "without a code"),
        (RedirectParams("c" * 5000, "the-state"), SERVER, "without a code"),
        (RedirectParams("c", "the-state", error="server_error"), SERVER, "with an error: “server_error”"),
        (RedirectParams(None, "the-state", error="x\x1b[31m\n", error_description="y" * 9999), SERVER, "with an error"),
    ],
)
def test_an_answer_that_is_not_ours_gives_no_code(answer: RedirectParams, server: ServerMetadata, words: str) -> None:
    with pytest.raises(AuthorizationFailed) as caught:
        read_answer(answer, visit(server), server)
    message = str(caught.value)
    assert words in message
    assert message.isprintable() and len(message) < 900


def test_what_another_issuer_says_went_wrong_is_not_shown() -> None:
    """Whoever mixes up issuers must not be able to put words into our mouth."""
    answer = RedirectParams(None, "the-state", "https://evil.example", "access_denied", "call 555-0100")
    with pytest.raises(AuthorizationFailed) as caught:
        read_answer(answer, visit(), SERVER)
    assert "555" not in str(caught.value) and not caught.value.declined


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/callback?code=c&state=s",
        "http://127.0.0.1:7777/other?code=c&state=s",
        "http://127.0.0.1:7778/callback?code=c&state=s",
        "https://127.0.0.1:7777/callback?code=c&state=s",
        "http://127.0.0.1:7777@evil.example/callback?code=c",
        "code=c&state=s",
        "http://[::1",
        "",
        f"{CALLBACK}?code=c&code=d&state=s",
        f"{CALLBACK}?code=c&state=s&state=t",
        f"{CALLBACK}?iss=a&iss=b&code=c",
        f"{CALLBACK}?code=" + "c" * 20_000,
    ],
)
def test_an_address_that_was_pasted_has_to_be_the_one(url: str) -> None:
    with pytest.raises(AuthorizationFailed):
        read_redirect(url, CALLBACK)


def test_an_address_may_come_with_what_pasting_adds_and_what_others_add() -> None:
    query = urlencode({"code": "c", "state": "s", "session_state": "z", "iss": ISSUER})
    assert read_redirect(f"  {CALLBACK}?{query}#_=_\n", CALLBACK) == RedirectParams("c", "s", ISSUER)
    assert read_redirect(f"{CALLBACK}?error=access_denied").error == "access_denied"


def test_what_came_back_shows_no_code() -> None:
    assert "secret-code" not in repr(RedirectParams("secret-code", "secret-state"))
    assert "secret-state" not in repr(RedirectParams("secret-code", "secret-state"))


@pytest.mark.parametrize("iss", ["https://evil.example", f"{ISSUER}/", None])
async def test_a_mixed_up_answer_never_takes_the_code_to_the_token_endpoint(iss: str | None) -> None:
    world = World()
    world.person.says = lambda request: RedirectParams(**(world.let_in(request) | {"iss": iss}))
    oauth = world.oauth()
    with pytest.raises(AuthorizationFailed):
        await oauth.answer(world.refusal())
    assert world.posts("token") == []
    assert oauth.stored is None
