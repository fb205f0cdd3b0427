"""Notebooks that are served at a Jupyter Server elsewhere: on a hub, or a remote machine. `stdio --url`.

The server's own list says which there are; each is reached at the server's address, with the person's token, which is
never taken from the command line. What keeps a list from being read is told in one sentence, and looked at again.

Below: `transport.http`. Above: `notebooks`, which is told of what is found here as of notebooks of this machine.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit, urlunsplit

from jupyter_mcp.cli.bridge.choosing import HOW, Nobody
from jupyter_mcp.errors import MCPError, UsageError
from jupyter_mcp.protocol.framing import printable
from jupyter_mcp.protocol.shapes import as_list, is_list, mapping_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jupyter_mcp.kernel.identity import Live

__all__ = ["KEYRING", "TOKENS", "JupyterServer", "address", "is_private", "token_for"]

TOKENS = ("JUPYTER_TOKEN", "JUPYTERHUB_API_TOKEN")
"""Variables of the environment that may hold a token, the first one first."""
KEYRING = "jupyter-mcp-host"
"""The service under which the system's keyring may hold it, with the address as its user."""
LISTED = "jupyter-mcp/api/notebooks"
SECONDS = 15.0  # a Jupyter Server asks each of its kernels, for two seconds at most
KEPT_SECONDS = 3.0
MOST_BYTES = 2_000_000
_NO_ADDRESS = "--url wants the address of a Jupyter Server, such as https://hub.example.org/user/ada/."


def address(url: str) -> str:
    """A Jupyter Server's address, ending in "/".

    Raises:
        UsageError: it is none, or holds a token or a password.
    """
    try:
        parts = urlsplit(url)
        fine = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        raise UsageError(_NO_ADDRESS) from None
    if parts.query or parts.fragment or parts.username or parts.password:
        raise UsageError("--url wants the address alone: no token, no user.", hint=f"A token goes into {TOKENS[0]}.")
    if not fine:
        raise UsageError(_NO_ADDRESS)
    path = parts.path.removesuffix("/lab").removesuffix("/tree").rstrip("/")
    return urlunsplit((parts.scheme, parts.netloc, f"{path}/", "", ""))


def is_private(url: str) -> bool:
    """Whether what is sent there is encrypted, or stays on this machine."""
    parts = urlsplit(url)
    return parts.scheme == "https" or parts.hostname in ("localhost", "127.0.0.1", "::1")


def token_for(url: str, environ: Mapping[str, str] | None = None) -> str:
    """The token for a Jupyter Server, of the environment or of the system's keyring.

    Raises:
        UsageError: there is none.
    """
    found = next((value for name in TOKENS if (value := (environ or os.environ).get(name, "").strip())), "")
    found = found or _of_keyring(url)
    if not found:
        raise UsageError(
            f"There is no token for {url}.",
            hint=f"Set {TOKENS[0]} to one, or keep it: python -m keyring set {KEYRING} {url}",
        )
    return found


def _of_keyring(url: str) -> str:
    try:
        keyring: Any = importlib.import_module("keyring")
        return keyring.get_password(KEYRING, url) or ""
    except Exception:  # no such package, or nobody who could unlock it
        return ""


class JupyterServer:
    """One Jupyter Server.

    Args:
        url: as of `address`. token: lets requests in.
        kernel: only the notebook of the kernel with this id. wanted: the path of the one that is meant, if it is one.
    """

    def __init__(self, url: str, token: str, kernel: str | None = None, wanted: str | None = None) -> None:
        self.url = url
        self._token = token
        self._kernel = kernel
        self._wanted = wanted
        self._read: tuple[float, Sequence[Live] | Nobody] | None = None
        self._reading = asyncio.Lock()

    def __repr__(self) -> str:
        return f"<JupyterServer {self.url}>"

    async def look(self) -> Sequence[Live] | Nobody:
        """The notebooks that are served there now, or why that is not known; read again after some seconds."""
        async with self._reading:
            if self._read is None or time.monotonic() - self._read[0] > KEPT_SECONDS:
                found = await self._look()
                self._read = (time.monotonic(), found)
            return self._read[1]

    async def _look(self) -> Sequence[Live] | Nobody:
        try:
            status, body = await self._get()
        except (MCPError, TimeoutError) as error:
            return Nobody(f"{self.url} cannot be reached: {str(error) or 'no answer'}")
        if status in (401, 403):
            return Nobody(f"{self.url} does not take the token ({status}). {TOKENS[0]} has to hold one of that user's.")
        rows = _rows(body) if status == 200 else None
        if rows is None:
            return Nobody(
                f"{self.url} does not say which notebooks it serves ({status}): it may not be running, or has no "
                "jupyter-mcp-host."
            )
        return self._served(rows)

    async def _get(self) -> tuple[int, bytes]:
        from jupyter_mcp.transport.http.options import HttpOptions
        from jupyter_mcp.transport.http.wire import TooBig, Wire

        options = HttpOptions(headers={"Authorization": f"Bearer {self._token}"})
        wire = Wire(urljoin(self.url, LISTED), options)
        wire.open()
        try:
            answer = await wire.send("GET", {"Accept": "application/json"}, seconds=SECONDS)
            return answer.status, await answer.all(MOST_BYTES)
        except TooBig:
            return 200, b""
        finally:
            await wire.close()

    def _served(self, rows: Sequence[Mapping[str, Any]]) -> Sequence[Live] | Nobody:
        if self._kernel is not None:
            rows = [row for row in rows if row.get("kernel_id") == self._kernel]
            if not rows:
                return Nobody(f"{self.url} has no kernel {printable(self._kernel, 80)} (any more).")
        found = [one for row in rows if (one := self._live(row)) is not None]
        hints = [str(row["hint"]) for row in rows if isinstance(row.get("hint"), str) and row["hint"]]
        if not found and hints and (self._kernel is not None or len(rows) == 1):
            return Nobody(f"No notebook is being served at {self.url}. {printable(hints[0], 300)}")
        return found or Nobody(f"No notebook is being served at {self.url}. {HOW}.")

    def _live(self, row: Mapping[str, Any]) -> Live | None:
        from jupyter_mcp.kernel.identity import Live

        path, name, where = (str(row.get(key) or "") for key in ("path", "name", "address"))
        place = urljoin(self.url, where)
        if row.get("state") != "served" or not name or urlsplit(place)[:2] != urlsplit(self.url)[:2]:
            return None  # the token goes to this server and to no other
        return Live(
            notebook=printable(path if path == self._wanted else path.rpartition("/")[2], 200),
            slug=printable(name, 80),
            folder=self.url,
            url=place,
            token=self._token,
            pid=0,
            started=time.time(),
        )


def _rows(body: bytes) -> list[Mapping[str, Any]] | None:
    """The rows of an answer; None for a page that asks to log in, or anything else."""
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return None
    rows: object = mapping_of(said).get("notebooks")
    return [mapping_of(row) for row in as_list(rows)] if is_list(rows) else None
