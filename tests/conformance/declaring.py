"""What the modules of this folder declare with: the decorators that a server and a notebook have in common."""

from __future__ import annotations

from typing import Any, Protocol


class Declaring(Protocol):
    """A `Server`, or in a notebook the module `jupyter_mcp` itself."""

    def tool(self, function: Any = None, /, **options: Any) -> Any:
        """`@declare.tool`, or `@declare.tool("name", title="…")`."""
        ...

    def resource(self, uri: str, /, **options: Any) -> Any:
        """`@declare.resource("notes://{day}")`."""
        ...

    def prompt(self, function: Any = None, /, **options: Any) -> Any:
        """`@declare.prompt`, or `@declare.prompt("name")`."""
        ...
