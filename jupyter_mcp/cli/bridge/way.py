"""The way to a notebook that is served on this machine or at a Jupyter Server elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from jupyter_mcp._version import __version__
from jupyter_mcp.relay.upstream import Upstream

if TYPE_CHECKING:
    from jupyter_mcp.kernel.identity import Live
    from jupyter_mcp.transport.http import HttpTransport


OURSELVES = {"name": "jupyter-mcp-host", "title": "Jupyter notebook (bridge)", "version": __version__}


class Way(Upstream):
    """One notebook.

    Args:
        live: where it is.
    """

    def __init__(self, live: Live) -> None:
        super().__init__(live.slug, OURSELVES)
        self.live = live

    def transport(self) -> HttpTransport:
        """On this machine without the library that knows all of HTTP."""
        from jupyter_mcp.cli.bridge.near import NearWire
        from jupyter_mcp.transport.http import HttpOptions, HttpTransport

        near = is_near(self.live.url)
        headers = {"Authorization": f"Bearer {self.live.token}"}
        options = HttpOptions(headers=headers, proxy=None if near else "env", insist=True)
        return HttpTransport(self.live.url, options, NearWire(self.live.url, options) if near else None)


def is_near(url: str) -> bool:
    """Whether it is plain HTTP on this machine, by number: nothing in between changes it."""
    parts = urlsplit(url)
    return parts.scheme == "http" and parts.hostname in ("127.0.0.1", "::1")
