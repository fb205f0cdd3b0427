"""An act written back as what one would type: a `%mcp` line and a line of Python. Pure.

Names and addresses come from servers, and what is written here goes into a cell: nothing in one may begin a line of its
own. What a magic line cannot hold is written as Python, which escapes it.
"""

from __future__ import annotations

import json
import keyword
import re
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.host.forms import step
from jupyter_mcp.notebook.namespace import is_json

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "magic_line",
    "prompt_line",
    "python_call",
    "python_prompt",
    "python_read",
    "read_line",
    "with_names",
]

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


def magic_line(
    server: str,
    tool: str,
    arguments: Mapping[str, Any],
    names: Mapping[str, str] | None = None,
    options: Mapping[str, Any] | None = None,
) -> str:
    """`%mcp call demo.add a=1 b=2`; as one JSON object when a value is not a plain word or number.

    Args:
        server, tool, arguments: the call.
        names: of the variables that arguments come from, by JSON pointer: `rows=$rows`.
        options: keyword arguments of `Tool.call` (`meta`, `timeout`, `background`), if there are any.
    """
    if _beyond_a_line(tool, arguments, names):
        return python_call(server, tool, arguments, names, options)
    words = [_pair(name, value) for name, value in arguments.items()]
    plain = [word for word in words if word is not None]
    if names:
        plain = _named_pairs(arguments, names)
    elif len(plain) < len(words):
        plain = [_json(arguments)]
    return " ".join([_head("call", server, tool), *plain, *_options(options or {})])


def prompt_line(server: str, prompt: str, arguments: Mapping[str, str], names: Mapping[str, str] | None = None) -> str:
    """`%mcp prompt demo.review language=python`; as one JSON object when a value is more than a few plain words.

    Args:
        server, prompt, arguments: what is asked for.
        names: of the variables that arguments come from, by JSON pointer.
    """
    if _beyond_a_line(prompt, arguments, names):
        return python_prompt(server, prompt, arguments, names)
    if names:
        words = _named_pairs(arguments, names)
    elif any(not _KEY.fullmatch(key) or _NOT_IN_QUOTES.search(value) for key, value in arguments.items()):
        words = [_json(arguments)]
    else:
        words = [f"{key}={_quoted(value)}" for key, value in arguments.items()]
    return " ".join([_head("prompt", server, prompt), *words])


def read_line(
    server: str, uri: str, values: Mapping[str, Any] | None = None, names: Mapping[str, str] | None = None
) -> str:
    """`%mcp read demo notes://today`, or `%mcp read demo notes://{day} day=$day`.

    Args:
        server, uri: what is read.
        values: where `uri` is a template, its variables.
        names: of the notebook variables that these come from, by JSON pointer.
    """
    if _beyond_a_line(uri, values or {}, names):
        return python_read(server, uri, values, names)
    written = with_names(dict(values or {}), names or {})
    return " ".join([f"%mcp read {server} {_quoted(uri)}", *(_free_pair(*item) for item in written.items())])


def _head(verb: str, server: str, name: str) -> str:
    return f"%mcp {verb} {server}.{name}" if _WORD.fullmatch(name) else f"%mcp {verb} {server} {_quoted(name)}"


def _beyond_a_line(what: str, arguments: Mapping[str, Any], names: Mapping[str, str] | None) -> bool:
    """Whether a magic line cannot name the thing as it is, or one of the arguments beside a variable."""
    odd = names and not all(map(_KEY.fullmatch, arguments))
    return bool(_NOT_IN_QUOTES.search(what)) or bool(odd)


def _options(options: Mapping[str, Any]) -> list[str]:
    """Options of a call as options of the magic."""
    words: list[str] = []
    if options.get("meta") is not None:
        words.append(f"--meta {_json(options['meta'])}")
    if options.get("timeout") is not None:
        words.append(f"--timeout {_json(options['timeout'])}")
    return [*words, "--background"] if options.get("background") else words


def _named_pairs(arguments: Mapping[str, Any], names: Mapping[str, str]) -> list[str]:
    return [_named_pair(name, value) for name, value in with_names(dict(arguments), names).items()]


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


def _free_pair(name: str, value: Any) -> str:
    """An argument that no schema decides about: what reads as JSON is written as JSON."""
    if isinstance(value, Named) or _holds_name(value):
        return _named_pair(name, value)
    plain = isinstance(value, str) and _WORD.fullmatch(value) and not is_json(value)
    return f"{name}={value}" if plain else f"{name}:={_json(value)}"


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
        options: keyword arguments of `Tool.call` (`meta`, `timeout`, `background`), if there are any.
    """
    written = with_names(dict(arguments), names or {})
    head = f"{_server(server)}.tools[{_json(tool)}]"
    if options:
        more = "".join(f", {name}={value!r}" for name, value in options.items())
        return f"{head}.call({written!r}{more})"
    return f"{head}({_keywords(written)})"


def python_prompt(
    server: str, prompt: str, arguments: Mapping[str, Any], names: Mapping[str, str] | None = None
) -> str:
    """`mcp.servers["demo"].prompts["trip"](country='Japan')`; the arguments as those of `python_call`."""
    return f"{_server(server)}.prompts[{_json(prompt)}]({_keywords(with_names(dict(arguments), names or {}))})"


def python_read(
    server: str, uri: str, values: Mapping[str, Any] | None = None, names: Mapping[str, str] | None = None
) -> str:
    """`mcp.servers["demo"].read('notes://{day}', day=day)`; the arguments as those of `read_line`."""
    written = with_names(dict(values or {}), names or {})
    return f"{_server(server)}.read({uri!r}{', ' if written else ''}{_keywords(written)})"


def _server(server: str) -> str:
    return f"mcp.servers[{json.dumps(server)}]"


def _keywords(written: Mapping[str, Any]) -> str:
    """Arguments as keywords where all can be, else as `**{…}`."""
    if all(name.isidentifier() and not keyword.iskeyword(name) for name in written):
        return ", ".join(f"{name}={value!r}" for name, value in written.items())
    return f"**{dict(written)!r}"


def _quoted(text: str) -> str:
    """A word, quoted as in a shell when it has to be."""
    if _WORD.fullmatch(text):
        return text
    return json.dumps(text, ensure_ascii=False) if "'" in text else f"'{text}'"


def _json(value: Any) -> str:
    """JSON that is one line for IPython too, which ends lines at more characters than JSON escapes."""
    written = json.dumps(value, ensure_ascii=False)
    return _ENDS_LINE.sub(lambda found: f"\\u{ord(found[0]):04x}", written)
