"""One whole life of a login in a real kernel, and nothing of what was secret in it is found anywhere afterwards.

A person says no, an attacker meddles, a server refuses, a person says yes; a token ends and is renewed, a tool needs
more, a server says back what it was given, tokens are pasted, a client acts for itself, and all is given back. Then
everything that such a notebook leaves behind is searched for every code, token, secret, verifier and state there was:
the saved notebook with its widgets, the journal, the trace that is exported, logs of every level, errors with their
attributes, what the kernel printed, the files of the person, and the names of files.
"""

from __future__ import annotations

import json
import os
import stat
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import nbformat
import pytest
from nbclient import NotebookClient

LIMIT = 120  # seconds for a cell
PASTED, ROBOT, BEARER = "pasted-Zq9-rhubarb", "robot-Zq9-and-its-secret", "bearer-Zq9-of-a-variable"

SETUP = """
import json, logging, os
from pathlib import Path
logging.basicConfig(filename="log.txt", level=logging.DEBUG, force=True)
get_ipython().run_line_magic("load_ext", "jupyter_mcp")
import jupyter_mcp as mcp
from jupyter_mcp.testing.authorization import Browser, InThread, Rules, notes

server = notes()

@server.tool
def repeat() -> str:
    "A server that says back what it was given."
    return " ".join(there.issuer.book.live)

@server.tool
def complain() -> str:
    "The same in an error."
    raise mcp.ToolError(" ".join(there.issuer.book.live))

there = InThread(server, tool_scopes={"add_note": ("notes:write",)})
there.start()
failures = []
DATA = Path(os.environ["JUPYTER_DATA_DIR"])

def failing(line):
    "Run a line that fails, and keep all that its error says."
    try:
        get_ipython().run_line_magic("mcp", line)
    except Exception as error:
        failures.append([str(error), repr(error), repr(vars(error)), repr(error.__cause__), repr(error.__context__)])
        get_ipython().showtraceback()
    else:
        raise AssertionError(line)

def person(press="approve"):
    browser = Browser(press=press)
    mcp.answer(browser.visit, kind="login", times=1)
    return browser
"""
LIFE: dict[str, str] = {
    "setup": SETUP,
    "nobody is there": "failing(f'connect notes {there.url}')",
    "a person says no": "person('decline')\nfailing('login notes')",
    "another issuer answers": "there.issuer.rules.iss = 'wrong'\nperson()\nfailing('login notes')",
    "the token endpoint refuses": (
        "there.issuer.rules.iss = 'right'\nthere.issuer.rules.refuse = 'invalid_grant'\n"
        "person()\nfailing('login notes')"
    ),
    "a person says yes": "there.issuer.rules.refuse = ''\nperson()\n%mcp login notes",
    "connected": "%mcp connect notes {there.url}",
    "who": "%mcp whoami notes",
    "a call": "%mcp call notes.read_notes",
    "said back": "%mcp call notes.repeat",
    "said back in an error": "failing('call notes.complain')",
    "said back to a program": "[mcp.servers['notes'].tools.repeat(), mcp.servers['notes'].tools.repeat()]",
    "kept": "kept = {str(p): oct(p.stat().st_mode) for p in DATA.rglob('*') if p.is_file()}\nsorted(kept.values())",
    "renewed": "there.issuer.book.end_access_tokens()\n%mcp call notes.read_notes",
    "given back": "%mcp logout notes",
    "asked by the server": "first = person()\n%mcp reconnect notes",
    "more is needed": (
        "second = person()\nget_ipython().run_line_magic('mcp', 'call notes.add_note text=Hello')\n"
        "steps = [one.visited[0].count('notes%3A') for one in (first, second)]"
    ),
    "more is needed and refused": (
        "there.issuer.book.end_grants()\nperson('decline')\nfailing('call notes.add_note text=Bye')"
    ),
    "a token instead": (
        "mcp.answer({'token': os.environ['PASTED']}, kind='login', times=1)\n"
        "get_ipython().run_line_magic('mcp', 'login notes')\nfailing('call notes.read_notes')"
    ),
    "a client of its own": (
        "there.issuer.book.clients.add('robot', secret=os.environ['ROBOT_SECRET'])\n"
        "%mcp connect robot {there.url} --oauth-client-id robot --oauth-client-secret ${ROBOT_SECRET} "
        "--oauth-grant client-credentials"
    ),
    "it calls": "%mcp call robot.repeat",
    "a bearer": "failing(f'connect bearer {there.url} --bearer ${{A_TOKEN}}')",
    "again": "person()\n%mcp login notes",
    "servers": "%mcp servers",
    "a server": "mcp.servers['notes']",
    "activity": "%mcp activity",
    "trace": "%mcp trace",
    "messages": "[(entry, getattr(entry, 'message', None)) for entry in mcp.host.trace]",
    "exported": "%mcp trace --export trace.jsonl",
    "log": "%mcp log notes",
    "saved": "mcp.save('servers.json')",
    "inside": "[mcp.host, mcp.host.policy, mcp.host.activity, *mcp.servers.values()]",
    "logged out": "%mcp logout notes",
    "both of them": "%mcp logout robot",
    "who then": "%mcp whoami notes",
    "secrets": (
        "open(os.environ['SECRETS'], 'w').write(json.dumps([sorted(there.issuer.book.issued), failures, kept, "
        "[str(p) for p in DATA.rglob('*')], steps]));"
    ),
    "the end": "%mcp disconnect notes robot\nthere.stop()",
}


@dataclass
class Life:
    """What a run left behind.

    Attributes:
        notebook: as it was saved.
        secrets: all that was secret.
        failures: all that errors said.
        kept: the files of the person while they were logged in, and their modes.
        left: the files of the person at the end.
        steps: how many scopes the pages asked for, before and when more was needed.
        folder: where the notebook ran.
    """

    notebook: Any
    secrets: list[str]
    failures: list[list[str]]
    kept: dict[str, str]
    left: list[str]
    steps: list[int]
    folder: Path

    def shown(self, cell: str) -> str:
        """What a cell put out."""
        return json.dumps(self.notebook.cells[list(LIFE).index(cell)].outputs)


@pytest.fixture(scope="module")
def life(tmp_path_factory: pytest.TempPathFactory) -> Life:
    work, own, outside = (tmp_path_factory.mktemp(name) for name in ("work", "own", "outside"))
    reads: Any = nbformat
    notebook = reads.v4.new_notebook(cells=[reads.v4.new_code_cell(source) for source in LIFE.values()])
    with (
        pytest.MonkeyPatch.context() as patch,
        open(work / "stdout.txt", "w") as out,
        open(work / "stderr.txt", "w") as err,
    ):
        for kind in ("DATA", "CONFIG", "RUNTIME"):
            patch.setenv(f"JUPYTER_{kind}_DIR", str(own / kind.lower()))
        patch.setenv("JUPYTER_MCP_KEYRING", "off")
        patch.setenv("ROBOT_SECRET", ROBOT)
        patch.setenv("A_TOKEN", BEARER)
        patch.setenv("PASTED", PASTED)
        patch.setenv("SECRETS", str(outside / "secrets.json"))
        client = NotebookClient(
            notebook, timeout=LIMIT, kernel_name="python3", resources={"metadata": {"path": str(work)}}
        )
        client.execute(stdout=out, stderr=err)
    (work / "saved.ipynb").write_text(reads.writes(notebook), encoding="utf-8")
    issued, failures, kept, left, steps = json.loads((outside / "secrets.json").read_text())
    return Life(notebook, [*issued, PASTED, ROBOT, BEARER], failures, kept, left, steps, work)


def spelt(secret: str) -> set[str]:
    """A secret in every way it may be written down."""
    return {secret, quote(secret, safe=""), quote_plus(secret), escape(secret), json.dumps(secret)[1:-1]}


def found(secrets: list[str], text: str) -> list[str]:
    """Those of the secrets that stand in a text."""
    return [secret for secret in secrets if any(way in text for way in spelt(secret))]


def test_it_was_a_whole_life(life: Life) -> None:
    """The rest would be true of a run in which nothing happened."""
    assert len(life.failures) == 8, [one[0] for one in life.failures]
    assert "Buy milk" in life.shown("a call") and "Buy milk" in life.shown("renewed")
    assert "2" in life.shown("more is needed")
    kinds = {secret.partition("-")[0] for secret in life.secrets}
    assert {"code", "access", "refresh"} <= kinds and len(life.secrets) > 20 and life.steps == [1, 2]


@pytest.mark.parametrize("cell", LIFE)
def test_no_cell_shows_a_secret(life: Life, cell: str) -> None:
    assert found(life.secrets, life.shown(cell)) == []


def test_a_server_that_says_it_back_is_masked(life: Life) -> None:
    """By the mask, and not because nothing came."""
    for cell in ("said back", "said back in an error", "said back to a program", "it calls"):
        assert "•••" in json.loads(json.dumps(life.shown(cell))).encode().decode("unicode_escape"), cell


def test_the_saved_notebook_holds_none(life: Life) -> None:
    assert found(life.secrets, (life.folder / "saved.ipynb").read_text(encoding="utf-8")) == []


def test_no_error_carries_one(life: Life) -> None:
    for said in life.failures:
        assert found(life.secrets, " ".join(said)) == [], said[0]
        assert "\n" not in said[0], "one sentence"


@pytest.mark.parametrize("name", ["log.txt", "trace.jsonl", "servers.json", "stdout.txt", "stderr.txt"])
def test_no_file_of_the_run_holds_one(life: Life, name: str) -> None:
    text = (life.folder / name).read_text(encoding="utf-8")
    assert found(life.secrets, text) == []
    assert text or name.startswith("std"), "something was written"


def test_what_is_kept_is_the_persons_alone_and_its_name_says_nothing(life: Life) -> None:
    logins = {path: mode for path, mode in life.kept.items() if "logins" in path}
    assert logins
    if os.name == "posix":
        assert {int(mode, 8) & 0o777 for mode in logins.values()} == {stat.S_IRUSR | stat.S_IWUSR}
    assert found(life.secrets, " ".join([*life.kept, *life.left])) == []


def test_after_the_logout_the_persons_files_hold_none(life: Life) -> None:
    for path in map(Path, life.left):
        if path.is_file():
            assert found(life.secrets, path.read_text(encoding="utf-8", errors="replace")) == [], path.name
