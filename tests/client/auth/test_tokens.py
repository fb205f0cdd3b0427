"""What a token endpoint may answer, and what becomes of it; which scopes are asked for."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_mcp.client.auth.steps import Response
from jupyter_mcp.client.auth.stepup import MOST, SPAN, Attempts, scopes_for
from jupyter_mcp.errors import AuthorizationFailed
from tests.client.auth.world import ISSUER, PRM, World, answer, bearer, html

pytestmark = pytest.mark.anyio


async def with_answer(page: Response) -> Any:
    world = World()
    world.pages[f"{ISSUER}/token"] = page
    oauth = world.oauth()
    await oauth.answer(world.refusal())
    return oauth


@pytest.mark.parametrize("kind", ["Bearer", "bearer", "BEARER"])
async def test_the_kind_of_a_token_is_read_in_any_case(kind: str) -> None:
    oauth = await with_answer(answer({"access_token": "abc", "token_type": kind}))
    assert await bearer(oauth) == "Bearer abc"


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        (60, 60.0),
        (60.5, 60.5),
        ("60", 60.0),
        (0, 0.0),
        (None, None),
        (True, None),
        (-5, None),
        ("soon", None),
        ("٦٠", 60.0),
        (1e300, None),
        ("9" * 400, None),
        ([60], None),
    ],
)
async def test_how_long_a_token_lives_is_a_number_or_not_said(said: Any, seconds: float | None) -> None:
    oauth = await with_answer(answer({"access_token": "abc", "token_type": "Bearer", "expires_in": said}))
    ends = oauth.stored.tokens.expires_at
    assert ends == (None if seconds is None else World().now + seconds)


@pytest.mark.parametrize(
    ("page", "words"),
    [
        (answer({"error": "invalid_grant", "error_description": "it\nis <over>"}, 400), "HTTP 400: “invalid_grant ("),
        (answer({"error": {"code": 1}}, 400), "HTTP 400."),
        (answer({"message": "Internal"}, 500), "HTTP 500."),
        (html(status=502), "HTTP 502."),
        (Response(429, {"content-type": "text/plain"}, b"slow\x07 down"), "HTTP 429: “slow"),
        (Response(200, {}, b""), "did not answer with a JSON object"),
        (html(), "did not answer with a JSON object"),
        (answer([]), "did not answer with a JSON object"),
        (answer({"token_type": "Bearer"}), "gave no access token"),
        (answer({"access_token": "", "token_type": "Bearer"}), "gave no access token"),
        (answer({"access_token": 5, "token_type": "Bearer"}), "gave no access token"),
        (answer({"access_token": "a\r\nX-Evil: 1", "token_type": "Bearer"}), "gave no access token"),
        (answer({"access_token": "a b", "token_type": "Bearer"}), "gave no access token"),
        (answer({"access_token": "ä", "token_type": "Bearer"}), "gave no access token"),
        (answer({"access_token": "a" * 100_000, "token_type": "Bearer"}), "gave no access token"),
        (answer({"access_token": "abc"}), "of a kind that was not asked for"),
        (answer({"access_token": "abc", "token_type": "mac"}), "of a kind that was not asked for: “mac”"),
        (answer({"access_token": "abc", "token_type": "DPoP"}), "of a kind that was not asked for: “DPoP”"),
    ],
)
async def test_an_answer_that_is_no_token_ends_the_login(page: Response, words: str) -> None:
    with pytest.raises(AuthorizationFailed) as caught:
        await with_answer(page)
    message = str(caught.value)
    assert words in message
    assert (caught.value.step, caught.value.url) == ("the token request", f"{ISSUER}/token")
    assert message.isprintable() and len(message) < 900


# --- scopes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((("a",), ("b", "c"), None), ("a",)),
        ((None, ("b", "c"), None), ("b", "c")),
        ((None, None, ("x", "y")), ()),
        ((None, (), None), ()),
        ((("a", "offline_access"), None, ("a",)), ("a",)),
        ((("a", "offline_access"), None, None), ("a", "offline_access")),
        ((("a",), None, ("a", "offline_access")), ("a", "offline_access")),
        ((None, None, ("offline_access",)), ()),
    ],
)
def test_which_scopes_are_asked_for(given: tuple[Any, Any, Any], expected: tuple[str, ...]) -> None:
    assert scopes_for(*given) == expected


def test_a_person_may_choose_the_scopes_but_not_less_than_a_step_up_needs() -> None:
    assert scopes_for(("a",), ("b",), None, chosen=("mine",)) == ("mine",)
    assert scopes_for(("more",), None, None, earlier=("mine",), chosen=("mine",)) == ("mine", "more")
    assert scopes_for(None, ("b",), None, chosen=()) == ()


def test_tokens_that_last_are_not_asked_for_where_they_are_not_wanted() -> None:
    assert scopes_for(("a",), None, ("offline_access",), offline=False) == ("a",)


def test_a_thousand_scopes_are_not_asked_for() -> None:
    assert len(scopes_for(tuple(map(str, range(1000))), None, None)) == 100


def test_a_person_is_sent_to_a_page_so_often_in_so_long() -> None:
    attempts = Attempts()
    assert [attempts.may("i", ("a", "b"), 0.0) for _ in range(MOST + 2)] == [True] * MOST + [False] * 2
    assert not attempts.may("i", ("b", "a"), SPAN - 1)
    assert attempts.may("i", ("a",), 1.0) and attempts.may("j", ("a", "b"), 1.0)
    assert attempts.may("i", ("a", "b"), SPAN)
    attempts.clear()
    assert attempts.may("i", ("a", "b"), SPAN)


async def test_scopes_come_from_the_refusal_then_from_the_resource() -> None:
    world = World(resource={"scopes_supported": ["read", "write"]})
    await world.oauth().answer(world.refusal())
    assert world.person.asked()["scope"] == "read write"
    world = World(resource={"scopes_supported": ["read", "write"]})
    await world.oauth().answer(world.refusal(f'Bearer scope="only", resource_metadata="{PRM}/mcp"'))
    assert world.person.asked()["scope"] == "only"


async def test_what_is_granted_is_what_the_answer_says_or_else_what_was_asked_for() -> None:
    world = World(resource={"scopes_supported": ["read", "write"]})
    world.pages[f"{ISSUER}/token"] = answer({"access_token": "abc", "token_type": "Bearer", "scope": "read"})
    oauth = world.oauth()
    await oauth.answer(world.refusal())
    assert oauth.stored is not None and oauth.stored.tokens is not None
    assert oauth.stored.tokens.scopes == ("read",)
    world.pages[f"{ISSUER}/token"] = answer({"access_token": "abd", "token_type": "Bearer"})
    assert (await oauth.login()).tokens is not None
    assert oauth.stored.tokens.scopes == ("read", "write")
