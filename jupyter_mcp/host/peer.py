"""What the host gives one connection: its capabilities, answers to the server's questions, and an ear for the rest.

All of it is called on the runtime loop, some of it for every message, so it only files and forwards.
"""

from __future__ import annotations

import json
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import InputRefused, ProviderError, RequestError, UsageError
from jupyter_mcp.host import apps
from jupyter_mcp.host.catalogue import LISTS
from jupyter_mcp.host.echo import Echo
from jupyter_mcp.host.events import Log
from jupyter_mcp.host.unanswered import quoted
from jupyter_mcp.protocol import deprecated
from jupyter_mcp.protocol.capabilities import client_capabilities
from jupyter_mcp.protocol.jsonrpc import INTERNAL_ERROR
from jupyter_mcp.protocol.methods import TASKS_EXTENSION
from jupyter_mcp.protocol.revisions import era

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from jupyter_mcp.client.connection import Call, Connection
    from jupyter_mcp.host.acts import Acts, Running
    from jupyter_mcp.host.entry import ServerEntry
    from jupyter_mcp.host.journal import Direction, Journal
    from jupyter_mcp.host.questioner import Questioner
    from jupyter_mcp.host.sampling.advertised import Abilities
    from jupyter_mcp.protocol.deprecated import Deprecated
    from jupyter_mcp.transport.traffic import HttpEvent

__all__ = ["HostPeer", "declared"]

_MOST_PROBLEMS = 200
_QUIET = (
    "notifications/progress",
    "notifications/cancelled",
    "notifications/resources/updated",
    "notifications/subscriptions/acknowledged",
    "notifications/tasks",
    "notifications/tasks/status",
)


def declared(abilities: Abilities, revision: str) -> dict[str, Any]:
    """What somebody here can answer: forms, pages to open, sampling; the roots; tasks; the pages of tools."""
    extensions: dict[str, Any] = {TASKS_EXTENSION: {}} if era(revision) == "modern" else {}
    if abilities.apps:
        extensions[apps.EXTENSION] = apps.settings()
    return client_capabilities(
        revision,
        sampling=abilities.sampling,
        sampling_tools=abilities.tools,
        roots_list_changed=True,
        extensions=extensions,
    )


class HostPeer:
    """`client.ServerPeer` for one server of a host."""

    def __init__(
        self,
        entry: ServerEntry,
        *,
        acts: Acts,
        questioner: Questioner,
        journal: Journal,
        roots: Callable[[ServerEntry], Sequence[Mapping[str, Any]]],
        changed: Callable[[ServerEntry], None],
    ) -> None:
        self._entry = entry
        self._acts = acts
        self._questioner = questioner
        self._journal = journal
        self._roots = roots
        self._changed = changed
        self._unknown: set[str] = set()
        self._told: set[str] = set()
        self._echo = Echo()

    def capabilities(self, revision: str) -> dict[str, Any]:
        """What the server is told now; see `declared`."""
        return declared(self._questioner.advertised.of(self._entry.name), revision)

    async def question(
        self, connection: Connection, method: str, params: Mapping[str, Any], cause: Call | None
    ) -> dict[str, Any]:
        """The bare result; a scripted answer that does not fit ends the call that caused the question."""
        self._note_deprecated(deprecated.of_message(method, params))
        act = self._act(cause)
        waiting = connection.link.waiting if connection.link is not None else None
        try:
            return await self._questioner.answer(
                self._entry.name,
                connection.revision or "",
                method,
                params,
                act=act,
                roots=self._roots(self._entry),
                by_hand=self._entry.by_hand,
                again=cause is not None and (waiting is None or waiting.find(cause.id) is None),
                paused=waiting.paused if waiting is not None else nullcontext,
            )
        except ProviderError as error:
            if era(connection.revision or "") == "modern":
                raise  # nobody but the person gets to read it
            text = "The model of this client gave no answer."
            raise RequestError(text, code=INTERNAL_ERROR, server=self._entry.name) from error
        except UsageError as error:
            self._entry.say("note", str(error), level="error")
            if act is not None:
                act.fail(error)
            raise InputRefused(error.message, server=self._entry.name) from error

    def notify(self, connection: Connection, method: str, params: Mapping[str, Any], call: Call | None) -> None:
        """A log message goes to the log and to the act it belongs to; what we do not know is named once."""
        if method == "notifications/message":
            self._note_deprecated(deprecated.of_message(method))
            self._log(params, self._act(call))
        elif method == "notifications/elicitation/complete":
            self._questioner.visits.pages.completed(self._entry.name, params.get("elicitationId"))
        elif method not in _QUIET and not method.endswith("list_changed") and method not in self._unknown:
            self._unknown.add(method)
            self._entry.say("server", f"sent {quoted(method)}, which means nothing here", level="debug")

    def wire(self, connection: Connection, direction: Direction, message: Mapping[str, Any], size: int) -> None:
        """Every message, for the journal."""
        self._journal.wire(self._entry.name, direction, message, size, connection.era)

    def http(self, connection: Connection, event: HttpEvent) -> None:
        """What HTTP did beside messages, for the journal."""
        self._journal.http(self._entry.name, event, connection.era)

    def changed(self, connection: Connection) -> None:
        """The connection's state or lists are others now; what could not be read of a list is said once."""
        if self._entry.connection is not connection:
            return
        if connection.state == "ready":
            self._note_deprecated(deprecated.of_transport(self._entry.transport))
        for kind in LISTS.values():
            listing = connection.listing(kind)
            for problem in listing.problems if listing is not None else ():
                text = f"{kind}: {problem}"
                if text not in self._told and len(self._told) < _MOST_PROBLEMS:
                    self._told.add(text)
                    self._entry.say("note", text, level="warning")
        self._changed(self._entry)

    def stderr(self, connection: Connection, line: str) -> None:
        """One line the server wrote to stderr."""
        for kept in self._echo.fold(line):
            self._entry.say("stderr", kept)

    def note(self, connection: Connection, text: str) -> None:
        """Something the connection noticed (noise on stdout, a detour it took)."""
        self._entry.say("note", text, level="warning")

    def _note_deprecated(self, features: Sequence[Deprecated]) -> None:
        """Each feature is said once for this server: in its log, in the journal and on its card."""
        for feature in features:
            if feature.name in self._entry.deprecated:
                continue
            self._entry.deprecated[feature.name] = feature
            text = deprecated.sentence(feature)
            self._entry.say("note", text)
            number = self._journal.begin(self._entry.name, "deprecated", feature.title, "server")
            self._journal.end(number, "noted", remark=text)

    def _act(self, call: Call | None) -> Running | None:
        if call is None:
            return self._acts.find(self._entry.name)
        return self._acts.find(self._entry.name, call.method, call.name)

    def _log(self, params: Mapping[str, Any], act: Running | None) -> None:
        level, logger, data = params.get("level"), params.get("logger"), params.get("data")
        level = level if isinstance(level, str) else "info"
        logger = logger if isinstance(logger, str) else None
        self._entry.say("server", _text(data), level=level, logger=logger)
        if act is not None:
            act.emit(Log(level, logger, data))


def _text(data: Any) -> str:
    if isinstance(data, str):
        return data
    try:
        return json.dumps(data, ensure_ascii=False)
    except (TypeError, ValueError):
        return str(data)
