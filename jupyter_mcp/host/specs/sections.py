"""Where the servers stand in a parsed configuration file: `mcpServers`, `servers`, and what other programs write. Pure.

Claude, Cursor, Copilot   {"mcpServers": {name: entry}}
Claude Code, ~/.claude.json   the same, and {"projects": {FOLDER: {"mcpServers": …}}} for one project alone
VS Code                   {"inputs": […], "servers": {name: entry}}; in its settings.json under "mcp"
Jupyter                   {"mcp_servers": [{"name": …, "env": [{"name": …, "value": …}]}]}
pyproject.toml            [tool.jupyter_mcp.servers.NAME]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from jupyter_mcp.errors import ConfigError
from jupyter_mcp.host.specs import jsonc
from jupyter_mcp.protocol.shapes import as_list, is_mapping, mapping_of

__all__ = ["SECTIONS", "parse_file", "sections"]

SECTIONS = ("mcpServers", "servers", "mcp_servers")


def parse_file(text: str, file: str | None) -> Mapping[str, Any]:
    """The parsed text of a file: TOML when it is called so (of a pyproject.toml, our table), else JSON with comments.

    Raises:
        ConfigError: it is neither, with the line, or holds no table of servers.
    """
    name = file or "The text"
    if file is not None and file.endswith(".toml"):
        import tomllib

        try:
            table: Mapping[str, Any] = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError) as reason:
            raise ConfigError(f"{name} is not TOML: {reason}.", file=file) from None
        if file.replace("\\", "/").rpartition("/")[2] == "pyproject.toml":
            table = mapping_of(mapping_of(table.get("tool")).get("jupyter_mcp"))
        return table
    data = jsonc.parse(text, file=file)
    if not isinstance(data, Mapping):
        raise ConfigError(f"{name} holds no JSON object with servers.", file=file, line=1)
    return cast("Mapping[str, Any]", data)


def sections(data: Mapping[str, Any], folders: Sequence[str] = ()) -> list[tuple[str, Any]]:
    """The parts that hold servers, with their keys; a mapping of entries without any wrapper is one too.

    Args:
        data: the parsed file.
        folders: of the notebook, nearest first; what is written for one of them alone comes first.
    """
    nested = data.get("mcp")
    if is_mapping(nested) and not any(key in data for key in SECTIONS):
        return [(f"mcp.{key}", section) for key, section in sections(nested)]
    found = _of_projects(mapping_of(data.get("projects")), folders)
    found += [(key, _by_name(data[key])) for key in SECTIONS if key in data]
    if not found and data and all(_is_entry(value) for value in data.values()):
        return [("servers", data)]
    return found


def _of_projects(projects: Mapping[str, Any], folders: Sequence[str]) -> list[tuple[str, Any]]:
    inside = [(folder, mapping_of(projects.get(folder)).get("mcpServers")) for folder in folders]
    return [(f"projects.{folder}.mcpServers", section) for folder, section in inside if section]


def _by_name(section: Any) -> Any:
    """A list of entries that name themselves, as a table; what is neither stays as it is."""
    if not isinstance(section, list):
        return section
    table = jsonc.Table()
    for number, entry in enumerate(cast("list[Any]", section), 1):
        known = mapping_of(entry)
        name = str(known.get("name") or f"server-{number}")
        if name in table and name not in table.repeated:
            table.repeated.append(name)
        table[name] = {key: _pairs(value) for key, value in known.items() if key != "name"} if known else entry
    return table


def _pairs(value: Any) -> Any:
    """`[{"name", "value"}]` as a table of texts."""
    items = as_list(value)
    if items and all(is_mapping(one) and "name" in one and "value" in one for one in items):
        return {str(one["name"]): one["value"] for one in items}
    return value


def _is_entry(value: Any) -> bool:
    return isinstance(value, Mapping) and ("command" in value or "url" in value)
