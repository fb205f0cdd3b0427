"""Schemas from annotations: what a handler takes.

pydantic does the work and is imported at first use, because a server must start fast and a process may define many
tools that nobody lists. One odd annotation or default costs only itself: that parameter becomes permissive.

Above: `registry`. `Arguments` also turns the client's JSON into the annotated types (dates, enums, models) at a call.
"""

from __future__ import annotations

import json
import typing
import warnings
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

from jupyter_mcp.protocol import schema as json_schema
from jupyter_mcp.server import plainschema
from jupyter_mcp.server.annotations import supported
from jupyter_mcp.server.signature import MISSING, Handler, Parameter

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pydantic import BaseModel, ValidationError

_MAX_ISSUES = 5
_PLAIN = (str, int, bool, float)


class InvalidArguments(Exception):
    """The client's arguments do not fit. The text is written for a model that shall correct them."""


class Arguments:
    """The arguments of one handler: their schema, and the way from the client's JSON to Python values.

    Args:
        handler: whose arguments.
        schema: a schema of the author's own, used verbatim instead of the inferred one.
        nouns: the word for messages ("argument", "variable").
    """

    def __init__(self, handler: Handler, schema: Mapping[str, Any] | None = None) -> None:
        self._handler = handler
        self._parameters = {parameter.name: parameter for parameter in handler.parameters}
        self._own_schema = dict(schema) if schema is not None else None
        self._schema: dict[str, Any] | None = None
        self._model: type[BaseModel] | None = None
        self._fields: dict[str, str] = {}
        self._exact = {
            name: one.annotation
            for name, one in self._parameters.items()
            if any(one.annotation is plain for plain in _PLAIN) and not _is_field_info(one.default)
        }
        self._needed = {name for name, one in self._parameters.items() if one.required or _is_field_info(one.default)}
        self._filled_by_model: set[str] = set()  # `x: int = Field(3)`: the function's default is no value

    @property
    def schema(self) -> dict[str, Any]:
        """JSON Schema (2020-12) of the arguments; its root is an object."""
        if self._schema is None:
            if self._own_schema is not None:
                self._schema = self._own_schema
            else:
                self._schema = self._plainly() or clean_schema(
                    schema_of(self._make_model().model_json_schema, mode="validation")
                )
        return self._schema

    def _plainly(self) -> dict[str, Any] | None:
        """The schema without pydantic, when every parameter is plain."""
        properties: dict[str, Any] = {}
        for name, parameter in self._parameters.items():
            found = plainschema.schema_of(parameter.annotation)
            if found is None:
                return None
            if not parameter.required:
                if not plainschema.is_plain_value(parameter.default):
                    return None
                found["default"] = parameter.default
            if description := self._handler.doc.parameters.get(name):
                found["description"] = description
            properties[name] = found
        required = [name for name, parameter in self._parameters.items() if parameter.required]
        needed = {"required": required} if required else {}
        return {"type": "object", "properties": properties, **needed, "additionalProperties": self._handler.extra}

    def read(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Validate the client's arguments and convert them to the annotated types.

        Returns only what the client gave: defaults are the function's own.

        Raises:
            InvalidArguments: with one sentence for each problem.
        """
        if self._own_schema is None:
            if (values := self._read_exactly(arguments)) is not None:
                return values
            self._make_model()
            if (values := self._read_strictly(arguments)) is not None:
                return values
        issues = json_schema.check(self.schema, dict(arguments))
        if issues:
            raise InvalidArguments(self._explain([(issue.path, issue.message) for issue in issues], arguments))
        return self._read_leniently(arguments)

    def read_texts(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """As `read`, for prompts and templates, whose values are text on the wire: "3" is good for an `int`.

        Raises:
            InvalidArguments: as `read`.
        """
        self._make_model()
        from pydantic import ValidationError

        validator = typing.cast("type[BaseModel]", self._model).__pydantic_validator__
        given = {name: value for name, value in arguments.items() if value is not None}
        first: ValidationError | None = None
        for values in (given, {name: _unquoted(value) for name, value in given.items()}):
            try:
                return self._given(validator.validate_python(values))
            except ValidationError as error:
                first = first or error
        assert first is not None
        raise InvalidArguments(self._explain(_found(first), arguments))

    def _read_exactly(self, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
        """The quickest way: text, numbers and flags that are what is wanted already; None when anything else is there.

        It also spares a server whose tools are that plain the import of pydantic.
        """
        for name, value in arguments.items():
            kind = self._exact.get(name)
            if type(value) is not kind or (kind is str and not value.isascii()):
                return None
        return dict(arguments) if self._needed.issubset(arguments) else None

    def _read_strictly(self, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
        """The fast way: pydantic in strict JSON mode means what the schema says; None when it refuses.

        A JSON Schema validator written in Python costs about as much as the rest of a call together.
        """
        model = typing.cast("type[BaseModel]", self._model)
        try:
            filled = model.__pydantic_validator__.validate_json(json.dumps(arguments), strict=True)
        except ValueError:
            return None
        return self._given(filled)

    def _read_leniently(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        if self._model is None:
            if self._own_schema is None or not self._parameters:
                return dict(arguments)
            self._make_model()
        from pydantic import ValidationError

        model = typing.cast("type[BaseModel]", self._model)
        try:
            return self._given(model.__pydantic_validator__.validate_python(dict(arguments)))
        except ValidationError as error:
            raise InvalidArguments(self._explain(_found(error), arguments)) from None

    def _given(self, filled: BaseModel) -> dict[str, Any]:
        given = filled.model_fields_set | self._filled_by_model
        values = {self._fields[name]: getattr(filled, name) for name in given if name in self._fields}
        if filled.__pydantic_extra__:
            values.update(filled.__pydantic_extra__)
        return values

    def _explain(self, issues: list[tuple[str, str]], arguments: Mapping[str, Any]) -> str:
        unknown = [] if self._takes_more() else [name for name in arguments if name not in self._known()]
        lines = [_unknown(name, self._known()) for name in unknown]
        for path, message in issues:
            if unknown and ("unexpected" in message or "Extra inputs" in message):
                continue
            lines.append(
                f"{path} {message}" if path and message.startswith("is ") else f"{path}: {message}".lstrip(": ")
            )
        shown, more = lines[:_MAX_ISSUES], len(lines) - _MAX_ISSUES
        if more > 0:
            shown.append(f"… and {more} more")
        return "Invalid arguments. " + "; ".join(line.rstrip(".") for line in shown) + "."

    def _takes_more(self) -> bool:
        return self.schema.get("additionalProperties", True) is not False

    def _known(self) -> list[str]:
        properties = self.schema.get("properties")
        return list(typing.cast("dict[str, Any]", properties)) if isinstance(properties, dict) else []

    def _make_model(self) -> type[BaseModel]:
        """The pydantic model of the arguments, made at first use."""
        if self._model is not None:
            return self._model
        fields: dict[str, Any] = {}
        for index, parameter in enumerate(self._parameters.values()):
            field = f"f{index}"  # an alias carries the real name, which may collide with BaseModel's own (`json`, `_x`)
            self._fields[field] = parameter.name
            if _is_field_info(parameter.default):
                self._filled_by_model.add(field)
            fields[field] = _field(parameter, self._handler.doc.parameters.get(parameter.name))
        self._model = _model(self._handler.name, fields, extra=self._handler.extra or self._own_schema is not None)
        return self._model


def _field(parameter: Parameter, description: str | None) -> tuple[Any, Any]:
    from pydantic import Field

    annotation = supported(parameter.annotation)
    if not _has_schema(annotation):
        annotation = Any
    options: dict[str, Any] = {"alias": parameter.name}
    if description and not _described(annotation):
        options["description"] = description
    if parameter.default is MISSING:
        return annotation, Field(**options)
    default = parameter.default
    if _is_field_info(default):  # `x: int = Field(3, ge=1)` says everything itself
        if default.description:
            options.pop("description", None)
        options |= (
            {"default_factory": default.default_factory} if default.default_factory else {"default": default.default}
        )
        return Annotated[annotation, default], Field(**options)
    return annotation, Field(default, **options)


def _is_field_info(default: Any) -> bool:
    return type(default).__module__ == "pydantic.fields"


def _described(annotation: Any) -> bool:
    if typing.get_origin(annotation) is not typing.Annotated:
        return False
    return any(getattr(part, "description", None) for part in typing.get_args(annotation)[1:])


def _has_schema(annotation: Any) -> bool:
    from pydantic import TypeAdapter

    if annotation in (Any, str, int, float, bool):
        return True
    try:
        schema_of(TypeAdapter(annotation).json_schema, mode="validation")
    except Exception:
        return False
    return True


def _model(name: str, fields: dict[str, Any], *, extra: bool) -> type[BaseModel]:
    from pydantic import ConfigDict, create_model

    config = ConfigDict(extra="allow" if extra else "forbid", populate_by_name=False)
    return create_model(name, __config__=config, **fields)


def schema_of(make: Callable[..., dict[str, Any]], *, mode: str) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a default that is not JSON is left out of the schema, and that is all
        return make(by_alias=True, mode=mode, schema_generator=_generator())


@cache
def _generator() -> Any:
    from pydantic.json_schema import GenerateJsonSchema

    class WithoutMadeUpTitles(GenerateJsonSchema):
        """Titles that only repeat the name in capitals say nothing; the author's own stay."""

        def field_title_should_be_set(self, schema: Any) -> bool:
            return False

        def get_flattened_anyof(self, schemas: Any) -> Any:
            found = super().get_flattened_anyof(schemas)
            return plainschema.any_of(found["anyOf"]) if list(found) == ["anyOf"] else found

    return WithoutMadeUpTitles


def clean_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """As JSON holds it: what is not finite goes, with the default it was."""
    cleaned = _without_nan(schema)
    cleaned.pop("title", None)
    for name, definition in cleaned.get("$defs", {}).items():
        if definition.get("title") == name:
            del definition["title"]
    first = {key: cleaned[key] for key in ("type", "properties", "required") if key in cleaned}
    return {**first, **cleaned}


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        items = typing.cast("dict[str, Any]", value).items()
        return {key: _without_nan(item) for key, item in items if not _not_finite(item)}
    if isinstance(value, list):
        return [_without_nan(item) for item in typing.cast("list[Any]", value) if not _not_finite(item)]
    return value


def _not_finite(value: Any) -> bool:
    return isinstance(value, float) and (value != value or value in (float("inf"), float("-inf")))


def _found(error: ValidationError) -> list[tuple[str, str]]:
    words = {"missing": "is required but missing"}
    found = error.errors(include_url=False)
    return [(_path(detail["loc"]), words.get(detail["type"], detail["msg"])) for detail in found]


def _unquoted(value: Any) -> Any:
    """Text that is JSON of a list or object, as that; so a prompt can take `list[str]`."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _path(location: tuple[int | str, ...]) -> str:
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _unknown(name: str, known: list[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name, known, n=1)
    if near:
        return f"there is no argument {name!r}, did you mean {near[0]!r}?"
    return f"there is no argument {name!r}" + (f", only {', '.join(known)}" if known else ", it takes none")
