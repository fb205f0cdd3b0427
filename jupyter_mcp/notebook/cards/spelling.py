"""A call written back as what one would type: a `%mcp` line and a line of Python. Pure.

Names and addresses come from servers, and what is written here goes into a cell: nothing in one may begin a line of its
own. What a magic line cannot hold is written as Python, which escapes it.
"""

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
_KEY = re.compile(r"[A-Za-z_][\w\-]*")
_ENDS_LINE = re.compile(r"[\0\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_NOT_IN_QUOTES = re.compile(r"[\0-\x1f\x7f\x85\u2028\u2029\\]|\A[${\[]")
"""What a quoted value does not keep as it is, or what would be read as more than text."""


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
    if _ENDS_LINE.search(tool):
        return python_call(server, tool, arguments, names)
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
    return f"{head} {_json(arguments)}"


def _named_pair(name: str, value: Any) -> str:
    """An argument beside one that is a variable; one that holds a variable is an expression of Python."""
    if isinstance(value, Named):
        return f"{name}=${value.name}"
    if _holds_name(value):
        return f"{name}={{ {value!r} }}"
    return _pair(name, value) or f"{name}:={_json(value)}"


def _holds_name(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_name, cast("dict[str, Any]", value).values()))
    return isinstance(value, Named) or (isinstance(value, list) and any(map(_holds_name, cast("list[Any]", value))))


def _pair(name: str, value: Any) -> str | None:
    if not _KEY.fullmatch(name):
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
    head = f"mcp.servers[{json.dumps(server)}].tools[{_json(tool)}]"
    if options:
        more = "".join(f", {name}={value!r}" for name, value in options.items())
        return f"{head}.call({written!r}{more})"
    named = all(name.isidentifier() and not keyword.iskeyword(name) for name in written)
    inner = ", ".join(f"{name}={value!r}" for name, value in written.items()) if named else f"**{written!r}"
    return f"{head}({inner})"


def read_line(server: str, uri: str) -> str:
    """`%mcp read demo notes://today`."""
    if _ENDS_LINE.search(uri):
        return f"mcp.servers[{json.dumps(server)}].read({uri!r})"
    return f"%mcp read {server} {_quoted(uri)}"


def prompt_line(server: str, prompt: str, arguments: Mapping[str, str]) -> str:
    """`%mcp prompt demo.review language=python`; as one JSON object when a value is more than a few plain words."""
    if _ENDS_LINE.search(prompt):
        return f"mcp.servers[{json.dumps(server)}].prompts[{prompt!r}](**{dict(arguments)!r})"
    name = f"{server}.{prompt}" if _WORD.fullmatch(prompt) else f"{server} {_quoted(prompt)}"
    if any(not _KEY.fullmatch(key) or _NOT_IN_QUOTES.search(value) for key, value in arguments.items()):
        return f"%mcp prompt {name} {_json(arguments)}"
    return " ".join([f"%mcp prompt {name}", *(f"{key}={_quoted(value)}" for key, value in arguments.items())])


def _quoted(text: str) -> str:
    """A word, quoted as in a shell when it has to be."""
    if _WORD.fullmatch(text):
        return text
    return json.dumps(text, ensure_ascii=False) if "'" in text else f"'{text}'"


def _json(value: Any) -> str:
    """JSON that is one line for IPython too, which ends lines at more characters than JSON escapes."""
    written = json.dumps(value, ensure_ascii=False)
    return _ENDS_LINE.sub(lambda found: f"\\u{ord(found[0]):04x}", written)
