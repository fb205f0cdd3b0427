"""What is declared, and what follows from it."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_mcp.protocol.capabilities import (
    client_allows,
    client_capabilities,
    declared,
    may_notify,
    server_allows,
)


@pytest.mark.parametrize(
    ("revision", "caps"),
    [
        ("2024-11-05", {"roots": {}, "sampling": {}}),
        ("2025-03-26", {"roots": {}, "sampling": {}}),
        ("2025-06-18", {"roots": {}, "sampling": {}, "elicitation": {}}),
        ("2025-11-25", {"roots": {}, "sampling": {"tools": {}}, "elicitation": {"form": {}, "url": {}}}),
        ("2026-07-28", {"roots": {}, "sampling": {"tools": {}}, "elicitation": {"form": {}, "url": {}}}),
    ],
)
def test_client_capabilities_have_the_shape_of_the_revision(revision: str, caps: dict[str, Any]) -> None:
    assert client_capabilities(revision, sampling_tools=True) == caps


def test_what_is_not_offered_is_not_declared() -> None:
    for revision in ("2025-06-18", "2025-11-25", "2026-07-28"):
        caps = client_capabilities(revision, elicitation_form=False, elicitation_url=False, sampling=False, roots=False)
        assert caps == {}
    assert client_capabilities("2025-06-18", elicitation_form=False)["roots"] == {}
    assert "elicitation" not in client_capabilities("2025-06-18", elicitation_form=False)
    assert client_capabilities("2025-11-25", elicitation_form=False)["elicitation"] == {"url": {}}


def test_roots_list_changed_is_a_legacy_word() -> None:
    assert client_capabilities("2025-11-25", roots_list_changed=True)["roots"] == {"listChanged": True}
    assert client_capabilities("2026-07-28", roots_list_changed=True)["roots"] == {}


def test_extensions_and_experiments_are_passed_on() -> None:
    caps = client_capabilities("2026-07-28", extensions={"a/b": {}}, experimental={"x": {}})
    assert caps["extensions"] == {"a/b": {}} and caps["experimental"] == {"x": {}}


@pytest.mark.parametrize(
    ("caps", "path", "yes"),
    [
        ({"tools": {}}, ("tools",), True),
        ({"tools": True}, ("tools",), True),
        ({"tools": True}, ("tools", "listChanged"), True),
        ({"tools": None}, ("tools",), False),
        ({"tools": False}, ("tools",), False),
        ({"tools": "x"}, ("tools", "listChanged"), False),
        ({"resources": {"subscribe": False}}, ("resources", "subscribe"), False),
        ({"resources": {"subscribe": True}}, ("resources", "subscribe"), True),
        (None, ("tools",), False),
        ([], ("tools",), False),
    ],
)
def test_odd_declarations_do_no_harm(caps: object, path: tuple[str, ...], yes: bool) -> None:
    assert declared(caps, path) is yes


def test_a_client_calls_only_what_the_server_declared() -> None:
    caps: dict[str, Any] = {"tools": {}, "resources": {"listChanged": True}}
    assert server_allows(caps, "tools/call") and server_allows(caps, "resources/templates/list")
    assert not server_allows(caps, "prompts/list")
    assert not server_allows(caps, "resources/subscribe")
    assert not server_allows(caps, "logging/setLevel")
    assert not server_allows(caps, "completion/complete")
    assert server_allows(caps, "ping") and server_allows(caps, "vendor/own")
    assert not server_allows(caps, "tasks/get", "2025-11-25")
    assert server_allows({"extensions": {"io.modelcontextprotocol/tasks": {}}}, "tasks/get", "2026-07-28")


def test_completion_needs_no_declaration_where_there_was_none() -> None:
    assert server_allows({}, "completion/complete", "2024-11-05")
    assert not server_allows({}, "completion/complete", "2025-03-26")


def test_nobody_notifies_beyond_what_it_declared() -> None:
    assert may_notify({"tools": {"listChanged": True}}, "notifications/tools/list_changed", "2025-11-25", "server")
    assert not may_notify({"tools": {}}, "notifications/tools/list_changed", "2025-11-25", "server")
    assert not may_notify({}, "notifications/message", "2025-11-25", "server")
    assert may_notify({}, "notifications/progress", "2025-11-25", "server")
    assert not may_notify({"roots": {}}, "notifications/roots/list_changed", "2025-11-25", "client")


FULL = client_capabilities("2025-11-25", sampling_tools=True)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("elicitation/create", {"message": "m", "requestedSchema": {}}),
        ("elicitation/create", {"mode": "form"}),
        ("elicitation/create", {"mode": "url", "url": "https://x"}),
        ("sampling/createMessage", {"messages": [], "tools": []}),
        ("roots/list", None),
        ("ping", None),
    ],
)
def test_what_is_declared_is_answered(method: str, params: Any) -> None:
    assert client_allows(FULL, method, params) is None


@pytest.mark.parametrize(
    ("caps", "method", "params", "code", "required"),
    [
        ({}, "elicitation/create", {}, -32601, {"elicitation": {}}),
        ({}, "sampling/createMessage", {}, -32601, {"sampling": {}}),
        ({}, "roots/list", {}, -32601, {"roots": {}}),
        ({"elicitation": {}}, "elicitation/create", {"mode": "url"}, -32602, {"elicitation": {"url": {}}}),
        ({"elicitation": {"form": {}}}, "elicitation/create", {"mode": "url"}, -32602, {"elicitation": {"url": {}}}),
        ({"elicitation": {"url": {}}}, "elicitation/create", {"mode": "form"}, -32602, {"elicitation": {"form": {}}}),
        ({"elicitation": {"url": {}}}, "elicitation/create", {}, -32602, {"elicitation": {"form": {}}}),
        (FULL, "elicitation/create", {"mode": "voice"}, -32602, None),
        ({"sampling": {}}, "sampling/createMessage", {"tools": []}, -32602, {"sampling": {"tools": {}}}),
        ({"sampling": {}}, "sampling/createMessage", {"toolChoice": {}}, -32602, {"sampling": {"tools": {}}}),
        (FULL, "tasks/get", {}, -32601, None),
        (FULL, "tools/call", {}, -32601, None),
        (FULL, "vendor/x", {}, -32601, None),
    ],
)
def test_what_is_not_declared_is_refused_with_its_code(
    caps: dict[str, Any], method: str, params: Any, code: int, required: Any
) -> None:
    refusal = client_allows(caps, method, params)
    assert refusal is not None
    assert (refusal.code, refusal.required) == (code, required)


def test_an_empty_elicitation_capability_means_forms() -> None:
    assert client_allows({"elicitation": {}}, "elicitation/create", {"mode": "form"}) is None
    assert client_allows({"elicitation": True}, "elicitation/create", {}) is None
