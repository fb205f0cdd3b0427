"""Logging in to servers, for Python code and for the magics: `login`, `logout`, `whoami`.

The flows are `client.auth`'s, what a person is asked `host.auth`'s.
"""

from __future__ import annotations

from jupyter_mcp.notebook.objects.act import Act, get_host
from jupyter_mcp.notebook.objects.login import Login

__all__ = ["asking_who", "logging_in", "logging_out", "login", "logout", "whoami"]


def login(name: str) -> Login:
    """Log in to a server anew, whatever is kept of an earlier login; it is connected again when it was not.

    Args:
        name: of a server with a URL that this notebook has connected, or tried to.

    Raises:
        UsageError: there is no such server, or nobody logs in to it.
        AuthorizationFailed: the step that failed, the URL, and what was said there.
    """
    return logging_in(name).now()


def logging_in(name: str) -> Act[Login]:
    """The act of logging in."""

    async def start() -> Login:
        return Login(await get_host().login(name))

    return Act(f"logging in to {name}", start, "nothing is kept of the login")


def logout(name: str) -> bool:
    """Give a server's tokens back, where they are taken back, and keep nothing of the login. Its connection is closed.

    Returns:
        False when there was no login.

    Raises:
        UsageError: there is no such server, or nobody logs in to it.
        AuthorizationFailed: it could not be found out where we are logged in.
    """
    return logging_out(name).now()


def logging_out(name: str) -> Act[bool]:
    """The act of logging out."""

    async def start() -> bool:
        return bool(await get_host().logout(name))

    return Act(f"logging out of {name}", start)


def whoami(name: str) -> Login:
    """Who this notebook is to a server; nobody logs in for that. It is true when there is a login.

    Raises:
        UsageError: there is no such server, or nobody logs in to it.
        AuthorizationFailed: the server does not say where one would log in.
    """
    return asking_who(name).now()


def asking_who(name: str) -> Act[Login]:
    """The act of looking a login up."""

    async def start() -> Login:
        return Login(await get_host().whoami(name))

    return Act(f"who this notebook is to {name}", start)
