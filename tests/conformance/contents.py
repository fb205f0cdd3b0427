"""What the suites look for that asks nobody: simple tools, resources, prompts, completion.

Names, texts and URIs are the suites'. Each module of this folder that ends in `add_to` declares one theme, on a
server or in a cell of a notebook (`kernel`).
"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

from jupyter_mcp.server import AsyncContext, Audio, Context, Embedded, Image, Link, ToolError, user

if TYPE_CHECKING:
    from jupyter_mcp.server import Server
    from tests.conformance.declaring import Declaring

PNG = base64.b64decode(  # one red pixel
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
)
WAV = b"RIFF$\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0@\x1f\0\0\x80>\0\0\2\0\x10\0data\0\0\0\0"
PAUSE = 0.05  # seconds between two notifications, as the suites want them

SCHEMA_2020_12: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


def add_to(declare: Declaring) -> None:
    """All of it."""
    _plain_tools(declare)
    _tools_that_report(declare)
    _resources(declare)
    _prompts(declare)


def _plain_tools(declare: Declaring) -> None:
    @declare.tool
    def test_simple_text() -> str:
        """Returns text."""
        return "This is a simple text response for testing."

    @declare.tool
    def test_image_content() -> Image:
        """Returns a picture."""
        return Image(PNG)

    @declare.tool
    def test_audio_content() -> Audio:
        """Returns a sound."""
        return Audio(WAV)

    @declare.tool
    def test_embedded_resource() -> Embedded:
        """Returns a resource inside the result."""
        return Embedded("test://embedded-resource", "This is an embedded resource content.", "text/plain")

    @declare.tool(structured=False)
    def test_multiple_content_types() -> list[Any]:
        """Returns text, a picture and a resource."""
        inside = json.dumps({"test": "data", "value": 123})
        resource = Embedded("test://mixed-content-resource", inside, "application/json")
        return ["Multiple content types test:", Image(PNG), resource]

    @declare.tool
    def test_resource_link() -> Link:
        """Returns a pointer to a resource."""
        return Link("test://static-text", "static-text", mime_type="text/plain")

    @declare.tool
    def test_error_handling() -> str:
        """Always fails."""
        raise ToolError("This tool intentionally returns an error for testing")

    @declare.tool("json_schema_2020_12_tool", input_schema=SCHEMA_2020_12)
    def json_schema_2020_12_tool(**given: Any) -> str:
        """Tool with JSON Schema 2020-12 features."""
        return json.dumps(given)


def _tools_that_report(declare: Declaring) -> None:
    @declare.tool
    async def test_tool_with_logging(ctx: AsyncContext) -> str:
        """Logs three times while it works."""
        await ctx.log("info", "Tool execution started")
        await ctx.sleep(PAUSE)
        await ctx.log("info", "Tool processing data")
        await ctx.sleep(PAUSE)
        await ctx.log("info", "Tool execution completed")
        return "Tool with logging executed successfully"

    @declare.tool
    def test_tool_with_progress(ctx: Context) -> str:
        """Reports its progress three times."""
        ctx.progress(0, 100)
        ctx.sleep(PAUSE)
        ctx.progress(50, 100)
        ctx.sleep(PAUSE)
        ctx.progress(100, 100)
        return "Tool with progress executed successfully"

    @declare.tool
    async def test_reconnection(ctx: AsyncContext) -> str:
        """Closes its stream in the middle of the call; the client comes back for the rest."""
        await ctx.close_stream(retry_ms=100)
        await ctx.sleep(2 * PAUSE)
        return "Reconnection test completed successfully"


def _resources(declare: Declaring) -> None:
    @declare.resource("test://static-text", name="static-text", mime_type="text/plain")
    def static_text() -> str:
        """A text."""
        return "This is the content of the static text resource."

    @declare.resource("test://static-binary", name="static-binary", mime_type="image/png")
    def static_binary() -> bytes:
        """A picture."""
        return PNG

    @declare.resource("test://watched-resource", name="watched-resource", mime_type="text/plain")
    def watched() -> str:
        """A resource to watch."""
        return "Watched resource content"

    @declare.resource("test://template/{id}/data", name="template", mime_type="application/json")
    def template(id: str) -> dict[str, Any]:
        """Data made from the URI."""
        return {"id": id, "templateTest": True, "data": f"Data for ID: {id}"}


def _prompts(declare: Declaring) -> None:
    @declare.prompt
    def test_simple_prompt() -> str:
        """A prompt without arguments."""
        return "This is a simple prompt for testing."

    @declare.prompt
    def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
        """A prompt with two arguments."""
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    @declare.prompt
    def test_prompt_with_embedded_resource(resourceUri: str) -> list[Any]:
        """A prompt that carries a resource."""
        resource = Embedded(resourceUri, "Embedded resource content for testing.", "text/plain")
        return [user(resource), user("Please process the embedded resource above.")]

    @declare.prompt
    def test_prompt_with_image() -> list[Any]:
        """A prompt that carries a picture."""
        return [user(Image(PNG)), user("Please analyze the image above.")]


def complete_on(server: Server) -> None:
    """What completes an argument with values of its own."""

    @server.completion("test_prompt_with_arguments", "arg1")
    def arg1(typed: str) -> list[str]:
        return [word for word in ("paris", "park", "party", "test", "testing") if word.startswith(typed)]
