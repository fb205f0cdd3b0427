"""CPU of a kernel that shows a server with very many tools: `python first_paint.py SERVER COMMAND …`

prints {"catalogue": seconds, "paint": seconds, "bytes": what the page is sent}: the lists are there and one search has
been made; the tool browser, with its form and its live widgets, has been displayed. A front end is pretended (a client
that says it takes input), because without one a kernel shows the static table only.
"""

from __future__ import annotations

import ast
import json
import sys
from typing import Any

from jupyter_client.manager import KernelManager

LIMIT = 60.0  # seconds for one cell
CONNECT = """
%load_ext jupyter_mcp
import time
import jupyter_mcp as mcp
server = mcp.connect("bench", *{command!r})
"""
CATALOGUE = """
before = time.process_time()
count, found = len(server.tools), [tool.name for tool in server.tools("tool_1999")]
spent = time.process_time() - before
print([spent, count, found])
"""
# One tool first: what is measured is the browser, not the first import of ipywidgets' parts.
WARM = """
from jupyter_mcp.server import Server
one = Server("one")
@one.tool
def only(text: str) -> str: ...
mcp.connect("one", one)
%mcp tools one
"""
PAINT = """
before = time.process_time()
%mcp tools bench
spent = time.process_time() - before
print([spent])
"""


class Kernel:
    """A kernel and what it publishes."""

    def __init__(self) -> None:
        self.manager = KernelManager(kernel_name="python3")
        self.manager.start_kernel(extra_arguments=["--IPKernelApp.log_level=ERROR"])
        self.client: Any = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=LIMIT)
        self.sent = self.widgets = 0

    def run(self, code: str) -> str:
        """Run a cell as a front end that takes input does; its stdout. Raises `RuntimeError` when it fails."""
        said: list[str] = []
        self.sent = self.widgets = 0

        def hear(message: dict[str, Any]) -> None:
            self.widgets += message["msg_type"] == "comm_open"
            self.sent += len(json.dumps(message["content"], default=str))
            if message["msg_type"] == "stream" and message["content"]["name"] == "stdout":
                said.append(message["content"]["text"])

        reply = self.client.execute_interactive(code, timeout=LIMIT, output_hook=hear, allow_stdin=True)
        if reply["content"]["status"] != "ok":
            raise RuntimeError("\n".join(reply["content"].get("traceback", [])))
        return "".join(said)

    def stop(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=False)


def last(said: str) -> list[Any]:
    return ast.literal_eval(said.splitlines()[-1])


def main(command: list[str]) -> None:
    kernel = Kernel()
    try:
        kernel.run(CONNECT.format(command=command))
        catalogue, count, found = last(kernel.run(CATALOGUE))
        assert count > 2000, count
        assert found == ["tool_1999"], found
        kernel.run(WARM)
        (paint,) = last(kernel.run(PAINT))
        assert kernel.widgets > 5, "the live browser was not shown"
        print(json.dumps({"catalogue": catalogue, "paint": paint, "bytes": kernel.sent}))
    finally:
        kernel.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
