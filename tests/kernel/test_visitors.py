"""Who came is kept in short; nobody may ask for ever more."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

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


async def test_who_shows_it_is_told_and_cannot_break_it() -> None:
    book = Visitors(BASE)
    told: list[int] = []
    book.on_event += [lambda: 1 / 0, lambda: told.append(1)]
    book.admit(asked())
    book.answered(asked(), {"error": {"code": 1}})
    assert told == [1, 1]
    assert book.acts()[0].ok is False
