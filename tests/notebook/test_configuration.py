"""discover, connect --from and save as a notebook has them: lines, functions, cards; with yeses, forms and secrets."""

from __future__ import annotations

import json
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

import pytest

import jupyter_mcp as mcp
from jupyter_mcp.errors import Denied, UsageError
from jupyter_mcp.host.host import Host
from jupyter_mcp.host.questions import Answer, Question
from jupyter_mcp.host.specs.inputs import form_of, read_inputs
from jupyter_mcp.host.specs.places import discover
from jupyter_mcp.notebook.cards.found import found_card
from jupyter_mcp.notebook.cards.question import present
from jupyter_mcp.notebook.objects.found import Discovered
from jupyter_mcp.notebook.render.bundles import bundle
from jupyter_mcp.runtime import state
from tests.notebook.page import FakeRunner, Page, button, capture, walk, words

if TYPE_CHECKING:
    from pathlib import Path

    from tests.notebook.conftest import Cells

SECRET = "s3cret-of-the-form"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The notebook's folder, in a home of its own."""
    folder = tmp_path / "work"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setattr("jupyter_mcp.notebook.configuring.here", lambda: folder)
    return folder


def _demo(**more: Any) -> dict[str, Any]:
    import sys

    return {"command": sys.executable, "args": ["-m", "jupyter_mcp.demo"], **more}


def _put(path: Path, data: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data))
    return path


def test_discover_shows_what_is_where_and_starts_nothing(cells: Cells, folder: Path):
    _put(folder / ".mcp.json", {"mcpServers": {"one": _demo(env={"API_KEY": SECRET}), "bad": {"args": []}}})
    _put(folder.parent / ".cursor" / "mcp.json", {"mcpServers": {"mine": {"url": "https://h/mcp", "disabled": True}}})
    (folder / "server.json").write_text('{"name": "a/b", "packages": [{"registryType": "npm", "identifier": "w"}]}')
    found = cells.run("%mcp discover")
    assert [(one.name, one.state) for one in found] == [
        ("one", "not connected, asks first"),
        ("bad", "cannot be used"),
        ("b", "not connected, asks first"),
        ("mine", "disabled in the file"),
    ]
    assert ".mcp.json" in cells.text
    assert "npx -y w" in cells.text
    assert "bad has no command and no url" in cells.text
    assert SECRET not in cells.text
    assert not any(one.connected for one in found)
    assert found("npx").rows()[0][0] == "b"


def test_a_projects_server_starts_after_a_yes_and_the_persons_own_without(cells: Cells, folder: Path):
    _put(folder / ".mcp.json", {"mcpServers": {"theirs": _demo()}})
    own = _put(folder.parent / ".cursor" / "mcp.json", {"mcpServers": {"mine": _demo()}})
    assert mcp.connect_all(own)["mine"].state == "ready"
    with pytest.raises(Denied, match="theirs was not approved"):
        cells.run("%mcp connect --from .mcp.json")
    mcp.answer("accept", kind="server")
    assert list(cells.run("%mcp connect theirs --from .mcp.json")) == ["theirs"]


def test_what_a_registry_describes_asks_also_when_it_is_a_dict(cells: Cells, folder: Path):
    package = {"registryType": "npm", "identifier": "no-such-package-here"}
    with pytest.raises(Denied, match="w was not approved"):
        mcp.connect_all({"name": "a/w", "packages": [package]})


def test_a_scripted_form_connects_a_server_that_asks_for_a_value(cells: Cells, folder: Path):
    inputs = [{"id": "tok", "type": "promptString", "description": "Token", "password": True}]
    _put(folder / ".vscode" / "mcp.json", {"inputs": inputs, "servers": {"v": _demo(env={"TOK": "${input:tok}"})}})
    cells.run("%mcp answer accept --kind server;")
    cells.run(f"%mcp answer tok={SECRET} --kind inputs --server v;")
    assert cells.run("%mcp connect --from .vscode/mcp.json")["v"].state == "ready"
    entry = mcp.servers["v"]
    assert SECRET not in cells.text + repr(entry) + repr(list(mcp.host.activity)) + repr(list(mcp.host.trace))
    saved = cells.run("%mcp save")
    text = (folder / ".mcp.json").read_text()
    assert saved[0].outcome == "written"
    assert SECRET not in text
    assert json.loads(text)["inputs"] == inputs


def test_save_writes_what_is_connected_and_asks_before_it_replaces(cells: Cells, folder: Path):
    mcp.connect("one", _demo()["command"], "-m", "jupyter_mcp.demo", env={"API_KEY": SECRET})
    saved = cells.run("%mcp save")
    text = (folder / ".mcp.json").read_text()
    assert [(one.name, one.outcome) for one in saved] == [("one", "written")]
    assert json.loads(text)["mcpServers"]["one"]["env"] == {"API_KEY": "${API_KEY}"}
    assert SECRET not in text + cells.text
    assert "Set API_KEY in the environment" in cells.text
    _put(folder / "other.json", {"mcpServers": {"one": {"command": "another"}}})
    (kept,) = cells.run("%mcp save other.json one")
    assert kept.outcome == "kept"
    assert 'server="this notebook"' in kept.note
    mcp.answer("accept", server="this notebook", match="Replace it")
    (replaced,) = cells.run("%mcp save other.json one")
    assert replaced.outcome == "replaced"
    with pytest.raises(UsageError, match="no server 'nine'"):
        cells.run("%mcp save nine")


def test_save_without_a_server_says_what_to_do(cells: Cells, folder: Path):
    with pytest.raises(UsageError, match="no server to save"):
        mcp.save()
    assert not (folder / ".mcp.json").exists()


# --- cards -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Page:
    return capture(monkeypatch)


class Connecting(FakeRunner):
    """Keeps what is to be connected."""

    def __init__(self) -> None:
        super().__init__()
        self.wanted: list[tuple[str, str]] = []
        self.future: Future[Any] = Future()

    def connect(self, spec: Any, origin: Any) -> Future[Any]:
        self.wanted.append((spec.name, origin))
        return self.future


def _discovered(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Discovered:
    monkeypatch.setattr(state, "get_host", Host)
    _put(folder / ".mcp.json", {"mcpServers": {"a": {"command": "x", "args": ["<b>"]}, "off": {"args": []}}})
    return Discovered(discover(folder, home=folder.parent, environ={}, system="linux"), folder)


def test_each_row_that_can_be_connected_has_a_button_which_connects_it_with_the_files_word_only(
    page: Page, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    runner = Connecting()
    card = found_card(_discovered(folder, monkeypatch), runner)
    [connect] = [one for one in walk(card.root) if getattr(one, "description", "").startswith("Connect ")]
    assert connect.description == "Connect a"
    assert "<b>" not in words(card.root).replace("<b>a</b>", "").replace("<b>off</b>", "")
    connect.click()
    assert runner.wanted == [("a", "project")]
    assert connect.disabled
    assert "not connected, asks first" in words(card.root)
    runner.future.set_exception(Denied("Connecting a was declined."))
    assert "was declined" in words(card.root)
    assert not connect.disabled


def test_what_is_saved_of_the_card_is_a_table(page: Page, folder: Path, monkeypatch: pytest.MonkeyPatch):
    static = bundle(_discovered(folder, monkeypatch))
    assert "application/vnd.jupyter.widget-view+json" not in static
    assert "not connected, asks first" in static["text/plain"]


def _inputs_question() -> Question:
    raw = [{"id": "tok", "type": "promptString", "description": "Token", "password": True}]
    params = {
        "message": "house needs a value to be connected.",
        "requestedSchema": form_of(read_inputs(raw)[0].values()),
    }
    return Question("q", "inputs", "house", "house needs a value to be connected.", params)


def test_the_form_for_inputs_masks_a_password_and_shows_it_nowhere_again(page: Page):
    answers: list[Answer] = []
    shown: Any = present(_inputs_question(), answers.append)
    field = next(one for one in walk(shown.card.root) if type(one).__name__ == "Password")
    submit = button(shown.card.root, "Submit")
    assert submit.disabled
    assert words(shown.card.root).startswith("this notebook asks"), "the server asks nothing: its file needs the value"
    field.value = SECRET
    assert not submit.disabled
    assert SECRET not in words(shown.card.root)
    submit.click()
    assert answers == [Answer("accept", {"tok": SECRET})]
    shown.close(answers[0])
    assert SECRET not in json.dumps(page.last)
    assert "given, and kept in memory only: tok" in page.text


def test_a_servers_own_form_does_not_show_a_masked_field_again_either(page: Page):
    schema = {
        "type": "object",
        "properties": {"pin": {"type": "string", "format": "password"}, "n": {"type": "integer"}},
    }
    answers: list[Answer] = []
    question = Question("q", "elicitation", "bank", "Hello", {"message": "Hello", "requestedSchema": schema})
    shown: Any = present(question, answers.append)
    field = next(one for one in walk(shown.card.root) if type(one).__name__ == "Password")
    field.value = SECRET
    assert SECRET not in words(shown.card.root)
    shown.close(Answer("accept", {"pin": SECRET, "n": 4}))
    assert SECRET not in json.dumps(page.last)
    assert "4" in page.text
