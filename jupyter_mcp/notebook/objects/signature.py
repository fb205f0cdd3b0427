"""A tool's or prompt's arguments as a Python signature and docstring, made from its schema. Pure.

Tab, `?` and `help()` show them; `bind` turns a Python call back into the arguments object with the tool's own names.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any, Literal, Union, cast

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.wants import branches, describe, wants
from jupyter_mcp.host.wording import nearest
from jupyter_mcp.notebook.objects.names import attribute_names

_TYPES: dict[str, Any] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "array": list[Any],
    "object": dict[str, Any],
    "null": None,
}


class _NotSent:
    """Default of an argument that is left out when it is not given."""

    def __repr__(self) -> str:
        return "<not sent>"


NOT_SENT = _NotSent()


class Arguments:
    """The Python face of an object schema.

    Attributes:
        signature: required arguments first, in the schema's order, then the optional ones with their defaults.
        names: Python name -> the schema's name.
    """

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.schema = schema
        properties = _mapping(schema.get("properties"))
        required = [name for name in _list(schema.get("required")) if name in properties]
        attributes = attribute_names(properties)
        self.names = attributes
        named = {name: attribute for attribute, name in attributes.items()}
        ordered = [*required, *(name for name in properties if name not in required)]
        self._unnamed = [name for name in properties if name not in named]
        parameters = [
            _parameter(named[name], properties[name], schema, name in required) for name in ordered if name in named
        ]
        if self._unnamed or self._open:
            parameters.append(
                inspect.Parameter(_free_name(named.values()), inspect.Parameter.VAR_KEYWORD, annotation=Any)
            )
        self.signature = inspect.Signature(parameters)

    @property
    def _open(self) -> bool:
        extra = self.schema.get("additionalProperties")
        return bool(extra) or (extra is None and not _mapping(self.schema.get("properties")))

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], what: str) -> dict[str, Any]:
        """The arguments object of a Python call. Raises `UsageError`; missing ones are the host's to find."""
        properties = _mapping(self.schema.get("properties"))
        positional = [
            name
            for name, parameter in self.signature.parameters.items()
            if parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        ]
        if len(args) > len(positional):
            raise UsageError(
                f"{what} takes {len(positional)} arguments, not {len(args)}.", usage=f"{what}{self.signature}"
            )
        result = {self.names[name]: value for name, value in zip(positional, args, strict=False)}
        for given, value in kwargs.items():
            name = given if given in properties else self.names.get(given, given)
            if name not in properties and not self._open:
                near = nearest(given, [*self.names, *properties])
                meant = f"; did you mean {near!r}?" if near else "."
                raise UsageError(f"{what} has no argument {given!r}{meant}", usage=f"{what}{self.signature}")
            if name in result:
                raise UsageError(f"{what} got {given!r} twice.", usage=f"{what}{self.signature}")
            result[name] = value
        return {name: value for name, value in result.items() if value is not NOT_SENT}


def annotation(schema: Any, root: Mapping[str, Any]) -> Any:
    """The Python type of a schema, as near as it helps a reader."""
    want = wants(schema, root)
    if want.choices is not None:
        plain = tuple(value for value in want.choices if value is None or isinstance(value, (str, int, bool)))
        if len(plain) == len(want.choices) and not want.open_text:
            return Literal[plain]
        return Any if not want.open_text else str
    if not want.types:
        return Any
    found = [_typed(name, schema, root) for name in _TYPES if name in want.types]
    return Union[tuple(found)] if len(found) > 1 else found[0]  # noqa: UP007 - made at run time


def docstring(title: str, description: str, schema: Mapping[str, Any]) -> str:
    """Title, description and arguments as a Python docstring."""
    properties = _mapping(schema.get("properties"))
    required = set(_list(schema.get("required")))
    lines = [part for part in (title, description) if part]
    text = "\n\n".join(dict.fromkeys(lines))
    if not properties:
        return text
    rows = [_argument(name, sub, schema, name in required) for name, sub in properties.items()]
    return "\n\n".join(filter(None, [text, "Args:\n" + "\n".join(rows)]))


def _argument(name: str, schema: Any, root: Mapping[str, Any], required: bool) -> str:
    found = _mapping(schema)
    words = describe(schema, root) + ("" if required else ", optional")
    if "default" in found:
        words += f", default {found['default']!r}"
    text = str(found.get("description") or found.get("title") or "").strip()
    body = f"{name} ({words})" + (f": {text}" if text else "")
    return textwrap.indent(textwrap.fill(body, 100, subsequent_indent="    "), "    ")


def _typed(name: str, schema: Any, root: Mapping[str, Any]) -> Any:
    if name != "array":
        return _TYPES[name]
    for branch in branches(schema, root):
        items = branch.get("items")
        if isinstance(items, Mapping):
            inner = wants(items, root)
            if len(inner.types) == 1 and inner.choices is None:
                return list[_TYPES[next(iter(inner.types))] or Any]
    return _TYPES[name]


def _parameter(name: str, schema: Any, root: Mapping[str, Any], required: bool) -> inspect.Parameter:
    default = inspect.Parameter.empty if required else _mapping(schema).get("default", NOT_SENT)
    return inspect.Parameter(
        name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=annotation(schema, root)
    )


def _free_name(taken: Iterable[str]) -> str:
    name = "arguments"
    while name in set(taken):
        name += "_"
    return name


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[str]:
    return [item for item in cast("list[Any]", value) if isinstance(item, str)] if isinstance(value, list) else []
