"""What only 2026-07-28 looks for: lists that change, log messages only when asked for, parameters in headers."""

from typing import Annotated

from pydantic import Field

from jupyter_mcp.server import AsyncContext, Server

Region = Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]


def add_to(server: Server) -> None:
    """All of it."""

    @server.tool
    async def test_logging_tool(ctx: AsyncContext) -> str:
        """Logs; the client sees it only when its request named a level."""
        await ctx.log("info", "This is seen by those who asked for it")
        return "logged"

    @server.tool
    def test_custom_header(region: Region, query: str = "") -> str:
        """Has a parameter that travels in a header too."""
        return f"{query} in {region}"

    _changing(server)


def _changing(server: Server) -> None:
    def extra() -> str:
        """Comes and goes."""
        return "extra"

    present = {"tool": False, "prompt": False}

    @server.tool
    async def test_trigger_tool_change() -> str:
        """Adds a tool, or takes it away again."""
        if present["tool"]:
            server.remove_tool("test_changing_tool")
        else:
            server.add_tool(extra, name="test_changing_tool")
        present["tool"] = not present["tool"]
        return "the list of tools changed"

    @server.tool
    async def test_trigger_prompt_change() -> str:
        """Adds a prompt, or takes it away again."""
        if present["prompt"]:
            server.remove_prompt("test_changing_prompt")
        else:
            server.add_prompt(extra, name="test_changing_prompt")
        present["prompt"] = not present["prompt"]
        return "the list of prompts changed"
