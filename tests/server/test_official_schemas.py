"""What the server sends, held against the specification's own schemas of each revision (where they are there)."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from jupyter_mcp.protocol.revisions import ALL, era
from tests.server.sample import make_server
from tests.server.talk import RpcFailure, Talk
from tests.shared import shared_path

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.anyio
every_revision = pytest.mark.parametrize("revision", ALL)
ANSWERS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "elicitation/create": lambda params: {"action": "accept", "content": {"seat": "a", "value": True}},
    "sampling/createMessage": lambda params: {
        "role": "assistant",
        "content": {"type": "text", "text": "x"},
        "model": "m",
    },
    "roots/list": lambda params: {"roots": []},
}


@cache
def schema(revision: str) -> dict[str, Any]:
    return json.loads(shared_path(f"spec/schema-{revision}.json").read_text())


def check(revision: str, name: str, value: Any) -> None:
    """`value` must be a `name` of the revision's schema."""
    whole = schema(revision)
    key = "$defs" if "$defs" in whole else "definitions"
    if name not in whole[key]:
        pytest.fail(f"{revision} has no {name}")
    kind = jsonschema.Draft202012Validator if key == "$defs" else jsonschema.Draft7Validator
    validator: Any = kind({"$ref": f"#/{key}/{name}", key: whole[key]})
    errors = list(validator.iter_errors(value))
    assert not errors, (
        f"{name} of {revision}: {errors[0].message} at {list(errors[0].absolute_path)}\n{json.dumps(value)[:600]}"
    )


REQUESTS: list[tuple[str, dict[str, Any], str]] = [
    ("tools/list", {}, "ListToolsResult"),
    ("resources/list", {}, "ListResourcesResult"),
    ("resources/templates/list", {}, "ListResourceTemplatesResult"),
    ("prompts/list", {}, "ListPromptsResult"),
    ("tools/call", {"name": "add", "arguments": {"a": 1}}, "CallToolResult"),
    ("tools/call", {"name": "report", "arguments": {"city": "x"}}, "CallToolResult"),
    ("tools/call", {"name": "media"}, "CallToolResult"),
    ("tools/call", {"name": "add", "arguments": {"a": "x"}}, "CallToolResult"),
    ("tools/call", {"name": "fail", "arguments": {"kind": "tool"}}, "CallToolResult"),
    ("resources/read", {"uri": "notes://today"}, "ReadResourceResult"),
    ("resources/read", {"uri": "data://table"}, "ReadResourceResult"),
    ("prompts/get", {"name": "review", "arguments": {"language": "perl"}}, "GetPromptResult"),
    (
        "completion/complete",
        {"ref": {"type": "ref/prompt", "name": "review"}, "argument": {"name": "language", "value": "p"}},
        "CompleteResult",
    ),
]


@every_revision
async def test_this_check_can_fail(revision: str):
    with pytest.raises(AssertionError, match="CallToolResult"):
        check(revision, "CallToolResult", {"content": 3})


@every_revision
async def test_results_are_what_the_schema_says(revision: str):
    async with Talk(make_server()[0], revision) as talk:
        if era(revision) == "legacy":
            check(revision, "InitializeResult", talk.initialized)
        else:
            check(revision, "DiscoverResult", await talk.request("server/discover"))
        for method, params, name in REQUESTS:
            check(revision, name, await talk.request(method, params))


@every_revision
async def test_notifications_are_what_the_schema_says(revision: str):
    server, _ = make_server()
    async with Talk(server, revision) as talk:
        if era(revision) == "modern":
            wanted = {"toolsListChanged": True, "resourceSubscriptions": ["notes://today"]}
            await talk.start("subscriptions/listen", {"notifications": wanted})
        else:
            await talk.request("resources/subscribe", {"uri": "notes://today"})
        level = {"io.modelcontextprotocol/logLevel": "debug"} if era(revision) == "modern" else {}
        await talk.call("tell", {}, progressToken=1, **level)
        server.tools_changed()
        server.resource_updated("notes://today")
        await talk.settle()
        notes = [one for one in talk.received if "method" in one]
        for note in notes:
            check(revision, "ServerNotification", note)
        kinds = {one["method"] for one in notes}
        assert {"notifications/progress", "notifications/message", "notifications/tools/list_changed"} <= kinds
        assert "notifications/resources/updated" in kinds


@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25"])
async def test_questions_are_what_the_schema_says(revision: str):
    async with Talk(make_server()[0], revision, answers=ANSWERS) as talk:
        await talk.call("book", {"city": "x"})
        await talk.call("several")
        if revision == "2025-11-25":
            await talk.call("page")
        assert len(talk.asked) >= 5
        for one in talk.asked:
            check(revision, "ServerRequest", one)


async def test_rounds_are_what_the_schema_says():
    revision = "2026-07-28"
    async with Talk(make_server()[0], revision) as talk:
        for name in ("several", "book_blocking", "page", "by_hand"):
            result = await talk.request("tools/call", {"name": name})
            check(revision, "InputRequiredResult", result)
            for asked in result["inputRequests"].values():
                check(revision, "InputRequest", asked)


async def test_errors_of_the_modern_era_are_what_the_schema_says():
    revision = "2026-07-28"
    async with Talk(make_server()[0], revision, capabilities={}) as talk:
        for params, name in (
            ({"name": "nope"}, "InvalidParamsError"),
            ({"name": "book_blocking"}, "MissingRequiredClientCapabilityError"),
        ):
            with pytest.raises(RpcFailure):
                await talk.request("tools/call", params)
            failed = talk.received[-1]
            check(
                revision,
                name,
                failed if "jsonrpc" in schema(revision)["$defs"][name]["properties"] else failed["error"],
            )


@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25", "2026-07-28"])
async def test_structured_content_fits_the_output_schema_that_was_listed(revision: str):
    async with Talk(make_server()[0], revision) as talk:
        tools = {tool["name"]: tool for tool in (await talk.request("tools/list"))["tools"]}
        for name, arguments in (("add", {"a": 1}), ("report", {"city": "x"})):
            result = await talk.call(name, arguments)
            jsonschema.validate(result["structuredContent"], tools[name]["outputSchema"])
            if revision < "2026-07-28":
                assert tools[name]["outputSchema"]["type"] == "object"
