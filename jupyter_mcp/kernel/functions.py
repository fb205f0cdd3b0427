"""The notebook's own functions for clients: `@mcp.tool`, `@mcp.resource`, `@mcp.prompt`.

    def               on the main thread when it is free, or while the main thread waits in one of our calls
    def, thread=True  on a thread beside it
    async def         on the kernel's loop (see `mainthread`)

A decorated function stays what it is. It is offered from the moment the notebook is served; running the cell again puts
the new function in the place of the old one, and clients are told. Prints go to the calling client's log.

Above: `book`, which serves them, and `jupyter_mcp.tool` …. Below: `contexts`, `capture`, `mainthread`.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast, overload

from jupyter_mcp.errors import MCPError, ToolError, UsageError
from jupyter_mcp.kernel.capture import Kept, capturing
from jupyter_mcp.kernel.contexts import BlockingContext, LoopContext, clean
from jupyter_mcp.kernel.mainthread import LIMIT_SECONDS
from jupyter_mcp.kernel.signatures import OWN_CONTEXT, name_of, signature_of
from jupyter_mcp.runtime.cells import cells
from jupyter_mcp.server.dispatch import Offer
from jupyter_mcp.server.failures import sentence
from jupyter_mcp.server.offering import Offering
from jupyter_mcp.server.registry import NotFound
from jupyter_mcp.server.tasks import TaskWork
from jupyter_mcp.server.workers import Workers

if TYPE_CHECKING:
    from jupyter_mcp.kernel.book import NotebookServer
    from jupyter_mcp.kernel.mainthread import MainThread
    from jupyter_mcp.server.context import AsyncContext
    from jupyter_mcp.server.registry import ToolEntry
    from jupyter_mcp.server.server import Server

__all__ = ["FunctionBook", "book", "prompt", "register", "resource", "tool"]

F = TypeVar("F", bound=Callable[..., Any])
Kind = Literal["tool", "resource", "prompt"]
log = logging.getLogger("jupyter_mcp.kernel")

MAX_PRINTED = 8 * 1024


@dataclass(frozen=True)
class _Function:
    """One decorated function.

    Attributes:
        wrapped: what the server calls.
        options: for the server's `add_tool`, `add_resource`, `add_prompt`.
        cell: the cell that declared it, as the page names it, and when that run of it began.
    """

    kind: Kind
    key: str
    function: Callable[..., Any]
    wrapped: Callable[..., Any]
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    cell: tuple[str | None, float] = field(default_factory=lambda: (cells.id, cells.began))

    @property
    def origin(self) -> tuple[Any, Any]:
        return getattr(self.function, "__module__", None), getattr(self.function, "__qualname__", None)

    def renamed_to(self, new: _Function) -> bool:
        """Whether the cell that declared it was changed and run again, so that it is the new one now.

        Several functions of one run are several, and so are those that a function of the notebook makes elsewhere.
        """
        if self.kind != new.kind or self.key == new.key or self.origin != new.origin or self.function is new.function:
            return False
        (here, began), (there, begins) = self.cell, new.cell
        same = here == there if here and there else "<locals>" not in str(self.origin[1])
        return same and began != begins

    def add_to(self, offering: Offering) -> None:
        if self.kind == "tool":
            offering.add_tool(self.wrapped, name=self.key, **self.options)
        elif self.kind == "resource":
            offering.add_resource(self.key, self.wrapped, **self.options)
        else:
            offering.add_prompt(self.wrapped, name=self.key, **self.options)

    def remove_from(self, offering: Offering) -> None:
        remove = {"tool": offering.remove_tool, "resource": offering.remove_resource, "prompt": offering.remove_prompt}
        remove[self.kind](self.key)


class _Unserved(Offering):
    """What is declared, checked when it is, whether or not anybody serves it."""

    def __init__(self) -> None:
        self.offer = Offer()
        super().__init__(self.offer)

    def _changed(self, kind: str) -> None:
        pass


class FunctionBook:
    """The decorated functions of a notebook. Decorating is for any thread."""

    def __init__(self) -> None:
        self._functions: dict[tuple[Kind, str], _Function] = {}
        self._declared = _Unserved()
        self._lock = threading.RLock()
        self._server: Server | None = None
        self._main: MainThread | None = None
        self._workers = Workers()

    def __len__(self) -> int:
        return len(self._functions)

    # --- serving them

    def attach(self, server: Server, main: MainThread) -> list[str]:
        """Offer them on a server, from now on. Returns a sentence for each that it cannot take."""
        with self._lock:
            self._server, self._main = server, main
            problems: list[str] = []
            for one in self._functions.values():
                try:
                    one.add_to(server)
                except UsageError as error:
                    problems.append(str(error))
            return problems

    def detach(self, server: Server) -> None:
        """That server is no more; the functions stay here for the next one."""
        with self._lock:
            if self._server is server:
                self._server = self._main = None

    # --- decorating

    def add(self, kind: Kind, function: Callable[..., Any], key: str | None, options: dict[str, Any]) -> None:
        """Register a function; the same one defined again, or another under the same name, replaces the old one.

        Raises:
            UsageError: it cannot be one, or the server itself has something of that name.
        """
        cells.watch()
        name = key if kind == "resource" or key is not None else name_of(function)
        assert name is not None
        thread, wait = bool(options.pop("thread", False)), float(options.pop("wait", LIMIT_SECONDS))
        wrapped = self._wrap(kind, function, name, thread=thread, wait=wait)
        made = _Function(kind, name, function, wrapped, options)
        with self._lock:
            before = self._functions.get((kind, name))
            renamed = [one for one in self._functions.values() if one.renamed_to(made)]
            self._put(self._declared, made, before)
            if self._server is not None:
                try:
                    self._put(self._server, made, before)
                except UsageError:
                    made.remove_from(self._declared)
                    raise
            self._functions[kind, name] = made
            for one in renamed:  # the cell was changed and run again
                self._drop(one)

    def _put(self, offering: Offering, made: _Function, before: _Function | None) -> None:
        if before is not None and before.origin != made.origin:
            before.remove_from(offering)
        made.add_to(offering)

    def _drop(self, one: _Function) -> None:
        self._functions.pop((one.kind, one.key), None)
        one.remove_from(self._declared)
        if self._server is not None:
            one.remove_from(self._server)

    # --- calling them

    def tools(self) -> list[ToolEntry]:
        """The tools, in order."""
        return list(self._declared.offer.tools.values())

    def find(self, name: str) -> ToolEntry | None:
        """The tool of that name, or None."""
        return self._declared.offer.tools.get(name)

    def _wrap(
        self, kind: Kind | Literal["task"], function: Callable[..., Any], name: str, *, thread: bool, wait: float
    ) -> Callable[..., Any]:
        """What the server calls: `async`, on its own loop, with a context whether or not the function wants one."""
        if not callable(function):
            raise UsageError(f"A {kind} is made from a function, not from {type(function).__name__}.")
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise UsageError(f"The {kind} {name!r} is a generator; return the result and use ctx.progress on the way.")
        is_async = inspect.iscoroutinefunction(function)
        if is_async and thread:
            raise UsageError(f"The {kind} {name!r} is `async def`; thread=True is for a plain `def`.")
        signature, wanted = signature_of(kind, name, function)
        given = wanted or OWN_CONTEXT

        async def served(*args: Any, **values: Any) -> Any:
            call = _Call(function, args, values, cast("AsyncContext", values.pop(given)), wanted, name, wait)
            return await self._run(call, is_async=is_async, thread=thread)

        functools.update_wrapper(served, function)
        served.__name__ = getattr(served, "__name__", name) if hasattr(function, "__name__") else name
        served.__signature__ = signature
        return served

    async def _run(self, call: _Call, *, is_async: bool, thread: bool) -> Any:
        main = self._main
        if main is None:
            raise ToolError(f"{call.name} is not served any more.")
        try:
            if is_async:
                value = await main.run_async(call.awaited, seconds=call.wait, on_wait=call.word)
            elif thread:
                value = await self._workers.run(call.blocking, asyncio.get_running_loop())
            else:
                value = await main.run(call.blocking, seconds=call.wait, on_wait=call.word)
            if inspect.isawaitable(value):
                value = await _on_loop(main, call, value)
            return self._work(value, call, thread=thread) if isinstance(value, TaskWork) else value
        except (MCPError, NotFound, FileNotFoundError) as error:
            _mask(error)
            raise
        except Exception as error:
            log.info("the function %s failed", call.name, exc_info=error)
            raise ToolError(str(clean(sentence(error)))) from None
        finally:
            await call.send_printed()

    def _work(self, value: TaskWork, call: _Call, *, thread: bool) -> TaskWork:
        """The rest of a call that goes on as a task: it runs where the function ran, not on the server's loop."""
        function = value.handler.function
        beside = thread and not value.handler.is_async
        return TaskWork(self._wrap("task", function, call.name, thread=beside, wait=call.wait))


class _Call:
    """One call of a function for a client."""

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        values: dict[str, Any],
        ctx: AsyncContext,
        wanted: str | None,
        name: str,
        wait: float,
    ) -> None:
        self._function = function
        self._args = args
        self._values = values
        self._wanted = wanted
        self._printed = Kept(MAX_PRINTED)
        self.ctx = LoopContext(ctx)
        self.name = name
        self.wait = wait

    def blocking(self) -> Any:
        """Call it here."""
        with capturing(self._printed):
            return self._function(*self._args, **self._values, **self._given(BlockingContext))

    async def awaited(self) -> Any:
        """Await it here."""
        with capturing(self._printed):
            return await self._function(*self._args, **self._values, **self._given(LoopContext))

    def _given(self, kind: Callable[[AsyncContext], Any]) -> dict[str, Any]:
        return {} if self._wanted is None else {self._wanted: kind(self.ctx)}

    async def word(self, seconds: float, text: str) -> None:
        """What it waits for, as progress."""
        await self.ctx.progress(seconds, None, text)

    async def send_printed(self) -> None:
        """What it printed, to the client's log."""
        text = self._printed.text
        if text.strip() and not self.ctx.cancelled:
            try:
                await self.ctx.log("info", text.rstrip("\n"), logger=self.name)
            except MCPError:  # the client is gone
                return


async def _on_loop(main: MainThread, call: _Call, value: Any) -> Any:
    """A `def` that returned something to await."""

    async def awaited() -> Any:
        return await value

    return await main.run_async(awaited, seconds=call.wait, on_wait=call.word)


def _mask(error: BaseException) -> None:
    """Secrets in what an error of ours says; a client reads it."""
    error.args = tuple(clean(arg) if isinstance(arg, str) else arg for arg in error.args)
    for attribute in ("message", "hint"):
        said = getattr(error, attribute, None)
        if isinstance(said, str):
            setattr(error, attribute, clean(said))


def register(book: NotebookServer) -> None:
    """Offer the functions on a notebook's server, and the tools that list and call them."""
    from jupyter_mcp.kernel import calling

    calling.register(book, _book)
    for problem in _book.attach(book.server, book.main):
        log.warning("%s", problem)


_book = FunctionBook()


def book() -> FunctionBook:
    """The functions of this notebook."""
    return _book


@overload
def tool(function: F, /) -> F: ...


@overload
def tool(
    name: str | None = None, /, *, thread: bool = False, wait: float = ..., **options: Any
) -> Callable[[F], F]: ...


def tool(function: Any = None, /, **options: Any) -> Any:
    """Offer a function of this notebook as a tool: `@mcp.tool`, `@mcp.tool("name", title="…", thread=True)`.

    Its name, docstring and annotations make the tool's name, description and schema. A parameter annotated
    `mcp.Context`, or called `ctx`, gets the calling client: progress, log, questions. Served by `mcp.serve()`; until
    then it waits.

    Args:
        function: the function; or the tool's name, when it is not the function's.
        thread: a plain `def` runs on a thread beside the kernel's main thread, and never waits for a cell.
        wait: seconds that a call waits for a busy kernel before it says so and is given up.
        options: `title`, `description`, `annotations`, `output_schema` …, as `Server.add_tool`.

    Raises:
        UsageError: the function cannot be a tool, or the name is taken by a tool of the notebook's server itself.
    """
    if callable(function):
        _book.add("tool", function, None, options)
        return function
    return _decorator("tool", function, options)


def resource(uri: str, /, **options: Any) -> Callable[[F], F]:
    """Offer what a function returns as a resource: `@mcp.resource("notes://today")`, `@mcp.resource("notes://{day}")`.

    Args:
        uri: a URI, or a template whose variables are the function's parameters.
        options: `thread` and `wait` as `tool`; `name`, `title`, `mime_type` … as `Server.add_resource`.

    Raises:
        UsageError: URI and function do not fit, or the URI is taken.
    """
    return _decorator("resource", uri, options)


@overload
def prompt(function: F, /) -> F: ...


@overload
def prompt(
    name: str | None = None, /, *, thread: bool = False, wait: float = ..., **options: Any
) -> Callable[[F], F]: ...


def prompt(function: Any = None, /, **options: Any) -> Any:
    """Offer a function of this notebook as a prompt: `@mcp.prompt`, `@mcp.prompt("name")`.

    It returns text, or messages (`jupyter_mcp.server.user("…")`, `assistant("…")`). Arguments and errors as `tool`.
    """
    if callable(function):
        _book.add("prompt", function, None, options)
        return function
    return _decorator("prompt", function, options)


def _decorator(kind: Kind, key: str | None, options: dict[str, Any]) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        _book.add(kind, function, key, dict(options))
        return function

    return decorate
