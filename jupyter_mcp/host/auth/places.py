"""Where a browser comes back to after a login. The choice is a function of what is known; `Place` is what was chosen.

    jupyter    the Jupyter Server's own page, which hands on to the kernel: wherever the browser can see the notebook
    loopback   a listener of this machine: nothing but this package is needed, the browser has to be on this machine
    paste      the same address, where no browser is on this machine: it cannot be reached, a person brings it by hand

A Jupyter Server that the browser sees as this machine may be at the other end of a tunnel. Signs of that (SSH, a
container, a hub) make its own page the better place; it is as good without a tunnel, but needs a page that said so.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CALLBACK", "JupyterPage", "choose", "is_far"]

CALLBACK = "jupyter-mcp/oauth/callback"
"""Where the server extension takes a browser that comes back, below the Jupyter Server's base URL."""

Kind = Literal["loopback", "jupyter", "paste"]
_SIGNS = (
    *("SSH_CONNECTION", "SSH_CLIENT", "JUPYTERHUB_API_TOKEN", "JUPYTERHUB_SERVICE_PREFIX", "CODESPACES"),
    *(
        "COLAB_RELEASE_TAG",
        "KUBERNETES_SERVICE_HOST",
        "GITPOD_WORKSPACE_ID",
        "REMOTE_CONTAINERS",
        "KAGGLE_KERNEL_RUN_TYPE",
    ),
)
_CONTAINERS = ("/.dockerenv", "/run/.containerenv")


@dataclass(frozen=True, slots=True)
class JupyterPage:
    """The Jupyter Server as a browser sees it.

    Attributes:
        base_url: "https://hub.example.org/user/ada/".
        kernel_id: by which the Jupyter Server knows this kernel.
    """

    base_url: str
    kernel_id: str

    @property
    def callback(self) -> str:
        """Where a browser comes back to."""
        return f"{self.base_url.rstrip('/')}/{CALLBACK}"


def choose(page: JupyterPage | None, far: bool) -> Kind:
    """Which kind of place to use.

    Args:
        page: the Jupyter Server, when a page of it said how the browser sees it.
        far: whether there are signs that the browser is on another machine.
    """
    if page is not None and (far or not _is_here(page.base_url)):
        return "jupyter"
    return "paste" if far else "loopback"


def is_far(environ: Mapping[str, str] | None = None, marks: tuple[str, ...] = _CONTAINERS) -> bool:
    """Whether there are signs that the person's browser is on another machine than this kernel.

    Args:
        environ: environment variables; None is this process's.
        marks: files that a container has.
    """
    known = os.environ if environ is None else environ
    return any(known.get(name) for name in _SIGNS) or any(Path(mark).exists() for mark in marks)


def _is_here(url: str) -> bool:
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return False
    return host in ("localhost", "127.0.0.1", "::1") or host.endswith(".localhost")
