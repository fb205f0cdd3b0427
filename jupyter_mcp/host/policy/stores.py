"""Where a policy is kept beyond the session: one `Store` for each file, and which files there are (`stores_for`).

    user      the person's own, config folder: policy.toml
    project   .jupyter-mcp/policy.toml in the notebook's folder and in those above it (all that there are hold)
    notebook  the person's data folder, named by a digest of the notebook's absolute path
              and, read only, what stands in the notebook's own metadata (`jupyter_mcp.policy`)

What came with a project or in a notebook was perhaps written by somebody else: until the person has accepted exactly
that content it only tightens. Which contents were accepted is kept in the person's data folder.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.errors import ConfigError
from jupyter_mcp.host.policy import files
from jupyter_mcp.host.policy.sheet import EMPTY, LONGEST, Sheet, canonical, digest, from_table, parse, unreadable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from jupyter_mcp.host.place import NotebookPlace
    from jupyter_mcp.host.policy.rules import Scope

__all__ = ["Accepted", "Metadata", "Store", "project_file", "stores_for"]

PROJECT_FILE = (".jupyter-mcp", "policy.toml")
_LONGEST_NOTEBOOK = 64 * 2**20  # bytes; of a longer one the metadata is not looked for
_KEPT_CONTENTS = 20  # of one file, so that a change of branches does not ask each time
_MARKS = (".git", ".jupyter-mcp", ".mcp.json", "pyproject.toml", ".vscode")


class Accepted:
    """The contents that the person has accepted, by the file they were in.

    Args:
        path: the person's own file for it; None: what is accepted holds for the session.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._session: dict[str, list[str]] = {}
        self._read: tuple[files.Signature | None, dict[str, list[str]]] = (None, {})

    def holds(self, what: str, content: str) -> bool:
        """Whether this content of this file was accepted."""
        return content in self._session.get(what, ()) or content in self._kept().get(what, ())

    def add(self, what: str, content: str) -> None:
        """The person accepts it. Raises `ConfigError` when that cannot be kept."""
        self._session.setdefault(what, []).append(content)
        if self._path is None:
            return
        try:
            with files.changing(self._path, private=True):
                kept = dict(self._kept())
                kept[what] = [*(one for one in kept.get(what, ()) if one != content), content][-_KEPT_CONTENTS:]
                files.write(self._path, json.dumps(kept, indent=1), private=True)
        except OSError as error:
            raise _unwritable(str(self._path), error) from None

    def _kept(self) -> dict[str, list[str]]:
        if self._path is None:
            return {}
        try:
            now = files.signature(self._path)
            if now is None or files.others_may_write(self._path):
                return {}
            if now != self._read[0]:
                self._read = (now, _contents(files.read(self._path, LONGEST)))
        except (OSError, ValueError):
            return {}  # then nothing was accepted
        return self._read[1]


class Store:
    """One file of rules, read again when it has changed.

    Args:
        scope: where its rules hold.
        path: of the file, which need not exist.
        source: how it is called towards a person.
        accepted: where contents have to be accepted; None: this file is the person's own.
        notebook: written into the file, for whoever finds it.
    """

    def __init__(
        self, scope: Scope, path: Path, source: str, accepted: Accepted | None = None, notebook: Path | None = None
    ) -> None:
        self.scope: Scope = scope
        self.path = path
        self.source = source
        self._accepted = accepted
        self._notebook = notebook
        self._seen: tuple[object, Sheet] = (None, EMPTY)

    @property
    def private(self) -> bool:
        """Whether the file is for the person's eyes only."""
        return self._accepted is None

    def sheet(self) -> Sheet:
        """What the file says now. Never raises."""
        try:
            now = files.signature(self.path)
            if now is None:
                return EMPTY
            if self._seen[0] != now:
                self._seen = (now, self._parsed())
        except OSError as error:
            self._seen = (None, unreadable(self.scope, self.source, error.strerror or str(error)))
        except UnicodeDecodeError:
            self._seen = (None, unreadable(self.scope, self.source, "it is no UTF-8 text"))
        return self._seen[1]

    def text(self) -> str:
        """The file's text; "" when there is none. Raises `ConfigError` when it cannot be read."""
        try:
            return files.read(self.path, LONGEST) if files.signature(self.path) is not None else ""
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{self.source} cannot be read: {error}.", file=str(self.path)) from None

    def accept(self, content: str = "") -> Sheet:
        """The person accepts a content (its digest), or what the file says now. Raises `ConfigError` as `change`."""
        content = content or self.sheet().digest
        if self._accepted is not None and content:
            self._accepted.add(str(self.path), content)
            self._seen = (None, EMPTY)
        return self.sheet()

    def change(self, alter: Callable[[Any], None]) -> None:
        """Change the file, keeping its comments, its order and what we do not know.

        A content that the person had accepted stays so with what they add to it here.

        Args:
            alter: changes the document (of tomlkit) in place.

        Raises:
            ConfigError: the file cannot be read as it is, or cannot be written.
        """
        import tomlkit
        from tomlkit.exceptions import TOMLKitError

        try:
            with files.changing(self.path, private=self.private):
                before = self.text()
                stood = not before or self._accepted is None or self._accepted.holds(str(self.path), digest(before))
                document: Any = tomlkit.parse(before) if before else tomlkit.document()
                if not before and self._notebook is not None:
                    document["notebook"] = str(self._notebook)
                alter(document)
                after = tomlkit.dumps(document)
                if stood and self._accepted is not None:  # before another kernel sees it
                    self._accepted.add(str(self.path), digest(after))
                files.write(self.path, after, private=self.private)
        except TOMLKitError as error:
            text = f"{self.source} is no TOML ({error}), so nothing is written to it. Mend it first."
            raise ConfigError(text, file=str(self.path)) from None
        except OSError as error:
            raise _unwritable(self.source, error) from None
        self._seen = (None, EMPTY)

    def _parsed(self) -> Sheet:
        if self.private and files.others_may_write(self.path):
            sheet = parse(files.read(self.path, LONGEST), self.scope, self.source, accepted=False)
            problem = f"Others than you may write to {self.source}, so it only tightens (chmod go-w)."
            return replace(sheet, problems=(problem, *sheet.problems), waits=False)  # no word makes it safe
        text = files.read(self.path, LONGEST)
        stands = self._accepted is None or self._accepted.holds(str(self.path), digest(text))
        return parse(text, self.scope, self.source, accepted=stands)


class Metadata:
    """The rules in a notebook's own metadata, `{"jupyter_mcp": {"policy": {"rule": […]}}}`. Never written.

    Args:
        path: of the notebook's file.
        accepted: where its contents have to be accepted.
    """

    scope: Scope = "notebook"

    def __init__(self, path: Path, accepted: Accepted) -> None:
        self.path = path
        self.source = f"the metadata of {path.name}"
        self._accepted = accepted
        self._seen: tuple[object, Sheet] = (None, EMPTY)

    def sheet(self) -> Sheet:
        """What the saved notebook says. Never raises; a notebook that cannot be read says nothing."""
        try:
            now = files.signature(self.path)
            if now is None:
                return EMPTY
            if self._seen[0] != now:
                self._seen = (now, self._parsed(now))
        except (OSError, ValueError, RecursionError):
            self._seen = (None, EMPTY)
        return self._seen[1]

    def text(self) -> str:
        """The policy in it, as JSON; "" when there is none."""
        try:
            found = _policy_of(files.read(self.path, _LONGEST_NOTEBOOK))
        except (OSError, ValueError, RecursionError):
            found = None
        return "" if found is None else json.dumps(found, indent=1, ensure_ascii=False)

    def accept(self, content: str = "") -> Sheet:
        """The person accepts a content (its digest), or what stands there now. Raises `ConfigError` as a store."""
        if content := content or self.sheet().digest:
            self._accepted.add(f"{self.path}#metadata", content)
            self._seen = (None, EMPTY)
        return self.sheet()

    def _parsed(self, now: files.Signature) -> Sheet:
        if now[1] > _LONGEST_NOTEBOOK:
            return Sheet(problems=(f"{self.source} is not looked at: the file is too big.",))
        found = _policy_of(files.read(self.path, _LONGEST_NOTEBOOK))
        if found is None:
            return EMPTY
        content = digest(canonical(found))
        stands = self._accepted.holds(f"{self.path}#metadata", content)
        return from_table(found, self.scope, self.source, content, accepted=stands)


# --- which there are -------------------------------------------------------------------------------------------------


def stores_for(place: NotebookPlace | None) -> list[Store | Metadata]:
    """The stores of a notebook, from the widest scope to the narrowest."""
    if place is None:
        return []
    found: list[Store | Metadata] = []
    accepted = Accepted(place.data / "policy" / "accepted.json" if place.data is not None else None)
    if place.config is not None:
        found.append(Store("user", place.config / "policy.toml", "your own policy.toml"))
    found += [
        Store("project", folder.joinpath(*PROJECT_FILE), _called(folder, place.folder), accepted)
        for folder in reversed(_upwards(place.folder))
    ]
    if place.data is not None and place.path is not None:
        name = hashlib.sha256(str(place.path).encode("utf-8", "surrogatepass")).hexdigest()[:32]
        own = place.data / "policy" / "notebooks" / f"{name}.toml"
        found.append(Store("notebook", own, "your rules for this notebook", notebook=place.path))
    if place.path is not None:
        found.append(Metadata(place.path, accepted))
    return found


def project_file(place: NotebookPlace) -> Path:
    """The file that a rule for the project is written to: the nearest that exists, else in the project's folder."""
    folders = _upwards(place.folder)
    there = next((folder for folder in folders if folder.joinpath(*PROJECT_FILE).exists()), None)
    marked = next((folder for folder in folders if any((folder / mark).exists() for mark in _MARKS)), None)
    return (there or marked or place.folder).joinpath(*PROJECT_FILE)


def _upwards(folder: Path) -> list[Path]:
    """The folder and those above it, up to the person's home where it lies in there."""
    from pathlib import Path

    folders = [folder, *folder.parents]
    try:
        home = Path.home()
    except RuntimeError:
        return folders
    return folders[: folders.index(home) + 1] if home in folders else folders


def _called(folder: Path, here: Path) -> str:
    """A project's file as seen from the notebook: `.jupyter-mcp/policy.toml`, `../.jupyter-mcp/policy.toml`."""
    steps = len(here.parts) - len(folder.parts)
    return "/".join((*[".."] * steps, *PROJECT_FILE))


def _policy_of(text: str) -> dict[str, Any] | None:
    """What a notebook's metadata says about policy. Raises ValueError, RecursionError."""
    if '"jupyter_mcp"' not in text:  # nearly every notebook; they are long
        return None
    current: Any = json.loads(text)
    for key in ("metadata", "jupyter_mcp", "policy"):
        current = cast("dict[str, Any]", current).get(key) if isinstance(current, dict) else None
    return cast("dict[str, Any]", current) if isinstance(current, dict) else None


def _contents(text: str) -> dict[str, list[str]]:
    """Raises ValueError."""
    data: Any = json.loads(text)
    if not isinstance(data, dict):
        return {}
    found: dict[str, list[str]] = {}
    for key, value in cast("dict[str, Any]", data).items():
        if isinstance(value, list):
            found[key] = [one for one in cast("list[Any]", value) if isinstance(one, str)]
    return found


def _unwritable(what: str, error: OSError) -> ConfigError:
    return ConfigError(f"{what} cannot be written: {error.strerror or error}.", file=error.filename)
