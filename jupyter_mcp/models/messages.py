"""Messages for a model: are they well formed, what do they need, what do they say. Pure.

The rules are those of the specification's page on sampling (2025-11-25 and 2026-07-28): roles are user and assistant; a
message of the user that holds results of tools holds nothing else; each tool_use of the assistant is answered, once, in
the very next message. What comes here was written by a server or a model, so nothing about its shape is taken for
granted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import UnsupportedContent
from jupyter_mcp.protocol.shapes import as_list, is_list, is_mapping, mapping_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from jupyter_mcp.models.base import Feature, Model, ModelRequest

__all__ = ["blocks_of", "needs", "normal", "problems", "refuse_unsupported", "text_of"]

_MEDIA = ("image", "audio")
_OF_ROLE = {"tool_use": "assistant", "tool_result": "user"}
_OF_RESULTS = ("text", "image", "audio", "resource", "resource_link")
_MODES = ("auto", "required", "none")


# --- are they well formed --------------------------------------------------------------------------------------------


def problems(messages: object, tools: object = None, tool_choice: object = None) -> list[str]:
    """What is wrong with a request's messages and tools, in sentences; nothing when they can be sent to a model.

    Args:
        messages: as they came.
        tools: the tools of the request; None is none.
        tool_choice: of the request; None is auto.
    """
    found = _tools(tools)
    names = [name for tool in as_list(tools) if isinstance(name := mapping_of(tool).get("name"), str)]
    found += _choice(tool_choice, names)
    if not is_list(messages) or not messages:
        return [*found, "There are no messages."]
    for place, message in enumerate(messages, 1):
        found += [f"Message {place}: {text}" for text in _message(message)]
    if not found:  # ids can be compared only where there are some
        found += _pairs(messages)
    return found


def _tools(tools: object) -> list[str]:
    if tools is None:
        return []
    if not isinstance(tools, list | tuple):
        return ["The tools are not a list."]
    found: list[str] = []
    seen: set[str] = set()
    for place, tool in enumerate(as_list(list(tools)), 1):  # pyright: ignore[reportUnknownArgumentType]
        name = mapping_of(tool).get("name")
        if not isinstance(name, str) or not name:
            found.append(f"Tool {place} has no name.")
            continue
        if name in seen:
            found.append(f"There are two tools named {name!r:.80}.")
        seen.add(name)
        if not is_mapping(mapping_of(tool).get("inputSchema")):
            found.append(f"The tool {name!r:.80} has no inputSchema.")
    return found


def _choice(choice: object, names: Sequence[str]) -> list[str]:
    if choice is None:
        return []
    mode = mapping_of(choice).get("mode", "auto")
    if not is_mapping(choice) or mode not in _MODES:
        return [f"The toolChoice is one of {', '.join(_MODES)}, not {mode!r:.40}."]
    return ["A tool is required, and there are no tools."] if mode == "required" and not names else []


def _message(message: object) -> list[str]:
    if not is_mapping(message):
        return ["it is not an object."]
    role = message.get("role")
    if role not in ("user", "assistant"):
        return [f"its role is user or assistant, not {role!r:.40}."]
    blocks = blocks_of(message)
    if not blocks:
        return ["it has no content."]
    found = [text for block in blocks for text in _block(block, str(role))]
    kinds = [mapping_of(block).get("type") for block in blocks]
    if "tool_result" in kinds and any(kind != "tool_result" for kind in kinds):
        found.append("results of tools stand alone, not beside other content.")
    return found


def _block(block: object, role: str) -> list[str]:
    if not is_mapping(block):
        return ["a block is not an object."]
    kind = block.get("type")
    wanted = _OF_ROLE.get(str(kind))
    if wanted is not None and role != wanted:
        return [f"a {kind} belongs to a message of the {wanted}."]
    if kind == "text":
        return [] if isinstance(block.get("text"), str) else ["a text block has no text."]
    if kind in _MEDIA:
        return _media(block)
    if kind == "tool_use":
        return _tool_use(block)
    if kind == "tool_result":
        return _tool_result(block)
    return [f"a block of type {kind!r:.40} cannot be in a message."]


def _media(block: Mapping[str, Any]) -> list[str]:
    missing = [name for name in ("data", "mimeType") if not isinstance(block.get(name), str) or not block.get(name)]
    return [f"an {block['type']} has no {' and no '.join(missing)}."] if missing else []


def _tool_use(block: Mapping[str, Any]) -> list[str]:
    missing = [name for name in ("id", "name") if not isinstance(block.get(name), str) or not block.get(name)]
    found = [f"a tool_use has no {name}." for name in missing]
    return found if is_mapping(block.get("input")) else [*found, "the input of a tool_use is not an object."]


def _tool_result(block: Mapping[str, Any]) -> list[str]:
    identity = block.get("toolUseId")
    found = [] if isinstance(identity, str) and identity else ["a tool_result has no toolUseId."]
    content = block.get("content")
    if not is_list(content):
        return [*found, "the content of a tool_result is not a list."]
    for inner in content:
        kind = mapping_of(inner).get("type")
        if kind not in _OF_RESULTS:
            found.append(f"a block of type {kind!r:.40} cannot be in a tool_result.")
        elif kind == "text" and not isinstance(inner.get("text"), str):
            found.append("a text block has no text.")
        elif kind in _MEDIA:
            found += _media(inner)
    return found


def _pairs(messages: Sequence[Any]) -> list[str]:
    """Each tool_use has its one result in the very next message, and no result answers anything else."""
    found: list[str] = []
    asked: list[str] = []
    for place, message in enumerate(messages, 1):
        answered = [str(block["toolUseId"]) for block in _of_type(message, "tool_result")]
        found += [f"Message {place}: no result for the tool_use {one!r:.80}." for one in asked if one not in answered]
        found += [f"Message {place}: no tool_use {one!r:.80} before it." for one in answered if one not in asked]
        found += [f"Message {place}: two results for the tool_use {one!r:.80}." for one in _twice(answered)]
        asked = [str(block["id"]) for block in _of_type(message, "tool_use")]
        found += [f"Message {place}: two tool_use blocks with the id {one!r:.80}." for one in _twice(asked)]
    return found + [f"Message {len(messages)}: no result follows for the tool_use {one!r:.80}." for one in asked]


def _of_type(message: Mapping[str, Any], kind: str) -> Iterator[Mapping[str, Any]]:
    return (block for block in blocks_of(message) if block["type"] == kind)


def _twice(names: Sequence[str]) -> list[str]:
    return [name for name in dict.fromkeys(names) if names.count(name) > 1]


# --- one form, and what they say -------------------------------------------------------------------------------------


def blocks_of(message: Mapping[str, Any]) -> list[Any]:
    """The blocks of a message, whose content may be one or several."""
    content = message.get("content")
    if is_list(content):
        return content
    return list(content) if isinstance(content, tuple) else [] if content is None else [content]  # pyright: ignore[reportUnknownArgumentType]


def normal(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The same messages, the content of each a list; everything else (`_meta`) as it was."""
    return [{**message, "content": blocks_of(message)} for message in messages]


def text_of(content: object) -> str:
    """The text in a block, a list of blocks, a message or a list of messages; results of tools count.

    Other blocks show as a word in brackets, so that one sees that they are there.
    """
    if isinstance(content, str):
        return content
    if isinstance(content, list | tuple):
        return "\n".join(filter(None, (text_of(one) for one in content)))  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    found = mapping_of(content)
    kind = found.get("type")
    if kind is None or kind == "tool_result":
        return text_of(found.get("content"))
    if kind == "text":
        return str(found.get("text", ""))
    if kind == "resource" and isinstance(text := mapping_of(found.get("resource")).get("text"), str):
        return text
    name = found.get("name") or found.get("uri") or mapping_of(found.get("resource")).get("uri")
    return f"[{kind} {name}]" if name else f"[{kind}]"


# --- what they need --------------------------------------------------------------------------------------------------


def needs(request: ModelRequest) -> frozenset[Feature]:
    """What a model must support to take a request whole."""
    found: set[Feature] = {"text"}
    if request.tools:
        found.add("tools")
    for block in _all_blocks(request.messages):
        kind = block.get("type")
        mime = str(block.get("mimeType") or mapping_of(block.get("resource")).get("mimeType") or "")
        if kind in ("tool_use", "tool_result"):
            found.add("tools")
        elif kind == "image" or (_is_blob(block) and mime.startswith("image/")):
            found.add("image")
        elif kind == "audio" or (_is_blob(block) and mime.startswith("audio/")):
            found.add("audio")
    return frozenset(found)


def _all_blocks(messages: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for message in messages:
        for block in blocks_of(message):
            found = mapping_of(block)
            yield found
            yield from (mapping_of(inner) for inner in as_list(found.get("content")))


def _is_blob(block: Mapping[str, Any]) -> bool:
    return block.get("type") == "resource" and "blob" in mapping_of(block.get("resource"))


def refuse_unsupported(request: ModelRequest, model: Model) -> None:
    """Raise `UnsupportedContent` when the model cannot take the whole request: nothing is ever left out of it."""
    missing = sorted(needs(request) - model.supports)
    if missing:
        words = {"image": "images", "audio": "audio", "tools": "tools", "text": "text"}
        what = " and ".join(words[name] for name in missing)
        raise UnsupportedContent(
            f"The model {model.name} does not take {what}.", hint="Choose another one with %mcp model."
        )
