"""subscriptions/listen: filters, marks, streams told apart."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_mcp.protocol import listen
from jupyter_mcp.protocol.jsonrpc import RpcError
from jupyter_mcp.protocol.modern import SUBSCRIPTION_KEY

CAPS: dict[str, Any] = {"tools": {"listChanged": True}, "prompts": {}, "resources": {"subscribe": True}}


def note(mark: Any, **params: Any) -> dict[str, Any]:
    return {**params, "_meta": {SUBSCRIPTION_KEY: mark}}


def test_a_client_asks_for_what_the_server_declared_and_nothing_else() -> None:
    assert listen.build_filter(CAPS, ["nb://x"]) == {"toolsListChanged": True, "resourceSubscriptions": ["nb://x"]}
    assert listen.build_filter(CAPS) == {"toolsListChanged": True}
    assert listen.build_filter({}, ["nb://x"]) is None
    assert listen.build_filter(CAPS, ["a"], lists=False) == {"resourceSubscriptions": ["a"]}


def test_a_server_honours_what_it_declared_and_leaves_the_rest_out() -> None:
    wanted = {
        "toolsListChanged": True,
        "promptsListChanged": True,
        "resourcesListChanged": False,
        "resourceSubscriptions": ["nb://x"],
        "vendor": 1,
    }
    assert listen.honoured(wanted, CAPS) == {"toolsListChanged": True, "resourceSubscriptions": ["nb://x"]}
    assert listen.honoured(wanted, {}) == {}


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"notifications": None},
        {"notifications": []},
        {"notifications": {"resourceSubscriptions": "x"}},
        {"notifications": {"taskIds": [5]}},
    ],
)
def test_a_malformed_filter_is_an_invalid_params_error(params: dict[str, Any]) -> None:
    error = listen.read_filter(params)
    assert isinstance(error, RpcError) and error.code == -32602


def test_nothing_that_was_not_asked_for_is_delivered() -> None:
    kept = {"toolsListChanged": True, "resourceSubscriptions": ["nb://x", "dir://d/"]}
    assert listen.wants(kept, "notifications/tools/list_changed")
    assert not listen.wants(kept, "notifications/prompts/list_changed")
    assert not listen.wants(kept, "notifications/message")
    assert listen.wants(kept, "notifications/resources/updated", {"uri": "nb://x"})
    assert listen.wants(kept, "notifications/resources/updated", {"uri": "nb://x/sub"})
    assert listen.wants(kept, "notifications/resources/updated", {"uri": "dir://d/f"})
    assert not listen.wants(kept, "notifications/resources/updated", {"uri": "nb://xy"})
    assert not listen.wants(kept, "notifications/resources/updated", {})


def test_a_stamp_keeps_other_meta() -> None:
    assert listen.stamp({"a": 1, "_meta": {"x": 1}}, "L1") == {"a": 1, "_meta": {"x": 1, SUBSCRIPTION_KEY: "L1"}}
    assert listen.stamp(None, 3) == {"_meta": {SUBSCRIPTION_KEY: 3}}


def test_interleaved_streams_are_told_apart_by_their_mark() -> None:
    demux = listen.Demux()
    demux.add(1, {"toolsListChanged": True})
    demux.add("b", {"resourceSubscriptions": ["x"]})
    ack = demux.receive(listen.ACKNOWLEDGED, note("b", notifications={"resourceSubscriptions": ["x"]}))
    assert ack is not None and (ack.id, ack.kept) == ("b", {"resourceSubscriptions": ["x"]})
    first = demux.receive("notifications/tools/list_changed", note("1"))  # some servers write numbers as text
    assert first is not None and first.id == 1 and first.kept is None
    assert demux.receive("notifications/tools/list_changed", note(99)) is None


def test_without_a_mark_only_a_single_open_stream_can_be_meant() -> None:
    demux = listen.Demux()
    assert demux.receive("notifications/tools/list_changed", {}) is None
    demux.add(1, {})
    only = demux.receive("notifications/tools/list_changed", [])
    assert only is not None and only.id == 1
    demux.add(2, {})
    assert demux.receive("notifications/tools/list_changed", {}) is None


def test_an_ended_stream_receives_nothing_more() -> None:
    demux = listen.Demux()
    demux.add(1, {})
    ended = demux.end("1")
    assert ended is not None and ended.id == 1
    assert demux.end(1) is None and demux.receive("notifications/x", note(1)) is None


def test_an_odd_acknowledgement_honours_nothing() -> None:
    demux = listen.Demux()
    demux.add(1, {"toolsListChanged": True})
    found = demux.receive(listen.ACKNOWLEDGED, note(1, notifications=None))
    assert found is not None and found.kept == {}
