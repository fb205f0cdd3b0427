"""What a notebook's function is called and takes, and how the server sees it: it always takes a context.

Above: `functions`. The schema of the arguments is made by the server.
"""

from __future__ import annotations

import functools
import inspect
import typing
from typing import Any

from jupyter_mcp.errors import UsageError
from jupyter_mcp.server.context import AsyncContext, Context

if typing.TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["OWN_CONTEXT", "name_of", "signature_of"]

OWN_CONTEXT = "mcp_context_"
"""The context of a function that takes none of its own."""
_CONTEXTS = ("Context", "AsyncContext")


def name_of(function: Any) -> str:
    """Raises UsageError for what has no name of its own."""
    inner = function.func if isinstance(function, functools.partial) else function
    name: Any = getattr(inner, "__name__", type(inner).__name__)
    if name == "<lambda>":
        raise UsageError("A function without a name needs one.", usage='mcp.tool("name")(function)')
    return str(name)


def signature_of(kind: str, name: str, function: Callable[..., Any]) -> tuple[inspect.Signature, str | None]:
    """The signature for the server, which always gives a context; and the name of the function's own, if it has one.

    Args:
        kind, name: of what is declared, for the error.

    Raises:
        UsageError: it has no signature that can be read.
    """
    try:
        found = inspect.signature(function)
    except (TypeError, ValueError):
        raise UsageError(f"The {kind} {name!r} has no readable signature; wrap it in a function of yours.") from None
    parameters = list(found.parameters.values())
    wanted = next((one.name for one in parameters if _is_context(one)), None)
    if wanted is not None:
        changed = [one.replace(annotation=AsyncContext) if one.name == wanted else one for one in parameters]
        return found.replace(parameters=changed), wanted
    ours = inspect.Parameter(OWN_CONTEXT, inspect.Parameter.KEYWORD_ONLY, annotation=AsyncContext)
    at = len(parameters) - (bool(parameters) and parameters[-1].kind is inspect.Parameter.VAR_KEYWORD)
    return found.replace(parameters=[*parameters[:at], ours, *parameters[at:]]), None


def _is_context(parameter: inspect.Parameter) -> bool:
    annotation: Any = parameter.annotation
    if annotation is inspect.Parameter.empty:
        return parameter.name == "ctx"
    if isinstance(annotation, str):
        words = annotation.replace("|", " ").replace("[", " ").replace("]", " ").split()
        return any(word.rsplit(".", 1)[-1] in _CONTEXTS for word in words)
    candidates = typing.get_args(annotation) or (annotation,)
    return any(candidate is Context or candidate is AsyncContext for candidate in candidates)
