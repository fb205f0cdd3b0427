"""A notebook deployed as a server: over HTTP and on stdio, with its cells, its errors and its end."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from jupyter_mcp.kernel import identity
from tests.cli.deployed import CELLS, KEY, TOKEN, Client, command, running, write

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def _runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    return write(tmp_path / "paint.ipynb")


async def test_it_serves_what_the_notebook_declares_and_nothing_else(notebook: Path) -> None:
    with running(notebook) as copy:
        said = "".join(copy.said)
        assert "a cell says hello" in said and f"%mcp connect paint {copy.url} --bearer " in said
        token = said.partition("--bearer ")[2].split()[0]
        async with httpx.AsyncClient() as http:
            client = Client(http, copy.url, token)
            found = (await client.request("server/discover"))["result"]
            assert found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "paint"
            tools = (await client.request("tools/list"))["result"]["tools"]
            assert [tool["name"] for tool in tools] == ["add", "who", "paint"]
            assert await client.call("add", a=1, b=2) == "3"
            resources = (await client.request("resources/list"))["result"]["resources"]
            assert [one["uri"] for one in resources] == ["notes://today"]
            assert (await client.request("prompts/list"))["result"]["prompts"][0]["name"] == "hello"
            other = Client(http, copy.url, "wrong")
            await other.request("tools/list")
            assert other.status == 401
        assert identity.live() == [], "a live notebook is for a person, and shows variables"


async def test_a_question_of_one_copy_is_answered_at_another_that_has_the_same_key(notebook: Path) -> None:
    shared = {"JUPYTER_MCP_TOKEN": TOKEN, "JUPYTER_MCP_STATE_KEY": KEY}
    with running(notebook, **shared) as first, running(notebook, **shared) as second:
        assert TOKEN not in "".join(first.said), "a token that was given is not printed"
        async with httpx.AsyncClient() as http:
            asked, answered = Client(http, first.url), Client(http, second.url)
            params: dict[str, Any] = {"name": "paint", "arguments": {"pet": "cat"}}
            question = (await asked.request("tools/call", params))["result"]
            ((key, request),) = question["inputRequests"].items()
            (field,) = request["params"]["requestedSchema"]["properties"]
            responses = {key: {"action": "accept", "content": {field: "green"}}}
            again = {**params, "inputResponses": responses, "requestState": question["requestState"]}
            result = (await answered.request("tools/call", again))["result"]
            colour, process = result["content"][0]["text"].split()
            assert colour == "green"
            assert process != request["params"]["message"].split()[0]


def talk(path: Path, *messages: dict[str, Any], **options: Any) -> tuple[list[dict[str, Any]], subprocess.Popen[str]]:
    """Send all, read one answer for each request, hang up."""
    with subprocess.Popen(
        command(path), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        answers: list[dict[str, Any]] = []
        for message in messages:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            process.stdin.flush()
            if "id" in message and (line := process.stdout.readline()):
                answers.append(json.loads(line))
        process.stdin.close()
        process.wait(30)
        return answers, process


HELLO: dict[str, Any] = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "a", "version": "1"},
}


def test_on_stdio_it_answers_at_once_and_lists_when_the_cells_have_run(notebook: Path) -> None:
    answers, process = talk(
        notebook,
        {"id": 1, "method": "initialize", "params": HELLO},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
        {"id": 3, "method": "tools/call", "params": {"name": "add", "arguments": {"a": 20, "b": 22}}},
    )
    assert answers[0]["result"]["serverInfo"]["name"] == "paint"
    assert [tool["name"] for tool in answers[1]["result"]["tools"]] == ["add", "who", "paint"]
    assert answers[2]["result"]["structuredContent"] == {"result": 42}
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ((*CELLS, "1 / 0"), "Cell 3 of bad.ipynb failed: ZeroDivisionError: division by zero"),
        (("x = 1",), "declares nothing to serve"),
        (("import os; os._exit(3)",), "The kernel has ended"),
    ],
)
def test_a_notebook_that_cannot_be_served_ends_with_its_reason(
    tmp_path: Path, cells: tuple[str, ...], said: str
) -> None:
    path = write(tmp_path / "bad.ipynb", cells)
    done = subprocess.run(command(path, "--http", "0"), capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert said in done.stderr.splitlines()[-1]
    assert "\x1b" not in done.stderr


@pytest.mark.parametrize("way", [("--http", "0"), ("--stdio",)])
@pytest.mark.parametrize(
    ("text", "said"), [(None, "cannot be read"), ("{", "is not a notebook"), ("[]", "is not a notebook")]
)
def test_a_file_that_is_no_notebook_is_one_sentence(
    tmp_path: Path, text: str | None, said: str, way: tuple[str, ...]
) -> None:
    path = tmp_path / "none.ipynb"
    if text is not None:
        path.write_text(text)
    done = subprocess.run(command(path, *way), capture_output=True, text=True, timeout=60, check=False, input="")
    assert done.returncode == 1
    assert said in done.stderr and done.stderr.count("\n") == 1


def test_a_kernel_that_is_not_installed_is_one_sentence(tmp_path: Path) -> None:
    path = write(tmp_path / "other.ipynb", kernel="no-such-kernel")
    done = subprocess.run(command(path, "--http", "0"), capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (1, "There is no kernel 'no-such-kernel' here, which other.ipynb wants.\n")


def test_a_key_that_is_too_short_is_refused_before_anything_starts(notebook: Path) -> None:
    done = subprocess.run(
        command(notebook, "--http", "0"),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"JUPYTER_MCP_STATE_KEY": "short", "PATH": sys.path[0]},
    )
    assert done.returncode == 1 and "at least 32 bytes" in done.stderr and "short" not in done.stderr
