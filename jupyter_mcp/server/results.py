"""From what a handler returned to the result on the wire, at a revision.

Text and content blocks become `content`; data becomes `structuredContent` with its JSON as text beside it (the
specification's wish, for clients that read text only). Before 2026-07-28 structured content is an object, so any other
data is wrapped as `{"result": …}`, and so is its schema: `wrapped_schema` and `tool_result` must agree.

Nothing here raises for odd values: what cannot be said becomes an `isError` result that says why.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.server import content as blocks
from jupyter_mcp.server.content import Message, ToolResult
from jupyter_mcp.server.outputs import Output
from jupyter_mcp.server.questions import messages_for
from jupyter_mcp.server.values import is_frame, json_text, plain

if TYPE_CHECKING:
    from jupyter_mcp.protocol.revisions import Features

WRAPPED = "result"


NOTHING_DECLARED = Output()


class UnusableResult(Exception):
    """A handler returned what cannot be sent; the text says why."""


def wrapped_schema(schema: dict[str, Any], features: Features) -> dict[str, Any]:
    """An output schema as the revision can carry it: before 2026-07-28 the root is an object."""
    if features.any_structured or schema.get("type") == "object":
        return schema
    inner = {key: value for key, value in schema.items() if key not in ("$defs", "$schema")}
    kept = {key: schema[key] for key in ("$defs", "$schema") if key in schema}
    return {"type": "object", "properties": {WRAPPED: inner}, "required": [WRAPPED], **kept}


def error_result(message: str) -> dict[str, Any]:
    """A tool result that reports a failure to the model."""
    return {"content": [{"type": "text", "text": message}], "isError": True}


def tool_result(value: Any, features: Features, output: Output = NOTHING_DECLARED) -> dict[str, Any]:
    """A tool's return value as `CallToolResult`.

    Raises:
        UnusableResult: it cannot be sent, or does not fit the declared output.
    """
    if isinstance(value, ToolResult):
        return _explicit(value, features, output)
    if hasattr(value, "structured_content") and hasattr(value, "is_error"):  # protocol.types.CallToolResult
        return _whole(value.model_dump(by_alias=True, exclude_none=True, mode="json"), features)
    if output.schema is not None:
        return _structured(_fitting(value, output), features, wrap=not output.is_object)
    if value is None:
        return {"content": []}
    if isinstance(value, str):
        return {"content": [{"type": "text", "text": value}]}
    found = _content(value)
    if found is not None:
        return {"content": blocks.blocks_for_revision(found, features)}
    if isinstance(value, (bool, int, float)):
        return {"content": [{"type": "text", "text": _json(value)}]}
    data = _plain(value)
    result = _structured(data, features, wrap=not isinstance(data, dict))
    if is_frame(value) and data["total"] > len(data["rows"]):
        note = f"The first {len(data['rows']):,} of {data['total']:,} rows."
        result["content"].append({"type": "text", "text": note})
    return result


def _explicit(value: ToolResult, features: Features, output: Output) -> dict[str, Any]:
    given = _listed(value.content)
    found: list[dict[str, Any]] = []
    for part in given:
        found.extend(_content(part) or [{"type": "text", "text": part if isinstance(part, str) else _json(part)}])
    result: dict[str, Any] = {"content": blocks.blocks_for_revision(found, features)}
    if value.structured is not ToolResult.NONE:
        data = _fitting(value.structured, output) if output.schema is not None else _plain(value.structured)
        root_is_object = output.is_object if output.schema is not None else isinstance(data, dict)
        structured = _structured(data, features, wrap=not root_is_object)
        if "structuredContent" in structured:
            result["structuredContent"] = structured["structuredContent"]
        if not found:
            result["content"] = structured["content"]
    elif output.schema is not None and not value.is_error:
        raise UnusableResult("it declared structured output but returned none")
    if value.is_error:
        result["isError"] = True
    if value.meta:
        result["_meta"] = _plain(dict(value.meta))
    return result


def _listed(value: Any) -> list[Any]:
    return list(cast("Sequence[Any]", value)) if isinstance(value, (list, tuple)) else [value]


def _whole(result: dict[str, Any], features: Features) -> dict[str, Any]:
    result["content"] = blocks.blocks_for_revision(result.get("content") or [], features)
    if not features.structured_content:
        result.pop("structuredContent", None)
    elif (
        "structuredContent" in result
        and not features.any_structured
        and not isinstance(result["structuredContent"], dict)
    ):
        result["structuredContent"] = {WRAPPED: result["structuredContent"]}
    result.pop("resultType", None)
    return result


def _structured(data: Any, features: Features, *, wrap: bool) -> dict[str, Any]:
    """Content and structured content of plain data; the text says the data itself, wrapped or not."""
    result: dict[str, Any] = {"content": [{"type": "text", "text": data if isinstance(data, str) else _json(data)}]}
    if features.structured_content:
        result["structuredContent"] = {WRAPPED: data} if wrap and not features.any_structured else data
    return result


def _fitting(value: Any, output: Output) -> Any:
    """The value as the declared output, plain. A frame stands for its rows where a list or object is declared."""
    if is_frame(value):
        table = _plain(value)
        return table if output.is_object else table["rows"]
    try:
        return output.fit(value)
    except (ValueError, TypeError, RecursionError) as error:
        reason = str(error).splitlines()
        raise UnusableResult(
            "it does not fit the declared output: " + " ".join(line.strip() for line in reason[:4])
        ) from None


def _content(value: Any) -> list[dict[str, Any]] | None:
    """The value as content blocks, or None when it is data. A list with one block in it is a list of content."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return [_bytes_block(bytes(cast("bytes", value)))]
    if isinstance(value, str):
        return [{"type": "text", "text": value}]
    block = blocks.block_of(value) or _picture(value)
    if block is not None:
        return [block]
    if not isinstance(value, (list, tuple)) or not value:
        return None
    items = cast("Sequence[Any]", value)
    if not any(_is_content(item) for item in items):
        return None
    found: list[dict[str, Any]] = []
    for item in items:
        found.extend(_content(item) or [{"type": "text", "text": _json(item)}])
    return found


def _is_content(item: Any) -> bool:
    return isinstance(item, (bytes, bytearray)) or blocks.block_of(item) is not None


def _bytes_block(data: bytes) -> dict[str, Any]:
    mime = blocks.sniff(data) or "application/octet-stream"
    if mime.startswith("image/"):
        return blocks.Image(data, mime).block()
    if mime.startswith("audio/"):
        return blocks.Audio(data, mime).block()
    return blocks.Embedded("data:result", data, mime).block()


def _picture(value: Any) -> dict[str, Any] | None:
    """Figures (matplotlib) and pictures (Pillow), known by their methods: a PNG."""
    if isinstance(value, type):
        return None
    way = getattr(value, "savefig", None)
    if way is None and hasattr(value, "tobytes") and hasattr(value, "mode"):
        way = getattr(value, "save", None)
    if way is None:
        return None
    buffer = io.BytesIO()
    try:
        way(buffer, format="png")
    except Exception as error:  # somebody else's method
        raise UnusableResult(f"its picture could not be drawn: {error}") from None
    return blocks.Image(buffer.getvalue(), "image/png").block()


def _plain(value: Any) -> Any:
    try:
        return plain(value)
    except (ValueError, TypeError, RecursionError) as error:
        raise UnusableResult(str(error) or f"a {type(value).__name__} is not JSON") from None


def _json(value: Any) -> str:
    try:
        return json_text(value)
    except (ValueError, TypeError, RecursionError) as error:
        raise UnusableResult(str(error) or f"a {type(value).__name__} is not JSON") from None


def resource_contents(uri: str, value: Any, mime_type: str | None) -> list[dict[str, Any]]:
    """What a resource handler returned as `ReadResourceResult.contents`.

    Text and bytes are themselves; a list of dicts with a `uri` is the contents themselves; all else is JSON.

    Raises:
        UnusableResult: it cannot be sent.
    """
    if isinstance(value, str):
        return [blocks.contents(uri, value, mime_type)]
    if isinstance(value, (bytes, bytearray, memoryview)):
        return [blocks.contents(uri, bytes(cast("bytes", value)), mime_type)]
    if isinstance(value, (blocks.Image, blocks.Audio)):
        return [blocks.contents(uri, value.data, mime_type or value.mime_type)]
    if isinstance(value, blocks.Embedded):
        return [blocks.contents(value.uri, value.data, value.mime_type or mime_type)]
    if isinstance(value, (list, tuple)) and value:
        items = cast("Sequence[Any]", value)
        if all(isinstance(item, blocks.Embedded) for item in items):
            return [part for item in items for part in resource_contents(uri, item, mime_type)]
        if all(isinstance(item, Mapping) and "uri" in item and ("text" in item or "blob" in item) for item in items):
            return cast("list[dict[str, Any]]", _plain(list(items)))
    if (picture := _picture(value)) is not None:
        return [{"uri": uri, "mimeType": "image/png", "blob": picture["data"]}]
    return [{"uri": uri, "mimeType": mime_type or "application/json", "text": _json(value)}]


def prompt_result(value: Any, description: str | None, features: Features) -> dict[str, Any]:
    """What a prompt handler returned as `GetPromptResult`: text, a `Message`, content, or a list of those.

    Raises:
        UnusableResult: it holds what no message can.
    """
    given = _listed(value)
    messages: list[dict[str, Any]] = []
    for one in given:
        if hasattr(one, "role") and hasattr(one, "model_dump"):
            one = one.model_dump(by_alias=True, exclude_none=True, mode="json")
        if not isinstance(one, (str, Message)) and not (isinstance(one, Mapping) and "role" in one):
            found = _content(one)
            one = found[0] if found and len(found) == 1 else found
            if one is None:
                raise UnusableResult("a prompt returns text, messages or content, not " + type(value).__name__)
        try:
            messages.extend(_single(messages_for(one, features)))
        except Exception as error:
            raise UnusableResult(str(error)) from None
    return {**({"description": description} if description else {}), "messages": messages}


def _single(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A prompt's message holds one block at every revision: several become several messages."""
    return [{"role": one["role"], "content": block} for one in messages for block in _listed(one["content"])]
