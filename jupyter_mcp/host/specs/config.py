"""Configuration files and cell bodies as specs: `mcpServers`, `servers` (VS Code), `name: command` lines.

A bad entry costs that entry: in the list stands a `ConfigError` in its place, with file, line and key. Only a text
that holds no servers at all raises. Nothing is expanded and nothing is started here, and no file is ever written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.errors import ConfigError, MCPError, UsageError
from jupyter_mcp.host.sandbox import rules as sandboxes
from jupyter_mcp.host.specs import jsonc
from jupyter_mcp.host.specs.files import folder_of, read_text
from jupyter_mcp.host.specs.inputs import Input, read_inputs
from jupyter_mcp.host.specs.login import read_entry
from jupyter_mcp.host.specs.registry import is_registry_file, registry_specs
from jupyter_mcp.host.specs.sections import parse_file, sections
from jupyter_mcp.host.specs.spec import NAME_RULE, ServerSpec, split_command, suggest_name
from jupyter_mcp.host.specs.way import WAY_KEYS, from_unix_url, read_way

if TYPE_CHECKING:
    from jupyter_mcp.host.sandbox.rules import Sandbox

__all__ = ["Entry", "entry_spec", "is_text", "parse_body", "read_config"]

Entry = ServerSpec | ConfigError

_TYPES = {
    "stdio": "stdio",
    "local": "stdio",
    "http": "auto",  # other hosts mean either transport by it
    "https": "auto",
    "remote": "auto",
    "streamable-http": "http",
    "streamablehttp": "http",
    "streamable_http": "http",
    "sse": "sse",
}


@dataclass
class _File:
    """Where a configuration came from, for messages and for `${workspaceFolder}`."""

    text: str = ""
    file: str | None = None
    folder: str | None = None
    inputs: dict[str, Input] = field(default_factory=dict[str, Input])
    notes: list[str] = field(default_factory=list[str])

    @property
    def name(self) -> str:
        return self.file or "the configuration"

    def folders(self) -> list[str]:
        """The project's folder and those around it, nearest first."""
        here = Path(self.folder or Path.cwd())
        return [str(folder) for folder in (here, *here.parents)]


def read_config(source: str | Path | Mapping[str, Any], *, folder: str | None = None) -> list[Entry]:
    """The servers of a configuration.

    Args:
        source: a mapping; JSON text (it begins with `{`); or the path of a file. A registry's `server.json` and a
            `pyproject.toml` with `[tool.jupyter_mcp]` are configurations too (see `sections`, `registry`).
        folder: what `${workspaceFolder}` means; by default the file's folder, or the one above `.vscode`, `.cursor`
            and the like; the current folder for text and mappings.

    Returns:
        one item for each entry, in order: its spec, or the `ConfigError` that says what is wrong with it.

    Raises:
        ConfigError: no such file, not JSON (with line and column), or no servers in it.
    """
    where = _File(folder=folder)
    if isinstance(source, Mapping):
        return _entries(source, where)
    if isinstance(source, str) and is_text(source):
        where.text = source
    else:
        path = Path(source).expanduser()
        where = _File(read_text(path), str(path), folder or folder_of(path))
    return _entries(parse_file(where.text, where.file), where)


def is_text(source: str) -> bool:
    """Whether it is a configuration's text, not the path of its file."""
    return source.lstrip("\ufeff \t\r\n").startswith(("{", "[", "//", "/*"))


def parse_body(text: str, parse: Callable[[str, str], ServerSpec] = ServerSpec.parse) -> list[Entry]:
    """The body of a `%%mcp connect` cell: JSON as `read_config` reads it, or one `name: command or URL` a line.

    `#` at the start of a word ends a line, as everywhere outside JSON. Raises `ConfigError` for an empty body.

    Args:
        text: the body.
        parse: reads a line's name and the rest of it; for whoever has options on such lines.
    """
    if text.lstrip("\ufeff \t\r\n").startswith("{"):
        return read_config(text)
    lines = [(number, _without_comment(line).strip()) for number, line in enumerate(text.splitlines(), 1)]
    entries = [_line_entry(number, line, parse) for number, line in lines if line]
    if not entries:
        raise ConfigError(
            "The cell names no servers.", hint="Write one `name: command or URL` a line, or mcpServers JSON."
        )
    return _without_twins(entries)


def entry_spec(name: str, entry: Mapping[str, Any]) -> ServerSpec:
    """One entry given directly as a mapping. Raises `ConfigError` saying what is wrong with it."""
    return _entry(name, entry, _File())


# --- files -----------------------------------------------------------------------------------------------------------


def _entries(data: Mapping[str, Any], where: _File) -> list[Entry]:
    if is_registry_file(data):
        return list(registry_specs(data, where.file))
    where.inputs, where.notes = read_inputs(data.get("inputs"))
    entries: list[Entry] = []
    seen: set[str] = set()
    for key, section in sections(data, where.folders()):
        if not isinstance(section, Mapping):
            raise ConfigError(f"{key} in {where.name} is not an object.", file=where.file, key=key)
        table = cast("Mapping[str, Any]", section)
        for name, entry in table.items():
            if name not in seen:  # what is written for this project alone goes before what holds everywhere
                entries += _named_entry(name, entry, f"{key}.{name}", where, _repeated(table, name))
        seen |= set(table) if key.startswith("projects.") else set()
    if not entries:
        raise ConfigError(f"No servers in {where.name}.", file=where.file)
    return _without_twins(entries)


def _repeated(table: Mapping[str, Any], key: str) -> bool:
    return isinstance(table, jsonc.Table) and key in table.repeated


def _named_entry(name: str, raw: Any, key: str, where: _File, repeated: bool) -> list[Entry]:
    if repeated:
        line = jsonc.line_of(where.text, name, nth=2, of=2)
        message = f"{name} is written twice in {where.name}" + (f" (again in line {line})" if line else "")
        return [ConfigError(f"{message}; neither is used.", file=where.file, line=line, key=key, server=name)]
    line = jsonc.line_of(where.text, name) if where.text else None
    try:
        return [_entry(name, raw, where)]
    except MCPError as problem:
        at = f" ({where.name}{f', line {line}' if line else ''})" if where.file or line else ""
        wrong = getattr(problem, "key", None)
        full = f"{key}.{wrong}" if wrong else key
        return [
            ConfigError(f"{problem.message}{at}", file=where.file, line=line, key=full, server=name, hint=problem.hint)
        ]


# --- one entry -------------------------------------------------------------------------------------------------------


def _entry(name: str, raw: Any, where: _File) -> ServerSpec:
    if not isinstance(raw, Mapping):
        raise ConfigError(f"{name} is not an object with a command or a url.")
    entry = cast("Mapping[str, Any]", raw)
    for part in (entry, entry.get("env"), entry.get("headers")):
        if isinstance(part, jsonc.Table) and part.repeated:
            raise ConfigError(f"{name} has {part.repeated[0]} twice.", key=part.repeated[0])
    notes: list[str] = []
    valid = name if NAME_RULE.match(name) else suggest_name(name)
    if valid != name:
        notes.append(f"{name!r} is called {valid} here: names have letters, digits, - and _ only")
    kind = _kind(name, entry)
    common: dict[str, Any] = {
        "disabled": entry.get("disabled") is True or entry.get("enabled") is False,
        "timeout": _timeout(entry.get("timeout")),
        "era": entry.get("protocolEra") if entry.get("protocolEra") in ("legacy", "modern") else "auto",
        "folder": where.folder,
        "source": where.file,
        "inputs": where.inputs,
        "notes": (*notes, *where.notes),
    }
    if kind == "stdio":
        return replace(_command(valid, entry), **common)
    headers = _texts(name, entry.get("headers"), "headers")
    try:
        way = read_way(name, {key: entry[key] for key in WAY_KEYS if entry.get(key) is not None})
        url = str(entry.get("url", entry.get("serverUrl")))
        if url.lower().startswith("unix:"):
            url, socket = from_unix_url(name, url)
            way = replace(way, socket=socket)
        login = read_entry(name, entry)
    except UsageError as problem:
        raise ConfigError(problem.message, hint=problem.hint) from None
    return ServerSpec(valid, "http", url=url, headers=headers, way=way, login=login, transport=kind, **common)


def _kind(name: str, entry: Mapping[str, Any]) -> str:
    """ "stdio", "http", "sse" or "auto" (HTTP of either age); raises for an entry that names no server."""
    command, url = entry.get("command"), entry.get("url", entry.get("serverUrl"))
    said = entry.get("type", entry.get("transport", entry.get("transportType")))
    if isinstance(said, Mapping):  # FastMCP and the registry nest it
        said = cast("Mapping[str, Any]", said).get("type")
    kind = _TYPES.get(str(said).lower()) if said is not None else None
    if said is not None and kind is None:
        raise ConfigError(f"{name}: type {said!r} is not known; use stdio, http or sse.", key="type")
    if kind is None:
        kind = "stdio" if command else "auto"
    if kind == "stdio" and not command:
        raise ConfigError(f"{name} has no command (and no url).", key="command")
    if kind != "stdio" and not (isinstance(url, str) and url):
        if said is None:
            raise ConfigError(f"{name} has no command and no url.", key="command")
        raise ConfigError(f"{name} has no url.", key="url")
    return kind


def _command(name: str, entry: Mapping[str, Any]) -> ServerSpec:
    command, args = entry["command"], entry.get("args")
    if args is None:
        args = []
    if isinstance(args, str):
        args = split_command(args)
    if not isinstance(args, Sequence) or any(isinstance(arg, Mapping | list) for arg in cast("Sequence[Any]", args)):
        raise ConfigError(f"{name}: args is not a list of texts.", key="args")
    found = [_text(arg) for arg in cast("Sequence[Any]", args)]
    if isinstance(command, list):
        first, *more = [_text(word) for word in cast("list[Any]", command)]
        command, found = first, [*more, *found]
    if not isinstance(command, str):
        raise ConfigError(f"{name}: command is not a text.", key="command")
    if not found and " " in command and not Path(command).is_file():
        command, *found = split_command(command)
    env = _texts(name, entry.get("env", entry.get("environment")), "env")
    cwd = entry.get("cwd")
    sandbox = _sandbox(name, entry)
    env_file = entry.get("envFile")
    if env_file is not None and not isinstance(env_file, str):
        raise ConfigError(f"{name}: envFile is not the path of a file.", key="envFile")
    return ServerSpec(
        name,
        "stdio",
        command=command,
        args=tuple(found),
        env=env,
        env_file=env_file or None,
        cwd=str(cwd) if cwd else None,
        sandbox=sandbox,
    )


def _sandbox(name: str, entry: Mapping[str, Any]) -> Sandbox | None:
    """Ours (`"sandbox": true` or rules), or VS Code's, which `sandboxEnabled` switches on."""
    rules = entry.get("sandbox")
    table: Mapping[str, Any] = cast("Mapping[str, Any]", rules) if isinstance(rules, Mapping) else {}
    theirs = "filesystem" in table or isinstance(table.get("network"), Mapping)
    try:
        if theirs or "sandboxEnabled" in entry:
            return sandboxes.from_vscode(name, entry.get("sandboxEnabled"), rules)
        return sandboxes.read(name, rules)
    except UsageError as problem:
        raise ConfigError(problem.message, hint=problem.hint, key="sandbox") from None


def _texts(name: str, raw: Any, key: str) -> dict[str, str]:
    """A table of texts; numbers and booleans are written out, null leaves the variable out."""
    if raw is None:
        return {}
    if not isinstance(raw, Mapping):
        raise ConfigError(f"{name}: {key} is not an object.", key=key)
    table = cast("Mapping[str, Any]", raw)
    for inner, value in table.items():
        if isinstance(value, Mapping | list):
            raise ConfigError(f"{name}: {key}.{inner} is not a text.", key=f"{key}.{inner}")
    return {inner: _text(value) for inner, value in table.items() if value is not None}


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _timeout(raw: Any) -> float | None:
    """Seconds; files of other hosts also give milliseconds, and nobody means 1,000 seconds or more."""
    if isinstance(raw, bool) or not isinstance(raw, int | float) or raw <= 0:
        return None
    return raw / 1000 if raw >= 1000 else float(raw)


# --- lines -----------------------------------------------------------------------------------------------------------


def _line_entry(number: int, line: str, parse: Callable[[str, str], ServerSpec]) -> Entry:
    match = re.match(r"""["']?([^\s:"']+)["']?\s*:(?!//)\s*(.*)\Z""", line)
    if match is None:
        return ConfigError(
            f"Line {number} is not `name: command or URL`: {line[:60]!r}.",
            line=number,
            hint="Write for example  time: mcp-server-time",
        )
    try:
        return parse(match[1], match[2])
    except (UsageError, ConfigError) as problem:
        return ConfigError(
            f"Line {number}: {problem.message}", line=number, key=match[1], server=match[1], hint=problem.hint
        )


def _without_comment(line: str) -> str:
    quote = ""
    for at, letter in enumerate(line):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter == "#" and (at == 0 or line[at - 1].isspace()):
            return line[:at]
    return line


def _without_twins(entries: list[Entry]) -> list[Entry]:
    """Two entries whose names became equal would replace one another: the second is reported."""
    seen: set[str] = set()
    result: list[Entry] = []
    for entry in entries:
        if isinstance(entry, ServerSpec):
            if entry.name in seen:
                problem = f"{entry.name} is named twice; the first one is used."
                entry = ConfigError(problem, key=entry.name, file=entry.source, server=entry.name)
            else:
                seen.add(entry.name)
        result.append(entry)
    return result
