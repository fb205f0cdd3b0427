"""What has names but no types, as object schemas: the arguments of a prompt, the variables of a URI template.

So that one generator makes every form. Both come from a server and may be odd: what has no name is left out. Pure.
Sources: MCP, "Prompts" (arguments are text) and "Resource templates"; RFC 6570, sections 2.4.2 and 3.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.protocol.shapes import as_list, is_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.protocol.uritemplate import Variable

__all__ = ["prompt_schema", "template_schema"]

_NAMED = (";", "?", "&")
_QUERY = ("?", "&")
_TEXT = {"type": "string"}


def prompt_schema(prompt: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a prompt.

    Args:
        prompt: as on the wire, untrusted.

    Returns:
        a schema of an object of texts; of two arguments with one name the first counts.
    """
    first: dict[str, Mapping[str, Any]] = {}
    for one in as_list(prompt.get("arguments")):
        if is_mapping(one) and isinstance(one.get("name"), str):
            first.setdefault(one["name"], one)
    members = {
        name: _TEXT | {key: one[key] for key in ("title", "description") if isinstance(one.get(key), str)}
        for name, one in first.items()
    }
    return _object(members, [name for name, one in first.items() if one.get("required") is True])


def template_schema(template: str) -> dict[str, Any]:
    """The variables of a URI template.

    Args:
        template: untrusted; an expression that is none has no variables.

    Returns:
        a schema of an object: texts, or (exploded ones) lists, or for a query names with values. What stands in a
        query is optional, for the URI is whole without it.
    """
    from jupyter_mcp.protocol import uritemplate

    members: dict[str, Any] = {}
    needed: list[str] = []
    for part in uritemplate.parse(template):
        if isinstance(part, str):
            continue
        for variable in part.variables:
            members.setdefault(variable.name, _variable(variable, part.operator))
            if part.operator not in _QUERY and variable.name not in needed:
                needed.append(variable.name)
    return _object(members, [name for name in members if name in needed])


def _variable(variable: Variable, operator: str) -> dict[str, Any]:
    if not variable.explode:
        return dict(_TEXT)
    ways: list[dict[str, Any]] = [
        {**_TEXT, "title": "one value"},
        {"type": "array", "items": _TEXT, "title": "several values"},
    ]
    if operator in _NAMED:
        ways.append({"type": "object", "additionalProperties": _TEXT, "title": "names with values"})
    return {"anyOf": ways}


def _object(members: Mapping[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": dict(members), "required": required, "additionalProperties": False}
