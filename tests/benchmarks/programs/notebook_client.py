"""A kernel that serves its notebook, and a client of it: what the notebook's rows are measured with."""

from __future__ import annotations

import http.client
import json
import statistics
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from notebook_kernel import LIMIT, Kernel
from raw_http_client import BOTH, META, MODERN

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator
    from pathlib import Path

    from notebook_peer import Peer

SERVE = "from jupyter_mcp.kernel import serving; S = serving.serve(get_ipython()); print(S.url, S.token, S.slug)"


class Served:
    """A kernel that serves, and a client of it: one connection that is kept, `json` on both sides, nothing else."""

    def __init__(self, kernel: Kernel, place: Path, other: Peer | None) -> None:
        self.kernel, self.place, self.peer = kernel, place, other
        self.url, self.token, self.slug = kernel.run(SERVE).split()
        self.connection = self.connect()

    def connect(self) -> http.client.HTTPConnection:
        address = urlsplit(self.url)
        return http.client.HTTPConnection(address.hostname or "", address.port, timeout=LIMIT)

    def post(
        self, connection: http.client.HTTPConnection, method: str, params: dict[str, Any], name: str
    ) -> http.client.HTTPResponse:
        meta = {f"{META}protocolVersion": MODERN, f"{META}clientCapabilities": {}}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}})
        head = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json", "Accept": BOTH}
        head |= {"MCP-Protocol-Version": MODERN, "Mcp-Method": method, **({"Mcp-Name": name} if name else {})}
        connection.request("POST", urlsplit(self.url).path, body, head)
        response = connection.getresponse()
        assert response.status == 200, response.read()
        return response

    async def request(self, method: str, params: dict[str, Any], name: str) -> dict[str, Any]:
        with self.post(self.connection, method, params, name) as response:
            data = response.read()
            if response.headers["Content-Type"].startswith("text/event-stream"):  # it took a while
                data = next(line[6:] for line in reversed(data.split(b"\n")) if line.startswith(b"data: "))
            return json.loads(data)["result"]

    async def tool(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        given = {"name": tool, "arguments": {"notebook": self.slug, **arguments}}
        return (await self.request("tools/call", given, tool))["structuredContent"]

    async def resource(self, rest: str) -> str:
        uri = f"notebook://{self.slug}/{rest}"
        (content,) = (await self.request("resources/read", {"uri": uri}, uri))["contents"]
        return content["text"]

    @contextmanager
    def listening(self, *rest: str) -> Generator[None]:
        """While these resources, and the list, are watched."""
        uris = [f"notebook://{self.slug}/{one}" for one in rest]
        wanted = {"notifications": {"resourceSubscriptions": uris, "resourcesListChanged": True}}
        connection = self.connect()
        with self.post(connection, "subscriptions/listen", wanted, "") as response:
            while b"acknowledged" not in response.readline():
                pass
            yield
        connection.close()

    async def read(self) -> None:
        assert (await self.tool("read_variable", name="x"))["text"] == "42"

    async def peer_read(self) -> None:
        assert self.peer is not None
        assert await self.peer.execute("x") == "42"


async def median(act: Callable[[], Awaitable[Any]], times: int, until: float = float("inf")) -> float:
    """Seconds of one; no more are begun after `until`."""
    found: list[float] = []
    while len(found) < times and (begun := time.perf_counter()) < until:
        await act()
        found.append(time.perf_counter() - begun)
    return statistics.median(found)
