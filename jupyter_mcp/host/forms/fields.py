"""A JSON Schema read as a list of form fields.

One place decides what kind of control a property wants (a text, a whole number, a choice, a JSON box …), for the flat
schemas of elicitation and the nested ones of tools alike. It is pure: schemas come from servers, so whatever is wrong
with one costs a hint or a limit, never an exception. It parses no input (that is `parse`) and draws nothing.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, cast

from jupyter_mcp.host.forms.check import check
from jupyter_mcp.host.forms.field import UNSET, Field, Kind
from jupyter_mcp.host.forms.schema import Schema, flatten, number_of
from jupyter_mcp.protocol.shapes import as_list, is_mapping, mapping_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["fields"]

_TYPES = frozenset(["string", "integer", "number", "boolean", "array", "object", "null"])


_FORMATS: Mapping[str, Kind] = {
    "date": "date",
    "date-time": "date-time",
    "email": "email",
    "uri": "uri",
    "url": "uri",
    "textarea": "multiline",
    "multiline": "multiline",
}


_LONG_NAMES = frozenset(["body", "code", "content", "html", "markdown", "prompt", "script", "source", "sql", "text"])


_LONG = 200  # characters: from here on a text gets several lines


_MAX_PARTS = 12  # properties of an object that is still shown as a group


def fields(schema: object) -> list[Field]:
    """The fields of an object schema: the required ones first, each half in the order of its properties.

    Args:
        schema: a tool's `inputSchema`, an elicitation's `requestedSchema`, or whatever a server sent instead.
    """
    root = mapping_of(schema)
    flat = flatten(root, root)
    found = list(_properties(flat, root, depth=0))
    return [one for one in found if one.required] + [one for one in found if not one.required]


def _properties(flat: Schema, root: Schema, depth: int) -> Iterator[Field]:
    properties = mapping_of(flat.get("properties"))
    required = [name for name in as_list(flat.get("required")) if isinstance(name, str)]
    wanted = set(required)
    for name, part in properties.items():
        if part is not False:  # `false` allows no value: there is nothing to fill in
            yield _field(str(name), part, root, required=name in wanted, depth=depth)
    for name in dict.fromkeys(required):
        if name not in properties:  # required but never described: any JSON value will do
            yield _field(name, {}, root, required=True, depth=depth)


def _field(name: str, part: object, root: Schema, *, required: bool, depth: int) -> Field:
    schema = flatten(mapping_of(part), root)
    branches, nullable = _branches(schema, root)
    merged = _without_null(branches[0] if len(branches) == 1 else schema)
    outer = mapping_of(part)
    base = Field(
        name=name,
        title=_text(schema.get("title")) or _text(outer.get("title")) or name,
        description=_text(schema.get("description")) or _text(merged.get("description")),
        required=required,
        nullable=nullable,
        secret=merged.get("format") == "password" or merged.get("writeOnly") is True,
        schema=_with_definitions(schema, root),
    )
    shaped = _shape(base, merged, branches, root, depth)
    default = schema.get("default", merged.get("default", UNSET))
    if default is UNSET and "const" in merged:
        default = merged["const"]
    return replace(shaped, default=_fitting_default(shaped, default))


def _fitting_default(shaped: Field, default: object) -> object:
    """A default that breaks its own schema, or says null, preselects nothing."""
    if default is UNSET or default is None:
        return UNSET
    return default if check(shaped, default) is None else UNSET


def _shape(base: Field, schema: Schema, branches: Sequence[Schema], root: Schema, depth: int) -> Field:
    options = _options(schema, branches)
    if options:
        return replace(base, kind="choice", choices=options)
    types = _types_of(schema, branches)
    if len(branches) > 1 or len(types) != 1:
        return _union(base, branches, types)
    build = _SHAPES.get(types[0])
    return build(base, schema, root, depth) if build else base


def _union(base: Field, branches: Sequence[Schema], types: tuple[str, ...]) -> Field:
    """Several types: numbers only are one number box; with text among scalars, a text box; else a JSON box."""
    if types and set(types) <= {"integer", "number"}:
        return replace(base, kind="number", types=("number",))
    if "string" in types and not {"array", "object"} & set(types):
        known = tuple(pair for branch in branches for pair in _options(branch, [branch]))
        return replace(base, kind="text", types=types, choices=_distinct(known))
    return replace(base, kind="json", types=types)


def _string(base: Field, schema: Schema, root: Schema, depth: int) -> Field:
    limits = replace(
        base,
        types=("string",),
        min_length=_count(schema.get("minLength")),
        max_length=_count(schema.get("maxLength")),
        pattern=_text(schema.get("pattern")) or None,
    )
    kind = _FORMATS.get(_text(schema.get("format")))
    if kind is None:
        default = schema.get("default")
        long = (limits.max_length or 0) > _LONG or base.name.lower() in _LONG_NAMES or "contentMediaType" in schema
        long = long or (isinstance(default, str) and ("\n" in default or len(default) > _LONG // 2))
        kind = "multiline" if long and not base.secret else "text"
    return replace(limits, kind=kind)


def _numeric(kind: Literal["integer", "number"]) -> Any:
    def build(base: Field, schema: Schema, root: Schema, depth: int) -> Field:
        return replace(
            base,
            kind=kind,
            types=(kind,),
            minimum=number_of(schema.get("minimum")),
            maximum=number_of(schema.get("maximum")),
        )

    return build


def _boolean(base: Field, schema: Schema, root: Schema, depth: int) -> Field:
    return replace(base, kind="boolean", types=("boolean",))


def _array(base: Field, schema: Schema, root: Schema, depth: int) -> Field:
    sized = replace(
        base, types=("array",), min_items=_count(schema.get("minItems")), max_items=_count(schema.get("maxItems"))
    )
    items = schema.get("items")
    if not is_mapping(items) or "prefixItems" in schema:
        return sized
    item = _field("item", items, root, required=False, depth=depth + 1)
    if item.kind == "choice" and not item.nullable:
        return replace(sized, kind="choices", choices=item.choices)
    simple = item.kind in ("text", "multiline", "integer", "number", "boolean", "email", "uri", "date", "date-time")
    if simple and not item.nullable:
        return replace(sized, kind="list", item=replace(item, title="this entry"))
    return sized


def _object(base: Field, schema: Schema, root: Schema, depth: int) -> Field:
    """An object of a few simple parts is a group, one level deep; any other is a JSON box."""
    typed = replace(base, types=("object",))
    properties = schema.get("properties")
    if depth or not is_mapping(properties) or not 0 < len(properties) <= _MAX_PARTS:
        return typed
    if any(word in schema for word in ("anyOf", "oneOf", "patternProperties", "dependentRequired", "if", "not")):
        return typed
    found = list(_properties(schema, root, depth + 1))
    if any(part.kind in ("json", "group") for part in found):
        return typed
    ordered = [part for part in found if part.required] + [part for part in found if not part.required]
    return replace(typed, kind="group", parts=tuple(ordered))


_SHAPES: Mapping[str, Any] = {
    "string": _string,
    "integer": _numeric("integer"),
    "number": _numeric("number"),
    "boolean": _boolean,
    "array": _array,
    "object": _object,
}


def _branches(schema: Schema, root: Schema) -> tuple[list[Schema], bool]:
    """The alternatives of a schema without null, and whether null was among them (`Optional[X]` is X)."""
    nullable = "null" in as_list(schema.get("type")) or schema.get("type") == "null" or None in _enum(schema)
    nullable = nullable or schema.get("nullable") is True
    word = next((word for word in ("anyOf", "oneOf") if as_list(schema.get(word))), None)
    if word is None:
        return [schema], nullable
    rest = {key: value for key, value in schema.items() if key != word}
    branches: list[Schema] = []
    for option in as_list(schema[word]):
        flat = flatten(mapping_of(option), root)
        if flat.get("type") == "null" or ("const" in flat and flat["const"] is None):
            nullable = True
            continue
        nullable = nullable or "null" in as_list(flat.get("type"))
        branches.append({**rest, **flat})
    return branches or [rest], nullable


def _without_null(schema: Schema) -> Schema:
    kinds = schema.get("type")
    if not isinstance(kinds, list):
        return schema
    left = [kind for kind in cast("list[Any]", kinds) if kind != "null"]
    return {**schema, "type": left[0] if len(left) == 1 else left}


def _types_of(schema: Schema, branches: Sequence[Schema]) -> tuple[str, ...]:
    found: list[str] = []
    for one in branches if len(branches) > 1 else [schema]:
        named = [kind for kind in [one.get("type"), *as_list(one.get("type"))] if isinstance(kind, str)]
        named = [kind for kind in named if kind in _TYPES and kind != "null"] or _guess(one)
        found.extend(named or sorted(_TYPES - {"null"}))  # an alternative that says nothing allows anything
    unique = tuple(dict.fromkeys(found))
    return () if _TYPES - {"null"} <= set(unique) else unique


def _guess(schema: Schema) -> list[str]:
    """The type that a schema without `type` means by its other words."""
    for kind, words in _TELLTALES:
        if any(word in schema for word in words):
            return [kind]
    values = [*_enum(schema), *([schema["const"]] if "const" in schema else [])]
    return list(dict.fromkeys(_type_name(value) for value in values if value is not None))


_TELLTALES = (
    ("object", ("properties", "additionalProperties", "patternProperties")),
    ("array", ("items", "prefixItems", "minItems", "maxItems")),
    ("string", ("minLength", "maxLength", "pattern", "format")),
    ("number", ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")),
)


def _type_name(value: object) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    names: list[tuple[type, str]] = [(float, "number"), (str, "string"), (list, "array"), (dict, "object")]
    return next((name for kind, name in names if isinstance(value, kind)), "null")


def _options(schema: Schema, branches: Sequence[Schema]) -> tuple[tuple[str, Any], ...]:
    """The values to choose from, in all spellings: enum, enum + enumNames, const + title, unions of those."""
    if len(branches) > 1:
        if all(("const" in branch) or _enum(branch) for branch in branches):
            return _distinct([pair for branch in branches for pair in _options(branch, [branch])])
        return ()
    values = _enum(schema)
    if values:
        names = as_list(schema.get("enumNames"))
        titles = [_text(name) for name in names] + [""] * len(values)
        pairs = [
            (title or _value_label(value), value)
            for title, value in zip(titles, values, strict=False)
            if value is not None
        ]
        return _distinct(pairs)
    if "const" in schema:
        return ((_text(schema.get("title")) or _value_label(schema["const"]), schema["const"]),)
    return ()


def _distinct(pairs: Sequence[tuple[str, Any]]) -> tuple[tuple[str, Any], ...]:
    """Each value once; a label that two values share gets the value added, so that a person can tell them apart."""
    seen: dict[str, tuple[str, Any]] = {}
    for label, value in pairs:
        seen.setdefault(_value_key(value), (label, value))
    labels = [label for label, _ in seen.values()]
    return tuple(
        (f"{label} ({json.dumps(value, ensure_ascii=False, default=str)})" if labels.count(label) > 1 else label, value)
        for label, value in seen.values()
    )


def _value_label(value: object) -> str:

    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _value_key(value: object) -> str:
    return f"{_type_name(value)}:{_value_label(value)}"  # 1, 1.0, "1" and true are different JSON values


def _with_definitions(schema: Schema, root: Schema) -> Schema:
    """The property's schema as a document of its own: references further down still find their targets."""
    kept = {word: root[word] for word in ("$defs", "definitions", "$schema") if word in root and word not in schema}
    return {**schema, **kept}


def _enum(schema: Schema) -> list[Any]:
    return as_list(schema.get("enum"))


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _count(value: object) -> int | None:
    number = number_of(value)
    return int(number) if number is not None and 0 <= number < 2**31 else None
