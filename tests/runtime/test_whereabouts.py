"""Where the notebook lies and where its person's files are: only what is said, and nothing guessed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.runtime import frontend, whereabouts

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def nobody_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)


def shell(monkeypatch: pytest.MonkeyPatch, began: Path | None = None, **namespace: Any) -> None:
    found = SimpleNamespace(user_ns=namespace, starting_dir=None if began is None else str(began))
    monkeypatch.setattr(frontend, "shell", lambda: found)


def test_jupyter_says_which_notebook_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    shell(monkeypatch, tmp_path)
    monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / "sub" / ".." / "a.ipynb"))
    place = whereabouts.place()
    assert (place.path, place.folder) == (tmp_path / "a.ipynb", tmp_path)


def test_a_name_without_its_folder_lies_where_the_kernel_began(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    shell(monkeypatch, tmp_path)
    monkeypatch.setenv("JPY_SESSION_NAME", "work/a.ipynb")
    monkeypatch.chdir("/")
    assert whereabouts.place().path == tmp_path / "a.ipynb"


def test_vs_code_says_it_in_the_namespace(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    shell(monkeypatch, tmp_path, __vsc_ipynb_file__=str(tmp_path / "b.ipynb"))
    assert whereabouts.place().path == tmp_path / "b.ipynb"


@pytest.mark.parametrize("said", [None, "", "   ", "/", "a\0b", "3f2a-console"])
def test_where_nobody_says_so_there_is_no_notebook(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: str | None):
    shell(monkeypatch, tmp_path)
    if said is not None and "\0" not in said:
        monkeypatch.setenv("JPY_SESSION_NAME", said)
    elif said is not None:
        shell(monkeypatch, tmp_path, __vsc_ipynb_file__=said)
    place = whereabouts.place()
    assert (place.path, place.folder) == (None, tmp_path)


def test_without_a_shell_it_is_the_current_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(frontend, "shell", lambda: None)
    monkeypatch.chdir(tmp_path)
    assert whereabouts.place().folder == tmp_path


def test_the_persons_files_lie_in_jupyters_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    shell(monkeypatch, tmp_path)
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "config"))
    place = whereabouts.place()
    assert (place.data, place.config) == (tmp_path / "data" / "jupyter_mcp", tmp_path / "config" / "jupyter_mcp")
