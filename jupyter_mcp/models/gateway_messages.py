"""The protocol's content blocks as pydantic-ai's messages, and its responses as blocks. Pure, but for the library.

Nothing is left out on the way: what a provider's messages cannot hold is `UnsupportedContent`. What providers want back
word for word (signatures of thoughts and calls) has no place in the protocol; `gateway` keeps the responses for that.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import UnsupportedContent
from jupyter_mcp.models.base import INVALID_INPUT, ModelReply, Usage
from jupyter_mcp.models.messages import blocks_of
from jupyter_mcp.protocol.shapes import as_list, is_object, mapping_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from jupyter_mcp.models.base import ModelRequest
    from jupyter_mcp.models.gateway_library import Library

__all__ = ["blocks", "history", "parameters", "reply"]

_STOPS = {"stop": "endTurn", "length": "maxTokens", "tool_call": "toolUse", "content_filter": "contentFilter"}


# --- to the model ----------------------------------------------------------------------------------------------------


def history(
    library: Library, request: ModelRequest, remembered: Callable[[Mapping[str, Any]], Any | None]
) -> list[Any]:
    """The messages of a request.

    Args:
        library: pydantic-ai.
        request: its messages have been checked.
        remembered: the response that an assistant's message came from, if it is still known.

    Raises:
        UnsupportedContent: something that cannot be sent.
    """
    make = library.messages
    found: list[Any] = []
    if request.system:
        found.append(make.ModelRequest(parts=[make.SystemPromptPart(content=request.system)]))
    names: dict[str, str] = {}
    for message in request.messages:
        if message["role"] == "assistant":
            names |= {b["id"]: b["name"] for b in blocks_of(message) if b["type"] == "tool_use"}
            found.append(remembered(message) or make.ModelResponse(parts=_said(library, message)))
        else:
            found.append(make.ModelRequest(parts=_asked(library, message, names)))
    return found


def _said(library: Library, message: Mapping[str, Any]) -> list[Any]:
    make = library.messages
    parts: list[Any] = []
    for block in blocks_of(message):
        if block["type"] == "text":
            parts.append(make.TextPart(content=block["text"]))
        elif block["type"] == "tool_use":
            parts.append(
                make.ToolCallPart(tool_name=block["name"], args=dict(block["input"]), tool_call_id=block["id"])
            )
        else:
            raise UnsupportedContent(f"A model cannot be told that it said an {block['type']}.")
    return parts


def _asked(library: Library, message: Mapping[str, Any], names: Mapping[str, str]) -> list[Any]:
    found = blocks_of(message)
    if any(block["type"] == "tool_result" for block in found):
        return [_result(library, block, names) for block in found]
    content = [_content(library, block) for block in found]
    lone = len(content) == 1 and isinstance(content[0], str)  # a list of one text is more than some servers understand
    return [library.messages.UserPromptPart(content=content[0] if lone else content)]


def _result(library: Library, block: Mapping[str, Any], names: Mapping[str, str]) -> Any:
    """Content first; what is structured only where there is no content, as models are used to."""
    content = [_content(library, inner) for inner in as_list(block.get("content"))]
    if not content and "structuredContent" in block:
        content = [json.dumps(block["structuredContent"], ensure_ascii=False)]
    plain = all(isinstance(one, str) for one in content)
    return library.messages.ToolReturnPart(
        tool_name=names.get(block["toolUseId"], "unknown"),
        content="\n".join(content) if plain else content,
        tool_call_id=block["toolUseId"],
        outcome="failed" if block.get("isError") is True else "success",
    )


def _content(library: Library, block: Mapping[str, Any]) -> Any:
    kind = block["type"]
    if kind == "text":
        return str(block["text"])
    if kind in ("image", "audio"):
        return _binary(library, block["data"], block["mimeType"])
    if kind == "resource_link":
        said = {name: block[name] for name in ("name", "title", "uri", "description", "mimeType") if name in block}
        return f"A link to a resource: {json.dumps(said, ensure_ascii=False)}"
    if kind == "resource":
        return _embedded(library, mapping_of(block.get("resource")))
    raise UnsupportedContent(f"A model cannot be sent a block of type {kind!r:.40}.")


def _embedded(library: Library, resource: Mapping[str, Any]) -> Any:
    text = resource.get("text")
    if isinstance(text, str):
        return f"{resource.get('uri', 'resource')}:\n{text}"
    mime = str(resource.get("mimeType") or "")
    if mime.startswith(("image/", "audio/")) and isinstance(resource.get("blob"), str):
        return _binary(library, resource["blob"], mime)
    raise UnsupportedContent(f"A model cannot be sent {mime or 'binary data'} ({str(resource.get('uri'))!r:.80}).")


def _binary(library: Library, data: str, mime: str) -> Any:
    try:
        raw = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise UnsupportedContent(f"The data of a block of type {mime!r:.40} is not base64.") from None
    return library.messages.BinaryContent(data=raw, media_type=mime)


def parameters(library: Library, tools: Sequence[Mapping[str, Any]]) -> Any:
    """The tools of a request."""
    return library.requests.ModelRequestParameters(
        function_tools=[
            library.tools.ToolDefinition(
                name=tool["name"],
                description=tool.get("description"),
                parameters_json_schema=dict(tool["inputSchema"]),
                strict=False,  # a server's schema is not ours to tighten
            )
            for tool in tools
        ]
    )


# --- from the model --------------------------------------------------------------------------------------------------


def reply(library: Library, response: Any) -> ModelReply:
    """What a response says. Its thoughts stay with us."""
    content = blocks(library, response)
    stop = _STOPS.get(response.finish_reason or "", response.finish_reason)
    if any(block["type"] == "tool_use" for block in content):
        stop = "toolUse"
    elif mapping_of(response.provider_details).get("finish_reason") == "stop_sequence":
        stop = "stopSequence"
    return ModelReply(content, str(response.model_name or ""), stop, _usage(response))


def blocks(library: Library, response: Any) -> list[dict[str, Any]]:
    """The blocks of a response."""
    make = library.messages
    found: list[dict[str, Any]] = []
    for part in response.parts:
        if isinstance(part, make.TextPart):
            if part.content:
                found.append({"type": "text", "text": part.content})
        elif isinstance(part, make.ToolCallPart):
            found.append(_tool_use(part))
        elif isinstance(part, make.FilePart):
            kind = "image" if part.content.media_type.startswith("image/") else "audio"
            found.append({"type": kind, "data": part.content.base64, "mimeType": part.content.media_type})
    return found


def _tool_use(part: Any) -> dict[str, Any]:
    """Arguments that are no JSON object are handed on as they came, beside an empty input."""
    block = {"type": "tool_use", "id": part.tool_call_id, "name": part.tool_name}
    args: Any = part.args or {}
    if isinstance(args, str):
        try:
            args = json.loads(args)
        except ValueError:
            args = None
    if is_object(args):
        return {**block, "input": args}
    return {**block, "input": {}, "_meta": {INVALID_INPUT: str(part.args)}}


def _usage(response: Any) -> Usage:
    usage = response.usage
    if not usage.input_tokens and not usage.output_tokens:
        return Usage()
    return Usage(usage.input_tokens, usage.output_tokens, _cost(response))


def _cost(response: Any) -> float | None:
    """US dollars by the price list that comes with the library; None where it has no price."""
    try:
        return float(response.cost().total_price)
    except (LookupError, ValueError, AssertionError):
        return None
