"""Where things lie that a sandboxed process should not see, and how the paths of a sandbox are meant. Pure but for
looking whether a path exists and where its links lead.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from jupyter_mcp.host.sandbox.rules import Sandbox

__all__ = ["Access", "Places", "places", "private", "root_folder"]

_PRIVATE = (
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".config/gcloud",
    ".config/gh",
    ".config/git/credentials",
    ".git-credentials",
    ".netrc",
    ".pypirc",
    ".npmrc",
    ".password-store",
    ".local/share/keyrings",
    ".local/share/jupyter/runtime",
    ".mozilla",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".jupyter",
    ".cache/huggingface/token",
    ".cargo/credentials.toml",
    ".kaggle",
    ".vault-token",
    ".claude.json",
    ".claude/.credentials.json",
    "Library/Keychains",
    "Library/Jupyter/runtime",
    "Library/Application Support/Google/Chrome",
)
"""Below the home folder: keys, tokens, and Jupyter's runtime files, which hold the tokens of running servers."""

_MOVED = {
    "JUPYTER_RUNTIME_DIR": "",
    "JUPYTER_DATA_DIR": "runtime",
    "JUPYTER_CONFIG_DIR": "",
    "XDG_DATA_HOME": "jupyter/runtime",
    "GNUPGHOME": "",
    "KUBECONFIG": "",
    "DOCKER_CONFIG": "",
    "NETRC": "",
    "AWS_SHARED_CREDENTIALS_FILE": "",
    "GOOGLE_APPLICATION_CREDENTIALS": "",
    "HF_TOKEN_PATH": "",
}
"""Variables that say that they are elsewhere, and what is meant below it."""

_STEERING = (".git/hooks", ".git/config", ".vscode", ".cursor", ".claude", ".mcp.json", ".jupyter-mcp")
"""In a root: what other programs run or obey later, outside of the sandbox. It may be read."""


Access = Literal["write", "read", "none"]


@dataclass(frozen=True, slots=True)
class Places:
    """The paths of one sandbox.

    Attributes:
        access: what may be done with a path and all in it, absolute, links followed, existing; outer paths before what
            lies in them, so that the last one that speaks about a file decides.
    """

    access: tuple[tuple[Access, str], ...]

    def of(self, kind: Access) -> tuple[str, ...]:
        """The paths of one kind."""
        return tuple(path for one, path in self.access if one == kind)


def places(
    rules: Sandbox, roots: Iterable[str], *, base: str, home: str, environ: Mapping[str, str] = os.environ
) -> Places:
    """The paths that a sandbox means.

    Args:
        rules: as written; `~` is the home folder, relative paths start at `base`.
        roots: the server's roots, `file://` URIs.
        base: an absolute folder.
        home: the person's home folder.
        environ: where Jupyter may have been told another folder for its runtime files.

    What does not exist is left out. What steers other programs (`.git/hooks`, `.vscode` …) stays read-only in a root
    unless it is named itself. A private place is hidden also inside of a root, unless it is a root itself, holds
    one, or is named by `write`.
    """
    named = [folder for uri in roots if (folder := root_folder(uri))] + [
        _real(path, base, home) for path in rules.write
    ]
    usual = [path for path in (_real(one, home, home) for one in private(environ)) if path not in named]
    hidden = [*usual, *(_real(path, base, home) for path in rules.deny_read)]
    steering = [os.path.join(folder, name) for folder in named for name in _STEERING]
    kept = [*(path for path in steering if path not in named), *(_real(path, base, home) for path in rules.deny_write)]
    kinds: tuple[tuple[Access, list[str]], ...] = (("write", named), ("read", kept), ("none", hidden))
    found: dict[str, Access] = {path: kind for kind, paths in kinds for path in paths}  # the strictest of equals
    there: list[tuple[Access, str]] = [(kind, path) for path, kind in found.items() if os.path.exists(path)]
    there.sort(key=lambda one: (one[1].rstrip(os.sep).count(os.sep), one[1]))
    return Places(tuple(there))


def private(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Paths, below the home folder or absolute, that hold credentials."""
    moved = [
        os.path.join(path, below) if below else path
        for name, below in _MOVED.items()
        for path in environ.get(name, "").split(os.pathsep)
        if path
    ]
    return (*_PRIVATE, *moved)


def root_folder(uri: str) -> str | None:
    """The real path of a root, or None for one that is no `file://` URI of this machine."""
    parts = urlsplit(uri)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    return os.path.realpath(unquote(parts.path))


def _real(path: str, base: str, home: str) -> str:
    if path == "~" or path.startswith("~/"):
        path = home + path[1:]
    return os.path.realpath(Path(base) / path)
