"""What must not bring the host down: servers that vanish, overlap, leak or say things nobody knows."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import ConnectionFailed, ConnectionLost, MCPError
from jupyter_mcp.host.host import Host
from jupyter_mcp.host.questions import Answer, Question
from jupyter_mcp.host.specs import ServerSpec
from jupyter_mcp.server import Server

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

pytestmark = pytest.mark.anyio

SERVER = r"""
import json, os, sys
def send(**m): sys.stdout.write(json.dumps({"jsonrpc": "2.0", **m}) + "\n"); sys.stdout.flush()
def text(m, t): send(id=m["id"], result={"content": [{"type": "text", "text": t}]})
waiting = {}
print("starting with", os.environ.get("API_TOKEN", "nothing"), file=sys.stderr, flush=True)
for line in sys.stdin:
    m = json.loads(line)
    if m.get("method") == "initialize":
        if os.environ.get("REFUSE"):
            print("cannot log in with " + os.environ["API_TOKEN"], file=sys.stderr, flush=True); sys.exit(4)
        send(id=m["id"], result={"protocolVersion": m["params"]["protocolVersion"], "capabilities": {"tools": {}},
             "serverInfo": {"name": "s", "version": "0"}})
    elif m.get("method") == "tools/list":
        names = ("ask", "die", "odd", "pid")
        send(id=m["id"], result={"tools": [{"name": n, "inputSchema": {"type": "object"}} for n in names]})
    elif m.get("method") == "tools/call":
        name, args = m["params"]["name"], m["params"].get("arguments") or {}
        if name == "die": sys.exit(7)
        if name == "pid": text(m, str(os.getpid()))
        if name == "odd":
            send(method="notifications/from/the/future", params={"x": 1})
            send(method="notifications/message", params={})
            send(method="notifications/message", params={"level": 5, "data": {"token": "tok_live_55ab55ab55ab"}})
            text(m, "fine")
        if name == "ask":
            waiting["q%s" % m["id"]] = m
            send(id="q%s" % m["id"], method="elicitation/create", params={"message": args["q"], "requestedSchema":
                 {"type": "object", "properties": {"a": {"type": "string"}}}})
    elif m.get("id") in waiting:
        text(waiting.pop(m["id"]), json.dumps(m.get("result", m.get("error"))))
"""


@pytest.fixture
async def host() -> AsyncGenerator[Host]:
    host = Host()
    yield host
    await host.aclose()


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "server.py"
    path.write_text(SERVER)
    return str(path)


def spec(script: str, **options: Any) -> ServerSpec:
    return ServerSpec.parse("s", [sys.executable, script], era="legacy", **options)


async def test_a_server_that_dies_in_a_call_is_started_anew_by_the_next_one(host: Host, script: str):
    entry = await host.connect(spec(script))
    before = (await host.call_tool("s", "pid")).text
    with pytest.raises(ConnectionLost) as error:
        await host.call_tool("s", "die")
    assert error.value.may_have_run
    assert str(error.value).endswith(
        "It may have been run. Look before you call it again. The next call connects s again."
    )
    assert entry.state == "lost"
    assert "exited with" in (entry.trouble or "")
    after = await host.call_tool("s", "pid")
    assert after.text != before
    assert host.servers["s"] is entry
    assert any("started anew" in note for note in after.notes)


@pytest.mark.parametrize("era", ["modern", "legacy"])
async def test_a_call_that_nobody_took_says_once_that_it_was_not_run(host: Host, era: str):
    server = Server("s")

    @server.tool
    def buy() -> str:
        return "bought"

    async with server.serve_http() as running:
        await host.connect(ServerSpec.parse("s", running.url, bearer=running.token, era=era))
        assert (await host.call_tool("s", "buy")).text == "bought"
    with pytest.raises(ConnectionLost) as error:
        await host.call_tool("s", "buy")
    assert not error.value.may_have_run
    assert str(error.value).count("It was not run.") == 1


async def test_connecting_again_revives_a_lost_server(host: Host, script: str):
    entry = await host.connect(spec(script))
    with pytest.raises(ConnectionLost):
        await host.call_tool("s", "die")
    assert await host.connect(spec(script)) is entry
    assert entry.state == "ready"


async def test_two_calls_with_questions_in_flight_get_their_own_answers(host: Host, script: str):
    both = asyncio.Event()
    asked: list[Question] = []

    class Slow:
        async def ask(self, question: Question) -> Answer:
            asked.append(question)
            if len(asked) == 2:
                both.set()
            await asyncio.wait_for(both.wait(), 10)
            return Answer("accept", {"a": question.message.upper()})

    host.ui = Slow()
    await host.connect(spec(script))
    results = await asyncio.gather(*(host.call_tool("s", "ask", {"q": word}) for word in ("one", "two")))
    assert [json.loads(result.text)["content"]["a"] for result in results] == ["ONE", "TWO"]
    assert asked[1].cause is None, "with two calls in flight nobody knows which of them asks"


async def test_a_cancelled_call_withdraws_its_question(host: Host, script: str):
    open_, withdrawn = asyncio.Event(), asyncio.Event()

    class Forever:
        async def ask(self, question: Question) -> Answer:
            open_.set()
            try:
                await asyncio.Event().wait()
            finally:
                withdrawn.set()
            raise AssertionError

    host.ui = Forever()
    await host.connect(spec(script))
    call = asyncio.create_task(host.call_tool("s", "ask", {"q": "?"}))
    await asyncio.wait_for(open_.wait(), 10)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await asyncio.wait_for(withdrawn.wait(), 10)
    assert (await host.call_tool("s", "odd")).text == "fine"


async def test_what_nobody_knows_is_noted_once_and_harms_nothing(host: Host, script: str):
    entry = await host.connect(spec(script))
    for _ in range(2):
        assert (await host.call_tool("s", "odd")).text == "fine"
    assert len([line for line in entry.log if "from/the/future" in line.text]) == 1
    assert "55ab55ab55ab" not in repr(list(entry.log))


async def test_a_secret_given_to_a_server_shows_up_nowhere(host: Host, script: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MY_KEY", "plain-words-only")
    entry = await host.connect(spec(script, env={"API_TOKEN": "${MY_KEY}"}))
    await host.call_tool("s", "pid")
    assert any("starting with" in line.text for line in entry.log if line.source == "stderr")
    assert "plain-words-only" not in repr(list(entry.log)) + repr(entry.stderr) + repr(host.journal.entries())


async def test_a_secret_in_a_servers_last_words_is_masked_in_the_error(
    host: Host, script: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MY_KEY", "plain-words-only")
    with pytest.raises(ConnectionFailed) as error:
        await host.connect(spec(script, env={"API_TOKEN": "${MY_KEY}", "REFUSE": "1"}))
    assert error.value.exit_code == 4
    assert "cannot log in with" in "\n".join(error.value.stderr)
    assert "plain-words-only" not in str(error.value) + repr(error.value.stderr) + repr(error.value.__dict__)
    assert "plain-words-only" not in repr(list(host.servers["s"].log)) + repr(host.journal.acts())


async def test_breaking_off_a_connect_leaves_a_server_that_can_be_connected(host: Host, tmp_path: Path, script: str):
    silent = tmp_path / "silent.py"
    silent.write_text("import sys\nfor line in sys.stdin: pass\n")
    started = asyncio.Event()
    connecting = asyncio.create_task(host.connect(spec(str(silent)), lambda text: started.set()))
    await asyncio.wait_for(started.wait(), 10)
    connecting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await connecting
    assert host.servers["s"].state == "failed"
    assert (await host.connect(spec(script))).state == "ready"


async def test_closing_everything_while_a_call_runs_ends_the_call(host: Host, script: str):
    class Forever:
        async def ask(self, question: Question) -> Answer:
            open_.set()
            await asyncio.Event().wait()
            raise AssertionError

    open_ = asyncio.Event()
    host.ui = Forever()
    await host.connect(spec(script))
    call = asyncio.create_task(host.call_tool("s", "ask", {"q": "?"}))
    await asyncio.wait_for(open_.wait(), 10)
    await host.aclose()
    with pytest.raises(MCPError):
        await asyncio.wait_for(call, 10)
