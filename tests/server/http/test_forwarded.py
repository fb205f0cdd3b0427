"""What a gateway says with the requests it hands on: whose they are, and which life of the process they mean."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_mcp.protocol.forwarded import LIFE, USER, is_of_another_life, principal_of
from tests.server.http.conftest import serving
from tests.server.http.raw import Raw

pytestmark = pytest.mark.anyio
OLD, NEW = "0" * 16, "1" * 16


async def test_each_user_of_a_gateway_is_a_client_of_its_own():
    async with serving() as (raw, _, _):
        raw.base[USER] = "ada"
        await raw.initialize()
        assert (await raw.request("ping")).status == 200
        raw.base[USER] = "bob"
        assert (await raw.request("ping")).status == 404
        del raw.base[USER]
        assert (await raw.request("ping")).status == 404


async def test_one_client_cannot_take_the_places_of_others():
    async with serving(max_sessions=3) as (quiet, _, _), Raw(quiet.running) as greedy:
        quiet.base[USER], greedy.base[USER] = "ada", "bob"
        await quiet.initialize()
        for _ in range(6):
            greedy.session = None
            await greedy.initialize()
        assert len(quiet.running.endpoint.sessions) == 3
        assert (await quiet.request("ping")).status == 200
        assert (await greedy.request("ping")).status == 200


async def test_a_newcomer_gets_the_place_of_whoever_has_most():
    async with serving(max_sessions=2) as (greedy, _, _), Raw(greedy.running) as late:
        greedy.base[USER], late.base[USER] = "bob", "ada"
        for _ in range(2):
            greedy.session = None
            await greedy.initialize()
        await late.initialize()
        assert (await late.request("ping")).status == 200
        assert (await greedy.request("ping")).status == 200


@pytest.mark.parametrize("method", ["tools/call", "resources/read", "prompts/get"])
async def test_a_request_that_acts_and_means_an_earlier_life_is_refused_and_told_which_one_this_is(method: str):
    async with serving() as (raw, _, _):
        raw.running.endpoint.life = NEW
        await raw.initialize()
        answer = await raw.request(method, {"name": "x", "uri": "x:y"}, headers={LIFE: OLD})
        assert answer.status == 200 and answer.headers[LIFE.lower()] == NEW
        assert "was started anew" in (await answer.last())["error"]["message"]
        again = await raw.request(method, {"name": "x", "uri": "x:y"}, headers={LIFE: NEW})
        assert "started anew" not in str(await again.last())


@pytest.mark.parametrize("method", ["ping", "tools/list"])
async def test_what_tells_a_client_nothing_of_the_new_life_does_not_count_as_told(method: str):
    async with serving() as (raw, _, _):
        raw.running.endpoint.life = NEW
        await raw.initialize()
        assert LIFE.lower() not in (await raw.request(method, headers={LIFE: OLD})).headers
        for known in (NEW, "?"):
            assert (await raw.request(method, headers={LIFE: known})).headers[LIFE.lower()] == NEW


@pytest.mark.parametrize(
    ("said", "life", "method", "other"),
    [
        (OLD, NEW, "tools/call", True),
        (NEW, NEW, "tools/call", False),
        ("?", NEW, "tools/call", False),
        (None, NEW, "tools/call", False),
        ("x" * 16, NEW, "tools/call", False),
        (OLD, "", "tools/call", False),
        (OLD, NEW, "tools/list", False),
        (OLD, NEW, ["tools/call"], False),
    ],
)
def test_which_requests_mean_another_life(said: str | None, life: str, method: Any, other: bool):
    assert is_of_another_life(said, life, method) is other


def test_a_user_is_no_other_principal_than_by_the_token_alone_when_none_is_named():
    assert principal_of("p", None) == principal_of("p", "") == "p"
    assert principal_of("p", "ada") != principal_of("p", "bob")
    assert principal_of("p", "ada").startswith("p.")
