"""Every message of the bridge, ours and the page's, is one of the specification's."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import jsonschema
import pytest

from jupyter_mcp.host import apps
from jupyter_mcp.host.apps import context, messages
from jupyter_mcp.host.apps.app import App, AppCall
from jupyter_mcp.host.apps.events import Asked
from jupyter_mcp.host.apps.sandbox import sandbox_of
from tests.host.apps.talking import INIT, INITIALIZED, READY, STYLES, Talk, sent
from tests.host.apps.test_pages import page
from tests.shared import shared_path

TOOL: dict[str, Any] = {
    "name": "t",
    "description": "d",
    "inputSchema": {"type": "object", "properties": {}},
    "x-own": 1,
}
TEXT = {"type": "text", "text": "x"}
LINK = {"type": "resource_link", "uri": "a://b", "name": "b"}
FILE = {"type": "resource", "resource": {"uri": "a://b.txt", "mimeType": "text/plain", "text": "x"}}


@cache
def schema() -> dict[str, Any]:
    return json.loads(shared_path("spec/ext-apps-schema-2026-01-26.json").read_text())


def check(name: str, value: object) -> None:
    """Raises where a value is not of a type of the specification."""
    validator: Any = jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": schema()["$defs"]})
    validator.validate(value)


def bare(message: dict[str, Any]) -> dict[str, Any]:
    """A message without JSON-RPC's own keys, and without the room that the container gives.

    No object with two of its dimensions fits the published schema: each half of its `allOf` forbids the other's key.
    """
    kept = {key: value for key, value in message.items() if key not in ("jsonrpc", "id")}
    if "hostContext" in kept:
        kept["hostContext"] = {key: one for key, one in kept["hostContext"].items() if key != "containerDimensions"}
    if isinstance(kept.get("params"), dict):
        kept["params"] = {key: one for key, one in kept["params"].items() if key != "containerDimensions"}
    return kept


def talk() -> Talk:
    reported = {
        "theme": "dark",
        "styles": STYLES,
        "containerDimensions": {"width": 640, "maxHeight": 800},
        "locale": "de-DE",
        "timeZone": "Europe/Paris",
        "touch": False,
        "hover": True,
    }
    made = Talk(tool=context.tool_info(TOOL, 100))
    made.bridge.stands(reported)
    return made


def test_what_a_client_declares() -> None:
    check("McpUiClientCapabilities", apps.settings())


def test_the_page_s_own_words_to_tools_are_those_that_are_read() -> None:
    meta = {"resourceUri": "ui://a/b", "visibility": ["model"]}
    check("McpUiToolMeta", meta)
    tool = {"_meta": {"ui": meta}}
    assert apps.resource_uri(tool) == "ui://a/b" and not apps.may_call("app", tool)


def test_the_handshake() -> None:
    made = talk()
    (resource,) = sent(made.note(READY))
    check("McpUiSandboxResourceReadyNotification", bare(resource))
    check("McpUiInitializeRequest", {"method": "ui/initialize", "params": INIT})
    (answer,) = sent(made.ask("ui/initialize", **INIT))
    check("McpUiInitializeResult", bare(answer["result"]))
    assert answer["result"]["hostContext"]["containerDimensions"] == {"width": 640, "maxHeight": 800}


def test_the_frame_of_a_page_with_everything() -> None:
    wants = page(
        csp={"connectDomains": ["https://a.example"], "frameDomains": ["https://b.example"]}, permissions={"camera": {}}
    )
    resource = sandbox_of(wants, "", granted={"camera"}).resource
    check(
        "McpUiSandboxResourceReadyNotification",
        {"method": "ui/notifications/sandbox-resource-ready", "params": resource},
    )


@pytest.mark.parametrize("permissions", [{}, {"camera": {}, "clipboardWrite": {}}])
def test_what_we_say_that_we_can(permissions: dict[str, Any]) -> None:
    app = App("demo", TOOL, AppCall(), page(csp={"connectDomains": ["https://a.example"]}, permissions=permissions))
    for name in permissions:
        app.grant(name)
    check("McpUiHostCapabilities", app.capabilities())
    assert app.capabilities()["sandbox"]["permissions"] == permissions


def test_what_a_page_is_told() -> None:
    made = talk()
    made.open()
    (partial,) = sent(made.bridge.partial({"a": 1}))
    check("McpUiToolInputPartialNotification", bare(partial))
    (given,) = sent(made.bridge.input({"a": 1}))
    check("McpUiToolInputNotification", bare(given))
    (result,) = sent(made.bridge.result({"content": [TEXT], "structuredContent": {"a": 1}, "isError": False}))
    check("McpUiToolResultNotification", bare(result))
    (changed,) = sent(made.bridge.stands({"theme": "light", "containerDimensions": {"width": 5}}))
    check("McpUiHostContextChangedNotification", bare(changed))
    (mode,) = sent(made.bridge.shown_as("fullscreen"))
    check("McpUiHostContextChangedNotification", bare(mode))
    (teardown,) = sent(made.bridge.teardown())
    check("McpUiResourceTeardownRequest", bare(teardown))


def test_a_cancelled_call() -> None:
    made = talk()
    made.open()
    told = sent(made.bridge.cancelled("by the person"))
    check("McpUiToolCancelledNotification", bare(told[-1]))


@pytest.mark.parametrize(
    ("name", "method", "params"),
    [
        ("McpUiOpenLinkRequest", "ui/open-link", {"url": "https://a.example"}),
        ("McpUiDownloadFileRequest", "ui/download-file", {"contents": [FILE, LINK]}),
        ("McpUiMessageRequest", "ui/message", {"role": "user", "content": [TEXT, FILE, LINK]}),
        ("McpUiUpdateModelContextRequest", "ui/update-model-context", {"content": [TEXT], "structuredContent": {}}),
        ("McpUiRequestDisplayModeRequest", "ui/request-display-mode", {"mode": "fullscreen"}),
    ],
)
def test_what_a_page_may_ask_is_taken(name: str, method: str, params: dict[str, Any]) -> None:
    check(name, {"method": method, "params": params})
    made = talk()
    made.open()
    events = made.ask(method, **params)
    assert any(isinstance(event, Asked) for event in events) or "result" in sent(events)[-1]


@pytest.mark.parametrize(
    ("name", "method", "params"),
    [
        ("McpUiInitializedNotification", INITIALIZED, {}),
        ("McpUiSandboxProxyReadyNotification", READY, {}),
        ("McpUiSizeChangedNotification", "ui/notifications/size-changed", {"width": 1.5, "height": 2}),
        ("McpUiRequestTeardownNotification", "ui/notifications/request-teardown", {}),
    ],
)
def test_what_a_page_may_tell_is_known(name: str, method: str, params: dict[str, Any]) -> None:
    check(name, {"method": method, "params": params})
    assert messages.notification(method, params) is not None


def test_every_message_of_the_specification_is_known_here() -> None:
    named = {
        definition["properties"]["method"]["const"]
        for definition in schema()["$defs"].values()
        if "method" in definition.get("properties", {})
    }
    ours = {
        "ui/notifications/sandbox-resource-ready",
        "ui/notifications/host-context-changed",
        "ui/notifications/tool-input",
        "ui/notifications/tool-input-partial",
        "ui/notifications/tool-result",
        "ui/notifications/tool-cancelled",
        "ui/resource-teardown",
    }
    assert named - ours <= {*messages.REQUESTS, *messages.NOTIFICATIONS}
