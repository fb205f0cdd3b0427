"""`execute_code` and `set_variable`: what a client may do to the notebook, when the person said that it may ask.

Both are listed from the start and answer "not allowed" until the notebook is served with `--allow-code`. Each use is
asked about in the notebook (`host.consent`), with all of the code. It runs on the main thread when that is free, as a
cell that leaves no trace in In and Out unless that is wanted; its output goes to the client, as it comes and as the
result, bounded and with secrets masked. The client's cancel, and the time limit, interrupt it.

Below: `mainthread`, `outputs`. Above: `book`.
"""

from __future__ import annotations

import asyncio
import json
import keyword
import re
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.errors import Denied, MCPError
from jupyter_mcp.kernel.anyvalue import AnyValue  # noqa: TC001 - read by the server
from jupyter_mcp.kernel.contexts import clean
from jupyter_mcp.kernel.mainthread import Busy
from jupyter_mcp.kernel.outputs import Outputs, routed
from jupyter_mcp.kernel.reporting import Reporter
from jupyter_mcp.protocol.framing import printable
from jupyter_mcp.runtime import state
from jupyter_mcp.runtime.cells import cells
from jupyter_mcp.runtime.jobs import on_main_thread
from jupyter_mcp.runtime.thread import on_loop
from jupyter_mcp.server.content import Image, ToolResult
from jupyter_mcp.server.tasks import TaskWork

if TYPE_CHECKING:
    from collections.abc import Coroutine, Generator

    from jupyter_mcp.kernel.book import NotebookServer
    from jupyter_mcp.server.context import AsyncContext

__all__ = ["register"]

MAX_CODE = 20_000
MAX_SECONDS, SECONDS = 3600.0, 60.0
_LAST_STEPS = 3.0
_NAMELESS = "a client without a name"
_RESERVED = frozenset(("In", "Out", "get_ipython", "exit", "quit", "open"))
# what makes text look like another text: direction overrides, and characters that no line of code needs
_MISLEADING = re.compile("[\u202a-\u202e\u2066-\u2069\u200e\u200f\x00-\x08\x0b\x0e-\x1f\x7f]")
_NOT_ALLOWED = (
    "is not allowed: the person serves this notebook read-only. They can allow it with %mcp serve --allow-code."
)

_TEXT = {"type": "string"}
_STATUS = {"enum": ["ok", "error", "interrupted", "denied", "busy"], "type": "string"}
_EXECUTED = {
    "type": "object",
    "properties": {
        "notebook": _TEXT,
        "status": _STATUS,
        "stdout": _TEXT,
        "stderr": _TEXT,
        "displayed": {"type": "string", "description": "what was displayed, as text"},
        "result": {"type": "string", "description": "the value of the last expression, as text"},
        "error": {
            "type": "object",
            "properties": {"type": _TEXT, "message": _TEXT, "traceback": _TEXT},
            "required": ["type", "message"],
        },
        "images": {"type": "integer", "description": "how many pictures are in the content"},
        "truncated": {"type": "boolean", "description": "something was left out of the output"},
        "execution_count": {"type": "integer", "description": "the cell's number, where it is kept in the history"},
        "seconds": {"type": "number"},
    },
    "required": ["notebook", "status"],
}
_SET = {
    "type": "object",
    "properties": {"notebook": _TEXT, "name": _TEXT, "status": _STATUS, "replaced": {"type": "boolean"}},
    "required": ["notebook", "name", "status"],
}


def register(book: NotebookServer) -> None:
    """Add both to the notebook's server."""
    executor = _Executor(book)

    async def execute_code(
        notebook: str,
        code: str,
        ctx: AsyncContext,
        store_history: bool = False,
        timeout: float = SECONDS,
        background: bool = False,
    ) -> TaskWork:
        """Run Python code (IPython's syntax too) in the notebook's kernel. The person at the notebook is asked first.

        Args:
            notebook: which notebook.
            code: the code, at most 20,000 characters. The value of its last expression is returned.
            store_history: keep it in the notebook's history (In, Out, its numbers), as if it had been typed.
            timeout: seconds after which it is interrupted.
            background: hand it over as a task, for clients that have tasks; others wait.
        """
        return cast("TaskWork", await executor.execute(ctx, code, store_history, timeout, background))

    async def set_variable(notebook: str, name: str, value: AnyValue, ctx: AsyncContext) -> ToolResult:
        """Set a variable of the notebook to a JSON value. The person at the notebook is asked first.

        Args:
            notebook: which notebook.
            name: of the variable; it may be new.
            value: any JSON; lists in lists three deep, or more within an object.
        """
        return await executor.set(ctx, name, value)

    changing = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": True}
    book.server.add_tool(
        book.addressed(execute_code),
        title="Run code",
        annotations=changing,
        output_schema=_EXECUTED,
        task=True,
    )
    book.server.add_tool(
        book.addressed(set_variable),
        title="Set a variable",
        annotations={**changing, "idempotentHint": True, "openWorldHint": False},
        output_schema=_SET,
    )


class _Refused(Exception):
    """It is not done; the status and why, in words for the client."""

    def __init__(self, status: str, text: str) -> None:
        super().__init__(text)
        self.status = status


class _Executor:
    """Does both, for one notebook's server."""

    def __init__(self, book: NotebookServer) -> None:
        self._book = book
        self._shell = book.shell

    # --- code

    async def execute(
        self, ctx: AsyncContext, code: str, store_history: bool, timeout: float, background: bool
    ) -> ToolResult | TaskWork:
        """Ask, then run; with `background`, the run is handed back as a task's work."""
        try:
            _check_code(code, timeout)
            await self._consent("execute_code", {"code": code}, ctx)
        except _Refused as refused:
            return self._refusal(refused)

        async def work(ctx: AsyncContext) -> ToolResult:
            with self._journalled("execute_code", {"code": code}) as outcome:
                result = await self._run(ctx, code, store_history, timeout)
                outcome.append(result.structured["status"])
                return result

        return TaskWork(work) if background else await work(ctx)

    async def _run(self, ctx: AsyncContext, code: str, store_history: bool, timeout: float) -> ToolResult:
        reporter = Reporter(ctx)
        cell = _Cell(self._shell, code, store_history, Outputs(reporter.heard))
        main = self._book.main
        interrupted = False
        try:
            async with reporter.reporting():
                work = main.run_async(cell.run_async, on_wait=reporter.word) if cell.awaits else None
                interrupted = await _limited(work or main.run(cell.run, on_wait=reporter.word), cell.begun, timeout)
        except Busy as busy:
            return self._refusal(_Refused("busy", str(busy)))
        except MCPError as error:  # the person's interrupt
            interrupted = True
            cell.outputs.error = cell.outputs.error or {"type": "KeyboardInterrupt", "message": str(error)}
        return self._result(cell, interrupted)

    def _result(self, cell: _Cell, interrupted: bool) -> ToolResult:
        outputs, error = cell.outputs, cell.outputs.error
        status = "ok" if error is None else "interrupted" if error["type"] == "KeyboardInterrupt" else "error"
        texts = {
            "stdout": outputs.stdout.text,
            "stderr": outputs.stderr.text,
            "displayed": outputs.shown.text,
            "result": outputs.value,
        }
        said = {key: str(clean(text)) for key, text in texts.items() if text}
        structured: dict[str, Any] = {
            "notebook": self._book.slug,
            "status": "interrupted" if interrupted else status,
            **said,
            "images": len(outputs.pictures),
            "truncated": outputs.cut,
            "seconds": round(cell.seconds, 3),
        }
        content: list[Any] = list(said.values())
        if error is not None:
            structured["error"] = {key: str(clean(text)) for key, text in error.items()}
            content.append(structured["error"].get("traceback") or structured["error"]["message"])
        if interrupted and not cell.over:
            content.append("It was interrupted and has not stopped yet.")
        if cell.count is not None:
            structured["execution_count"] = cell.count
        content += [Image(data, mime) for mime, data in outputs.pictures]
        failed = structured["status"] != "ok"
        return ToolResult(content or ["(no output)"], structured, is_error=failed)

    # --- variables

    async def set(self, ctx: AsyncContext, name: str, value: Any) -> ToolResult:
        """Ask, then set."""
        try:
            self._check_variable(name, value)
            await self._consent("set_variable", {"name": name, "value": value}, ctx)
        except _Refused as refused:
            return self._refusal(refused, name=name)
        reporter = Reporter(ctx)
        with self._journalled("set_variable", {"name": name}) as outcome:
            try:
                replaced = await self._book.main.run(lambda: self._set(name, value), on_wait=reporter.word)
            except Busy as busy:
                outcome.append("busy")
                return self._refusal(_Refused("busy", str(busy)), name=name)
            outcome.append("ok")
        structured = {"notebook": self._book.slug, "name": name, "status": "ok", "replaced": replaced}
        return ToolResult(f"{name} was {'replaced' if replaced else 'set'}.", structured)

    def _set(self, name: str, value: Any) -> bool:
        namespace = self._shell.user_ns
        seen = name in namespace and bool(self._book.visible({name: namespace[name]}))
        namespace[name] = value
        self._shell.user_ns_hidden.pop(name, None)
        return seen

    def _check_variable(self, name: str, value: Any) -> None:
        """Raises _Refused."""
        if not name.isidentifier() or keyword.iskeyword(name) or len(name) > 200:
            raise _Refused("error", f"{name[:80]!r} is not a name for a variable.")
        if name.startswith("_") or name in _RESERVED:
            raise _Refused("error", f"{name!r} belongs to IPython.")
        if len(json.dumps(value, ensure_ascii=False)) > MAX_CODE:
            raise _Refused("error", f"The value is too long to be looked at (at most {MAX_CODE:,} characters of JSON).")

    # --- leave

    async def _consent(self, tool: str, arguments: dict[str, Any], ctx: AsyncContext) -> None:
        """Raises _Refused."""
        if not self._book.choice.allow_code:
            raise _Refused("denied", f"{tool} {_NOT_ALLOWED}")
        await ctx.progress(0, None, "waiting for the person at the notebook")
        try:
            await state.get_host().consent(self._book.slug, tool, arguments, client=_client(ctx))
        except Denied as denied:
            with self._journalled(tool, arguments) as outcome:
                outcome.append("denied")
            raise _Refused("denied", denied.message) from None

    @contextmanager
    def _journalled(self, tool: str, arguments: dict[str, Any]) -> Generator[list[str]]:
        """An entry of the journal; the status goes into the list."""
        journal = state.get_host().journal
        number = journal.begin(self._book.slug, "tools/call", tool, "server", arguments=arguments)
        status = list[str]()
        try:
            yield status
        finally:
            outcome = status[-1] if status else "cancelled"
            journal.end(number, {"interrupted": "timeout", "busy": "timeout"}.get(outcome, outcome))

    def _refusal(self, refused: _Refused, **more: str) -> ToolResult:
        structured = {"notebook": self._book.slug, **more, "status": refused.status}
        return ToolResult(str(refused), structured, is_error=True)


class _Cell:
    """The code of one call, and how it ran.

    Attributes:
        begun: set when it begins.
        over: whether it has ended.
        count: its number in the history, or None.
    """

    def __init__(self, shell: Any, code: str, store_history: bool, outputs: Outputs) -> None:
        self._shell = shell
        self._code = code
        self._store = store_history
        self._loop = asyncio.get_running_loop()
        self._began = self._ended = 0.0
        self.outputs = outputs
        self.begun = asyncio.Event()
        self.count: int | None = None

    @property
    def over(self) -> bool:
        return self._ended > 0

    @property
    def seconds(self) -> float:
        """How long it has run."""
        return (self._ended or time.monotonic()) - self._began if self._began else 0.0

    @property
    def awaits(self) -> bool:
        """Whether it has an `await` at its top level."""
        if "await" not in self._code and "async" not in self._code:
            return False
        try:
            transformed = self._shell.transform_cell(self._code)
            return bool(self._shell.should_run_async(self._code, transformed_cell=transformed))
        except Exception:  # IPython says what is wrong with it when it runs it
            return False

    def run(self) -> None:
        """Run it here, on the main thread."""
        with self._running(), cells.aside():
            self._done(self._shell.run_cell(self._code, store_history=self._store))

    async def run_async(self) -> None:
        """Await it here."""
        shell = self._shell
        with ExitStack() as stack:
            stack.enter_context(self._running())
            if not on_main_thread():  # which waits in a call of ours, in a cell that is not over with this one
                stack.enter_context(cells.aside())
            transformed = shell.transform_cell(self._code)
            done = await shell.run_cell_async(self._code, store_history=self._store, transformed_cell=transformed)
            shell.events.trigger("post_execute")
            shell.events.trigger("post_run_cell", done)
            self._done(done)

    @contextmanager
    def _running(self) -> Generator[None]:
        self._began = time.monotonic()
        on_loop(self._loop, self.begun.set)
        try:
            with routed(self._shell, self.outputs):
                yield
        finally:
            self._ended = time.monotonic()

    def _done(self, done: Any) -> None:
        if self._store:
            self.count = done.execution_count
        error = done.error_before_exec or done.error_in_exec
        if error is not None and self.outputs.error is None:
            self.outputs.fail(type(error).__name__, str(error), [])


async def _limited(work: Coroutine[Any, Any, None], begun: asyncio.Event, timeout: float) -> bool:
    """Await the work; it is interrupted when it runs longer than the limit. Whether it was."""
    runs = asyncio.ensure_future(work)
    begins = asyncio.ensure_future(begun.wait())
    try:
        await asyncio.wait({runs, begins}, return_when=asyncio.FIRST_COMPLETED)
        done, _ = await asyncio.wait({runs}, timeout=timeout)
        if not done:
            runs.cancel()
            await asyncio.wait({runs}, timeout=_LAST_STEPS)
            return True
        runs.result()
        return False
    finally:
        begins.cancel()
        runs.cancel()


def _check_code(code: str, timeout: float) -> None:
    """Raises _Refused."""
    if not code.strip():
        raise _Refused("error", "There is no code.")
    if len(code) > MAX_CODE:
        raise _Refused("error", f"The code is too long to be looked at (at most {MAX_CODE:,} characters).")
    if _MISLEADING.search(code):
        raise _Refused("error", "The code holds invisible characters that would make it look like other code.")
    if not 0 < timeout <= MAX_SECONDS:
        raise _Refused("error", f"timeout is a number of seconds above 0, at most {MAX_SECONDS:g}.")


def _client(ctx: AsyncContext) -> str:
    name = ctx.client_info.get("name")
    return printable(name, 60).strip() or _NAMELESS if isinstance(name, str) else _NAMELESS
