"""The servers of a host and their lives: connected, kept, started anew, closed. What they offer is used elsewhere.

One server at a time changes its state (a lock for each name), so that a cell that is run twice, a lost server that two
calls need, and a disconnect in between cannot meet. Everything here runs on the runtime loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import ConfigError, ConnectionFailed, Denied, MCPError, UsageError
from jupyter_mcp.host.consent import Leave
from jupyter_mcp.host.entry import ServerEntry
from jupyter_mcp.host.listeners import tell
from jupyter_mcp.host.policy import BY_HAND
from jupyter_mcp.host.specs.advice import advice
from jupyter_mcp.host.transports import transport_for
from jupyter_mcp.host.wording import nearest

if TYPE_CHECKING:
    from jupyter_mcp.client.options import ConnectOptions
    from jupyter_mcp.client.peer import ServerPeer
    from jupyter_mcp.host.auth.logins import Logins
    from jupyter_mcp.host.consent import Consent
    from jupyter_mcp.host.declaring import Declaring
    from jupyter_mcp.host.inputs import InputBook
    from jupyter_mcp.host.journal import Journal
    from jupyter_mcp.host.policy import Origin, Policy
    from jupyter_mcp.host.specs import ServerSpec
    from jupyter_mcp.transport.base import Transport

__all__ = ["Connections", "OnStatus"]

_log = logging.getLogger("jupyter_mcp.host")
OnStatus = Callable[[str], None]
_CONNECTED = Leave(None, {}, "it is connected already")
_REMEMBERED = 32  # closed servers whose log can still be read


class Connections:
    """What a host is connected to.

    Args:
        journal: where connecting and disconnecting are recorded; its redactor masks what is secret.
        policy: forgets what was approved for a server in this session when it is disconnected.
        consent: gives leave to connect, or raises `Denied`.
        inputs: has the values that a configuration asks the person for.
        logins: let requests in over HTTP.
        peer: makes the host's side of a connection.
        roots: the folders that a server is told about, which one in a sandbox may write.
        options: defaults for connections.
        environ: where placeholders are looked up; None is the process's environment at the time of connecting.

    Attributes:
        servers: by name, in the order in which they were connected; not the ones that were disconnected.
        listeners: called with the name of a server whose state or lists changed.
        declaring: keeps servers told of what we can do.
    """

    def __init__(
        self,
        journal: Journal,
        policy: Policy,
        consent: Consent,
        inputs: InputBook,
        logins: Logins,
        peer: Callable[[ServerEntry], ServerPeer],
        roots: Callable[[ServerEntry], Sequence[Mapping[str, Any]]],
        options: ConnectOptions | None,
        environ: Mapping[str, str] | None,
    ) -> None:
        self.servers: dict[str, ServerEntry] = {}
        self.listeners: list[Callable[[str], None]] = []
        self._journal = journal
        self._redactor = journal.redactor
        self._policy = policy
        self._consent = consent
        self._inputs = inputs
        self._logins = logins
        self._peer = peer
        self._roots = roots
        self._options = options
        self._environ = environ
        self.declaring: Declaring | None = None
        self._closed: dict[str, ServerEntry] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    # --- for the host ------------------------------------------------------------------------------------------------

    async def connect(
        self, spec: ServerSpec, on_status: OnStatus | None = None, *, origin: Origin = "person", named: bool = False
    ) -> ServerEntry:
        """See `Host.connect`; `named`: the person named it, so that no switch holds it back."""
        known = self.servers.get(spec.name)
        leave = _CONNECTED
        if known is not None and known.spec != spec:
            self._policy.forget(spec.name, keep="connect")  # another server of this name; its start says what it is
        if known is None or known.spec != spec or not known.ready:
            leave = await self._leave(spec, origin, named)
            self._logins.afresh(spec.name)
        async with self._lock(spec.name):
            entry = self.servers.get(spec.name)
            if entry is not None and entry.spec == spec and entry.ready:
                text = f"{spec.name} is connected already; %mcp reconnect {spec.name} starts it anew."
                entry.say("note", text)
                _tell(on_status, text)
                entry.origin = origin if origin in BY_HAND else entry.origin
                return entry
            if entry is None or entry.spec != spec:
                if entry is not None:
                    await self._close(entry)
                entry = ServerEntry(spec.name, spec, clean=self._redactor.text, origin=origin)
                self.servers[spec.name] = entry
            entry.origin = origin if origin in BY_HAND else entry.origin  # a person's hand is more than a file's word
            await self._open(entry, on_status, leave)
            return entry

    async def connect_many(
        self,
        specs: Iterable[ServerSpec | MCPError],
        on_status: OnStatus | None = None,
        *,
        origin: Origin = "person",
        named: bool = True,
    ) -> list[ServerEntry | MCPError]:
        """See `Host.connect_many`."""

        async def one(spec: ServerSpec | MCPError) -> ServerEntry | MCPError:
            if isinstance(spec, MCPError):
                return spec
            if spec.disabled:
                text = f"{spec.name} is disabled in {spec.source or 'the configuration'} and was not started."
                return ConfigError(text, file=spec.source, key=spec.name, server=spec.name)
            try:
                if not named:
                    self._check_switch(spec, origin)
                return await self.connect(spec, on_status, origin=origin, named=named)
            except MCPError as error:
                return error
            except Exception as error:
                _log.exception("connecting %s failed", spec.name)
                return ConnectionFailed(f"{spec.name} could not be connected: {error!r}", server=spec.name)

        return list(await asyncio.gather(*(one(spec) for spec in specs)))

    async def disconnect(self, name: str) -> None:
        """See `Host.disconnect`."""
        entry = self.entry(name)
        async with self._lock(name):
            if self.servers.get(name) is not entry:
                return
            del self.servers[name]
            self._closed[name] = entry
            while len(self._closed) > _REMEMBERED:
                del self._closed[next(iter(self._closed))]
            number = self._journal.begin(name, "disconnect", name, "person")
            await self._close(entry)
            self._inputs.forget(entry.spec, [other.spec for other in self.servers.values()])
            self._policy.forget(name)
            self._logins.forget(name)
            self._journal.end(number, "ok")
            self.changed(entry)

    async def rest(self, name: str) -> None:
        """Close a server's connection and keep it on the list; reconnecting opens it again."""
        entry = self.find(name)
        async with self._lock(name):
            await self._close(entry)
            self.changed(entry)

    async def reconnect(self, name: str, on_status: OnStatus | None = None) -> ServerEntry:
        """See `Host.reconnect`."""
        entry = self.find(name)
        leave = await self._leave(entry.spec, "person")
        self._logins.afresh(name)
        async with self._lock(name):
            self._closed.pop(name, None)
            self.servers[name] = entry
            await self._close(entry)
            await self._open(entry, on_status, leave)
            return entry

    async def aclose(self) -> None:
        """Close everything; never raises."""
        entries = list(self.servers.values())
        self.servers.clear()
        await asyncio.gather(*(self._close(entry) for entry in entries), return_exceptions=True)

    # --- for whoever needs a server ----------------------------------------------------------------------------------

    def entry(self, name: str) -> ServerEntry:
        """The server of this name. Raises `UsageError` with the nearest one."""
        entry = self.servers.get(name)
        if entry is None:
            near = nearest(name, list(self.servers))
            names = f"Connected: {', '.join(self.servers)}." if self.servers else "No server is connected."
            raise UsageError(f"There is no server {name!r}.", hint=f"Did you mean {near}?" if near else names)
        return entry

    def find(self, name: str) -> ServerEntry:
        """The server of this name, also one that was disconnected (for its log). Raises `UsageError`."""
        return self._closed[name] if name in self._closed and name not in self.servers else self.entry(name)

    async def ready(self, name: str, on_status: OnStatus | None = None) -> ServerEntry:
        """The server, connected: a lost one is started anew, because nothing was sent yet that could have run."""
        entry = self.entry(name)
        if not entry.ready:
            async with self._lock(name):
                if entry.state == "failed" and entry.spec.kind == "memory":  # nothing is started, so nothing is lost
                    await self._open(entry, on_status, Leave(None, {}, "it failed before and is needed"))
                await self._revive(entry, on_status)
        elif self.declaring is not None and self.declaring.renew(entry):
            async with self._lock(name):
                if entry.ready and self.declaring.renew(entry):  # nobody did it meanwhile, and nothing runs
                    await self._close(entry)
                    await self._open(entry, on_status, Leave(None, {}, "what this notebook can answer is another now"))
        if not entry.ready:
            why = f" ({entry.error.message.rstrip('.')})" if entry.error else ""
            hint = f"%mcp reconnect {name} tries again."
            raise UsageError(f"{name} is not connected{why}.", hint=hint, server=name)
        return entry

    def filled(self, entry: ServerEntry) -> ServerSpec:
        """The spec with its placeholders filled; what is secret in it is masked from now on. Never kept."""
        filled = entry.spec.expanded(self._environ, self._inputs.of(entry.spec))
        self._redactor.learn_spec(entry.spec, filled)
        return filled

    def changed(self, entry: ServerEntry) -> None:
        """Tell the listeners."""
        tell(self.listeners, entry.name, log=_log, what="the host")

    async def _leave(self, spec: ServerSpec, origin: Origin, named: bool = False) -> Leave:
        """Leave to start or reach a server. Raises `Denied`, which is journalled."""
        try:
            return await self._consent.server(spec, origin, named=named)
        except Denied as error:
            self._denied(spec, origin, error)
            raise

    def _check_switch(self, spec: ServerSpec, origin: Origin) -> None:
        """Raise `Denied`, which is journalled, for a server that was switched off."""
        switch = self._policy.disabled(spec.name)
        if switch is not None:
            hint = f"%mcp enable {spec.name} switches it on; so does naming it: connect --from FILE {spec.name}."
            text = f"{spec.name} is switched off ({switch}) and was not started."
            error = Denied(text, rule=str(switch), server=spec.name, hint=hint)
            self._denied(spec, origin, error)
            raise error

    def _denied(self, spec: ServerSpec, origin: Origin, error: Denied) -> None:
        number = self._journal.begin(spec.name, "connect", spec.describe(), origin)
        self._journal.end(number, "denied", remark=str(error), rule=error.rule)

    # --- opening and closing -----------------------------------------------------------------------------------------

    async def _open(self, entry: ServerEntry, on_status: OnStatus | None, leave: Leave) -> None:
        """Connect an entry; what goes wrong is kept on it, masked, and raised."""
        from jupyter_mcp.client.connection import Connection

        entry.error = None
        number = self._journal.begin(entry.name, "connect", entry.spec.describe(), entry.origin, rule=leave.rule)
        _tell(on_status, f"starting {entry.name} …")
        outcome, remark = "cancelled", None
        try:
            await self._inputs.obtain(entry.spec)
            self._advise(entry)  # what cannot be filled in is refused before anything else happens
            if entry.connection is None:
                entry.connection = Connection(
                    entry.name,
                    lambda: self._transport(entry),
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
            self._journal.end(number, outcome, remark=remark, reason=leave.reason)
            if outcome != "ok":
                await self._close(entry)
                others = [other.spec for other in self.servers.values() if other is not entry and other.ready]
                self._inputs.forget(entry.spec, others)
            self.changed(entry)

    def _transport(self, entry: ServerEntry) -> Transport:
        roots = self._roots(entry) if entry.spec.sandbox else ()
        return transport_for(self.filled(entry), roots, self._logins.lets_in)()

    async def _revive(self, entry: ServerEntry, on_status: OnStatus | None) -> None:
        """Have a server that went away, or does not answer, connected again, by the connection's own means."""
        connection = entry.connection
        if connection is None or entry.state not in ("lost", "reconnecting", "unresponsive"):
            return
        how = "connected again" if entry.spec.kind == "http" else "started anew"
        text = f"{entry.name} {'does not answer' if entry.state == 'unresponsive' else 'went away'} and is {how}."
        entry.say("note", text)
        _tell(on_status, text)
        number = self._journal.begin(entry.name, "connect", entry.spec.describe(), "person")
        outcome, remark = "cancelled", None
        try:
            await connection.ensure(on_status)
            outcome = "ok"
        except MCPError as error:
            self._redactor.error(error)
            outcome, remark = "error", str(error)
            entry.say("note", str(error), level="error")
            raise
        finally:
            self._journal.end(number, outcome, remark=remark, reason="it went away and is needed")

    def _advise(self, entry: ServerEntry) -> None:
        """Say what is odd about the way it is reached. Raises `ConfigError` for a placeholder that cannot be filled."""
        entry.advice = advice(entry.spec, self.filled(entry))
        for note in (*entry.spec.notes, *entry.advice):
            entry.say("note", note, level="warning")

    def _failed(self, entry: ServerEntry, error: MCPError) -> str:
        """Keep the error on the entry and in its log; nothing secret stays in its words."""
        error.server = error.server or entry.name
        self._redactor.error(error)
        entry.error = error
        entry.say("note", str(error), level="error")
        return str(error)

    async def _close(self, entry: ServerEntry) -> None:
        if entry.connection is not None:
            with contextlib.suppress(Exception):
                await entry.connection.close()

    def _options_for(self, spec: ServerSpec) -> ConnectOptions:
        from jupyter_mcp.client.options import ConnectOptions

        options = replace(self._options or ConnectOptions(), era=spec.era, clean=self._redactor.text)
        return options if spec.timeout is None else replace(options, timeout=spec.timeout)

    def _lock(self, name: str) -> asyncio.Lock:
        return self._locks.setdefault(name, asyncio.Lock())


def _tell(on_status: OnStatus | None, text: str) -> None:
    if on_status is None:
        return
    try:
        on_status(text)
    except Exception:
        _log.exception("an on_status callback failed")
