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
from jupyter_mcp.host.specs.spec import NAME_RULE, ServerSpec, split_command, suggest_name
from jupyter_mcp.host.specs.way import WAY_KEYS, from_unix_url, read_way

if TYPE_CHECKING:
    from jupyter_mcp.host.sandbox.rules import Sandbox

__all__ = ["Entry", "entry_spec", "parse_body", "read_config"]

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
_SECTIONS = ("mcpServers", "servers", "mcp_servers")
_CONFIG_FOLDERS = (".vscode", ".cursor", ".claude", ".gemini", ".jupyter")
_WITHOUT_EFFECT = {
    "envFile": "envFile is not read; put its variables into the environment or into env",
    "oauth": "oauth has no effect in this version",
    "auth": "auth has no effect in this version",
}


@dataclass
class _File:
    """Where a configuration came from, for messages and for `${workspaceFolder}`."""

    text: str = ""
    file: str | None = None
    folder: str | None = None
    inputs: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def name(self) -> str:
        return self.file or "the configuration"


def read_config(source: str | Path | Mapping[str, Any], *, folder: str | None = None) -> list[Entry]:
    """The servers of a configuration.

    Args:
        source: a mapping; JSON text (it begins with `{`); or the path of a file.
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
    if isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith(("{", "[", "//", "/*")):
        where.text = source
    else:
        where = _opened(Path(source).expanduser(), folder)
    data = jsonc.parse(where.text, file=where.file)
    if not isinstance(data, Mapping):
        raise ConfigError(f"{where.name} holds no JSON object with servers.", file=where.file, line=1)
    return _entries(cast("Mapping[str, Any]", data), where)


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


def _opened(path: Path, folder: str | None) -> _File:
    shown = str(path)
    try:
        data = path.read_bytes()
    except OSError as reason:
        what = "There is no file" if isinstance(reason, FileNotFoundError) else "Cannot read"
        raise ConfigError(f"{what} {shown}.", file=shown) from None
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as reason:
        line = data.count(b"\n", 0, reason.start) + 1
        raise ConfigError(f"{shown} is not UTF-8 text (line {line}).", file=shown, line=line) from None
    parent = path.resolve().parent
    return _File(text, shown, folder or str(parent.parent if parent.name in _CONFIG_FOLDERS else parent))


def _entries(data: Mapping[str, Any], where: _File) -> list[Entry]:
    where.inputs = _inputs(data.get("inputs"))
    entries: list[Entry] = []
    for key, section in _sections(data):
        if not isinstance(section, Mapping):
            raise ConfigError(f"{key} in {where.name} is not an object.", file=where.file, key=key)
        table = cast("Mapping[str, Any]", section)
        for name, entry in table.items():
            entries += _named_entry(name, entry, f"{key}.{name}", where, _repeated(table, name))
    if not entries:
        raise ConfigError(f"No servers in {where.name}.", file=where.file)
    return _without_twins(entries)


def _sections(data: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The parts that hold servers; a mapping of entries without any wrapper is taken too."""
    nested = data.get("mcp")
    if isinstance(nested, Mapping) and not any(key in data for key in _SECTIONS):
        found = _sections(cast("Mapping[str, Any]", nested))
        return [(f"mcp.{key}", section) for key, section in found]
    found = [(key, data[key]) for key in _SECTIONS if key in data]
    if not found and data and all(_is_entry(value) for value in data.values()):
        return [("servers", data)]
    return found


def _is_entry(value: Any) -> bool:
    return isinstance(value, Mapping) and ("command" in value or "url" in value)


def _inputs(raw: Any) -> dict[str, str]:
    items = cast("list[Any]", raw) if isinstance(raw, list) else []
    tables = [cast("Mapping[str, Any]", item) for item in items if isinstance(item, Mapping)]
    return {str(item["id"]): str(item.get("description", "")) for item in tables if "id" in item}


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
    notes = [f"{name}: {text}" for key, text in _WITHOUT_EFFECT.items() if key in entry]
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
        "notes": tuple(notes),
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
    except UsageError as problem:
        raise ConfigError(problem.message, hint=problem.hint) from None
    return ServerSpec(valid, "http", url=url, headers=headers, way=way, transport=kind, **common)


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
    where = str(cwd) if cwd else None
    return ServerSpec(name, "stdio", command=command, args=tuple(found), env=env, cwd=where, sandbox=sandbox)


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
