"""What a browser brings is handed to the login that waits for it, once; nothing else changes anything."""

from __future__ import annotations

import asyncio
from urllib.parse import urlencode

import pytest

from jupyter_mcp.host.auth.waiting import Waiting

pytestmark = pytest.mark.anyio
STATE = "kernel-1.a-random-state"


def query(**said: str) -> str:
    return urlencode(said)


async def test_the_login_gets_what_the_browser_brought() -> None:
    waiting = Waiting()
    with waiting.expect(STATE) as back:
        assert waiting.deliver(query(code="abc", state=STATE, iss="https://issuer.example"))
        params = await back
    assert (params.code, params.iss, params.error) == ("abc", "https://issuer.example", None)
    assert "abc" not in repr(params)


async def test_a_state_counts_once() -> None:
    waiting = Waiting()
    with waiting.expect(STATE):
        assert waiting.deliver(query(code="abc", state=STATE))
        assert not waiting.deliver(query(code="other", state=STATE))


@pytest.mark.parametrize(
    "said",
    [
        "",
        "code=abc",
        "state=",
        query(code="abc", state="somebody else's"),
        query(code="abc", state=STATE[:-1]),
        query(code="abc", state=STATE) + "&state=" + STATE,
        query(code="abc", state=STATE) + "&code=def",
        query(code="abc", state=STATE, more="x" * 20_000),
        "state=%ff%fe&code=abc",
    ],
)
async def test_anything_else_is_refused_and_the_login_goes_on_waiting(said: str) -> None:
    waiting = Waiting()
    with waiting.expect(STATE) as back:
        assert not waiting.deliver(said)
        assert not back.done()
        assert waiting.deliver(query(code="abc", state=STATE))


async def test_two_logins_get_their_own_answers() -> None:
    waiting = Waiting()
    with waiting.expect("one") as first, waiting.expect("two") as second:
        assert waiting.deliver(query(code="b", state="two"))
        assert waiting.deliver(query(error="access_denied", state="one"))
        assert ((await first).error, (await second).code) == ("access_denied", "b")


async def test_nobody_is_waited_for_after_the_block_or_its_time() -> None:
    now = [0.0]
    waiting = Waiting(lambda: now[0])
    with waiting.expect("gone"):
        pass
    assert not waiting.deliver(query(code="a", state="gone"))
    with waiting.expect("late", seconds=10) as back:
        now[0] = 11.0
        assert not waiting.deliver(query(code="a", state="late"))
        assert len(waiting) == 0 and not back.done()


async def test_what_the_jupyter_server_hands_over_may_be_anything() -> None:
    waiting = Waiting()
    with waiting.expect(STATE) as back:
        for odd in ({}, {"query": 1}, {"query": None}, {"query": ["state"]}):
            assert await waiting.on_request(odd) == {"delivered": False}
        assert await waiting.on_request({"query": query(code="abc", state=STATE)}) == {"delivered": True}
        assert (await asyncio.wait_for(back, 30)).code == "abc"
