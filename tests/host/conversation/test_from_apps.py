"""What pages of servers tell a model: with the person's leave, and as data of their server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jupyter_mcp.host.conversation import Limits
from jupyter_mcp.host.conversation.from_apps import told_by_apps
from tests.host.conversation.helpers import connected, demo, scripted, talk

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from jupyter_mcp.host.host import Host

pytestmark = pytest.mark.anyio


@pytest.fixture
async def host() -> AsyncGenerator[Host]:
    host = await connected({"demo": demo()})
    yield host
    await host.aclose()


async def test_a_report_goes_with_each_question_once_the_person_has_agreed(host: Host) -> None:
    word = host.shared.join("demo", "chart")
    word.content, word.structured = [{"type": "text", "text": "The chart shows 2024."}], {"year": 2024}
    model = scripted("a", "b", "c")
    conversation = talk(host, model)
    first = await conversation.ask("What do you see?")
    assert first.attached == [] and "2024" not in str(model.requests[0].messages)
    word.agreed = True
    second = await conversation.ask("And now?")
    assert second.attached == ["what the app of demo.chart reports (36 characters)"]
    sent = str(model.requests[1].messages[-1])
    assert "The chart shows 2024." in sent and '"year": 2024' in sent and "passed on with the person's leave" in sent
    host.shared.leave(word)
    assert (await conversation.ask("Still?")).attached == []


async def test_what_a_page_was_let_say_goes_with_one_question(host: Host) -> None:
    word = host.shared.join("demo", "chart")
    host.shared.say(word, [{"type": "text", "text": "Explain the peak."}])
    model = scripted("a", "b")
    conversation = talk(host, model)
    assert (await conversation.ask("Well?")).attached == ["what the app of demo.chart says (17 characters)"]
    assert "Explain the peak." in str(model.requests[0].messages)
    assert (await conversation.ask("Again?")).attached == []


async def test_what_passes_it_on_to_another_server_is_known_to_come_from_the_page_s_server(host: Host) -> None:
    word = host.shared.join("demo", "chart")
    word.content, word.agreed = [{"type": "text", "text": "x" * 100}], True
    (attachment,) = told_by_apps(host.shared, Limits())
    assert attachment.origins == (("demo", "x" * 100),)


async def test_a_long_report_is_bounded_and_what_is_not_seen_is_taken_out(host: Host) -> None:
    word = host.shared.join("demo", "chart")
    word.content, word.agreed = [{"type": "text", "text": "a\u202eb" + "x" * 200_000}], True
    (attachment,) = told_by_apps(host.shared, Limits())
    text = str(attachment.blocks[1]["text"])
    assert len(text) < 100_000 and "\u202e" not in text


async def test_a_host_that_has_shown_no_page_makes_nothing_for_it(host: Host) -> None:
    await talk(host, scripted("a")).ask("Hello?")
    assert "shared" not in vars(host)
