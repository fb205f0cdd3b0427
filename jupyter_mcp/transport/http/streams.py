"""What answers hold: JSON or an event stream, turned into messages for the receiver.

Nothing is sent from here, and nothing raises because of what a server wrote: what is no message is told as noise.

Above: `transport` and `sse`.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import ConnectionLost, MCPError, RemoteProtocolError
from jupyter_mcp.protocol import jsonrpc
from jupyter_mcp.protocol.framing import Line, answered, parse_line, printable
from jupyter_mcp.protocol.sse import Event, TooLarge
from jupyter_mcp.transport.base import Noise, Refused, unreadable
from jupyter_mcp.transport.traffic import answer_event, failed_event

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import yarl

    from jupyter_mcp.protocol.jsonrpc import Id
    from jupyter_mcp.protocol.sse import SseDecoder
    from jupyter_mcp.transport.base import Message, Receiver
    from jupyter_mcp.transport.http.wire import Answer, Wire
    from jupyter_mcp.transport.traffic import HttpEvent

EVENTS = "text/event-stream"
DRAIN = 1.0  # seconds for the end of a stream whose response has come
POST_LIMIT = 30.0  # seconds for what gets no answer to be taken
REFUSAL_LIMIT = 2**20  # bytes read of an answer that is no success
_NOT_ABOUT_THE_REQUEST = (401, 403, 413, 421, 431)
_SHOWN = 500  # characters of a page that are kept
_PAGE = re.compile(r"<(script|style|head)\b.*?(</\1\s*>|\Z)|<!--.*?(-->|\Z)|<[^>]*(>|\Z)", re.IGNORECASE | re.DOTALL)
_HEAD_METHOD = re.compile(rb'"method"\s*:')


class Exchange:
    """One request that waits for its answer.

    Attributes:
        id, method: of the request.
        answered: its response has been handed on.
        before: called with the response before it is handed on (it may say what the next message needs).
        modern: closing its stream cancels it.
    """

    __slots__ = ("answered", "before", "id", "method", "modern")

    def __init__(
        self, id: Id, method: str, before: Callable[[Message], None] | None = None, *, modern: bool = False
    ) -> None:
        self.id = id
        self.method = method
        self.modern = modern
        self.answered = False
        self.before = before

    def takes(self, message: Message) -> bool:
        """Whether a message is the response to it; if so it is given our id and noted."""
        if self.answered or jsonrpc.kind(message) not in ("response", "error"):
            return False
        said = message.get("id")
        if said is None:
            message["id"] = self.id  # the server could not read which request it was; there is one only
        elif jsonrpc.match_id({self.id: None}, said) is None:
            return False
        self.answered = True
        if self.before is not None:
            self.before(message)
        return True


def deliver(receiver: Receiver, data: bytes, exchange: Exchange | None = None) -> Line:
    """Hand on what a JSON body or an event holds."""
    line = parse_line(data)
    if exchange is not None:
        for message in line.messages:
            exchange.takes(message)
    if line.batch:
        receiver.on_batch(line.messages, len(data))
    else:
        for message in line.messages:
            receiver.on_message(message, len(data))
    if line.noise is not None and line.messages:
        receiver.on_noise(Noise("http", line.noise))
    return line


async def read_events(
    answer: Answer, decoder: SseDecoder, receiver: Receiver, exchange: Exchange | None = None
) -> None:
    """Hand on the events of a stream until it ends, or the response to `exchange` has come.

    Raises:
        ConnectionLost: the stream broke.
        RemoteProtocolError: the response to `exchange` is larger than it may be.
    """
    comments = decoder.comments
    while data := await answer.some():
        for item in decoder.feed(data):
            if isinstance(item, TooLarge):
                oversize(item, receiver, exchange)
            else:
                take_event(item, receiver, exchange)
        if decoder.comments != comments:
            comments = decoder.comments
            receiver.on_alive(None if exchange is None else exchange.id)
        if exchange is not None and exchange.answered:
            return
    last = decoder.eof() if exchange is not None else None
    if last is not None and (line := parse_line(last.data)).messages and line.noise is None:
        take_event(last, receiver, exchange)  # whole, although the blank line after it is missing


async def deposit(
    wire: Wire,
    headers: Mapping[str, str],
    data: bytes,
    message: Mapping[str, Any],
    on_http: Callable[[HttpEvent], None],
    target: yarl.URL | None = None,
) -> str | None:
    """POST what gets no answer. What the server says to it means nothing, unless it refuses it: then in which words.

    A server that closes the connection instead of answering has read it all the same. `on_http` is told what it says.

    Raises:
        ConnectionLost: the server cannot be reached, or does not take it in time.
    """
    method: str | None = message.get("method")
    try:
        answer = await wire.send("POST", headers, data, target, POST_LIMIT)
        on_http(answer_event(answer, "POST", method))
        fine = answer.status < 400
        limit = 0 if fine and answer.media_type == EVENTS else REFUSAL_LIMIT
        body = await answer.start(limit, DRAIN if fine else None)
    except TimeoutError:
        raise ConnectionLost(f"{wire.where} did not take a message within {POST_LIMIT:g} s.") from None
    except ConnectionLost as error:
        on_http(failed_event(error, "POST", method))
        if error.may_have_run:
            return None
        raise
    except Refused as error:
        on_http(failed_event(error, "POST", method))
        refused: Message | Refused = error
    else:
        if fine:
            return None
        refused = refusal(answer, body, None)
    assert isinstance(refused, Refused)
    words = f": {refused.body}" if refused.body else ""
    return f"{refused} to {method or 'an answer'}{words}"


async def drain(answer: Answer, decoder: SseDecoder, receiver: Receiver) -> None:
    """The response has come: wait a moment for the end of the stream, so that its connection can be used again."""
    with contextlib.suppress(TimeoutError, MCPError):
        async with asyncio.timeout(DRAIN):
            await read_events(answer, decoder, receiver)


def take_event(event: Event, receiver: Receiver, exchange: Exchange | None) -> None:
    """Hand on one event; one of another type counts when it holds a message all the same."""
    line = deliver(receiver, event.data, exchange)
    if line.answers is not None and not (exchange is not None and exchange.answered):
        if exchange is not None and jsonrpc.match_id({exchange.id: None}, line.answers) is not None:
            raise unreadable(line.why)
        receiver.on_request_failed(line.answers, unreadable(line.why))
    if not line.messages and event.event == "message" and line.noise is not None:
        receiver.on_noise(Noise("http", line.noise))


def oversize(item: TooLarge, receiver: Receiver, exchange: Exchange | None) -> None:
    """An event was larger than it may be: it costs the request it answered, if one can tell, and is noise otherwise."""
    error = too_large("an event", item.limit)
    if exchange is not None and not _HEAD_METHOD.search(item.head):
        raise error
    if exchange is None and (request_id := answered(item.head)) is not None:
        receiver.on_request_failed(request_id, error)
    else:
        receiver.on_noise(Noise("http", str(error)))


def too_large(what: str, limit: int) -> RemoteProtocolError:
    """The error of an answer that is larger than it may be."""
    size = f"{limit / 2**20:g} MiB" if limit >= 2**20 else f"{limit} bytes"
    return RemoteProtocolError(
        f"The server sent {what} larger than the limit of {size}.", hint="Connect with max_event=BYTES to raise it."
    )


def refusal(answer: Answer, body: bytes, exchange: Exchange | None) -> Message | Refused:
    """What an answer that is no success means: the JSON-RPC error it holds, as the response, or a `Refused`.

    Some are about who asks, where, or how much, whatever they hold. An error is ours even under an id that is not:
    servers that refuse a request before reading it invent one.
    """
    messages = parse_line(body).messages if body else []
    error = next((message for message in messages if jsonrpc.kind(message) == "error"), None)
    challenge = printable(answer.header("WWW-Authenticate"), 2000)
    if error is None:
        return Refused(answer.status, answer.reason, plain(body), challenge, authorized=answer.authorized)
    if exchange is None or answer.status in _NOT_ABOUT_THE_REQUEST:
        said = plain(jsonrpc.parse_error(error).message.encode())
        return Refused(answer.status, answer.reason, said, challenge, authorized=answer.authorized)
    error["id"] = exchange.id
    return error


def plain(body: bytes) -> str:
    """A page as at most 500 printable characters, without its markup."""
    text = body[: _SHOWN * 20].decode("utf-8", "replace")
    if "<" in text:
        from html import unescape

        text = unescape(_PAGE.sub(" ", text))
    text = " ".join(text.split())
    return printable(text.replace("<", "‹").replace(">", "›"), _SHOWN) if text else ""
