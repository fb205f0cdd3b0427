"""Forms: from a model, a type or a schema to what elicitation may ask, and from the answer back to data.

Elicitation knows flat objects of a few field kinds only. A pydantic model or dataclass is brought into that subset
(references resolved, `Optional` made optional, bounds made inclusive); what cannot be, is a `UsageError` that names the
field. For 2025-06-18, which knows fewer kinds, `wire` degrades: titled choices become `enum` + `enumNames`, and a
multiple choice becomes a text field whose answer is split at its commas.

Nothing is asked here. Above: `questions`. Source: spec "Elicitation", 2025-06-18, 2025-11-25 and 2026-07-28.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.errors import UsageError
from jupyter_mcp.protocol import schema as json_schema
from jupyter_mcp.server.annotations import supported
from jupyter_mcp.server.values import plain

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError

    from jupyter_mcp.protocol.revisions import Features

Schema = dict[str, Any]

WRAPPED = "value"  # the one field of a form made from a plain type
_FORMATS = ("email", "uri", "date", "date-time")
_SCALARS = ("string", "number", "integer", "boolean")


class InvalidAnswer(Exception):
    """The client's answer does not fit the question; the text says how, for the next attempt."""


class Form:
    """One form.

    Args:
        given: a pydantic model, dataclass or TypedDict; a plain type (`int`, `Literal[…]`), asked as one field; a JSON
            Schema of an object; or None for a bare yes or no.

    Attributes:
        schema: the form in elicitation's subset, as the newest revision has it.

    Raises:
        UsageError: `given` holds something a form cannot ask.
    """

    def __init__(self, given: Any = None) -> None:
        self._adapter: TypeAdapter[Any] | None = None
        self._wrapped = False
        if given is None:
            full: Schema = {"type": "object", "properties": {}}
        elif isinstance(given, Mapping):
            full = dict(cast("Mapping[str, Any]", given))
            if full.get("type", "object") != "object" or not isinstance(full.get("properties", {}), dict):
                raise UsageError("ctx.elicit takes a schema of an object with properties, or a model.")
        else:
            full = self._from_type(given)
        self.schema = _flat(full)

    def _from_type(self, given: Any) -> Schema:
        from pydantic import TypeAdapter
        from pydantic.errors import PydanticUserError

        from jupyter_mcp.server.infer import clean_schema, schema_of

        try:
            self._adapter = TypeAdapter(supported(given))
            full = clean_schema(schema_of(self._adapter.json_schema, mode="validation"))
        except PydanticUserError as error:
            raise UsageError(f"ctx.elicit cannot make a form from {given!r}: {error.message}") from None
        except Exception as error:  # invalid annotations raise whatever they like
            raise UsageError(f"ctx.elicit cannot make a form from {given!r}: {error}") from None
        if _resolve(full, full).get("type") == "object":
            return full
        self._wrapped = True
        definitions = full.pop("$defs", {})
        return {"type": "object", "properties": {WRAPPED: full}, "required": [WRAPPED], "$defs": definitions}

    def wire(self, features: Features) -> Schema:
        """The form as the revision can carry it."""
        if features.enum_one_of:
            return self.schema
        fields = cast("dict[str, Schema]", self.schema["properties"])
        return {**self.schema, "properties": {name: _degraded(field) for name, field in fields.items()}}

    def read(self, content: Any) -> Any:
        """The accepted content as data: an instance of the model, the plain type's value, or a dict.

        Raises:
            InvalidAnswer: it does not fit.
        """
        if not isinstance(content, Mapping):
            raise InvalidAnswer("an accepted form needs its content")
        values = self._normal(cast("Mapping[str, Any]", content))
        if issues := json_schema.check(self.schema, values):
            raise InvalidAnswer("; ".join(f"{issue.path}: {issue.message}".removeprefix(": ") for issue in issues[:5]))
        if self._adapter is None:
            return values
        from pydantic import ValidationError

        try:
            return self._adapter.validate_python(values.get(WRAPPED) if self._wrapped else values)
        except ValidationError as error:
            raise InvalidAnswer("; ".join(problems_of(error)[:5])) from None

    def _normal(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Only the form's fields, without empty ones; 2.0 for an integer is 2; lists of old clients are split."""
        fields = cast("dict[str, Schema]", self.schema["properties"])
        values: dict[str, Any] = {}
        for name, field in fields.items():
            value = content.get(name)
            if value is None:
                continue
            kind = field.get("type")
            if kind == "integer" and isinstance(value, float) and value.is_integer():
                value = int(value)
            elif kind == "array" and isinstance(value, str):
                value = [part.strip() for part in value.split(",") if part.strip()]
            values[name] = value
        return values


def problems_of(error: ValidationError) -> list[str]:
    """A model's complaints, one sentence each, with the field they are about."""
    found = error.errors(include_url=False)
    return [f"{'.'.join(map(str, item['loc']))}: {item['msg']}".removeprefix(": ") for item in found]


def _flat(full: Schema) -> Schema:
    fields: dict[str, Schema] = {}
    optional: set[str] = set()
    for name, field in cast("dict[str, Any]", full.get("properties") or {}).items():
        if not isinstance(field, Mapping):
            raise UsageError(f"The field {name!r} of a form needs a schema.")
        fields[name], may_be_absent = _flat_field(name, dict(cast("Mapping[str, Any]", field)), full)
        if may_be_absent:
            optional.add(name)
    wanted = cast("list[str]", full.get("required") or [])
    required = [name for name in wanted if name in fields and name not in optional]
    return {"type": "object", "properties": fields, **({"required": required} if required else {})}


def _resolve(field: Schema, root: Schema) -> Schema:
    """Follow local references and single-member `allOf`; the field's own title and description win."""
    for _ in range(20):
        reference = field.get("$ref")
        if isinstance(reference, str) and reference.startswith("#/"):
            target = root
            for step in reference[2:].split("/"):
                inner = target.get(step)
                target = cast("Schema", inner) if isinstance(inner, dict) else {}
            field = {**target, **{key: value for key, value in field.items() if key != "$ref"}}
        elif isinstance(field.get("allOf"), list) and len(field["allOf"]) == 1:
            field = {**field["allOf"][0], **{key: value for key, value in field.items() if key != "allOf"}}
        else:
            break
    return field


def _flat_field(name: str, field: Schema, root: Schema) -> tuple[Schema, bool]:
    field = _resolve(field, root)
    optional = False
    branches = field.get("anyOf")
    if isinstance(branches, list) and "type" not in field:
        every = cast("list[Schema]", branches)
        real = [branch for branch in every if branch.get("type") != "null"]
        optional = len(real) < len(every)
        if len(real) != 1:
            raise _unaskable(name, "a choice between several types")
        field = _resolve({**real[0], **{key: value for key, value in field.items() if key != "anyOf"}}, root)
    kind = field.get("type")
    if isinstance(kind, list):
        kinds = cast("list[str]", kind)
        real_kinds = [item for item in kinds if item != "null"]
        optional = optional or len(real_kinds) < len(kinds)
        kind = real_kinds[0] if len(real_kinds) == 1 else None
    if kind is None:
        kind = _kind_of_choices(field)
    found: Schema = {"type": kind}
    found.update({key: str(field[key]) for key in ("title", "description") if field.get(key)})
    if kind == "array":
        found.update(_multiple(name, field, root))
    elif kind in _SCALARS:
        found.update(_scalar(kind, field))
    else:
        raise _unaskable(name, "an object" if kind == "object" else f"type {kind!r}")
    if field.get("default") is not None:
        found["default"] = plain(field["default"])
    return found, optional


def _unaskable(name: str, what: str) -> UsageError:
    return UsageError(f"A form cannot ask for the field {name!r} ({what}): only text, numbers, yes or no, and choices.")


def _kind_of_choices(field: Schema) -> str | None:
    values = _values(field)
    if values and all(isinstance(value, str) for value in values):
        return "string"
    if values and all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        return "integer"
    return None


def _values(field: Schema) -> list[Any]:
    if "const" in field:
        return [field["const"]]
    if isinstance(field.get("enum"), list):
        return list(field["enum"])
    titled = field.get("oneOf") or field.get("anyOf")
    if isinstance(titled, list):
        return [
            option["const"] for option in cast("list[Any]", titled) if isinstance(option, Mapping) and "const" in option
        ]
    return []


def _choices(field: Schema, member: str) -> Schema:
    """The choices of a field: titled ones under `member` (oneOf for one, anyOf for several), else `enum`."""
    titled = field.get("oneOf") or field.get("anyOf")
    if isinstance(titled, list) and _values(field):
        options = [cast("Schema", option) for option in cast("list[Any]", titled) if "const" in option]
        return {member: [{"const": one["const"], "title": str(one.get("title", one["const"]))} for one in options]}
    values, names = _values(field), field.get("enumNames")
    if not values:
        return {}
    if isinstance(names, list) and len(cast("list[Any]", names)) == len(values):
        titles = [str(title) for title in cast("list[Any]", names)]
        if member == "oneOf":  # deprecated, and still a form of its own for one choice: it stays as it was written
            return {"enum": values, "enumNames": titles}
        return {member: [{"const": value, "title": title} for value, title in zip(values, titles, strict=True)]}
    return {"enum": values}


def _scalar(kind: str, field: Schema) -> Schema:
    if kind == "string":
        found = {key: field[key] for key in ("minLength", "maxLength") if isinstance(field.get(key), int)}
        if field.get("format") in _FORMATS:
            found["format"] = field["format"]
        return {**found, **_choices(field, "oneOf")}
    if kind == "boolean":
        return {}
    found = {key: field[key] for key in ("minimum", "maximum") if isinstance(field.get(key), (int, float))}
    if kind == "integer":
        if isinstance(field.get("exclusiveMinimum"), int):
            found["minimum"] = field["exclusiveMinimum"] + 1
        if isinstance(field.get("exclusiveMaximum"), int):
            found["maximum"] = field["exclusiveMaximum"] - 1
        if values := _values(field):  # numbers have no choices in a form; the model refuses the ones between
            found.update(minimum=min(values), maximum=max(values))
    return found


def _multiple(name: str, field: Schema, root: Schema) -> Schema:
    items = field.get("items")
    choices = (
        _choices(_resolve(dict(cast("Mapping[str, Any]", items)), root), "anyOf") if isinstance(items, Mapping) else {}
    )
    if not choices:
        raise _unaskable(name, "a list without fixed choices")
    bounds = {key: field[key] for key in ("minItems", "maxItems") if isinstance(field.get(key), int)}
    return {**bounds, "items": choices if "anyOf" in choices else {"type": "string", **choices}}


def _degraded(field: Schema) -> Schema:
    """A field as 2025-06-18 knows it."""
    kept = (
        dict(field) if field["type"] == "boolean" else {key: value for key, value in field.items() if key != "default"}
    )
    if "oneOf" in kept:
        options = kept.pop("oneOf")
        return {**kept, "enum": [one["const"] for one in options], "enumNames": [one["title"] for one in options]}
    if field["type"] == "array":
        values = ", ".join(str(value) for value in _values(field["items"]))
        words = f"Several of: {values} (separated by commas)"
        shown = {key: kept[key] for key in ("title",) if key in kept}
        return {
            "type": "string",
            **shown,
            "description": f"{kept['description']}. {words}" if "description" in kept else words,
        }
    return kept
