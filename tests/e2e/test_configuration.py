"""Configuration files in a real page: found, looked at, connected with a yes, and a form for what a server needs."""

from __future__ import annotations

import json
import shutil
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.lab import CURRENT, Browser, LabServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SECRET = "s3cret-of-the-form"
INPUTS = [
    {"id": "pin", "type": "promptString", "description": "The PIN of the house", "password": True},
    {"id": "room", "type": "pickString", "description": "Which room", "options": ["kitchen", "attic"]},
]
HOUSE = {
    "command": sys.executable,
    "args": ["-m", "jupyter_mcp.demo"],
    "env": {"HOUSE_PIN": "${input:pin}", "HOUSE_ROOM": "${input:room}"},
}


@pytest.fixture
def files(lab: LabServer) -> Iterator[Path]:
    """A project's file beside the notebook: a server that needs values, one that is disabled, one that is odd."""
    folder = lab.notebooks / ".vscode"
    folder.mkdir()
    servers: Any = {
        "house": HOUSE,
        "later": {"url": "https://later.example/mcp", "disabled": True},
        "odd": {"args": []},
    }
    (folder / "mcp.json").write_text(json.dumps({"inputs": INPUTS, "servers": servers}))
    yield folder
    shutil.rmtree(folder)


@pytest.mark.usefixtures("files")
def test_a_found_server_is_connected_with_a_yes_to_its_command_and_a_form_for_its_values(browser: Browser) -> None:
    cells = (
        "%load_ext jupyter_mcp",
        "%mcp discover",
        "import jupyter_mcp as mcp\nhouse = mcp.servers['house']\nprint(house.state, len(house.tools))",
    )
    name = browser.server.write("configuration.ipynb", cells, CURRENT)
    notebook = browser.open(name)
    notebook.run(0)
    notebook.wait_done(0)
    notebook.run(1)
    notebook.wait_done(1)
    cell = notebook.cell(1)
    connect = cell.get_by_role("button", name="Connect house")
    connect.wait_for()
    assert cell.get_by_role("button", name="Connect odd").count() == 0, "it could never be pressed"
    notebook.screenshots("discover", 1)
    connect.click()
    cell.get_by_text("jupyter_mcp.demo").last.wait_for()
    notebook.screenshots("discover-start", 1)
    notebook.button("Start once", 1).click()
    pin = cell.get_by_label("The PIN of the house")
    pin.wait_for()
    assert pin.get_attribute("type") == "password"
    assert notebook.button("Submit", 1).is_disabled(), "nothing was chosen yet"
    pin.fill(SECRET)
    cell.get_by_label("Which room").select_option("attic")
    notebook.until_enabled(notebook.button("Submit", 1))
    notebook.screenshots("inputs", 1)
    notebook.button("Submit", 1).click()
    cell.get_by_text("given, and kept in memory only").wait_for()
    cell.get_by_role("status").get_by_text("connected", exact=True).wait_for()
    cell.get_by_text("VS Code, project · connected").wait_for()
    notebook.run(2)
    notebook.wait_done(2)
    assert notebook.text(2).startswith("ready ")
    notebook.screenshots("discover-connected", 1)
    notebook.save()
    saved = json.dumps(browser.server.read(name))
    assert SECRET not in saved
    assert "house" in saved
