"""`Host`: the servers of one kernel, and the one way in to everything they offer.

The face of this room. Servers and their lives are in `connections`, acts on what they offer (calls, reads, prompts) in
`doing`, what comes back from them in `peer` and `questioner`, what they are told of our folders in `roots`. It lives on
the runtime loop; only reading its attributes, and `policy`, `answers` and `journal`, are for other threads too. It
knows nothing of notebooks, and nobody above it of eras.
"""

from __future__ import annotations

import asyncio
import contextlib
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import MCPError
from jupyter_mcp.host.acts import Acts
from jupyter_mcp.host.answers import AnswerBook
from jupyter_mcp.host.auth.logins import Logins
from jupyter_mcp.host.catalogue import LISTS, Catalogue, OfferKind
from jupyter_mcp.host.connections import Connections, OnStatus
from jupyter_mcp.host.consent import Consent
from jupyter_mcp.host.declaring import Declaring
from jupyter_mcp.host.doing import Doing
from jupyter_mcp.host.inputs import InputBook
from jupyter_mcp.host.journal import Journal
from jupyter_mcp.host.peer import HostPeer, declared
from jupyter_mcp.host.policy import Deed, Origin, Policy
from jupyter_mcp.host.questioner import Questioner
from jupyter_mcp.host.redaction import Redactor
from jupyter_mcp.host.roots import Roots
from jupyter_mcp.host.tasks import HostTask, TaskBook

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from jupyter_mcp.client.connection import Connection
    from jupyter_mcp.client.options import ConnectOptions
    from jupyter_mcp.host.apps.shared import Shared
    from jupyter_mcp.host.auth.logins import Who
    from jupyter_mcp.host.entry import ServerEntry
    from jupyter_mcp.host.events import OnEvent
    from jupyter_mcp.host.place import NotebookPlace
    from jupyter_mcp.host.questions import Answer, QuestionUI
    from jupyter_mcp.host.result import PromptResult, Read, Result
    from jupyter_mcp.host.roots import Place
    from jupyter_mcp.host.sampling.limits import Limits
    from jupyter_mcp.host.specs import ServerSpec
    from jupyter_mcp.models.book import ModelBook

__all__ = ["Host"]


class Host:
    """The host of one kernel.

    Args:
        ui: who renders questions; None is nobody (every question is cancelled with a note).
        roots: what servers are told about our folders; by default the current one.
        options: defaults for connections (`client.ConnectOptions`).
        environ: where placeholders are looked up; by default the process's environment at the time of connecting.
        place: where the notebook and the person's own files are; None: no file of ours is read or written.

    Attributes:
        place: as given.
        servers: the servers by name: connected, starting, lost or failed; not the ones that were disconnected.
        policy, answers, journal, catalogue, acts, tasks, roots, logins: see their modules.
        listeners: called (on the runtime loop) with the name of a server whose state or lists changed.
    """

    def __init__(
        self,
        ui: QuestionUI | None = None,
        *,
        roots: Sequence[Place] | None = None,
        options: ConnectOptions | None = None,
        environ: Mapping[str, str] | None = None,
        place: NotebookPlace | None = None,
    ) -> None:
        self.place = place
        self.policy = Policy(place)
        self.answers = AnswerBook()
        self.redactor = Redactor()
        self.journal = Journal(self.redactor)
        self._questioner = Questioner(self.policy, self.answers, self.journal)
        self._questioner.ui = ui
        self._questioner.note = self._noted
        self._questioner.models = lambda: self.models if "models" in vars(self) else None
        self._consent = Consent(self.policy, self._questioner)
        self.roots = Roots(roots, self._folder)
        self.acts = Acts()
        self.logins = Logins(
            self._questioner, self.acts, self._consent, self.redactor, place.data if place is not None else None
        )
        self._connections = Connections(
            self.journal,
            self.policy,
            self._consent,
            InputBook(self._questioner, self.redactor),
            self.logins,
            self._peer,
            self._roots_of,
            options,
            environ,
        )
        self.servers = self._connections.servers
        self.listeners = self._connections.listeners
        self.catalogue = Catalogue(self.servers)
        self._declaring = self._connections.declaring = Declaring(
            lambda entry, revision: declared(self._questioner.advertised.of(entry.name), revision), self._busy
        )
        ready = self._connections.ready
        self.tasks = TaskBook(ready, self.servers)
        self._doing = Doing(self.acts, self._consent, self.journal, self.redactor, ready, self.tasks)

    # --- who answers, and what servers are told ----------------------------------------------------------------------

    @property
    def ui(self) -> QuestionUI | None:
        """Who renders questions."""
        return self._questioner.ui

    @ui.setter
    def ui(self, ui: QuestionUI | None) -> None:
        self._questioner.ui = ui

    async def tell_roots(self) -> None:
        """Tell the servers that their roots may be others now; those of the modern era ask each time anyway."""
        for entry in list(self.servers.values()):
            if entry.connection is not None and entry.ready:
                with contextlib.suppress(MCPError):  # one that is just going away hears of them when it is back
                    await entry.connection.notify("notifications/roots/list_changed")

    def roots_of(self, server: str) -> list[dict[str, Any]]:
        """What a server is told when it asks for our folders. Raises `UsageError` for no such server."""
        return self._roots_of(self.find(server))

    @cached_property
    def models(self) -> ModelBook:
        """The models that are configured; a kernel that asks none loads none of it."""
        from jupyter_mcp.models.book import ModelBook

        book = ModelBook()
        book.listeners.append(lambda: self._declaring.announce(list(self.servers.values())))
        book.ask = lambda request: self._questioner.sampling.human(request)
        return book

    @cached_property
    def shared(self) -> Shared:
        """What the pages of servers tell models, where the person lets them."""
        from jupyter_mcp.host.apps.shared import Shared

        return Shared()

    @property
    def limits(self) -> Limits:
        """What servers get of models without asking, and what each model may give."""
        return self._questioner.limits

    # --- servers -----------------------------------------------------------------------------------------------------

    async def connect(
        self, spec: ServerSpec, on_status: OnStatus | None = None, *, origin: Origin = "person"
    ) -> ServerEntry:
        """Connect to a server.

        A name that is in use: the same spec keeps a live connection (with a note) and restarts a lost one, so that
        running a cell again just works; another spec replaces the old server, which is closed first.

        Args:
            spec: how it is started or reached.
            on_status: told what is going on.
            origin: who wants it; "project", a file that came with the project, needs the person's yes to exactly this.

        Raises:
            ConnectionFailed: it could not be started or reached; its entry stays, so that its log can be read.
            ConfigError: a placeholder cannot be filled.
            Denied: a rule or the person refused.
        """
        return await self._connections.connect(spec, on_status, origin=origin)

    async def connect_many(
        self,
        specs: Iterable[ServerSpec | MCPError],
        on_status: OnStatus | None = None,
        *,
        origin: Origin = "person",
        named: bool = True,
    ) -> list[ServerEntry | MCPError]:
        """Connect to many at once; for each, in order, its entry or what went wrong. One never blocks the others.

        Errors among the specs (entries that could not be read) are handed through; one that its file disables is not
        started, nor, unless the person named it, one that the person switched off.
        """
        return await self._connections.connect_many(specs, on_status, origin=origin, named=named)

    async def disconnect(self, name: str) -> None:
        """Close a server and take it off the list. Raises `UsageError` when there is none of that name."""
        await self._connections.disconnect(name)

    async def reconnect(self, name: str, on_status: OnStatus | None = None) -> ServerEntry:
        """Close a server and connect anew by the same spec. Raises as `connect`, `UsageError` for no such name."""
        return await self._connections.reconnect(name, on_status)

    async def login(self, name: str, on_status: OnStatus | None = None) -> Who:
        """Log in to a server anew; it is connected again when it was not.

        Raises:
            UsageError: there is no such server, or nothing to log in to.
            AuthorizationFailed: the step that failed, where, and what was said there.
            Denied: a rule refuses it.
        """
        entry = self.find(name)
        who = await self.logins.login(self._connections.filled(entry))
        if not entry.ready:
            await self._connections.reconnect(name, on_status)
        return who

    async def logout(self, name: str) -> bool:
        """Give a server's tokens back and keep nothing; False: there was nothing. Raises as `login`.

        Its connection is closed first: what still listens there would be refused, and ask for a login at once.
        """
        entry = self.find(name)
        await self._connections.rest(name)
        return await self.logins.logout(self._connections.filled(entry))

    async def whoami(self, name: str) -> Who:
        """As whom a server knows us; nobody logs in for that. Raises as `Logins.whoami`."""
        return await self.logins.whoami(self._connections.filled(self.find(name)))

    def find(self, name: str) -> ServerEntry:
        """The server of this name, also one that was disconnected (for its log). Raises `UsageError`."""
        return self._connections.find(name)

    async def aclose(self) -> None:
        """Close everything; never raises."""
        self._questioner.visits.end()
        await self._connections.aclose()
        if "models" in vars(self):
            await self.models.aclose()
        self.journal.stop_writing()

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
        background: bool = False,
        leaves: Sequence[str] = (),
        switched_on: bool = False,
        meta: Mapping[str, Any] | None = None,
        on_leave: Callable[[Mapping[str, Any]], object] | None = None,
    ) -> Result:
        """Call a tool. A call that becomes a task is waited for; cancelling the wait leaves the task (see `tasks`).

        Args:
            server, tool: names, as listed.
            arguments: the arguments object.
            origin: who begins it: "person", "code", "model", "server" or "app".
            on_event: told what happens meanwhile, on the runtime thread.
            timeout: seconds without an answer or progress.
            check: raise `ToolError` when the tool reports an error.
            yes: the person approved this very call (`--yes`).
            background: nobody waits at a prompt: where the protocol lets the client choose, it becomes a task.
            leaves: what the arguments pass on, in words, for whoever is asked to approve the call.
            switched_on: the person switched it on for the conversation that it belongs to; other switches do not count.
            meta: what goes along in the request's `_meta`, beside the protocol's own keys.
            on_leave: told the arguments when the call may be made and is about to be.

        Raises:
            UsageError: no such tool, arguments that its schema does not take, or a `_meta` that cannot be sent.
            Denied: a rule or the person refused.
            ToolError, RequestError, RequestTimeout, ConnectionLost, InputRefused: how it ended.
        """
        return await self._doing.call_tool(
            server,
            tool,
            arguments or {},
            origin=origin,
            on_event=on_event,
            timeout=timeout,
            check=check,
            yes=yes,
            background=background,
            leaves=leaves,
            switched_on=switched_on,
            meta=meta,
            on_leave=on_leave,
        )

    def goes_unasked(self, server: str, tool: Mapping[str, Any], *, origin: Origin, switched_on: bool = False) -> bool:
        """Whether calls of a tool (as listed) are made without a question, whatever their arguments come to."""
        return self._doing.goes_unasked(self.find(server), tool, origin=origin, switched_on=switched_on)

    async def task_result(
        self, task: HostTask, *, origin: Origin = "code", on_event: OnEvent | None = None, check: bool = True
    ) -> Result:
        """Wait for the result of a task; cancelling the wait leaves it. Raises as `call_tool`."""
        return await self._doing.task_result(task, origin=origin, on_event=on_event, check=check)

    async def read(
        self,
        server: str | None,
        uri: str,
        values: Mapping[str, Any] | None = None,
        *,
        fresh: bool = False,
        origin: Origin = "code",
        on_event: OnEvent | None = None,
        timeout: float | None = None,
    ) -> Read:
        """Read a resource, to the letter of its URI; with `values`, the URI a template leads to.

        Without a server, the one that offers the URI (or a template that fits it) is found. A modern server may say for
        how long its contents are good; until then, and until it reports a change, it is asked again only with `fresh`.
        Raises as `call_tool`.
        """
        if server is None:
            for kind in ("resource", "template"):
                await self._list(kind)
            server = self._doing.offerer(self.catalogue, uri)
        return await self._doing.read(
            server, uri, values, fresh=fresh, origin=origin, on_event=on_event, timeout=timeout
        )

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
        """How an argument of a prompt or template could go on: `{"values": […], …}`.

        A value that holds a secret which a server was given is left out: it would be typed into the notebook.
        """
        self.permit(server, "completion/complete", str(ref.get("name") or ref.get("uri") or ""))
        connection = await self.connection(server)
        found = await connection.complete(dict(ref), argument, value, dict(context or {}))
        known = self.redactor.known
        return {**found, "values": [one for one in found["values"] if known(one) == one]}

    async def connection(self, server: str) -> Connection:
        """The connection of a server, which is connected again when it went away.

        Raises:
            UsageError: there is no such server, or it was never connected.
            ConnectionFailed: it could not be connected again.
        """
        connection = (await self._connections.ready(server)).connection
        assert connection is not None
        return connection

    def permit(self, server: str, method: str, name: str) -> None:
        """Raise `Denied` where a rule refuses what is not worth a question (suggestions, being told of changes)."""
        self._consent.check(Deed(server, method, name, origin="person", yes=True))

    async def consent(self, server: str, tool: str, arguments: Mapping[str, Any], *, client: str) -> str | None:
        """Ask for leave for what a client of our own server wants; returns the rule that gave it, if one did.

        Args:
            server, tool: our server's name, and what it is asked to do.
            arguments: shown to the person, whole.
            client: who wants it, by the name it gives itself.

        Raises:
            Denied: a rule or the person refused, or nobody could be asked.
        """
        deed = Deed(server, "tools/call", tool, dict(arguments), "server", client=client)
        return (await self._consent.obtain(deed)).rule

    async def form(self, message: str, schema: Mapping[str, Any]) -> Answer:
        """Ask the person something of the notebook's own by a form; its answer is checked, or a no.

        Args:
            message: what it is about.
            schema: the form, as of an elicitation. A script that answers it names the server "this notebook".
        """
        return await self._questioner.form(message, schema)

    # --- details -----------------------------------------------------------------------------------------------------

    async def _list(self, kind: OfferKind, first: str | None = None) -> None:
        """See to it that the lists are there: of one server, else of all (one that fails is left out)."""
        if first in self.servers:
            await (await self.connection(first)).list(LISTS[kind])
            return

        async def one(entry: ServerEntry) -> None:
            assert entry.connection is not None
            try:
                await entry.connection.list(LISTS[kind])
            except MCPError as error:
                entry.say("note", f"Cannot list its {LISTS[kind]}: {error}", level="warning")

        await asyncio.gather(*(one(entry) for entry in list(self.servers.values()) if entry.ready))

    def _peer(self, entry: ServerEntry) -> HostPeer:
        return HostPeer(
            entry,
            acts=self.acts,
            questioner=self._questioner,
            journal=self.journal,
            roots=self._roots_of,
            changed=self._connections.changed,
        )

    def _busy(self, entry: ServerEntry) -> bool:
        """Whether something of a server runs that a new connection would cut."""
        calls = entry.connection is not None and bool(entry.connection.calls)
        tasks = any(not task.ended for task in self.tasks.of(entry.name))
        return calls or tasks or bool(self.acts.of(entry.name))

    def _roots_of(self, entry: ServerEntry) -> list[dict[str, Any]]:
        return self.roots.of(entry, self._connections.filled)

    def _folder(self) -> Path:
        """Where the notebook is; a folder that was renamed under the kernel is found by where the kernel stands."""
        folder = self.place.folder if self.place is not None else None
        return folder if folder is not None and folder.is_dir() else Path.cwd()

    def _noted(self, server: str, text: str) -> None:
        entry = self.servers.get(server)
        if entry is not None:
            entry.say("note", text)
