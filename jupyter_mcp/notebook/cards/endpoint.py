"""This notebook as a server: the line to paste, URL and token on demand, what may be seen, who came and what they read.

RULES

- URL and token are in a part of their own (`components.secret`): they go to the page by message when the person asks
  for them, and go after two minutes or when asked. No widget's state holds them, so "Save widget state" cannot save
  them; what is published is drawn from a view without them.
- The card follows the server, a few times a second at most, and a cell's end. It is an explorer; it ends when the
  notebook is no longer served, and leaves a record.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.copying import copied
from jupyter_mcp.notebook.cards.live import Card
from jupyter_mcp.notebook.components.secret import Line, Secret
from jupyter_mcp.notebook.objects import setups
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.bundles import bundle
from jupyter_mcp.notebook.render.served import acts_piece, exposed_piece, head_piece, who_piece
from jupyter_mcp.runtime import frontend, state
from jupyter_mcp.runtime.thread import get_runtime

if TYPE_CHECKING:
    from jupyter_mcp.notebook.objects.endpoint import Endpoint
    from jupyter_mcp.notebook.render.views import EndpointView

__all__ = ["EndpointCard", "endpoint_card"]

PAUSE = 0.25
REVEALED_SECONDS = 120.0
_WARNING = "Whoever has these can use this notebook as served. They go in two minutes; no output keeps them."


def endpoint_card(endpoint: Endpoint) -> Card:
    """Display the card of a notebook that is served; what clients want allowed is asked below it from now on."""
    state.desk().place_slot(endpoint.name)
    return EndpointCard(endpoint).card.show()


class EndpointCard:
    """The live card of one endpoint."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._view: EndpointView = endpoint.__mcp_view__()
        self._head = kit.markup(head_piece(self._view).html, "jmcp-head")
        self._reveal = kit.button("Show URL and token", self._toggle, tip="For clients that take a URL; not saved")
        self._stop = kit.button("Stop serving", self._stop_now, tip="Serve this notebook no longer")
        self._secret = Secret(_WARNING, lambda: _secrets(endpoint))
        self._exposed = kit.markup(exposed_piece(self._view).html)
        self._who = kit.markup(_visits(self._view))
        self._timer: threading.Timer | None = None
        self._due = False
        self._lock = threading.Lock()
        parts = [
            self._head,
            kit.markup(_bridge(endpoint)),
            kit.row([self._reveal, self._stop]),
            self._secret.widget,
            self._exposed,
            self._who,
        ]
        self.card = Card(kit.root(parts), lambda: bundle(endpoint))
        self._ends = [endpoint.on_change(self._changed)]
        self.card.on_over.append(self._leave)
        self._follow_cells()

    # --- following

    def _follow_cells(self) -> None:
        shell = frontend.shell()
        if shell is None:
            return
        events: Any = shell.events

        def ran(_: object) -> None:
            self._changed()

        def unregister() -> None:
            if ran in events.callbacks["post_run_cell"]:
                events.unregister("post_run_cell", ran)

        events.register("post_run_cell", ran)
        self._ends.append(unregister)

    def _changed(self) -> None:
        """Something is another now. Any thread."""
        with self._lock:
            if self._due:
                return
            self._due = True
        get_runtime().submit(self._draw_soon)

    async def _draw_soon(self) -> None:
        import asyncio

        await asyncio.sleep(PAUSE)
        self._draw()

    def _draw(self) -> None:
        with self._lock:
            self._due = False
        view = self._endpoint.__mcp_view__()
        if self.card.over:
            return
        if not view.active:
            self.card.finish(bundle(self._endpoint))
            return
        if view == self._view:
            return
        self._view = view
        kit.paint(self._head, head_piece(view).html)
        kit.paint(self._exposed, exposed_piece(view).html)
        kit.paint(self._who, _visits(view))
        self.card.redraw()

    def _leave(self) -> None:
        self._hide()
        while self._ends:
            self._ends.pop()()

    # --- the part that is never saved

    def _toggle(self) -> None:
        if self._secret.shown:
            self._hide()
        else:
            self._show()

    def _show(self) -> None:
        self._secret.show()
        self._reveal.description = "Hide URL and token"
        self._timer = threading.Timer(REVEALED_SECONDS, self._hide)
        self._timer.daemon = True
        self._timer.start()

    def _hide(self) -> None:
        timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
        if self._secret.shown:
            self._secret.hide()
            self._reveal.description = "Show URL and token"

    def _stop_now(self) -> None:
        """On whatever thread the message came; stopping waits, so it is done beside it."""
        if not self._stop.disabled:
            self._stop.disabled = True
            threading.Thread(target=self._endpoint.stop, name="jupyter-mcp-stop", daemon=True).start()


def _visits(view: EndpointView) -> str:
    acts = acts_piece(view.acts)
    return f'<div role="log" aria-label="Clients">{who_piece(view).html}{acts.html if acts is not None else ""}</div>'


def _bridge(endpoint: Endpoint) -> str:
    """The line that is all an agent on this machine needs, and the same for files."""
    others = [
        copied(recipe.where, endpoint.config(recipe.key), recipe.title) for recipe in setups.CLIENTS if recipe.where
    ]
    command = setups.shell_line(setups.agent_command(endpoint.name))
    return (
        html.note("An agent on this machine needs no port and no token. Paste this into a terminal for Claude Code:")
        + copied("", endpoint.config("claude-code"), "the line for Claude Code")
        + html.details(
            "Other clients: .mcp.json, Cursor, VS Code, Codex, any command",
            "".join(others) + copied("command", command),
        )
    )


def _secrets(endpoint: Endpoint) -> list[Line]:
    line, *files = setups.CLIENTS
    return [
        {"label": "URL", "text": endpoint.url, "what": "URL", "folded": False},
        {"label": "token", "text": endpoint.token, "what": "token", "folded": False},
        {"label": line.title, "text": endpoint.config(line.key, http=True), "what": line.title, "folded": False},
        *(
            Line(
                label=f"{recipe.title}: {recipe.where}" if recipe.where != recipe.title else recipe.title,
                text=endpoint.config(recipe.key, http=True),
                what=recipe.title,
                folded=True,
            )
            for recipe in files
        ),
    ]
