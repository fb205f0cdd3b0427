"""A server with tasks, by the experimental API of the official Python SDK 1.x; run by that SDK's interpreter."""

import anyio
import mcp.server.stdio
from mcp import types
from mcp.server.lowlevel import NotificationOptions, Server

server = Server("peer-tasks")
server.experimental.enable_tasks()

FORM = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}
NAMES = {"optional": "optional", "asks": "required", "fails": "required", "sleeps": "required"}


@server.list_tools()
async def list_tools() -> list[types.Tool]:
    return [
        types.Tool(name=name, inputSchema={"type": "object"}, execution=types.ToolExecution(taskSupport=support))
        for name, support in NAMES.items()
    ]


def said(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


@server.call_tool()
async def call_tool(name: str, arguments: dict):
    ctx = server.request_context
    if not ctx.experimental.is_task:
        return said("in the call")

    async def work(task) -> types.CallToolResult:
        await task.update_status("under way")
        if name == "asks":
            answer = await task.elicit(message="Which word?", requestedSchema=FORM)
            return said(f"{answer.action}: {(answer.content or {}).get('word')}")
        if name == "fails":
            raise RuntimeError("it broke")
        if name == "sleeps":
            await anyio.sleep(600)
        return said("as a task")

    return await ctx.experimental.run_task(work)


async def main() -> None:
    async with mcp.server.stdio.stdio_server() as (reading, writing):
        options = server.create_initialization_options(NotificationOptions(), {})
        await server.run(reading, writing, options)


anyio.run(main)
