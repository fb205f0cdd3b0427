"""A client outside the kernel: the product's own host, on a loop and a thread of its own, over HTTP."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from jupyter_mcp.host.host import Host
from jupyter_mcp.host.questions import Answer, Question
from jupyter_mcp.host.specs import ServerSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from concurrent.futures import Future

    from jupyter_mcp.host.result import Result

SECONDS = 20.0


class Outside:
    """One connected client; everything may be called from the test's thread.

    Attributes:
        questions: what it was asked.
        reply: answers them.
        events: what it was told during calls.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.questions: list[Question] = []
        self.reply: Callable[[Question], Answer] = lambda question: Answer("cancel")
        self.events: list[Any] = []
        self.host = Host(ui=self)
        self.changes: list[str] = []

    async def ask(self, question: Question) -> Answer:
        """As the person at the client."""
        self.questions.append(question)
        return self.reply(question)

    def do(self, work: Any) -> Any:
        """Await something on its loop."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(SECONDS)

    def start(self, tool: str, /, **arguments: Any) -> Future[Result]:
        """Begin a call."""
        call = self.host.call_tool("nb", tool, arguments, check=False, on_event=self.events.append)
        return asyncio.run_coroutine_threadsafe(call, self.loop)

    def call(self, tool: str, /, **arguments: Any) -> Result:
        """Call a tool to its end."""
        return self.start(tool, **arguments).result(SECONDS)

    def until_told(self, words: str, seconds: float = 40.0) -> None:
        """Wait for progress that says so."""
        end = time.monotonic() + seconds
        while not any(words in (getattr(event, "message", None) or "") for event in list(self.events)):
            assert time.monotonic() < end, self.events
            time.sleep(0.01)

    def tools(self, *, refresh: bool = True) -> list[str]:
        """The names it is offered."""
        connection = self.host.servers["nb"].connection
        assert connection is not None
        return [item["name"] for item in self.do(connection.list("tools", refresh=refresh)).items]


@contextmanager
def outside(url: str, token: str) -> Generator[Outside]:
    """Connect; closed at the end."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    client = Outside(loop)
    try:
        client.do(client.host.connect(ServerSpec.parse("nb", url, bearer=token)))
        yield client
    finally:
        client.do(client.host.aclose())
        loop.call_soon_threadsafe(loop.stop)
        thread.join(5)
        loop.close()
