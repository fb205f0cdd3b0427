"""What only 2026-07-28 looks for: lists that change, log messages only when asked for, parameters in headers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

if TYPE_CHECKING:
    from jupyter_mcp.server import Context
    from tests.conformance.declaring import Declaring

Region = Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]


def add_to(declare: Declaring) -> None:
    """All of it."""

    @declare.tool
    def test_logging_tool(ctx: Context) -> str:
        """Logs; the client sees it only when its request named a level."""
        ctx.log("info", "This is seen by those who asked for it")
        return "logged"

    @declare.tool
    def test_custom_header(region: Region, query: str = "") -> str:
        """Has a parameter that travels in a header too."""
        return f"{query} in {region}"

    _changing(declare)


def _changing(declare: Declaring) -> None:
    def extra() -> str:
        """Comes later."""
        return "extra"

    @declare.tool
    def test_trigger_tool_change() -> str:
        """Adds a tool, or puts a new one in its place."""
        declare.tool("test_changing_tool")(extra)
        return "the list of tools changed"

    @declare.tool
    def test_trigger_prompt_change() -> str:
        """Adds a prompt, or puts a new one in its place."""
        declare.prompt("test_changing_prompt")(extra)
        return "the list of prompts changed"
