"""`--fill NAME`: `${NAME}` in what a line sends is a variable of the environment, so that no secret stands in a cell.

Only the named ones are filled: any other `${…}` is the text that it is. What was filled in is masked from then on.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from jupyter_mcp.notebook.lineparse import Option
from jupyter_mcp.notebook.objects.act import get_host

if TYPE_CHECKING:
    from jupyter_mcp.notebook.verbs.base import Invocation

__all__ = ["FILL", "filled"]

T = TypeVar("T")

FILL = Option("fill", "NAME", "${NAME} in what is sent is this variable of the environment", repeat=True)


def filled(call: Invocation, value: T) -> T:
    """A copy of what is about to be sent in which the placeholders that the line names are filled.

    Raises:
        UsageError: a variable that is not set, or that is not referred to.
    """
    for name in call.options("fill"):
        secret = os.environ.get(name)
        if secret is None:
            raise call.wrong(f"{name} is not set in the environment.", hint=f"os.environ[{name!r}] = getpass.getpass()")
        before, value = value, _replaced(value, f"${{{name}}}", secret)
        if value == before and secret != f"${{{name}}}":
            raise call.wrong(f"--fill {name}: there is no ${{{name}}} in what is sent.")
        get_host().redactor.learn([secret])
    return value


def _replaced(value: Any, placeholder: str, secret: str) -> Any:
    if isinstance(value, str):
        return value.replace(placeholder, secret)
    if isinstance(value, Mapping):
        table = cast("Mapping[Any, Any]", value)
        return {
            _replaced(key, placeholder, secret): _replaced(item, placeholder, secret) for key, item in table.items()
        }
    if isinstance(value, list | tuple):
        return [_replaced(item, placeholder, secret) for item in cast("list[Any]", value)]
    return value
