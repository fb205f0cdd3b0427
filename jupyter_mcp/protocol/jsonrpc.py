"""JSON-RPC 2.0 as dicts: encode, decode, tell the kinds apart, build messages.

This module knows no MCP method and validates no params. It is on the hot path of every message, so it works on plain
dicts and raises only when something is wrong. What we send is strict JSON; what we receive is read with the tolerance
that real servers need (string ids for integer ones, broken error objects, `params: []`).

Above: framing, inbound, every transport and connection. Source: https://www.jsonrpc.org/specification.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal, TypeGuard, TypeVar, cast

from jupyter_mcp.errors import LocalProtocolError

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
RESOURCE_NOT_FOUND = -32002  # legacy eras only
HEADER_MISMATCH = -32020
MISSING_CLIENT_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022
URL_ELICITATION_REQUIRED = -32042  # 2025-11-25 only
USER_REJECTED = -1  # a person refused what a legacy server asked

Id = int | str
_LARGE = 1 << 20  # bytes: from here on pydantic's parser, in half the time, is worth its import
_DEEPEST = 300  # levels that `explain_unencodable` follows
_WORDS = ("message", "msg", "detail", "error", "reason", "description", "title")  # where errors have their text
Kind = Literal["request", "notification", "response", "error", "invalid"]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RpcError:
    """A JSON-RPC error object as values.

    Attributes:
        code: always an integer (`INTERNAL_ERROR` when the sender's code was not a number).
        message: never empty.
        data: as sent.
    """

    code: int
    message: str
    data: Any = None


# --- bytes -----------------------------------------------------------------------------------------------------------


def _is_list(value: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray, memoryview))


def _plain(value: object) -> Any:
    """What the encoder does not know: read-only mappings and sequences pass, all else is refused."""
    if isinstance(value, Mapping):
        return dict(cast("Mapping[Any, Any]", value))
    if _is_list(value):
        return list(value)
    raise TypeError(f"{_type_name(value)} is not JSON")


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain).encode
_encode_ascii = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":"), default=_plain).encode


def encode(message: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> bytes:
    """One message (or a batch) as one line of UTF-8 JSON, without a newline.

    Lone surrogates, which UTF-8 cannot carry, are escaped. Raises `LocalProtocolError` naming the path of what JSON
    cannot hold: NaN and infinities, sets, bytes, numpy arrays, cycles.
    """
    try:
        return _encode(message).encode()
    except UnicodeEncodeError:
        return _encode_ascii(message).encode()
    except (ValueError, TypeError, RecursionError) as error:
        raise LocalProtocolError(explain_unencodable(message) or f"This is not JSON: {error}.") from None


def decode(data: bytes) -> Any:
    """The JSON value in `data`; NaN and Infinity are read as floats, because servers do send them.

    Large data goes to pydantic's parser first, which is quicker there; small data to the standard library's, which
    spares a kernel the import of the other (40 ms) until something large comes. What one refuses (lone surrogates, a
    BOM, great depth, very long numbers) is tried once with the other. Raises ValueError with a short reason.
    """
    first, second = (_standard, _fast) if len(data) < _LARGE else (_fast, _standard)
    try:
        return first(data)
    except ValueError as error:
        try:
            return second(data)
        except ValueError as other:
            raise (error if first is _standard else other) from None


def _fast(data: bytes) -> Any:
    from pydantic_core import from_json

    return from_json(data)


def _standard(data: bytes) -> Any:
    try:
        text = data.decode()
        return json.loads(text[1:] if text.startswith("\ufeff") else text)
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 at byte {error.start}") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at character {error.pos}") from None
    except ValueError:
        raise ValueError("a number has too many digits") from None


def explain_unencodable(value: Any, path: str = "", depth: int = 0) -> str | None:
    """One sentence on the first part of `value` that JSON cannot hold, with its path; None when there is none."""
    if value is None or isinstance(value, (str, int)):
        return None
    if isinstance(value, float):
        if isfinite(value):
            return None
        shown = "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
        return f"{_named(path)} is {shown}, which is not valid JSON; send null or a string instead."
    if depth > _DEEPEST:
        return f"{_named(path.partition('.')[0])} is nested too deeply for JSON, or contains itself."
    if isinstance(value, Mapping):
        return _explain_members(cast("Mapping[Any, Any]", value), path, depth)
    if _is_list(value):
        items = enumerate(value)
        return next(filter(None, (explain_unencodable(item, f"{path}[{i}]", depth + 1) for i, item in items)), None)
    return f"{_named(path)} is of type {_type_name(value)}, which JSON cannot hold."


def _explain_members(value: Mapping[Any, Any], path: str, depth: int) -> str | None:
    for key, item in value.items():
        if not (key is None or isinstance(key, (str, int, float))):
            return f"{_named(path)} has a key of type {type(key).__name__}; JSON's keys are strings."
        where = f"{path}.{key}" if path else str(key)
        if found := explain_unencodable(item, where, depth + 1):
            return found
    return None


def _type_name(value: object) -> str:
    return type(value).__name__


def _named(path: str) -> str:
    return f"`{path}`" if path else "The message"


# --- what a message is -----------------------------------------------------------------------------------------------


def kind(obj: object) -> Kind:
    """What a decoded value is, by its shape.

    `params` are not looked at. An empty `error` (null, false, {}) beside a result is a response; both an error and a
    result are an error; neither is an error too ("empty reply"). An answer that repeats the request's `method` is an
    answer. A notification with `id: null` is a notification.
    """
    if type(obj) is not dict:
        return "invalid"
    message = cast("dict[str, Any]", obj)
    method = message.get("method")
    if method is not None and not _answers(message):
        if type(method) is not str or "jsonrpc" not in message:
            return "invalid"
        if "id" not in message:
            return "notification"
        id_ = message["id"]
        if type(id_) is int or type(id_) is str:
            return "request"
        return "notification" if id_ is None and method.startswith("notifications/") else "invalid"
    error, result = message.get("error"), message.get("result")
    if error is not None and (error or result is None):
        return "error" if "id" in message or "jsonrpc" in message else "invalid"
    if result is not None:
        return "response" if "id" in message else "invalid"
    return "error" if "id" in message and ("jsonrpc" in message or "result" in message) else "invalid"


def _answers(message: Mapping[str, Any]) -> bool:
    """Whether a message with a method is an answer all the same: some servers fill in the request they were sent."""
    said = message.get("result") is not None or bool(message.get("error"))
    return said and message.get("id") is not None


def is_bare(message: Mapping[str, Any]) -> bool:
    """Whether a message is but an id: an empty reply to who asked under that id, a broken request to who did not."""
    empty = message.get("method") is None and "result" not in message and "error" not in message
    return empty and type(message.get("id")) in (int, str)


def parse_error(obj: Mapping[str, Any]) -> RpcError:
    """The error of a message of kind "error", whatever its shape; the text that exists is kept."""
    raw = obj.get("error")
    if raw is None:
        return RpcError(INTERNAL_ERROR, "empty reply")
    if not isinstance(raw, dict):
        return RpcError(INTERNAL_ERROR, _text(raw) or "an error without a message")
    error = cast("dict[str, Any]", raw)
    code, data = _code(error.get("code")), error.get("data")
    message = _message(error) or (data.strip() if isinstance(data, str) else _message(data))
    if code is None:
        odd = error.get("code")
        said = message or _text(odd) or _text({key: value for key, value in error.items() if value} or None)
        said = said or "an error without a message"
        return RpcError(INTERNAL_ERROR, said, data or {"code": odd})
    return RpcError(code, message or f"error {code} without a message", data)


def _message(value: object) -> str:
    """The words of an error object, by whatever name."""
    if not isinstance(value, dict):
        return ""
    error = cast("dict[str, Any]", value)
    return next(filter(None, (_text(error.get(name)) for name in _WORDS)), "")


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value.strip()
    try:
        return "" if value is None else json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError:
        return ""


def _code(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)) and isfinite(value):
        return int(value)
    if isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            return None
    return None


def match_id(pending: Mapping[Id, T], id: object) -> Id | None:
    """The key of `pending` that a reply's id means: the exact one, else "1" for 1 and 1 for "1"."""
    if type(id) is int or type(id) is str:
        if id in pending:
            return id
        other = str(id) if type(id) is int else _canonical_int(cast("str", id))
        return other if other is not None and other in pending else None
    if type(id) is float and id.is_integer() and int(id) in pending:
        return int(id)
    return None


def _canonical_int(text: str) -> int | None:
    if len(text) > 20 or not text.lstrip("-").isdecimal():
        return None
    try:
        number = int(text)
    except ValueError:
        return None
    return number if str(number) == text else None


# --- messages to send ------------------------------------------------------------------------------------------------


def request(id: Id, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A request; without params the member is left out."""
    if params is None:
        return {"jsonrpc": "2.0", "id": id, "method": method}
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def notification(method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A notification; without params the member is left out."""
    return (
        {"jsonrpc": "2.0", "method": method}
        if params is None
        else {"jsonrpc": "2.0", "method": method, "params": params}
    )


def result(id: Id, result: Any) -> dict[str, Any]:
    """A successful response."""
    return {"jsonrpc": "2.0", "id": id, "result": result}


def error(id: Id | None, code: int, message: str, data: Any = None) -> dict[str, Any]:
    """An error response; `id` is None only when the request's id could not be read."""
    body: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        body["data"] = data
    return {"jsonrpc": "2.0", "id": id, "error": body}
