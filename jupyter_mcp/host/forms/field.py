"""What one field of a form is, as a value."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["UNSET", "Field", "FieldError", "Kind", "Unset"]

Kind = Literal[
    "text",
    "multiline",
    "integer",
    "number",
    "boolean",
    "choice",
    "choices",
    "email",
    "uri",
    "date",
    "date-time",
    "list",
    "group",
    "json",
]


class Unset(Enum):
    """The type of `UNSET`: the person left the field alone, so nothing is sent for it."""

    UNSET = "UNSET"

    def __repr__(self) -> str:
        return "UNSET"

    def __bool__(self) -> bool:
        return False


UNSET: Final = Unset.UNSET


class FieldError(ValueError):
    """What was typed does not fit the field; the text is one sentence to show beside it."""


@dataclass(frozen=True)
class Field:
    """One field of a form.

    Attributes:
        name: the property's name.
        title: what to call it; the name when the schema gives no title.
        description: the schema's words about it, untrusted, possibly empty.
        kind: what control it wants. "group" is an object of a few simple properties (see `parts`);
            "json" is everything that has no control of its own.
        required: the schema wants a value.
        nullable: JSON null is a value of its own, apart from "left out".
        default: the schema's default when it fits the schema, else UNSET.
        choices: (label, value) pairs with distinct labels; for "text" they are suggestions only.
        minimum, maximum: inclusive limits of a number. min_length, max_length: of a text, in characters.
            min_items, max_items: of a list or of several choices.
        pattern: a regular expression (ECMA 262 as written by the server) that a text has to contain.
        types: the JSON types that are accepted besides null; empty for any.
        item: how one entry of a "list" is read. parts: the fields of a "group".
        secret: the schema says that the text must not be shown (`format: password`, `writeOnly`).
        schema: the property's schema with references resolved at the top and `$defs` kept.
    """

    name: str
    title: str = ""
    description: str = ""
    kind: Kind = "json"
    required: bool = False
    nullable: bool = False
    default: Any = UNSET
    choices: tuple[tuple[str, Any], ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    min_items: int | None = None
    max_items: int | None = None
    pattern: str | None = None
    types: tuple[str, ...] = ()
    item: Field | None = None
    parts: tuple[Field, ...] = ()
    secret: bool = False
    schema: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def label(self) -> str:
        return self.title or self.name
