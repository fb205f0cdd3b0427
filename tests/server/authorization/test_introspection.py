"""The issuer's word about a token is asked for, read with care, and kept for a short time."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from jupyter_mcp.errors import ConnectionFailed, UsageError
from jupyter_mcp.server.authorization import IntrospectionVerifier
from jupyter_mcp.server.authorization import introspection as room
from jupyter_mcp.server.authorization.fetching import Asked
from tests.server.authorization.issuers import ISSUER, RESOURCE, Web

pytestmark = pytest.mark.anyio
ENDPOINT = f"{ISSUER}/introspect"
SAID = {"active": True, "sub": "ada", "client_id": "notebook", "aud": RESOURCE, "scope": "notes:read"}


def asking(said: Any = SAID, **options: Any) -> tuple[IntrospectionVerifier, Web]:
    web = Web(**{ENDPOINT: said})
    options = {"client_id": "notes", "client_secret": "of-the-notes", "fetch": web.fetch, **options}
    return IntrospectionVerifier(ISSUER, ENDPOINT, **options), web


async def test_the_issuer_is_asked_with_the_credentials_of_the_server():
    verifier, web = asking()
    access = await verifier.verify("token")
    assert access is not None and (access.subject, access.client, access.scopes) == ("ada", "notebook", {"notes:read"})
    assert web.asked == [
        Asked(ENDPOINT, {"token": "token", "token_type_hint": "access_token"}, ("notes", "of-the-notes"))
    ]


@pytest.mark.parametrize(
    "said",
    [
        {"active": False},
        {},
        {**SAID, "active": "true"},
        {**SAID, "active": 1},
        {**SAID, "iss": "https://evil.example"},
        {**SAID, "exp": time.time() - 1},
        {**SAID, "exp": "later"},
        {**SAID, "exp": True},
        {**SAID, "nbf": time.time() + 100_000},
        {**SAID, "cnf": {"jkt": "x"}},
        {**SAID, "token_type": "DPoP"},
        {**SAID, "token_type": "refresh_token"},
        {"active": True, "aud": RESOURCE},
        {"active": True, "aud": RESOURCE, "sub": 7},
    ],
)
async def test_what_is_not_plainly_a_good_token_is_none(said: dict[str, Any]):
    assert await asking(said)[0].verify("token") is None


async def test_a_token_for_nobody_in_particular_is_for_us_only_where_the_author_says_so():
    said = {key: value for key, value in SAID.items() if key != "aud"}
    open_ended = await asking(said)[0].verify("token")
    assert open_ended is not None and open_ended.audience == ()
    ours = await asking(said, audience=RESOURCE)[0].verify("token")
    assert ours is not None and ours.audience == (RESOURCE,)
    other = await asking({**SAID, "aud": "https://other.example"}, audience=RESOURCE)[0].verify("token")
    assert other is not None and other.audience == ("https://other.example",)


async def test_an_answer_is_kept_for_a_while_and_no_longer_than_the_token_is_good():
    verifier, web = asking()
    for _ in range(3):
        assert await verifier.verify("token") is not None
    assert len(web.asked) == 1
    verifier, web = asking({**SAID, "exp": time.time() + 0.05})
    assert await verifier.verify("token") is not None
    await asyncio.sleep(0.06)  # the very thing that is tested
    await verifier.verify("token")
    assert len(web.asked) == 2


async def test_a_bad_token_is_remembered_too():
    verifier, web = asking({"active": False})
    for _ in range(3):
        assert await verifier.verify("invented") is None
    assert len(web.asked) == 1


async def test_kept_zero_asks_each_time():
    verifier, web = asking(kept=0)
    await verifier.verify("token")
    await verifier.verify("token")
    assert len(web.asked) == 2


async def test_what_is_kept_is_bounded_and_holds_no_token(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(room, "MOST_KEPT", 2)
    verifier, web = asking()
    for token in ("a-secret-token", "b", "c", "a-secret-token"):
        await verifier.verify(token)
    assert len(web.asked) == 4, "the oldest was let go"
    assert "a-secret-token" not in str(vars(verifier)) and "of-the-notes" not in repr(verifier)


class Slow:
    """An issuer that takes its time."""

    def __init__(self) -> None:
        self.answer = asyncio.Event()
        self.asked = 0

    async def fetch(self, asked: Asked) -> dict[str, Any]:
        self.asked += 1
        await self.answer.wait()
        return SAID


async def test_requests_with_one_token_are_one_question_and_one_that_gives_up_takes_nothing_from_the_others():
    slow = Slow()
    verifier, _ = asking(fetch=slow.fetch)
    waiting = [asyncio.ensure_future(verifier.verify("token")) for _ in range(4)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    slow.answer.set()
    found = await asyncio.gather(*waiting, return_exceptions=True)
    assert isinstance(found[0], asyncio.CancelledError)
    assert all(one is not None and not isinstance(one, BaseException) for one in found[1:])
    assert slow.asked == 1


async def test_a_flood_of_invented_tokens_does_not_become_a_flood_of_questions(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(room, "MOST_ASKED", 3)
    slow = Slow()
    verifier, _ = asking(fetch=slow.fetch)
    waiting = [asyncio.ensure_future(verifier.verify(f"invented-{number}")) for number in range(10)]
    await asyncio.sleep(0)
    slow.answer.set()
    found = await asyncio.gather(*waiting, return_exceptions=True)
    assert slow.asked == 3
    assert sum(isinstance(one, ConnectionFailed) for one in found) == 7


async def test_an_issuer_that_says_nothing_leaves_the_question_open_and_is_asked_again():
    verifier, web = asking()
    del web.answers[ENDPOINT]
    with pytest.raises(ConnectionFailed):
        await verifier.verify("token")
    web.answers[ENDPOINT] = SAID
    assert await verifier.verify("token") is not None


@pytest.mark.parametrize(
    ("issuer", "endpoint", "secret"),
    [
        ("http://login.example", ENDPOINT, "s"),
        (ISSUER, "http://login.example/introspect", "s"),
        (ISSUER, "introspect", "s"),
        (ISSUER, ENDPOINT, ""),
    ],
)
def test_what_cannot_be_asked_is_refused_at_once(issuer: str, endpoint: str, secret: str):
    with pytest.raises(UsageError):
        IntrospectionVerifier(issuer, endpoint, client_id="notes", client_secret=secret)
