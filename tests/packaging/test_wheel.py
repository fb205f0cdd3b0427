"""What is published: an sdist with the built labextension; from it, without Node, a wheel that works."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NAME = "jupyter-mcp-host"
LAB = f"share/jupyter/labextensions/{NAME}"
CELLS = "%load_ext jupyter_mcp\n%mcp connect demo\nr = %mcp call demo.add a=1 b=2\nprint('SUM', r.text)"


def run(*command: object, path: str | None = None, cwd: Path | None = None) -> str:
    """What a program says; it has to end well."""
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "JUPYTER", "IPYTHON"))
    }
    if path is not None:
        environment["PATH"] = path
    done = subprocess.run(
        [str(one) for one in command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        part: Any = importlib.import_module("labextension")
    finally:
        sys.path.pop(0)
    if part.stale() and part.no_node() is not None:
        pytest.skip(f"the labextension is not built, and {part.no_node()}")
    folder = tmp_path_factory.mktemp("sdist")
    run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", folder, cwd=ROOT)
    return next(folder.glob("*.tar.gz"))


class Fresh:
    """A new environment with the wheel in it; what it depends on is taken from the environment of the tests."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        venv.create(folder, with_pip=False, symlinks=os.name != "nt")
        self.python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        site = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
        # A folder named there is searched after this one, and its own .pth files (our editable install) are not read.
        (site / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n", encoding="utf-8")

    def pip(self, *arguments: object) -> str:
        return run(sys.executable, "-m", "pip", "--python", self.python, "--disable-pip-version-check", *arguments)


@pytest.fixture(scope="module")
def fresh(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Fresh:
    folder = tmp_path_factory.mktemp("fresh")
    bare = str(Path(sys.executable).parent)  # no Node there
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", folder, sdist, path=bare)
    made = Fresh(folder / "environment")
    made.pip("install", "-q", "--no-deps", "--no-index", "--ignore-installed", next(folder.glob("*.whl")))
    return made


def test_an_sdist_holds_what_was_built_and_nothing_that_npm_installed(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
    assert "labextension/dist/static/style.js" in names
    assert "labextension/src/card.ts" in names
    assert not [name for name in names if "node_modules" in name or name.startswith(("build/", ".venv"))]


def test_a_wheel_made_without_node_shows_its_extension_to_jupyterlab(fresh: Fresh) -> None:
    said = run(fresh.python, "-c", "from jupyterlab.labextensions import main; main()", "list")
    line = next(one for one in said.splitlines() if NAME in one)
    assert "enabled" in line
    assert "OK" in line
    assert str(fresh.folder) in said
    found: dict[str, Any] = json.loads((fresh.folder / LAB / "install.json").read_text(encoding="utf-8"))
    assert found["packageName"] == NAME


def test_a_jupyter_server_loads_its_extension_by_itself(fresh: Fresh) -> None:
    said = run(fresh.python, "-c", "from jupyter_server.extension.serverextension import main; main()", "list")
    line = next(one for one in said.splitlines() if "jupyter_mcp.serverextension" in one and "OK" in one)
    assert line
    assert (fresh.folder / "etc/jupyter/jupyter_server_config.d/jupyter_mcp.json").is_file()


def test_it_works_there(fresh: Fresh, tmp_path: Path) -> None:
    where = run(fresh.python, "-c", "import jupyter_mcp; print(jupyter_mcp.__file__)", cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(fresh.folder)
    script = tmp_path / "cells.ipy"
    script.write_text(CELLS, encoding="utf-8")
    assert "SUM 3" in run(fresh.python, "-m", "IPython", "--no-banner", "--colors=NoColor", script, cwd=tmp_path)


def test_uninstalling_it_leaves_nothing(fresh: Fresh) -> None:
    """The last of this file: it takes away what the others use."""
    fresh.pip("uninstall", "-q", "-y", NAME)
    left = [path for path in fresh.folder.rglob("*") if "jupyter" in path.name and path.is_file()]
    assert left == []
    assert not (fresh.folder / LAB).exists()
