"""What a tool declared to return: the schema of its return annotation, and how values are brought into it.

Plain text, bytes, content blocks and types without a schema declare nothing. pydantic is imported at first use.
"""

from __future__ import annotations

import typing
from typing import TYPE_CHECKING, Any

from jupyter_mcp.server import content, plainschema
from jupyter_mcp.server.annotations import supported
from jupyter_mcp.server.infer import clean_schema, schema_of
from jupyter_mcp.server.signature import MISSING
from jupyter_mcp.server.values import plain

if TYPE_CHECKING:
    from pydantic import TypeAdapter


class Output:
    """One tool's declared output.

    Args:
        schema: JSON Schema of any root, or None when nothing is declared.
        annotation: what pydantic converts values to; without one they are sent as they are.
    """

    def __init__(self, schema: dict[str, Any] | None = None, annotation: Any = MISSING) -> None:
        self.schema = schema
        self._annotation = annotation
        self._adapter: TypeAdapter[Any] | None = None

    @property
    def is_object(self) -> bool:
        """Whether the schema's root says that it is an object."""
        return self.schema is not None and self.schema.get("type") == "object"

    def fit(self, value: Any) -> Any:
        """The value as plain JSON of the declared form. Raises ValueError when it does not fit."""
        if self._annotation is MISSING:
            return plain(value)
        if self._adapter is None:
            from pydantic import TypeAdapter

            self._adapter = TypeAdapter(self._annotation)
        checked = self._adapter.validate_python(value)
        return plain(self._adapter.dump_python(checked, by_alias=True, mode="json", warnings="none"))


def declared(annotation: Any) -> Output:
    """What a return annotation declares."""
    annotation = supported(_data(annotation))
    if annotation is MISSING:
        return Output()
    schema = plainschema.schema_of(annotation)
    if schema is None:
        from pydantic import TypeAdapter

        try:
            adapter: TypeAdapter[Any] = TypeAdapter(annotation)
            schema = clean_schema(schema_of(adapter.json_schema, mode="serialization"))
        except Exception:  # pydantic has many ways to refuse a type
            return Output()
    return Output(schema, annotation) if schema else Output()


def _data(annotation: Any) -> Any:
    """The annotation when it names data, else `MISSING`."""
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        return MISSING if _data(typing.get_args(annotation)[0]) is MISSING else annotation
    if annotation is MISSING or annotation in (None, type(None), Any, object, str, bytes, bytearray, typing.NoReturn):
        return MISSING
    if annotation in (list, tuple) or (origin in (list, tuple) and Any in typing.get_args(annotation)):
        return MISSING  # a list of anything may hold images
    parts = typing.get_args(annotation) if origin is not typing.Literal else ()
    if any(content.is_content_type(part) for part in (annotation, *parts)):
        return MISSING
    if origin not in (list, dict, tuple, set) and parts and all(part in (str, bytes, type(None)) for part in parts):
        return MISSING
    return annotation
