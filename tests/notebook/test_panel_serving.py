"""What a page is told of this notebook as a server, and its switch."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import jupyter_mcp as mcp
from jupyter_mcp.errors import UsageError
from jupyter_mcp.kernel import serving as kernel_serving
from jupyter_mcp.notebook.panel import pages, serving
from jupyter_mcp.runtime import made
from jupyter_mcp.runtime.cells import cells as shell_cells
from jupyter_mcp.runtime.thread import get_runtime

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.notebook.conftest import Cells


@pytest.fixture(autouse=True)
def runtime(cells: Cells, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Runtime files of this test's own; nothing served before or afterwards."""
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setattr(kernel_serving, "_serving", None)
    yield
    found = kernel_serving.current()
    if found is not None:
        found.stop()


def ask(act: str, **data: Any) -> Any:
    return get_runtime().submit(serving.ACTS[act], data).result(30)


def outside() -> None:
    """A client that comes in by the door and reads `x`."""
    served = kernel_serving.current()
    assert served is not None
    mcp.connect("outside", served.url, bearer=served.token)
    mcp.servers["outside"].read(f"notebook://{served.slug}/variables/x")


def test_the_switch_serves_all_that_is_public_for_reading_and_says_what_that_is(cells: Cells) -> None:
    cells.run("x, y, api_key = 1, 2, 'k'")
    assert ask("serving") == {"served": False, "again": False}
    said = ask("serve_start")
    assert (said["served"], said["names"], said["hidden"]) == (True, ["x", "y"], 1)
    assert (said["allow_code"], said["chosen"], said["clients"], said["acts"]) == (False, False, [], [])
    assert "stdio --notebook" in said["command"]
    assert ask("serve_start") == said
    assert ask("serve_stop") == {"served": False, "again": True}
    assert ask("serve_stop")["served"] is False


def test_switched_on_again_it_shows_no_more_than_before_and_runs_no_code(cells: Cells) -> None:
    cells.run("x, y, z = 1, 2, 3")
    cells.run("%mcp serve x y --except y --name sales --allow-code")
    ask("serve_stop")
    cells.run("w = 4")
    said = ask("serve_start")
    assert (said["name"], said["names"], said["allow_code"]) == ("sales", ["x"], False)


def test_what_was_excluded_stays_so_when_it_is_gone_and_comes_again(cells: Cells) -> None:
    cells.run("x, y = 1, 2")
    cells.run("%mcp serve --except y")
    ask("serve_stop")
    cells.run("del y")
    ask("serve_start")
    cells.run("y = 3")
    assert ask("serving")["names"] == ["x"]


def test_where_nothing_is_left_of_what_was_served_it_is_not_served_at_all(cells: Cells) -> None:
    cells.run("x, y = 1, 2")
    cells.run("%mcp serve x")
    ask("serve_stop")
    cells.run("del x")
    with pytest.raises(UsageError, match="Only x was served"):
        ask("serve_start")
    assert kernel_serving.current() is None


def test_whoever_comes_is_shown_with_what_they_read(cells: Cells) -> None:
    cells.run("x = 1")
    ask("serve_start")
    outside()
    said = ask("serving")
    assert said["clients"][0]["name"]
    assert said["clients"][0]["requests"] > 0
    assert {"what": "read variables/x", "outcome": ""}.items() <= said["acts"][0].items()


def test_no_answer_holds_the_port_or_the_token(cells: Cells) -> None:
    cells.run("x = 1")
    ask("serve_start")
    served = kernel_serving.current()
    assert served is not None
    outside()
    said = json.dumps([ask("serving"), ask("serve_start"), ask("serve_cell")])
    assert served.token not in said
    assert served.url.rsplit(":", 1)[1].split("/")[0] not in said


@pytest.mark.parametrize(
    "line",
    ["%mcp serve", "%mcp serve x y", "%mcp serve --name 'Our sales' --except y", "%mcp serve x --allow-code"],
)
def test_the_cell_that_is_written_serves_the_same(cells: Cells, line: str) -> None:
    cells.run("x, y, z = 1, 2, 3")
    cells.run(line)
    before = ask("serving")
    source = ask("serve_cell")["source"]
    cells.run(source)
    assert ask("serving") == before
    ask("serve_stop")
    assert ask("serve_cell")["source"] == "%mcp serve"


def test_pages_hear_when_it_is_served_when_somebody_comes_and_when_a_cell_ends(
    cells: Cells, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(pages, "touch", lambda: told.append("changed"))
    monkeypatch.setattr(made, "at_serving", [])
    monkeypatch.setattr(shell_cells, "at_end", [])
    pages.follow()
    cells.run("x = 1")
    for happens in (lambda: ask("serve_start"), outside, lambda: cells.run("y = 2"), lambda: ask("serve_stop")):
        told.clear()
        happens()
        assert told
    told.clear()
    cells.run("z = 3")
    assert not told
