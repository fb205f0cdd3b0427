"""What one field of a form is, as a value: a tree whose deeper parts are read when somebody looks at them.

A schema may be endless (it refers to itself) or only large, so a node knows how to read what is inside it and does so
once, at the first look. Nothing here reads a schema; that is `model`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["UNSET", "FieldError", "Inside", "Kind", "Node", "Unset"]

Kind = Literal[
    "text",
    "multiline",
    "integer",
    "number",
    "boolean",
    "choice",
    "multichoice",
    "const",
    "email",
    "uri",
    "date",
    "date-time",
    "time",
    "color",
    "array",
    "object",
    "union",
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
class Inside:
    """How to read what is inside a node, each part at the first look.

    Attributes:
        parts: the described members of an object, or the entries of a list whose places differ.
        item: any other entry of a list; None when there may be none.
        extra: any other member of an object; None when there may be none.
        branches: the alternatives of a union.
    """

    parts: Callable[[], tuple[Node, ...]] = tuple
    item: Callable[[], Node | None] = lambda: None
    extra: Callable[[], Node | None] = lambda: None
    branches: Callable[[], tuple[Node, ...]] = tuple


@dataclass(frozen=True)
class Node:
    """One field of a form, with those inside it.

    Attributes:
        name: the property's name; "" for the whole form.
        title: what to call it; the name when the schema gives no title.
        description: the schema's words about it, untrusted, possibly empty.
        kind: what control it wants. "json" is what no control can say; `reason` tells why.
        required: the schema wants a value.
        nullable: JSON null is a value of its own, apart from "left out".
        default: the schema's default when it fits the schema (for "const" its one value), else UNSET.
        examples: values that the schema gives as examples.
        choices: (label, value) pairs with distinct labels; for "text" they are suggestions only.
        minimum, maximum: inclusive limits of a number. min_length, max_length: of a text, in characters.
            min_items, max_items: of a list or of several choices.
        pattern: a regular expression (ECMA 262 as written by the server) that a text has to contain.
        format: the schema's `format`.
        types: the JSON types that are accepted besides null; empty for any.
        open: for an object, whether the schema itself speaks of members that it does not name.
        reason: for "json", why it is.
        secret: the schema says that the text must not be shown (`format: password`, `writeOnly`).
        schema: the field's schema with references resolved at the top and `$defs` kept.
        beyond: the schema says things that only the validator checks (set at the top of a form only).
        again: it is reached by a reference that leads to something it is inside of.
    """

    name: str
    title: str = ""
    description: str = ""
    kind: Kind = "json"
    required: bool = False
    nullable: bool = False
    default: Any = UNSET
    examples: tuple[Any, ...] = ()
    choices: tuple[tuple[str, Any], ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    min_items: int | None = None
    max_items: int | None = None
    pattern: str | None = None
    format: str = ""
    types: tuple[str, ...] = ()
    open: bool = False
    reason: str = ""
    secret: bool = False
    schema: Mapping[str, Any] = field(default_factory=dict[str, Any])
    beyond: bool = False
    again: bool = False
    inside: Inside = field(default=Inside(), repr=False, compare=False)

    @property
    def label(self) -> str:
        return self.title or self.name

    @cached_property
    def parts(self) -> tuple[Node, ...]:
        """The members of an object, the required ones first; or the first entries of a list whose places differ."""
        return self.inside.parts()

    @cached_property
    def item(self) -> Node | None:
        """One entry of a list."""
        return self.inside.item()

    @cached_property
    def extra(self) -> Node | None:
        """A member of an object that has no name of its own in the schema; None when there may be none."""
        return self.inside.extra()

    @cached_property
    def branches(self) -> tuple[Node, ...]:
        """The alternatives of a union, each labelled so that they can be told apart."""
        return self.inside.branches()

    def entry(self, at: int) -> Node | None:
        """The field of a list's entry, by its place from 0; None when the list ends before it."""
        return self.parts[at] if at < len(self.parts) else self.item
