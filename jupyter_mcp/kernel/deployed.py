"""A notebook deployed as a server: what it declares, and nothing else of it, for clients of a service.

Its `@mcp.tool`, `@mcp.resource` and `@mcp.prompt` functions are offered; its variables, history and plots are not: they
are of a person who works, and here there is none. A `%mcp serve` in it ends here. Nothing is remembered between
requests in 2026-07-28, and what a question needs travels signed through the client, so any of several copies answers
any request, when all have the same name, token and key.

Called in the kernel by `jupyter-mcp-host run`. Below: `functions`, `mainthread`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from jupyter_mcp.errors import UsageError
from jupyter_mcp.kernel import functions, serving
from jupyter_mcp.kernel.mainthread import MainThread
from jupyter_mcp.runtime import wait
from jupyter_mcp.runtime.thread import get_runtime
from jupyter_mcp.server import Server
from jupyter_mcp.server.http.running import Running, serve_http

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["KEY", "TOKEN", "deploy"]

TOKEN = "JUPYTER_MCP_TOKEN"  # noqa: S105
"""The environment variable that holds what clients must bring."""
KEY = "JUPYTER_MCP_STATE_KEY"
"""The environment variable that holds the secret that signs what travels through clients."""
GRACE_SECONDS = 2.0
"""For requests that run when the kernel ends."""
_TOKEN_HINT = f"It is what {TOKEN} held when this server was started, or what was printed then."


def deploy(name: str, *, port: int = 0, host: str = "127.0.0.1", hosts: Sequence[str] = ()) -> dict[str, str]:
    """Serve what the notebook has declared, from now to the end of the process.

    Args:
        name: the server's, for clients; the same for all copies.
        port, host: where to listen.
        hosts: names, beside the loopback ones and `host`, under which clients reach it.

    Returns:
        `url`, and `token` if it was made here; else that is "".

    Raises:
        UsageError: nothing is declared, or the key is too short.
        ConnectionFailed: it cannot listen there.
    """
    given, key = os.environ.pop(TOKEN, ""), os.environ.pop(KEY, "")
    if not len(functions.book()):
        raise UsageError("The notebook declares nothing to serve.", hint="Put @mcp.tool above a function.")
    live = serving.current()
    if live is not None:  # the notebook has `%mcp serve` in it, for the person who wrote it
        live.stop()
    server = Server(
        name,
        offers=("tools", "resources", "prompts"),
        state_key=key.encode() if key else None,
        replay="always" if key else "auto",  # another copy may get the answer
    )
    if problems := functions.book().attach(server, MainThread()):
        raise UsageError(problems[0])
    running = wait.run(_begin, server, port, host, given or True, tuple(hosts), label="serving")
    return {"url": running.url, "token": "" if given else running.token or ""}


async def _begin(server: Server, port: int, host: str, token: str | bool, hosts: Sequence[str]) -> Running:
    listening = serve_http(server, port=port, host=host, token=token, hosts=hosts, grace=GRACE_SECONDS)
    running = await listening.__aenter__()
    running.endpoint.token_hint = _TOKEN_HINT

    async def end() -> None:
        await listening.__aexit__(None, None, None)

    get_runtime().on_stop(end)
    return running
