"""`inputs` of a configuration: values that a person gives when a server is connected, `${input:id}` in the file.

VS Code's `promptString` and `pickString`, and what a registry's `server.json` asks for, become one `Input` each, and
those that a server needs one form. Pure; values are kept by `host.inputs`, in memory only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.protocol import secrets

if TYPE_CHECKING:
    from jupyter_mcp.host.specs.spec import ServerSpec

__all__ = ["Input", "form_of", "needed", "read_inputs", "whole"]

_USED = re.compile(r"\$\{input:([^{}]+)\}")
_WHOLE = re.compile(r"\$\{input:([^{}]+)\}\Z")


@dataclass(frozen=True, slots=True)
class Input:
    """One value that is asked for.

    Attributes:
        id: as `${input:id}` names it.
        title: what the form calls it.
        description: more about it, or "".
        secret: it is typed masked, and never shown again.
        choices: the values that it may have; empty: any.
        default: what stands in the form at first; None: nothing.
        required: an empty value is none. One that may be empty is left out where it stands alone.
        kind: "string", "number" or "boolean", as the form asks for it.
    """

    id: str
    title: str = ""
    description: str = ""
    secret: bool = False
    choices: tuple[str, ...] = ()
    default: str | None = None
    required: bool = True
    kind: str = "string"


def read_inputs(raw: Any) -> tuple[dict[str, Input], list[str]]:
    """The `inputs` of a VS Code file by id, and what is wrong with the others, a sentence each.

    An input of a kind that runs a command of the editor is not known here: a server that needs it cannot be connected.
    """
    found: dict[str, Input] = {}
    problems: list[str] = []
    for item in cast("list[Any]", raw) if isinstance(raw, list) else []:
        table: Mapping[str, Any] = cast("Mapping[str, Any]", item) if isinstance(item, Mapping) else {}
        name, kind = str(table.get("id") or ""), table.get("type", "promptString")
        if not name:
            problems.append("an input has no id")
        elif name in found:
            problems.append(f"the input {name} is written twice; the first one is used")
        elif kind not in ("promptString", "pickString"):
            problems.append(f"the input {name} is of type {kind!r:.40}, which only its editor has")
        else:
            found[name] = _input(name, kind, table)
    return found, problems


def needed(spec: ServerSpec) -> list[str]:
    """The ids of the inputs that a spec refers to, in order, once each."""
    way = spec.way
    cert = way.cert if isinstance(way.cert, tuple) else (way.cert,)
    texts = (spec.command, *spec.args, *spec.env.values(), spec.cwd, spec.url, *spec.headers.values())
    login = spec.login
    of_login = (login.client_id, login.client_secret, login.private_key, login.issuer)
    all_texts = (*texts, way.socket, way.proxy, way.ca, *cert, *of_login)
    return list(dict.fromkeys(match for text in all_texts if text for match in _USED.findall(text)))


def whole(text: str) -> str | None:
    """The id of the input that a text is, when it is nothing but one."""
    match = _WHOLE.match(text)
    return match[1] if match else None


def form_of(inputs: Iterable[Input]) -> dict[str, Any]:
    """The JSON schema of the form that asks for them, as of an elicitation."""
    properties: dict[str, Any] = {}
    required: list[str] = []
    for one in inputs:
        properties[one.id] = _field(one)
        if one.required:
            required.append(one.id)
    return {"type": "object", "properties": properties, "required": required}


def _field(one: Input) -> dict[str, Any]:
    field: dict[str, Any] = {"type": one.kind, "title": one.title or one.id}
    if one.description and one.description != one.title:
        field["description"] = one.description
    if one.choices:
        field["enum"] = list(one.choices)
    if one.secret:
        field["format"] = "password"
    if one.kind == "string" and one.required and not one.choices:
        field["minLength"] = 1
    if one.default is not None:
        field["default"] = _typed(one.default, one.kind)
    return field


def _typed(text: str, kind: str) -> Any:
    if kind == "boolean":
        return text.lower() == "true"
    if kind == "number":
        try:
            return float(text) if "." in text else int(text)
        except ValueError:
            return None
    return text


def _input(name: str, kind: str, table: Mapping[str, Any]) -> Input:
    default = table.get("default")
    options = table.get("options")
    listed = cast("list[Any]", options) if kind == "pickString" and isinstance(options, list) else []
    choices = tuple(str(_value(one)) for one in listed)
    return Input(
        name,
        title=str(table.get("description") or name),
        secret=table.get("password") is True or (kind == "promptString" and secrets.looks_secret(name)),
        choices=choices,
        default=str(default)
        if isinstance(default, str | int | float) and (not choices or default in choices)
        else None,
    )


def _value(option: Any) -> Any:
    """VS Code also takes `{"label", "value"}`."""
    return cast("Mapping[str, Any]", option).get("value") if isinstance(option, Mapping) else option
