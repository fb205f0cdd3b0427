"""Acts and messages as a data frame."""

from __future__ import annotations

import pytest

from jupyter_mcp.host.journal import Journal
from jupyter_mcp.notebook.objects.happened import Activity
from jupyter_mcp.notebook.objects.trace import Trace


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


def test_the_frame_of_acts_says_why_they_were_let_pass_how_long_they_took_and_what_came_back() -> None:
    pytest.importorskip("pandas")
    times = iter([1.0, 3.5])
    journal = Journal(clock=lambda: next(times))
    number = journal.begin("demo", "tools/call", "add", "model")
    journal.end(number, "ok", rule="allow demo.*", reason="allow demo.* (password=hunter2secret)", result="text: 3")
    (row,) = Activity.of(journal.acts()).df().to_dict("records")
    assert (row["rule"], row["duration"], row["result"]) == ("allow demo.*", 2.5, "text: 3")
    assert row["reason"].startswith("allow demo.* (")
    assert "hunter2secret" not in row["reason"]
