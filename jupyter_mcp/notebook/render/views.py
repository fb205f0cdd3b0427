"""What there is to show, as plain values: the render room draws these and knows no host object's insides.

An object of the public API that wants to be drawn has a method `__mcp_view__()` that returns one of these (or a host
value that `bundle` knows: `Result`, `Read`, `PromptResult`, an `MCPError`). Text in them may come from a server and is
untrusted; drawing cleans and escapes it. No view holds a clock time, a duration, an id, a port or a process id: what is
drawn is saved in notebooks and compared by nbval.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Set

    from jupyter_mcp.host.questions import Answer, Question

__all__ = [
    "CallView",
    "ConversationView",
    "EndpointView",
    "ExplorerView",
    "HelpView",
    "ListView",
    "LogRow",
    "LogView",
    "NoteView",
    "QuestionRecord",
    "ServerView",
    "ServersView",
    "TableView",
    "ToolCallView",
    "ToolFormView",
    "View",
    "WatchView",
]

ListKind = Literal["tools", "resources", "templates", "prompts"]


@dataclass(frozen=True)
class ServerView:
    """One server.

    Attributes:
        name: its name in this notebook.
        state: "starting", "ready", "unresponsive", "reconnecting", "lost", "closed" or "failed".
        transport: "http" or "sse" for a server at a URL, "memory" for an object of this kernel, else "".
        era: "legacy" or "modern". revision: the protocol revision in use.
        info: the server's own `name`, `title`, `version`.
        target: command line or address, with environment names only; paths of this machine are shortened when drawn.
        env: names of the variables that it was given.
        capabilities: as declared.
        counts: how many "tools", "resources", "templates", "prompts" it offers; only those that are known.
        instructions: the server's words to whoever uses it.
        problem: one sentence when something is wrong. stderr: the end of what the process wrote, shown with a problem.
        notes: warnings about it (noise on stdout, tools that were skipped).
        deprecated: (feature, since which revision, what to do instead) of what it uses and the specification drops.
    """

    name: str
    state: str
    era: str | None = None
    revision: str | None = None
    info: Mapping[str, Any] = field(default_factory=dict[str, Any])
    target: str = ""
    env: Sequence[str] = ()
    capabilities: Mapping[str, Any] = field(default_factory=dict[str, Any])
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    instructions: str | None = None
    problem: str | None = None
    stderr: Sequence[str] = ()
    notes: Sequence[str] = ()
    transport: str = ""
    deprecated: Sequence[tuple[str, str, str]] = ()


@dataclass(frozen=True)
class ServersView:
    """All servers, in the order in which they were connected."""

    servers: Sequence[ServerView]


@dataclass(frozen=True)
class ListView:
    """What some servers offer of one kind.

    Attributes:
        kind: "tools", "resources" (with `templates` beside them) or "prompts".
        rows: (server, item as on the wire).
        templates: resource templates, for kind "resources".
        problems: (server, item name, reason) of items that were skipped or mended.
        servers: names of the servers that were asked.
        search: the words that the list was narrowed by.
        off: (server, name, URI or template) of what is switched off for models.
    """

    kind: ListKind
    rows: Sequence[tuple[str, Mapping[str, Any]]]
    templates: Sequence[tuple[str, Mapping[str, Any]]] = ()
    problems: Sequence[tuple[str, str, str]] = ()
    servers: Sequence[str] = ()
    search: str = ""
    off: Set[tuple[str, str]] = frozenset()


@dataclass(frozen=True)
class ExplorerView:
    """Everything: the servers, and what they offer of each kind."""

    servers: ServersView
    lists: Sequence[ListView]


@dataclass(frozen=True)
class ToolFormView:
    """One tool (as on the wire) as a form."""

    server: str
    tool: Mapping[str, Any]


@dataclass(frozen=True)
class QuestionRecord:
    """A question that is over: what was asked, by whom, during what, and what was answered.

    Attributes:
        answer: None when the question was withdrawn (the call was cancelled, the time was over).
        outcome: in that case, the words for it.
    """

    question: Question
    answer: Answer | None
    outcome: str = "closed: the call was cancelled"


@dataclass(frozen=True)
class CallView:
    """A call by its state.

    Attributes:
        label: "demo.add".
        status: "running", "done", "failed", "cancelled" or "interrupted".
        progress, total, message: the last progress; shown while it runs.
        outcome: the `Result` (or other value) of a done call, the error of a failed one.
    """

    label: str
    status: str = "running"
    progress: float | None = None
    total: float | None = None
    message: str | None = None
    outcome: object = None


@dataclass(frozen=True)
class ToolCallView:
    """One call that a model wanted.

    Attributes:
        label: "demo.add".
        arguments: secrets masked.
        status: "running", "asking" (waits for the person), or how it ended: "ok", "error", "denied", "unknown",
            "unreadable", "repeated", "too many", "cancelled", "searched".
        result: the `Result`, if there is one.
        said: what went wrong, or what became of it, in one sentence.
        approval: who allowed or refused it, when somebody was asked.
        passes_on: servers whose results are found again in the arguments.
    """

    label: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    status: str = "running"
    result: object = None
    said: str = ""
    approval: str = ""
    passes_on: Sequence[str] = ()


@dataclass(frozen=True)
class ConversationView:
    """A question's answer, and the calls on the way to it.

    Attributes:
        model: the name of the model.
        parts: texts of the model in Markdown, and calls, in order.
        attached: what went along with the question.
        notes: remarks for the person.
        running: it is not over.
        rounds: how often the model was asked. tokens: all that were counted. cost: US dollars.
    """

    model: str
    parts: Sequence[str | ToolCallView] = ()
    attached: Sequence[str] = ()
    notes: Sequence[str] = ()
    running: bool = False
    rounds: int = 0
    tokens: int | None = None
    cost: float | None = None


@dataclass(frozen=True)
class LogRow:
    """One line of a log: its level ("info", "warning", …; "stderr" for the process's own words) and text."""

    level: str
    text: str
    source: str = ""


@dataclass(frozen=True)
class LogView:
    """What a server said, oldest first."""

    server: str
    rows: Sequence[LogRow]
    dropped: int = 0


@dataclass(frozen=True)
class WatchView:
    """A watched resource.

    Attributes:
        server, uri: what is watched.
        changes: how often the server said that it changed.
        active: until it is stopped.
        state: of the server, as in `ServerView`.
    """

    server: str
    uri: str
    changes: int = 0
    active: bool = True
    state: str = "ready"


@dataclass(frozen=True)
class EndpointView:
    """This notebook as a server.

    Attributes:
        name: its name in addresses. notebook: what people call it.
        active: until it is stopped.
        command: the bridge's command line; paths of this machine are shortened when drawn.
        names: the variables that may be seen. hidden: how many are not. chosen: only named ones are served.
        functions: the tools that the notebook declares.
        allow_code: clients may ask to run code.
        code: what becomes of it when they do, in words.
        outside: who may come from elsewhere, in words; "": nobody.
        clients: (name, version) of who came, the first one first.
        acts: (client, kind, what, how it ended: "" as it should) of what they read, called and were asked; last first.
    """

    name: str
    notebook: str
    active: bool = True
    command: str = ""
    names: Sequence[str] = ()
    hidden: int = 0
    chosen: bool = False
    functions: Sequence[str] = ()
    allow_code: bool = False
    code: str = "each time you are asked first"
    outside: str = ""
    clients: Sequence[tuple[str, str]] = ()
    acts: Sequence[tuple[str, str, str, str]] = ()


@dataclass(frozen=True)
class HelpView:
    """Help: a title, one sentence, the usage lines, (term, explanation) rows in sections, examples."""

    title: str
    summary: str = ""
    usage: Sequence[str] = ()
    sections: Sequence[tuple[str, Sequence[tuple[str, str]]]] = ()
    examples: Sequence[str] = ()


@dataclass(frozen=True)
class NoteView:
    """One sentence of ours in a cell. Tone: "plain", "good", "warning", "error"."""

    text: str
    tone: Literal["plain", "good", "warning", "error"] = "plain"
    details: Sequence[str] = ()


@dataclass(frozen=True)
class TableView:
    """Rows of text under a heading (activity, trace, policy).

    Attributes:
        kind: one word for machines. empty: what to say when there are no rows. hint: a line below, or "".
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    kind: str = "table"
    empty: str = "nothing"
    hint: str = ""


View = (
    ServerView
    | ServersView
    | ListView
    | ExplorerView
    | QuestionRecord
    | CallView
    | LogView
    | HelpView
    | NoteView
    | TableView
    | WatchView
    | EndpointView
    | ConversationView
    | ToolCallView
    | ToolFormView
)
