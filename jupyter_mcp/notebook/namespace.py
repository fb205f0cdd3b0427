"""Notebook objects in a magic line: a word that is wholly `$name` or `{expression}`, and nothing else.

`$$name` and `{{text}}` are the texts `$name` and `{text}`. A `{…}` that is JSON (`{"a": 1}`, `{}`) stays text: the
tool's schema decides about it. What the object becomes as an argument is decided by `host.arguments`.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.arguments import Typed
from jupyter_mcp.host.wording import nearest, shorten

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAME = re.compile(r"\$([^\W\d]\w*)")


class Namespace:
    """Looks words up among the names of the calling cell.

    Args:
        globals: the notebook's namespace.
        locals: the names of the function or comprehension the magic stands in, which win.
    """

    def __init__(self, globals: Mapping[str, Any], locals: Mapping[str, Any] | None = None) -> None:
        self._globals = globals
        self._locals = locals or {}

    def read(self, text: str) -> Typed:
        """The word as text, or the notebook object it stands for. Raises `UsageError`."""
        if found := _NAME.fullmatch(text):
            return Typed(text, self._lookup(found[1]))
        if text.startswith("$$"):
            return Typed(text[1:])
        if text.startswith("{{"):
            inner = text[2:-2] if text.endswith("}}") else None
            return Typed("{" + (text[2:] if inner is None else inner + "}"))
        if text.startswith("{") and text.endswith("}") and text[1:-1].strip():
            return self._expression(text)
        return Typed(text)

    def text(self, text: str) -> str:
        """The word as text; a notebook object must be a string or a number."""
        return self.text_of(self.read(text))

    @property
    def all(self) -> Mapping[str, Any]:
        """The objects by their names."""
        return {**self._globals, **self._locals}

    @staticmethod
    def text_of(typed: Typed) -> str:
        """What was read, as text."""
        if not typed.is_object:
            return typed.text
        if isinstance(typed.value, (str, int, float)) and not isinstance(typed.value, bool):
            return str(typed.value)
        if hasattr(typed.value, "__fspath__"):
            return str(typed.value)
        raise UsageError(f"{typed.text} is a {type(typed.value).__name__}; text is needed here")

    def _lookup(self, name: str) -> Any:
        for names in (self._locals, self._globals):
            if name in names:
                return names[name]
        near = nearest(name, [key for key in self._globals if not key.startswith("_")])
        meant = f"; did you mean ${near}?" if near else ""
        raise UsageError(
            f"no notebook variable {name!r} for ${name}{meant} "
            f"(the text is $${name}; in connect, the environment is ${{{name}}})"
        )

    def _expression(self, text: str) -> Typed:
        source = text[1:-1].strip()
        try:
            code = compile(source, "<mcp>", "eval")
        except (SyntaxError, ValueError) as error:
            if is_json(text):
                return Typed(text)
            why = error.msg if isinstance(error, SyntaxError) else str(error)
            raise UsageError(
                f"{shorten(text)} is neither an expression ({why}) nor JSON; {{{{…}}}} sends the text"
            ) from None
        try:
            # The person's own expression, from the person's own cell: the same right as the cell itself.
            value = eval(code, {**self._globals, **self._locals})  # noqa: S307
        except Exception as error:
            raise UsageError(f"{shorten(text)}: {type(error).__name__}: {error}; {{{{…}}}} sends the text") from error
        return Typed(text, value)


def is_json(text: str) -> bool:
    """Whether a text reads as JSON."""
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
