"""A command line or URL as it may be shown: names of secrets, never their values. Pure.

A placeholder (`${KEY}`) is no secret and stays; so does everything a person needs to recognise the command.
"""

from __future__ import annotations

import re
import shlex
from pathlib import PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, urlsplit, urlunsplit

from jupyter_mcp.protocol import secrets
from jupyter_mcp.protocol.secrets import MASK

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["MASK", "command_line", "named", "url"]

_PLACEHOLDER = re.compile(r"\$\{[^{}]*\}")
_FLAG = re.compile(r"-{1,2}([A-Za-z][\w.-]*)\Z")
_ASSIGNMENT = re.compile(r"(-{0,2}([A-Za-z][\w.-]*))=(.*)\Z", re.DOTALL)
_HEADER = re.compile(r"([A-Za-z][\w-]*):\s*(\S.*)\Z", re.DOTALL)


def command_line(command: str, args: Sequence[str]) -> str:
    """The command (its file name only) and its arguments, quoted as for a shell, secrets masked."""
    shown = [_program(command)]
    hide_next = False
    for arg in args:
        shown.append(_masked(arg) if hide_next and not arg.startswith("-") else argument(arg))
        flag = _FLAG.match(arg)
        hide_next = flag is not None and secrets.looks_secret(flag[1])
    return " ".join(_quoted(word) for word in shown)


def argument(arg: str) -> str:
    """One argument with what looks like a secret masked."""
    if "://" in arg:
        head, eq, tail = arg.partition("=")
        if eq and "://" not in head:
            return f"{head}={_masked(tail) if _secret_word(head) else url(tail)}"
        return url(arg)
    if (match := _ASSIGNMENT.match(arg)) and secrets.looks_secret(match[2]):
        return f"{match[1]}={_masked(match[3])}"
    if (match := _HEADER.match(arg)) and secrets.looks_secret(match[1]):
        return f"{match[1]}: {_masked(match[2])}"
    return str(secrets.redact(arg))


def url(text: str) -> str:
    """A URL without its user information and with the secret values of its query masked."""
    try:
        parts = urlsplit(text)
        netloc = parts.netloc
    except ValueError:
        return MASK
    if "@" in netloc:
        netloc = f"{MASK}@{netloc.rpartition('@')[2]}"
    query = parts.query
    if query:
        pairs = parse_qsl(query, keep_blank_values=True)
        if any(secrets.looks_secret(name) for name, _ in pairs):
            query = "&".join(f"{quote(n)}={_masked(v) if secrets.looks_secret(n) else quote(v)}" for n, v in pairs)
    return urlunsplit((parts.scheme, netloc, parts.path, query, parts.fragment))


def named(label: str, values: Mapping[str, str] | Iterable[str]) -> str:
    """`(env: A, B)`: names only; empty when there are none."""
    names = list(values)
    return f"({label}: {', '.join(names)})" if names else ""


def _program(command: str) -> str:
    """A path to a program says where it lies on this machine; its name says what it is."""
    if "\\" in command or re.match(r"[A-Za-z]:", command):
        return PureWindowsPath(command).name or command
    return PurePosixPath(command).name if command.startswith("/") else command


def _secret_word(head: str) -> bool:
    return secrets.looks_secret(head.lstrip("-"))


def _masked(value: str) -> str:
    """The mask, unless the value holds nothing but placeholders (and words around them such as Bearer)."""
    rest = _PLACEHOLDER.sub("", value).strip()
    return value if rest in ("", "Bearer", "Basic", "token") else MASK


def _quoted(word: str) -> str:
    return word if re.fullmatch(r"[\w@%+=:,./*${}•-]+", word) else shlex.quote(word)
