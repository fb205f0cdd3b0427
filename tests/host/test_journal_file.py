"""The journal's file: what is in it, that nothing secret is, that it ends well, and who may read it."""

from __future__ import annotations

import errno
import json
import os
import stat
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.journal import Journal
from jupyter_mcp.host.journal.file import MIN_FILE
from jupyter_mcp.host.journal.lines import json_line, open_private

if TYPE_CHECKING:
    from pathlib import Path

ADD = {"name": "add", "arguments": {"a": 1}}
CALL: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": ADD}
ANSWER: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "result": {"content": [], "isError": True}}


def journal() -> Journal:
    seconds = count(1)
    return Journal(clock=lambda: float(next(seconds)))


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_bytes().splitlines()]


def test_messages_and_acts_are_in_the_file_as_they_happen(tmp_path: Path) -> None:
    kept, file = journal(), tmp_path / "j.jsonl"
    kept.wire("demo", "send", {"id": 0, "method": "early"}, 10)
    kept.write_to(file)
    number = kept.begin("demo", "tools/call", "add", "person", arguments={"a": 1})
    kept.wire("demo", "send", CALL, 80)
    kept.wire("demo", "receive", ANSWER, 60)
    kept.end(number, "error", remark="no")
    assert [line["kind"] for line in lines(file)] == ["file", "act", "message", "message", "act"]
    _, began, sent, received, ended = lines(file)
    assert (began["outcome"], ended["outcome"], began["number"] == ended["number"]) == ("running", "error", True)
    assert (sent["message"], sent["method"], sent["direction"], sent["status"]) == (CALL, "tools/call", "send", None)
    assert (received["id"], received["status"], received["size"]) == (1, "error", 60)


def test_no_secret_is_in_the_file(tmp_path: Path) -> None:
    kept, file = journal(), tmp_path / "j.jsonl"
    kept.redactor.learn(["alpha-beta-gamma"])
    kept.write_to(file)
    secret = {"password": "hunter2secret", "text": "Bearer abcdefgh12345678", "said": "alpha-beta-gamma"}
    kept.wire("demo", "send", {**CALL, "params": {"arguments": secret}}, 80)
    kept.end(kept.begin("demo", "tools/call", "x", "person", arguments=secret), "error", remark="token=hunter2secret")
    text = file.read_text()
    assert [one for one in ("hunter2secret", "abcdefgh12345678", "alpha-beta-gamma") if one in text] == []


@pytest.mark.skipif(os.name == "nt", reason="rights are others there")
def test_only_its_owner_may_read_the_file_also_when_it_was_there(tmp_path: Path) -> None:
    for name in ("new", "old"):
        file = tmp_path / name
        if name == "old":
            file.touch(0o644)
        journal().write_to(file)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_the_file_is_bounded_and_its_last_line_says_so(tmp_path: Path) -> None:
    kept, file = journal(), tmp_path / "j.jsonl"
    written = kept.write_to(file, limit=MIN_FILE)
    for _ in range(100):
        kept.wire("demo", "send", CALL, 80)
    assert file.stat().st_size <= MIN_FILE
    assert lines(file)[-1]["event"] == "full"
    assert f"{MIN_FILE:,} bytes" in lines(file)[-1]["text"]
    assert written.stopped
    assert [act.outcome for act in kept.acts()] == ["stopped"], "it is said once"
    assert len(kept.entries()) == 100


def test_a_full_disk_ends_the_file_with_one_note_and_disturbs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, file = journal(), tmp_path / "j.jsonl"
    kept.write_to(file)
    kept.wire("demo", "send", CALL, 80)
    whole = file.read_bytes()
    real = os.write

    def half_then_full(descriptor: int, data: bytes) -> int:
        monkeypatch.setattr(os, "write", full)
        return real(descriptor, data[:20])

    def full(descriptor: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", half_then_full)
    for _ in range(3):
        kept.wire("demo", "receive", ANSWER, 60)
    monkeypatch.undo()
    kept.wire("demo", "receive", ANSWER, 60)
    assert file.read_bytes() == whole, "half a line is taken back"
    (note,) = kept.acts()
    assert (note.outcome, note.remark) == ("stopped", "It cannot be written any more: No space left on device.")
    assert len(kept.entries()) == 5


def test_a_file_is_continued_behind_a_line_that_a_crash_cut_off(tmp_path: Path) -> None:
    file = tmp_path / "j.jsonl"
    file.write_bytes(b'{"kind": "mess')
    kept = journal()
    kept.write_to(file)
    assert kept.stop_writing() is not None
    first, *rest = file.read_bytes().splitlines()
    assert first == b'{"kind": "mess'
    assert [json.loads(line)["event"] for line in rest] == ["begun", "ended"]


def test_a_second_file_takes_the_place_of_the_first_unless_it_cannot_be_written(tmp_path: Path) -> None:
    kept = journal()
    kept.write_to(tmp_path / "a")
    with pytest.raises(UsageError, match="cannot write"):
        kept.write_to(tmp_path / "none" / "b")
    kept.wire("demo", "send", CALL, 80)
    kept.write_to(tmp_path / "b")
    kept.wire("demo", "send", CALL, 80)
    assert [line.get("event", "message") for line in lines(tmp_path / "a")] == ["begun", "message", "ended"]
    assert [line.get("event", "message") for line in lines(tmp_path / "b")] == ["begun", "message"]


def test_a_file_without_room_and_a_limit_that_is_none_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "j.jsonl"
    file.write_bytes(b"x" * MIN_FILE)
    with pytest.raises(UsageError, match="may have"):
        journal().write_to(file, limit=MIN_FILE)
    with pytest.raises(UsageError, match="at least"):
        journal().write_to(file, limit=10)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_what_is_no_file_is_refused_and_nothing_waits_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    for place in (tmp_path / "pipe", tmp_path):
        with pytest.raises(UsageError, match="cannot write"):
            open_private(place, "append")
    os.close(reader)
    with pytest.raises(UsageError, match="cannot write"):
        open_private(tmp_path / "pipe", "append")


def test_odd_values_are_written_as_json_all_the_same() -> None:
    odd = {"surrogate": "\ud800", "number": [float("nan"), float("inf"), 1.5], "object": {1}}
    read = json.loads(json_line(odd), parse_constant=lambda text: pytest.fail(text))
    assert read == {"surrogate": "\ud800", "number": ["nan", "inf", 1.5], "object": "{1}"}
