"""Parts of cards that ipywidgets has not, or is too slow for: long lists, trees, editors. Made at first use.

A component is one class over one ES module of this folder: `<name>.js` beside `<name>.css`, written by us, without a
build step, shipped as they are. `common.js` stands before each of them. Small facts go to the page as synced traits;
everything else is asked for and sent by message, so that "Save widget state" stays small and no secret is in it.

What a page sends is untrusted: each message has a `type` with one handler, and a handler checks the rest itself. What a
server sends is put into the page as text, never as HTML. Who uses a component: `notebook.cards`.
"""

from __future__ import annotations

import logging
import re
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from jupyter_mcp.protocol.shapes import is_mapping

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["component", "function"]

log = logging.getLogger("jupyter_mcp.components")


@cache
def component(name: str, *parts: str) -> Any:
    """The class of a component; a subclass adds its traits (`traitlets`, `.tag(sync=True)`) and what it does.

    An object of it has, besides what every widget has:

        hear(kind, handler)              `handler(message)` is called with each message of that `type` from the page
        tell(kind, buffers=(), **more)   sends the page a message; any thread; nothing happens when it shows nowhere

    Args:
        name: of the ES module in this folder, without its ending.
        parts: of files in this folder that stand before it, in this order: a long module in its ideas.

    Raises:
        FileNotFoundError: there is no such file.
    """
    import anywidget

    base: Any = anywidget.AnyWidget

    def __init__(self: Any, **traits: Any) -> None:
        self._handlers = {}
        base.__init__(self, **traits)
        self.on_msg(_receive)

    body: dict[str, Any] = {
        "__doc__": f"The component `{name}`.",
        "__module__": f"{__name__}.{name}",
        "__init__": __init__,
        "_esm": "\n".join(_asset(f"{part}.js") for part in ("common", *parts, name)),
        "_css": _asset(f"{name}.css", missing=""),
        "hear": _hear,
        "tell": _tell,
    }
    return type(f"{name.capitalize()}Component", (base,), body)


@cache
def function(name: str) -> str:
    """The source of a function of `common.js` that needs nothing else of it, for a handler in HTML.

    Args:
        name: of the function.

    Raises:
        LookupError: there is no such function.
    """
    pattern = rf"^(?:async )?function {re.escape(name)}\(.*?^}}"
    found = re.search(pattern, _asset("common.js"), re.DOTALL | re.MULTILINE)
    if found is None:
        raise LookupError(f"common.js has no function {name}")
    return found[0]


def _asset(file: str, missing: str | None = None) -> str:
    found = resources.files(__name__).joinpath(file)
    if missing is not None and not found.is_file():
        return missing
    return found.read_text("utf-8")


def _hear(self: Any, kind: str, handler: Callable[[Mapping[str, Any]], object]) -> None:
    """Call a handler with each message of a type; one handler a type."""
    self._handlers[kind] = handler


def _tell(self: Any, kind: str, /, buffers: Sequence[bytes] = (), **more: Any) -> None:
    """Send the page a message of a type."""
    self.send({"type": kind, **more}, list(buffers))


def _receive(widget: Any, message: object, buffers: object) -> None:
    """A message came from the page: a handler that fails is ours to mend, and must not end the kernel's receiver."""
    if not is_mapping(message) or not isinstance(message.get("type"), str):
        return
    handler = widget._handlers.get(message["type"])
    if handler is None:
        return
    try:
        handler(message)
    except Exception:
        log.exception("a component could not handle a message of type %r", message["type"][:40])
