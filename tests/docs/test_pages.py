"""The other pages: what is made from the code is what the code says, and links lead somewhere."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from jupyter_mcp.notebook.verbs import table
from jupyter_mcp.protocol.deprecated import TABLE, Deprecated

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")


def script(name: str) -> Any:
    """A module of scripts/, which is no package."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_of_magics_is_what_make_docs_writes() -> None:
    assert (ROOT / "docs" / "magics.md").read_text(encoding="utf-8") == script("magics_page").page()


@pytest.mark.parametrize("verb", table().values(), ids=lambda verb: verb.name)
def test_every_verb_is_explained_with_an_example(verb: Any) -> None:
    assert verb.summary.endswith(".")
    assert any(f"mcp {verb.name}" in example for example in verb.examples)


@pytest.mark.parametrize("verb", sorted(set(table()) - {"help"}))
def test_every_verb_has_its_name_in_python(verb: str) -> None:
    assert table()[verb].python


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_inside_the_project_lead_somewhere(page: Path) -> None:
    targets = LINK.findall(page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_the_readme_names_the_two_commands() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in readme
    assert "make test" in readme


@pytest.mark.parametrize("feature", TABLE.values(), ids=lambda feature: feature.name)
def test_the_guide_says_of_everything_deprecated_since_when_and_what_instead(feature: Deprecated) -> None:
    row = f"| {feature.title} | {feature.since} | {feature.removal} | {feature.migration} |"
    assert row in (ROOT / "docs" / "guide" / "connect.md").read_text(encoding="utf-8").splitlines()


def test_every_page_of_the_guide_is_in_the_table_of_contents() -> None:
    contents = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    assert [page.name for page in (ROOT / "docs" / "guide").glob("*.md") if f"guide/{page.name}" not in contents] == []


@pytest.mark.parametrize("decision", sorted((ROOT / "docs" / "adr").glob("*.md")), ids=lambda page: page.stem)
def test_a_decision_is_short_and_has_its_three_parts(decision: Path) -> None:
    text = decision.read_text(encoding="utf-8")
    assert re.fullmatch(r"\d{4}-[a-z0-9-]+", decision.stem)
    assert [part for part in ("**Context.**", "**Decision.**", "**Consequences.**") if part not in text] == []
    assert len(text.splitlines()) <= 14


def test_the_readme_names_what_comes_with_it() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = [re.split(r"[<>=]", need)[0] for need in project["dependencies"]]
    said = re.search(r"It brings (.+?), and", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert said is not None
    assert re.split(r", | and ", said[1]) == sorted(names)
