"""A recorded call as a cell that repeats it: as a magic or as Python. Pure, from what the journal shows.

Nothing that was masked can come back: in its place stands `${NAME}`, called like the argument, and the cell names what
has to be in the environment (`--fill NAME`; `os.environ` in Python). Above: notebook.objects.repeated.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.redaction import MASK
from jupyter_mcp.protocol.shapes import mapping_of

if TYPE_CHECKING:
    from jupyter_mcp.host.journal import Act, WireEntry

__all__ = ["METHODS", "Repeat", "repeat_act", "repeat_call", "repeat_message"]

METHODS = ("tools/call", "resources/read", "prompts/get")
_VERBS = {"tools/call": "call", "resources/read": "read", "prompts/get": "prompt"}
_PLAIN = re.compile(r"[A-Za-z0-9_][\w./:@~+-]*", re.ASCII)
_WIDE = 100  # characters of a line; longer arguments become the body of a cell


@dataclass(frozen=True, slots=True)
class Repeat:
    """A call that can be made again.

    Attributes:
        method: "tools/call", "resources/read" or "prompts/get".
        server: its name in this notebook.
        name: of the tool or prompt, or the URI, with `${NAME}` for what is secret.
        arguments: the same way.
        fills: the names of all placeholders, in order.
    """

    method: str
    server: str
    name: str
    arguments: Mapping[str, Any]
    fills: tuple[str, ...]

    @property
    def magic(self) -> str:
        """The cell as a magic. Raises `UsageError` for a name that does not fit in a line."""
        words = [_word(self.server), _word(self.name)]
        options = [f"--fill {name}" for name in self.fills]
        line = " ".join(["%mcp", _VERBS[self.method], *words, *options])
        if not self.arguments:
            return line
        one = f"{line} {_json(self.arguments)}"
        if self.method != "tools/call" or len(one) <= _WIDE:
            return one
        return f"%{line}\n{_json(self.arguments, 2)}"

    @property
    def python(self) -> str:
        """The cell as Python."""
        server, name = f"mcp.servers[{self.server!r}]", self._source(self.name)
        match self.method:
            case "tools/call":
                sent = self._source(self.arguments) if self.arguments else ""
                call = f"{server}.tools[{name}].call({sent})"
            case "resources/read":
                call = f"{server}.read({name})"
            case _:
                sent = f"**{self._source(self.arguments)}" if self.arguments else ""
                call = f"{server}.prompts[{name}]({sent})"
        needs = ["import os", ""] if self.fills else []
        return "\n".join([*needs, "import jupyter_mcp as mcp", "", call])

    def _source(self, value: Any) -> str:
        """A value as Python source, with the environment's variables in the place of placeholders."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, Mapping):
            table = cast("Mapping[str, Any]", value)
            return "{" + ", ".join(f"{key!r}: {self._source(item)}" for key, item in table.items()) + "}"
        if isinstance(value, list | tuple):
            return "[" + ", ".join(self._source(item) for item in cast("list[Any]", value)) + "]"
        if isinstance(value, float) and not math.isfinite(value):
            return f"float({str(value)!r})"
        return repr(value)

    def _text(self, text: str) -> str:
        if not self.fills:
            return repr(text)
        parts = re.split("|".join(rf"\$\{{({re.escape(name)})\}}" for name in self.fills), text)
        known = set(self.fills)
        pieces = [f"os.environ[{part!r}]" if part in known else repr(part) for part in parts if part]
        return " + ".join(pieces) or repr("")


def repeat_act(act: Act) -> Repeat:
    """The call that an act was. Raises `UsageError` for one that is none, or is not on record."""
    if act.method not in METHODS:
        raise UsageError(f"{act.method} cannot be repeated; calls, reads and prompts can.")
    return _repeat(act.method, act.server, act.name, act.arguments)


def repeat_call(server: str, tool: str, arguments: Mapping[str, Any]) -> Repeat:
    """A call of a tool whose arguments are masked already (`Result.arguments`)."""
    return _repeat("tools/call", server, tool, arguments)


def repeat_message(entry: WireEntry) -> Repeat:
    """The call that a message asked for. Raises `UsageError` for another message, or one that was not kept whole."""
    method, params = entry.message.get("method"), mapping_of(entry.message.get("params"))
    if entry.direction != "send" or method not in METHODS:
        what = "What HTTP did" if entry.http else entry.message.get("method") or f"The answer to {entry.method}"
        raise UsageError(f"{what} cannot be repeated; our tools/call, resources/read and prompts/get can.")
    if entry.summary:
        raise UsageError("That message was too big to be kept whole.", hint="%mcp activity --cell N takes the act.")
    name = params.get("uri" if method == "resources/read" else "name")
    return _repeat(method, entry.server, str(name), params.get("arguments"))


def _repeat(method: str, server: str, name: str, arguments: Any) -> Repeat:
    holes = _Holes(json.dumps([name, arguments], default=str))
    sent = holes.filled(mapping_of(arguments), "SECRET")
    return Repeat(method, server, holes.filled(name, "SECRET"), sent, tuple(holes.names))


@dataclass(slots=True)
class _Holes:
    """Gives each masked place a name that stands nowhere else."""

    taken: str
    names: list[str] = field(default_factory=list[str])

    def filled(self, value: Any, key: str) -> Any:
        if isinstance(value, str):
            first, *rest = value.split(MASK)
            return first + "".join(f"${{{self._name(key)}}}{part}" for part in rest)
        if isinstance(value, Mapping):
            table = cast("Mapping[str, Any]", value)
            return {self.filled(name, "NAME"): self.filled(item, name) for name, item in table.items()}
        if isinstance(value, list | tuple):
            return [self.filled(item, key) for item in cast("list[Any]", value)]
        return value

    def _name(self, key: str) -> str:
        spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+", "_", key).strip("_").upper()
        base = spaced if re.match(r"[A-Z]", spaced) else f"SECRET_{spaced}".rstrip("_")
        name, number = base, 1
        while name in self.names or f"${{{name}}}" in self.taken:
            number += 1
            name = f"{base}_{number}"
        self.names.append(name)
        return name


def _json(value: Any, indent: int | None = None) -> str:
    text = json.dumps(value, ensure_ascii=False, indent=indent, default=str)
    return text if text.replace("\n", "").isprintable() else json.dumps(value, indent=indent, default=str)


def _word(text: str) -> str:
    """One word of a magic's line that means exactly this text."""
    if _PLAIN.fullmatch(text):
        return text
    if not text.isprintable():
        raise UsageError(f"{text!r} does not fit in a line.", hint="--python (.python) writes it.")
    if text.startswith("$") and not text.startswith("${"):
        text = f"${text}"
    elif text.startswith("{"):
        text = f"{{{text}}}" if text.endswith("}") else f"{{{text}"
    if "'" not in text:
        return f"'{text}'"
    return '"' + re.sub(r'(["\\$`])', r"\\\1", text) + '"'
