"""Driver for the official SDK 1.x (`mcp.ClientSession`)."""

from __future__ import annotations

from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from mcp import ClientSession, StdioServerParameters, types
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from pydantic import AnyUrl
from steps import Heard, Person, dump, main, play


class Session:
    def __init__(self, client: ClientSession, heard: Heard) -> None:
        self.client = client
        self.heard = heard

    async def names(self, kind: str) -> list[str]:
        match kind:
            case "tools":
                return [tool.name for tool in (await self.client.list_tools()).tools]
            case "resources":
                return [str(item.uri) for item in (await self.client.list_resources()).resources]
            case "templates":
                return [item.uriTemplate for item in (await self.client.list_resource_templates()).resourceTemplates]
            case _:
                return [prompt.name for prompt in (await self.client.list_prompts()).prompts]

    async def call(self, name: str, arguments: dict[str, Any], on_progress: Any) -> Any:
        return dump(await self.client.call_tool(name, arguments, progress_callback=on_progress))

    async def read(self, uri: str) -> Any:
        return dump(await self.client.read_resource(AnyUrl(uri)))

    async def prompt(self, name: str, arguments: dict[str, str]) -> Any:
        return dump(await self.client.get_prompt(name, arguments))

    async def complete(self, ref: dict[str, str], argument: str, value: str) -> Any:
        kind = types.PromptReference if ref["type"] == "ref/prompt" else types.ResourceTemplateReference
        return dump(await self.client.complete(kind.model_validate(ref), {"name": argument, "value": value}))

    async def schema(self, name: str) -> Any:
        return next(tool.inputSchema for tool in (await self.client.list_tools()).tools if tool.name == name)

    async def listen(self) -> bool:
        return True


@asynccontextmanager
async def reached(plan: dict[str, Any]) -> Any:
    """The two streams to the plan's server."""
    if plan["way"] == "sse":
        async with sse_client(plan["url"], headers=plan["headers"]) as streams:
            yield streams
    elif plan["way"] == "http":
        http = create_mcp_http_client(headers=plan["headers"])
        async with http, streamable_http_client(plan["url"], http_client=http) as (read, write, _):
            yield read, write
    else:
        program, *arguments = plan["command"]
        parameters = StdioServerParameters(command=program, args=arguments, env=plan.get("env"))
        async with stdio_client(parameters) as streams:
            yield streams


async def drive(plan: dict[str, Any], person: Person) -> dict[str, Any]:
    async def elicit(context: Any, params: Any) -> types.ElicitResult:
        return types.ElicitResult(**person.elicit(params.message, getattr(params, "requestedSchema", None)))

    async def sample(context: Any, params: Any) -> types.CreateMessageResult:
        text = person.sample([dump(message) for message in params.messages])
        return types.CreateMessageResult(
            role="assistant", content=types.TextContent(type="text", text=text), model="script", stopReason="endTurn"
        )

    async def roots(context: Any) -> types.ListRootsResult:
        return types.ListRootsResult.model_validate({"roots": person.roots()})

    async with (
        reached(plan) as (read, write),
        ClientSession(
            read,
            write,
            read_timeout_seconds=timedelta(seconds=60),
            elicitation_callback=elicit,
            sampling_callback=sample,
            message_handler=person.heard.message,
            list_roots_callback=roots,
        ) as client,
    ):
        started = await client.initialize()
        outcomes = await play(Session(client, person.heard), person, plan["steps"])
        return {"revision": started.protocolVersion, "server": started.serverInfo.name, "steps": outcomes}


if __name__ == "__main__":
    main(drive)
