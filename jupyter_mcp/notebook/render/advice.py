"""What a JSON-RPC error means in words, and what to do about it. Pure.

The codes are those of JSON-RPC 2.0 and of the MCP specification; a code that neither names gets no words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.piece import Piece, plain_line
from jupyter_mcp.notebook.render.text import cut, flat, pretty

if TYPE_CHECKING:
    from jupyter_mcp.errors import RequestError

__all__ = ["request_pieces", "request_title"]

_TITLES = {
    -32700: "Parse error",
    -32600: "Invalid request",
    -32601: "Method not found",
    -32602: "Invalid parameters",
    -32603: "Internal error",
    -32002: "Resource not found",
}
_ADVICE = {
    -32700: "The server could not read the message. %mcp trace {server} shows what was sent.",
    -32600: "The server takes no such request in this state. %mcp reconnect {server} begins anew.",
    -32601: "The server has no such method, whatever it declared. %mcp servers shows what it speaks.",
    -32602: "The server does not accept what was sent. Compare names and values with what it asks for (%mcp tools "
    "{server}, %mcp prompts {server}, %mcp resources {server}).",
    -32603: "Something failed inside the server. %mcp log {server} may say what; the same call may work later.",
    -32002: "%mcp resources {server} lists what there is.",
}


def request_title(error: RequestError) -> str:
    """The error's name in words; its class where the code says nothing."""
    return _TITLES.get(error.code, type(error).__name__)


def request_pieces(error: RequestError) -> list[Piece]:
    """What to do, and what else the server sent with the error."""
    pieces: list[Piece] = []
    advice = _ADVICE.get(error.code)
    if advice is not None and error.server and not error.hint:
        pieces.append(plain_line(advice.format(server=flat(error.server, 40))))
    if error.data is not None:
        shown = cut(pretty(error.data), 4_000, ".data")
        pieces.append(Piece(html.details("what the server sent with it", html.pre(shown)), f"data: {shown}"))
    return pieces
