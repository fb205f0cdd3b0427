"""Resources for JupyterLab's file browser: what there is, what is in one, its cell; and folders offered as roots.

Files are made of them by the page (labextension/src/drive). All acts run on the runtime's loop. Opening a file is the
person's own act.
"""

from __future__ import annotations

import base64
import os
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import UsageError
from jupyter_mcp.notebook.panel import asked
from jupyter_mcp.notebook.panel.lists import read_lists
from jupyter_mcp.notebook.render.text import clean, cut, flat
from jupyter_mcp.protocol.shapes import mapping_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.host.catalogue import Offer
    from jupyter_mcp.host.host import Host
    from jupyter_mcp.host.result import Read

__all__ = ["ACTS", "MAX_BYTES", "content", "offered", "rooted", "server_folder", "written"]

MAX_RESOURCES = 5_000
"""Of one server."""
MAX_BYTES = 20_000_000
"""Of one resource that is opened as a file: a page holds it several times."""


async def offered(data: Mapping[str, Any]) -> dict[str, Any]:
    """`{"servers": [{"name", "title", "state", "resources": […], "left_off": int}]}`, in the order of connecting."""
    from jupyter_mcp.runtime import state

    host = state.existing_host()
    if host is None:
        return {"servers": []}
    await read_lists(host, ("resources",))
    return {"servers": [_server(host, name) for name in list(host.servers)]}


async def content(data: Mapping[str, Any]) -> dict[str, Any]:
    """What is in a resource: `{"format": "text" | "base64", "content": str, "mime_type": str, "parts": int}`.

    Args:
        data: `server`, `uri`.

    Raises:
        UsageError: it is too large to be opened as a file.
        MCPError: it cannot be read.
    """
    from jupyter_mcp.runtime import state

    uri = asked.text(data, "uri")
    found = await state.get_host().read(asked.text(data, "server"), uri, origin="person")
    return _file_of(found)


async def written(data: Mapping[str, Any]) -> dict[str, Any]:
    """How a resource is said in a cell: `{"source": the line that reads it, "mention": as a question names it}`.

    Args:
        data: `server`, `uri`.
    """
    from jupyter_mcp.notebook.cards.spelling import read_line

    server, uri = asked.text(data, "server"), asked.text(data, "uri")
    plain = not any(char.isspace() or char in "<>" for char in uri)
    held = uri if plain and uri[-1].isalnum() else f"<{uri}>"
    sayable = not any(char in "<>\n" or not char.isprintable() for char in uri)
    return {"source": read_line(server, uri), "mention": f"@{server}:{held}" if sayable else ""}


async def rooted(data: Mapping[str, Any]) -> dict[str, Any]:
    """Tell servers of one more folder: `{"uri": str, "name": str}`.

    Args:
        data: `path` and `notebook`, both as the Jupyter Server names them ("" is its own folder), and `server_root`,
            its own folder as it tells pages; may be "".

    Raises:
        UsageError: there is no such folder on the kernel's machine.
    """
    from jupyter_mcp.runtime import state

    path, notebook, told = (_said(data, name) for name in ("path", "notebook", "server_root"))
    host = state.get_host()
    place = host.place.path if host.place is not None else None
    folder = server_folder(notebook, told, place)
    if folder is None or not (folder / path).is_dir():
        where = path or "that folder"
        raise UsageError(
            f"{where} is not on the kernel's machine, so it cannot be a root.",
            hint="%mcp roots add FOLDER takes a path as the kernel sees it.",
        )
    added = host.roots.add(folder / path)
    await host.tell_roots()
    return {"uri": added["uri"], "name": flat(added["name"], 200)}


ACTS = {"resources": offered, "resource_content": content, "resource_cell": written, "root_offer": rooted}
"""By the name that a page asks for."""


def server_folder(notebook: str, told: str, place: Path | None) -> Path | None:
    """The folder that the Jupyter Server's paths begin in, as this machine names it; None when nobody can tell.

    Args:
        notebook: the notebook as the Jupyter Server names it ("work/a.ipynb").
        told: what the Jupyter Server tells pages of it, where `~` may stand for a home; "" when it tells nothing.
        place: the notebook's file as the kernel knows it.
    """
    parts = PurePosixPath(notebook).parts
    if place is not None and parts and place.parts[-len(parts) :] == parts:
        return place.parents[len(parts) - 1]
    if not told:
        return None
    folder = Path(os.path.expanduser(told))
    return folder if folder.is_absolute() and folder.is_dir() else None


def _said(data: Mapping[str, Any], name: str) -> str:
    found = data.get(name)
    text = found if isinstance(found, str) else ""
    if "\0" in text:
        raise UsageError(f"{name} is no path.")
    return text if name == "server_root" else text.strip("/")


def _server(host: Host, name: str) -> dict[str, Any]:
    entry = host.servers.get(name)
    found = host.catalogue.resources(name) if entry is not None else []
    title = entry.info.get("title") if entry is not None else None
    return {
        "name": name,
        "title": flat(title or "", 200),
        "state": entry.state if entry is not None else "closed",
        "resources": [_about(one) for one in found[:MAX_RESOURCES]],
        "left_off": max(0, len(found) - MAX_RESOURCES),
    }


def _about(offer: Offer) -> dict[str, Any]:
    item, size = offer.item, offer.item.get("size")
    told, changed = item.get("description"), mapping_of(item.get("annotations")).get("lastModified")
    kind = item.get("mimeType")
    return {
        "uri": offer.name,
        "name": flat(item.get("name") or "", 200),
        "title": flat(offer.title, 200),
        "description": cut(clean(told), 1_000) if isinstance(told, str) else "",
        "mimeType": flat(kind, 100) if isinstance(kind, str) else "",
        "size": size if isinstance(size, int) and not isinstance(size, bool) and size >= 0 else None,
        "modified": changed if isinstance(changed, str) and len(changed) < 40 else "",
    }


def _file_of(read: Read) -> dict[str, Any]:
    """A resource of several texts is one text; of what else has several parts the first stands for all."""
    parts = read.contents
    texts = [part.text for part in parts]
    body = "\n".join(text for text in texts if text is not None) if parts and None not in texts else None
    first = parts[0] if parts else None
    data = b"" if body is not None or first is None else first.bytes
    size = len(data) if body is None else len(body.encode("utf-8", "replace"))
    if size > MAX_BYTES:
        raise UsageError(
            f"{flat(read.uri, 200)} has {size / 1e6:,.0f} MB, too much to be opened as a file.",
            hint=f"In a cell: %mcp read {read.server} {flat(read.uri, 200)}",
        )
    said = (first.mime_type if first is not None else None) or ""
    if body is not None or first is None:
        return {"format": "text", "content": body or "", "mime_type": flat(said, 100), "parts": len(parts)}
    encoded = base64.b64encode(data).decode("ascii")
    return {"format": "base64", "content": encoded, "mime_type": flat(said, 100), "parts": len(parts)}
