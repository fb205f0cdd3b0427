"""A recorded request can be sent once more as it was, within this process, and shows nothing of it."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_mcp.host.journal import MAX_MESSAGE, MAX_MESSAGES, Journal
from jupyter_mcp.transport.traffic import HttpEvent

SECRET = "hunter2secret"


def say(journal: Journal, direction: Any, size: int = 50, **message: Any) -> None:
    journal.wire("demo", direction, {"jsonrpc": "2.0", **message}, size)


@pytest.mark.parametrize(
    ("method", "params", "name", "arguments"),
    [
        ("tools/call", {"name": "login", "arguments": {"password": SECRET}}, "login", {"password": SECRET}),
        ("resources/read", {"uri": "notes://a"}, "notes://a", {}),
        ("prompts/get", {"name": "review", "arguments": {"token": SECRET}}, "review", {"token": SECRET}),
    ],
)
def test_it_is_the_request_as_it_was_sent(method: str, params: Any, name: str, arguments: Any) -> None:
    journal = Journal()
    say(journal, "send", id=1, method=method, params=params)
    again = journal.again(1)
    assert again is not None
    assert (again.server, again.method, again.name, again.arguments) == ("demo", method, name, arguments)
    assert SECRET not in repr(again)
    assert params["name" if "name" in params else "uri"] == name, "what is on record is not handed out to be changed"


@pytest.mark.parametrize(
    ("direction", "size", "message"),
    [
        ("receive", 50, {"id": 1, "method": "tools/call", "params": {"name": "x"}}),
        ("send", 50, {"id": 1, "method": "tools/list"}),
        ("send", 50, {"method": "tools/call", "params": {"name": "x"}}),
        ("send", 50, {"id": 1, "method": "tools/call", "params": {"name": 7}}),
        ("send", 50, {"id": 1, "method": "tools/call"}),
        ("send", 50, {"id": 1, "result": {}}),
        ("send", MAX_MESSAGE + 1, {"id": 1, "method": "tools/call", "params": {"name": "x"}}),
    ],
)
def test_anything_else_cannot_be_sent_again(direction: Any, size: int, message: Any) -> None:
    journal = Journal()
    say(journal, direction, size, **message)
    assert journal.again(1) is None


def test_neither_can_what_http_did_nor_what_is_forgotten() -> None:
    journal = Journal()
    journal.http("demo", HttpEvent("answer", "POST", 202, "tools/call"))
    assert journal.again(1) is None
    say(journal, "send", id=1, method="tools/call", params={"name": "x"})
    for _ in range(MAX_MESSAGES):
        say(journal, "receive", method="notifications/x")
    assert journal.again(2) is None
