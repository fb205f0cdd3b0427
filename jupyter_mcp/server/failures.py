"""What goes wrong, as the client is told it and as the author reads it on stderr: a traceback goes nowhere else.

Above: `dispatch`, `work`, `session`, `tasks`.
"""

from __future__ import annotations

import difflib
import sys
import traceback
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import Cancelled, MCPError, RequestError
from jupyter_mcp.protocol.jsonrpc import INTERNAL_ERROR
from jupyter_mcp.server.questions import MissingCapability

if TYPE_CHECKING:
    from types import TracebackType

    from jupyter_mcp.server.exchange import Exchange
    from jupyter_mcp.server.registry import Shelf


class Failure(Exception):
    """A JSON-RPC error to answer with."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


def raise_if_protocol(error: Exception, exchange: Exchange) -> None:
    """Errors that a tool call answers by a JSON-RPC error, and not by a result."""
    if isinstance(error, MissingCapability):
        if exchange.peer.era == "modern":
            raise Failure(error.code, error.message, error.data) from None
    elif isinstance(error, RequestError):
        raise Failure(error.code, error.message, error.data) from None


def as_failure(error: Exception, exchange: Exchange, what: str) -> Failure:
    """What a handler of a resource, prompt or completion raised, as the error to answer with."""
    if isinstance(error, Failure):
        return error
    if isinstance(error, MissingCapability) and exchange.peer.era == "legacy":
        return Failure(INTERNAL_ERROR, error.message)
    if isinstance(error, RequestError):
        return Failure(error.code, error.message, error.data)
    if not isinstance(error, MCPError):
        complain(f"{what} failed:", error)
    return Failure(INTERNAL_ERROR, sentence(error))


def sentence(error: Exception) -> str:
    """What went wrong, for a model: the message, with the kind of error where the message alone says little."""
    text = str(error)
    if not text:
        return type(error).__name__
    if isinstance(error, (MCPError, ValueError, RuntimeError)) and not isinstance(error, Cancelled):
        return text
    return f"{type(error).__name__}: {text}"


def complain(text: str, error: BaseException | None = None) -> None:
    """To the server's author, on stderr."""
    print(text, file=sys.stderr)  # noqa: T201
    if error is not None:
        traceback.print_exception(type(error), error, _from_handler(error.__traceback__), file=sys.stderr)
    sys.stderr.flush()


def _from_handler(trace: TracebackType | None) -> TracebackType | None:
    """The traceback without this package's own frames at its beginning: what the author wrote."""
    at = trace
    while at is not None and at.tb_frame.f_globals.get("__name__", "").startswith("jupyter_mcp.server."):
        at = at.tb_next
    return at or trace


def unknown(what: str, name: str, shelf: Shelf[Any]) -> str:
    near = difflib.get_close_matches(name, [entry.name for entry in shelf.values()], n=3)
    return f"Unknown {what}: {name}" + (f". Did you mean {' or '.join(near)}?" if near else "")
