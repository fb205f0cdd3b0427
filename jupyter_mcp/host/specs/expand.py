"""`${…}` in configuration values: pure, the environment is an argument.

Understood: `${VAR}`, `${VAR:-default}` (a default may hold placeholders), `${env:VAR}`, `${userHome}`,
`${workspaceFolder}`, `${workspaceFolderBasename}`, `${cwd}`, `${pathSeparator}`, `${/}`, `${input:id}`. `$${` is a
literal `${`; `$VAR` never means anything. A value that was put in is not looked at again, so a secret may contain
anything.
An unset variable is an error that names it, never a literal and never an empty text.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from jupyter_mcp.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Surroundings", "expand", "peek", "variables"]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_PREFIXED = re.compile(r"([A-Za-z]+):(?!-)(.*)\Z", re.DOTALL)
_WITH_DEFAULT = re.compile(r"((?:env:)?[A-Za-z_][A-Za-z0-9_]*):-(.*)\Z", re.DOTALL)
_FOREIGN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z0-9_]+)+\Z")


@dataclass(frozen=True)
class Surroundings:
    """What placeholders may refer to.

    Attributes:
        environ: the environment variables.
        folder: what `${workspaceFolder}` means.
        inputs: titles of the file's `inputs` by id, for the error message.
        given: their values by id, those that were given.
    """

    environ: Mapping[str, str]
    folder: str
    inputs: Mapping[str, str] = field(default_factory=dict[str, str])
    given: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)


def expand(text: str, around: Surroundings, *, key: str | None = None, file: str | None = None) -> str:
    """Fill the placeholders of one value. Raises `ConfigError` (with `key`, `file`) for one that cannot be filled."""
    try:
        return _expand(text, around)
    except _CannotFill as reason:
        where = f" (in {key})." if key else "."
        raise ConfigError(f"{str(reason).removesuffix('.')}{where}", key=key, file=file, hint=reason.hint) from None


def peek(text: str) -> str:
    """What a value is now, to see what kind of thing it is; as it stands when it cannot be filled. Never kept."""
    try:
        return _expand(text, Surroundings(os.environ, str(Path.cwd())))
    except _CannotFill:
        return text


def variables(text: str) -> list[str]:
    """Names of the environment variables a value refers to, in order."""
    names: list[str] = []
    for part in _parts(text):
        if isinstance(part, _Placeholder):
            match = _WITH_DEFAULT.match(part.body)
            name = (match[1] if match else part.body).removeprefix("env:")
            if _NAME.match(name) and name not in _WORDS:
                names.append(name)
    return names


class _CannotFill(Exception):
    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


@dataclass(frozen=True)
class _Placeholder:
    body: str


def _parts(text: str) -> list[str | _Placeholder]:
    """Split into literal text and placeholders; an unclosed `${` is literal."""
    parts: list[str | _Placeholder] = []
    at = 0
    while (start := text.find("${", at)) >= 0:
        if start > at and text[start - 1] == "$":
            parts.append(text[at : start - 1] + "${")
            at = start + 2
            continue
        end = _closing(text, start + 2)
        if end < 0:
            break
        parts += [text[at:start], _Placeholder(text[start + 2 : end])]
        at = end + 1
    parts.append(text[at:])
    return [part for part in parts if part != ""]


def _closing(text: str, at: int) -> int:
    """Index of the brace that closes a placeholder whose body starts at `at`, or -1."""
    depth = 1
    while at < len(text):
        if text.startswith("${", at):
            depth += 1
            at += 2
            continue
        if text[at] == "}":
            depth -= 1
            if not depth:
                return at
        at += 1
    return -1


def _expand(text: str, around: Surroundings) -> str:
    if "${" not in text:
        return text
    return "".join(p if isinstance(p, str) else _fill(p.body, around) for p in _parts(text))


def _fill(body: str, around: Surroundings) -> str:
    if (match := _WITH_DEFAULT.match(body)) is not None:
        value = _lookup(match[1].removeprefix("env:"), around)
        # As in a shell: `:-` also replaces a variable that is set to nothing.
        return value if value else _expand(match[2], around)
    if (match := _PREFIXED.match(body)) is not None:
        return _prefixed(match[1], match[2], around)
    if body == "/":
        return os.sep
    if _NAME.match(body):
        return _required(body, around)
    if _FOREIGN.match(body):
        raise _CannotFill(f"${{{body}}} means nothing here.", "Environment variables are written ${NAME}.")
    return f"${{{body}}}"  # a shell's or a template's own braces


def _prefixed(prefix: str, rest: str, around: Surroundings) -> str:
    if prefix == "env":
        return _required(rest, around)
    if prefix == "input":
        return _given(rest, around)
    raise _CannotFill(f"${{{prefix}:{rest}}} means nothing here.", "Environment variables are written ${NAME}.")


def _given(name: str, around: Surroundings) -> str:
    if name in around.given:
        return around.given[name]
    if name not in around.inputs:
        known = f"Its inputs: {', '.join(around.inputs)}." if around.inputs else "Write it into the file's inputs."
        raise _CannotFill(f"There is no input {name} for ${{input:{name}}}.", known)
    raise _CannotFill(
        f"Nobody has given ${{input:{name}}} ({around.inputs[name]}) yet.",
        "It is asked for when the server is connected.",
    )


def _required(name: str, around: Surroundings) -> str:
    value = _lookup(name, around)
    if value is None:
        raise _CannotFill(
            f"The environment variable {name} is not set.",
            f"Set it (%env {name}=…) or give a default: ${{{name}:-…}}.",
        )
    return value


_WORDS = ("userHome", "workspaceFolder", "workspaceFolderBasename", "cwd", "pathSeparator")


def _lookup(name: str, around: Surroundings) -> str | None:
    if name in around.environ:
        return around.environ[name]
    if name not in _WORDS:
        return None
    return {
        "userHome": str(Path.home()),
        "workspaceFolder": around.folder,
        "workspaceFolderBasename": Path(around.folder).name,
        "cwd": str(Path.cwd()),
        "pathSeparator": os.sep,
    }[name]
