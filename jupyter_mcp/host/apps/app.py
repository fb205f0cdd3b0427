"""`App`: one call's page, ready to be shown: what it is, what it belongs to, what the person granted it.

A page can be shown more than once at a time (a second view of the same output): each view is a `session.Session` of its
own. What it reports for models is one thing, whichever view said it last. Made by `open_app`, on the runtime's loop.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import MCPError, UsageError
from jupyter_mcp.host.apps import context
from jupyter_mcp.host.apps.meta import resource_uri
from jupyter_mcp.host.apps.resource import PERMISSIONS, Page, listed_entry, page_of
from jupyter_mcp.protocol.salvage import display_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.host.host import Host

__all__ = ["App", "AppCall", "open_app"]


@dataclass(eq=False)
class AppCall:
    """The call that a page shows, as far as it is known: it is filled in while the page is there.

    Attributes:
        written: the arguments as far as a model has written them; they may still change.
        arguments: the whole ones; None while they are being written.
        result: as the server sent it; None while there is none.
        cancelled: why there will be none.
    """

    written: Mapping[str, Any] | None = None
    arguments: Mapping[str, Any] | None = None
    result: Mapping[str, Any] | None = None
    cancelled: str = ""

    @property
    def over(self) -> bool:
        """Whether nothing more comes."""
        return self.result is not None or bool(self.cancelled)


@dataclass(eq=False)
class App:
    """The page of one call.

    Attributes:
        server, tool: whose it is, and the tool as listed.
        call: the call.
        page: what is shown.
        resources: the server has resources that the page may read.
        granted: what of `page.wants` the person allowed.
    """

    server: str
    tool: Mapping[str, Any]
    call: AppCall
    page: Page
    resources: bool = True
    granted: set[str] = field(default_factory=set[str])

    @property
    def name(self) -> str:
        """The tool's machine name."""
        return str(self.tool.get("name") or "")

    @property
    def full_name(self) -> str:
        """`server.tool`."""
        return f"{self.server}.{self.name}"

    @property
    def title(self) -> str:
        """What the server calls the tool."""
        return display_name(self.tool) or self.name

    @property
    def tool_info(self) -> dict[str, Any] | None:
        """The tool as the page is told of it."""
        try:
            size = len(json.dumps(self.tool))
        except (TypeError, ValueError, RecursionError):
            return None
        return context.tool_info(self.tool, size)

    def capabilities(self) -> dict[str, Any]:
        """What the page may ask of us: `McpUiHostCapabilities`."""
        texts: dict[str, Any] = {kind: {} for kind in ("text", "image", "resource", "resourceLink")}
        granted: dict[str, Any] = {name: {} for name in PERMISSIONS if name in self.granted}
        return {
            "openLinks": {},
            "downloadFile": {},
            "serverTools": {},
            **({"serverResources": {}} if self.resources else {}),
            "logging": {},
            "message": texts,
            "updateModelContext": {**texts, "structuredContent": {}},
            "sandbox": {"permissions": granted, "csp": self.page.policy.wire()},
        }

    def grant(self, name: str) -> None:
        """Let the page use something that it wants. Raises `UsageError` for what it does not."""
        if name not in self.page.wants:
            raise UsageError(f"The page of {self.full_name} does not ask for {name[:40]!r}.")
        self.granted.add(name)


async def open_app(
    host: Host,
    server: str,
    tool: Mapping[str, Any],
    call: AppCall,
) -> App:
    """Read the page of a tool.

    Args:
        host: the page's server is one of its.
        server, tool: whose it is, and the tool as listed; it has a page (`meta.resource_uri`).
        call: that is shown; more of it may become known later.

    Raises:
        UsageError: the tool has no page.
        RemoteProtocolError: the server gives no page that can be shown.
        MCPError: it could not be read.
    """
    uri = resource_uri(tool)
    if uri is None:
        raise UsageError(f"{server}.{tool.get('name')} has no page.", server=server)
    entry = host.find(server)
    read = await host.read(server, uri, origin="app")
    listed = await _listed(host, server)
    contents = [part.raw for part in read.contents]
    page = page_of(uri, contents, listed_entry(listed, uri), server=server, local=entry.trusted)
    _record(host, server, page)
    has_resources = "resources" in entry.capabilities
    return App(server, tool, call, page, resources=has_resources)


async def _listed(host: Host, server: str) -> list[Any]:
    """The server's list of resources, where it has one: pages need not be in it."""
    connection = await host.connection(server)
    with suppress(MCPError):
        return list((await connection.list("resources")).items)
    return []


def _record(host: Host, server: str, page: Page) -> None:
    """Which page was shown, and what it may reach: for whoever looks later."""
    digest = hashlib.sha256(page.html.encode("utf-8", "surrogatepass")).hexdigest()
    told = {"sha256": digest, "csp": page.policy.text, "wants": list(page.wants), "refused": list(page.policy.refused)}
    number = host.journal.begin(server, "ui/show", page.uri, "app", arguments=told)
    host.journal.end(number, "ok")
