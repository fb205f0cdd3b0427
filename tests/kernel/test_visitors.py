"""Who came is kept in short; nobody may ask for ever more."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from jupyter_mcp.errors import RequestError
from jupyter_mcp.kernel import visitors
from jupyter_mcp.kernel.visitors import Visitors
from jupyter_mcp.server.exchange import Exchange, Peer
from jupyter_mcp.server.failures import Failure

pytestmark = pytest.mark.anyio
BASE = "notebook://n"


async def nowhere(message: dict[str, Any]) -> None:
    """Nothing is sent."""


def asked(method: str = "resources/read", client: Any = "one", **params: Any) -> Exchange:
    peer = Peer("2026-07-28", {}, {"name": client, "version": "1"}, "somebody")
    return Exchange(method, {"uri": f"{BASE}/variables/x", **params}, 1, peer, nowhere)


async def test_so_many_requests_of_one_client_run_at_once_whatever_ends_them() -> None:
    book = Visitors(BASE)
    running = [asked() for _ in range(visitors.MOST_RUNNING)]
    for exchange in running:
        book.admit(exchange)
    with pytest.raises(Failure, match="are running"):
        book.admit(asked())
    book.admit(asked(client="another"))
    book.admit(asked("resources/list"))
    book.answered(running.pop(), {"result": {}})
    running.pop().cancel()
    book.admit(asked())
    book.admit(asked())
    with pytest.raises(Failure, match="are running"):
        book.admit(asked())


async def test_a_client_that_asks_too_often_waits_and_the_others_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(visitors, "clock", lambda: now[0])
    book = Visitors(BASE)
    for _ in range(int(visitors.BURST)):
        book.admit(asked("ping"))
    with pytest.raises(Failure) as refused:
        book.admit(asked("ping"))
    assert refused.value.code == visitors.TOO_MANY and refused.value.data == {"retryAfter": 0.1}
    book.admit(asked("ping", client="another"))
    now[0] += 1.0
    for _ in range(int(visitors.RATE)):
        book.admit(asked("ping"))
    with pytest.raises(Failure):
        book.admit(asked("ping"))
    assert [act.kind for act in book.acts()] == ["refused"], "a refusal a hundred times is one line"


async def test_names_without_end_do_not_fill_memory_and_do_not_ask_more() -> None:
    book = Visitors(BASE)
    book._all = visitors.Bucket(0.001, 500.0)  # pyright: ignore[reportPrivateUsage]
    for number in range(500):
        book.admit(asked("ping", client=f"client {number}"))
    with pytest.raises(Failure):
        book.admit(asked("ping", client="one more"))
    assert len(book.clients()) == visitors.MOST_VISITORS


@pytest.mark.parametrize("name", [None, 7, ["x"], "", " \n\t"])
async def test_a_client_without_a_name_has_one(name: Any) -> None:
    book = Visitors(BASE)
    book.admit(asked(client=name))
    assert [one.name for one in book.clients()] == ["a client"]


async def test_what_is_shown_has_no_secret_and_one_line() -> None:
    book = Visitors(BASE)
    secret = "ghp_abcdefghijklmnop1234567890"
    book.answered(asked(uri=f"{BASE}/variables/x?path={secret}\n\x1b[2J"), {"result": {}})
    book.answered(
        asked("tools/call", name="read_variable", arguments={"name": f"token={secret}"}), {"result": {"isError": True}}
    )
    book.refused(SimpleNamespace(status=403, text=f"Requests from 'https://{secret}.example' are not taken"))  # pyright: ignore[reportArgumentType]
    shown = [(one.kind, one.ok) for one in book.acts()]
    assert shown == [("refused", False), ("call", False), ("read", True)]
    assert all(secret not in one.what and one.what.isprintable() for one in book.acts())


@pytest.mark.parametrize(
    ("status", "outcome"), [("denied", "denied"), ("busy", "busy"), ("error", ""), ("hello", ""), (["denied"], "")]
)
async def test_a_call_that_was_not_allowed_is_said_to_be_denied(status: Any, outcome: str) -> None:
    book = Visitors(BASE)
    result = {"isError": True, "structuredContent": {"status": status}}
    book.answered(asked("tools/call", name="set_variable"), {"result": result})
    book.answered(asked("tools/call", name="mine"), {"result": {"structuredContent": {"status": "denied"}}})
    assert [(act.ok, act.outcome) for act in book.acts()] == [(True, ""), (False, outcome)]


async def test_who_shows_it_is_told_and_cannot_break_it() -> None:
    book = Visitors(BASE)
    told: list[int] = []
    book.on_event += [lambda: 1 / 0, lambda: told.append(1)]
    book.admit(asked())
    book.answered(asked(), {"error": {"code": 1}})
    assert told == [1, 1]
    assert book.acts()[0].ok is False


# --- what a call asks its client -------------------------------------------------------------------------------------

PLANT = {"name": "plant", "arguments": {"bed": "west"}}


def question(message: str = "Plant it?") -> dict[str, Any]:
    return {"method": "elicitation/create", "params": {"message": message}}


def told(book: Visitors) -> list[tuple[str, str, str]]:
    return [(act.kind, act.what, act.outcome) for act in book.acts()]


@pytest.mark.parametrize(
    ("action", "outcome"), [("accept", "accepted"), ("decline", "declined"), ("cancel", "cancelled")]
)
async def test_a_question_of_a_round_is_a_line_that_says_how_it_ended(action: str, outcome: str) -> None:
    book = Visitors(BASE)
    first = asked("tools/call", **PLANT)
    book.admit(first)
    round = {"resultType": "input_required", "requestState": "s1", "inputRequests": {"q1": question()}}
    book.answered(first, {"result": round})
    assert told(book) == [("asked", "by plant: “Plant it?”", "no answer yet")]
    second = asked("tools/call", **PLANT, requestState="s1", inputResponses={"q1": {"action": action}})
    book.admit(second)
    book.answered(second, {"result": {"content": []}})
    assert told(book) == [("call", "plant", ""), ("asked", "by plant: “Plant it?”", outcome)]


async def test_an_answer_belongs_to_the_round_whose_state_it_brings() -> None:
    book = Visitors(BASE)
    for state in ("s1", "s2"):
        round = {"resultType": "input_required", "requestState": state, "inputRequests": {"q1": question(state)}}
        book.answered(asked("tools/call", **PLANT), {"result": round})
    answers = {"q1": {"action": "accept"}, "q9": {"action": "accept"}}
    book.admit(asked("tools/call", **PLANT, requestState="s1", inputResponses=answers))
    book.admit(asked("tools/call", **PLANT, requestState="s1", inputResponses={"q1": {"action": "decline"}}))
    book.admit(asked("tools/call", **PLANT, requestState=["s2"], inputResponses="nonsense"))
    assert told(book) == [("asked", "by plant: “s2”", "no answer yet"), ("asked", "by plant: “s1”", "accepted")]


@pytest.mark.parametrize(
    ("method", "what"),
    [("sampling/createMessage", "a model's answer"), ("roots/list", "its folders"), ("of/tomorrow", "something")],
)
async def test_other_questions_are_named(method: str, what: str) -> None:
    book = Visitors(BASE)
    round = {"resultType": "input_required", "requestState": "s", "inputRequests": {"q1": {"method": method}}}
    book.answered(asked("tools/call", **PLANT), {"result": round})
    book.admit(asked("tools/call", **PLANT, requestState="s", inputResponses={"q1": {"content": {}}}))
    assert told(book) == [("asked", f"by plant: {what}", "answered")]


async def test_a_question_of_the_legacy_era_is_the_same_line() -> None:
    book = Visitors(BASE)
    exchange = asked("tools/call", **PLANT)
    during: list[list[tuple[str, str, str]]] = []

    async def ask(method: str, params: dict[str, Any] | None) -> dict[str, Any]:
        during.append(told(book))
        if params == {"message": "no"}:
            raise RequestError("no such thing", code=-32601)
        return {"action": "decline"}

    exchange.ask_client = ask
    book.admit(exchange)
    assert await exchange.ask_client("elicitation/create", {"message": "Plant it?"}) == {"action": "decline"}
    with pytest.raises(RequestError):
        await exchange.ask_client("elicitation/create", {"message": "no"})
    assert during[0] == [("asked", "by plant: “Plant it?”", "no answer yet")]
    assert told(book) == [("asked", "by plant: “no”", "refused"), ("asked", "by plant: “Plant it?”", "declined")]


async def test_questions_that_are_never_answered_do_not_fill_memory() -> None:
    book = Visitors(BASE)
    for number in range(2 * visitors.MOST_ASKED):
        round = {"resultType": "input_required", "requestState": str(number), "inputRequests": {"q": question()}}
        book.answered(asked("tools/call", **PLANT), {"result": round})
    assert len(book._asked) == visitors.MOST_ASKED  # pyright: ignore[reportPrivateUsage]
    late = str(2 * visitors.MOST_ASKED - 1)
    book.admit(asked("tools/call", **PLANT, requestState=late, inputResponses={"q": {"action": "accept"}}))
    assert told(book)[0][2] == "accepted"
