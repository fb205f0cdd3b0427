"""The scripted transport must itself be able to fail, or the tests on it prove nothing."""

from __future__ import annotations

import pytest

from jupyter_mcp.errors import ConnectionFailed, ConnectionLost
from jupyter_mcp.transport.mock import ScriptTransport, client, dies, difference, noise, server, stderr
from tests.transport.recorder import Recorder

pytestmark = pytest.mark.anyio

PING = {"jsonrpc": "2.0", "id": 5, "method": "ping"}


async def test_an_answer_takes_the_id_of_the_latest_request() -> None:
    script, recorder = ScriptTransport(noise("hi"), stderr("line"), client("ping"), server(result={})), Recorder()
    await script.open(recorder)
    await script.send(PING)
    await recorder.until(lambda: recorder.messages)
    assert recorder.messages == [{"jsonrpc": "2.0", "id": 5, "result": {}}]
    assert [item.text for item in recorder.noise] == ["hi"]
    assert recorder.stderr == ["line"] == list(script.stderr)
    script.check()


async def test_what_was_not_expected_is_a_failure() -> None:
    script = ScriptTransport(client("tools/list"))
    await script.open(Recorder())
    await script.send(PING)
    with pytest.raises(AssertionError, match="ping"):
        script.check()


async def test_a_part_that_differs_is_a_failure() -> None:
    script = ScriptTransport(client("ping", id=6))
    await script.open(Recorder())
    await script.send(PING)
    with pytest.raises(AssertionError):
        script.check()


async def test_steps_that_are_left_are_a_failure() -> None:
    with pytest.raises(AssertionError, match="not reached"):
        ScriptTransport(client("ping")).check()


async def test_a_death_is_told_and_ends_the_sending() -> None:
    script, recorder = ScriptTransport(client("ping"), dies(3, "oops")), Recorder()
    await script.open(recorder)
    await script.send(PING)
    await recorder.until(lambda: recorder.closed)
    assert (recorder.closed[0].exit_code, recorder.closed[0].stderr) == (3, ("oops",))
    with pytest.raises(ConnectionLost):
        await script.send(PING)
    await script.close()
    assert len(recorder.closed) == 1


async def test_it_can_refuse_to_open() -> None:
    with pytest.raises(ConnectionFailed, match="no"):
        await ScriptTransport(refuses=ConnectionFailed("no")).open(Recorder())


def test_a_difference_is_found_at_any_depth() -> None:
    assert difference({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}}) is None
    assert difference({"a": {"b": 1}}, {"a": {"b": 2}}) == ".a.b: 2 is not 1"
    assert difference({"a": {"b": 1}}, {"a": 3}) == ".a: 3 is not an object"
    assert difference({"a": callable}, {"a": 3}) == ".a: 3"
