"""When something is shown: the value of a magic, where it stands, live or static. How: see `render`, `cards`.

Live cards are for people: where nobody can press a button (nbconvert, nbval, papermill) there are none. Those of calls
that take their time belong to `waiting`.
"""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import MCPError

if TYPE_CHECKING:
    from collections.abc import Callable

    from jupyter_mcp.notebook.use import Use

_prepared: list[Any] = []
_displayed: dict[int, object] = {}


# --- preparing the shell ---------------------------------------------------------------------------------------------


def prepare() -> None:
    """Teach the shell, if there is one, to draw our objects, and the desk to draw forms. Once for each shell."""
    from jupyter_mcp.runtime import frontend, state

    shell = frontend.shell()
    if shell is None or shell in _prepared:
        return
    from jupyter_mcp.notebook.panel import pages
    from jupyter_mcp.notebook.render import formatters

    pages.follow()
    formatters.install(shell, _classes())
    first: Any = shell.display_formatter.ipython_display_formatter
    for cls in (*_classes(), "jupyter_mcp.host.result.Result"):  # by name: the host is not loaded for that
        first.for_type(cls, _display_for_shell)
    state.desk().presenter = _present
    _prepared.append(shell)


def forget(shell: Any) -> None:
    """Take it back from a shell."""
    if shell not in _prepared:
        return
    from jupyter_mcp.notebook.render import formatters
    from jupyter_mcp.runtime import state

    formatters.uninstall(shell, _classes())
    state.desk().presenter = None
    _prepared.remove(shell)


def _present(question: Any, reply: Callable[[Any], None]) -> Any:
    from jupyter_mcp.notebook import cards

    return cards.presenter(question, reply)


def _display_for_shell(value: Any) -> None:
    """IPython's first formatter for our objects: nothing when a magic has shown it, else its card, else static."""
    from jupyter_mcp.notebook.render import formatters

    try:
        formatters.hush(value)
    except NotImplementedError:
        if not (can_use_cards() and _live_card(value)):
            raise


def _classes() -> list[type]:
    from jupyter_mcp.notebook import objects
    from jupyter_mcp.notebook.objects.acts import Ping
    from jupyter_mcp.notebook.objects.conversation import Conversation
    from jupyter_mcp.notebook.objects.endpoint import Endpoint
    from jupyter_mcp.notebook.objects.everything import Everything
    from jupyter_mcp.notebook.objects.login import Login
    from jupyter_mcp.notebook.objects.note import Note
    from jupyter_mcp.notebook.objects.offered import Offered
    from jupyter_mcp.notebook.objects.servers import Servers
    from jupyter_mcp.notebook.objects.task import Task
    from jupyter_mcp.notebook.verbs.help import Help

    return [
        Conversation,
        Endpoint,
        Everything,
        Help,
        Note,
        Offered,
        Login,
        Ping,
        Servers,
        Task,
        objects.Call,
        objects.Collection,
        objects.Server,
        objects.Table,
        objects.Watch,
    ]


# --- the value of a magic --------------------------------------------------------------------------------------------


def show(value: Any, use: Use, *, silent: bool = False) -> Any:
    """What the magic returns for this value, after displaying it where the line stands.

    Args:
        value: the object, or None when there is nothing to show.
        use: what becomes of it (see `use`).
        silent: the line ended with `;`.
    """
    done = _displayed.pop(id(value), None) is not None
    if value is None:
        return value
    if use == "used":
        _show_notes(value)
        return value
    if use == "last":
        return _show_last(value, silent or done)
    if not (silent or done):
        display(value)
    _bind_underscore(value)
    return value


def _show_notes(value: Any) -> None:
    """What has to be known although the value is not shown (that nobody could answer, and how to script it)."""
    from jupyter_mcp.notebook.objects.note import Note

    for note in getattr(value, "notes", ()):
        display(Note(f"Note: {note}"))


def _show_last(value: Any, done: bool) -> Any:
    """IPython will display the value. In a terminal that is right as it is (`Out[1]:` stands before it).

    So it is where somebody else collects what a cell displays (`%%capture`).
    """
    from jupyter_mcp.notebook.render.formatters import quiet_once
    from jupyter_mcp.runtime import frontend

    collected = sys.displayhook is not getattr(frontend.shell(), "displayhook", None)
    if not done and (collected or not frontend.has_kernel()):
        return value
    if not done:
        display(value)
    return quiet_once(value)


def display(value: Any) -> None:
    """Show an object in the current cell: a live card where there is one for it and somebody to use it, else static."""
    if can_use_cards() and _live_card(value):
        return
    from jupyter_mcp.notebook.render import bundle
    from jupyter_mcp.notebook.render.formatters import publish

    publish(bundle(value))


def _live_card(value: Any) -> bool:
    """Display the card that belongs to this object; False when there is none."""
    from jupyter_mcp.notebook.appbelow import with_app
    from jupyter_mcp.notebook.cards.results.card import shown_live

    if with_app(value) or shown_live(value):
        return True
    from jupyter_mcp.notebook import cards
    from jupyter_mcp.notebook.objects import Call, Collection
    from jupyter_mcp.notebook.objects.endpoint import Endpoint
    from jupyter_mcp.notebook.objects.everything import Everything
    from jupyter_mcp.notebook.objects.found import Discovered
    from jupyter_mcp.notebook.objects.happened import Log
    from jupyter_mcp.notebook.objects.offered import Offered
    from jupyter_mcp.notebook.objects.roots import RootsTable
    from jupyter_mcp.notebook.objects.servers import Servers
    from jupyter_mcp.notebook.objects.task import Task
    from jupyter_mcp.notebook.objects.trace import Trace
    from jupyter_mcp.notebook.objects.watch import Watch

    if isinstance(value, (Call, Task)) and not value.done:
        cards.background_call(value) if isinstance(value, Call) else cards.task_card(value)
        return True
    if isinstance(value, Watch) and value.active:
        cards.watch_card(value)
        return True
    if isinstance(value, Endpoint) and value.alive:
        cards.endpoint_card(value)
        return True
    if isinstance(value, Discovered) and len(value):
        cards.found_card(value)
        return True
    if isinstance(value, RootsTable):
        cards.roots_card(value)
        return True
    if isinstance(value, Trace):
        cards.trace_card(value)
        return True
    if isinstance(value, Everything):
        cards.explorer_card()
        return True
    if not isinstance(value, (Collection, Offered, Log, Servers)):
        return False
    try:
        view: Any = value.__mcp_view__()
    except MCPError:
        return False  # the static picture says it
    if isinstance(value, (Collection, Offered)) and not view.rows and not view.templates:
        return False  # nothing to choose from: a sentence says it
    if isinstance(value, Servers):
        cards.server_cards(view)
    elif isinstance(value, Log):
        cards.log_card(view)
    else:
        everywhere = isinstance(value, Offered) and value.everywhere
        cards.explorer_card(view.kind, None if everywhere else view.servers, view.search, only=True)
    return True


def shown_already(value: Any) -> None:
    """The magic that returns this value has said what there is to say."""
    _displayed.clear()
    _displayed[id(value)] = value


def tool_form(tool: Any) -> None:
    """The form of one tool, displayed here; where nobody can fill it in, what the tool takes."""
    if not can_use_cards():
        from jupyter_mcp.notebook.render.bundles import bundle
        from jupyter_mcp.notebook.render.formatters import publish
        from jupyter_mcp.notebook.render.views import ToolFormView

        publish(bundle(ToolFormView(tool.server.name, tool.raw)))
        return
    from jupyter_mcp.notebook import cards

    cards.tool_form(tool.server.name, tool.raw)


def _bind_underscore(value: Any) -> None:
    """In the middle of a cell IPython's display hook, which keeps `_`, does not see the value."""
    from jupyter_mcp.runtime import frontend

    hook = getattr(frontend.shell(), "displayhook", None)
    if hook is not None and threading.current_thread() is threading.main_thread():
        hook.update_user_ns(value)


# --- live cards ------------------------------------------------------------------------------------------------------


def can_use_cards() -> bool:
    """Whether a person sees widgets here and can press their buttons."""
    from jupyter_mcp.runtime import frontend, state

    if not frontend.has_kernel() or threading.current_thread() is not threading.main_thread():
        return False
    mode = state.desk().mode
    return mode == "widgets" or (mode == "auto" and frontend.allow_stdin())
