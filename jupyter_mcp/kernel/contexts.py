"""The `ctx` of a notebook's function, which runs on the main thread, on the kernel's loop or on a thread.

It is the server's context for the calling client with two differences: it may be used away from the server's loop, and
secrets are masked in all it sends by itself (log, progress, questions). A question asked on the main thread waits as a
cell waits for a call: forms are drawn, other clients' work is done, the stop button works.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from jupyter_mcp.kernel.masking import redact
from jupyter_mcp.runtime import state, wait
from jupyter_mcp.runtime.jobs import on_main_thread
from jupyter_mcp.server.content import Message
from jupyter_mcp.server.context import AsyncContext, Context
from jupyter_mcp.server.questions import Elicit, Sample

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from jupyter_mcp.server.questions import Question
    from jupyter_mcp.server.run import Run

__all__ = ["BlockingContext", "LoopContext", "clean"]

T = TypeVar("T")

HOLDS_SECONDS = 2.0
"""How long a question asked on the main thread may hold up a cell whose own call is over: a client of 2026-07-28 that
gives its call up between two rounds has no way to say so."""


def clean(value: Any) -> Any:
    """A copy of a JSON-like value with secrets masked: by name and look, and the very ones this kernel was given."""
    host = state.existing_host()
    return redact(value if host is None else host.redactor.known(value))


class BlockingContext(Context):
    """For `def`, on the main thread or beside it.

    Args:
        of: the context the server made.
    """

    def __init__(self, of: AsyncContext) -> None:
        super().__init__(_run_of(of))

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        super().progress(done, total, clean(message))

    def log(self, level: str, data: Any, *, logger: str | None = None) -> None:
        super().log(level, clean(data), logger=logger)

    def _ask(self, questions: Mapping[str | None, Question]) -> dict[str | None, Any]:
        asked = {key: _cleaned(question) for key, question in questions.items()}
        if not on_main_thread():
            return super()._ask(asked)
        after = "what the client asked for may be half done"
        label = "the question to the client"
        return wait.run(_asking, self._run, asked, label=label, after=after, holds=HOLDS_SECONDS)


class LoopContext(AsyncContext):
    """For `async def`, on the kernel's loop or a private one.

    Args:
        of: the context the server made.
    """

    def __init__(self, of: AsyncContext) -> None:
        super().__init__(_run_of(of))

    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        await super().progress(done, total, clean(message))

    async def log(self, level: str, data: Any, *, logger: str | None = None) -> None:
        await super().log(level, clean(data), logger=logger)

    async def close_stream(self, retry_ms: int = 1000) -> None:
        await self._there(super().close_stream(retry_ms))

    async def ask(self, questions: Mapping[str, Question]) -> dict[str, Any]:
        asked: dict[str | None, Question] = {key: _cleaned(question) for key, question in questions.items()}
        answers = await self._there(_asking(self._run, asked))
        return {str(key): answer for key, answer in answers.items()}

    async def _ask(self, question: Question, key: str | None) -> Any:
        return (await self._there(_asking(self._run, {key: _cleaned(question)})))[key]

    async def _send(self, message: dict[str, Any] | None) -> None:
        if message is not None:
            await self._there(self._post(message))

    async def _post(self, message: dict[str, Any]) -> None:
        await self._exchange.post(message)

    async def _there(self, work: Coroutine[Any, Any, T]) -> T:
        """Await it on the server's loop."""
        if asyncio.get_running_loop() is self._run.loop:
            return await work
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._run.loop))


async def _asking(run: Run, questions: Mapping[str | None, Question]) -> dict[str | None, Any]:
    """Ask; the end of the call ends it."""
    task = asyncio.current_task()
    assert task is not None
    forget = run.on_cancel(task.cancel)
    try:
        return await run.ask(questions)
    finally:
        forget()


def _run_of(context: AsyncContext) -> Run:
    return context._run  # pyright: ignore[reportPrivateUsage]


def _cleaned(question: Question) -> Question:
    """The question with secrets masked in what is said by it."""
    if isinstance(question, Elicit):
        return replace(question, message=clean(question.message))
    if isinstance(question, Sample):
        return replace(question, messages=_messages(question.messages), system=clean(question.system))
    return question


def _messages(messages: Any) -> Any:
    if isinstance(messages, str):
        return clean(messages)
    if isinstance(messages, Message):
        return replace(messages, content=_messages(messages.content))
    if isinstance(messages, list | tuple):
        return [_messages(one) for one in cast("list[Any]", messages)]
    if isinstance(messages, Mapping):
        found = cast("Mapping[str, Any]", messages)
        return {key: _messages(value) if key in ("text", "content") else value for key, value in found.items()}
    return messages
