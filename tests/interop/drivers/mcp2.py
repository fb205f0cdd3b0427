"""Driver for the official SDK 2.x (`mcp.Client`)."""

from __future__ import annotations

import asyncio
from typing import Any

import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from steps import Heard, Person, dump, main, play


class Session:
    def __init__(self, client: Client, heard: Heard) -> None:
        self.client = client
        self.heard = heard
        self._following: asyncio.Task[None] | None = None

    async def names(self, kind: str) -> list[str]:
        match kind:
            case "tools":
                return [tool.name for tool in (await self.client.list_tools()).tools]
            case "resources":
                return [str(item.uri) for item in (await self.client.list_resources()).resources]
            case "templates":
                listed = await self.client.list_resource_templates()
                return [item.uri_template for item in listed.resource_templates]
            case _:
                return [prompt.name for prompt in (await self.client.list_prompts()).prompts]

    async def call(self, name: str, arguments: dict[str, Any], on_progress: Any) -> Any:
        return dump(await self.client.call_tool(name, arguments, progress_callback=on_progress))

    async def read(self, uri: str) -> Any:
        return dump(await self.client.read_resource(uri))

    async def prompt(self, name: str, arguments: dict[str, str]) -> Any:
        return dump(await self.client.get_prompt(name, arguments))

    async def complete(self, ref: dict[str, str], argument: str, value: str) -> Any:
        kind = types.PromptReference if ref["type"] == "ref/prompt" else types.ResourceTemplateReference
        return dump(await self.client.complete(kind.model_validate(ref), {"name": argument, "value": value}))

    async def schema(self, name: str) -> Any:
        return next(tool.input_schema for tool in (await self.client.list_tools()).tools if tool.name == name)

    async def listen(self) -> bool:
        """The modern era has a stream for that; it is open when this returns."""
        if self.client.protocol_version < "2026":
            return True
        begun = asyncio.Event()

        async def follow() -> None:
            async with self.client.listen(tools_list_changed=True) as subscription:
                begun.set()
                async for _ in subscription:
                    self.heard.told()

        self._following = asyncio.create_task(follow())
        await begun.wait()
        return True

    async def close(self) -> None:
        """Listen no more."""
        if self._following is not None:
            self._following.cancel()
            await asyncio.wait({self._following})


def reached(plan: dict[str, Any]) -> Any:
    """What `Client` takes for the plan's server."""
    if plan["way"] == "sse":
        return sse_client(plan["url"], headers=plan["headers"])
    if plan["way"] == "http":
        return streamable_http_client(plan["url"], http_client=create_mcp_http_client(headers=plan["headers"]))
    program, *arguments = plan["command"]
    return StdioServerParameters(command=program, args=arguments, env=plan.get("env"))


async def drive(plan: dict[str, Any], person: Person) -> dict[str, Any]:
    async def elicit(context: Any, params: Any) -> types.ElicitResult:
        return types.ElicitResult(**person.elicit(params.message, getattr(params, "requested_schema", None)))

    async def sample(context: Any, params: Any) -> types.CreateMessageResult:
        text = person.sample([dump(message) for message in params.messages])
        return types.CreateMessageResult(
            role="assistant", content=types.TextContent(type="text", text=text), model="script", stop_reason="endTurn"
        )

    async def roots(context: Any) -> types.ListRootsResult:
        return types.ListRootsResult.model_validate({"roots": person.roots()})

    async with Client(
        reached(plan),
        mode=plan["mode"],
        elicitation_callback=elicit,
        sampling_callback=sample,
        message_handler=person.heard.message,
        list_roots_callback=roots,
        read_timeout_seconds=60,
    ) as client:
        session = Session(client, person.heard)
        try:
            outcomes = await play(session, person, plan["steps"])
        finally:
            await session.close()
        info = client.server_info
        return {"revision": client.protocol_version, "server": info and info.name, "steps": outcomes}


if __name__ == "__main__":
    main(drive)
