"""The public functions, awaitable: `await mcp.aio.connect(…)`.

An awaited call on the kernel's own loop keeps the forms and buttons of the page alive, as a waiting magic does.
Objects have twins of their own: `await tool.aio(…)`, `await server.aio.read(…)`, `await call`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from jupyter_mcp.notebook import api, loggingin
from jupyter_mcp.notebook.api import host, policy, servers
from jupyter_mcp.notebook.objects.act import Act

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable, Mapping
    from pathlib import Path

    from jupyter_mcp.notebook.objects.conversation import Conversation
    from jupyter_mcp.notebook.objects.found import Discovered
    from jupyter_mcp.notebook.objects.login import Login
    from jupyter_mcp.notebook.objects.saved import SavedServers
    from jupyter_mcp.notebook.objects.server import Server
    from jupyter_mcp.notebook.objects.servers import Servers

__all__ = [
    "allow",
    "answer",
    "ask",
    "ask_first",
    "connect",
    "connect_all",
    "deny",
    "disable",
    "disconnect",
    "discover",
    "enable",
    "host",
    "login",
    "logout",
    "policy",
    "run",
    "save",
    "servers",
    "whoami",
]

T = TypeVar("T")


async def connect(name: str, *target: Any, **options: Any) -> Server:
    """See `jupyter_mcp.connect`."""
    return await api.connecting(name, target, options).later()


async def connect_all(source: str | Path | Mapping[str, Any], *, only: Iterable[str] | None = None) -> Servers:
    """See `jupyter_mcp.connect_all`."""
    return await api.connecting_all(source, only).later()


async def login(name: str) -> Login:
    """See `jupyter_mcp.login`."""
    return await loggingin.logging_in(name).later()


async def logout(name: str) -> bool:
    """See `jupyter_mcp.logout`."""
    return await loggingin.logging_out(name).later()


async def whoami(name: str) -> Login:
    """See `jupyter_mcp.whoami`."""
    return await loggingin.asking_who(name).later()


async def discover() -> Discovered:
    """See `jupyter_mcp.discover`."""
    return api.discover()


async def save(file: str | Path | None = None, names: Iterable[str] | None = None) -> SavedServers:
    """See `jupyter_mcp.save`."""
    from jupyter_mcp.notebook.configuring import saving

    return await saving(file, names).later()


async def disconnect(name: str) -> None:
    """See `jupyter_mcp.disconnect`."""
    await api.disconnecting(name).later()


async def ask(question: str, **options: Any) -> Conversation:
    """See `jupyter_mcp.ask`."""
    from jupyter_mcp.notebook.objects.conversation import asking

    return await asking(question, **options).later()


async def run(awaitable: Awaitable[T]) -> T:
    """Await a coroutine that runs on this package's own loop."""

    async def start() -> T:
        return await awaitable

    return await Act(getattr(awaitable, "__qualname__", "the awaitable"), start).later()


async def answer(answer: Any, **options: Any) -> None:
    """See `jupyter_mcp.answer`."""
    api.answer(answer, **options)


async def allow(pattern: str, **options: Any) -> None:
    """See `jupyter_mcp.allow`."""
    api.allow(pattern, **options)


async def deny(pattern: str, **options: Any) -> None:
    """See `jupyter_mcp.deny`."""
    api.deny(pattern, **options)


async def ask_first(pattern: str, **options: Any) -> None:
    """See `jupyter_mcp.ask_first`."""
    api.ask_first(pattern, **options)


async def enable(pattern: str, **options: Any) -> None:
    """See `jupyter_mcp.enable`."""
    api.enable(pattern, **options)


async def disable(pattern: str, **options: Any) -> None:
    """See `jupyter_mcp.disable`."""
    api.disable(pattern, **options)
