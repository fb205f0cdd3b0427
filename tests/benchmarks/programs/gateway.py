"""A served notebook behind a Jupyter Server: `python gateway.py REPEATS LISTENERS`

prints {"direct", "gateway", "control": seconds of clock that the read in the middle takes (at the endpoint, through the
Jupyter Server, through it by the control channel), "listeners": bytes that the Jupyter Server has grown by with so many
idle streams}.
"""

from __future__ import annotations

import http.client
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.serverextension.jupyter import Jupyter, Kernel

SERVE = """
%load_ext jupyter_mcp
import jupyter_mcp as mcp
answer = 42
endpoint = mcp.serve("answer", name="NAME")
print(endpoint.url, endpoint.token)
"""
FAR = """
from jupyter_mcp.kernel import control
honest = control._handlers["state"]
control.handle("state", lambda data: dict(honest(data), here=""))
"""
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Client:
    """One connection to an address, kept."""

    def __init__(self, url: str, token: str) -> None:
        parts = urlsplit(url)
        self._path = parts.path
        self._headers = {
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2026-07-28",
        }
        self.connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)

    def send(self, method: str, **params: object) -> http.client.HTTPResponse:
        """A request of the modern era; its answer, whose body is still to be read."""
        name = {"Mcp-Name": str(params["uri"])} if "uri" in params else {}
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": META}}
        headers = {**self._headers, "Mcp-Method": method, **name}
        self.connection.request("POST", self._path, json.dumps(body), headers)
        answer = self.connection.getresponse()
        assert answer.status == 200, answer.read()
        return answer

    def read(self, notebook: str) -> bytes:
        return self.send("resources/read", uri=f"notebook://{notebook}/variables/answer").read()


def median(client: Client, notebook: str, repeats: int) -> float:
    found: list[float] = []
    for _ in range(10):
        assert b"42" in client.read(notebook)
    for _ in range(repeats):
        began = time.perf_counter()
        client.read(notebook)
        found.append(time.perf_counter() - began)
    return statistics.median(found)


def resident(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS:"))


def served(jupyter: Jupyter, name: str) -> tuple[Kernel, str, str]:
    kernel = jupyter.kernel()
    url, token = kernel.run(SERVE.replace("NAME", name)).split()[-2:]
    return kernel, url, token


def listening(jupyter: Jupyter, address: str, count: int) -> int:
    """How much a Jupyter Server grows by with so many clients that listen; each has heard the first word."""
    before = resident(jupyter.pid)
    clients = [Client(address, jupyter.token) for _ in range(count)]
    wanted = {"toolsListChanged": True}
    streams = [client.send("subscriptions/listen", notifications=wanted) for client in clients]
    assert all(stream.readline() for stream in streams)
    grown = resident(jupyter.pid) - before
    for client in clients:
        client.connection.close()
    return grown


def main(repeats: int, listeners: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        jupyter = Jupyter(Path(folder))
        try:
            near, url, token = served(jupyter, "near")
            far, _, _ = served(jupyter, "far")
            far.run(FAR)
            at = {kernel.id: f"{jupyter.url}/jupyter-mcp/kernels/{kernel.id}" for kernel in (near, far)}
            found: dict[str, float] = {
                "direct": median(Client(url, token), "near", repeats),
                "gateway": median(Client(at[near.id], jupyter.token), "near", repeats),
                "control": median(Client(at[far.id], jupyter.token), "far", repeats),
                "listeners": listening(jupyter, at[near.id], listeners),
            }
            for kernel in (near, far):
                kernel.close()
        finally:
            jupyter.close()
    print(json.dumps(found))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
