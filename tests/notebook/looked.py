"""What an explorer looks at, without a host: the test says what is offered and what changes."""

from __future__ import annotations

from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.render import LogView, ServerView

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jupyter_mcp.host.questions import Question
    from jupyter_mcp.notebook.cards.explorer.index import Kind
    from jupyter_mcp.notebook.cards.live import Card


LISTED = {"tools": 1, "resources": 1, "templates": 1, "prompts": 1}
"""Every list of a server has been read."""


class FakeSource:
    """Everything is what the test puts here; `change` tells the explorer of it."""

    def __init__(self, *offers: tuple[Kind, str, Mapping[str, Any]]) -> None:
        self.offered = list(offers)
        names = dict.fromkeys(server for _, server, _ in offers)
        self.views = [ServerView(name, "ready", counts=LISTED) for name in names]
        self.logs: dict[str, LogView] = {}
        self.asked: list[Question] = []
        self.cards: dict[str, Card] = {}
        self.answered: list[tuple[str, str]] = []
        self.listeners: list[Callable[[], object]] = []
        self.pings: list[tuple[str, Future[float]]] = []
        self.icons: list[tuple[str, str, Future[tuple[str, bytes] | None]]] = []
        self.watches: list[tuple[str, str, Callable[[int], object], Future[Callable[[], object]]]] = []
        self.watching: set[tuple[str, str]] = set()
        self.variables: dict[str, Any] = {}

    def offers(self) -> list[tuple[Kind, str, Mapping[str, Any]]]:
        return list(self.offered)

    def servers(self) -> list[ServerView]:
        return list(self.views)

    def log(self, server: str) -> LogView:
        return self.logs.get(server, LogView(server, []))

    def questions(self) -> list[Question]:
        return list(self.asked)

    def card(self, question: Question) -> Card | None:
        return self.cards.get(question.id)

    def answer_no(self, question: Question, action: str) -> bool:
        self.answered.append((question.id, action))
        return question in self.asked

    def follow(self, changed: Callable[[], object]) -> Callable[[], object]:
        self.listeners.append(changed)
        return lambda: self.listeners.remove(changed)

    def change(self) -> None:
        """Something is another now."""
        for listener in list(self.listeners):
            listener()

    def look(self) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(None)
        return done

    def ping(self, server: str) -> Future[float]:
        future: Future[float] = Future()
        self.pings.append((server, future))
        return future

    def watch(self, server: str, uri: str, changed: Callable[[int], object]) -> Future[Callable[[], object]]:
        future: Future[Callable[[], object]] = Future()
        self.watches.append((server, uri, changed, future))
        return future

    def watched(self) -> set[tuple[str, str]]:
        return set(self.watching)

    def icon(self, server: str, source: str) -> Future[tuple[str, bytes] | None]:
        future: Future[tuple[str, bytes] | None] = Future()
        self.icons.append((server, source, future))
        return future

    def has_variable(self, name: str) -> bool:
        return name in self.variables

    def bind(self, name: str, value: object) -> None:
        if not name.isidentifier():
            raise ValueError(f"{name!r} is no name for a variable.")
        self.variables[name] = value
