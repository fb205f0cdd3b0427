"""What a server listed or answered, item by item: keep what can be used, say what could not and why.

One bad tool costs that tool, never the list. Everything stays a dict, well-formed items are passed through uncopied
(a list of 2,000 tools costs a few milliseconds), and nothing is judged beyond its shape.

Above: connection (lists), host (results). Source: spec "Tools", "Resources", "Prompts"; what released servers send.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from jupyter_mcp.protocol.schema import normalise
from jupyter_mcp.protocol.shapes import is_list

Item = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that was skipped or mended. `name` is the item's name, or its place ("#3") when it has none."""

    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Salvaged:
    """The usable items, in order, and the problems."""

    items: list[Item] = field(default_factory=list[Item])
    problems: list[Problem] = field(default_factory=list[Problem])


def tools(raw: object) -> Salvaged:
    """The value of `tools` in a tools/list result. `inputSchema` is an object schema afterwards."""
    return _items(raw, "name", _tool, _TOOL_SHAPE)


def resources(raw: object) -> Salvaged:
    """The value of `resources` in a resources/list result. `name` is there afterwards."""
    return _items(raw, "uri", _named_by_uri, _RESOURCE_SHAPE)


def templates(raw: object) -> Salvaged:
    """The value of `resourceTemplates` in a resources/templates/list result. `name` is there afterwards."""
    return _items(raw, "uriTemplate", _named_by_template, _RESOURCE_SHAPE)


def prompts(raw: object) -> Salvaged:
    """The value of `prompts` in a prompts/list result. `arguments`, if there, is a list of named objects afterwards."""
    return _items(raw, "name", _prompt, _PROMPT_SHAPE)


def display_name(tool: Mapping[str, Any]) -> str:
    """What to call a tool (or another item) before people: title, annotations.title, name."""
    annotations = tool.get("annotations")
    second = cast("Mapping[str, Any]", annotations).get("title") if isinstance(annotations, Mapping) else None
    for text in (tool.get("title"), second, tool.get("name"), tool.get("uri"), tool.get("uriTemplate")):
        if isinstance(text, str) and text.strip():
            return text
    return ""


# --- lists -----------------------------------------------------------------------------------------------------------

_BASE_SHAPE: dict[str, type | tuple[type, ...]] = {
    "title": str,
    "description": str,
    "icons": list,
    "annotations": dict,
    "_meta": dict,
}
_TOOL_SHAPE = {**_BASE_SHAPE, "outputSchema": dict, "execution": dict}
_RESOURCE_SHAPE = {**_BASE_SHAPE, "mimeType": str, "size": (int, float), "name": str}
_PROMPT_SHAPE = _BASE_SHAPE
_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
_EMPTY: dict[str, Any] = {}


def _items(
    raw: object,
    key: str,
    mend: Callable[[Item, list[Problem]], Item],
    shape: Mapping[str, type | tuple[type, ...]],
) -> Salvaged:
    out = Salvaged()
    if raw is None:
        return out
    if not isinstance(raw, list):
        out.problems.append(Problem("list", f"is not a list but {_kind_of(raw)}; nothing could be read"))
        return out
    seen: set[str] = set()
    for index, item in enumerate(cast("list[object]", raw)):
        name = cast("Item", item).get(key) if isinstance(item, dict) else None
        if not isinstance(item, dict) or not isinstance(name, str) or not name:
            why = f"has no {key}; it was skipped" if isinstance(item, dict) else f"is {_kind_of(item)}; it was skipped"
            out.problems.append(Problem(f"#{index + 1}", why))
        elif name in seen:
            out.problems.append(Problem(name, "is listed more than once; the first one is used"))
        else:
            seen.add(name)
            out.items.append(mend(_without_odd(cast("Item", item), name, shape, out.problems), out.problems))
    return out


def _without_odd(item: Item, name: str, shape: Mapping[str, type | tuple[type, ...]], problems: list[Problem]) -> Item:
    """`item` without the members whose value is of the wrong type; null counts as absent and is no problem."""
    odd = [key for key in item if key in shape and not isinstance(item[key], shape[key])]
    if not odd:
        return item
    for key in odd:
        if item[key] is not None:
            problems.append(Problem(name, f"its {key} is {_kind_of(item[key])} and was ignored"))
    return {key: value for key, value in item.items() if key not in odd}


def _tool(tool: Item, problems: list[Problem]) -> Item:
    given = tool.get("inputSchema")
    schema = normalise(given)
    if schema is not given:
        tool = {**tool, "inputSchema": schema}
        if given is not None and not isinstance(given, (dict, list)):
            problems.append(Problem(tool["name"], f"its inputSchema is {_kind_of(given)}; it is taken as empty"))
    annotations: Item = tool.get("annotations", _EMPTY)
    odd = [key for key in _HINTS if key in annotations and not isinstance(annotations[key], bool)]
    if odd:
        tool = {**tool, "annotations": {key: value for key, value in annotations.items() if key not in odd}}
    return tool


def _named_by_uri(resource: Item, _problems: list[Problem]) -> Item:
    return resource if resource.get("name") else {**resource, "name": resource["uri"]}


def _named_by_template(template: Item, _problems: list[Problem]) -> Item:
    return template if template.get("name") else {**template, "name": template["uriTemplate"]}


def _prompt(prompt: Item, problems: list[Problem]) -> Item:
    if "arguments" not in prompt:
        return prompt
    raw = prompt["arguments"]
    found = _items(raw if is_list(raw) else [], "name", lambda item, _: item, _BASE_SHAPE)
    problems.extend(Problem(prompt["name"], f"argument {problem}") for problem in found.problems)
    return {**prompt, "arguments": found.items}


def _kind_of(value: object) -> str:
    if value is None:
        return "null"
    return {"dict": "an object", "list": "a list", "str": "text", "bool": "true or false"}.get(
        type(value).__name__, "a number"
    )


# --- results ---------------------------------------------------------------------------------------------------------


def content(result: Item) -> Item:
    """A tools/call result whose `content` is a list of blocks with a type and whose `isError` is a bool.

    Plain text, a single block, a missing list and untyped blocks are mended; block types nobody knows are kept.
    """
    raw = result.get("content")
    blocks = [_block(item) for item in _as_list(raw)]
    error = result.get("isError")
    same = isinstance(raw, list) and all(a is b for a, b in zip(blocks, cast("list[Any]", raw), strict=True))
    if same and (error is None or isinstance(error, bool)) and not ("isError" in result and error is None):
        return result
    mended = {**result, "content": blocks}
    if "isError" in mended:
        mended["isError"] = error is True or error == 1 or (isinstance(error, str) and error.lower() == "true")
    return mended


def messages(result: Mapping[str, Any]) -> list[Item]:
    """The messages of a prompts/get result: each with a role and `content` as the server wrote it, blocks mended."""
    out: list[Item] = []
    for item in _as_list(result.get("messages")):
        message = cast("Item", item) if isinstance(item, dict) else {"content": item}
        role = message.get("role") if isinstance(message.get("role"), str) else "user"
        raw = message.get("content")
        blocks = [_block(part) for part in _as_list(raw)]
        single = not isinstance(raw, list) and len(blocks) == 1
        out.append({**message, "role": role, "content": blocks[0] if single else blocks})
    return out


def contents(result: Mapping[str, Any], uri: str = "") -> list[Item]:
    """The contents of a resources/read result: each with `uri` and, as text, `text` or, as base64, `blob`."""
    out: list[Item] = []
    for item in _as_list(result.get("contents")):
        part = cast("Item", item) if isinstance(item, dict) else {"text": _as_text(item)}
        if not isinstance(part.get("uri"), str):
            part = {**part, "uri": uri}
        if not isinstance(part.get("blob"), str) and not isinstance(part.get("text"), str):
            part = {**part, "text": _as_text(part.get("text"))}
        out.append(part)
    return out


def _as_list(raw: object) -> list[Any]:
    if raw is None:
        return []
    return cast("list[Any]", raw) if isinstance(raw, list) else [raw]


def _as_text(value: object) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False, default=str)


def _block(item: object) -> Item:
    if not isinstance(item, dict):
        return {"type": "text", "text": _as_text(item)}
    block = cast("Item", item)
    kind = block.get("type")
    if not isinstance(kind, str):
        kind = "text" if "text" in block else "resource" if isinstance(block.get("resource"), dict) else "unknown"
        block = {**block, "type": kind}
    if kind == "text":
        return block if isinstance(block.get("text"), str) else {**block, "text": _as_text(block.get("text"))}
    if kind in ("image", "audio") and not isinstance(block.get("data"), str):
        return {"type": "text", "text": f"[{kind} block without data]"}
    if kind == "resource" and not isinstance(block.get("resource"), dict):
        return {"type": "text", "text": "[resource block without a resource]"}
    if kind == "resource_link" and not isinstance(block.get("uri"), str):
        return {"type": "text", "text": "[resource link without a URI]"}
    return block
