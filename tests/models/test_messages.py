"""What is wrong with messages for a model, what they need, what they say."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_mcp.errors import UnsupportedContent
from jupyter_mcp.models.base import ModelRequest
from jupyter_mcp.models.messages import needs, normal, problems, refuse_unsupported, text_of
from jupyter_mcp.models.scripted import ScriptedModel


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def use(identity: str, name: str = "add") -> dict[str, Any]:
    return {"type": "tool_use", "id": identity, "name": name, "input": {}}


def result(identity: str, *blocks: Any) -> dict[str, Any]:
    return {"type": "tool_result", "toolUseId": identity, "content": list(blocks) or [text("3")]}


PICTURE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
SOUND = {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"}
ADD = {"name": "add", "inputSchema": {"type": "object"}}


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "user", "content": text("hello")}],
        [user(text("look"), PICTURE, SOUND)],
        [user(text("1+2")), assistant(text("so"), use("a"), use("b")), user(result("b"), result("a"))],
        [user(text("1")), assistant(use("a")), user(result("a")), assistant(use("a")), user(result("a"))],
        [user(text("go on")), assistant(text("Once upon"))],
    ],
)
def test_messages_as_the_specification_has_them_have_no_problem(messages: list[Any]) -> None:
    assert problems(messages, [ADD]) == []


@pytest.mark.parametrize(
    ("messages", "problem"),
    [
        (None, "There are no messages."),
        ("hello", "There are no messages."),
        ([], "There are no messages."),
        (["hello"], "Message 1: it is not an object."),
        ([{"role": "system", "content": text("x")}], "Message 1: its role is user or assistant, not 'system'."),
        ([{"content": text("x")}], "Message 1: its role is user or assistant, not None."),
        ([{"role": ["user"], "content": text("x")}], "Message 1: its role is user or assistant, not ['user']."),
        ([{"role": "user"}], "Message 1: it has no content."),
        ([user()], "Message 1: it has no content."),
        ([{"role": "user", "content": "hello"}], "Message 1: a block is not an object."),
        ([user({"type": "text"})], "Message 1: a text block has no text."),
        ([user({"type": "image", "data": "x"})], "Message 1: an image has no mimeType."),
        ([user({"type": "audio", "data": b"x"})], "Message 1: an audio has no data and no mimeType."),
        ([user({"type": "video"})], "Message 1: a block of type 'video' cannot be in a message."),
        ([user({"type": ["x"]})], "Message 1: a block of type ['x'] cannot be in a message."),
        ([user({"type": "resource_link"})], "Message 1: a block of type 'resource_link' cannot be in a message."),
        ([user(use("a"))], "Message 1: a tool_use belongs to a message of the assistant."),
        ([assistant(result("a"))], "Message 1: a tool_result belongs to a message of the user."),
        ([assistant({"type": "tool_use", "name": "x", "input": {}})], "Message 1: a tool_use has no id."),
        ([assistant({**use("a"), "input": "{}"})], "Message 1: the input of a tool_use is not an object."),
        ([user({"type": "tool_result", "content": []})], "Message 1: a tool_result has no toolUseId."),
        ([user({**result("a"), "content": "3"})], "Message 1: the content of a tool_result is not a list."),
        ([user(result("a", use("b")))], "Message 1: a block of type 'tool_use' cannot be in a tool_result."),
        ([user(result("a", "3"))], "Message 1: a block of type None cannot be in a tool_result."),
        ([user(result("a", {"type": "image"}))], "Message 1: an image has no data and no mimeType."),
        (
            [assistant(use("a")), user(result("a"), text("and"))],
            "Message 2: results of tools stand alone, not beside other content.",
        ),
        ([user(result("a"))], "Message 1: no tool_use 'a' before it."),
        ([assistant(use("a")), user(text("never mind"))], "Message 2: no result for the tool_use 'a'."),
        ([assistant(use("a"), use("b")), user(result("a"))], "Message 2: no result for the tool_use 'b'."),
        ([assistant(use("a")), user(result("a"), result("a"))], "Message 2: two results for the tool_use 'a'."),
        (
            [assistant(use("a"), use("a")), user(result("a"))],
            "Message 1: two tool_use blocks with the id 'a'.",
        ),
        ([user(text("x")), assistant(use("a"))], "Message 2: no result follows for the tool_use 'a'."),
    ],
)
def test_each_fault_is_one_sentence_that_says_where(messages: Any, problem: str) -> None:
    assert problems(messages) == [problem]


WRONG_TOOLS: list[tuple[Any, Any, str]] = [
    ("add", None, "The tools are not a list."),
    ([{}], None, "Tool 1 has no name."),
    ([{"name": "add"}], None, "The tool 'add' has no inputSchema."),
    ([ADD, ADD], None, "There are two tools named 'add'."),
    ([ADD], {"mode": "maybe"}, "The toolChoice is one of auto, required, none, not 'maybe'."),
    ([ADD], "required", "The toolChoice is one of auto, required, none, not 'auto'."),
    ([], {"mode": "required"}, "A tool is required, and there are no tools."),
]


@pytest.mark.parametrize(("tools", "choice", "problem"), WRONG_TOOLS)
def test_faults_of_tools_are_told_too(tools: Any, choice: Any, problem: str) -> None:
    assert problems([user(text("x"))], tools, choice) == [problem]


def test_what_is_quoted_is_short() -> None:
    told = problems([user({"type": "x" * 10_000}), {"role": "y" * 10_000}])
    assert all(len(sentence) < 150 for sentence in told)


def test_the_normal_form_has_lists_and_keeps_everything_else() -> None:
    messages = [{"role": "user", "content": text("x"), "_meta": {"a": 1}}, assistant({**use("a"), "_meta": {"b": 2}})]
    assert normal(messages) == [{"role": "user", "content": [text("x")], "_meta": {"a": 1}}, messages[1]]


def test_text_is_found_in_results_too_and_the_rest_is_named() -> None:
    link = {"type": "resource_link", "uri": "notes://1", "name": "note"}
    embedded = {"type": "resource", "resource": {"uri": "notes://2", "text": "inside"}}
    blob = {"type": "resource", "resource": {"uri": "notes://3", "blob": "aGk="}}
    messages = [user(text("a"), PICTURE), assistant(use("1")), user(result("1", text("b"), link, embedded, blob))]
    assert text_of(messages).split("\n") == [
        "a",
        "[image]",
        "[tool_use add]",
        "b",
        "[resource_link note]",
        "inside",
        "[resource notes://3]",
    ]


@pytest.mark.parametrize(
    ("request_", "features"),
    [
        (ModelRequest([user(text("x"))]), {"text"}),
        (ModelRequest([user(PICTURE)]), {"text", "image"}),
        (ModelRequest([user(SOUND)]), {"text", "audio"}),
        (ModelRequest([user(text("x"))], tools=[ADD]), {"text", "tools"}),
        (ModelRequest([assistant(use("a")), user(result("a", PICTURE))]), {"text", "tools", "image"}),
        (
            ModelRequest([user({"type": "resource", "resource": {"blob": "aGk=", "mimeType": "audio/mp3"}})]),
            {"text", "audio"},
        ),
    ],
)
def test_what_a_request_needs(request_: ModelRequest, features: set[str]) -> None:
    assert needs(request_) == features


def test_a_block_that_the_model_does_not_take_is_an_error_and_is_never_left_out() -> None:
    model = ScriptedModel([], name="small", supports=frozenset({"text"}))
    with pytest.raises(UnsupportedContent, match="The model small does not take audio and images") as caught:
        refuse_unsupported(ModelRequest([user(text("x"), PICTURE, SOUND)]), model)
    assert "%mcp model" in str(caught.value)
    refuse_unsupported(ModelRequest([user(text("x"))]), model)
