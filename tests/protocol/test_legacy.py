"""The initialize handshake, both roles."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_mcp.protocol import legacy
from jupyter_mcp.protocol.jsonrpc import RpcError
from jupyter_mcp.protocol.revisions import ALL, LEGACY, MODERN

INFO: dict[str, Any] = {
    "name": "n",
    "version": "1",
    "title": "T",
    "description": "d",
    "websiteUrl": "https://x",
    "icons": [],
}
SERVER: dict[str, Any] = {"tools": {}, "completions": {}, "tasks": {"list": {}}}


def session_for(offered: Any = "2025-11-25", versions: Any = ALL) -> tuple[legacy.ServerSession, Any]:
    session = legacy.ServerSession()
    params: dict[str, Any] = {
        "protocolVersion": offered,
        "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "c"},
    }
    answer = session.initialize(params, versions=versions, capabilities=SERVER, server_info=INFO, instructions="Hi")
    return session, answer


def test_a_side_introduces_itself_in_the_words_of_the_revision() -> None:
    assert set(legacy.implementation(INFO, "2024-11-05")) == {"name", "version"}
    assert set(legacy.implementation(INFO, "2025-06-18")) == {"name", "version", "title"}
    assert legacy.implementation(INFO, "2025-11-25") == INFO


def test_the_client_offers_a_revision() -> None:
    params = legacy.initialize_params("2025-06-18", INFO, {"roots": {}})
    assert params["protocolVersion"] == "2025-06-18" and params["capabilities"] == {"roots": {}}
    assert legacy.initialized() == {"jsonrpc": "2.0", "method": "notifications/initialized"}


def test_a_good_answer_is_read() -> None:
    result: dict[str, Any] = {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "s"},
    }
    shake = legacy.read_initialize({**result, "instructions": "use me"}, "2025-11-25")
    assert shake is not None
    assert (shake.revision, shake.info, shake.capabilities) == ("2025-06-18", {"name": "s"}, {"tools": {}})
    assert (shake.instructions, shake.notes) == ("use me", ())


def test_an_odd_answer_is_mended_and_noted() -> None:
    shake = legacy.read_initialize({"capabilities": [], "serverInfo": "s", "instructions": 5}, "2025-11-25")
    assert shake is not None
    assert (shake.revision, shake.info, shake.capabilities, shake.instructions) == ("2025-11-25", {}, {}, None)
    assert len(shake.notes) == 3


@pytest.mark.parametrize("answered", ["2099-01-01", "2026-07-28", 5])
def test_a_revision_that_this_side_does_not_speak_is_told(answered: Any) -> None:
    shake = legacy.read_initialize({"protocolVersion": answered}, "2025-11-25")
    assert shake is not None and shake.revision is None and shake.answered == answered


@pytest.mark.parametrize("result", [None, [], "ok", 5])
def test_a_result_that_is_no_object_is_no_answer(result: Any) -> None:
    assert legacy.read_initialize(result, "2025-11-25") is None


@pytest.mark.parametrize("offered", LEGACY)
def test_a_server_answers_in_the_shape_of_the_negotiated_revision(offered: str) -> None:
    session, answer = session_for(offered)
    assert answer["protocolVersion"] == offered == session.revision
    assert answer["instructions"] == "Hi"
    assert ("completions" in answer["capabilities"]) == (offered != "2024-11-05")
    assert ("tasks" in answer["capabilities"]) == (offered == "2025-11-25")
    assert ("title" in answer["serverInfo"]) == (offered >= "2025-06-18")
    assert session.capabilities == {"elicitation": {}} and session.client_info == {"name": "c"}


def test_a_server_answers_its_newest_revision_to_an_unknown_offer() -> None:
    assert session_for("1999-01-01")[1]["protocolVersion"] == "2025-11-25"


def test_a_modern_only_server_names_its_revisions() -> None:
    session, answer = session_for("2025-11-25", MODERN)
    assert isinstance(answer, RpcError) and answer.code == -32022
    assert answer.data == {"supported": ["2026-07-28"], "requested": "2025-11-25"}
    assert session.phase == "new"


@pytest.mark.parametrize("offered", [None, 5, []])
def test_an_offer_that_is_no_text_is_invalid(offered: Any) -> None:
    _, answer = session_for(offered)
    assert isinstance(answer, RpcError) and answer.code == -32602


def test_before_initialized_a_server_sends_pings_and_logs_only() -> None:
    session = legacy.ServerSession()
    session.initialized()  # out of turn: means nothing
    assert session.phase == "new"
    session, _ = session_for()
    assert session.phase == "answered"
    assert session.may_send("ping") is None and session.may_send("notifications/message") is None
    assert session.may_send("elicitation/create", {}) is not None
    assert session.may_send("notifications/tools/list_changed") is not None
    session.initialized()
    assert session.phase == "ready"
    assert session.may_send("elicitation/create", {}) is None
    assert session.may_send("notifications/tools/list_changed") is None


def test_a_server_asks_nothing_that_its_client_did_not_declare() -> None:
    session, _ = session_for()
    session.initialized()
    refusal = session.may_send("sampling/createMessage", {})
    assert refusal is not None and refusal.code == -32601
    refusal = session.may_send("elicitation/create", {"mode": "url"})
    assert refusal is not None and refusal.code == -32602
