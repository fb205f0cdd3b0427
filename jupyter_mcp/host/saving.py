"""Writing servers of a host into a configuration file: entry by entry, asking before one that differs is replaced.

What an entry holds is decided by `specs.saving`; the rest of the file stays to the letter (`specs.jsonedit`). Nothing
is written before everything was asked.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import ConfigError, MCPError, UsageError
from jupyter_mcp.host.specs import jsonc
from jupyter_mcp.host.specs.config import entry_spec
from jupyter_mcp.host.specs.files import folder_of, read_text, write_text
from jupyter_mcp.host.specs.jsonedit import put
from jupyter_mcp.host.specs.places import project_files
from jupyter_mcp.host.specs.saving import Written, merged, written
from jupyter_mcp.protocol.shapes import as_list, is_mapping, mapping_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from jupyter_mcp.host.questions import Answer
    from jupyter_mcp.host.specs import ServerSpec

__all__ = ["Saved", "nearest_file", "save"]

Confirm = Callable[[str], Awaitable["Answer"]]


@dataclass(frozen=True)
class Saved:
    """What became of one server.

    Attributes:
        name: of the server.
        outcome: "written", "replaced", "as it was", "kept" (the person wanted the old entry) or "not written".
        note: what has to be known besides, or "".
    """

    name: str
    outcome: str
    note: str = ""


def nearest_file(folder: Path) -> Path:
    """The `.mcp.json` that is there for a notebook in `folder`, else the one that would lie beside it."""
    there = [path for path, _ in project_files(folder) if path.name == ".mcp.json" and path.is_file()]
    return there[0] if there else folder / ".mcp.json"


async def save(specs: Iterable[ServerSpec], file: Path, confirm: Confirm) -> list[Saved]:
    """Write servers into a file.

    Args:
        specs: as written, unexpanded.
        file: JSON with `mcpServers` (or `servers`, as VS Code has it); it is made when it is not there.
        confirm: asks whether an entry may be replaced.

    Raises:
        ConfigError: the file is no such JSON, or cannot be read or written.
        UsageError: a file of another kind.
    """
    if file.suffix == ".toml":
        raise UsageError(f"{file.name} is TOML, which is not written here; save to a .json file.")
    before = text = _text(file)
    data = _table(text, file)
    section = next((key for key in ("mcpServers", "servers") if key in data), "mcpServers")
    done: list[Saved] = []
    for spec in specs:
        try:
            new = written(spec)
        except UsageError as problem:
            done.append(Saved(spec.name, "not written", str(problem)))
            continue
        old = mapping_of(data.get(section)).get(spec.name)
        outcome, note = await _compared(new, old, file, confirm)
        if outcome in ("written", "replaced"):
            entry = merged(old, new.entry) if is_mapping(old) else new.entry
            text = put(_with_inputs(text, new, file), (section, spec.name), entry)
            note = " ".join(filter(None, [note, _note(new, spec, file)]))
        done.append(Saved(spec.name, outcome, note))
    if text != before:
        _table(text, file)  # what is written can be read
        if _text(file) != before:
            raise ConfigError(f"{file} has changed meanwhile and was not written.", file=str(file))
        write_text(file, text)
    return done


async def _compared(new: Written, old: Any, file: Path, confirm: Confirm) -> tuple[str, str]:
    if old is None:
        return "written", ""
    if _same(new, old):
        return "as it was", ""
    answer = await confirm(f"{file.name} has another {new.name} already. Replace it by this one?{_both(new, old)}")
    return ("replaced", "") if answer.action == "accept" else ("kept", answer.note or "")


def _same(new: Written, old: Any) -> bool:
    if not is_mapping(old):
        return False
    try:
        return entry_spec(new.name, merged(old, new.entry)) == entry_spec(new.name, old)
    except MCPError:
        return False


def _both(new: Written, old: Any) -> str:
    """The two entries in a line each; no value of a variable or header stands in it."""

    def told(entry: Any) -> str:
        try:
            return entry_spec(new.name, entry).describe() if is_mapping(entry) else "no entry of a server"
        except MCPError as problem:
            return f"an entry with a mistake ({problem.message.rstrip('.')})"

    return f"\nthere: {told(old)}\nhere: {told(new.entry)}"


def _with_inputs(text: str, new: Written, file: Path) -> str:
    """The text with the inputs that the new entry refers to."""
    there = as_list(_table(text, file).get("inputs"))
    known = {one.get("id") for one in there if is_mapping(one)}
    more = [one for one in new.inputs if one["id"] not in known]
    return put(text, ("inputs",), [*there, *more]) if more else text


def _note(new: Written, spec: ServerSpec, file: Path) -> str:
    said = [f"{note}." for note in new.notes]
    if new.secrets:
        said.insert(0, f"Set {', '.join(new.secrets)} in the environment: no secret is written.")
    texts = (spec.command, *spec.args, *spec.env.values(), spec.cwd or "", spec.env_file or "")
    if spec.folder and spec.folder != folder_of(file) and any("${workspaceFolder" in text for text in texts):
        said.append("${workspaceFolder} is another folder there.")
    return " ".join(said)


def _text(file: Path) -> str:
    """What stands in the file; of one that is not there, or empty, an empty object."""
    return (read_text(file) if os.path.lexists(file) else "").strip("\ufeff") or "{}\n"


def _table(text: str, file: Path) -> Mapping[str, Any]:
    data = jsonc.parse(text, file=str(file))
    if not is_mapping(data):
        raise ConfigError(f"{file} holds no JSON object with servers.", file=str(file), line=1)
    return data
