"""THE table: every method and notification of the protocol, of the released revisions and the tasks extension.

Who may send it in which era, which revisions know it, which capability gates it and whose, which param names the thing
it acts on, whether its result may be cached or be an input_required round. It holds no behaviour; capabilities, modern,
inbound, the connection and the server's dispatch read it.

Source: the schemas of all revisions; spec 2026-07-28 "Changelog", "Caching", "MRTR"; the tasks extension.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from jupyter_mcp.protocol.revisions import ALL, Era, era

if TYPE_CHECKING:
    from collections.abc import Mapping

Role = Literal["client", "server"]
# "input": not a message of its own in that era; a server puts it into the inputRequests of an input_required result
Direction = Literal["c2s", "s2c", "both", "input"]
CapabilityPath = tuple[str, ...]

TASKS_EXTENSION = "io.modelcontextprotocol/tasks"
UI_EXTENSION = "io.modelcontextprotocol/ui"
_TASKS_PATH = ("extensions", TASKS_EXTENSION)


@dataclass(frozen=True, slots=True)
class Method:
    """One row.

    Attributes:
        name: as on the wire.
        legacy: who sends it in the legacy era; None when that era does not know it.
        modern: who sends it in the modern era; None when that era does not know it.
        capability: path in the capabilities that must be declared (legacy and modern alike unless `modern_capability`).
        kind: "request" or "notification".
        owner: whose capability that is; None with "receiver", that of whoever receives it.
        modern_capability: where the modern era has another path.
        name_key: the param that names what it acts on ("name", "uri", "taskId"); on HTTP the `Mcp-Name` header.
        cacheable: its complete modern result carries cache hints.
        input_required_allowed: its modern result may be an input_required round.
        since: the first revision that knows it.
    """

    name: str
    legacy: Direction | None
    modern: Direction | None
    capability: CapabilityPath | None = None
    kind: Literal["request", "notification"] = "request"
    owner: Role | Literal["receiver"] = "server"
    modern_capability: CapabilityPath | None = None
    name_key: Literal["name", "uri", "taskId"] | None = None
    cacheable: bool = False
    input_required_allowed: bool = False
    since: str = ALL[0]

    @property
    def eras(self) -> tuple[Era, ...]:
        """The eras in which it exists in any form."""
        return tuple(name for name, who in (("legacy", self.legacy), ("modern", self.modern)) if who is not None)  # pyright: ignore[reportReturnType]

    @property
    def direction(self) -> Literal["c2s", "s2c", "both"]:
        """Who sends it, over both eras (an "input" counts as the server's question)."""
        who = {"s2c" if way == "input" else way for way in (self.legacy, self.modern) if way is not None}
        if who == {"c2s"}:
            return "c2s"
        return "s2c" if who == {"s2c"} else "both"

    def in_era(self, name: Era) -> Direction | None:
        """Who sends it in that era, or None."""
        return self.legacy if name == "legacy" else self.modern

    def capability_in(self, name: Era) -> CapabilityPath | None:
        """The capability path that gates it in that era."""
        return self.modern_capability if name == "modern" and self.modern_capability else self.capability


_request = Method
_note = partial(Method, kind="notification")
_task = partial(Method, owner="receiver", since="2025-11-25")

_ROWS: tuple[Method, ...] = (
    # life cycle
    _request("initialize", "c2s", None),
    _note("notifications/initialized", "c2s", None),
    _request("server/discover", None, "c2s", cacheable=True),
    _request("ping", "both", None),
    # what servers offer
    _request("tools/list", "c2s", "c2s", ("tools",), cacheable=True),
    _request("tools/call", "c2s", "c2s", ("tools",), name_key="name", input_required_allowed=True),
    _request("resources/list", "c2s", "c2s", ("resources",), cacheable=True),
    _request("resources/templates/list", "c2s", "c2s", ("resources",), cacheable=True),
    _request(
        "resources/read", "c2s", "c2s", ("resources",), name_key="uri", cacheable=True, input_required_allowed=True
    ),
    _request("resources/subscribe", "c2s", None, ("resources", "subscribe"), name_key="uri"),
    _request("resources/unsubscribe", "c2s", None, ("resources", "subscribe"), name_key="uri"),
    _request("subscriptions/listen", None, "c2s"),
    _request("prompts/list", "c2s", "c2s", ("prompts",), cacheable=True),
    _request("prompts/get", "c2s", "c2s", ("prompts",), name_key="name", input_required_allowed=True),
    _request("completion/complete", "c2s", "c2s", ("completions",)),
    _request("logging/setLevel", "c2s", None, ("logging",)),
    # what clients offer
    _request("sampling/createMessage", "s2c", "input", ("sampling",), owner="client"),
    _request("elicitation/create", "s2c", "input", ("elicitation",), owner="client", since="2025-06-18"),
    _request("roots/list", "s2c", "input", ("roots",), owner="client"),
    # tasks: the experiment of 2025-11-25, then an extension of the modern era
    _task("tasks/get", "both", "c2s", ("tasks",), modern_capability=_TASKS_PATH, name_key="taskId"),
    _task("tasks/result", "both", None, ("tasks",), name_key="taskId"),
    _task("tasks/list", "both", None, ("tasks", "list")),
    _task("tasks/cancel", "both", "c2s", ("tasks", "cancel"), modern_capability=_TASKS_PATH, name_key="taskId"),
    _task("tasks/update", None, "c2s", modern_capability=_TASKS_PATH, name_key="taskId"),
    # notifications
    _note("notifications/cancelled", "both", "both"),  # modern: a client's on stdio; a server's only to end a listen
    _note("notifications/progress", "both", "s2c"),
    _note("notifications/message", "s2c", "s2c", ("logging",)),
    _note("notifications/tools/list_changed", "s2c", "s2c", ("tools", "listChanged")),
    _note("notifications/prompts/list_changed", "s2c", "s2c", ("prompts", "listChanged")),
    _note("notifications/resources/list_changed", "s2c", "s2c", ("resources", "listChanged")),
    _note("notifications/resources/updated", "s2c", "s2c", ("resources", "subscribe")),
    _note("notifications/subscriptions/acknowledged", None, "s2c"),
    _note("notifications/roots/list_changed", "c2s", None, ("roots", "listChanged"), owner="client"),
    _note(
        "notifications/elicitation/complete", "s2c", None, ("elicitation", "url"), owner="client", since="2025-11-25"
    ),
    _note("notifications/tasks/status", "both", None, ("tasks",), since="2025-11-25"),
    _note("notifications/tasks", None, "s2c", modern_capability=_TASKS_PATH),
)

TABLE: Mapping[str, Method] = MappingProxyType({row.name: row for row in _ROWS})

# the server's notification -> the key of a `subscriptions/listen` filter that asks for it
LISTEN_KEYS: Mapping[str, str] = MappingProxyType(
    {
        "notifications/tools/list_changed": "toolsListChanged",
        "notifications/prompts/list_changed": "promptsListChanged",
        "notifications/resources/list_changed": "resourcesListChanged",
        "notifications/resources/updated": "resourceSubscriptions",
        "notifications/tasks": "taskIds",
    }
)
INPUT_METHODS = frozenset(row.name for row in _ROWS if row.modern == "input")


def known(name: str, revision: str, sender: Role) -> Method | None:
    """The row of a message that `sender` may send of its own at `revision`; None when there is no such message."""
    row = TABLE.get(name)
    if row is None or revision < row.since:
        return None
    way = row.in_era(era(revision))
    return row if way == "both" or way == ("c2s" if sender == "client" else "s2c") else None
