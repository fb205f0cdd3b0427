"""A notebook is served in two steps, as a new user takes them, with other people's clients.

The first step is a cell in a real kernel. The second is what the card prints, to the letter, given to the official
Inspector, the official SDK and FastMCP: the line and the file that start the bridge, and those with URL and token.
"""

from __future__ import annotations

import json
import re
import subprocess
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from html import unescape
from typing import TYPE_CHECKING, Any

import pytest

from tests.interop import programs
from tests.interop.conversing import Conversation, Inspector, conversation
from tests.interop.pasted import Pasted, from_json, from_line
from tests.interop.served import FORECAST, Notebook, notebook
from tests.runtime.kernels import LiveKernel, Run

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

OWN_TOOLS = {
    *("list_variables", "search_variables", "inspect_variable", "read_variable"),
    *("list_functions", "call_function", "execute_code", "set_variable"),
}


# --- the first step ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Notebook]:
    """A notebook that is served."""
    with notebook(tmp_path_factory.mktemp("home")) as made:
        made.serve()
        yield made


@pytest.fixture(scope="module")
def restarted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Notebook]:
    """A notebook whose kernel was started again; `texts` are those of before."""
    with notebook(tmp_path_factory.mktemp("home")) as made:
        made.serve()
        before = made.texts
        made.restart()
        made.serve(first=11.5)
        made.texts = before
        yield made


# --- the second step --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Client:
    """Somebody else's client, and what it is given: `bridge` or not, the `line` or the file."""

    name: str
    environment: str
    driver: str = ""
    mode: str = "auto"
    bridge: bool = True
    line: bool = True

    def __str__(self) -> str:
        return f"{self.name}, {'line' if self.line else 'file'} {'of the bridge' if self.bridge else 'with URL'}"

    def text(self, texts: dict[str, tuple[str, str]]) -> str:
        """What it is given."""
        bridge, direct = texts["claude-code" if self.line else "mcp.json"]
        return bridge if self.bridge else direct

    @contextmanager
    def connected(self, text: str, home: Path) -> Generator[Conversation | Inspector]:
        """It, after the second step."""
        if self.environment == "npm":
            yield Inspector(self._target(text, home), home, None if self.mode == "auto" else self.mode)
            return
        command = [programs.peer_python(self.environment), str(programs.DRIVERS / self.driver)]
        if not self.line and self.environment == "fastmcp":
            plan: dict[str, Any] = {"config": text}
        else:
            plan = self.pasted(text).plan()
        with conversation(command, {**plan, "mode": self.mode}, home) as talk:
            yield talk

    def pasted(self, text: str) -> Pasted:
        return from_line(text) if self.line else from_json(text)

    def _target(self, text: str, home: Path) -> list[str]:
        if not self.line:
            file = home / "mcp.json"
            file.write_text(text)
            return ["--config", str(file), "--server", from_json(text).name]
        said = from_line(text)
        if said.command:
            return said.command
        return [said.url, *(word for name, value in said.headers.items() for word in ("--header", f"{name}: {value}"))]


KINDS = [
    Client("Inspector 2.12.0", "npm"),
    Client("Inspector 2.12.0 modern", "npm", mode="modern", line=False),
    Client("mcp 2.3.0", "mcp2", "mcp2.py"),
    Client("mcp 2.3.0 legacy", "mcp2", "mcp2.py", mode="legacy", line=False),
    Client("mcp 1.30.0", "mcp1", "mcp1.py", mode="legacy"),
    Client("FastMCP 4.2.3", "fastmcp", "fastmcp4.py", line=False),
    Client("FastMCP 4.2.3 legacy", "fastmcp", "fastmcp4.py", mode="legacy", line=False),
]
BY_BRIDGE = KINDS
BY_URL = [replace(client, bridge=False) for client in KINDS]
CLIENTS = [*BY_BRIDGE, *BY_URL]
# Each client comes one way here, every second one by the bridge; `make test-all` has all of them both ways.
BOTH_WAYS = [
    pytest.param(client, marks=[pytest.mark.slow] if client.bridge == bool(at % 2) else [], id=str(client))
    for way in (BY_BRIDGE, BY_URL)
    for at, client in enumerate(way)
]


@pytest.fixture(scope="module", params=BOTH_WAYS)
def client(request: pytest.FixtureRequest, served: Notebook) -> Iterator[Conversation | Inspector]:
    """Each of them, connected."""
    which: Client = request.param
    with which.connected(which.text(served.texts), served.home) as made:
        assert made.error == ""
        yield made
        assert made.complaints() == ""


def text_of(outcome: dict[str, Any]) -> str:
    """The text of a result."""
    return "".join(block.get("text", "") for block in outcome["result"]["content"])


def read(client: Conversation | Inspector, name: str) -> str:
    return text_of(client.do("call", name="read_variable", arguments={"notebook": "sales", "name": name}))


def test_it_lists_tools_and_resources(client: Conversation | Inspector) -> None:
    assert OWN_TOOLS | {"forecast"} <= set(client.do("tools")["items"])
    resources = client.do("resources")["items"]
    assert {"notebook://sales/variables", "notebook://sales/variables/df", "notebook://sales/variables/model"} <= set(
        resources
    )
    assert not any("api_key" in uri for uri in resources)
    assert "notebook://sales/plots/{number}" in client.do("templates")["items"]


def test_it_reads_a_variable_idle_and_while_a_cell_runs(client: Conversation | Inspector, served: Notebook) -> None:
    csv = "region,total\nnorth,10.5\nsouth,20.0\n"
    assert read(client, "df") == csv
    with served.busy():
        assert read(client, "df") == csv
        [contents] = client.do("read", uri="notebook://sales/variables/model")["result"]["contents"]
        assert json.loads(contents["text"]) == {"slope": 2.5}


def test_it_calls_a_function_of_a_cell(client: Conversation | Inspector) -> None:
    assert text_of(client.do("call", name="forecast", arguments={"month": 3})) == "7.5"
    wrong = client.do("call", name="forecast", arguments={"region": "north"})
    assert wrong["result"]["isError"] is True
    assert "month is required but missing (wants an integer)" in text_of(wrong)


def test_it_hears_of_a_cell_that_runs_again_or_finds_it_new(client: Conversation | Inspector, served: Notebook) -> None:
    assert "factor" not in client.do("schema", name="forecast")["result"]["properties"]
    listens = isinstance(client, Conversation) and client.do("listen")["listens"]
    served.kernel.run(FORECAST.format(more=", factor: float = 1", result="4.0 * month * factor"))
    try:
        if listens:
            assert client.do("changed") == {"changed": True}
        assert "factor" in client.do("schema", name="forecast")["result"]["properties"]
        assert text_of(client.do("call", name="forecast", arguments={"month": 3, "factor": 2})) == "24.0"
    finally:
        served.kernel.run(FORECAST.format(more="", result="2.5 * month"))


def test_code_is_not_allowed_and_the_answer_says_who_could_allow_it(client: Conversation | Inspector) -> None:
    for name, arguments in (("execute_code", {"code": "1 + 1"}), ("set_variable", {"name": "x", "value": 1})):
        outcome = client.do("call", name=name, arguments={"notebook": "sales", **arguments})
        assert outcome["result"]["isError"] is True
        assert text_of(outcome) == (
            f"{name} is not allowed: the person serves this notebook read-only. "
            "They can allow it with %mcp serve --allow-code."
        )


def test_a_variable_that_is_not_there_is_said_to_be_so(client: Conversation | Inspector) -> None:
    assert "there is no variable 'api_key' that may be seen" in read(client, "api_key")
    outcome = client.do("read", uri="notebook://sales/variables/api_key")
    assert "there is no variable 'api_key' that may be seen" in outcome["error"]


# --- what goes wrong --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", [one for one in BY_URL if one.environment != "npm"], ids=str)
def test_with_a_wrong_token_it_says_what_is_wrong(served: Notebook, which: Client) -> None:
    text = which.text(served.texts)
    wrong = re.sub(r"Bearer [\w-]+", "Bearer wrong", text)
    assert wrong != text
    with which.connected(wrong, served.home) as made:
        if which.environment == "mcp1":  # does not look at what a refusal says
            assert "401 Unauthorized" in made.error
        else:
            assert "This is not the token of this server." in made.error
            assert "%mcp serve, then Show URL and token" in made.error


@pytest.mark.parametrize(
    ("era", "said"),
    [(None, "This is not the token of this server."), ("modern", "the server requires authorization (HTTP 401)")],
)
def test_the_inspector_says_that_the_token_is_wrong(served: Notebook, era: str | None, said: str) -> None:
    pasted = from_line(served.texts["claude-code"][1])
    made = Inspector([pasted.url, "--header", "Authorization: Bearer wrong"], served.home, era)
    done = made.run("--method", "tools/list", "--stored-auth-only")  # else it wants to open a page to log in
    assert done.returncode == 3
    assert said in done.stderr


@pytest.mark.parametrize("which", BY_BRIDGE, ids=str)
def test_before_the_notebook_is_served_the_bridge_says_what_to_do(
    tmp_path: Path, served: Notebook, which: Client
) -> None:
    with which.connected(which.text(served.texts), tmp_path) as made:
        assert set(made.do("tools")["items"]) == OWN_TOOLS
        outcome = made.do("call", name="list_variables", arguments={})
        assert outcome["result"]["isError"] is True
        assert "'sales' is not being served. Run %load_ext jupyter_mcp and %mcp serve" in text_of(outcome)


# --- after a restart --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", BOTH_WAYS)
def test_after_a_restart_the_same_text_leads_to_the_new_values(restarted: Notebook, which: Client) -> None:
    with which.connected(which.text(restarted.texts), restarted.home) as made:
        assert read(made, "df") == "region,total\nnorth,11.5\nsouth,20.0\n"
        assert text_of(made.do("call", name="forecast", arguments={"month": 2})) == "5.0"


def test_no_connection_by_the_bridge_dies_with_the_kernel(tmp_path: Path) -> None:
    talking = [one for one in BY_BRIDGE if one.environment != "npm"]
    with notebook(tmp_path) as book, ExitStack() as stack:
        book.serve()
        made = [stack.enter_context(one.connected(one.text(book.texts), tmp_path)) for one in talking]
        assert all(read(one, "df").startswith("region,total\nnorth,10.5\n") for one in made)
        book.restart()
        assert all("is not being served" in read(one, "df") for one in made)
        book.serve(first=12.5)
        assert all(read(one, "df").startswith("region,total\nnorth,12.5\n") for one in made)
        assert all(one.complaints() == "" for one in made)


# --- the card and the schemas -----------------------------------------------------------------------------------------


def test_the_card_prints_these_lines(tmp_path: Path) -> None:
    """The one on top, and after a click on the button that reveals it, the one with URL and token."""
    with notebook(tmp_path) as book:
        shown = book.serve()
        assert book.texts["claude-code"][0] in printed(shown)
        book.kernel.comm(button(shown, "Show URL and token"), {"method": "custom", "content": {"event": "click"}})
        line = book.texts["claude-code"][1]
        book.kernel.until(lambda: line in revealed(*everything(book.kernel)), why=lambda: "it was not revealed")
        assert line not in printed(shown, *everything(book.kernel)), "a widget's state may be saved"


def printed(*runs: Run) -> list[str]:
    """What the widgets of these cells hold in blocks to be copied."""
    pages = [state.get("value", "") for run in runs for state in states(run).values()]
    return [unescape(text) for page in pages for text in re.findall(r"<pre[^>]*>(.*?)</pre>", str(page), re.DOTALL)]


def revealed(*runs: Run) -> list[str]:
    """What was sent to the page to be copied, by message."""
    sent = [content["data"] for run in runs for content in run.of("comm_msg")]
    told = [data["content"] for data in sent if data.get("method") == "custom"]
    return [line["text"] for one in told for line in one.get("lines", ())]


def states(run: Run) -> dict[str, dict[str, Any]]:
    """The widgets that a cell made, by the id of their model."""
    return {content["comm_id"]: content["data"].get("state", {}) for content in run.of("comm_open")}


def everything(kernel: LiveKernel) -> list[Run]:
    """All that was heard from outside of cells."""
    return [Run(parent, messages) for parent, messages in kernel.other.items()]


def button(run: Run, label: str) -> str:
    [found] = [id_ for id_, state in states(run).items() if state.get("description") == label]
    return found


def test_the_inspector_has_nothing_against_the_schemas(served: Notebook) -> None:
    made = Inspector(from_line(served.texts["claude-code"][0]).command, served.home)
    done = made.run("--method", "tools/list", "--strict")
    assert done.returncode == 0
    assert "Warning" not in done.stderr and "Error" not in done.stderr


def test_no_text_for_the_bridge_holds_the_token_or_an_address(served: Notebook) -> None:
    for bridge, direct in served.texts.values():
        found = re.search(r"Bearer ([\w-]+)", direct)
        assert found is not None
        assert found[1] not in bridge
        assert "127.0.0.1" not in bridge


# --- what the guide says ----------------------------------------------------------------------------------------------


def test_the_guide_names_the_clients_that_are_tried_here_and_their_versions() -> None:
    page = (programs.ROOT / "docs" / "guide" / "serve.md").read_text(encoding="utf-8")
    section = page.partition("## What was tried")[2].partition("\n## ")[0]
    table = [line for line in section.splitlines() if line.startswith("| ")][1:]
    said = {line.split("|")[2].strip() for line in table}
    assert said == {client.name.split()[1] for client in CLIENTS}


@pytest.mark.parametrize(
    ("folder", "package", "version"),
    [("mcp2", "mcp", "2.3.0"), ("mcp1", "mcp", "1.30.0"), ("fastmcp", "fastmcp", "4.2.3")],
)
def test_the_versions_are_those_that_are_installed(folder: str, package: str, version: str) -> None:
    asked = f"from importlib.metadata import version; print(version({package!r}))"
    done = subprocess.run([programs.peer_python(folder), "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == version
    assert any(client.environment == folder and version in client.name for client in CLIENTS)


def test_the_inspector_has_the_version_that_is_said(tmp_path: Path) -> None:
    assert Inspector([], tmp_path).run("--version").stdout.strip().endswith("2.12.0")
