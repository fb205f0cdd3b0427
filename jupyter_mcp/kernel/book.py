"""The server of one notebook: what it is made of, and the way to each of its variables.

Nothing is remembered of who asked before: every address and every call names its notebook, and a variable is looked up
when it is asked for. Reads happen on the pool's threads and never wait for the main thread; only an object that may be
touched there alone is read there, if it is free at once.

Below: `resources`, `tools`, `functions`, `execute` (what is offered), `visitors`, `views`; above: `serving`.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from jupyter_mcp.kernel import exposure, views
from jupyter_mcp.kernel.mainthread import Busy, MainThread
from jupyter_mcp.kernel.pool import ViewPool
from jupyter_mcp.kernel.views import Summary, View, ViewError, Wanted
from jupyter_mcp.kernel.visitors import Visitors
from jupyter_mcp.runtime.cells import cells
from jupyter_mcp.server import NotFound, Server

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from jupyter_mcp.kernel.identity import Identity
    from jupyter_mcp.kernel.plots import Plots
    from jupyter_mcp.kernel.visitors import Act, Visitor

__all__ = ["Choice", "NotebookServer"]

T = TypeVar("T")
F = TypeVar("F", bound="Callable[..., Any]")

READ_SECONDS = 10.0
"""For one view; beyond it the thread is left behind and the variable marked."""
LIST_SECONDS = 10.0
MAIN_READ_SECONDS = 3.0
"""For one view on the main thread, which is the person's; beyond it the view is interrupted."""
_MAIN_WAIT_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class Choice:
    """What the person chose to serve.

    Attributes:
        names: only these variables; all public ones when empty.
        besides: but not these.
        allow_code: clients may ask to run code and to set variables; each is asked about in the notebook.
    """

    names: tuple[str, ...] = ()
    besides: tuple[str, ...] = ()
    allow_code: bool = False


class NotebookServer:
    """One notebook's server, not yet listening.

    Args:
        shell: IPython's.
        identity: whose it is.
        slug: its name in addresses.
        plots: its pictures.
        choice: what may be seen; may be changed at any time.

    Attributes:
        server: the server; who has more to offer registers it here.
        uri: what all its addresses begin with.
        main: the way to the main thread.
        pool: the threads that read.
        visitors: who came.
        started: in seconds since 1970.
    """

    def __init__(self, shell: Any, identity: Identity, slug: str, plots: Plots, choice: Choice | None = None) -> None:
        from jupyter_mcp.kernel import execute, functions, resources, tools

        self.shell = shell
        self.identity = identity
        self.slug = slug
        self.plots = plots
        self.choice = choice or Choice()
        self.uri = f"notebook://{slug}"
        self.main = MainThread()
        self.pool = ViewPool()
        self.visitors = Visitors(self.uri)
        self.started = time.time()
        self.server = Server(
            slug,
            title=identity.notebook,
            description=f"The live notebook {identity.notebook}: its variables, plots and functions.",
            instructions=_INSTRUCTIONS.format(title=identity.notebook, slug=slug),
            offers=("tools", "resources", "prompts"),
        )
        self.server.admit = self.visitors.admit
        self.server.answered = self.visitors.answered
        resources.register(self)
        tools.register(self)
        functions.register(self)
        execute.register(self)

    def __repr__(self) -> str:
        return f"<NotebookServer {self.slug!r}>"

    def clients(self) -> list[Visitor]:
        """Who came, the last one first. Any thread."""
        return self.visitors.clients()

    def reads(self) -> list[Act]:
        """What was read, called, watched and refused, the last first. Any thread."""
        return self.visitors.acts()

    def addressed(self, function: F) -> F:
        """Make its parameter `notebook` take this notebook's slug and nothing else."""
        function.__annotations__["notebook"] = cast("Any", Literal)[self.slug]
        return function

    # --- variables

    @property
    def namespace(self) -> dict[str, Any]:
        return self.shell.user_ns

    def visible(self, values: Mapping[str, Any]) -> tuple[str, ...]:
        """Which of these variables may be seen. Any thread."""
        return self.exposed(values).names

    def exposed(self, values: Mapping[str, Any] | None = None) -> exposure.Exposed:
        """The names that may be seen, of these variables or of all, and how many are hidden. Any thread."""
        return exposure.exposed(
            self.namespace if values is None else values,
            only=self.choice.names,
            besides=self.choice.besides,
            baseline=self.shell.user_ns_hidden,
        )

    def value(self, name: str) -> Any:
        """What a variable holds now.

        Raises:
            NotFound: there is none of that name, or it may not be seen; which of the two is not said.
        """
        try:
            value = self.namespace[name]
        except KeyError:
            raise NotFound(f"there is no variable {name[:80]!r} that may be seen") from None
        if not self.visible({name: value}):
            raise NotFound(f"there is no variable {name[:80]!r} that may be seen")
        return value

    def address(self, name: str) -> str:
        """The URI of a variable."""
        if name.isascii() and name.isidentifier():
            return f"{self.uri}/variables/{name}"  # nearly every name: nothing in it has to be quoted
        from urllib.parse import quote

        return f"{self.uri}/variables/{quote(name, safe='')}"

    async def view(self, name: str, wanted: Wanted) -> View:
        """One bounded piece of a variable.

        Raises:
            NotFound: see `value`.
            ViewError: it cannot be shown, in words for who asked.
        """
        value = self.value(name)

        def look() -> View | None:  # a way into a very wide table takes long enough to hold up everybody on the loop
            return None if views.needs_main_thread(value, wanted) else views.view(value, wanted)

        found = await self.pool.run(look, READ_SECONDS, name=name, value=value)
        if found is not None:
            return found
        try:
            async with asyncio.timeout(MAIN_READ_SECONDS):
                return await self.main.run(lambda: views.view(value, wanted), seconds=_MAIN_WAIT_SECONDS)
        except Busy:
            why = f"{name} can only be read so on the main thread, which is not free ({self.main.busy()})"
            raise ViewError("busy", f"{why}; try again later.") from None
        except TimeoutError:
            raise ViewError("slow", f"it took longer than {MAIN_READ_SECONDS:g} s and was interrupted") from None

    async def summary(self, name: str) -> Summary:
        """What a variable is. Raises as `view`."""
        value = self.value(name)
        return await self.pool.run(lambda: views.summary(value), READ_SECONDS, name=name, value=value)

    async def aside(self, look: Callable[[], T]) -> T:
        """Do something that takes a moment on the pool's threads. Raises ViewError."""
        return await self.pool.run(look, LIST_SECONDS)

    # --- the state of the kernel

    def activity(self) -> dict[str, Any]:
        """Whether a cell runs, which one, for how long."""
        if not cells.running:
            return {"state": "idle", "cell": cells.number}
        seconds = round(time.monotonic() - cells.began, 1)
        return {"state": "busy", "cell": cells.number, "seconds": seconds}

    def history(self) -> Sequence[str]:
        """The cells of this session as they were entered; place n is In[n]. Any thread."""
        manager = self.shell.history_manager
        return list(manager.input_hist_raw) if manager is not None else []


_INSTRUCTIONS = """\
This is the live notebook {title!r} of a person, while its kernel works. Its variables can be read at any time, also \
while a cell runs; reading runs no code and changes nothing.
Every tool takes notebook={slug!r}. Begin with list_variables; read_variable gives bounded pieces (rows, columns, a \
path into the object) and a cursor for what comes next. Resources are notebook://{slug}/variables/NAME and can be \
watched. execute_code and set_variable work only where the person allowed code, and are asked about in the notebook."""
