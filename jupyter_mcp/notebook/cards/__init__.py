"""Live cards: ipywidgets, imported here and nowhere else, at the first card.

Call these on the main thread, in the cell where the card belongs (a UI job). Each displays its card and returns at
once; when its act is over the card is replaced by the static bundle of `notebook.render`, without a widget view.

    presenter(question, reply) -> Presented      for `QuestionDesk.presenter`; `.close(answer | None)` leaves the record
    live_call(label, cancel) -> LiveCall         `.event(CallEvent)` and `.finish(outcome)` from any thread
    live_answer(label, cancel) -> LiveAnswer     the same for a question: `.event(ConversationEvent)`
    background_call(call) -> LiveCall            for a `Call`: follows it and becomes its result
    task_card(task) -> LiveCall                  for a `Task` that was left: follows it again
    explorer_card(tab, servers, search) -> Card  everything offered: one search, tabs, a list of any length, a pane
    tool_form(server, tool, runner) -> Card      the form of one tool (`tool.form()`)
    watch_card(watch) -> Card                    a watched resource: its changes, Read now, Stop watching
    endpoint_card(endpoint) -> Card              this notebook as a server, until it is stopped
    server_cards(view, runner), log_card(view)
    trace_card(trace)                            what goes between us and the servers, as it happens
    close_all()                                  every live card becomes static (unload, exit)

`view` is the `ListView` / `ServersView` to browse; `runner` (see `cards.runner.Runner`) does the acts, by default on
the kernel's host, and never blocks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from jupyter_mcp.host.questions import Answer, Question
    from jupyter_mcp.notebook.cards.answer import LiveAnswer
    from jupyter_mcp.notebook.cards.call import LiveCall
    from jupyter_mcp.notebook.cards.explorer.source import Source
    from jupyter_mcp.notebook.cards.live import Card
    from jupyter_mcp.notebook.cards.question import Presented
    from jupyter_mcp.notebook.cards.runner import Runner
    from jupyter_mcp.notebook.objects.call import Call
    from jupyter_mcp.notebook.objects.endpoint import Endpoint
    from jupyter_mcp.notebook.objects.found import Discovered
    from jupyter_mcp.notebook.objects.roots import RootsTable
    from jupyter_mcp.notebook.objects.task import Task
    from jupyter_mcp.notebook.objects.trace import Trace
    from jupyter_mcp.notebook.objects.watch import Watch
    from jupyter_mcp.notebook.render.views import LogView, ServersView

__all__ = [
    "background_call",
    "close_all",
    "endpoint_card",
    "explorer_card",
    "found_card",
    "live_answer",
    "live_call",
    "log_card",
    "presenter",
    "roots_card",
    "server_cards",
    "task_card",
    "tool_form",
    "trace_card",
    "watch_card",
]


def presenter(question: Question, reply: Callable[[Answer], None]) -> Presented:
    """Put a question as a card in the current cell; `reply` is called once with the person's answer."""
    from jupyter_mcp.notebook.cards.question import present

    return present(question, reply)


def live_call(label: str, cancel: Callable[[], object] | None = None) -> LiveCall:
    """Progress and a Cancel button for a call that runs; nothing is displayed before `.show()` or the first event."""
    from jupyter_mcp.notebook.cards.call import LiveCall

    return LiveCall(label, cancel)


def live_answer(label: str, cancel: Callable[[], object] | None = None) -> LiveAnswer:
    """A question that is being answered, with a button that stops it; displayed as `live_call`."""
    from jupyter_mcp.notebook.cards.answer import LiveAnswer

    return LiveAnswer(label, cancel)


def background_call(call: Call) -> LiveCall:
    """The card of a `Call` that runs in the background; it becomes the call's result or error."""
    from jupyter_mcp.notebook.cards.call import follow

    return follow(call)


def task_card(task: Task) -> LiveCall:
    """The card of a `Task`: it is followed, can be left and cancelled, and becomes its result or error."""
    from jupyter_mcp.notebook.cards.task import follow

    return follow(task)


def explorer_card(
    tab: str = "tools",
    servers: Sequence[str] | None = None,
    search: str = "",
    *,
    only: bool = False,
    runner: Runner | None = None,
    source: Source | None = None,
) -> Card:
    """Everything that all servers offer (or some of them), with a pane for what is chosen.

    Args:
        tab: "tools", "resources", "prompts", "servers" or "waiting".
        servers: only what these offer; None is all, also those that come later.
        search: the words that it opens with.
        only: what is saved of it is the list of its tab alone.
        runner: does what the buttons say.
        source: where it looks.
    """
    from jupyter_mcp.notebook.cards.explorer.card import Explorer
    from jupyter_mcp.notebook.cards.explorer.source import HostSource
    from jupyter_mcp.notebook.cards.runner import HostRunner

    made = Explorer(tab, servers, search, runner or HostRunner(), source or HostSource(), only=only)
    return made.card.show()


def tool_form(server: str, tool: Mapping[str, Any], runner: Runner | None = None) -> Card:
    """The form of one tool (as on the wire)."""
    from jupyter_mcp.notebook.cards.toolform import tool_form as build

    return build(server, tool, runner)


def server_cards(view: ServersView, runner: Runner | None = None) -> Card:
    """Servers with buttons to disconnect and reconnect."""
    from jupyter_mcp.notebook.cards.server import server_cards as build

    return build(view, runner)


def watch_card(watch: Watch, runner: Runner | None = None) -> Card:
    """A watched resource, until the watch is stopped."""
    from jupyter_mcp.notebook.cards.watch import watch_card as build

    return build(watch, runner)


def endpoint_card(endpoint: Endpoint) -> Card:
    """This notebook as a server: how to reach it, what may be seen, who comes and what they read."""
    from jupyter_mcp.notebook.cards.endpoint import endpoint_card as build

    return build(endpoint)


def roots_card(table: RootsTable) -> Card:
    """The folders that servers are told about, with a picker."""
    from jupyter_mcp.notebook.cards.roots import roots_card as build

    return build(table)


def found_card(found: Discovered) -> Card:
    """What configuration files name, with a button to connect each."""
    from jupyter_mcp.notebook.cards.found import found_card as build

    return build(found)


def log_card(view: LogView) -> Card:
    """A server's log with a level filter and a search."""
    from jupyter_mcp.notebook.cards.log import log_card as build

    return build(view)


def trace_card(trace: Trace, runner: Runner | None = None) -> Card:
    """What goes between us and the servers, as it happens."""
    from jupyter_mcp.notebook.cards.trace import trace_card as build

    return build(trace, runner)


def close_all() -> None:
    """Replace every live card by its static picture."""
    from jupyter_mcp.notebook.cards.live import close_all as close

    close()
