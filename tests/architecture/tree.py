"""What the tests of this room look at: the files of the checkout and the names that its modules import."""

from __future__ import annotations

import ast
import subprocess
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "jupyter_mcp"


@cache
def files() -> tuple[Path, ...]:
    """Every file that git tracks or would track; skips the test outside a git checkout."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode != 0:
        pytest.skip("not a git checkout: no list of the project's files")
    return tuple(path for line in listed.stdout.splitlines() if (path := ROOT / line).is_file())


def modules() -> Iterator[Path]:
    """Every module of the package."""
    return (path for path in sorted(PACKAGE.rglob("*.py")) if "__pycache__" not in path.parts)


def rooms() -> set[str]:
    """The folders of the package that hold code, and `errors`."""
    return {path.parent.name for path in PACKAGE.glob("*/__init__.py")} | {"errors"}


def imported(path: Path) -> Iterator[str]:
    """Top-level names of the packages that a module imports anywhere, at its top or inside a function."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "importlib.import_module":
            named = node.args[0]
            if isinstance(named, ast.Constant) and isinstance(named.value, str):
                yield named.value.partition(".")[0]


@cache
def pyproject() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
