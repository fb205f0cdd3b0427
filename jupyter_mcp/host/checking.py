"""A tool's arguments against its schema, before anything is sent: which argument, why, what the schema wants. Pure.

Stricter than JSON Schema in one point: a name that the schema does not mention is a mistake unless the schema says that
more may come, because in a notebook it nearly always is one and servers drop it silently.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.wants import describe
from jupyter_mcp.host.wording import nearest
from jupyter_mcp.protocol import schema as schemas

__all__ = ["OutputCheck", "check_arguments", "check_output", "check_prompt_arguments", "usage"]

_OPENERS = ("patternProperties", "allOf", "anyOf", "oneOf", "$ref", "if", "dependentSchemas")


def check_arguments(server: str, tool: Mapping[str, Any], arguments: Mapping[str, Any]) -> None:
    """Raises `UsageError` when the arguments do not fit the tool's input schema."""
    name = f"{server}.{tool['name']}"
    schema = schemas.normalise(tool.get("inputSchema") or {})
    properties = _properties(schema)
    if not _takes_more(schema, properties):
        for key in arguments:
            if key not in properties:
                raise UsageError(
                    f"{name} has no argument {key!r}.", hint=_instead(key, properties), usage=usage(name, schema)
                )
    required = schema.get("required")
    needed = cast("list[Any]", required) if isinstance(required, list) else []
    missing = [str(key) for key in needed if key not in arguments]
    if missing:
        wanted = ", ".join(f"{key} ({describe(properties.get(key, {}), schema)})" for key in missing)
        raise UsageError(f"{name} needs {wanted}.", usage=usage(name, schema))
    issues = [issue for issue in schemas.check(schema, dict(arguments)) if issue.about == "value"]
    if issues:
        raise UsageError(f"{name}: {_sentence(issues[0], schema)}", hint=_more(len(issues)), usage=usage(name, schema))


class OutputCheck(NamedTuple):
    """A result beside its tool's output schema.

    Attributes:
        fits: None when it could not be compared (no schema, one that is none, an error).
        note: what is wrong, in one sentence, or None.
    """

    fits: bool | None
    note: str | None


def check_output(tool: Mapping[str, Any], result: Mapping[str, Any]) -> OutputCheck:
    """Whether a result's structured content fits the tool's output schema; it hides nothing.

    A result that is an error is never looked at: its text is what the person needs.
    """
    schema = tool.get("outputSchema")
    if not isinstance(schema, Mapping) or not schema or result.get("isError") is True:
        return OutputCheck(None, None)
    if result.get("structuredContent") is None:
        return OutputCheck(False, "The tool declares an output schema but sent no structured content.")
    issues = schemas.check(cast("object", schema), result["structuredContent"])
    if issues and issues[0].about == "schema":
        return OutputCheck(None, f"The structured content is unchecked: {issues[0].message}.")
    if not issues:
        return OutputCheck(True, None)
    place = f" at {issues[0].path}" if issues[0].path else ""
    said = f"The structured content does not fit the tool's output schema{place}: {issues[0].message}."
    return OutputCheck(False, said)


def check_prompt_arguments(server: str, prompt: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, str]:
    """A prompt's arguments as the texts they have to be. Raises `UsageError` for an unknown or missing one."""
    name = f"{server}.{prompt['name']}"
    raw = prompt.get("arguments")
    items = cast("list[Any]", raw) if isinstance(raw, list) else []
    declared = [cast("Mapping[str, Any]", item) for item in items if isinstance(item, Mapping) and "name" in item]
    known = [str(item["name"]) for item in declared]
    line = " ".join([name, *(f"{i['name']}=…" if i.get("required") else f"[{i['name']}=…]" for i in declared)])
    for key in arguments:
        if key not in known:
            raise UsageError(f"The prompt {name} has no argument {key!r}.", hint=_instead(key, known), usage=line)
    missing = [str(item["name"]) for item in declared if item.get("required") and item["name"] not in arguments]
    if missing:
        raise UsageError(f"The prompt {name} needs {', '.join(missing)}.", usage=line)
    return {
        key: value if isinstance(value, str) else _json(value) for key, value in arguments.items() if value is not None
    }


def usage(name: str, schema: Mapping[str, Any]) -> str:
    """How the call is written: `demo.add a=number b=number [days=integer]`."""
    properties = _properties(schema)
    raw = schema.get("required")
    required = cast("list[Any]", raw) if isinstance(raw, list) else []
    words = [f"{key}={_kind(properties[key], schema)}" for key in properties if key in required]
    words += [f"[{key}={_kind(properties[key], schema)}]" for key in properties if key not in required]
    shown = words[:8] + ([f"… {len(words) - 8} more"] if len(words) > 8 else [])
    return " ".join([name, *shown])


_WRITTEN = {"array": "[…]", "object": "{…}"}


def _kind(schema: Any, root: Mapping[str, Any]) -> str:
    words = describe(schema, root).split(", ")[0].removeprefix("one of ")
    if len(words) >= 40:
        return "…"
    if words.startswith("'"):  # the first choice, quoted where it has to be typed so
        return words if " " in words else words.strip("'")
    return "|".join(_WRITTEN.get(word, word) for word in words.split(" or "))


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    found = schema.get("properties")
    return cast("Mapping[str, Any]", found) if isinstance(found, Mapping) else {}


def _takes_more(schema: Mapping[str, Any], properties: Mapping[str, Any]) -> bool:
    """Whether other names may come: the schema says so, mentions none at all, or mentions them in other places too."""
    more = schema.get("additionalProperties")
    if more is not None:
        return more is not False
    return not properties or any(word in schema for word in _OPENERS)


def _instead(key: str, known: Any) -> str:
    names = list(known)
    near = nearest(key, names)
    if near:
        return f"Did you mean {near}?"
    return f"It takes {', '.join(names[:12])}{' …' if len(names) > 12 else ''}." if names else "It takes no arguments."


def _sentence(issue: schemas.Issue, schema: Mapping[str, Any]) -> str:
    top = issue.path.split(".")[0].split("[")[0] if issue.path else ""
    wanted = describe(_properties(schema)[top], schema) if top in _properties(schema) and top == issue.path else ""
    joint = " " if issue.message.startswith("is ") else ": "
    place = f"argument {issue.path}{joint}" if issue.path else ""
    return f"{place}{issue.message}" + (f" (wants {wanted})." if wanted and "(wants " not in issue.message else ".")


def _more(count: int) -> str | None:
    return f"And {count - 1} more." if count > 1 else None


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
