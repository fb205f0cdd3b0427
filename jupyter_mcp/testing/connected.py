"""`connected`: one server, one host, one `async with`."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Literal, cast

from jupyter_mcp.host.host import Host
from jupyter_mcp.host.specs import ServerSpec

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from jupyter_mcp.host.answers import ScriptedAnswer
    from jupyter_mcp.host.entry import ServerEntry
    from jupyter_mcp.host.events import OnEvent
    from jupyter_mcp.host.result import PromptResult, Read, Result

__all__ = ["Connected", "connected"]

NAME = "server"


class Connected:
    """A server under test and the host that is connected to it.

    Attributes:
        host: with the journal, the rules and the scripted answers.
        entry: the connection's state, era, revision, info, log.
    """

    def __init__(self, host: Host, entry: ServerEntry) -> None:
        self.host = host
        self.entry = entry

    async def call(
        self, tool: str, /, *, check: bool = True, on_event: OnEvent | None = None, **arguments: Any
    ) -> Result:
        """Call a tool.

        Args:
            tool: its name.
            check: raise `ToolError` when the tool reports a failure; else return that result.
            on_event: told of progress, log messages and questions, as they come.
            arguments: of the tool; for names that are words of this function use `host.call_tool`.

        Raises:
            UsageError: no such tool, or arguments that do not fit its schema.
            ToolError, RequestError, RequestTimeout, ConnectionLost, InputRefused: how it ended.
        """
        return await self.host.call_tool(NAME, tool, arguments, origin="code", check=check, on_event=on_event)

    async def read(self, uri: str, /, **values: Any) -> Read:
        """Read a resource, or the resource that a template and its values name."""
        return await self.host.read(NAME, uri, values or None, origin="code")

    async def prompt(self, name: str, /, **arguments: Any) -> PromptResult:
        """Get a prompt."""
        return await self.host.get_prompt(NAME, name, arguments, origin="code")


@asynccontextmanager
async def connected(
    server: Any,
    *,
    answers: ScriptedAnswer | Sequence[ScriptedAnswer] = (),
    era: Literal["auto", "legacy", "modern"] = "auto",
) -> AsyncGenerator[Connected]:
    """Connect a host to a server, and close both at the end.

    Args:
        server: a `jupyter_mcp.server.Server` (connected in memory), or a command: a string or a sequence of words.
        answers: what the person would answer to the server's questions, as for `mcp.answer`: one answer for all of
            them, or a list of answers, each for one question, in order.
        era: of the connection.

    Raises:
        ConnectionFailed: the server cannot be started or does not speak the protocol.
        UsageError: an answer that can never be one.
    """
    host = Host()
    if isinstance(answers, list | tuple):
        for answer in reversed(cast("Sequence[ScriptedAnswer]", answers)):
            host.answers.add(answer, times=1)  # of equal ones the latest is taken first
    else:
        host.answers.add(cast("ScriptedAnswer", answers))
    try:
        yield Connected(host, await host.connect(ServerSpec.parse(NAME, server, era=era)))
    finally:
        await host.aclose()
