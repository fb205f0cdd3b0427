"""The server's ladder: which message is acted on, which is refused with which code."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_mcp.protocol import inbound, jsonrpc
from jupyter_mcp.protocol.inbound import Ignore, Rejection, Route, Routed, ServerFacts
from jupyter_mcp.protocol.modern import CAPABILITIES_KEY, LOG_LEVEL_KEY, REVISION_KEY
from jupyter_mcp.protocol.revisions import ALL, LEGACY, MODERN, Era

META: dict[str, Any] = {REVISION_KEY: "2026-07-28", CAPABILITIES_KEY: {}}
CAPS: dict[str, Any] = {"tools": {}, "resources": {"subscribe": True}, "prompts": {}, "logging": {}, "completions": {}}
SERVER = ServerFacts(ALL, CAPS)


def request(method: str, params: Any = None, id: Any = 1) -> dict[str, Any]:
    return jsonrpc.request(id, method, params)


def modern(method: str, id: Any = 1, meta: dict[str, Any] = META, **params: Any) -> dict[str, Any]:
    return jsonrpc.request(id, method, {**params, "_meta": meta})


def go(
    message: Any,
    locked: Era | None = None,
    initialized: bool = False,
    server: ServerFacts = SERVER,
    revision: str | None = None,
) -> Routed:
    return inbound.route(message, locked=locked, initialized=initialized, server=server, revision=revision)


def legacy(message: Any, revision: str = "2025-11-25", server: ServerFacts = SERVER) -> Routed:
    return go(message, "legacy", True, server, revision)


def code(routed: Routed) -> int:
    assert isinstance(routed, Rejection), routed
    return routed.code


# --- the eras --------------------------------------------------------------------------------------------------------


def test_an_enveloped_request_is_modern_on_a_fresh_pipe() -> None:
    routed = go(modern("tools/call", id="a", name="x"))
    assert isinstance(routed, Route)
    assert (routed.era, routed.revision, routed.method, routed.id) == ("modern", "2026-07-28", "tools/call", "a")
    assert routed.envelope is not None and routed.params["name"] == "x"


def test_initialize_is_legacy_on_a_fresh_pipe() -> None:
    routed = go(request("initialize", {"protocolVersion": "2025-06-18"}))
    assert isinstance(routed, Route) and (routed.era, routed.method) == ("legacy", "initialize")


def test_the_first_routed_request_locks_the_pipe() -> None:
    assert inbound.lock(go(modern("server/discover")), None) == "modern"
    assert inbound.lock(go(request("initialize", {"protocolVersion": "x"})), None) == "legacy"
    assert inbound.lock(go(request("ping")), None) is None
    assert inbound.lock(go(modern("bogus")), None) is None
    assert inbound.lock(go(modern("server/discover")), "legacy") == "legacy"


def test_initialize_on_a_modern_pipe_is_unsupported() -> None:
    routed = go(request("initialize", {"protocolVersion": "2025-11-25"}), locked="modern")
    assert code(routed) == -32022
    assert isinstance(routed, Rejection)
    assert routed.data == {"supported": ["2026-07-28"], "requested": "2025-11-25"}


def test_an_envelope_on_a_legacy_pipe_is_an_invalid_request() -> None:
    assert code(legacy(modern("tools/list"))) == -32600
    assert code(legacy(modern("server/discover"))) == -32600


def test_a_modern_only_server_names_its_revisions_to_initialize() -> None:
    routed = go(request("initialize", {"protocolVersion": "2025-11-25"}), server=ServerFacts(MODERN, CAPS))
    assert code(routed) == -32022 and isinstance(routed, Rejection) and routed.data["supported"] == ["2026-07-28"]


def test_a_legacy_only_server_answers_a_probe_as_legacy_servers_do_so_that_no_client_takes_it_for_modern() -> None:
    facts = ServerFacts(LEGACY, CAPS)
    fresh = go(modern("server/discover"), server=facts)
    assert code(fresh) == -32602 and isinstance(fresh, Rejection) and "envelope" not in fresh.message
    started = go(modern("server/discover"), server=facts, locked="legacy", initialized=True, revision="2025-11-25")
    assert code(started) == -32601


@pytest.mark.parametrize("revision", ["2099-01-01", "2025-11-25", "x"])
def test_an_unsupported_revision_in_the_envelope_is_told_with_what_is_supported(revision: str) -> None:
    meta = {**META, REVISION_KEY: revision}
    fresh, locked = go(modern("tools/list", meta=meta)), go(modern("tools/list", meta=meta), locked="modern")
    assert code(fresh) == code(locked) == -32022
    assert isinstance(fresh, Rejection) and fresh.data["supported"] == sorted(ALL, reverse=True)
    assert isinstance(locked, Rejection) and locked.data == {"supported": ["2026-07-28"], "requested": revision}


@pytest.mark.parametrize(
    "meta",
    [{REVISION_KEY: "2026-07-28"}, {CAPABILITIES_KEY: {}}, {**META, CAPABILITIES_KEY: 5}, {**META, LOG_LEVEL_KEY: "x"}],
)
def test_half_an_envelope_is_invalid_params(meta: dict[str, Any]) -> None:
    assert code(go(modern("tools/list", meta=meta))) == -32602


def test_a_modern_pipe_wants_the_envelope_on_every_request() -> None:
    assert code(go(request("tools/list"), locked="modern")) == -32602


def test_before_initialize_only_ping_is_answered() -> None:
    routed = go(request("ping"))
    assert isinstance(routed, Route) and routed.method == "ping"
    assert code(go(request("tools/list"))) == -32602
    assert code(go(request("bogus"))) == -32602


# --- methods ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "method",
    ["bogus", "ping", "initialize", "logging/setLevel", "resources/subscribe", "elicitation/create", "roots/list"],
)
def test_what_the_modern_era_does_not_know_is_not_found(method: str) -> None:
    assert code(go(modern(method, level="info", uri="x", protocolVersion="x"))) == -32601


@pytest.mark.parametrize(
    "method", ["bogus", "server/discover", "subscriptions/listen", "elicitation/create", "notifications/initialized"]
)
def test_what_the_legacy_era_does_not_know_is_not_found(method: str) -> None:
    assert code(legacy(request(method, {"notifications": {}}))) == -32601


@pytest.mark.parametrize("method", ["tools/list", "prompts/get", "resources/read", "completion/complete"])
def test_what_the_server_did_not_declare_is_not_found(method: str) -> None:
    bare = ServerFacts(ALL, {})
    assert code(legacy(request(method), server=bare)) == -32601
    assert code(go(modern(method), server=bare)) == -32601


def test_tasks_exist_at_one_legacy_revision_and_when_declared() -> None:
    server = ServerFacts(ALL, {"tasks": {"list": {}}})
    assert isinstance(legacy(request("tasks/list"), "2025-11-25", server), Route)
    assert code(legacy(request("tasks/list"), "2025-06-18", server)) == -32601
    assert code(legacy(request("tasks/list"), "2025-11-25")) == -32601


def test_methods_of_the_servers_own_pass() -> None:
    server = ServerFacts(ALL, {}, frozenset(("vendor/x",)))
    assert isinstance(legacy(request("vendor/x", {"cursor": 5}), server=server), Route)


# --- params and shape ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("params", [None, []])
def test_absent_or_empty_list_params_are_an_empty_object(params: Any) -> None:
    message = {"jsonrpc": "2.0", "id": 0, "method": "tools/list", "params": params}
    routed = legacy(message)
    assert isinstance(routed, Route) and routed.params == {} and routed.id == 0


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {}),
        ("tools/call", {"name": 5}),
        ("tools/call", {"name": "x", "arguments": []}),
        ("tools/call", [1]),
        ("tools/call", "x"),
        ("resources/read", {"uri": None}),
        ("resources/subscribe", {}),
        ("prompts/get", {"name": []}),
        ("tools/list", {"cursor": 5}),
        ("completion/complete", {"ref": {}}),
        ("logging/setLevel", {"level": "loud"}),
        ("logging/setLevel", {"level": 5}),
    ],
)
def test_params_that_no_handler_can_use_are_invalid(method: str, params: Any) -> None:
    assert code(legacy({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})) == -32602


@pytest.mark.parametrize(
    ("message", "id"),
    [
        ({"jsonrpc": "2.0", "id": 5, "method": 7}, 5),
        ({"jsonrpc": "2.0", "id": None, "method": "ping"}, None),
        ({"jsonrpc": "2.0", "id": {}, "method": "ping"}, None),
        ({"jsonrpc": "1.0", "id": "x", "method": "ping"}, "x"),
        ({}, None),
        ([], None),
        (5, None),
        (None, None),
    ],
)
def test_what_is_no_request_is_an_invalid_request_with_the_id_if_it_can_be_read(message: Any, id: Any) -> None:
    routed = go(message)
    assert code(routed) == -32600
    assert isinstance(routed, Rejection) and routed.id == id
    assert routed.reply()["id"] == id and routed.reply()["error"]["code"] == -32600


def test_a_line_that_is_not_json_is_a_parse_error_with_null_id() -> None:
    assert inbound.parse_failure()["error"]["code"] == -32700 and inbound.parse_failure()["id"] is None


# --- notifications and responses -------------------------------------------------------------------------------------


def test_known_notifications_are_routed_and_unknown_ones_never_answered() -> None:
    cancelled = jsonrpc.notification("notifications/cancelled", {"requestId": 1})
    for routed in (legacy(cancelled), go(cancelled, locked="modern")):
        assert isinstance(routed, Route) and routed.id is None and routed.params == {"requestId": 1}
    assert isinstance(legacy(jsonrpc.notification("notifications/initialized")), Route)
    assert isinstance(legacy(jsonrpc.notification("notifications/vendor", {"x": 1})), Ignore)
    assert isinstance(legacy(jsonrpc.notification("tools/list")), Ignore)
    assert isinstance(go(jsonrpc.notification("notifications/initialized"), locked="modern"), Ignore)
    assert isinstance(go(jsonrpc.notification("notifications/initialized")), Ignore)


def test_a_notification_with_list_params_is_tolerated() -> None:
    routed = legacy({"jsonrpc": "2.0", "method": "notifications/roots/list_changed", "params": []})
    assert isinstance(routed, Route) and routed.params == {}


def test_responses_are_left_to_the_caller() -> None:
    assert isinstance(legacy(jsonrpc.result(1, {})), Ignore)
    assert isinstance(legacy(jsonrpc.error(1, 5, "m")), Ignore)


# --- batches ---------------------------------------------------------------------------------------------------------


def test_a_batch_is_taken_at_one_revision_only() -> None:
    batch = [request("ping"), jsonrpc.notification("notifications/x")]
    assert inbound.route_batch(batch, revision="2025-03-26") is None
    for revision in (None, "2024-11-05", "2025-06-18", "2025-11-25", "2026-07-28"):
        refused = inbound.route_batch(batch, revision=revision)
        assert refused is not None and (refused.code, refused.id) == (-32600, None)


def test_an_empty_batch_and_one_with_initialize_are_refused() -> None:
    for batch in ([], [request("initialize", {"protocolVersion": "2025-03-26"})]):
        refused = inbound.route_batch(batch, revision="2025-03-26")
        assert refused is not None and refused.code == -32600
