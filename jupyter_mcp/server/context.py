"""What a handler gets to talk back to the client: `Context` in a `def`, `AsyncContext` in an `async def`.

Both have the same methods, blocking in the first and awaitable in the second. A handler is written once for both eras.
In the modern era a question ends the round. The handler waits for the answer, and goes on where it stopped when the
answer comes to this process; where it cannot wait (see `parking`) it **runs again from the top** with the answers so
far already there, so what it does before a question should be harmless to repeat. After an answer, progress and log
belong to the request that brought it.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from typing import TYPE_CHECKING, Any, TypeVar

from jupyter_mcp.errors import Cancelled, MCPError, UsageError
from jupyter_mcp.protocol import capabilities
from jupyter_mcp.server.questions import Elicit, Elicited, Question, RootFolder, Roots, Sample, Sampled, page

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.protocol.revisions import Era
    from jupyter_mcp.server.access import Access
    from jupyter_mcp.server.exchange import Exchange
    from jupyter_mcp.server.run import Run

T = TypeVar("T")
_MOST_UNSENT = 64


class _Shared:
    """What needs no waiting."""

    def __init__(self, run: Run) -> None:
        self._run = run

    @property
    def _exchange(self) -> Exchange:
        return self._run.exchange

    @property
    def request_id(self) -> int | str:
        """The id of the request that is being answered."""
        return self._exchange.id

    @property
    def era(self) -> Era:
        """ "legacy" or "modern"."""
        return self._exchange.peer.era

    @property
    def revision(self) -> str:
        """The protocol revision, such as "2025-11-25"."""
        return self._exchange.peer.revision

    @property
    def client_info(self) -> Mapping[str, Any]:
        """The client's name and version: its own words, for display only."""
        return self._exchange.peer.info

    @property
    def client_capabilities(self) -> Mapping[str, Any]:
        """What the client declared."""
        return self._exchange.peer.capabilities

    @property
    def principal(self) -> str:
        """Who asks, by the transport's authentication; "" on a pipe."""
        return self._exchange.peer.principal

    @property
    def access(self) -> Access | None:
        """What the client's access token allows, and whose it is; None where no identity provider protects the server.

        The scopes that a tool always needs are better said where it is served (`tool_scopes`): the client is then sent
        to ask for them.
        """
        return self._exchange.access

    @property
    def meta(self) -> Mapping[str, Any]:
        """The request's `_meta`."""
        found = self._exchange.params.get("_meta")
        return found if isinstance(found, dict) else {}  # pyright: ignore[reportUnknownVariableType]

    @property
    def cancelled(self) -> bool:
        """Whether the client gave this call up. A long loop looks here, or calls `progress`, which raises then."""
        return self._run.cancelled

    @property
    def state(self) -> Any:
        """What the last round's `InputRequired(state=…)` held; None in the first round."""
        return self._run.ledger.state

    @property
    def responses(self) -> Mapping[str, Any]:
        """The bare answers to the last round's `InputRequired(requests=…)`, by key; {} in the first round."""
        return self._run.ledger.responses

    def extension(self, id: str) -> Mapping[str, Any] | None:
        """The client's settings for an extension ("vendor.example/name"); None when it did not declare it."""
        return capabilities.extension(self.client_capabilities, id)

    def can(self, *capability: str) -> bool:
        """Whether the client declared a capability: `ctx.can("elicitation", "url")`, `ctx.can("sampling")`."""
        if capability == ("elicitation", "form"):
            return capabilities.client_allows(self.client_capabilities, "elicitation/create") is None
        return capabilities.declared(self.client_capabilities, capability)


class AsyncContext(_Shared):
    """The context of an `async def` handler."""

    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Report progress: `done` of `total` (any unit), with a word for the person. Goes forward only."""
        self._run.check()
        await self._send(self._exchange.progress(done, total, message))

    async def log(self, level: str, data: Any, *, logger: str | None = None) -> None:
        """Send a log message, if the client wants its level ("debug", "info", … "emergency")."""
        self._run.check()
        await self._send(self._exchange.log(level, data, logger))

    async def sleep(self, seconds: float) -> None:
        """`asyncio.sleep`, here so that both contexts have it."""
        await asyncio.sleep(seconds)

    async def close_stream(self, retry_ms: int = 1000) -> None:
        """Over HTTP in the legacy era: close the connection of this call; the client comes back for the rest.

        For calls so long that a connection should not be held for them. Nothing is lost; elsewhere nothing happens.

        Args:
            retry_ms: milliseconds after which the client is to come back.
        """
        if self._exchange.close_stream is not None:
            self._exchange.close_stream(retry_ms)

    async def _send(self, message: dict[str, Any] | None) -> None:
        if message is not None:
            await self._exchange.post(message)
        await asyncio.sleep(0)  # a loop that only reports must not keep the others from running

    async def elicit(self, message: str, schema: Any = None, *, key: str | None = None) -> Elicited:
        """Ask the person with a form.

        Args:
            message: what to ask.
            schema: a pydantic model, dataclass, plain type (`int`, `Literal["a", "b"]`) or the JSON Schema of a flat
                object; None asks for a bare yes or no.
            key: a name for this question that survives another wording of it (see `rounds`).

        Returns:
            `.action` ("accept", "decline", "cancel") and, after "accept", `.data`.

        Raises:
            UsageError: the form asks for a secret; use `elicit_url`.
            MissingCapability: the client cannot ask; `ctx.can("elicitation")` says so before.
            InputRefused: the client answered with an error.
        """
        return await self._ask(Elicit(message, schema), key)

    async def elicit_url(
        self, message: str, url: str, *, key: str | None = None, elicitation_id: str | None = None
    ) -> Elicited:
        """Ask the person to open a page; "accept" means that they agreed to, not that they are done there.

        Args:
            message: why.
            url: http or https.
            key: as `elicit`.
            elicitation_id: a name for it that nobody can guess, for `elicitation_complete`; by default made anew.

        Raises:
            UsageError: it is no such address.
            MissingCapability: the client cannot open pages; `ctx.can("elicitation", "url")` says so before.
        """
        return await self._ask(page(message, url, elicitation_id), key)

    async def elicitation_complete(self, elicitation_id: str) -> None:
        """Tell the client that the person is done at a page (2025-11-25; nothing in other revisions).

        What learns of it outside a handler tells it by `server.elicitation_complete`.
        """
        await self._send(self._run.page_done(elicitation_id))

    async def sample(self, messages: Any, max_tokens: int = 1000, *, key: str | None = None, **options: Any) -> Sampled:
        """Ask the client's model. `options` are those of `Sample` (`system`, `temperature`, `tools` …)."""
        return await self._ask(Sample(messages, max_tokens, **options), key)

    async def roots(self, *, key: str | None = None) -> list[RootFolder]:
        """Ask the client for the folders it works in."""
        return await self._ask(Roots(), key)

    async def ask(self, questions: Mapping[str, Question]) -> dict[str, Any]:
        """Several questions in one round: `{key: Elicit(…) | Sample(…) | Roots()}` -> `{key: answer}`."""
        answers = await self._run.ask({key: questions[key] for key in questions})
        return {str(key): answer for key, answer in answers.items()}

    async def _ask(self, question: Question, key: str | None) -> Any:
        return (await self._run.ask({key: question}))[key]


class Context(_Shared):
    """The context of a `def` handler, which runs on a thread of its own: every method blocks until it is done."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._unsent = threading.BoundedSemaphore(_MOST_UNSENT)

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Report progress: `done` of `total` (any unit), with a word for the person. Goes forward only."""
        self._run.check()
        self._send(self._exchange.progress(done, total, message))

    def log(self, level: str, data: Any, *, logger: str | None = None) -> None:
        """Send a log message, if the client wants its level ("debug", "info", … "emergency")."""
        self._run.check()
        self._send(self._exchange.log(level, data, logger))

    def elicit(self, message: str, schema: Any = None, *, key: str | None = None) -> Elicited:
        """Ask the person with a form; see `AsyncContext.elicit`."""
        return self._ask({key: Elicit(message, schema)})[key]

    def elicit_url(
        self, message: str, url: str, *, key: str | None = None, elicitation_id: str | None = None
    ) -> Elicited:
        """Ask the person to open a page; see `AsyncContext.elicit_url`."""
        return self._ask({key: page(message, url, elicitation_id)})[key]

    def elicitation_complete(self, elicitation_id: str) -> None:
        """Tell the client that the person is done at a page; see `AsyncContext.elicitation_complete`."""
        self._send(self._run.page_done(elicitation_id))

    def sample(self, messages: Any, max_tokens: int = 1000, *, key: str | None = None, **options: Any) -> Sampled:
        """Ask the client's model. `options` are those of `Sample` (`system`, `temperature`, `tools` …)."""
        return self._ask({key: Sample(messages, max_tokens, **options)})[key]

    def roots(self, *, key: str | None = None) -> list[RootFolder]:
        """Ask the client for the folders it works in."""
        return self._ask({key: Roots()})[key]

    def ask(self, questions: Mapping[str, Question]) -> dict[str, Any]:
        """Several questions in one round: `{key: Elicit(…) | Sample(…) | Roots()}` -> `{key: answer}`."""
        answers = self._ask({key: questions[key] for key in questions})
        return {str(key): answer for key, answer in answers.items()}

    def sleep(self, seconds: float) -> None:
        """`time.sleep` that ends at once, with `Cancelled`, when the client gives the call up."""
        self._run.check()
        gone = threading.Event()
        forget = self._run.on_cancel(gone.set)
        try:
            gone.wait(seconds)
        finally:
            forget()
        self._run.check()

    def close_stream(self, retry_ms: int = 1000) -> None:
        """Let the client come back for the rest of this call; see `AsyncContext.close_stream`."""
        close = self._exchange.close_stream
        if close is not None:
            loop = self._run.loop
            loop.call_soon_threadsafe(loop.call_soon, close, retry_ms)  # after what was sent before

    def _send(self, message: dict[str, Any] | None) -> None:
        if message is None:
            return
        self._off_the_loop()
        while not self._unsent.acquire(timeout=1.0):  # a client that reads slowly slows the handler down
            self._run.check()
        self._run.loop.call_soon_threadsafe(self._start_sending, self._exchange, message)

    def _start_sending(self, exchange: Exchange, message: dict[str, Any]) -> None:
        if exchange.over:
            self._unsent.release()
            return
        task = self._run.loop.create_task(_awaited(exchange.post(message)))
        task.add_done_callback(lambda _: self._unsent.release())

    def _ask(self, questions: Mapping[str | None, Question]) -> dict[str | None, Any]:
        self._off_the_loop()
        asking = self._run.ask(questions)
        try:
            future = asyncio.run_coroutine_threadsafe(asking, self._run.loop)
        except RuntimeError:  # the loop is closed
            asking.close()
            raise Cancelled("The server has stopped.") from None
        forget = self._run.on_cancel(future.cancel)
        try:
            return future.result()
        except concurrent.futures.CancelledError:
            raise Cancelled("The client cancelled this call.") from None
        finally:
            forget()

    def _off_the_loop(self) -> None:
        try:
            running = asyncio.get_running_loop()
        except RuntimeError:
            return
        if running is self._run.loop:
            raise UsageError(
                "A blocking Context cannot be used on the server's own loop; make the handler `async def`."
            )


async def _awaited(awaitable: Any) -> None:
    try:
        await awaitable
    except MCPError:
        pass  # the client is gone; the session ends elsewhere
