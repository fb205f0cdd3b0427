"""`envFile`: variables of a server in a file of their own, `NAME=value` lines as dotenv files have them. Pure.

Nothing is expanded in it. Quoted values may hold anything but their quote; in double quotes a backslash escapes as it
does elsewhere. `export NAME=value` is understood, `#` begins a comment at the start of a word.
"""

from __future__ import annotations

import re

from jupyter_mcp.errors import ConfigError

__all__ = ["parse_env"]

_LINE = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_.]*)\s*=\s*(.*?)\s*\Z")
_DOUBLE = re.compile(r'"((?:[^"\\]|\\.)*)"\s*(?:#.*)?\Z')
_SINGLE = re.compile(r"'([^']*)'\s*(?:#.*)?\Z")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


def parse_env(text: str, *, file: str) -> dict[str, str]:
    """The variables of a dotenv file; of a name that stands twice the last one counts.

    Raises:
        ConfigError: a line that is none, with its number. The line is not quoted: it may hold a secret.
    """
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _LINE.match(line)
        value = _value(match[2]) if match else None
        if match is None or value is None:
            raise ConfigError(f"Line {number} of {file} is not NAME=value.", file=file, line=number)
        found[match[1]] = value
    return found


def _value(raw: str) -> str | None:
    """What stands behind `=`; None for a quote that is not closed."""
    if raw.startswith('"'):
        match = _DOUBLE.match(raw)
        return re.sub(r"\\(.)", lambda one: _ESCAPES.get(one[1], one[1]), match[1]) if match else None
    if raw.startswith("'"):
        match = _SINGLE.match(raw)
        return match[1] if match else None
    return re.sub(r"(?:^|\s+)#.*\Z", "", raw)
