"""The public models: what was parsed comes back out, what is unknown is kept."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from jupyter_mcp.protocol import types
from tests.shared import ROOT, shared_path

# the example folders whose model has another name
ALIASES = {
    "CreateMessageRequestParams": "CreateMessageParams",
    "ElicitRequestFormParams": "ElicitParams",
    "ElicitRequestURLParams": "ElicitParams",
    "LoggingMessageNotificationParams": "LogMessage",
    "ProgressNotificationParams": "Progress",
    "TextResourceContents": "ResourceContents",
    "BlobResourceContents": "ResourceContents",
}
FOLDERS = sorted(
    folder.name
    for folder in (ROOT / "spec" / "examples").glob("*")
    if isinstance(getattr(types, ALIASES.get(folder.name, folder.name), None), type)
)


@pytest.mark.parametrize("folder", FOLDERS or ["-"])
def test_every_official_example_parses_and_dumps_back_equal(folder: str) -> None:
    model: type[BaseModel] = getattr(types, ALIASES.get(folder, folder), types.Model)
    for path in sorted(shared_path(f"spec/examples/{folder}").glob("*.json")):
        example = json.loads(path.read_text("utf-8"))
        parsed = model.model_validate(example)
        assert types.dump(parsed) == example
        assert not parsed.model_extra, f"{path.name} has members that {model.__name__} misses"


def test_the_examples_cover_the_models() -> None:
    shared_path("spec/examples")
    assert len(FOLDERS) >= 25


@pytest.mark.parametrize("name", sorted(n for n in dir(types) if n[0].isupper()))
def test_every_model_keeps_what_it_does_not_know(name: str) -> None:
    model = getattr(types, name)
    if not (isinstance(model, type) and issubclass(model, types.Model)):
        return
    assert model.model_config.get("extra") == "allow"


def test_unknown_members_come_back_out() -> None:
    wire: dict[str, Any] = {
        "name": "t",
        "inputSchema": {"type": "object"},
        "execution": {"taskSupport": "optional"},
        "x-y": 1,
    }
    tool = types.Tool.model_validate(wire)
    assert tool.model_extra == {"execution": {"taskSupport": "optional"}, "x-y": 1}
    assert types.dump(tool) == wire


def test_attributes_are_python_names_and_both_names_construct() -> None:
    tool = types.Tool(name="t", input_schema={"type": "object", "properties": {}})
    assert tool.input_schema == {"type": "object", "properties": {}}
    assert types.dump(tool) == {"name": "t", "inputSchema": {"type": "object", "properties": {}}}
    read = types.Resource.model_validate({"uri": "u", "name": "n", "mimeType": "text/plain", "_meta": {"k": 1}})
    assert (read.mime_type, read.meta) == ("text/plain", {"k": 1})


def test_what_the_wire_requires_is_written_even_when_it_was_a_default() -> None:
    assert types.dump(types.TextContent(text="hi")) == {"type": "text", "text": "hi"}
    assert types.dump(types.CallToolResult(content=[types.TextContent(text="x")])) == {
        "content": [{"type": "text", "text": "x"}]
    }
    assert types.dump(types.Tool(name="t"))["inputSchema"] == {"type": "object"}
    assert types.dump(types.ElicitResult(action="cancel")) == {"action": "cancel"}


@pytest.mark.parametrize(
    ("block", "kind"),
    [
        ({"type": "text", "text": "x"}, types.TextContent),
        ({"type": "image", "data": "YQ==", "mimeType": "image/png"}, types.ImageContent),
        ({"type": "audio", "data": "YQ=="}, types.AudioContent),
        ({"type": "resource_link", "uri": "u"}, types.ResourceLink),
        ({"type": "resource", "resource": {"uri": "u", "blob": "YQ=="}}, types.EmbeddedResource),
        ({"type": "tool_use", "id": "1", "name": "n", "input": {}}, types.ToolUseContent),
        ({"type": "tool_result", "toolUseId": "1", "content": []}, types.ToolResultContent),
        ({"type": "hologram", "x": 1}, types.UnknownContent),
        ({"type": "text", "text": 5}, types.UnknownContent),
        ({"type": ["text"]}, types.UnknownContent),
        ({"type": "text", "text": "x", "annotations": {"priority": "high"}}, types.UnknownContent),
        ({"_fields_set": 1, "_meta": 5}, types.UnknownContent),
        ({}, types.UnknownContent),
    ],
)
def test_a_block_becomes_the_model_of_its_type_or_stays_unknown(block: dict[str, Any], kind: type[Any]) -> None:
    made = types.content_block(block)
    assert type(made) is kind
    in_list = types.CallToolResult.model_validate({"content": [block]})
    assert type(in_list.content[0]) is kind
    if "text" in block:
        assert types.dump(in_list)["content"] == [block]


def test_a_result_nests_blocks_and_reads_lists_or_single_blocks() -> None:
    message = types.SamplingMessage.model_validate({"role": "user", "content": {"type": "text", "text": "x"}})
    assert isinstance(message.content, types.TextContent)
    several = types.PromptMessage.model_validate(
        {"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "v"}]}
    )
    assert isinstance(several.content, list) and isinstance(several.content[1], types.UnknownContent)


def test_what_is_no_block_at_all_is_an_error() -> None:
    with pytest.raises(ValidationError):
        types.CallToolResult.model_validate({"content": ["text"]})
