"""Shape tests on decoded JSON that the type checker understands. Nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """A JSON object (a dict)."""
    return isinstance(value, dict)


def is_mapping(value: object) -> TypeGuard[Mapping[str, Any]]:
    """A JSON object, perhaps read-only."""
    return isinstance(value, Mapping)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """A JSON array (a list)."""
    return isinstance(value, list)


def is_number(value: object) -> TypeGuard[int | float]:
    """A JSON number: true and false are none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def as_list(value: object) -> list[Any]:
    """The value when it is an array, else an empty one."""
    return value if is_list(value) else []


def mapping_of(value: object) -> Mapping[str, Any]:
    """The value when it is an object, else an empty one."""
    return value if is_mapping(value) else {}
