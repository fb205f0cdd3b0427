"""A server of one's own: tools, resources and prompts from Python functions, for every released protocol revision.

    from jupyter_mcp.server import Context, Server

    server = Server("hello")

    @server.tool
    def greet(name: str, ctx: Context) -> str:
        "Greet somebody."
        return f"Hello, {name}!"

    server.run_stdio()

It is independent of the client, the host and the notebook (layer 2), and imports nothing heavy before it is used.
"""

from jupyter_mcp.errors import ToolError
from jupyter_mcp.server.content import Audio, Embedded, Image, Link, Message, Text, ToolResult, assistant, user
from jupyter_mcp.server.context import AsyncContext, Context
from jupyter_mcp.server.questions import (
    Elicit,
    Elicited,
    InputRequired,
    MissingCapability,
    RootFolder,
    Roots,
    Sample,
    Sampled,
    UrlRequired,
)
from jupyter_mcp.server.registry import NotFound
from jupyter_mcp.server.server import Server
from jupyter_mcp.server.tasks import TaskWork

__all__ = [
    "AsyncContext",
    "Audio",
    "Context",
    "Elicit",
    "Elicited",
    "Embedded",
    "Image",
    "InputRequired",
    "Link",
    "Message",
    "MissingCapability",
    "NotFound",
    "RootFolder",
    "Roots",
    "Sample",
    "Sampled",
    "Server",
    "TaskWork",
    "Text",
    "ToolError",
    "ToolResult",
    "UrlRequired",
    "assistant",
    "user",
]
