"""Acts and messages as a data frame."""

from __future__ import annotations

import pytest

from jupyter_mcp.host.journal import Journal
from jupyter_mcp.notebook.objects.happened import Activity, Trace


def test_the_frame_of_acts_has_their_arguments_without_secrets() -> None:
    pytest.importorskip("pandas")
    journal = Journal()
    number = journal.begin("demo", "tools/call", "add", "person", arguments={"a": 1, "password": "hunter2secret"})
    journal.end(number, "ok")
    frame = Activity.of(journal.acts()).df()
    assert '"a": 1' in frame["arguments"][0]
    assert "hunter2secret" not in frame.to_csv()
    assert list(frame["outcome"]) == ["ok"]


def test_the_frame_of_messages_has_the_status_and_duration_of_their_exchange() -> None:
    pytest.importorskip("pandas")
    times = iter([1.0, 3.5])
    journal = Journal(clock=lambda: next(times))
    journal.wire("demo", "send", {"id": 1, "method": "ping"}, 10)
    journal.wire("demo", "receive", {"id": 1, "result": {}}, 10)
    frame = Trace.of(journal.entries()).df()
    assert list(frame["status"]) == ["ok", "ok"]
    assert list(frame["duration"]) == [2.5, 2.5]
