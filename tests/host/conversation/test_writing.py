"""A call is told while the model writes it, and only where nobody would have to be asked about it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.host.conversation import writing
from jupyter_mcp.host.conversation.events import CallSent, CallWritten
from jupyter_mcp.host.conversation.writing import as_far_as_written
from jupyter_mcp.host.questions import Answer
from jupyter_mcp.models.scripted import ScriptedModel
from tests.host.conversation.helpers import Person, Watch, connected, demo, talk, use

if TYPE_CHECKING:
    from jupyter_mcp.host.host import Host

pytestmark = pytest.mark.anyio
STREAMS: Any = frozenset({"text", "tools", "stream", "tool-stream"})


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "PAUSE_SECONDS", 0.0)


async def written(host: Host, *calls: dict[str, Any]) -> tuple[list[CallWritten], list[CallSent]]:
    watch = Watch()
    await talk(host, ScriptedModel([list(calls), "done"], supports=STREAMS)).ask("go", on_event=watch)
    kinds = (CallWritten, CallSent)
    one, two = ([event for event in watch.events if isinstance(event, kind)] for kind in kinds)
    return one, two  # pyright: ignore[reportReturnType]


async def test_a_call_grows_and_is_then_sent_as_a_whole() -> None:
    host = await connected({"demo": demo()})
    text = "a long text that takes a while to write"
    grown, [sent] = await written(host, use("demo__echo", text=text))
    assert [(one.number, one.server, one.tool) for one in grown] == [(1, "demo", "echo")] * len(grown)
    texts = [one.arguments.get("text", "") for one in grown]
    assert len(set(texts)) > 3 and texts[-1] == text
    assert all(text.startswith(part) for part in texts)
    assert (sent.call.full_name, sent.arguments) == ("demo.echo", {"text": text})
    await host.aclose()


async def test_each_call_has_the_number_that_it_gets_in_its_turn() -> None:
    host = await connected({"demo": demo()})
    watch = Watch()
    model = ScriptedModel(
        [[use("demo__echo", text="one")], [use("demo__add", a=1), use("demo__echo", text="two")], "ok"],
        supports=STREAMS,
    )
    turn = await talk(host, model).ask("go", on_event=watch)
    numbers = {(one.number, one.tool) for one in watch.events if isinstance(one, CallWritten)}
    assert numbers == {(call.number, call.tool) for call in turn.calls} == {(1, "echo"), (2, "add"), (3, "echo")}
    await host.aclose()


@pytest.mark.parametrize("rule", ["ask", "deny", "ask where", "deny where", "allow where", "off", "none"])
async def test_nothing_is_told_of_a_call_that_somebody_may_have_to_be_asked_about(rule: str) -> None:
    """What a model wants to send is for nobody's eyes before it may be sent."""
    host = await connected({"demo": demo()}, ui=Person(*[Answer("accept")] * 3))
    if rule.endswith("where") and not rule.startswith("allow"):
        host.policy.allow("demo.*")
    where: Any = {"where": {"text": "secret"}} if rule.endswith("where") else {}
    kind = rule.split()[0]
    if kind in ("ask", "deny", "allow"):
        getattr(host.policy, "ask_first" if kind == "ask" else kind)("demo.echo", **where)
    if kind == "off":
        host.policy.allow("demo.*")
        host.policy.disable("demo.echo")
    grown, _ = await written(host, use("demo__echo", text="the secret"))
    assert grown == []
    await host.aclose()


async def test_a_call_that_was_asked_about_is_sent_when_the_yes_is_there_with_the_arguments_of_the_person() -> None:
    person = Person(Answer("accept", {"arguments": {"text": "changed"}}))
    host = await connected({"demo": demo()}, ui=person)
    grown, [sent] = await written(host, use("demo__echo", text="as the model had it"))
    assert (grown, sent.arguments) == ([], {"text": "changed"})
    assert len(person.asked) == 1
    await host.aclose()


async def test_a_call_that_is_refused_is_never_sent() -> None:
    host = await connected({"demo": demo()}, ui=Person(Answer("decline")))
    assert await written(host, use("demo__echo", text="no")) == ([], [])
    await host.aclose()


async def test_a_long_call_is_not_told_at_every_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "PAUSE_SECONDS", 60.0)
    host = await connected({"demo": demo()})
    grown, _ = await written(host, use("demo__echo", text="x" * 1_000))
    assert len(grown) == 1
    await host.aclose()


async def test_what_is_no_tool_or_no_object_is_not_told() -> None:
    host = await connected({"demo": demo()})
    odd = {"type": "tool_use", "id": "1", "name": "demo__echo", "input": "[1, 2]"}
    assert (await written(host, use("nothing", a=1), odd))[0] == []
    await host.aclose()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("  ", None),
        ("[1", None),
        ("{", {}),
        ('{"a', {}),
        ('{"a": "Par', {"a": "Par"}),
        ('{"a": "x", "b": [1, {"c": "y', {"a": "x", "b": [1, {"c": "y"}]}),
        ('{"a": 1}', {"a": 1}),
        ('{"a": 1}}', {"a": 1}),
        ("{a", None),
    ],
)
async def test_the_beginning_of_an_object_is_read_as_far_as_it_goes(text: str, value: Any) -> None:
    assert as_far_as_written(text) == value


async def test_every_beginning_of_an_object_is_read_or_waited_for() -> None:
    whole: dict[str, Any] = {"a": [1, 2.5, None, True], "b": {"c": 'é "x" \\ \n'}, "d": "ü" * 5}
    for text in (json.dumps(whole), json.dumps(whole, ensure_ascii=False)):
        for end in range(len(text)):
            found = as_far_as_written(text[:end])
            assert found is None or set(found) <= set(whole)
        assert as_far_as_written(text) == whole
    assert as_far_as_written('{"a":' + "[" * 100_000) is None
