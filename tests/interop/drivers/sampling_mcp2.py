"""A server on the official SDK 2.x whose tools ask for a model's answer, without and with a tool of its own."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.resolve import Resolve, Sample
from mcp_types import CreateMessageResult, CreateMessageResultWithTools, SamplingMessage, TextContent, Tool

server = MCPServer("sampler")
LOOK = Tool(name="look", description="Look at something.", input_schema={"type": "object", "properties": {}})


def _asked(text: str) -> list[SamplingMessage]:
    return [SamplingMessage(role="user", content=TextContent(type="text", text=text))]


def question(text: str) -> Sample:
    return Sample(_asked(text), max_tokens=40, system_prompt="Be brief.")


def question_with_tool(text: str) -> Sample:
    return Sample(_asked(text), max_tokens=40, tools=[LOOK])


@server.tool()
def sum_up(text: str, reply: Annotated[CreateMessageResult, Resolve(question)]) -> str:
    """Sum a text up."""
    return f"{reply.model}: {reply.content.text}"


@server.tool()
def plan(text: str, reply: Annotated[CreateMessageResultWithTools, Resolve(question_with_tool)]) -> str:
    """Say which tool the model wants."""
    blocks = reply.content if isinstance(reply.content, list) else [reply.content]
    return f"{reply.stop_reason}: {', '.join(block.name for block in blocks if block.type == 'tool_use')}"


if __name__ == "__main__":
    server.run()
