"""Schemas of "any JSON value", spelt out: many clients and model providers cannot read a schema that says nothing.

They map a schema onto a dialect in which each value has one type and each array has items, and refuse the whole tool
or drop the parameter when there is none. `{}` says the same, and is understood by those who read JSON Schema only.

Source: what the Inspector's `--method tools/list --strict` (2.12.0) warns of.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import WithJsonSchema

__all__ = ["ANY", "AnyValue"]

_NESTED = 3
"""Lists in lists to this depth; a schema that refers to itself is what many cannot read either."""
_ONE: list[dict[str, Any]] = [{"type": kind} for kind in ("string", "number", "boolean", "object", "null")]

ANY: dict[str, Any] = {"anyOf": [*_ONE, {"type": "array"}]}
"""What may come out: validated by clients, so it is no narrower than what comes."""


def _given(depth: int) -> dict[str, Any]:
    return {"anyOf": [*_ONE, {"type": "array", "items": _given(depth - 1)}] if depth else _ONE}


AnyValue = Annotated[Any, WithJsonSchema(_given(_NESTED))]
"""What may go in, as an annotation. An object may hold anything. Lists that are nested deeper are refused by clients
that look at schemas; the server takes them."""
