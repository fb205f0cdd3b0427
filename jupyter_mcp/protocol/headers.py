"""The HTTP headers of the protocol: their names, their values, and whether they say what the body says.

In the modern era a request's headers repeat what its body holds (revision, method, name, annotated arguments), so that
whoever stands between can route it without reading it; a server refuses a request whose headers say something else.
Client and server read the same rules here. Nothing is sent from here.

Above: transport, client (which tools to drop), server. Source: spec 2026-07-28 "Transports / Streamable HTTP",
"Custom headers"; 2025-11-25 "Session management".
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, cast

from jupyter_mcp.errors import LocalProtocolError
from jupyter_mcp.protocol.jsonrpc import HEADER_MISMATCH, RpcError
from jupyter_mcp.protocol.methods import TABLE
from jupyter_mcp.protocol.modern import REVISION_KEY, meta_of
from jupyter_mcp.protocol.shapes import is_object

__all__ = [
    "ANNOTATION",
    "LAST_EVENT_ID",
    "LONGEST",
    "METHOD",
    "NAME",
    "PARAM_PREFIX",
    "SESSION",
    "VERSION",
    "ParamHeaders",
    "check",
    "decode_value",
    "encode_value",
    "for_request",
    "read_param_headers",
    "valid_session_id",
]

VERSION = "MCP-Protocol-Version"
SESSION = "Mcp-Session-Id"
METHOD = "Mcp-Method"
NAME = "Mcp-Name"
LAST_EVENT_ID = "Last-Event-ID"
PARAM_PREFIX = "Mcp-Param-"
ANNOTATION = "x-mcp-header"

_PLAIN = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?\Z|\Z")
_WRAPPED = re.compile(r"=\?base64\?(.*)\?=\Z", re.DOTALL)
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+\Z")  # RFC 9110, 5.6.2
_SESSION_ID = re.compile(r"[\x21-\x7e]{1,4096}\Z")
_NUMBER = re.compile(r"[+-]?\d{1,400}(\.\d{1,400})?([eE][+-]?\d{1,3})?\Z")
_SAFE_INTEGER = 2**53 - 1
LONGEST = 60_000
"""Bytes of all of them together in one request; servers and proxies take 64 KiB of head at most, with others in it."""
_TYPES = ("string", "integer", "boolean")
_DATA_WORDS = frozenset(("const", "default", "enum", "examples", "required", "type"))  # hold values, not schemas
_NAMED_SCHEMAS = frozenset(("properties", "patternProperties", "dependentSchemas", "$defs", "definitions"))


# --- values ----------------------------------------------------------------------------------------------------------


def encode_value(text: str) -> str:
    """The text as a header value: itself, or `=?base64?…?=` when a header could not carry it or would be misread."""
    if _PLAIN.match(text) and not _WRAPPED.match(text):
        return text
    return f"=?base64?{base64.b64encode(text.encode('utf-8', 'surrogatepass')).decode()}?="


def decode_value(text: str) -> str:
    """What a header value means. Raises ValueError when it is wrapped and the wrapping holds no canonical base64."""
    match = _WRAPPED.match(text)
    if match is None:
        return text
    try:
        raw = base64.b64decode(match[1], validate=True)
        if base64.b64encode(raw).decode() != match[1]:  # stray bits: two spellings of one value
            raise ValueError("not canonical base64")
        return raw.decode()
    except (binascii.Error, UnicodeError) as error:
        raise ValueError(f"not base64 of UTF-8: {error}") from None


def valid_session_id(text: str) -> bool:
    """Whether this can be a session id: visible ASCII, not empty, of reasonable length."""
    return _SESSION_ID.match(text) is not None


# --- which arguments are repeated ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ParamHeaders:
    """The arguments of one tool that its schema wants repeated as `Mcp-Param-*` headers.

    Attributes:
        names: path of the argument (keys of nested objects) -> name, without the prefix.
    """

    names: Mapping[tuple[str, ...], str]

    def __bool__(self) -> bool:
        return bool(self.names)

    def of(self, arguments: Any) -> Iterator[tuple[str, tuple[str, ...], Any]]:
        """Header name (whole), path and value (None when absent) of each."""
        for path, name in self.names.items():
            value = arguments
            for key in path:
                value = cast("Mapping[str, Any]", value).get(key) if isinstance(value, Mapping) else None
            yield PARAM_PREFIX + name, path, value


def read_param_headers(schema: Any) -> ParamHeaders | str:
    """What a tool's inputSchema annotates with `x-mcp-header`, or why one of its annotations is invalid.

    A client on HTTP must not offer a tool with an invalid annotation. `$ref` is not followed.
    """
    names: dict[tuple[str, ...], str] = {}
    for path, node in _schemas(schema):
        if ANNOTATION not in node:
            continue
        name = node[ANNOTATION]
        if problem := _annotation_problem(path, name, node.get("type")):
            return problem
        assert path
        taken = next((other for other, used in names.items() if used.lower() == name.lower()), None)
        if taken is not None:
            return f"{ANNOTATION} {name} is given to both {'.'.join(taken)} and {'.'.join(path)}"
        names[path] = name
    return ParamHeaders(names)


def _annotation_problem(path: tuple[str, ...] | None, name: object, kind: object) -> str | None:
    if not path:
        return f"{ANNOTATION} stands where no argument has a fixed place (only nested `properties` have one)"
    where = ".".join(path)
    if not isinstance(name, str):
        return f"{ANNOTATION} of {where} is not a string"
    if not _TOKEN.match(name):
        return f"{ANNOTATION} of {where} is not the name of a header: {name[:40]!r}"
    if kind not in _TYPES:
        return f"{ANNOTATION} of {where} needs the type string, integer or boolean"
    return None


def _schemas(root: Any) -> Iterator[tuple[tuple[str, ...] | None, dict[str, Any]]]:
    """Every place of a schema, with the path of the argument it describes (None: no fixed place). Never recurses."""
    stack: list[tuple[tuple[str, ...] | None, Any]] = [((), root)]
    while stack:
        path, node = stack.pop()
        if isinstance(node, list):
            stack.extend((None, item) for item in reversed(cast("list[Any]", node)))
        if not isinstance(node, dict):
            continue
        given = cast("dict[str, Any]", node)
        yield path, given
        for word, value in reversed(given.items()):
            if word in _NAMED_SCHEMAS and isinstance(value, dict):
                steady = word == "properties" and path is not None
                members = reversed(cast("dict[str, Any]", value).items())
                stack.extend(((*path, name) if steady and path is not None else None, item) for name, item in members)
            elif word not in _DATA_WORDS:
                stack.append((None, value))


# --- what a client sends ---------------------------------------------------------------------------------------------


def for_request(message: Mapping[str, Any], params: ParamHeaders | None = None) -> dict[str, str]:
    """The headers of a modern request.

    Args:
        message: a request with the modern envelope.
        params: what the called tool's schema annotates.

    Raises:
        LocalProtocolError: an annotated integer that a header may not carry (beyond ±(2**53 - 1)), or a name, URI or
            argument that is too long for one.
    """
    method: str = message["method"]
    given = message.get("params")
    headers = {VERSION: encode_value(str(meta_of(given).get(REVISION_KEY))), METHOD: encode_value(method)}
    name = _name_of(method, given)
    if name is not None:
        headers[NAME] = encode_value(name)
    if params and is_object(given):
        for header, path, value in params.of(given.get("arguments")):
            if (text := _rendered(value, path)) is not None:
                headers[header] = encode_value(text)
    _check_size(headers)
    return headers


def _check_size(headers: Mapping[str, str]) -> None:
    """Raise LocalProtocolError when they are too long: whoever listens would hang up without a word."""
    size = sum(len(name) + len(value) + 4 for name, value in headers.items())
    if size > LONGEST:
        name, value = max(headers.items(), key=lambda pair: len(pair[1]))
        raise LocalProtocolError(
            f"its header {name[:80]} would be {len(value):,} bytes long, "
            f"and those of one HTTP request hold {LONGEST:,} in all."
        )


def _name_of(method: str, params: object) -> str | None:
    key = _name_key(method)
    name = params.get(key) if key is not None and is_object(params) else None
    return name if isinstance(name, str) else None


def _name_key(method: object) -> str | None:
    """The param that `Mcp-Name` repeats; none for a method that only the legacy era has: here it is unknown."""
    row = TABLE.get(method) if isinstance(method, str) else None
    return row.name_key if row is not None and row.modern is not None else None


def _rendered(value: Any, path: Sequence[str]) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and isfinite(value):
        if not value.is_integer():
            return repr(value)
        value = int(value)
    if not isinstance(value, int):
        return None  # null and absent have no header; objects and lists fail the tool's schema
    if abs(value) > _SAFE_INTEGER:
        where = ".".join(path)
        raise LocalProtocolError(
            f"`{where}` is beyond ±(2^53-1), which a header may not carry; the tool wants it there."
        )
    return str(value)


# --- what a server checks --------------------------------------------------------------------------------------------


def check(
    get_all: Callable[[str], Sequence[str]], message: Mapping[str, Any], params: ParamHeaders | None = None
) -> RpcError | None:
    """Whether the headers of a modern request say what its body says; else the error to answer with (400, -32020).

    Args:
        get_all: all values that a header has, in order; [] when it is absent.
        message: the request, whose envelope has been read.
        params: what the called tool's schema annotates.
    """
    given = message.get("params")
    wanted = [(VERSION, meta_of(given).get(REVISION_KEY)), (METHOD, message.get("method"))]
    name = _name_of(str(message.get("method")), given)
    if name is not None or (get_all(NAME) and _name_key(message.get("method"))):
        wanted.append((NAME, name))
    for header, value in wanted:
        if problem := _compare(header, get_all(header), value):
            return problem
    if params and is_object(given):
        for header, _, value in params.of(given.get("arguments")):
            if isinstance(value, (dict, list)):  # no header can say it; the tool's own check refuses it
                continue
            if problem := _compare(header, get_all(header), value):
                return problem
    return None


def _compare(header: str, values: Sequence[str], wanted: Any) -> RpcError | None:
    if len(values) > 1:
        return RpcError(HEADER_MISMATCH, f"Header mismatch: {header} is given {len(values)} times")
    if not values:
        return None if wanted is None else RpcError(HEADER_MISMATCH, f"Header mismatch: {header} is missing")
    if wanted is None:
        return RpcError(HEADER_MISMATCH, f"Header mismatch: {header} says what the body does not")
    try:
        said = decode_value(values[0].strip(" \t"))
    except ValueError as error:
        return RpcError(HEADER_MISMATCH, f"Header mismatch: {header} cannot be read ({error})")
    return (
        None if _same(said, wanted) else RpcError(HEADER_MISMATCH, f"Header mismatch: {header} differs from the body")
    )


def _same(said: str, wanted: Any) -> bool:
    if isinstance(wanted, bool):
        return said == ("true" if wanted else "false")
    if isinstance(wanted, (int, float)):
        return abs(wanted) <= _SAFE_INTEGER and _NUMBER.match(said) is not None and float(said) == wanted
    return said == wanted
