"""What HTTP adds to finding out the era: answers that are no messages, and the older transport to fall back to. Pure.

`probe` comes here only when such an event arrives, so that whoever starts a process never loads it.

    server/discover   401, 403 or the like: it is not about the era; unreachable: no verdict; else `initialize`
    initialize        any other 4xx: the same URL may speak HTTP+SSE (2024-11-05); else it is over

Source: spec 2026-07-28 "Versioning / era detection", 2025-11-25 "Transports / Backwards compatibility".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jupyter_mcp.errors import ConnectionFailed

if TYPE_CHECKING:
    from collections.abc import Generator

    from jupyter_mcp.protocol.probe import Event, Step

_NOT_ABOUT_THE_ERA = (401, 403, 407, 408, 429)
_NOBODY = "It wants to know who you are: give it a token with --bearer, or a header with --header."
_NOT_YOU = "It does not take the token it was given: it may be another one's, or have expired (--bearer, --header)."
HINTS = {
    403: "It does not let you in: check the URL, and the token (--bearer) or header (--header).",
    407: "It is the proxy that wants a password.",
    429: "It has had enough requests for now: wait a little.",
}
_NO_ENDPOINT = "Is this the URL of its MCP endpoint? It often ends in /mcp."


@dataclass(frozen=True, slots=True)
class Status:
    """Event: an HTTP answer that holds no message.

    Attributes:
        status, reason: 404, "Not Found".
        body: a little of its text, printable.
        hint: what to do about it, where that is known better than by the status alone; "" when the text says it.
    """

    status: int
    reason: str = ""
    body: str = ""
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """Event: nothing will come in answer to the request.

    Attributes:
        why: a sentence.
        reached: the server may have got it (so somebody is there).
        hint: what to do about it.
        status: of the HTTP answer, when that is the reason.
    """

    why: str
    reached: bool = True
    hint: str | None = None
    status: int | None = None


@dataclass(frozen=True, slots=True)
class Downgrade:
    """Step: go on over HTTP+SSE at the same URL, on a fresh link; None when there is one, `NoAnswer` when not."""


def who_asks(authorized: bool, challenge: str = "") -> str:
    """What to do about a 401.

    Args:
        authorized: the request brought an `Authorization` header.
        challenge: the answer's `WWW-Authenticate`, which may say that the token was looked at (RFC 6750, 3.1).
    """
    return _NOT_YOU if authorized or "invalid_token" in challenge else _NOBODY


def after_discover(event: Event | None) -> str:
    """Why `initialize` is tried next, as a clause. Raises `ConnectionFailed` when it is no use."""
    if isinstance(event, Status):
        if event.status in _NOT_ABOUT_THE_ERA:
            raise _refused("server/discover", event)
        return f"it answered server/discover with HTTP {event.status}"
    if isinstance(event, NoAnswer):
        if not event.reached:
            raise _silent(event, "server/discover")
        return f"it did not answer server/discover ({_clause(event.why)})"
    raise AssertionError(event)


def after_initialize(event: Event | None, may_downgrade: bool) -> Generator[Step, Event | None, None]:
    """Comes back when `initialize` can be tried over HTTP+SSE. Raises `ConnectionFailed` when it is over."""
    if isinstance(event, NoAnswer):
        raise _silent(event, "initialize")
    assert isinstance(event, Status)
    failure = _refused("initialize", event)
    if not may_downgrade or not 400 <= event.status < 500 or event.status in _NOT_ABOUT_THE_ERA:
        raise failure
    outcome = yield Downgrade()
    if isinstance(outcome, NoAnswer):
        why = f" ({_clause(outcome.why)})" if outcome.status is None else ""  # a status would only say it again
        failure.message = f"{failure.message.rstrip('.')}, and does not speak HTTP+SSE there{why}."
        raise failure


def _silent(event: NoAnswer, method: str) -> ConnectionFailed:
    what = f"did not answer {method}" if event.reached else "cannot be reached"
    return ConnectionFailed(f"The server {what}: {_clause(event.why)}.", hint=event.hint)


def _refused(method: str, event: Status) -> ConnectionFailed:
    page = f" ({_clause(event.body)[:200]})" if event.body.strip() else ""
    words = f"HTTP {event.status} {event.reason}".rstrip()
    if event.status < 300:
        words += ", which holds no message"
    hint = event.hint
    if hint is None:
        hint = HINTS.get(event.status, None if event.status >= 500 and event.status != 501 else _NO_ENDPOINT)
    return ConnectionFailed(
        f"The server answered {method} with {words}{page}.",
        hint=hint or None,
        status=event.status,
        body=event.body or None,
    )


def _clause(text: str) -> str:
    return " ".join(text.split()).rstrip(".")
