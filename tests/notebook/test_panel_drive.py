"""Resources as files, for a page: lists, contents by their kind, cells, and folders that become roots."""

from __future__ import annotations

import base64
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.demo import chart
from jupyter_mcp.errors import MCPError, UsageError
from jupyter_mcp.host.conversation.mentions import read_question
from jupyter_mcp.notebook.panel import drive
from jupyter_mcp.runtime import state
from jupyter_mcp.runtime.thread import get_runtime
from jupyter_mcp.server import Server

if TYPE_CHECKING:
    from tests.notebook.conftest import Cells

PNG = chart.bar_chart([3, 5], ["A", "B"])


def ask(act: str, **data: Any) -> Any:
    return get_runtime().submit(drive.ACTS[act], data).result(30)


def held(body: str | bytes) -> str | bytes:
    return body


@pytest.fixture
def lab(cells: Cells) -> Cells:
    server = Server("lab", title="Laboratory")
    for uri, kind, body in (
        ("lab://runs/readings.csv", "text/csv", "a,b\n1,2"),
        ("lab://chart", "image/png", PNG),
        ("lab://large", "application/x-own", b"\0" * (drive.MAX_BYTES + 1)),
    ):
        server.add_resource(uri, partial(held, body), name=uri, mime_type=kind)
    cells.put(lab=server)
    cells.run("%mcp connect lab $lab ;")
    return cells


def test_each_server_has_its_resources_in_their_order(lab: Cells) -> None:
    (server,) = ask("resources")["servers"]
    assert (server["name"], server["title"], server["state"], server["left_off"]) == ("lab", "Laboratory", "ready", 0)
    found = [(one["uri"], one["mimeType"]) for one in server["resources"]]
    assert found[:2] == [("lab://runs/readings.csv", "text/csv"), ("lab://chart", "image/png")]


def test_a_kernel_that_used_no_server_has_no_folders_and_no_host_is_made(cells: Cells) -> None:
    assert ask("resources") == {"servers": []}
    assert state.existing_host() is None


def test_a_text_comes_as_text_and_a_picture_as_its_bytes(lab: Cells) -> None:
    text = ask("resource_content", server="lab", uri="lab://runs/readings.csv")
    assert text == {"format": "text", "content": "a,b\n1,2", "mime_type": "text/csv", "parts": 1}
    picture = ask("resource_content", server="lab", uri="lab://chart")
    assert (picture["format"], picture["mime_type"]) == ("base64", "image/png")
    assert base64.b64decode(picture["content"]) == PNG


def test_what_is_too_large_for_a_file_is_refused_with_the_line_that_reads_it(lab: Cells) -> None:
    with pytest.raises(UsageError, match="20 MB, too much") as refused:
        ask("resource_content", server="lab", uri="lab://large")
    assert "%mcp read lab lab://large" in str(refused.value.hint)


def test_what_a_server_does_not_have_is_its_own_error(lab: Cells) -> None:
    with pytest.raises(MCPError):
        ask("resource_content", server="lab", uri="lab://nothing")


@pytest.mark.parametrize("uri", ["notes://today", "notes://a b", "x://y/(z).", "x://a,b", "x://q?a=b&c=d"])
def test_a_mention_of_a_resource_is_read_as_that_resource(cells: Cells, uri: str) -> None:
    mention = ask("resource_cell", server="lab", uri=uri)["mention"]
    (found,) = read_question(f"What of {mention}, then?", ["lab"], []).resources
    assert (found.server, found.uri) == ("lab", uri)


def test_what_a_question_cannot_name_has_no_mention(cells: Cells) -> None:
    assert ask("resource_cell", server="lab", uri="x://<a>") == {"source": "%mcp read lab 'x://<a>'", "mention": ""}
    assert ask("resource_cell", server="lab", uri="x://a\nb")["mention"] == ""


def test_a_folder_beside_the_notebook_becomes_a_root(
    cells: Cells, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("work/data", "other"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / "work" / "a.ipynb"))
    cells.run("%mcp roots ;")
    asked = {"notebook": "work/a.ipynb", "server_root": ""}
    assert ask("root_offer", path="other", **asked) == {"uri": (tmp_path / "other").as_uri(), "name": "other"}
    assert ask("root_offer", path="work/data/", **asked)["name"] == "data"
    told = [one["name"] for one in state.get_host().roots.get()]
    assert told[-2:] == ["other", "data"]
    with pytest.raises(UsageError, match="nowhere is not on the kernel's machine"):
        ask("root_offer", path="nowhere", **asked)


def test_the_folder_that_paths_begin_in_is_found_from_the_notebook_or_from_what_pages_are_told(tmp_path: Path) -> None:
    place = tmp_path / "work" / "a.ipynb"
    assert drive.server_folder("work/a.ipynb", "", place) == tmp_path
    assert drive.server_folder("a.ipynb", "", place) == tmp_path / "work"
    assert drive.server_folder("b.ipynb", "", place) is None, "it was renamed"
    assert drive.server_folder("b.ipynb", str(tmp_path), place) == tmp_path
    assert drive.server_folder("b.ipynb", "/nowhere/at/all", None) is None, "the kernel is on another machine"
    assert drive.server_folder("", "relative", None) is None
    assert drive.server_folder("a.ipynb", "~", None) == Path.home()
