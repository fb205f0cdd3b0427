"""What a model may give is counted in conversations too: a budget ends, a rate delays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jupyter_mcp.errors import ModelError, ProviderError
from jupyter_mcp.host.conversation import metering
from jupyter_mcp.host.conversation.events import Noted
from jupyter_mcp.host.sampling.limits import Allowance
from jupyter_mcp.models.base import ModelReply, Usage
from tests.host.conversation.helpers import Watch, connected, demo, scripted, talk, use

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from jupyter_mcp.host.host import Host

pytestmark = pytest.mark.anyio


@pytest.fixture
async def host() -> AsyncGenerator[Host]:
    host = await connected({"demo": demo()})
    yield host
    await host.aclose()


async def test_tokens_and_calls_are_counted_together_with_those_of_servers(host: Host) -> None:
    model = scripted(
        ModelReply([use("demo__add", a=1)], "m", "toolUse", Usage(10, 2)),
        ModelReply([{"type": "text", "text": "3"}], "m", "endTurn", Usage(20, 3)),
    )
    await talk(host, model).ask("go")
    meter = host.limits.model("scripted")
    assert (meter.calls, meter.tokens) == (2, 35)


async def test_a_budget_that_is_used_up_ends_the_question_and_the_conversation_can_go_on(host: Host) -> None:
    host.limits.limit_model("scripted", Allowance(calls=1))
    model = scripted([use("demo__add", a=1)], "3")
    conversation = talk(host, model)
    with pytest.raises(ModelError, match="scripted may give no more in this kernel: the 1 calls are used up"):
        await conversation.ask("go")
    assert [call.outcome for call in conversation.turns[0].calls] == ["ok"]
    host.limits.limit_model("scripted", Allowance())
    assert (await conversation.ask("and?")).text == "3"


async def test_a_rate_delays_and_says_so(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    monkeypatch.setattr(metering, "sleep", sleep)
    meter = host.limits.limit_model("scripted", Allowance(per_minute=1))
    meter.clock = lambda: now[0]
    watch = Watch()
    turn = await talk(host, scripted([use("demo__add", a=1)], "3")).ask("go", on_event=watch)
    assert (turn.text, slept) == ("3", [60.0])
    assert [event.text for event in watch.events if isinstance(event, Noted)] == [
        "scripted is asked too often; it goes on in 60 s."
    ]


async def test_what_a_failed_request_put_aside_is_given_back(host: Host) -> None:
    host.limits.limit_model("scripted", Allowance(tokens=1_000))
    conversation = talk(host, scripted(ProviderError("500"), "fine"))
    with pytest.raises(ProviderError):
        await conversation.ask("go")
    assert (await conversation.ask("again")).text == "fine"
