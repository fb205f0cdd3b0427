"""What a schema allows side by side: `anyOf`, `oneOf`, lists of types, and null as one of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jupyter_mcp.host.forms.choices import closed, enum_of, named, text_of, type_name, unlike
from jupyter_mcp.host.forms.schema import Schema, merge, resolve, structured
from jupyter_mcp.protocol.shapes import as_list, is_list, mapping_of

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["TYPES", "Alternatives", "alternatives", "branch_labels", "types_of", "without_null"]

TYPES = ("string", "integer", "number", "boolean", "array", "object")
_MAX_NESTED = 8


@dataclass(frozen=True)
class Alternatives:
    """The alternatives of a schema without null.

    Attributes:
        branches: each with what stands beside them folded in; one when there is no choice.
        nullable: null was among them (`Optional[X]` is X).
        refs: the references followed on the way. trouble: why one of them could not be read.
    """

    branches: list[Schema]
    nullable: bool
    refs: frozenset[str] = frozenset()
    trouble: str = ""


def alternatives(schema: Schema, root: Schema, depth: int = 0) -> Alternatives:
    """Read what a flat schema allows side by side."""
    nullable = "null" in _types(schema) or None in enum_of(schema) or schema.get("nullable") is True
    nullable = nullable and (not closed(schema) or None in enum_of(schema) or schema.get("nullable") is True)
    word = _word(schema)
    if word is None or depth > _MAX_NESTED:
        return Alternatives([schema], nullable)
    rest = {key: value for key, value in schema.items() if key != word}
    outer_null = not _types(rest) or "null" in _types(rest)
    branches: list[Schema] = []
    refs: frozenset[str] = frozenset()
    trouble = ""
    for option in as_list(schema[word]):
        flat = resolve(option, root)
        refs, trouble = refs | flat.refs, trouble or flat.trouble
        if option is False or flat.trouble == "its schema allows no value at all":
            continue
        inner = alternatives(flat.schema, root, depth + 1)
        nullable = nullable or (outer_null and (inner.nullable or _only_null(flat.schema)))
        if not _only_null(flat.schema):
            branches.append(merge(rest, {**_labelled(option), **flat.schema}))
    branches = [one for one in branches if not (is_list(one.get("type")) and not one["type"])]
    if len(branches) == 1:
        inner = alternatives(branches[0], root, depth + 1)
        return Alternatives(inner.branches, nullable or inner.nullable, refs | inner.refs, trouble or inner.trouble)
    return Alternatives(branches or [rest], nullable, refs, trouble)


def _word(schema: Schema) -> str | None:
    """The keyword whose alternatives are looks of the value; those that only ask for members are the validator's."""
    for word in ("oneOf", "anyOf"):
        found = as_list(schema.get(word))
        if found and any(structured(option) or option is True for option in found):
            return word
    return None


def _labelled(option: object) -> Schema:
    """A branch without a title of its own is called after the definition that it refers to."""
    reference = mapping_of(option).get("$ref")
    return {"title": reference.rsplit("/", 1)[-1]} if isinstance(reference, str) and "/" in reference else {}


def _only_null(schema: Schema) -> bool:
    return _types(schema) == ["null"] or ("const" in schema and schema["const"] is None) or enum_of(schema) == [None]


def without_null(schema: Schema) -> Schema:
    kinds = schema.get("type")
    if not is_list(kinds):
        return schema
    left = [kind for kind in kinds if kind != "null"]
    return {**schema, "type": left[0] if len(left) == 1 else left}


def types_of(schema: Schema) -> tuple[str, ...]:
    """The JSON types besides null that a schema allows; () for any."""
    found = [kind for kind in _types(schema) if kind in TYPES] or _guess(schema)
    unique = tuple(dict.fromkeys(found))
    return () if set(TYPES) - {"integer"} <= set(unique) else unique


def _types(schema: Schema) -> list[str]:
    return [kind for kind in [schema.get("type"), *as_list(schema.get("type"))] if isinstance(kind, str)]


_TELLTALES = (
    ("object", ("properties", "additionalProperties", "patternProperties")),
    ("array", ("items", "prefixItems", "minItems", "maxItems")),
    ("string", ("minLength", "maxLength", "pattern", "format")),
    ("number", ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")),
)


def _guess(schema: Schema) -> list[str]:
    """The type that a schema without `type` means by its other words."""
    for kind, words in _TELLTALES:
        if any(word in schema for word in words):
            return [kind]
    values = [*enum_of(schema), *([schema["const"]] if "const" in schema else [])]
    return list(dict.fromkeys(type_name(value) for value in values if value is not None))


_WORDS = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "yes or no",
    "array": "list",
    "object": "object",
}


def branch_labels(branches: Sequence[Schema], outer: str) -> list[str]:
    """What to call each alternative: its title, the value that sets it apart, or its type."""
    apart = _discriminator(branches)
    found: list[str] = []
    for branch in branches:
        title = text_of(branch.get("title"))
        if apart:
            title = named(mapping_of(mapping_of(branch.get("properties")).get(apart)).get("const"))
        elif title == outer:
            title = ""
        found.append(title or _type_words(branch))
    return unlike(found)


def _discriminator(branches: Sequence[Schema]) -> str | None:
    """The member whose constant differs from branch to branch (`kind`, `type`), if there is one."""
    members = [mapping_of(branch.get("properties")) for branch in branches]
    for name in members[0] if members else ():
        values: list[Any] = [mapping_of(one.get(name)).get("const") for one in members]
        if all(isinstance(value, (str, int)) for value in values) and len({named(v) for v in values}) == len(values):
            return str(name)
    return None


def _type_words(schema: Schema) -> str:
    kinds = types_of(without_null(schema))
    if kinds == ("array",):
        inner = types_of(mapping_of(schema.get("items")))
        return f"list of {_WORDS[inner[0]]}s".replace("yes or nos", "yes or no") if len(inner) == 1 else "list"
    if kinds == ("object",):
        names = [str(name) for name in as_list(schema.get("required"))[:3]] or list(
            mapping_of(schema.get("properties"))
        )[:3]
        return f"object with {', '.join(names)}" if names else "object"
    if closed(schema):
        values = enum_of(schema) or [schema["const"]]
        return " or ".join(named(value) for value in values[:3]) + (" …" if len(values) > 3 else "")
    return " or ".join(_WORDS[kind] for kind in kinds) or "any value"
