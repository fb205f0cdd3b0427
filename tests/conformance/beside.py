"""The decorators of a notebook for functions that run beside its main thread: `thread=True` for each plain `def`."""

from __future__ import annotations

import inspect
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conformance.declaring import Declaring

WAIT = 0.2  # seconds


class Beside:
    """Declares with the decorators of another.

    Args:
        of: whose; an `async def` has its place in the kernel's loop, and gives up soon when that has no turn.
    """

    def __init__(self, of: Declaring) -> None:
        self._of = of

    def tool(self, function: Any = None, /, **options: Any) -> Any:
        """As `Declaring.tool`."""
        return self._named(self._of.tool, function, options)

    def prompt(self, function: Any = None, /, **options: Any) -> Any:
        """As `Declaring.prompt`."""
        return self._named(self._of.prompt, function, options)

    def resource(self, uri: str, /, **options: Any) -> Any:
        """As `Declaring.resource`."""
        return partial(_beside, self._of.resource, uri, options)

    def _named(self, decorator: Callable[..., Any], function: Any, options: dict[str, Any]) -> Any:
        if callable(function):
            return _beside(decorator, None, options, function)
        return partial(_beside, decorator, function, options)


def _beside(decorator: Callable[..., Any], key: Any, options: dict[str, Any], function: Callable[..., Any]) -> Any:
    where = {"wait": WAIT} if inspect.iscoroutinefunction(function) else {"thread": True}
    return decorator(key, **options, **where)(function)
