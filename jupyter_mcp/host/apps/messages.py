"""The messages of a page, checked: each method that we take, and what its params have to be. Pure.

    Refusal                 what is wrong, with the JSON-RPC code that says so
    request, notification   the params of a method in the shape of a small value; raise `Refusal`

A page's words are a stranger's: sizes are bounded, shapes looked at, what is not known is refused, never guessed.

Source: SEP-1865 "Standard MCP Messages", "MCP Apps Specific Messages"; ext-apps 2.0.4, `spec.types` (the newer ones).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from jupyter_mcp.host.media import decode_base64
from jupyter_mcp.protocol.jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND
from jupyter_mcp.protocol.shapes import is_list, is_mapping, is_number, mapping_of

__all__ = ["ERROR", "MODES", "NOTIFICATIONS", "REQUESTS", "Params", "Refusal", "notification", "request", "size_of"]

ERROR = -32000
"""The code of what is refused or failed, as the specification's examples have it."""

MODES = ("inline", "fullscreen", "pip")
Params = Mapping[str, Any]

_MAX_NAME = 512
_MAX_URI = 8_000
_MAX_BLOCKS = 64
_MAX_FILES = 16
_MAX_FILE = 8 << 20  # bytes of one file
_MAX_FILE_NAME = 120
_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
_TEXT = ("text",)
_BINARY = ("data", "mimeType")


class Refusal(Exception):
    """A message that is not done.

    Attributes:
        code: JSON-RPC's, or `ERROR`.
        message: one sentence for whoever wrote the page.
    """

    def __init__(self, message: str, code: int = INVALID_PARAMS) -> None:
        super().__init__(message)
        self.message = message
        self.code = code


def request(method: str, params: object) -> Params:
    """The checked params of a page's request. Raises `Refusal`."""
    check = REQUESTS.get(method)
    if check is None:
        raise Refusal(f"This host does not know {method[:80]}.", METHOD_NOT_FOUND)
    return check(_object(params))


def notification(method: str, params: object) -> Params | None:
    """The checked params of a page's notification; None for one that we do not know. Raises `Refusal`."""
    check = NOTIFICATIONS.get(method)
    return None if check is None else check(_object(params))


def size_of(value: object) -> int:
    """Characters of a value's JSON. Raises `Refusal` for what is no JSON, or nested without end."""
    try:
        return len(json.dumps(value, ensure_ascii=False, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        raise Refusal("This is no JSON.") from None


# --- requests --------------------------------------------------------------------------------------------------------


def _initialize(params: Params) -> Params:
    if not isinstance(params.get("protocolVersion"), str):
        raise Refusal("ui/initialize needs protocolVersion.")
    info, can = params.get("appInfo"), mapping_of(params.get("appCapabilities"))
    name, version = (mapping_of(info).get(key) for key in ("name", "version"))
    modes = can.get("availableDisplayModes")
    return {
        "name": name[:_MAX_NAME] if isinstance(name, str) else "",
        "version": version[:_MAX_NAME] if isinstance(version, str) else "",
        "modes": [mode for mode in modes if mode in MODES] if is_list(modes) else None,
    }


def _nothing(params: Params) -> Params:
    return {}


def _call(params: Params) -> Params:
    name, arguments = _text(params, "name", _MAX_NAME), params.get("arguments")
    if arguments is not None and not is_mapping(arguments):
        raise Refusal("The arguments of a tool are an object.")
    return {"name": name, "arguments": dict(arguments or {})}


def _read(params: Params) -> Params:
    return {"uri": _text(params, "uri", _MAX_URI)}


def _open_link(params: Params) -> Params:
    url = params.get("url")
    if not isinstance(url, str):
        raise Refusal("ui/open-link needs url, a text.")
    return {"url": url}


def _message(params: Params) -> Params:
    if params.get("role") != "user":
        raise Refusal('Only messages of the role "user" are taken.')
    content = params.get("content")
    blocks = _blocks([content] if is_mapping(content) else content)  # the specification's example has a single one
    if not blocks:
        raise Refusal("The message is empty.")
    return {"content": blocks}


def _model_context(params: Params) -> Params:
    content, structured = params.get("content"), params.get("structuredContent")
    if structured is not None and not is_mapping(structured):
        raise Refusal("structuredContent is an object.")
    return {"content": [] if content is None else _blocks(content), "structured": structured}


def _display_mode(params: Params) -> Params:
    if params.get("mode") not in MODES:
        raise Refusal(f"mode is one of {', '.join(MODES)}.")
    return {"mode": params["mode"]}


def _download(params: Params) -> Params:
    contents = params.get("contents")
    if not is_list(contents) or not 0 < len(contents) <= _MAX_FILES:
        raise Refusal(f"ui/download-file needs contents, 1 to {_MAX_FILES} of them.")
    return {"files": [_file(one, at) for at, one in enumerate(contents)]}


def _file(block: object, at: int) -> dict[str, Any]:
    """A file that is offered to the person: `name`, `type` and its `data`, or the `uri` that it is read from."""
    item = mapping_of(block)
    if item.get("type") == "resource_link":
        uri = _text(item, "uri", _MAX_URI)
        return {"name": _file_name(item.get("name") or uri, at), "type": _mime(item), "uri": uri}
    resource = mapping_of(item.get("resource"))
    text, blob = resource.get("text"), resource.get("blob")
    if item.get("type") != "resource" or not (isinstance(text, str) or isinstance(blob, str)):
        raise Refusal("A file is an embedded resource or a link to one.")
    data = text.encode("utf-8", "replace") if isinstance(text, str) else decode_base64(blob)
    if len(data) > _MAX_FILE:
        raise Refusal(f"A file may have {_MAX_FILE:,} bytes.", ERROR)
    return {"name": _file_name(resource.get("uri"), at), "type": _mime(resource), "data": data}


def _file_name(given: object, at: int) -> str:
    """The last part of a name or URI, without what a file system or an eye could stumble over."""
    last = str(given if isinstance(given, str) else "").split("?")[0].split("#")[0].rstrip("/").rpartition("/")[2]
    clean = "".join(char for char in last if char.isprintable() and char not in '\\/:*?"<>|').strip(" .")
    return clean[-_MAX_FILE_NAME:] or f"file-{at + 1}"


def _mime(item: Params) -> str:
    kind = item.get("mimeType")
    known = isinstance(kind, str) and len(kind) < 100 and kind.isascii() and kind.isprintable()
    return kind if known and isinstance(kind, str) else "application/octet-stream"


REQUESTS: Mapping[str, Callable[[Params], Params]] = {
    "ui/initialize": _initialize,
    "ping": _nothing,
    "tools/call": _call,
    "resources/read": _read,
    "ui/open-link": _open_link,
    "ui/message": _message,
    "ui/update-model-context": _model_context,
    "ui/request-display-mode": _display_mode,
    "ui/download-file": _download,
}


# --- notifications ---------------------------------------------------------------------------------------------------


def _size(params: Params) -> Params:
    given = {name: params[name] for name in ("width", "height") if is_number(params.get(name))}
    return {name: round(pixels) for name, pixels in given.items() if 0 <= pixels < 1_000_000}


def _log(params: Params) -> Params:
    level, logger = params.get("level"), params.get("logger")
    return {
        "level": level if level in _LEVELS else "info",
        "logger": logger[:80] if isinstance(logger, str) else None,
        "data": params.get("data"),
    }


def _cancelled(params: Params) -> Params:
    return {"requestId": params.get("requestId")}


NOTIFICATIONS: Mapping[str, Callable[[Params], Params]] = {
    "ui/notifications/sandbox-proxy-ready": _nothing,
    "ui/notifications/initialized": _nothing,
    "ui/notifications/size-changed": _size,
    "ui/notifications/request-teardown": _nothing,
    "notifications/message": _log,
    "notifications/cancelled": _cancelled,
}


# --- shapes ----------------------------------------------------------------------------------------------------------


def _object(params: object) -> Params:
    if params is None:
        return {}
    if not is_mapping(params):
        raise Refusal("params are an object.")
    return params


def _text(params: Params, name: str, longest: int) -> str:
    found = params.get(name)
    if not isinstance(found, str) or not 0 < len(found) <= longest:
        raise Refusal(f"{name} is a text of at most {longest:,} characters.")
    return found


def _blocks(given: object) -> list[Params]:
    if not is_list(given) or len(given) > _MAX_BLOCKS:
        raise Refusal(f"content is a list of at most {_MAX_BLOCKS} blocks.")
    return [_block(mapping_of(one)) for one in given]


def _block(block: Params) -> Params:
    """A content block of a kind that we know, with the texts that it needs."""
    kind = block.get("type")
    needed = {"text": _TEXT, "image": _BINARY, "audio": _BINARY, "resource_link": ("uri",), "resource": ()}
    if not isinstance(kind, str) or kind not in needed:
        raise Refusal("A block of content is text, image, audio, resource or resource_link.")
    if any(not isinstance(block.get(name), str) for name in needed[kind]):
        raise Refusal(f"A block of {kind} needs {' and '.join(needed[kind])}.")
    if kind == "resource" and not isinstance(mapping_of(block.get("resource")).get("uri"), str):
        raise Refusal("A block of resource needs a resource with a uri.")
    return block
