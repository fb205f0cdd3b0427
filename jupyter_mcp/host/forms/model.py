"""A JSON Schema read as a form: a tree of nodes, each with the control that it wants.

One place decides that (a text, a whole number, a choice, a list of anything, alternatives …), for the flat schemas of
elicitation and the nested ones of tools alike. It is pure: schemas come from servers, so whatever is wrong with one
costs a hint or a limit, never an exception. Only the top is read at once; a node reads what is inside it when somebody
looks, so a schema that refers to itself has no end and costs nothing. It parses no input (that is `parse`) and draws
nothing. What no control can say is a JSON field for that field alone, with the reason.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from jupyter_mcp.host.forms.alternatives import alternatives, branch_labels, types_of, without_null
from jupyter_mcp.host.forms.choices import distinct, options, text_of
from jupyter_mcp.host.forms.node import UNSET, Inside, Kind, Node
from jupyter_mcp.host.forms.schema import Schema, beyond, number_of, resolve
from jupyter_mcp.protocol.shapes import as_list, is_list, is_mapping, mapping_of

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["fields", "model"]


def model(schema: object) -> Node:
    """The form of a whole schema: an object with its members, or a union of such.

    Args:
        schema: a tool's `inputSchema`, an elicitation's `requestedSchema`, or whatever a server sent instead.
    """
    root = mapping_of(schema)
    made = _node("", root, _Place(root, required=True))
    if made.kind not in ("object", "union") or "object" not in (made.types or ("object",)):
        made = _node("", {**root, "type": "object"}, _Place(root, required=True))
    if made.kind not in ("object", "union"):
        made = replace(made, kind="object", types=("object",), inside=Inside(extra=lambda: _any("", root)), reason="")
    return replace(made, nullable=False, beyond=beyond(root), schema=root)


def fields(schema: object) -> list[Node]:
    """The fields of an object schema: the required ones first, each half in the order of its properties."""
    return list(model(schema).parts)


@dataclass(frozen=True)
class _Place:
    """Where a schema stands: in which document, behind which references, and whether it is required there."""

    root: Schema
    required: bool = False
    refs: frozenset[str] = frozenset()


def _any(name: str, root: Schema) -> Node:
    return _node(name, {}, _Place(root))


def _node(name: str, part: object, place: _Place) -> Node:
    outer = mapping_of(part)
    flat = resolve(part, place.root)
    found = alternatives(flat.schema, place.root)
    schema, branches = flat.schema, found.branches
    merged = without_null(branches[0] if len(branches) == 1 else schema)
    own = flat.refs | found.refs
    default = schema.get("default", merged.get("default", UNSET))
    base = Node(
        name=name,
        title=text_of(outer.get("title")) or text_of(schema.get("title")) or name,
        description=text_of(schema.get("description")) or text_of(merged.get("description")),
        required=place.required,
        nullable=found.nullable,
        examples=tuple(as_list(schema.get("examples") or merged.get("examples"))[:8]),
        format=text_of(merged.get("format")),
        secret=merged.get("format") == "password" or merged.get("writeOnly") is True,
        default=default,
        schema=_with_definitions(schema, place.root),
        again=not own.isdisjoint(place.refs),
    )
    shaped = _shape(base, merged, branches, replace(place, refs=place.refs | own), flat.trouble or found.trouble)
    if default is UNSET and "const" in merged:
        default = merged["const"]
    return replace(shaped, default=_fitting(shaped, default))


def _fitting(shaped: Node, default: object) -> object:
    """A default that breaks its own schema, or says null, preselects nothing."""
    from jupyter_mcp.host.forms.check import check

    if default is UNSET or default is None:
        return UNSET
    return default if check(shaped, default) is None else UNSET


# --- kinds -----------------------------------------------------------------------------------------------------------


def _shape(base: Node, schema: Schema, branches: list[Schema], place: _Place, trouble: str) -> Node:
    if trouble and not (schema.get("type") or schema.get("properties")) and len(branches) < 2:
        return replace(base, reason=trouble)
    pairs = options(schema, branches)
    if pairs:
        only = len(pairs) == 1 and base.required and not base.nullable and "const" in schema
        return replace(base, kind="const" if only else "choice", choices=pairs)
    if len(branches) > 1:
        return _union(base, branches, place)
    types = types_of(schema)
    if len(types) > 1:
        return _union(base, [{**schema, "type": kind} for kind in types], place)
    build = _SHAPES.get(types[0]) if types else None
    if build is None:
        return replace(base, reason=_why_json(schema))
    return build(base, schema, place)


def _why_json(schema: Schema) -> str:
    if is_list(schema.get("enum")):
        return "its schema lists no value that it allows"
    return "its schema allows any JSON value"


_PLAIN = frozenset(["type", "title", "description", "default", "examples", "deprecated", "$comment", "nullable"])


def _union(base: Node, branches: list[Schema], place: _Place) -> Node:
    """Several looks: numbers are one number box, a text with suggestions one text box, bare scalars a loose one."""
    types = tuple(dict.fromkeys(kind for branch in branches for kind in types_of(without_null(branch)) or ("any",)))
    bare = all(branch.keys() <= _PLAIN for branch in branches)
    if bare and set(types) == {"integer", "number"}:
        return replace(base, kind="number", types=("number",))
    if bare and "string" in types and not {"array", "object", "any"} & set(types):
        return replace(base, kind="text", types=types)
    suggestions = _suggestions(branches)
    if suggestions and types == ("string",):
        return replace(base, kind="text", types=types, choices=suggestions)

    def grow() -> tuple[Node, ...]:
        labels = branch_labels(branches, base.title)
        inner = replace(place, required=True)
        made = [_node(base.name, _without_default(branch, base.default), inner) for branch in branches]
        return tuple(
            replace(one, title=label, description="" if one.description == base.description else one.description)
            for one, label in zip(made, labels, strict=True)
        )

    return replace(base, kind="union", types=() if "any" in types else types, inside=Inside(branches=grow))


def _without_default(branch: Schema, default: object) -> Schema:
    """A branch without the default of the whole, which says which branch is meant."""
    return {word: value for word, value in branch.items() if word != "default" or value != default}


def _suggestions(branches: list[Schema]) -> tuple[tuple[str, Any], ...]:
    """The named values of "one of these, or any other text"."""
    free = [branch for branch in branches if branch.keys() <= _PLAIN and branch.get("type") == "string"]
    known = [pair for branch in branches for pair in options(branch, [branch])]
    whole = all(branch in free or options(branch, [branch]) for branch in branches)
    return distinct(known) if free and known and whole else ()


_FORMATS: Mapping[str, Kind] = {
    "date": "date",
    "date-time": "date-time",
    "time": "time",
    "email": "email",
    "uri": "uri",
    "url": "uri",
    "color": "color",
    "colour": "color",
    "textarea": "multiline",
    "multiline": "multiline",
}


_LONG_NAMES = frozenset(["body", "code", "content", "html", "markdown", "prompt", "script", "source", "sql", "text"])


_LONG = 200  # characters: from here on a text gets several lines


def _string(base: Node, schema: Schema, place: _Place) -> Node:
    limits = replace(
        base,
        types=("string",),
        min_length=_count(schema.get("minLength")),
        max_length=_count(schema.get("maxLength")),
        pattern=text_of(schema.get("pattern")) or None,
    )
    kind = _FORMATS.get(base.format)
    if kind is None:
        default = schema.get("default")
        long = (limits.max_length or 0) > _LONG or base.name.lower() in _LONG_NAMES or "contentMediaType" in schema
        long = long or (isinstance(default, str) and ("\n" in default or len(default) > _LONG // 2))
        kind = "multiline" if long and not base.secret else "text"
    return replace(limits, kind=kind)


def _numeric(kind: Kind) -> Any:
    def build(base: Node, schema: Schema, place: _Place) -> Node:
        low, high = number_of(schema.get("minimum")), number_of(schema.get("maximum"))
        return replace(base, kind=kind, types=(kind,), minimum=low, maximum=high)

    return build


def _boolean(base: Node, schema: Schema, place: _Place) -> Node:
    return replace(base, kind="boolean", types=("boolean",))


def _array(base: Node, schema: Schema, place: _Place) -> Node:
    """A list of anything: entries with one schema, or with one for each place, or several values of a choice."""
    sized = replace(
        base,
        kind="array",
        types=("array",),
        min_items=_count(schema.get("minItems")),
        max_items=_count(schema.get("maxItems")),
    )
    first, rest = _places(schema)
    inner = replace(place, required=True)
    if not first and is_mapping(rest):
        flat = resolve(rest, place.root).schema
        found = alternatives(flat, place.root)
        pairs = options(found.branches[0], found.branches)
        if pairs and not found.nullable:
            return replace(sized, kind="multichoice", choices=pairs)
    closed = bool(first) and sized.max_items is not None and sized.max_items <= len(first)
    return replace(
        sized,
        inside=Inside(
            parts=lambda: tuple(_entry(one, inner, f"Entry {at}") for at, one in enumerate(first, 1)),
            item=lambda: None if rest is False or closed else _entry(rest, inner, "Entry"),
        ),
    )


def _places(schema: Schema) -> tuple[list[Any], Any]:
    """The schemas of the first entries, each its own, and of all that follow (2020-12, or older words)."""
    items = schema.get("items", {})
    if is_list(items):
        return items, schema.get("additionalItems", {})
    return as_list(schema.get("prefixItems")), items


def _entry(part: Any, place: _Place, title: str) -> Node:
    made = _node("item", part, place)
    return made if made.title != "item" else replace(made, title=title)


def _object(base: Node, schema: Schema, place: _Place) -> Node:
    properties = mapping_of(schema.get("properties"))
    required = [name for name in as_list(schema.get("required")) if isinstance(name, str)]
    spoken, rest = _others(schema)

    def parts() -> tuple[Node, ...]:
        wanted = set(required)
        found = [
            _node(str(name), part, replace(place, required=name in wanted))
            for name, part in properties.items()
            if part is not False  # it allows no value: there is nothing to fill in
        ]
        missing = [name for name in dict.fromkeys(required) if name not in properties]
        found += [_node(name, rest if is_mapping(rest) else {}, replace(place, required=True)) for name in missing]
        return tuple([one for one in found if one.required] + [one for one in found if not one.required])

    def extra() -> Node | None:
        return None if rest is False else replace(_node("value", rest, replace(place, required=True)), title="value")

    return replace(base, kind="object", types=("object",), open=spoken, inside=Inside(parts=parts, extra=extra))


def _others(schema: Schema) -> tuple[bool, Any]:
    """Whether a schema speaks of members it does not name, and what they have to be."""
    patterns = mapping_of(schema.get("patternProperties"))
    rest: Any = schema.get("additionalProperties", schema.get("unevaluatedProperties", UNSET))
    if patterns:
        only: Any = next(iter(patterns.values())) if len(patterns) == 1 and rest is False else {}
        return True, only if is_mapping(only) else dict[str, Any]()
    if rest is UNSET or (not is_mapping(rest) and not isinstance(rest, bool)):
        return "properties" not in schema, {}
    return rest is not False, {} if rest is True else rest


_SHAPES: Mapping[str, Any] = {
    "string": _string,
    "integer": _numeric("integer"),
    "number": _numeric("number"),
    "boolean": _boolean,
    "array": _array,
    "object": _object,
}


def _with_definitions(schema: Schema, root: Schema) -> Schema:
    """The property's schema as a document of its own: references further down still find their targets."""
    kept = {word: root[word] for word in ("$defs", "definitions", "$schema") if word in root and word not in schema}
    return {**schema, **kept}


def _count(value: object) -> int | None:
    number = number_of(value)
    return int(number) if number is not None and 0 <= number < 2**31 else None
