"""The same server on this project. `python ours_server.py [TOOLS]`"""

from __future__ import annotations

import json
import resource
import sys

from jupyter_mcp.server import Server

KIB = 1 if sys.platform == "darwin" else 1024
server = Server("ours")


@server.tool(structured=False)
async def echo(text: str) -> str:
    return text


@server.tool(structured=False)
async def big(size: int) -> str:
    return "x" * size


@server.tool(structured=False)
async def usage() -> str:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return json.dumps({"cpu": used.ru_utime + used.ru_stime, "peak": used.ru_maxrss * KIB / 1e6})


def many(number: int) -> None:
    async def tool(text: str, count: int = 1, loud: bool = False) -> str:
        return text

    server.add_tool(tool, name=f"tool_{number}", description=f"Tool number {number}, one of many.", structured=False)


if __name__ == "__main__":
    for extra in range(int(sys.argv[1]) if len(sys.argv) > 1 else 0):
        many(extra)
    server.run_stdio()
