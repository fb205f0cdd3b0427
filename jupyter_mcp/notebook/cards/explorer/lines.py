"""How things, servers and open questions stand in the list: words, badges, marks. Pure.

What a server says of its own tools (read-only, destructive …) is a badge in words, not in colour alone, and is its word
only: nothing is decided by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from jupyter_mcp.host.apps import may_call, resource_uri
from jupyter_mcp.notebook.render.servers import counts_text, era_text
from jupyter_mcp.notebook.render.text import flat, portable
from jupyter_mcp.protocol.shapes import as_list, is_mapping, mapping_of

if TYPE_CHECKING:
    from collections.abc import Set

    from jupyter_mcp.host.questions import Question
    from jupyter_mcp.notebook.cards.explorer.index import Changes, Thing
    from jupyter_mcp.notebook.render.views import ServerView

__all__ = ["Lazy", "badges_of", "line", "question_line", "server_line"]

MAX_DETAIL = 300
_HINTS = (
    ("readOnlyHint", "read-only", "ok"),
    ("destructiveHint", "destructive", "warn"),
    ("idempotentHint", "repeatable", ""),
    ("openWorldHint", "open world", "info"),
)
_STATES = {
    "ready": "ok", "starting": "info", "reconnecting": "warn", "unresponsive": "warn", "lost": "error",
    "failed": "error",
}  # fmt: skip
_ASKS = {
    "elicitation": "a form", "url": "a page to open", "sampling": "a text", "approval": "leave", "server": "leave",
    "inputs": "values",
}  # fmt: skip


class Lazy(Mapping[str, Any]):
    """A row of a flat list that is made when the page wants to see it: of thousands, a few are.

    Args:
        name: its id.
        make: makes the rest.
    """

    def __init__(self, name: str, make: Callable[[], Mapping[str, Any]]) -> None:
        self._name = name
        self._make = make
        self._made: Mapping[str, Any] | None = None

    def __getitem__(self, key: str) -> Any:
        return self._name if key == "id" else self._whole[key]

    def get(self, key: str, default: Any = None) -> Any:
        """As of any mapping; whether a row is one of a tree is asked of all, and none of a flat list is made for it."""
        return default if key in ("depth", "expandable") else self._whole.get(key, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self._whole)

    def __len__(self) -> int:
        return len(self._whole)

    @property
    def _whole(self) -> Mapping[str, Any]:
        if self._made is None:
            self._made = self._make()
        return self._made


def line(thing: Thing, changes: Changes, off: Set[tuple[str, str]] = frozenset()) -> dict[str, Any]:
    """The row of a tool, prompt, resource or template.

    Args:
        thing: which.
        changes: what is new since somebody looked.
        off: (server, name) of what models cannot use.
    """
    told = thing.item.get("description")
    full = f"{thing.server}.{thing.key}" if thing.kind in ("tool", "prompt") else thing.server
    named = thing.title != thing.key or thing.kind not in ("tool", "prompt")
    parts = [full if named else thing.server, told[:MAX_DETAIL] if isinstance(told, str) else ""]
    row = {
        "id": thing.id,
        "name": thing.title,
        "detail": " — ".join(part for part in parts if part),
        "badges": badges_of(thing, off),
        "marks": marks_of(thing.id, changes),
    }
    icon = icon_key(thing.server, thing.item)
    return {**row, "icon": icon} if icon else row


def marks_of(name: str, changes: Changes) -> list[str]:
    """ "new", "changed", or nothing."""
    return ["new"] if name in changes.new else ["changed"] if name in changes.changed else []


def badges_of(thing: Thing, off: Set[tuple[str, str]] = frozenset()) -> list[dict[str, str]]:
    """What is to be known before it is chosen."""
    found: list[dict[str, str]] = []
    if thing.kind == "tool":
        hints = mapping_of(thing.item.get("annotations"))
        found += [{"text": words, "tone": tone} for key, words, tone in _HINTS if hints.get(key) is True]
        if resource_uri(thing.item) is not None:
            found.append({"text": "app", "tone": "info"})
        if not may_call("model", thing.item):
            found.append({"text": "for its app, not for models", "tone": ""})
    elif thing.kind == "template":
        found.append({"text": "template", "tone": "info"})
    if thing.kind in ("resource", "template") and isinstance(thing.item.get("mimeType"), str):
        found.append({"text": flat(thing.item["mimeType"], 40), "tone": ""})
    if thing.kind == "prompt":
        wanted = [one for one in as_list(thing.item.get("arguments")) if is_mapping(one) and one.get("required")]
        found += [{"text": f"{len(wanted)} needed", "tone": ""}] if wanted else []
    if (thing.server, thing.key) in off:
        found.append({"text": "off for models", "tone": "warn"})
    return found


def icon_key(server: str, item: Mapping[str, Any]) -> str:
    """The key of its picture for the page: whose icons, and the address of the one to show; "" for none."""
    from jupyter_mcp.host.icons import choose

    chosen = choose(item.get("icons"))
    return "" if chosen is None else f"{server}\n{chosen}"


def server_line(view: ServerView, latency: float | None = None) -> dict[str, Any]:
    """The row of a server."""
    badges = [{"text": view.state, "tone": _STATES.get(view.state, "")}]
    if era := era_text(view.era, view.revision):
        badges.append({"text": era, "tone": ""})
    if latency is not None:
        badges.append({"text": f"{latency * 1000:.0f} ms", "tone": ""})
    called = flat(view.info.get("title") or view.info.get("name") or "", 80)
    said = [called, counts_text(view.counts), portable(flat(view.problem or "", 200))]
    row = {
        "id": f"server\n{view.name}",
        "name": view.name,
        "detail": " — ".join(part for part in said if part),
        "badges": badges,
    }
    icon = icon_key(view.name, view.info)
    return {**row, "icon": icon} if icon else row


def question_line(question: Question) -> dict[str, Any]:
    """The row of a question that waits for an answer."""
    cause = f"while calling {flat(question.cause.name, 80)}" if question.cause is not None else ""
    said = [flat(question.message, 200), cause]
    return {
        "id": f"question\n{question.id}\n{question.step}",
        "name": f"{question.server} asks for {_ASKS.get(question.kind, 'an answer')}",
        "detail": " — ".join(part for part in said if part),
        "badges": [{"text": "waits", "tone": "warn"}],
    }
