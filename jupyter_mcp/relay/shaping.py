"""What a notebook says, in the newest revision, written as an older client can read it."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.errors import UsageError
from jupyter_mcp.protocol.modern import SERVER_INFO_KEY
from jupyter_mcp.server import content, results

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jupyter_mcp.protocol.revisions import Features

_MODERN_ONLY = ("resultType", "ttlMs", "cacheScope")
_KEYS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}
_NEWER = (
    ("title", "titles"),
    ("annotations", "tool_annotations"),
    ("icons", "icons"),
    ("_meta", "meta"),
    ("outputSchema", "structured_content"),
)


def result(method: str, given: Mapping[str, Any], can: Features) -> dict[str, Any]:
    """A result of the legacy era."""
    plain = {key: value for key, value in given.items() if key not in _MODERN_ONLY}
    meta: Any = plain.pop("_meta", None)
    if isinstance(meta, dict):
        kept = {key: value for key, value in cast("dict[str, Any]", meta).items() if key != SERVER_INFO_KEY}
        plain |= {"_meta": kept} if kept else {}
    if key := _KEYS.get(method):
        plain[key] = [_entry(item, can) for item in _dicts(plain.get(key))]
    elif method == "tools/call":
        _call(plain, can)
    elif method == "prompts/get":
        plain["messages"] = [_message(item, can) for item in _dicts(plain.get("messages"))]
    return plain


def _dicts(value: object) -> list[dict[str, Any]]:
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return [cast("dict[str, Any]", item) for item in items if isinstance(item, dict)]


def _entry(item: dict[str, Any], can: Features) -> dict[str, Any]:
    dropped = {key for key, feature in _NEWER if not getattr(can, feature)}
    kept = {key: value for key, value in item.items() if key not in dropped}
    schema = kept.get("outputSchema")
    if isinstance(schema, dict):
        kept["outputSchema"] = results.wrapped_schema(cast("dict[str, Any]", schema), can)
    return kept


def _call(plain: dict[str, Any], can: Features) -> None:
    plain["content"] = content.blocks_for_revision(_dicts(plain.get("content")), can)
    if not can.structured_content:
        plain.pop("structuredContent", None)
    elif "structuredContent" in plain and not isinstance(plain["structuredContent"], dict):
        plain["structuredContent"] = {results.WRAPPED: plain["structuredContent"]}


def _message(item: dict[str, Any], can: Features) -> dict[str, Any]:
    block = item.get("content")
    if not isinstance(block, dict):
        return item
    return {**item, "content": content.for_revision(cast("dict[str, Any]", block), can)}


def question(method: str, params: Mapping[str, Any], can: Features) -> dict[str, Any]:
    """The params of a question as the revision asks it."""
    asked = dict(params)
    if method != "elicitation/create":
        return asked
    if asked.get("mode") == "url":
        asked.setdefault("elicitationId", uuid.uuid4().hex)
        return asked
    if not can.elicitation_modes:
        asked.pop("mode", None)
    schema = asked.get("requestedSchema")
    if not can.enum_one_of and isinstance(schema, dict):
        from jupyter_mcp.server.forms import Form

        try:
            asked["requestedSchema"] = Form(cast("dict[str, Any]", schema)).wire(can)
        except UsageError:
            pass  # as it came: the client will say what it cannot read
    return asked
