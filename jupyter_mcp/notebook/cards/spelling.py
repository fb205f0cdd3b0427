"""A call written back as what one would type: a `%mcp` line and a line of Python. Pure."""

from __future__ import annotations

import json
import keyword
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["magic_line", "prompt_line", "python_call", "read_line"]

_WORD = re.compile(r"[A-Za-z0-9_./:@%+\-]+")


def magic_line(server: str, tool: str, arguments: Mapping[str, Any]) -> str:
    """`%mcp call demo.add a=1 b=2`; as one JSON object when a value is not a plain word or number."""
    head = f"%mcp call {server}.{tool}" if _WORD.fullmatch(tool) else f"%mcp call {server} {_quoted(tool)}"
    if not arguments:
        return head
    words = [_pair(name, value) for name, value in arguments.items()]
    plain = [word for word in words if word is not None]
    if len(plain) == len(words):
        return " ".join([head, *plain])
    return f"{head} {json.dumps(arguments, ensure_ascii=False)}"


def _pair(name: str, value: Any) -> str | None:
    if not re.fullmatch(r"[A-Za-z_][\w\-]*", name):
        return None
    if isinstance(value, bool) or (isinstance(value, (int, float)) and not isinstance(value, bool)):
        return f"{name}={json.dumps(value)}"
    if isinstance(value, str) and _WORD.fullmatch(value):
        return f"{name}={value}"
    return None


def python_call(server: str, tool: str, arguments: Mapping[str, Any]) -> str:
    """`mcp.servers["demo"].tools["add"](a=1, b=2)`."""
    named = all(name.isidentifier() and not keyword.iskeyword(name) for name in arguments)
    inner = ", ".join(f"{name}={value!r}" for name, value in arguments.items()) if named else f"**{dict(arguments)!r}"
    return f"mcp.servers[{json.dumps(server)}].tools[{json.dumps(tool, ensure_ascii=False)}]({inner})"


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
