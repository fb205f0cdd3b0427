"""Schemas of the kinds that real servers write, by hand: one of each thing that a form has to be able to say."""

from __future__ import annotations

from typing import Any


def tool(properties: dict[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), **more}


NODE = {
    "type": "object",
    "properties": {
        "value": {"type": "integer"},
        "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
        "next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}], "default": None},
    },
    "required": ["value"],
    "additionalProperties": False,
}
SHAPES = {
    "Circle": tool(
        {"kind": {"const": "circle"}, "radius": {"type": "number", "exclusiveMinimum": 0}}, "kind", "radius"
    ),
    "Box": tool(
        {"kind": {"const": "box"}, "sides": {"type": "array", "items": {"type": "number"}, "minItems": 2}}, "kind"
    ),
}
FILTER = {
    "oneOf": [
        tool({"and": {"type": "array", "items": {"$ref": "#/$defs/Filter"}}}, "and"),
        tool({"field": {"type": "string"}, "equals": {}}, "field", "equals"),
    ]
}

SCHEMAS: dict[str, dict[str, Any]] = {
    "nested": tool(
        {
            "query": {"type": "string"},
            "page": tool(
                {"size": {"type": "integer", "minimum": 1, "maximum": 100}, "after": {"type": "string"}}, "size"
            ),
            "deep": tool({"a": tool({"b": tool({"c": {"type": "boolean"}}, "c")}, "b")}, "a"),
        },
        "query",
        "page",
    ),
    "lists of objects": tool(
        {
            "rows": {
                "type": "array",
                "items": tool(
                    {"id": {"type": "integer"}, "tags": {"type": "array", "items": {"type": "string"}}}, "id"
                ),
                "minItems": 1,
                "maxItems": 4,
            },
            "matrix": {"type": "array", "items": {"type": "array", "items": {"type": "number"}}},
            "flags": {"type": "array", "items": {"type": "boolean"}},
            "unique": {"type": "array", "items": {"type": "integer"}, "uniqueItems": True},
        },
        "rows",
    ),
    "optional and null": tool(
        {
            "text": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
            "number": {"type": ["integer", "null"]},
            "list": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
            "object": {"oneOf": [tool({"a": {"type": "string"}}), {"type": "null"}]},
            "choice": {"anyOf": [{"enum": ["x", "y"]}, {"type": "null"}]},
            "listed": {"enum": ["x", None]},
        }
    ),
    "unions": tool(
        {
            "target": {"oneOf": [{"type": "string", "minLength": 2}, {"type": "integer", "minimum": 0}]},
            "where": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
            "value": {"type": ["string", "number", "boolean"]},
            "either": {"type": ["object", "array"]},
            "mode": {"anyOf": [{"enum": ["fast", "slow"]}, {"type": "string"}]},
            "shape": {
                "oneOf": [{"$ref": "#/$defs/Circle"}, {"$ref": "#/$defs/Box"}],
                "discriminator": {"propertyName": "kind"},
            },
        },
        "shape",
        **{"$defs": SHAPES},
    ),
    "recursive": tool({"root": {"$ref": "#/$defs/Node"}}, "root", **{"$defs": {"Node": NODE}}),
    "a filter language": tool({"filter": {"$ref": "#/$defs/Filter"}}, "filter", **{"$defs": {"Filter": FILTER}}),
    "all of": tool(
        {
            "who": {
                "allOf": [
                    tool({"name": {"type": "string", "minLength": 1}}, "name"),
                    tool({"age": {"type": "integer", "minimum": 0}}, "age"),
                ]
            },
            "bounded": {"allOf": [{"type": "number", "minimum": 1}, {"maximum": 5}, {"minimum": 2}]},
            "titled": {"allOf": [{"$ref": "#/$defs/Colour"}], "description": "of the wall", "default": "red"},
        },
        "who",
        **{"$defs": {"Colour": {"type": "string", "enum": ["red", "blue"]}}},
    ),
    "open objects": tool(
        {
            "headers": {"type": "object", "additionalProperties": {"type": "string"}},
            "counts": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}},
            "anything": {"type": "object", "additionalProperties": True},
            "free": {"type": "object"},
            "half": tool({"known": {"type": "string"}}, "known", additionalProperties={"type": "number"}),
            "closed": tool({"only": {"type": "string"}}, additionalProperties=False),
            "by pattern": {
                "type": "object",
                "patternProperties": {"^x_": {"type": "integer"}},
                "additionalProperties": False,
            },
        }
    ),
    "enums": tool(
        {
            "titled": {"oneOf": [{"const": 1, "title": "Low"}, {"const": 3, "title": "High"}]},
            "mixed": {"enum": [1, "1", True, None, 2.5, {"a": 1}]},
            "several": {"type": "array", "items": {"enum": ["a", "b", "c"]}, "uniqueItems": True},
            "repeated": {"type": "array", "items": {"enum": ["a", "b", "c"]}},
            "fixed": {"const": "v1"},
            "optional const": {"const": 7},
        },
        "fixed",
    ),
    "texts": tool(
        {
            "day": {"type": "string", "format": "date"},
            "moment": {"type": "string", "format": "date-time"},
            "hour": {"type": "string", "format": "time"},
            "mail": {"type": "string", "format": "email"},
            "page": {"type": "string", "format": "uri"},
            "paint": {"type": "string", "format": "color"},
            "id": {"type": "string", "format": "uuid"},
            "host": {"type": "string", "format": "ipv4"},
            "code": {"type": "string", "pattern": "^[A-Z]{2}-\\d+$", "x-samples": ["AB-1", "ZZ-99"]},
            "short": {"type": "string", "minLength": 1, "maxLength": 3},
        },
        "code",
    ),
    "numbers": tool(
        {
            "step": {"type": "integer", "minimum": 0, "maximum": 100, "multipleOf": 5},
            "ratio": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
            "quarter": {"type": "number", "multipleOf": 0.25, "minimum": 0},
            "old": {"type": "integer", "minimum": -5, "maximum": 5, "default": 0},
        },
        "ratio",
    ),
    "tuples": tool(
        {
            "point": {
                "type": "array",
                "prefixItems": [{"type": "number"}, {"type": "number"}],
                "minItems": 2,
                "items": False,
            },
            "named": {
                "type": "array",
                "prefixItems": [{"type": "string"}],
                "items": {"type": "integer"},
                "minItems": 1,
            },
        },
        "point",
    ),
    "one of two members": tool(
        {"path": {"type": "string"}, "url": {"type": "string"}}, anyOf=[{"required": ["path"]}, {"required": ["url"]}]
    ),
    "a union at the top": {
        "type": "object",
        "oneOf": [
            tool({"action": {"const": "add"}, "text": {"type": "string"}}, "action", "text"),
            tool({"action": {"const": "remove"}, "id": {"type": "integer"}}, "action", "id"),
        ],
    },
    "conditions": tool(
        {"kind": {"enum": ["card", "cash"]}, "number": {"type": "string"}, "tip": {"type": "number"}},
        "kind",
        **{
            "if": {"properties": {"kind": {"const": "card"}}},
            "then": {"required": ["number"]},
            "dependentRequired": {"tip": ["number"]},
            "not": {"required": ["tip", "kind", "x"]},
        },
    ),
    "limits on members": tool(
        {"env": {"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 1, "maxProperties": 2}},
        propertyNames={"pattern": "^[a-z]+$"},
    ),
    "exclusive": tool({"id": {"oneOf": [{"type": "integer"}, {"type": "number", "minimum": 10}]}}, "id"),
}
"""By what is special about them."""
