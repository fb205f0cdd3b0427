"""Spans of OpenTelemetry for requests, where the person has set that up; else nothing, and nothing is imported for it.

Set up means: `opentelemetry.trace` is loaded and has a provider that records. Then each request of ours is a span, its
`traceparent` and `tracestate` go along in `_meta`, and a request that is served is a span below the one that came so.

No values of arguments, no results and no words of errors are in a span: these go to whoever collects spans. Baggage is
not passed on: it is an application's own, and would go to every server.

Sources: OpenTelemetry's semantic conventions for MCP (names of spans and attributes, status "Development"); SEP-414 and
the specification 2026-07-28, "_meta" (the two keys, without a prefix, in both eras); W3C Trace Context.

Below: `protocol`. Above: `client.calls`, `client.questions`, `server.work`.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Literal

from jupyter_mcp._version import __version__
from jupyter_mcp.errors import Cancelled, RequestTimeout
from jupyter_mcp.protocol import jsonrpc
from jupyter_mcp.protocol.secrets import redact
from jupyter_mcp.protocol.shapes import is_mapping, mapping_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import ModuleType, TracebackType

    from opentelemetry.context import Context
    from opentelemetry.trace import Link, Span

__all__ = ["CONTEXT_KEYS", "Asking", "Serving", "asking", "serving"]

CONTEXT_KEYS = ("traceparent", "tracestate")
_LONGEST = 200  # characters of a name that somebody else chose
_NAMED = {"tools/call": "gen_ai.tool.name", "prompts/get": "gen_ai.prompt.name"}
_OF_RESOURCES = ("resources/read", "resources/subscribe", "resources/unsubscribe")
_WAYS: Mapping[str, Mapping[str, str]] = {
    "stdio": {"network.transport": "pipe"},
    "http": {"network.transport": "tcp", "network.protocol.name": "http"},
    "sse": {"network.transport": "tcp", "network.protocol.name": "http"},
}


class Asking:
    """A request that is sent: a context manager around the time until its answer.

    Attributes:
        params: what to send, with the context of the span in `_meta`.
    """

    __slots__ = ("_span", "params")

    def __init__(self, params: Mapping[str, Any] | None, span: Span | None = None) -> None:
        self.params = params
        self._span = span

    def __enter__(self) -> Asking:
        return self

    def identified(self, id: jsonrpc.Id) -> None:
        """It has this id on the wire."""
        if self._span is not None:
            self._span.set_attribute("jsonrpc.request.id", str(id))

    def answered(self, message: Mapping[str, Any]) -> None:
        """Its answer has come: a whole message."""
        if self._span is not None:
            _tell_outcome(self._span, message, "client")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._span is not None:
            if error is not None:
                _tell_failure(self._span, error)
            self._span.end()


class Serving:
    """A request that is being answered; `end` may be called any number of times."""

    __slots__ = ("_over", "_span")

    def __init__(self, span: Span | None = None) -> None:
        self._span = span
        self._over = False

    def current(self) -> AbstractContextManager[object]:
        """Inside, and in tasks that are begun inside, spans of the handler's own are below this one."""
        api = _configured()
        if self._span is None or api is None:
            return nullcontext()
        return api.use_span(self._span, end_on_exit=False, record_exception=False, set_status_on_exception=False)

    def answered(self, message: Mapping[str, Any]) -> None:
        """This is its answer: a whole message."""
        if self._span is not None:
            _tell_outcome(self._span, message, "server")

    def end(self, error: BaseException | None = None) -> None:
        """It is over; `error` when it came to no answer."""
        if self._span is not None and not self._over:
            self._over = True
            if error is not None:
                _tell_failure(self._span, error)
            self._span.end()


_NOT_SERVED = Serving()


def asking(
    method: str,
    params: Mapping[str, Any] | None,
    *,
    revision: str,
    transport: str,
    clean: Callable[[str], str] = redact,
) -> Asking:
    """Begin the span of a request that is about to be sent; where nobody traces it costs a look.

    Args:
        method, params: of the request, before it is shaped for the era.
        revision: spoken with the server.
        transport: the transport's kind.
        clean: masks what is secret in a name or a URI.
    """
    api = _configured()
    if api is None:
        return Asking(params)
    span = _begun(api, "client", method, params, revision, transport, clean, *_around(api))
    return Asking(_with_context(api, span, params), span)


def serving(
    method: str,
    params: Mapping[str, Any] | None,
    id: jsonrpc.Id,
    *,
    revision: str,
    transport: str = "",
    clean: Callable[[str], str] = redact,
) -> Serving:
    """Begin the span of a request that came, below the one whose context it brought.

    Args:
        method, params, id: of the request, untrusted.
        revision: spoken with who sent it.
        transport: the transport's kind; "" when that is not known.
        clean: masks what is secret in a name or a URI.
    """
    api = _configured()
    if api is None:
        return _NOT_SERVED
    span = _begun(api, "server", method, params, revision, transport, clean, _context_of(params))
    span.set_attribute("jsonrpc.request.id", str(id))
    return Serving(span)


# --- OpenTelemetry, if it is there -----------------------------------------------------------------------------------


def _configured() -> ModuleType | Any | None:
    """Its API, when it is loaded and somebody records; importing it is the application's business."""
    api: Any = sys.modules.get("opentelemetry.trace")
    provider = getattr(api, "get_tracer_provider", None)  # None also while another thread is importing it
    if provider is None:
        return None
    idle = (api.ProxyTracerProvider, api.NoOpTracerProvider)
    return None if isinstance(provider(), idle) else api


def _begun(
    api: Any,
    role: Literal["client", "server"],
    method: str,
    params: Mapping[str, Any] | None,
    revision: str,
    transport: str,
    clean: Callable[[str], str],
    context: Context | None = None,
    links: Sequence[Link] = (),
) -> Span:
    attributes = _attributes(method, params or {}, clean)
    target = attributes.get(_NAMED.get(method, ""), "")
    attributes |= {"mcp.protocol.version": revision, **_WAYS.get(transport, {})}
    kind = api.SpanKind.CLIENT if role == "client" else api.SpanKind.SERVER
    tracer = api.get_tracer_provider().get_tracer("jupyter_mcp", __version__)
    name = f"{attributes['mcp.method.name']} {target}".rstrip()
    return tracer.start_span(name, context=context, kind=kind, attributes=attributes, links=links)


def _around(api: Any) -> tuple[Context | None, Sequence[Link]]:
    """The parent of what we ask: what this process is doing (None), but for a span that has ended meanwhile.

    What goes on in the background (a sign of life, a list read again) runs in the context in which it was once begun.
    """
    from opentelemetry.context import Context

    span = api.get_current_span()
    if getattr(span, "end_time", None) is None:
        return None, ()
    return Context(), (api.Link(span.get_span_context()),)


def _with_context(api: Any, span: Span, params: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The params with the span's context in `_meta`; what the caller put there itself is kept."""
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    carrier: dict[str, str] = {}
    TraceContextTextMapPropagator().inject(carrier, context=api.set_span_in_context(span))
    meta = mapping_of((params or {}).get("_meta"))
    if not carrier or "traceparent" in meta:
        return params
    return {**(params or {}), "_meta": {**meta, **carrier}}


def _context_of(params: Mapping[str, Any] | None) -> Context:
    """The context that a request brought; an empty one when it brought none that can be read.

    What this process happens to be doing is no parent: a server's tasks run in the context of whoever started it.
    """
    from opentelemetry.context import Context
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    meta = mapping_of((params or {}).get("_meta"))
    carrier = {key: meta[key] for key in CONTEXT_KEYS if isinstance(meta.get(key), str)}
    return TraceContextTextMapPropagator().extract(carrier, context=Context())


# --- what is in a span -----------------------------------------------------------------------------------------------


def _attributes(method: str, params: Mapping[str, Any], clean: Callable[[str], str]) -> dict[str, str]:
    found = {"mcp.method.name": method[:_LONGEST]}
    name, uri = params.get("name"), params.get("uri")
    if method in _NAMED and isinstance(name, str):
        found[_NAMED[method]] = clean(name)[:_LONGEST]
    if method in _OF_RESOURCES and isinstance(uri, str):
        found["mcp.resource.uri"] = clean(uri)[:_LONGEST]
    if method == "tools/call":
        found["gen_ai.operation.name"] = "execute_tool"
    return found


def _tell_outcome(span: Span, message: Mapping[str, Any], role: Literal["client", "server"]) -> None:
    error, result = message.get("error"), message.get("result")
    if is_mapping(error):
        code = error.get("code")
        span.set_attribute("rpc.response.status_code", str(code)[:20])
        if role == "client" or _our_fault(code):
            _fail(span, str(code)[:20])
    elif is_mapping(result) and result.get("isError") is True:
        _fail(span, "tool_error")


def _our_fault(code: object) -> bool:
    """Whether an error that a server answers is its own, and not the client's."""
    return isinstance(code, int) and (code == jsonrpc.INTERNAL_ERROR or -32099 <= code <= -32000)


def _tell_failure(span: Span, error: BaseException) -> None:
    if isinstance(error, (asyncio.CancelledError, Cancelled)):
        _fail(span, "cancelled")
    else:
        _fail(span, "timeout" if isinstance(error, (RequestTimeout, TimeoutError)) else type(error).__name__)


def _fail(span: Span, kind: str) -> None:
    from opentelemetry.trace import Status, StatusCode

    span.set_attribute("error.type", kind)
    span.set_status(Status(StatusCode.ERROR))  # no description: it would quote the server, which may quote arguments
