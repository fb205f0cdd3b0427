"""Driver for FastMCP 4.x (`fastmcp.Client`)."""

from __future__ import annotations

import json
from typing import Any

import mcp_types as types
from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from fastmcp.client.transports import SSETransport, StdioTransport, StreamableHttpTransport
from steps import Person, dump, main, play


class Session:
    def __init__(self, client: Client[Any]) -> None:
        self.client = client

    async def names(self, kind: str) -> list[str]:
        match kind:
            case "tools":
                return [tool.name for tool in await self.client.list_tools()]
            case "resources":
                return [str(item.uri) for item in await self.client.list_resources()]
            case "templates":
                return [item.uri_template for item in await self.client.list_resource_templates()]
            case _:
                return [prompt.name for prompt in await self.client.list_prompts()]

    async def call(self, name: str, arguments: dict[str, Any], on_progress: Any) -> Any:
        return dump(await self.client.call_tool_mcp(name, arguments, progress_handler=on_progress))

    async def read(self, uri: str) -> Any:
        return dump(await self.client.read_resource_mcp(uri))

    async def prompt(self, name: str, arguments: dict[str, str]) -> Any:
        return dump(await self.client.get_prompt_mcp(name, arguments))

    async def complete(self, ref: dict[str, str], argument: str, value: str) -> Any:
        kind = types.PromptReference if ref["type"] == "ref/prompt" else types.ResourceTemplateReference
        return dump(await self.client.complete_mcp(kind.model_validate(ref), {"name": argument, "value": value}))

    async def schema(self, name: str) -> Any:
        return next(tool.input_schema for tool in await self.client.list_tools() if tool.name == name)

    async def listen(self) -> bool:
        """In the modern era it has no way to."""
        return self.client.protocol_version < "2026"


def reached(plan: dict[str, Any]) -> Any:
    """FastMCP's transport to the plan's server; it reads configurations itself."""
    if "config" in plan:
        return json.loads(plan["config"])
    if plan["way"] == "sse":
        return SSETransport(plan["url"], headers=plan["headers"])
    if plan["way"] == "http":
        return StreamableHttpTransport(plan["url"], headers=plan["headers"])
    program, *arguments = plan["command"]
    return StdioTransport(command=program, args=arguments, env=plan.get("env"), keep_alive=False)


async def drive(plan: dict[str, Any], person: Person) -> dict[str, Any]:
    async def elicit(message: str, response_type: Any, params: Any, context: Any) -> ElicitResult[dict[str, Any]]:
        return ElicitResult(**person.elicit(message, getattr(params, "requested_schema", None)))

    async def sample(messages: Any, params: Any, context: Any) -> str:
        return person.sample([dump(message) for message in messages])

    async def roots(context: Any) -> list[types.Root]:
        return [types.Root.model_validate(root) for root in person.roots()]

    async with Client(
        reached(plan),
        mode=plan["mode"],
        elicitation_handler=elicit,
        sampling_handler=sample,
        roots=roots,
        timeout=60,
        message_handler=person.heard.message,
    ) as client:
        outcomes = await play(Session(client), person, plan["steps"])
        info = client.server_info
        return {"revision": client.protocol_version, "server": info and info.name, "steps": outcomes}


if __name__ == "__main__":
    main(drive)
