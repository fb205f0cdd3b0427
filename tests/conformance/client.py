"""The client that the conformance suites test: `client.Connection` over HTTP, driven as each scenario wants it.

    python -m tests.conformance.client URL        (the suites add the URL)

The scenario's name comes in MCP_CONFORMANCE_SCENARIO, some bring data in MCP_CONFORMANCE_CONTEXT (JSON). Only what a
person would do is here: list, call, read, answer a form with its defaults. It imports little, because a suite starts
one process for each scenario. Era and revision are found out as everywhere else; nothing is pinned.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Literal

from jupyter_mcp.client.connection import Connection, ConnectOptions
from jupyter_mcp.protocol.capabilities import client_capabilities
from jupyter_mcp.transport.http import HttpOptions, HttpTransport

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.client.peer import Call, QuestionMethod
    from jupyter_mcp.transport.traffic import HttpEvent

Scenario = Callable[[Connection, dict[str, Any]], Awaitable[None]]
LOGIN = "auth/"
"""How scenarios begin that want us to log in."""
_SAMPLES: dict[str, Any] = {"string": "x", "integer": 1, "number": 1.5, "boolean": True, "array": [], "object": {}}


class Person:
    """Implements `ServerPeer`: accepts every form with its defaults, and answers what else is asked."""

    def capabilities(self, revision: str) -> dict[str, Any]:
        return client_capabilities(revision)

    async def question(
        self, connection: Connection, method: QuestionMethod, params: dict[str, Any], cause: Call | None
    ) -> dict[str, Any]:
        if method == "roots/list":
            return {"roots": []}
        if method == "sampling/createMessage":
            return {"role": "assistant", "content": {"type": "text", "text": "Paris"}, "model": "none"}
        return {"action": "accept", "content": filled(params.get("requestedSchema") or {})}

    def notify(self, connection: Connection, method: str, params: dict[str, Any], call: Call | None) -> None: ...

    def stderr(self, connection: Connection, line: str) -> None: ...

    def note(self, connection: Connection, text: str) -> None:
        print(text, file=sys.stderr)

    def wire(
        self, connection: Connection, direction: Literal["send", "receive"], message: dict[str, Any], size: int
    ) -> None: ...

    def http(self, connection: Connection, event: HttpEvent) -> None: ...

    def changed(self, connection: Connection) -> None: ...


def filled(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A form or arguments filled in: the default of each field, else any value of its type."""
    fields: Mapping[str, Mapping[str, Any]] = schema.get("properties") or {}
    return {name: field.get("default", _SAMPLES.get(str(field.get("type")))) for name, field in fields.items()}


# --- what each scenario does ----------------------------------------------------------------------------------------


async def tools_of(connection: Connection) -> list[dict[str, Any]]:
    return list((await connection.list("tools")).items)


async def only_list(connection: Connection, context: dict[str, Any]) -> None:
    await tools_of(connection)


def calling(*calls: tuple[str, dict[str, Any]]) -> Scenario:
    """List the tools, then call these one after the other."""

    async def scenario(connection: Connection, context: dict[str, Any]) -> None:
        await tools_of(connection)
        for name, arguments in calls:
            await connection.call_tool(name, arguments)

    return scenario


async def ask_again(connection: Connection, context: dict[str, Any]) -> None:
    """The server has nothing to list: a sign of life is a request too."""
    await connection.ping()


async def use_everything(connection: Connection, context: dict[str, Any]) -> None:
    for tool in await tools_of(connection):
        await connection.call_tool(tool["name"], filled(tool["inputSchema"]))
    for resource in (await connection.list("resources")).items:
        await connection.read(resource["uri"])
    for prompt in (await connection.list("prompts")).items:
        await connection.get_prompt(prompt["name"])


async def call_as_told(connection: Connection, context: dict[str, Any]) -> None:
    await tools_of(connection)
    for call in context["toolCalls"]:
        await connection.call_tool(call["name"], call["arguments"])


async def call_what_is_listed(connection: Connection, context: dict[str, Any]) -> None:
    for tool in await tools_of(connection):
        await connection.call_tool(tool["name"], filled(tool["inputSchema"]))


async def echo_schema(connection: Connection, context: dict[str, Any]) -> None:
    schemas = {tool["name"]: tool["inputSchema"] for tool in await tools_of(connection)}
    await connection.call_tool("json_schema_echo", {"schema": schemas["json_schema_2020_12_tool"]})


async def list_skills(connection: Connection, context: dict[str, Any]) -> None:
    await connection.request("skills/list", {})


call_the_test_tool = calling(("test-tool", {}))
"""What a server that wants to know who we are is used for."""

SCENARIOS: dict[str, Scenario] = {
    "tools_call": calling(("add_numbers", {"a": 5, "b": 3})),
    "elicitation-sep1034-client-defaults": calling(("test_client_elicitation_defaults", {})),
    "sse-retry": calling(("test_reconnection", {})),
    "request-metadata": ask_again,
    "http-standard-headers": use_everything,
    "http-custom-headers": call_as_told,
    "http-invalid-tool-headers": call_what_is_listed,
    "sep-2322-client-request-state": calling(
        ("test_mrtr_echo_state", {}),
        ("test_mrtr_unrelated", {}),
        ("test_mrtr_no_state", {}),
        ("test_mrtr_no_result_type", {}),
    ),
    "json-schema-2020-12-preservation": echo_schema,
    "sep-2640-client-no-prefetch": list_skills,
}
"""All others: list the tools."""


def way(url: str, name: str, context: dict[str, Any]) -> HttpOptions:
    """How to reach the server of a scenario; logging in is loaded only where it may be wanted."""
    if not name.startswith(LOGIN):
        return HttpOptions()
    from tests.conformance.login import authorization

    return HttpOptions(authorization=authorization(url, name, context))


async def main(url: str) -> None:
    name = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
    scenario = SCENARIOS.get(name, call_the_test_tool if name.startswith(LOGIN) else only_list)
    context: dict[str, Any] = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    options = way(url, name, context)
    connection = Connection("conformance", lambda: HttpTransport(url, options), ConnectOptions(), Person())
    await connection.open()
    try:
        await scenario(connection, context)
    finally:
        await connection.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[-1]))
