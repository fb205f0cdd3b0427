"""Why a server did not start, in words for a person: reads what it wrote to stderr and stdout.

Only guesses that name something to do are made; the text itself is always on the exception and in the log.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jupyter_mcp.protocol.framing import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_Rule = tuple[str, "str | Callable[[re.Match[str]], str]", int]

_OLD_SDK = "This server needs mcp<2: install it in an environment of its own, together with 'mcp<2'."
_NEW_SDK = "This server needs mcp>=2: install it in an environment of its own, together with 'mcp>=2'."
_SETTING = r"\b([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b"


def _missing_module(match: re.Match[str]) -> str:
    return f"The module '{match[1]}' is missing where this server runs: install it there."


def _missing_program(match: re.Match[str]) -> str:
    return f"It needs the program '{match[1]}' on PATH."


def _setting(match: re.Match[str]) -> str:
    name = match[1]
    return f"It wants the variable {name}; set it and pass it on with --env {name}."


_NETWORK = "ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH"
_IS_MISSING = r"is missing|missing|required|not set|must be set|undefined|not provided|not found"


def _serves_http(match: re.Match[str]) -> str:
    return f"It serves HTTP at {match[1]} instead of stdio: connect to that address, or start it in stdio mode."


def _unknown_argument(match: re.Match[str]) -> str:
    return f"It does not know the argument {(match[1] or match[2]).strip()}."


def _rule(pattern: str, words: str | Callable[[re.Match[str]], str], flags: int = 0) -> _Rule:
    return pattern, words, flags  # compiled at first use: most servers start


# The first that fits wins.
_RULES: tuple[_Rule, ...] = (
    _rule(r"'(?:Fast)?(?:MCP)?Server' object has no attribute '(?:list|get|call|read|set|complet|subscri)", _OLD_SDK),
    _rule(r"ImportError: cannot import name '[^']*' from '(?:partially initialized module ')?mcp[.']", _OLD_SDK),
    _rule(r"ModuleNotFoundError: No module named 'mcp\.(?:server\.fastmcp|types|shared)\b", _OLD_SDK),
    _rule(r"AttributeError: module 'mcp\.[\w.]*' has no attribute", _OLD_SDK),
    _rule(r"ModuleNotFoundError: No module named 'mcp_types'", _NEW_SDK),
    _rule(r"ModuleNotFoundError: No module named '([^']+)'", _missing_module),
    _rule(r"No module named ([\w.]+)\s*$", _missing_module, re.MULTILINE),  # python -m
    _rule(r"Error: Cannot find module '([^']+)'", _missing_module),
    _rule(r"can't open file '([^']+)'", lambda match: f"There is no file {match[1]}."),
    _rule(r"(?:npm|npx)[^\n]*\bE?404\b", "npm knows no package of that name: check its spelling."),
    _rule(rf"(?:npm|npx)[^\n]*\b(?:{_NETWORK})\b", "npm cannot reach its registry."),
    _rule(
        r"not found in the package registry|No solution found when resolving",
        "uv finds no package of that name and version.",
    ),
    _rule(r"Cannot connect to the Docker daemon", "Start Docker first."),
    _rule(r"env: [‘'\"]?([\w.-]+)[’'\"]?: No such file", _missing_program),
    _rule(r"(?:^|: )([\w.-]+): (?:command )?not found\s*$", _missing_program, re.MULTILINE),
    _rule(r"EADDRINUSE|[Aa]ddress already in use", "Another process holds its port: is it running already?"),
    _rule(r"(?:running|listening|started|serving)\b[^\n]*?(https?://[^\s'\")]+)", _serves_http, re.IGNORECASE),
    _rule(
        r"unrecognized arguments?:? ([^\n]+)|unknown (?:option|flag|argument):? ([^\n]+)",
        _unknown_argument,
        re.IGNORECASE,
    ),
    _rule(r"the following arguments are required: ([^\n]+)", lambda match: f"It needs the arguments {match[1]}."),
    _rule(rf"{_SETTING}[^\n]*\b(?:{_IS_MISSING})\b", _setting),
    _rule(rf"\b(?:[Mm]issing|[Rr]equired?s?|[Ss]et|[Pp]rovide|KeyError:)[^\n]*?{_SETTING}", _setting),
)


def hint(stderr: Sequence[str], noise: Sequence[str] = (), exit_code: int | None = None) -> str | None:
    """One sentence on what to do about a server that did not come up; None when nothing is recognised."""
    text = "\n".join(printable(line, 2000) for line in stderr)
    for pattern, words, flags in _RULES:
        if match := re.search(pattern, text, flags):
            return words if isinstance(words, str) else words(match)
    if noise:
        return f"It wrote {noise[0]!r} on stdout: is it an MCP server, and in stdio mode?"
    if exit_code == 0 and not any(stderr):
        return "It wrote nothing: is it an MCP server, and in stdio mode?"
    return None


def last_line(stderr: Sequence[str]) -> str:
    """The last line that says something, made printable."""
    return next((text for line in reversed(stderr) if (text := printable(line))), "")
