"""A call written back as what one would type: a `%mcp` line and a line of Python. Pure."""

from __future__ import annotations

import json
import keyword
import re
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.host.forms import step

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["magic_line", "prompt_line", "python_call", "read_line", "with_names"]

_WORD = re.compile(r"[A-Za-z0-9_./:@%+\-]+")


class Named:
    """A notebook variable in the place of its value: it is written as its name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


def with_names(value: Any, names: Mapping[str, str], at: str = "") -> Any:
    """A copy of a JSON value with variables in their places.

    Args:
        value: the arguments. names: of variables, by JSON pointer.
    """
    if at in names:
        return Named(names[at])
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return {name: with_names(inner, names, at + step(name)) for name, inner in items}
    if isinstance(value, list):
        return [with_names(inner, names, at + step(place)) for place, inner in enumerate(cast("list[Any]", value))]
    return value


def magic_line(server: str, tool: str, arguments: Mapping[str, Any], names: Mapping[str, str] | None = None) -> str:
    """`%mcp call demo.add a=1 b=2`; as one JSON object when a value is not a plain word or number.

    Args:
        server, tool, arguments: the call.
        names: of the variables that arguments come from, by JSON pointer: `rows=$rows`.
    """
    head = f"%mcp call {server}.{tool}" if _WORD.fullmatch(tool) else f"%mcp call {server} {_quoted(tool)}"
    if not arguments:
        return head
    if names:
        written = with_names(dict(arguments), names)
        return " ".join([head, *(_named_pair(name, value) for name, value in written.items())])
    words = [_pair(name, value) for name, value in arguments.items()]
    plain = [word for word in words if word is not None]
    if len(plain) == len(words):
        return " ".join([head, *plain])
    return f"{head} {json.dumps(arguments, ensure_ascii=False)}"


def _named_pair(name: str, value: Any) -> str:
    """An argument beside one that is a variable; one that holds a variable is an expression of Python."""
    if isinstance(value, Named):
        return f"{name}=${value.name}"
    if _holds_name(value):
        return f"{name}={{ {value!r} }}"
    return _pair(name, value) or f"{name}:={json.dumps(value, ensure_ascii=False)}"


def _holds_name(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_name, cast("dict[str, Any]", value).values()))
    return isinstance(value, Named) or (isinstance(value, list) and any(map(_holds_name, cast("list[Any]", value))))


def _pair(name: str, value: Any) -> str | None:
    if not re.fullmatch(r"[A-Za-z_][\w\-]*", name):
        return None
    if isinstance(value, bool) or (isinstance(value, (int, float)) and not isinstance(value, bool)):
        return f"{name}={json.dumps(value)}"
    if isinstance(value, str) and _WORD.fullmatch(value):
        return f"{name}={value}"
    return None


def python_call(
    server: str,
    tool: str,
    arguments: Mapping[str, Any],
    names: Mapping[str, str] | None = None,
    options: Mapping[str, Any] | None = None,
) -> str:
    """`mcp.servers["demo"].tools["add"](a=1, b=2)`.

    Args:
        server, tool, arguments: the call.
        names: of the variables that arguments come from, by JSON pointer.
        options: keyword arguments of `Tool.call` (`meta`, `timeout`), if there are any.
    """
    written = with_names(dict(arguments), names or {})
    head = f"mcp.servers[{json.dumps(server)}].tools[{json.dumps(tool, ensure_ascii=False)}]"
    if options:
        more = "".join(f", {name}={value!r}" for name, value in options.items())
        return f"{head}.call({written!r}{more})"
    named = all(name.isidentifier() and not keyword.iskeyword(name) for name in written)
    inner = ", ".join(f"{name}={value!r}" for name, value in written.items()) if named else f"**{written!r}"
    return f"{head}({inner})"


def read_line(server: str, uri: str) -> str:
    return f"%mcp read {server} {_quoted(uri)}"


def prompt_line(server: str, prompt: str, arguments: Mapping[str, str]) -> str:
    pairs = [f"{name}={_quoted(value)}" for name, value in arguments.items()]
    return " ".join([f"%mcp prompt {server}.{prompt}", *pairs])


def _quoted(text: str) -> str:
    """A word, quoted as in a shell when it has to be."""
    if _WORD.fullmatch(text):
        return text
    return json.dumps(text, ensure_ascii=False) if "'" in text else f"'{text}'"
