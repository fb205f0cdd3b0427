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
