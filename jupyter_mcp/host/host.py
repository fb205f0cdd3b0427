"""`Host`: the servers of one kernel, and the one way in to everything they offer.

Connections and their lifecycle are here; acts on what servers offer (calls, reads, prompts) in `doing`, what comes
back from servers in `peer` and `questioner`. It lives on the runtime loop; only reading its attributes, and `policy`,
`answers` and `journal`, are for other threads too. It knows nothing of notebooks, and nobody above it of eras.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import ConfigError, ConnectionFailed, MCPError, UsageError
from jupyter_mcp.host.acts import Acts
from jupyter_mcp.host.answers import AnswerBook
from jupyter_mcp.host.approvals import Approvals, Origin
from jupyter_mcp.host.catalogue import LISTS, Catalogue, OfferKind
from jupyter_mcp.host.doing import Doing
from jupyter_mcp.host.entry import ServerEntry
from jupyter_mcp.host.journal import Journal
from jupyter_mcp.host.peer import HostPeer
from jupyter_mcp.host.policy import Policy
from jupyter_mcp.host.questioner import Questioner
from jupyter_mcp.host.redaction import Redactor
from jupyter_mcp.host.transports import transport_for
from jupyter_mcp.host.wording import nearest

if TYPE_CHECKING:
    from jupyter_mcp.client.options import ConnectOptions
    from jupyter_mcp.host.events import OnEvent
    from jupyter_mcp.host.questions import QuestionUI
    from jupyter_mcp.host.result import PromptResult, Read, Result
    from jupyter_mcp.host.specs import ServerSpec

__all__ = ["Host", "root"]

_log = logging.getLogger("jupyter_mcp.host")
OnStatus = Callable[[str], None]
_REMEMBERED = 32  # closed servers whose log can still be read


class Host:
    """The host of one kernel.

    Args:
        ui: who renders questions; None is nobody (every question is cancelled with a note).
        roots: what servers are told about our folders; by default the current one.
        options: defaults for connections (`client.ConnectOptions`).
        environ: where placeholders are looked up; by default the process's environment at the time of connecting.

    Attributes:
        servers: the servers by name: connected, starting, lost or failed; not the ones that were disconnected.
        policy, answers, approvals, journal, catalogue: see their modules.
        listeners: called (on the runtime loop) with the name of a server whose state or lists changed.
    """

    def __init__(
        self,
        ui: QuestionUI | None = None,
        *,
        roots: Sequence[str | Path | Mapping[str, Any]] | None = None,
        options: ConnectOptions | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self.servers: dict[str, ServerEntry] = {}
        self.policy = Policy()
        self.answers = AnswerBook()
        self.approvals = Approvals(self.policy)
        self.redactor = Redactor()
        self.journal = Journal(self.redactor)
        self.catalogue = Catalogue(self.servers)
        self.listeners: list[Callable[[str], None]] = []
        self._roots = None if roots is None else [root(one) for one in roots]
        self._options = options
        self._environ = environ
        self._closed: dict[str, ServerEntry] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._acts = Acts()
        self._questioner = Questioner(self.policy, self.answers, self.journal)
        self._questioner.ui = ui
        self._questioner.note = self._noted
        self._doing = Doing(self._acts, self._questioner, self.approvals, self.journal, self.redactor, self._ready)

    # --- who answers, and what servers are told ----------------------------------------------------------------------

    @property
    def ui(self) -> QuestionUI | None:
        """Who renders questions."""
        return self._questioner.ui

    @ui.setter
    def ui(self, ui: QuestionUI | None) -> None:
        self._questioner.ui = ui

    @property
    def roots(self) -> list[dict[str, Any]]:
        """What `roots/list` answers: `{"uri": "file://…", "name": …}`; set it to folders, URIs or such mappings."""
        return [root(Path.cwd())] if self._roots is None else [dict(one) for one in self._roots]

    @roots.setter
    def roots(self, roots: Sequence[str | Path | Mapping[str, Any]] | None) -> None:
        self._roots = None if roots is None else [root(one) for one in roots]

    # --- servers -----------------------------------------------------------------------------------------------------

    async def connect(self, spec: ServerSpec, on_status: OnStatus | None = None) -> ServerEntry:
        """Connect to a server.

        A name that is in use: the same spec keeps a live connection (with a note) and restarts a lost one, so that
        running a cell again just works; another spec replaces the old server, which is closed first.

        Raises:
            ConnectionFailed: it could not be started or reached; its entry stays, so that its log can be read.
            ConfigError: a placeholder cannot be filled.
        """
        async with self._lock(spec.name):
            entry = self.servers.get(spec.name)
            if entry is not None and entry.spec == spec and entry.ready:
                text = f"{spec.name} is connected already; %mcp reconnect {spec.name} starts it anew."
                entry.say("note", text)
                _tell(on_status, text)
                return entry
            if entry is None or entry.spec != spec:
                if entry is not None:
                    await self._close(entry)
                entry = ServerEntry(spec.name, spec, clean=self.redactor.text)
                self.servers[spec.name] = entry
            await self._open(entry, on_status)
            return entry

    async def connect_many(
        self, specs: Iterable[ServerSpec | MCPError], on_status: OnStatus | None = None
    ) -> list[ServerEntry | MCPError]:
        """Connect to many at once; for each, in order, its entry or what went wrong. One never blocks the others.

        Errors among the specs (entries that could not be read) are handed through; a disabled one is not started.
        """

        async def one(spec: ServerSpec | MCPError) -> ServerEntry | MCPError:
            if isinstance(spec, MCPError):
                return spec
            if spec.disabled:
                text = f"{spec.name} is disabled in {spec.source or 'the configuration'} and was not started."
                return ConfigError(text, file=spec.source, key=spec.name, server=spec.name)
            try:
                return await self.connect(spec, on_status)
            except MCPError as error:
                return error
            except Exception as error:
                _log.exception("connecting %s failed", spec.name)
                return ConnectionFailed(f"{spec.name} could not be connected: {error!r}", server=spec.name)

        return list(await asyncio.gather(*(one(spec) for spec in specs)))

    async def disconnect(self, name: str) -> None:
        """Close a server and take it off the list. Raises `UsageError` when there is none of that name."""
        entry = self._entry(name)
        async with self._lock(name):
            if self.servers.get(name) is not entry:
                return
            del self.servers[name]
            self._closed[name] = entry
            while len(self._closed) > _REMEMBERED:
                del self._closed[next(iter(self._closed))]
            number = self.journal.begin(name, "disconnect", name, "person")
            await self._close(entry)
            self.approvals.forget(name)
            self.journal.end(number, "ok")
            self._changed(entry)

    async def reconnect(self, name: str, on_status: OnStatus | None = None) -> ServerEntry:
        """Close a server and connect anew by the same spec. Raises as `connect`, `UsageError` for no such name."""
        entry = self.find(name)
        async with self._lock(name):
            self._closed.pop(name, None)
            self.servers[name] = entry
            await self._close(entry)
            await self._open(entry, on_status)
            return entry

    def find(self, name: str) -> ServerEntry:
        """The server of this name, also one that was disconnected (for its log). Raises `UsageError`."""
        return self._closed[name] if name in self._closed and name not in self.servers else self._entry(name)

    async def aclose(self) -> None:
        """Close everything; never raises."""
        entries = list(self.servers.values())
        self.servers.clear()
        await asyncio.gather(*(self._close(entry) for entry in entries), return_exceptions=True)

    # --- what servers offer ------------------------------------------------------------------------------------------

    async def resolve(
        self, kind: OfferKind, text: str, server: str | None = None
    ) -> tuple[ServerEntry, Mapping[str, Any]]:
        """What a person means by `server.name` or a bare name: the server and the item as it was listed.

        Args:
            kind: "tool", "prompt", "resource" or "template".
            text: the name (or URI).
            server: when the server is given apart.

        Raises:
            UsageError: none (with the nearest names) or several of that name (naming all).
        """
        await self._list(kind, server or text.partition(".")[0])
        offer = self.catalogue.find(kind, text, server)
        return self.servers[offer.server], offer.item

    async def call_tool(
        self,
        server: str,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        origin: Origin = "code",
        on_event: OnEvent | None = None,
        timeout: float | None = None,
        check: bool = True,
        yes: bool = False,
    ) -> Result:
        """Call a tool.

        Args:
            server, tool: names, as listed.
            arguments: the arguments object.
            origin: who begins it: "person", "code", "server" or "model".
            on_event: told what happens meanwhile, on the runtime thread.
            timeout: seconds without an answer or progress.
            check: raise `ToolError` when the tool reports an error.
            yes: the person approved this very call (`--yes`).

        Raises:
            UsageError: no such tool, or arguments that its schema does not take.
            Denied: a rule or the person refused.
            ToolError, RequestError, RequestTimeout, ConnectionLost, InputRefused: how it ended.
        """
        return await self._doing.call_tool(
            server, tool, arguments or {}, origin=origin, on_event=on_event, timeout=timeout, check=check, yes=yes
        )

    async def read(
        self,
        server: str | None,
        uri: str,
        values: Mapping[str, Any] | None = None,
        *,
        origin: Origin = "code",
        on_event: OnEvent | None = None,
        timeout: float | None = None,
    ) -> Read:
        """Read a resource, to the letter of its URI; with `values`, the URI a template leads to.

        Without a server, the one that offers the URI (or a template that fits it) is found. Raises as `call_tool`.
        """
        if server is None:
            for kind in ("resource", "template"):
                await self._list(kind)
            server = self._doing.offerer(self.catalogue, uri)
        return await self._doing.read(server, uri, values, origin=origin, on_event=on_event, timeout=timeout)

    async def get_prompt(
        self,
        server: str,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        origin: Origin = "code",
        on_event: OnEvent | None = None,
        timeout: float | None = None,
    ) -> PromptResult:
        """Get a prompt's messages. Raises as `call_tool`."""
        return await self._doing.get_prompt(
            server, name, arguments or {}, origin=origin, on_event=on_event, timeout=timeout
        )

    async def complete(
        self,
        server: str,
        ref: Mapping[str, Any],
        argument: str,
        value: str,
        context: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """How an argument of a prompt or template could go on: `{"values": […], …}`."""
        connection = (await self._ready(server)).connection
        assert connection is not None
        return await connection.complete(dict(ref), argument, value, dict(context or {}))

    # --- details -----------------------------------------------------------------------------------------------------

    def _entry(self, name: str) -> ServerEntry:
        entry = self.servers.get(name)
        if entry is None:
            near = nearest(name, list(self.servers))
            names = f"Connected: {', '.join(self.servers)}." if self.servers else "No server is connected."
            raise UsageError(f"There is no server {name!r}.", hint=f"Did you mean {near}?" if near else names)
        return entry

    async def _ready(self, name: str, on_status: OnStatus | None = None) -> ServerEntry:
        """The server, connected: a lost one is started anew, because nothing was sent yet that could have run."""
        entry = self._entry(name)
        async with self._lock(name):
            if entry.state == "lost":
                text = f"{name} went away and is started anew."
                entry.say("note", text)
                _tell(on_status, text)
                await self._close(entry)
                await self._open(entry, on_status)
        if not entry.ready:
            why = f" ({entry.error.message})" if entry.error else ""
            raise UsageError(f"{name} is not connected{why}.", hint=f"%mcp reconnect {name}", server=name)
        return entry

    async def _list(self, kind: OfferKind, first: str | None = None) -> None:
        """See to it that the lists are there: of one server, else of all (one that fails is left out)."""
        if first in self.servers:
            connection = (await self._ready(first)).connection
            assert connection is not None
            await connection.list(LISTS[kind])
            return

        async def one(entry: ServerEntry) -> None:
            assert entry.connection is not None
            try:
                await entry.connection.list(LISTS[kind])
            except MCPError as error:
                entry.say("note", f"Cannot list its {LISTS[kind]}: {error}", level="warning")

        await asyncio.gather(*(one(entry) for entry in list(self.servers.values()) if entry.ready))

    async def _open(self, entry: ServerEntry, on_status: OnStatus | None) -> None:
        """Connect an entry; what goes wrong is kept on it, masked, and raised."""
        from jupyter_mcp.client.connection import Connection

        entry.error = None
        number = self.journal.begin(entry.name, "connect", entry.spec.describe(), "person")
        _tell(on_status, f"starting {entry.name} …")
        for note in entry.spec.notes:
            entry.say("note", note, level="warning")
        outcome, remark = "cancelled", None
        try:
            transport_for(self._filled(entry))  # what can be refused is refused before anything else happens
            if entry.connection is None:
                entry.connection = Connection(
                    entry.name,
                    lambda: transport_for(self._filled(entry))(),
                    self._options_for(entry.spec),
                    self._peer(entry),
                )
            await entry.connection.open()
            outcome = "ok"
        except MCPError as error:
            outcome, remark = "error", self._failed(entry, error)
            raise
        except BaseException:
            entry.error = ConnectionFailed(f"Connecting {entry.name} was broken off.", server=entry.name)
            raise
        finally:
            self.journal.end(number, outcome, remark=remark)
            if outcome != "ok":
                await self._close(entry)
            self._changed(entry)

    def _filled(self, entry: ServerEntry) -> ServerSpec:
        """The spec with its placeholders filled; what is secret in it is masked from now on. Never kept."""
        filled = entry.spec.expanded(self._environ)
        self.redactor.learn_spec(entry.spec, filled)
        return filled

    def _peer(self, entry: ServerEntry) -> HostPeer:
        return HostPeer(
            entry,
            acts=self._acts,
            questioner=self._questioner,
            journal=self.journal,
            roots=self._roots_of,
            changed=self._changed,
        )

    def _failed(self, entry: ServerEntry, error: MCPError) -> str:
        """Keep the error on the entry and in its log; nothing secret stays in its words."""
        error.server = error.server or entry.name
        error.message = self.redactor.text(error.message)
        if isinstance(error, ConnectionFailed):
            error.stderr = [self.redactor.text(line) for line in error.stderr]
        entry.error = error
        entry.say("note", str(error), level="error")
        return str(error)

    async def _close(self, entry: ServerEntry) -> None:
        if entry.connection is not None:
            with contextlib.suppress(Exception):
                await entry.connection.close()

    def _options_for(self, spec: ServerSpec) -> ConnectOptions:
        from jupyter_mcp.client.options import ConnectOptions

        options = replace(self._options or ConnectOptions(), era=spec.era)
        return options if spec.timeout is None else replace(options, timeout=spec.timeout)

    def _roots_of(self, entry: ServerEntry) -> list[dict[str, Any]]:
        """What the person said of roots; else the notebook's folder, and folders the server was given in its command.

        A server may take its roots for all it may touch (server-filesystem forgets its own arguments then), so the
        folders that were named to it have to be among them.
        """
        if entry.spec.roots is not None:
            return [root(one) for one in entry.spec.roots]
        if self._roots is not None:
            return self.roots
        try:
            folders = self._filled(entry).folders()
        except ConfigError:  # a variable is gone since
            folders = []
        return list({one["uri"]: one for one in (*self.roots, *map(root, folders))}.values())

    def _noted(self, server: str, text: str) -> None:
        entry = self.servers.get(server)
        if entry is not None:
            entry.say("note", text)

    def _changed(self, entry: ServerEntry) -> None:
        for listener in list(self.listeners):
            try:
                listener(entry.name)
            except Exception:
                _log.exception("a listener of the host failed")

    def _lock(self, name: str) -> asyncio.Lock:
        return self._locks.setdefault(name, asyncio.Lock())


def root(place: str | Path | Mapping[str, Any]) -> dict[str, Any]:
    """A `Root` of the protocol from a folder, a `file://` URI, or a mapping that is one already."""
    if isinstance(place, Mapping):
        return dict(place)
    if isinstance(place, str) and place.startswith("file://"):
        return {"uri": place}
    path = Path(place).expanduser().absolute()
    return {"uri": path.as_uri(), "name": path.name or str(path)}


def _tell(on_status: OnStatus | None, text: str) -> None:
    if on_status is None:
        return
    try:
        on_status(text)
    except Exception:
        _log.exception("an on_status callback failed")
