"""What we send, checked against the official schemas of each revision."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from jsonschema import Draft7Validator, Draft202012Validator

from jupyter_mcp.protocol import jsonrpc, legacy, listen, modern
from jupyter_mcp.protocol.capabilities import client_capabilities
from jupyter_mcp.protocol.inbound import Rejection, ServerFacts, route
from jupyter_mcp.protocol.probe import Try, probe
from jupyter_mcp.protocol.revisions import ALL, LEGACY
from tests.shared import shared_path

INFO: dict[str, Any] = {
    "name": "jupyter-mcp",
    "version": "0.1",
    "title": "Jupyter",
    "description": "A host",
    "websiteUrl": "https://example.org",
}
SERVER_CAPS: dict[str, Any] = {
    "tools": {"listChanged": True},
    "resources": {"subscribe": True, "listChanged": True},
    "prompts": {"listChanged": True},
    "logging": {},
    "completions": {},
}


@cache
def document(revision: str) -> dict[str, Any]:
    return json.loads(shared_path(f"spec/schema-{revision}.json").read_text("utf-8"))


def problems(revision: str, definition: str, value: Any) -> list[str]:
    whole = document(revision)
    key = "$defs" if "$defs" in whole else "definitions"
    assert definition in whole[key], f"{revision} has no {definition}"
    validator: Any = (Draft202012Validator if key == "$defs" else Draft7Validator)(
        {"$ref": f"#/{key}/{definition}", key: whole[key]}
    )
    sent = json.loads(jsonrpc.encode(value))
    return [f"{list(error.path)}: {error.message[:200]}" for error in validator.iter_errors(sent)]


def unknown_members(revision: str, definition: str, value: dict[str, Any]) -> set[str]:
    """Members that the revision's schema does not name (it is open, so they would pass unseen)."""
    whole = document(revision)
    return set(value) - set((whole.get("$defs") or whole["definitions"])[definition].get("properties", {}))


@pytest.mark.parametrize("revision", LEGACY)
def test_initialize_requests(revision: str) -> None:
    caps = client_capabilities(revision, sampling_tools=True, roots_list_changed=True)
    params = legacy.initialize_params(revision, INFO, caps)
    assert problems(revision, "InitializeRequest", jsonrpc.request(1, "initialize", params)) == []
    assert unknown_members(revision, "Implementation", params["clientInfo"]) == set()
    assert problems(revision, "InitializedNotification", legacy.initialized()) == []


@pytest.mark.parametrize("revision", LEGACY)
def test_initialize_results(revision: str) -> None:
    result = legacy.ServerSession().initialize(
        {"protocolVersion": revision}, versions=ALL, capabilities=SERVER_CAPS, server_info=INFO, instructions="Hi"
    )
    assert isinstance(result, dict)
    assert problems(revision, "InitializeResult", result) == []
    assert unknown_members(revision, "ServerCapabilities", result["capabilities"]) == set()
    assert unknown_members(revision, "Implementation", result["serverInfo"]) == set()


@pytest.mark.parametrize("revision", ALL)
def test_client_capabilities(revision: str) -> None:
    for flags in ({}, {"sampling_tools": True}, {"elicitation_url": False}, {"elicitation_form": False}):
        caps = client_capabilities(revision, **flags)  # pyright: ignore[reportArgumentType]
        assert problems(revision, "ClientCapabilities", caps) == []
        assert unknown_members(revision, "ClientCapabilities", caps) == set()


def test_the_probes_discover_request() -> None:
    step = next(probe("auto", INFO, client_capabilities))
    assert isinstance(step, Try)
    assert problems("2026-07-28", "DiscoverRequest", jsonrpc.request(0, step.method, step.params)) == []


@pytest.mark.parametrize(
    ("definition", "method", "params"),
    [
        ("CallToolRequest", "tools/call", {"name": "x", "arguments": {"a": 1}}),
        ("ListToolsRequest", "tools/list", {"cursor": ""}),
        ("ReadResourceRequest", "resources/read", {"uri": "a:b"}),
        ("GetPromptRequest", "prompts/get", {"name": "p", "arguments": {"a": "b"}}),
        (
            "SubscriptionsListenRequest",
            "subscriptions/listen",
            {"notifications": listen.build_filter(SERVER_CAPS, ["u"])},
        ),
    ],
)
def test_enveloped_requests(definition: str, method: str, params: dict[str, Any]) -> None:
    full = modern.envelope(
        params,
        revision="2026-07-28",
        client_info=INFO,
        capabilities=client_capabilities("2026-07-28", extensions={"io.modelcontextprotocol/tasks": {}}),
        log_level="debug",
        progress_token=3,
    )
    assert problems("2026-07-28", definition, jsonrpc.request("a", method, full)) == []


def test_a_retry_with_answers_is_a_valid_call() -> None:
    flow = modern.rounds("tools/call", {"name": "book"})
    next(flow)
    form: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}}
    question = {"method": "elicitation/create", "params": {"message": "m", "requestedSchema": form}}
    asked = modern.input_required({"seat": question, "dirs": {"method": "roots/list"}}, "state")
    assert problems("2026-07-28", "InputRequiredResult", asked) == []
    flow.send(asked)
    step = flow.send({"seat": {"action": "accept", "content": {"a": "b"}}, "dirs": {"roots": [{"uri": "file:///w"}]}})
    assert isinstance(step, modern.Send)
    params = modern.envelope(step.params, revision="2026-07-28", client_info=INFO, capabilities={})
    assert problems("2026-07-28", "CallToolRequest", jsonrpc.request(2, "tools/call", params)) == []


@pytest.mark.parametrize(
    ("definition", "method", "result"),
    [
        ("DiscoverResult", "server/discover", {"supportedVersions": ["2026-07-28"], "capabilities": SERVER_CAPS}),
        ("ListToolsResult", "tools/list", {"tools": []}),
        ("ListResourcesResult", "resources/list", {"resources": []}),
        ("ListResourceTemplatesResult", "resources/templates/list", {"resourceTemplates": []}),
        ("ListPromptsResult", "prompts/list", {"prompts": []}),
        ("ReadResourceResult", "resources/read", {"contents": [{"uri": "a:b", "text": "t"}]}),
        ("CallToolResult", "tools/call", {"content": [], "structuredContent": [1]}),
        ("GetPromptResult", "prompts/get", {"messages": []}),
        ("CompleteResult", "completion/complete", {"completion": {"values": []}}),
    ],
)
def test_modern_results(definition: str, method: str, result: dict[str, Any]) -> None:
    done = modern.complete(method, result, server_info={"name": "s", "version": "1"})
    assert problems("2026-07-28", definition, done) == []


def test_subscription_messages() -> None:
    ack = jsonrpc.notification(listen.ACKNOWLEDGED, listen.stamp({"notifications": {"toolsListChanged": True}}, "L1"))
    assert problems("2026-07-28", "SubscriptionsAcknowledgedNotification", ack) == []
    changed = jsonrpc.notification("notifications/tools/list_changed", listen.stamp(None, "L1"))
    assert problems("2026-07-28", "ToolListChangedNotification", changed) == []
    final = listen.stamp(modern.complete("subscriptions/listen", {}), "L1")
    assert problems("2026-07-28", "SubscriptionsListenResult", final) == []


def test_error_replies() -> None:
    server = ServerFacts(ALL, SERVER_CAPS)

    def reply(message: Any) -> dict[str, Any]:
        routed = route(message, locked=None, initialized=False, server=server)
        assert isinstance(routed, Rejection)
        return routed.reply()

    meta: dict[str, Any] = {modern.REVISION_KEY: "1900-01-01", modern.CAPABILITIES_KEY: {}}
    unsupported = reply(jsonrpc.request(1, "tools/list", {"_meta": meta}))
    assert problems("2026-07-28", "UnsupportedProtocolVersionError", unsupported) == []
    missing = reply(jsonrpc.request(1, "tools/list", {"_meta": {modern.REVISION_KEY: "2026-07-28"}}))
    assert problems("2026-07-28", "JSONRPCErrorResponse", missing) == []
    assert problems("2026-07-28", "InvalidParamsError", missing["error"]) == []
