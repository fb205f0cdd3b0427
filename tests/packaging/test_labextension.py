"""Building the labextension: only when something has changed, and a plain sentence where it cannot be built."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def part(tmp_path: Path) -> Any:
    """scripts/labextension.py, about a folder of its own where everything is built."""
    spec = importlib.util.spec_from_file_location("labextension_under_test", ROOT / "scripts" / "labextension.py")
    assert spec is not None
    assert spec.loader is not None
    made: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    made.SOURCE, made.BUILT = tmp_path / "labextension", tmp_path / "labextension" / "dist"
    shutil.copytree(ROOT / "labextension" / "src", made.SOURCE / "src")
    for name in made.MADE_FROM:
        shutil.copy(ROOT / "labextension" / name, made.SOURCE / name)
    (made.BUILT / "static").mkdir(parents=True)
    (made.BUILT / "static" / "style.js").write_text("", encoding="utf-8")
    (made.BUILT / "made-from").write_text(made.fingerprint(), encoding="utf-8")
    return made


def program(folder: Path, said: str) -> None:
    """A `node` that only says its version."""
    path = folder / "node"
    path.write_text(f"#!/bin/sh\necho {said}\n", encoding="utf-8")
    path.chmod(0o755)


def test_what_was_built_from_these_sources_is_not_built_again(part: Any) -> None:
    assert not part.stale()


@pytest.mark.parametrize("name", ["src/card.ts", "package.json", "yarn.lock"])
def test_a_changed_source_a_new_one_and_a_lost_part_are_noticed(part: Any, name: str) -> None:
    with (part.SOURCE / name).open("a", encoding="utf-8") as file:
        file.write("\n")
    assert part.stale()
    (part.BUILT / "made-from").write_text(part.fingerprint(), encoding="utf-8")
    assert not part.stale()
    (part.SOURCE / "src" / "new.ts").write_text("export {};", encoding="utf-8")
    assert part.stale()
    (part.BUILT / "made-from").write_text(part.fingerprint(), encoding="utf-8")
    (part.BUILT / "static" / "style.js").unlink()
    assert part.stale()


def test_without_node_it_says_what_will_be_missing_and_nothing_fails(
    part: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert part.main([]) == 0
    assert "Node is not installed: cards whose kernel is gone will not show" in capsys.readouterr().out


@pytest.mark.skipif(os.name == "nt", reason="the stand-in is a shell script")
@pytest.mark.parametrize(("said", "fine"), [("v18.20.0", False), ("v20.0.0", True), ("v24.1.0", True), ("odd", False)])
def test_node_has_to_be_new_enough(
    part: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: str, fine: bool
) -> None:
    program(tmp_path, said)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/bin{os.pathsep}/usr/bin")
    reason = part.no_node()
    assert (reason is None) == fine
    assert fine or said in reason


def test_it_takes_the_place_of_an_installed_copy_and_of_an_older_link(part: Any, tmp_path: Path) -> None:
    place = tmp_path / sys.prefix.strip("/") / "labextensions" / part.NAME
    place.mkdir(parents=True)
    (place / "package.json").write_text("{}", encoding="utf-8")
    for _ in range(2):
        part.link(place)
        assert (place / "static" / "style.js").is_file()
        assert not (place / "package.json").exists()
