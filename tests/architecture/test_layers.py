"""The table of docs/architecture.md, the import contracts of pyproject.toml and the code say the same."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture import tree

PREFIX = "jupyter_mcp."
FREE = {"cli"}  # may import anything at first use; what it loads at once is tested below


def table() -> dict[str, set[str]]:
    """Room -> rooms it may import, as docs/architecture.md says."""
    text = (tree.ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = text.split("## Who may import whom")[1].split("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line[:1] == "|"]
    return {row[0]: set(re.findall(r"[a-z]+", row[1])) for row in rows[2:]}


def contracts() -> dict[str, set[str]]:
    """Room -> rooms it must not import, as pyproject.toml says."""
    found: dict[str, set[str]] = {}
    for contract in tree.pyproject()["tool"]["importlinter"]["contracts"]:
        for source in contract["source_modules"]:
            forbidden = {name for name in contract["forbidden_modules"] if name.startswith(PREFIX)}
            found[source.removeprefix(PREFIX)] = {name.removeprefix(PREFIX) for name in forbidden}
    return found


def test_every_room_has_a_row_in_the_table() -> None:
    assert tree.rooms() <= set(table())


@pytest.mark.parametrize("room", sorted(tree.rooms() - FREE))
def test_the_contract_of_a_room_forbids_exactly_what_its_row_does_not_allow(room: str) -> None:
    allowed = table()[room] | {room, "errors"}
    assert contracts()[room] == tree.rooms() - allowed


def test_no_contract_is_broken() -> None:
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([str(lint)], cwd=tree.ROOT, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


def loaded_by(code: str) -> set[str]:
    """Names in `sys.modules` that running `code` in a fresh interpreter adds."""
    program = f"import sys\nbefore = set(sys.modules)\n{code}\nprint(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def outside(names: set[str], *also: str) -> set[str]:
    """The packages among module names that are neither ours, nor the standard library's, nor named in `also`."""
    tops = {name.partition(".")[0] for name in names}
    return tops - set(sys.stdlib_module_names) - {"jupyter_mcp", *also}


def ours(names: set[str]) -> set[str]:
    """The rooms among module names."""
    return {name.split(".")[1] for name in names if name.startswith(PREFIX)} & tree.rooms()


def test_the_package_itself_loads_nothing_but_the_standard_library() -> None:
    names = loaded_by("import jupyter_mcp")
    assert outside(names) == set()
    assert ours(names) == set()


def test_the_extension_loads_nothing_that_a_kernel_has_not_loaded_already() -> None:
    code = """
from IPython.core.interactiveshell import InteractiveShell
import ipykernel.ipkernel, ipywidgets
shell = InteractiveShell.instance()
before = set(sys.modules)
shell.extension_manager.load_extension("jupyter_mcp")
"""
    assert outside(loaded_by(code), "IPython") == set()


def test_the_protocol_loads_no_library_that_does_io() -> None:
    code = "\n".join(f"import {name}" for name in module_names("protocol"))
    assert loaded_by(code).isdisjoint({"anyio", "httpx", "aiohttp", "IPython", "tornado", "asyncio", "socket"})


@pytest.mark.parametrize("room", ["transport", "client", "server", "host", "demo", "testing"])
def test_a_room_below_the_notebook_loads_neither_ipython_nor_widgets(room: str) -> None:
    code = "\n".join(f"import {name}" for name in module_names(room))
    assert loaded_by(code).isdisjoint({"IPython", "ipykernel", "ipywidgets"})


def test_the_console_script_loads_protocol_and_transport_at_most() -> None:
    names = loaded_by("import jupyter_mcp.cli")
    assert ours(names) <= {"cli", "errors", "protocol", "transport"}
    assert outside(names) <= {"pydantic", "pydantic_core", "typing_extensions", "annotated_types", "typing_inspection"}


def module_names(room: str) -> list[str]:
    """Every module of a room that can be imported anywhere; a `__main__` would run, and Windows' part needs Windows."""
    paths = [path for path in (tree.PACKAGE / room).rglob("*.py") if path.stem not in {"__main__", "windows"}]
    dotted = [".".join(path.relative_to(tree.ROOT).with_suffix("").parts) for path in sorted(paths)]
    return [name.removesuffix(".__init__") for name in dotted]
