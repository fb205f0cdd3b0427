"""Where the kernels of this Jupyter Server are served: asked over the control channel, remembered until it is wrong.

A kernel on this machine answers with the address and the token of its endpoint; both stay in this process. One that is
not served, or has not loaded the extension, is told apart, with what to do about it. RULES

- A kernel does not choose where we send requests: its address is http on loopback, and counts only when the kernel is
  on this machine, which it shows by reading a file of this process. A kernel elsewhere means its own loopback.
- A kernel of another language is not asked: it would not know our message.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import tempfile
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

from jupyter_mcp.protocol.framing import printable
from jupyter_mcp.serverextension.languages import is_ours, language_of
from jupyter_mcp.serverextension.reach import KernelSaidNo, KernelSilent, control

__all__ = ["Endpoint", "Endpoints", "Standing", "State"]

State = Literal["served", "not served", "silent", "gone"]
SECONDS = 5.0
_MOST_NAME = 200


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a kernel is served; the token is for this process alone.

    Attributes:
        url: on loopback. token: that it wants.
    """

    url: str
    token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Standing:
    """How it is with a kernel.

    Attributes:
        state: "served", "not served", "silent" (no answer: no extension, or it is just starting) or "gone".
        endpoint: of one that is served on this machine; None elsewhere: it is reached by its control channel.
        name: of a notebook that is served, as it is served.
        hint: what to do, one sentence; "" when it is served.
    """

    state: State
    endpoint: Endpoint | None = None
    name: str = ""
    hint: str = ""


_NOT_SERVED = "Serve it from a cell: %load_ext jupyter_mcp, then %mcp serve."
_PROVIDER = "It is served without a token of its own, behind an identity provider: use the address that it has there."
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_GONE = "There is no such kernel; it was shut down, or restarted under another id."


class Endpoints:
    """The endpoints of one Jupyter Server's kernels.

    Args:
        kernels: its kernel manager. specs: its kernelspec manager.
    """

    def __init__(self, kernels: Any, specs: Any) -> None:
        self._kernels = kernels
        self._specs = specs
        self._known: dict[str, Standing] = {}
        self._asking: dict[str, asyncio.Task[Standing]] = {}

    async def look(self, kernel_id: str, seconds: float) -> Standing:
        """How it is with a kernel now: it is asked again. What was known holds when it does not answer in time."""
        known = self._known.get(kernel_id)
        if known is None or kernel_id not in self._kernels:
            return await self.find(kernel_id, seconds)
        found = await asyncio.shield(self._asked(kernel_id, seconds))
        if found.state == "silent":
            return known
        if found.state != "served":
            self.forget(kernel_id)
        return found

    async def find(self, kernel_id: str, seconds: float = SECONDS) -> Standing:
        """How it is with a kernel; what is known of one that is served is not asked again."""
        if kernel_id not in self._kernels:
            self.forget(kernel_id)
            return Standing("gone", hint=_GONE)
        known = self._known.get(kernel_id)
        if known is not None:
            return known
        earlier = self._asking.get(kernel_id)
        if earlier is not None:
            found = await asyncio.shield(earlier)
            if found.state == "served":
                return found
        return await asyncio.shield(self._asked(kernel_id, seconds))  # what was asked before may be over since

    def _asked(self, kernel_id: str, seconds: float) -> asyncio.Task[Standing]:
        """Somebody asks already, or begins now."""
        task = self._asking.get(kernel_id)
        if task is None:
            task = self._asking[kernel_id] = asyncio.ensure_future(self._ask(kernel_id, seconds))
            task.add_done_callback(lambda _: self._asking.pop(kernel_id, None))
        return task

    def forget(self, kernel_id: str) -> None:
        """What was known of it is wrong: it restarted, say, or stopped to serve."""
        self._known.pop(kernel_id, None)

    async def _ask(self, kernel_id: str, seconds: float) -> Standing:
        language = await self._language(kernel_id)
        if not is_ours(language):
            return Standing("not served", hint=f"Notebooks in {printable(language, 40)} are not served.")
        nonce = secrets.token_hex(16)
        with tempfile.NamedTemporaryFile("w", prefix="jupyter-mcp-", suffix=".here") as here:  # for us alone: mode 0600
            here.write(nonce)
            here.flush()
            said = await self._said(kernel_id, here.name, seconds)
        if isinstance(said, Standing):
            return said
        url, token, name = (said.get(key) for key in ("url", "token", "name"))
        if said.get("served") is not True or not (isinstance(url, str) and isinstance(token, str)):
            return Standing("not served", hint=_NOT_SERVED)
        if not token:
            return Standing("not served", hint=_PROVIDER)
        named = printable(name, _MOST_NAME) if isinstance(name, str) else kernel_id
        read = str(said.get("here")).encode("utf-8", "replace")
        if not hmac.compare_digest(read, nonce.encode()) or not _on_loopback(url):
            standing = Standing("served", None, named)
        else:
            standing = Standing("served", Endpoint(url, token), named)
        self._known[kernel_id] = standing
        return standing

    async def _language(self, kernel_id: str) -> str:
        try:
            name = self._kernels.get_kernel(kernel_id).kernel_name
        except KeyError:
            return ""
        return await language_of(self._specs, str(name or ""))

    async def _said(self, kernel_id: str, here: str, seconds: float) -> dict[str, Any] | Standing:
        """What a kernel says of itself, or why it says nothing."""
        try:
            return await control(self._kernels, kernel_id, "state", {"here": here}, seconds)
        except (KernelSilent, KernelSaidNo):
            return Standing("silent", hint=f"Its kernel has not loaded the extension. {_NOT_SERVED}")
        except KeyError:
            return Standing("gone", hint=_GONE)


def _on_loopback(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme == "http" and parts.hostname in _LOOPBACK and parts.port is not None and "@" not in url
    except ValueError:
        return False
