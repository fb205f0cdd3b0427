"""Rules that hold for every file of the checkout."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import pytest

from tests.architecture import tree

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Written in pieces, so that this file does not hold what it looks for.
HOSTS = re.compile(
    "|".join((r"py" + r"pi\.org", r"pythonho" + r"sted", r"npm" + r"js\.", r"yarn" + r"pkg\.", r"deb" + r"ian\.org"))
)
MACHINE = re.compile("|".join((r"/wo" + r"rk/(main|shared|plan|peers)", r"/ro" + r"ot/", r"/tmp/" + r"tmp")))
UNFINISHED = re.compile("|".join((r"\bTO" + r"DO\b", r"\bFIX" + r"ME\b", r"\bXX" + r"X\b")))
LONGEST_MODULE = 500  # lines


def texts() -> Iterator[tuple[str, str]]:
    for path in tree.files():
        data = path.read_bytes()
        if b"\0" not in data:
            yield str(path.relative_to(tree.ROOT)), data.decode("utf-8")


def found(pattern: re.Pattern[str], suffix: str = "") -> list[str]:
    return [
        f"{name}: {match.group()}"
        for name, text in texts()
        if name.endswith(suffix) and not name.startswith("tests/architecture/test_tree")
        for match in pattern.finditer(text)
    ]


def test_no_file_names_the_host_of_a_package_registry() -> None:
    assert found(HOSTS) == []


def test_no_file_holds_a_path_of_somebodys_machine() -> None:
    assert found(MACHINE) == []


def test_no_source_file_is_unfinished() -> None:
    assert found(UNFINISHED, ".py") == []


@pytest.mark.parametrize("room", ["interop", "conformance"])
def test_an_npm_lock_names_no_place_to_fetch_from(room: str) -> None:
    lock = tree.ROOT / "tests" / room / "npm" / "package-lock.json"
    assert '"resolved"' not in lock.read_text(encoding="utf-8")


@pytest.mark.parametrize("lock", sorted((tree.ROOT / "requirements").glob("*.txt")), ids=lambda path: path.name)
def test_a_lock_holds_exact_versions_and_nothing_else(lock: Path) -> None:
    line = re.compile(r"[a-z0-9._-]+(\[[a-z0-9,._-]+\])?==[^ ]+( ; .+)?")
    assert [text for text in lock.read_text(encoding="utf-8").splitlines() if not line.fullmatch(text)] == []


def test_every_module_says_what_it_is_for() -> None:
    silent = [path for path in tree.modules() if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))]
    assert silent == []


def test_no_module_has_grown_into_two() -> None:
    sizes = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in tree.modules()}
    assert {str(path): lines for path, lines in sizes.items() if lines > LONGEST_MODULE} == {}


def test_every_room_has_tests_beside_it() -> None:
    untested = {"errors", "cli", "demo"}  # errors and cli: tests/*.py; demo: used by every other
    missing = [room for room in tree.rooms() - untested if not list((tree.ROOT / "tests" / room).glob("test_*.py"))]
    assert missing == []
