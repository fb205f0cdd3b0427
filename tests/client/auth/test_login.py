"""A login from the first refusal to the last token: what is asked for, what is kept, when a person is asked."""

from __future__ import annotations

import asyncio
import contextlib
import json
from dataclasses import replace
from typing import Any

import pytest

from jupyter_mcp.client.auth.authorize import challenge
from jupyter_mcp.client.auth.store import MemoryStore, StoreKey
from jupyter_mcp.client.auth.visit import Redirect, RedirectParams, VisitRequest
from jupyter_mcp.errors import AuthorizationFailed, InputRefused
from tests.client.auth.world import CALLBACK, ISSUER, NOT_FOUND, PRM, URL, World, answer, bearer

pytestmark = pytest.mark.anyio

KEY = StoreKey(ISSUER, URL, "docs")


async def logged_in(world: World, **settings: Any) -> Any:
    oauth = world.oauth(**settings)
    assert await oauth.answer(world.refusal())
    return oauth


async def failure(world: World, **settings: Any) -> AuthorizationFailed:
    """Why a login ends; nothing is kept then."""
    oauth = world.oauth(**settings)
    with pytest.raises(AuthorizationFailed) as caught:
        await oauth.answer(world.refusal())
    assert oauth.stored is None
    assert await world.store.load(KEY) is None
    assert await bearer(oauth) == ""
    return caught.value


# --- the whole way ---------------------------------------------------------------------------------------------------


async def test_before_the_server_asks_nothing_is_sent_and_nobody_is_asked() -> None:
    world = World()
    assert await bearer(world.oauth()) == ""
    assert world.requests == []


async def test_a_person_lets_us_in_and_requests_bring_the_token() -> None:
    world = World()
    oauth = await logged_in(world)
    assert await bearer(oauth) == f"Bearer {oauth.stored.tokens.access}"
    asked = world.person.asked()
    assert asked["response_type"] == "code" and asked["client_id"] == "client-1"
    assert (asked["redirect_uri"], asked["resource"]) == (CALLBACK, URL)
    assert asked["code_challenge_method"] == "S256" and "scope" not in asked
    (form,) = world.seen("token")
    assert challenge(form["code_verifier"]) == asked["code_challenge"]
    assert 43 <= len(form["code_verifier"]) <= 128
    assert (form["resource"], form["client_id"], form["redirect_uri"]) == (URL, "client-1", CALLBACK)
    assert await world.store.load(KEY) == oauth.stored


async def test_states_and_verifiers_are_never_the_same_twice() -> None:
    world = World()
    oauth = await logged_in(world)
    await oauth.login()
    first, second = world.person.visits
    assert first.state != second.state and len(first.state) >= 32
    assert len({form["code_verifier"] for form in world.seen("token")}) == 2


async def test_whoever_receives_the_answer_may_have_a_mark_in_the_state() -> None:
    world = World()
    world.person.redirect = Redirect("https://hub.example.org/callback", "jupyter", "kernel-1.")
    await logged_in(world)
    assert world.person.visits[0].state.startswith("kernel-1.")
    assert len(world.person.visits[0].state) > 40


async def test_the_token_is_for_the_server_and_no_other_host() -> None:
    world = World()
    oauth = await logged_in(world)
    for url in ("https://evil.example.org/mcp", "http://mcp.example.com/mcp", "https://mcp.example.com:8443/mcp"):
        assert await oauth.headers("POST", url) == {}
    assert await oauth.headers("POST", "https://MCP.example.com:443/other") != {}


async def test_many_refusals_at_once_are_one_login() -> None:
    world = World()
    oauth = world.oauth()
    assert all(await asyncio.gather(*(oauth.answer(world.refusal()) for _ in range(20))))
    assert len(world.person.visits) == 1
    assert len(world.seen("token")) == 1


async def test_a_refusal_of_an_older_token_only_sends_the_new_one() -> None:
    world = World()
    oauth = await logged_in(world)
    assert await oauth.answer(world.refusal(sent="Bearer older"))
    assert len(world.person.visits) == 1


async def test_a_login_that_nobody_waits_for_any_more_is_ended() -> None:
    world, began, others = World(), asyncio.Event(), asyncio.all_tasks()

    async def for_ever(request: VisitRequest) -> RedirectParams:
        began.set()
        await asyncio.Event().wait()
        raise AssertionError

    world.person.visit = for_ever
    oauth = world.oauth()
    waiting = [asyncio.ensure_future(oauth.answer(world.refusal())) for _ in range(2)]
    await began.wait()
    waiting[0].cancel()
    await asyncio.wait([waiting[0]])
    assert not waiting[1].done()
    waiting[1].cancel()
    await asyncio.wait(waiting)
    assert asyncio.all_tasks() == others
    del world.person.visit  # and the next one begins anew
    assert await oauth.answer(world.refusal())


async def test_a_login_that_does_not_end_when_it_is_to_end_is_nobody_elses() -> None:
    world, began, go = World(), asyncio.Event(), asyncio.Event()

    async def stubborn(request: VisitRequest) -> RedirectParams:
        began.set()
        with contextlib.suppress(asyncio.CancelledError):
            await go.wait()
        await go.wait()
        return RedirectParams(**world.let_in(request))

    world.person.visit = stubborn
    oauth = world.oauth()
    waiting = asyncio.ensure_future(oauth.answer(world.refusal()))
    await began.wait()
    waiting.cancel()
    await asyncio.wait([waiting])
    del world.person.visit
    assert await oauth.answer(world.refusal())
    before = oauth.stored
    saved = asyncio.Event()

    async def save(key: StoreKey, stored: Any) -> None:
        saved.set()

    world.store.save = save
    go.set()
    async with asyncio.timeout(30):
        await saved.wait()
    await asyncio.sleep(0)
    assert oauth.stored is before


# --- what is kept ----------------------------------------------------------------------------------------------------


async def test_what_is_kept_is_used_without_asking_anybody() -> None:
    world = World()
    first = await logged_in(world)
    second = world.oauth()
    assert await second.answer(world.refusal())
    assert second.stored == first.stored
    assert (len(world.person.visits), len(world.seen("token"))) == (1, 1)


async def test_a_kept_token_that_is_not_taken_is_renewed() -> None:
    world = World()
    first = await logged_in(world)
    second: Any = world.oauth()
    await second.answer(world.refusal())
    assert await second.answer(world.refusal(sent=await bearer(second)))
    assert len(world.person.visits) == 1
    assert second.stored.tokens.access != first.stored.tokens.access
    assert await world.store.load(KEY) == second.stored
    assert world.seen("token")[1] == {
        "grant_type": "refresh_token",
        "refresh_token": first.stored.tokens.refresh,
        "resource": URL,
        "client_id": "client-1",
    }


async def test_a_token_that_is_about_to_end_is_renewed_before_it_is_sent_once_for_all() -> None:
    world = World()
    oauth = await logged_in(world)
    before = await bearer(oauth)
    world.now += 3600 - 10
    found = set(await asyncio.gather(*(bearer(oauth) for _ in range(10))))
    assert len(found) == 1 and before not in found
    assert len(world.seen("token")) == 2


async def test_a_refresh_token_that_is_over_leads_back_to_the_person() -> None:
    world = World()
    oauth = await logged_in(world)
    world.refreshes.clear()
    world.now += 7200
    assert await bearer(oauth) == ""  # so that the server asks
    assert await oauth.answer(world.refusal())
    assert len(world.person.visits) == 2
    assert len(world.posts("register")) == 1  # who we are is kept


async def test_an_authorization_server_that_is_away_costs_a_request_and_not_the_login() -> None:
    world = World()
    oauth = await logged_in(world)
    before = await bearer(oauth)
    world.pages[f"{ISSUER}/token"] = answer({"error": "temporarily_unavailable"}, 503)
    world.now += 3600 - 10
    assert await bearer(oauth) == before  # good for ten seconds
    world.now += 20
    with pytest.raises(AuthorizationFailed, match=r"renewing the token.*HTTP 503: “temporarily_unavailable”"):
        await bearer(oauth)
    del world.pages[f"{ISSUER}/token"]
    assert await bearer(oauth) not in ("", before)
    assert len(world.person.visits) == 1


async def test_a_refresh_token_that_is_not_replaced_is_kept() -> None:
    world = World()
    oauth = await logged_in(world)
    refresh = oauth.stored.tokens.refresh
    world.grants_refresh = False
    world.now += 3600
    assert await bearer(oauth) != ""
    assert oauth.stored.tokens.refresh == refresh


async def test_two_entries_of_one_server_are_two_logins() -> None:
    world = World()
    await logged_in(world)
    assert await world.store.load(KEY._replace(client="other")) is None


async def test_what_a_store_gives_that_belongs_to_another_issuer_is_not_used() -> None:
    world = World()
    stored = (await logged_in(world)).stored
    await world.store.save(KEY, replace(stored, issuer="https://evil.example.org"))
    await logged_in(world)
    assert len(world.person.visits) == 2


async def test_a_store_that_keeps_nothing_does_not_ask_a_person_each_time() -> None:
    class Leaky(MemoryStore):
        async def save(self, key: Any, stored: Any) -> None: ...

    world = World()
    world.store = Leaky()
    oauth = await logged_in(world)
    assert await oauth.answer(world.refusal(sent=await bearer(oauth)))
    assert len(world.person.visits) == 1


# --- a server that moves ---------------------------------------------------------------------------------------------


async def test_a_server_that_names_another_authorization_server_gets_a_new_client_there() -> None:
    world = World()
    oauth = await logged_in(world)
    old = world.secrets.copy()
    moved = World(issuer="https://new.example.net")
    moved.store, moved.person = world.store, world.person
    world.pages[f"{PRM}/mcp"] = answer(moved.resource)
    world.person.world = moved
    earlier = len(world.requests)
    for url in ("/.well-known/oauth-authorization-server", "/register", "/token"):
        world.pages[moved.issuer + url] = lambda request: asyncio_free(moved, request)
    assert await oauth.answer(world.refusal(sent=await bearer(oauth)))
    assert oauth.stored.issuer == moved.issuer
    for request in world.requests[earlier:]:
        assert not [secret for secret in old if secret in f"{request.body!r}{request.headers}"]
    assert await world.store.load(KEY) is not None  # the other login stands where it stood


def asyncio_free(world: World, request: Any) -> Any:
    """What another world answers."""
    sending = world.send(request)
    try:
        sending.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError


async def test_a_client_id_that_was_given_for_one_issuer_is_not_shown_to_another() -> None:
    world = World()
    error = await failure(world, client_id="ours", client_secret="client-secret-ours", issuer="https://first.example")
    assert "is not the authorization server that the client id was given for" in str(error)
    assert world.person.visits == []
    assert [request for request in world.requests if request.method == "POST"] == []


# --- no ---------------------------------------------------------------------------------------------------------------


async def test_a_person_who_says_no_is_left_alone_for_a_while() -> None:
    world = World()

    def no(request: VisitRequest) -> RedirectParams:
        return RedirectParams(
            state=request.state, iss=ISSUER, error="access_denied", error_description="I <b>won't</b>"
        )

    world.person.says = no
    oauth = world.oauth()
    for _ in range(3):
        with pytest.raises(AuthorizationFailed) as caught:
            await oauth.answer(world.refusal())
        assert caught.value.declined
        assert "says that access was denied: “access_denied (I <b>won't</b>)”" in str(caught.value)
        world.now += 15
    assert len(world.person.visits) == 1
    assert await world.store.load(KEY) is None
    world.person.says = None
    oauth.afresh()  # somebody connects it
    assert await oauth.answer(world.refusal())
    assert len(world.person.visits) == 2
    assert len(world.posts("register")) == 1  # who we became is not thrown away


async def test_a_visit_that_is_refused_here_is_a_no_as_well() -> None:
    world = World()

    def refuse(request: VisitRequest) -> RedirectParams:
        raise InputRefused("You did not want to log in.")

    world.person.says = refuse
    error = await failure(world)
    assert error.declined and str(error) == "You did not want to log in."


async def test_where_nobody_can_visit_a_page_it_ends_at_once() -> None:
    world = World()

    async def headless(context: Any) -> Redirect:
        raise AuthorizationFailed("Nobody is here to log in.", hint="Set --bearer.")

    world.person.prepare = headless
    error = await failure(world)
    assert str(error) == "Nobody is here to log in. Set --bearer."
    assert world.posts("register") == []


async def test_what_fails_for_another_reason_than_a_no_is_tried_again_at_once() -> None:
    world = World()
    world.pages[f"{ISSUER}/token"] = answer({"error": "server_error"}, 500)
    oauth = world.oauth()
    with pytest.raises(AuthorizationFailed):
        await oauth.answer(world.refusal())
    del world.pages[f"{ISSUER}/token"]
    assert await oauth.answer(world.refusal())


async def test_a_server_that_is_never_content_sends_a_person_to_the_page_twice() -> None:
    world = World()
    world.grants_refresh = False
    oauth = await logged_in(world)
    assert await oauth.answer(world.refusal(sent=await bearer(oauth)))
    with pytest.raises(AuthorizationFailed) as caught:
        await oauth.answer(world.refusal(sent=await bearer(oauth)))
    assert "does not take what https://login.example.com gives" in str(caught.value)
    assert len(world.person.visits) == 2
    world.now += 600
    assert await oauth.answer(world.refusal(sent=await bearer(oauth)))


async def test_tokens_whose_time_is_up_are_no_sign_of_a_server_that_is_never_content() -> None:
    world = World()
    world.grants_refresh = False
    world.lifetime = 31.0
    oauth = await logged_in(world)
    for _ in range(5):
        world.now += 10
        assert await oauth.answer(world.refusal(sent=await bearer(oauth)))
    assert len(world.person.visits) == 6


async def test_a_client_that_was_forgotten_there_is_somebody_new_the_next_time() -> None:
    world = World()
    oauth = await logged_in(world)
    world.clients.clear()
    world.now += 7200
    assert await bearer(oauth) == ""
    assert await oauth.answer(world.refusal())
    assert [form["client_id"] for form in world.seen("token")] == ["client-1", "client-1", "client-1", "client-2"]


async def test_a_client_that_was_forgotten_while_the_person_was_at_the_page_is_not_used_again() -> None:
    world = World()

    def forgets(request: VisitRequest) -> RedirectParams:
        world.clients.clear()
        return RedirectParams(**world.let_in(request))

    world.person.says = forgets
    error = await failure(world)
    assert error.said == "invalid_client"
    world.person.says = None
    await world.oauth().login()
    assert [json.loads(request.body)["client_name"] for request in world.posts("register")] == ["Jupyter MCP"] * 2


# --- more ------------------------------------------------------------------------------------------------------------


def wants(*scopes: str) -> str:
    return f'Bearer error="insufficient_scope", scope="{" ".join(scopes)}", resource_metadata="{PRM}/mcp"'


async def test_a_refusal_for_want_of_scopes_asks_for_all_of_them_together() -> None:
    world = World()
    oauth: Any = world.oauth()
    first = f'Bearer scope="read", resource_metadata="{PRM}/mcp"'
    assert await oauth.answer(world.refusal(first))
    assert await oauth.answer(world.refusal(wants("write"), 403, await bearer(oauth)))
    assert world.person.asked(0)["scope"] == "read"
    assert world.person.asked(1)["scope"] == "read write"
    assert oauth.stored.tokens.scopes == ("read", "write")


async def test_scopes_that_never_suffice_are_asked_for_twice() -> None:
    world = World()
    oauth = world.oauth()
    assert await oauth.answer(world.refusal(wants("admin"), 401))
    assert await oauth.answer(world.refusal(wants("admin"), 403, await bearer(oauth)))
    with pytest.raises(AuthorizationFailed) as caught:
        await oauth.answer(world.refusal(wants("admin"), 403, await bearer(oauth)))
    assert (caught.value.step, len(world.person.visits)) == ("the scopes", 2)
    assert "scopes: admin" in str(caught.value)
    assert await bearer(oauth)  # what we have is not lost over it


async def test_a_403_that_is_not_about_scopes_is_the_servers_last_word() -> None:
    world = World()
    oauth = await logged_in(world)
    sent = await bearer(oauth)
    assert not await oauth.answer(world.refusal("", 403, sent))
    assert not await oauth.answer(world.refusal('Bearer error="access_denied"', 403, sent))
    assert len(world.person.visits) == 1


async def test_a_403_to_nobody_that_names_bearer_is_a_question_who_we_are() -> None:
    world = World()
    oauth = world.oauth()
    assert not await oauth.answer(world.refusal("", 403))
    assert await oauth.answer(world.refusal(f'Bearer resource_metadata="{PRM}/mcp"', 403))


# --- leaving ---------------------------------------------------------------------------------------------------------


async def test_logging_out_gives_the_tokens_back_and_keeps_nothing() -> None:
    world = World()
    oauth = await logged_in(world)
    tokens = oauth.stored.tokens
    assert await oauth.logout()
    assert [form["token"] for form in world.seen("revoke")] == [tokens.refresh, tokens.access]
    assert await world.store.load(KEY) is None
    assert (oauth.stored, await bearer(oauth)) == (None, "")
    assert not await oauth.logout()


async def test_logging_out_in_a_new_kernel_finds_what_is_kept() -> None:
    world = World()
    stored = (await logged_in(world)).stored
    other = world.oauth()
    assert await other.look() == stored
    assert other.stored is None  # looking is not logging in
    assert await other.logout()
    assert await world.store.load(KEY) is None


@pytest.mark.parametrize("page", [NOT_FOUND, answer({}, 500)])
async def test_logging_out_does_not_depend_on_the_other_side(page: Any) -> None:
    world = World()
    oauth = await logged_in(world)
    world.pages[f"{ISSUER}/revoke"] = page
    assert await oauth.logout()
    assert await world.store.load(KEY) is None


# --- who is told what ------------------------------------------------------------------------------------------------


async def test_a_trace_says_what_was_asked_where_and_no_secret() -> None:
    world = World()
    oauth = await logged_in(world)
    await oauth.logout()
    assert [(event.verb, event.status) for event in world.trace][:3] == [("GET", 200), ("GET", 200), ("POST", 201)]
    assert world.trace[3].text == f"the token request: {ISSUER}/token"
    told = repr(world.trace)
    assert not [secret for secret in world.secrets if secret in told]
    assert not [event for event in world.trace if "?" in event.text]
