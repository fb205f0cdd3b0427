"""The table: complete, and true to the schemas."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jupyter_mcp.protocol.methods import INPUT_METHODS, TABLE, known
from jupyter_mcp.protocol.revisions import ALL
from tests.shared import shared_path

UNIONS = {
    "c2s": ("ClientRequest", "ClientNotification"),
    "s2c": ("ServerRequest", "ServerNotification"),
}
REVISIONS = list(ALL)


def methods_in(revision: str, way: str) -> set[str]:
    document = json.loads(shared_path(f"spec/schema-{revision}.json").read_text("utf-8"))
    definitions: dict[str, Any] = document.get("$defs") or document["definitions"]
    found: set[str] = set()
    for union in UNIONS[way]:
        for option in definitions.get(union, {}).get("anyOf", [definitions.get(union, {})]):
            name = option.get("$ref", "").rsplit("/", 1)[-1]
            method = definitions.get(name, {}).get("properties", {}).get("method", {}).get("const")
            if method:
                found.add(method)
    return found


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize(("way", "sender"), [("c2s", "client"), ("s2c", "server")])
def test_every_method_of_the_schemas_has_a_row_that_knows_its_sender(revision: str, way: str, sender: Any) -> None:
    methods = methods_in(revision, way)
    assert len(methods) > 4
    assert [m for m in sorted(methods) if known(m, revision, sender) is None] == []


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize(("way", "sender"), [("c2s", "client"), ("s2c", "server")])
def test_no_row_knows_a_method_that_the_schema_does_not(revision: str, way: str, sender: Any) -> None:
    ours = {name for name in TABLE if known(name, revision, sender)}
    beyond = {"notifications/cancelled", "notifications/tasks/status"}
    if revision == "2026-07-28":
        beyond |= {"tasks/get", "tasks/update", "tasks/cancel", "notifications/tasks"}  # the tasks extension
    # the 2026-07-28 schema's unions leave out a server's cancel of a listen stream in one direction or the other
    assert ours - methods_in(revision, way) - beyond == set()


def test_the_tasks_of_both_kinds_have_rows() -> None:
    assert {"tasks/get", "tasks/result", "tasks/list", "tasks/cancel", "tasks/update"} <= set(TABLE)
    assert {"notifications/tasks", "notifications/tasks/status"} <= set(TABLE)
    assert known("tasks/result", "2026-07-28", "client") is None
    assert known("tasks/update", "2025-11-25", "client") is None
    assert TABLE["tasks/cancel"].capability_in("legacy") == ("tasks", "cancel")
    assert TABLE["tasks/cancel"].capability_in("modern") == ("extensions", "io.modelcontextprotocol/tasks")


def test_servers_ask_by_messages_in_the_legacy_era_and_inside_results_in_the_modern() -> None:
    assert {"elicitation/create", "sampling/createMessage", "roots/list"} == INPUT_METHODS
    for name in INPUT_METHODS:
        assert known(name, "2025-11-25", "server") is TABLE[name]
        assert known(name, "2026-07-28", "server") is None
        assert TABLE[name].direction == "s2c"


def test_elicitation_is_unknown_before_it_was_introduced() -> None:
    assert known("elicitation/create", "2025-03-26", "server") is None
    assert known("notifications/elicitation/complete", "2025-06-18", "server") is None


def test_what_may_be_cached_and_what_may_ask_is_marked() -> None:
    assert {n for n, m in TABLE.items() if m.input_required_allowed} == {"tools/call", "resources/read", "prompts/get"}
    assert {n for n, m in TABLE.items() if m.cacheable} == {
        "server/discover",
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
        "resources/read",
    }
    assert TABLE["resources/read"].name_key == "uri" and TABLE["tools/call"].name_key == "name"
    assert TABLE["ping"].eras == ("legacy",) and TABLE["tools/list"].eras == ("legacy", "modern")
    assert TABLE["ping"].direction == "both" and TABLE["tools/list"].direction == "c2s"
