"""Servers that broke other clients in public, as processes, through the host."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import MCPError, RequestError, ToolError, UsageError
from jupyter_mcp.host.host import Host
from jupyter_mcp.host.questions import Answer, Question
from jupyter_mcp.host.specs import ServerSpec
from jupyter_mcp.models.scripted import ScriptedModel
from tests.shared import shared_path

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

pytestmark = pytest.mark.anyio


class Person:
    def __init__(self, content: dict[str, Any]) -> None:
        self.content = content
        self.asked: list[Question] = []

    async def ask(self, question: Question) -> Answer:
        self.asked.append(question)
        return Answer("accept", self.content)


@pytest.fixture
async def host() -> AsyncGenerator[Host]:
    host = Host()
    yield host
    await host.aclose()


def case(file: str, *args: str, name: str = "case", **options: Any) -> ServerSpec:
    return ServerSpec.parse(name, [sys.executable, str(shared_path(f"cases/{file}")), *args], era="legacy", **options)


async def test_a_server_gets_the_variables_given_to_it_and_not_the_parents_secrets(
    host: Host, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PARENT_SECRET_KEY", "parent-value")
    await host.connect(case("11-stdio-env-merge.py", env={"CASE_TOKEN": "abc"}))
    seen = json.loads((await host.call_tool("case", "probe")).text)
    assert seen == {"PATH": True, "HOME": True, "CASE_TOKEN": "abc", "parent_secret": False}


async def test_a_parents_variable_is_passed_when_it_is_named(host: Host, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PARENT_SECRET_KEY", "parent-value")
    await host.connect(case("11-stdio-env-merge.py", env=["PARENT_SECRET_KEY"]))
    assert json.loads((await host.call_tool("case", "probe")).text)["parent_secret"] is True


async def test_two_servers_with_the_same_tool_are_told_apart_and_a_repeated_one_is_said(host: Host):
    for tag in ("A", "B"):
        await host.connect(case("49-duplicate-tool-names.py", tag, name=tag))
    with pytest.raises(UsageError, match=r"A\.send or B\.send"):
        await host.resolve("tool", "send")
    for tag in ("A", "B"):
        entry, item = await host.resolve("tool", f"{tag}.send")
        assert (await host.call_tool(entry.name, item["name"])).text == tag
    assert [offer.full_name for offer in host.catalogue.tools("A")] == ["A.send", "A.onlyA"]
    assert any("send" in line.text and "more than once" in line.text for line in host.servers["A"].log)


@pytest.mark.parametrize("arguments", [{}, {"structured": True}])
async def test_an_error_is_shown_in_the_tools_words_whatever_its_output_schema(host: Host, arguments: dict[str, Any]):
    await host.connect(case("51-iserror-with-output-schema.py"))
    with pytest.raises(ToolError, match="table is locked") as error:
        await host.call_tool("case", "probe", arguments)
    assert "schema" not in str(error.value)
    assert error.value.result is not None
    assert error.value.result.notes == ()


async def test_numbers_of_a_form_are_sent_as_what_they_are(host: Host):
    host.ui = Person({"scoops": "2", "price": "1.5"})
    await host.connect(case("57-elicit-integer.py"))
    names = await _fields_of(host)
    host.ui = Person({name: "2" if kind == "integer" else "1.5" for name, kind in names.items()})
    assert (await host.call_tool("case", "probe")).text.startswith("ok int float")


async def _fields_of(host: Host) -> dict[str, str]:
    """The fields the case asks for, learnt by declining once."""
    asked: list[Question] = []

    class Declines:
        async def ask(self, question: Question) -> Answer:
            asked.append(question)
            return Answer("decline")

    host.ui = Declines()
    await host.call_tool("case", "probe", check=False)
    return {name: field["type"] for name, field in asked[0].params["requestedSchema"]["properties"].items()}


async def test_choices_are_sent_by_value(host: Host):
    host.ui = Person({"named": "High priority", "titled": "Blue", "multi": ["x", "z"], "multititled": ["r"]})
    await host.connect(case("59-elicit-enum-variants.py"))
    text = (await host.call_tool("case", "probe")).text
    assert text.startswith("ok ")
    assert json.loads(text.removeprefix("ok "))["result"]["content"]["named"] == "p3"


async def test_sampling_is_seen_whole_and_answered_by_one_block(host: Host):
    person = host.ui = Person({"text": "hi"})
    await host.connect(case("61-sampling-content-forms.py"))
    answer = json.loads((await host.call_tool("case", "probe")).text)
    assert answer == {
        "role": "assistant",
        "content": {"type": "text", "text": "hi"},
        "model": "human",
        "stopReason": "endTurn",
    }
    params = person.asked[0].params
    assert [len(m["content"]) if isinstance(m["content"], list) else 1 for m in params["messages"]] == [1, 2, 1]
    assert (params["systemPrompt"], params["temperature"], params["stopSequences"]) == ("be brief", 0, ["END"])


async def test_sampling_is_answered_by_a_model_in_the_same_shape(host: Host):
    model = host.models.set(ScriptedModel(["hi"]))
    host.policy.allow("case.sampling/*")
    await host.connect(case("61-sampling-content-forms.py"))
    answer = json.loads((await host.call_tool("case", "probe")).text)
    assert answer == {
        "role": "assistant",
        "content": {"type": "text", "text": "hi"},
        "model": "scripted",
        "stopReason": "endTurn",
    }
    assert isinstance(model, ScriptedModel)
    (request,) = model.requests
    assert [len(message["content"]) for message in request.messages] == [1, 2, 1]
    assert (request.system, request.temperature, request.stop_sequences, request.max_tokens) == (
        "be brief",
        0,
        ("END",),
        50,
    )


async def test_sampling_with_nobody_there_is_an_error_to_the_server_and_not_silence(host: Host):
    await host.connect(case("61-sampling-content-forms.py"))
    result = await host.call_tool("case", "probe")
    assert json.loads(result.text)["code"] == -32601, "it was not told that anybody answers"


@pytest.mark.parametrize(("mode", "text"), [(1, "quota"), (2, "without a message"), (3, "quota"), (5, "quota")])
async def test_a_bad_error_object_ends_its_call_and_not_the_connection(host: Host, mode: int, text: str):
    await host.connect(case("38-jsonrpc-bad-error-objects.py"))
    with pytest.raises(RequestError, match=text):
        await host.call_tool("case", "probe", {"mode": mode}, timeout=30)
    await host.call_tool("case", "report")


async def test_broken_schemas_cost_nothing(host: Host):
    await host.connect(case("45-schema-null-properties.py"))
    await host.resolve("tool", "good")
    tools = host.catalogue.tools("case")
    assert len(tools) >= 7
    for tool in tools:
        await host.call_tool("case", tool.name, {"q": "x"} if tool.name == "good" else {}, check=False)


async def test_a_server_that_exits_at_once_says_its_code_and_last_words(host: Host):
    with pytest.raises(MCPError) as error:
        await host.connect(case("06-stdio-exit-at-once.py"))
    assert getattr(error.value, "exit_code", None) == 3
    assert "WEATHER_TOKEN is missing" in "\n".join(getattr(error.value, "stderr", []))
    assert host.servers["case"].state == "failed"
    assert any("WEATHER_TOKEN is missing" in line.text for line in host.servers["case"].log)


async def test_every_listed_uri_is_read_to_the_letter(host: Host):
    await host.connect(case("55-resource-uris-verbatim.py"))
    connection = host.servers["case"].connection
    assert connection is not None
    listing = await connection.list("resources")
    assert len(listing.items) == 10
    for item in listing.items:
        assert (await host.read("case", item["uri"])).text == "exact"
