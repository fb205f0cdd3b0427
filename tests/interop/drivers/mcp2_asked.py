"""One call by the official SDK 2.x whose questions are answered by whoever started this, as they come.

The first line of input says whom to call and what: `{"command": […] | "url": …, "token": …, "mode": …, "tool": …,
"arguments": {…}}`. For each question `{"asked": message}` is printed and one line read, the answer; at the end
`{"result": …}` is printed.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client


def say(line: dict[str, Any]) -> None:
    print(json.dumps(line), flush=True)


def reached(plan: dict[str, Any]) -> Any:
    """What `Client` takes for the plan's server."""
    if "command" in plan:
        program, *arguments = plan["command"]
        return StdioServerParameters(command=program, args=arguments)
    headers = {"Authorization": f"Bearer {plan['token']}"}
    return streamable_http_client(plan["url"], http_client=create_mcp_http_client(headers=headers))


async def elicit(_: Any, params: Any) -> types.ElicitResult:
    say({"asked": params.message})
    return types.ElicitResult(**json.loads(await asyncio.to_thread(sys.stdin.readline)))


async def main(plan: dict[str, Any]) -> None:
    info = types.Implementation(name="an-assistant", version="1")
    async with Client(
        reached(plan), mode=plan["mode"], client_info=info, elicitation_callback=elicit, read_timeout_seconds=60
    ) as client:
        result = await client.call_tool(plan["tool"], plan["arguments"])
        say({"result": result.model_dump(mode="json", by_alias=True, exclude_none=True)})


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.stdin.readline())))
