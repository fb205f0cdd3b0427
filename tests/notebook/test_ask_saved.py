"""A notebook that asked, executed and saved: nothing secret is in it, although server and model say it aloud."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from nbclient import NotebookClient

if TYPE_CHECKING:
    from collections.abc import Sequence

SECRET = "quagga-okapi-5521-zebra"
FAKE = Path(__file__).parents[1] / "fakes" / "server.py"
CELLS = (
    "%load_ext jupyter_mcp",
    "%mcp connect s --env ZOO_TOKEN -- $python $fake",
    "%mcp allow s.*",
    """\
import os
import jupyter_mcp as mcp
from jupyter_mcp.models.scripted import ScriptedModel
from jupyter_mcp.runtime.state import get_host
held = os.environ["ZOO_TOKEN"]
sent = {"names": ["ZOO_TOKEN"], "password": "okapi" + "9917"}
call = {"type": "tool_use", "id": "1", "name": "s__env", "input": sent}
get_host().models.set(ScriptedModel([[f"Is it {held}?", call], f"It is **{held}**.", f"Still {held}."]));""",
    "%%mcp ask\nWhat does the server hold?",
    "answer = mcp.ask('Again?')\nanswer",
    "answer.calls, repr(answer)",
    "mcp.host.activity",
    "mcp.host.trace",
)


def executed(folder: Path, cells: Sequence[str], **environ: str) -> Any:
    """The notebook as it is saved after a run in which nobody sat there."""
    notebook: Any = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])  # pyright: ignore[reportUnknownMemberType]
    client: Any = NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(folder)}})
    client.execute()
    return json.loads(nbformat.writes(notebook))  # pyright: ignore[reportUnknownMemberType]


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> Any:
    names = f"python, fake = {sys.executable!r}, {str(FAKE)!r}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ZOO_TOKEN", SECRET)
        return executed(tmp_path_factory.mktemp("saved"), (names, *CELLS))


def test_nothing_secret_is_in_the_saved_notebook(notebook: Any) -> None:
    text = json.dumps(notebook, ensure_ascii=False)
    assert SECRET not in text
    assert "okapi9917" not in text
    assert "•••" in text


def test_what_is_no_secret_is_there(notebook: Any) -> None:
    outputs = [json.dumps(cell["outputs"], ensure_ascii=False) for cell in notebook["cells"]]
    assert "s.env(names=" in outputs[5]
    assert "It is" in outputs[5]
    assert "Still •••." in outputs[6]


def test_no_widget_stays_in_it(notebook: Any) -> None:
    assert "widget-view" not in json.dumps(notebook)
