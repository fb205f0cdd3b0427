"""Where the explorer looks: the host's lists, servers, logs and open questions. What it does is a `Runner`'s.

Looking asks no server anything, but for `look` (read the lists that were never read), `ping`, `watch` and `icon`, which
return futures. Tests give their own.
"""

from __future__ import annotations

import keyword
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from jupyter_mcp.errors import MCPError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Future

    from jupyter_mcp.host.questions import Question
    from jupyter_mcp.notebook.cards.explorer.index import Kind
    from jupyter_mcp.notebook.cards.live import Card
    from jupyter_mcp.notebook.render.views import LogView, ServerView

__all__ = ["HostSource", "Source"]


class Source(Protocol):
    """What there is to see."""

    def offers(self) -> Sequence[tuple[Kind, str, Mapping[str, Any]]]:
        """Everything that is listed: (kind, server, item as on the wire), in the servers' order."""
        ...

    def servers(self) -> Sequence[ServerView]:
        """The servers, in the order in which they were connected."""
        ...

    def log(self, server: str) -> LogView:
        """What a server wrote and what was noted about it."""
        ...

    def questions(self) -> Sequence[Question]:
        """What waits for an answer, oldest first."""
        ...

    def card(self, question: Question) -> Card | None:
        """The card that a question has in its cell; None while it has none (or is asked line by line)."""
        ...

    def answer_no(self, question: Question, action: str) -> bool:
        """End a question with "decline" or "cancel"; False when it is not open any more."""
        ...

    def follow(self, changed: Callable[[], object]) -> Callable[[], object]:
        """Call `changed` on another thread when any of the above may be another; what it returns ends that."""
        ...

    def look(self) -> Future[Any]:
        """Read the lists of connected servers that were never read."""
        ...

    def ping(self, server: str) -> Future[float]:
        """Ask for a sign of life. Yields the seconds it took."""
        ...

    def watch(self, server: str, uri: str, changed: Callable[[int], object]) -> Future[Callable[[], object]]:
        """Be told how often a resource has changed. Yields what ends that."""
        ...

    def watched(self) -> set[tuple[str, str]]:
        """(server, URI) of what this notebook watches."""
        ...

    def icon(self, server: str, source: str) -> Future[tuple[str, bytes] | None]:
        """A picture: its type and bytes (see `host.icons`)."""
        ...

    def has_variable(self, name: str) -> bool:
        """Whether the notebook has a variable of that name."""
        ...

    def bind(self, name: str, value: object) -> None:
        """Give the notebook a variable. Raises `ValueError` for what is no name."""
        ...


class HostSource:
    """The host of this kernel."""

    @property
    def _host(self) -> Any:
        from jupyter_mcp.runtime import state

        return state.get_host()

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        from jupyter_mcp.runtime.thread import get_runtime

        return get_runtime().submit(function, *arguments)

    def offers(self) -> Sequence[tuple[Kind, str, Mapping[str, Any]]]:
        catalogue, kinds = self._host.catalogue, ("tool", "resource", "template", "prompt")
        return [(offer.kind, offer.server, offer.item) for kind in kinds for offer in catalogue.offers(kind)]

    def servers(self) -> Sequence[ServerView]:
        from jupyter_mcp.notebook.objects.views import server_view

        return [server_view(entry) for entry in list(self._host.servers.values())]

    def log(self, server: str) -> LogView:
        from jupyter_mcp.notebook.objects.views import log_view

        entry = self._host.find(server)
        lines = entry.lines()
        return log_view(lines, server, max(0, entry.logged - len(lines)))

    def questions(self) -> Sequence[Question]:
        from jupyter_mcp.runtime import state

        return list(state.desk().open)

    def card(self, question: Question) -> Card | None:
        from jupyter_mcp.notebook.cards.question import QuestionCard
        from jupyter_mcp.runtime import state

        drawn = state.desk().presented(question)
        return drawn.card if isinstance(drawn, QuestionCard) else None

    def answer_no(self, question: Question, action: str) -> bool:
        from jupyter_mcp.host.questions import Answer
        from jupyter_mcp.runtime import state

        return state.desk().settle(question, Answer("decline" if action == "decline" else "cancel"))

    def follow(self, changed: Callable[[], object]) -> Callable[[], object]:
        from jupyter_mcp.runtime import state

        host, desk = self._host, state.desk()

        def listen(_: str) -> None:
            changed()

        host.listeners.append(listen)
        desk.listeners.append(changed)

        def stop() -> None:
            with suppress(ValueError):
                host.listeners.remove(listen)
            with suppress(ValueError):
                desk.listeners.remove(changed)

        return stop

    def look(self) -> Future[Any]:
        return self._submit(self._look)

    async def _look(self) -> None:
        from jupyter_mcp.notebook.objects.act import look_around

        await look_around(list(self._host.servers.values()))

    def ping(self, server: str) -> Future[float]:
        from jupyter_mcp.notebook.objects.acts import ServerActs

        act = ServerActs(server, "person").ping()
        return self._submit(act.then(lambda ping: float(ping.seconds)).start)

    def watch(self, server: str, uri: str, changed: Callable[[int], object]) -> Future[Callable[[], object]]:
        return self._submit(self._watch, server, uri, changed)

    async def _watch(self, server: str, uri: str, changed: Callable[[int], object]) -> Callable[[], object]:
        from jupyter_mcp.notebook.objects.servers import server_of
        from jupyter_mcp.notebook.objects.watch import Watch

        watch = await Watch.begin(server_of(self._host.find(server)), uri, None).start()
        watch.on_change(lambda found: changed(found.changes))
        return watch.stop_soon

    def watched(self) -> set[tuple[str, str]]:
        from jupyter_mcp.notebook.objects.watch import active

        return {(server, watch.uri) for server in list(self._host.servers) for watch in active(server)}

    def icon(self, server: str, source: str) -> Future[tuple[str, bytes] | None]:
        return self._submit(self._icon, server, source)

    async def _icon(self, server: str, source: str) -> tuple[str, bytes] | None:
        from jupyter_mcp.host.icons import fetch

        try:
            return await fetch(source, self._host.find(server).spec)
        except MCPError:  # the server is gone
            return None

    def has_variable(self, name: str) -> bool:
        return name in self._namespace()

    def bind(self, name: str, value: object) -> None:
        if not name.isidentifier() or keyword.iskeyword(name):
            raise ValueError(f"{name!r} is no name for a variable.")
        self._namespace()[name] = value

    def _namespace(self) -> dict[str, Any]:
        from jupyter_mcp.runtime import frontend

        shell = frontend.shell()
        return {} if shell is None else shell.user_ns
