"""The public functions about configuration files: what is there, connecting from it, saving into it.

They belong to `api`, which offers them; `aio` has the awaitable twins.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import UsageError
from jupyter_mcp.notebook.objects.act import Act, get_host
from jupyter_mcp.notebook.waiting import waiting

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from jupyter_mcp.host.policy import Origin
    from jupyter_mcp.host.specs.config import Entry
    from jupyter_mcp.notebook.objects.found import Discovered
    from jupyter_mcp.notebook.objects.saved import SavedServers

__all__ = ["discover", "from_source", "here", "name_of", "save", "saving"]


def discover() -> Discovered:
    """The servers of configuration files: the project's, from the notebook's folder upwards, and your own.

    Files of this package's own form, of VS Code, Cursor, Claude, Copilot, Jupyter and the registry are looked for. Only
    files are read; nothing is started or connected.

    Returns:
        a table of what was found where and what it would start; as a card it has a button to connect each.
    """
    from jupyter_mcp.host.specs.places import discover as look
    from jupyter_mcp.notebook.objects.found import Discovered

    folder = here()
    return Discovered(look(folder), folder)


def save(file: str | Path | None = None, names: Iterable[str] | None = None) -> SavedServers:
    """Write servers of this notebook into a configuration file, `.mcp.json` as a rule.

    What is in the file stays as it is, comments and unknown keys too. No value of the environment is written, and no
    secret: what was typed out is written as `${NAME}`, with a note. You are asked before an entry that differs is
    replaced.

    Args:
        file: where to; None is the nearest `.mcp.json` from the notebook's folder upwards, else a new one beside it.
        names: of the servers; None is all.

    Raises:
        UsageError: there is no such server, or none at all, or the file is of another kind.
        ConfigError: the file cannot be read or written.
    """
    return waiting(saving(file, names))


def saving(file: str | Path | None, names: Iterable[str] | None) -> Act[SavedServers]:
    """The act of saving."""
    from jupyter_mcp.notebook.objects.saved import SavedServers

    wanted = None if names is None else [names] if isinstance(names, str) else list(names)
    chosen = None if file is None else here() / Path(file).expanduser()

    async def start() -> SavedServers:
        from jupyter_mcp.host import saving as files

        host = get_host()
        specs = [host.find(name).spec for name in (host.servers if wanted is None else wanted)]
        if not specs:
            raise UsageError("There is no server to save.", hint="Connect one first: %mcp connect demo")
        folder = here()
        path = chosen or files.nearest_file(folder)

        async def confirm(message: str) -> Any:
            return await host.form(message, {"type": "object", "properties": {}})

        return SavedServers(await files.save(specs, path, confirm), path, folder)

    return Act("saving servers", start, "nothing was written")


def from_source(source: str | Path | Mapping[str, Any], only: Iterable[str] | None) -> tuple[list[Entry], Origin]:
    """The entries of a configuration that are wanted, and who vouches for them: the person, or only a file.

    Raises:
        ConfigError: the configuration cannot be read.
        UsageError: it has no server of such a name.
    """
    from jupyter_mcp.host.specs.config import is_text, read_config
    from jupyter_mcp.host.specs.places import is_own

    is_file = isinstance(source, Path) or (isinstance(source, str) and not is_text(source))
    path = here() / Path(str(source)).expanduser() if is_file else None
    own = path is not None and is_own(path)
    entries = read_config(source if path is None else path, folder=str(here()) if own else None)
    origin: Origin = "person" if own or (path is None and not _of_registry(source)) else "project"
    if only is None:
        return [entry for entry in entries if not getattr(entry, "alternative", False)], origin
    names = {name_of(entry): entry for entry in entries}
    wanted = list(only)
    for name in wanted:
        if name not in names:
            raise UsageError(f"{source} has no server {name!r} (there are {', '.join(names) or 'none'}).")
    return [names[name] for name in wanted], origin


def _of_registry(source: Any) -> bool:
    """Whether it is a registry's description of a server: the person did not write the command that comes of it."""
    from jupyter_mcp.host.specs.registry import is_registry_file
    from jupyter_mcp.host.specs.sections import parse_file

    return is_registry_file(parse_file(source, None) if isinstance(source, str) else source)


def name_of(entry: Any) -> str:
    """The name of an entry, also of one that could not be read."""
    known = getattr(entry, "name", None) or getattr(entry, "server", None) or getattr(entry, "key", None)
    return str(known or "?")


def here() -> Path:
    """The notebook's folder."""
    place = get_host().place
    folder = place.folder if place is not None else None
    return folder if folder is not None and folder.is_dir() else Path.cwd()
