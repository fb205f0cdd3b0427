"""Where the notebook of this kernel lies, and where what belongs to its person is kept.

Only Jupyter and VS Code say which notebook a kernel belongs to, and not in every case; what they do not say is not
guessed. Below: `host`, which gets the answer as a value. Above: `kernel`, which names the notebook by it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.runtime import frontend

if TYPE_CHECKING:
    from jupyter_mcp.host.place import NotebookPlace

__all__ = ["began_in", "notebook", "place"]


def notebook(shell: Any) -> Path | None:
    """The notebook's file: Jupyter's name for the session, or VS Code's; None when neither says.

    Args:
        shell: IPython's; only its namespace and the folder it began in are looked at.
    """
    namespace = cast("dict[str, object]", getattr(shell, "user_ns", None) or {})
    for text in (os.environ.get("JPY_SESSION_NAME"), namespace.get("__vsc_ipynb_file__")):
        if isinstance(text, str) and text.strip("/. ") and "\0" not in text:
            path = Path(text)
            return path if path.is_absolute() else began_in(shell) / path.name
    return None


def began_in(shell: Any) -> Path:
    """The folder that the process began in, which is a notebook's own, whatever its cells changed to since."""
    told = getattr(shell, "starting_dir", None)
    return Path(told) if isinstance(told, str) and told else Path.cwd()


def place() -> NotebookPlace:
    """All of it, for the host of this kernel. A console's session has a name too, but no file."""
    from jupyter_core.paths import jupyter_config_dir, jupyter_data_dir

    from jupyter_mcp.host.place import NotebookPlace

    shell = frontend.shell()
    path = notebook(shell)
    path = None if path is None else Path(os.path.normpath(path))
    if path is not None and path.suffix != ".ipynb" and not path.is_file():
        path = None
    return NotebookPlace(
        path,
        path.parent if path is not None else began_in(shell),
        Path(jupyter_data_dir()) / "jupyter_mcp",
        Path(jupyter_config_dir()) / "jupyter_mcp",
    )
