"""What it means for a person that one request over HTTP came to nothing; the connection goes on.

    a status without a message    a proxy's page, a bare 503, a 401
    no answer at all              the connection broke, the stream ended early: what does no harm is asked once more
    the session is gone           404: the request was not run; what may be repeated in a new session

Values and words only.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jupyter_mcp.errors import ConnectionLost, MCPError, RemoteProtocolError, RequestError
from jupyter_mcp.transport.base import Refused, SessionEnded

if TYPE_CHECKING:
    from jupyter_mcp.client.connection import Connection
    from jupyter_mcp.client.peer import Call

# What does no harm when it is done twice, and means the same in a session that has just begun.
_REPEATABLE = frozenset(
    (
        "ping",
        "tools/list",
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "resources/subscribe",
        "resources/unsubscribe",
        "prompts/list",
        "prompts/get",
        "completion/complete",
        "logging/setLevel",
    )
)
_NOT_RUN = (501, 505)  # of the 5xx
_PAGE = 200  # characters of what a page says
# Released servers say it by an error of their own instead of a bare 404; the words decide.
_SESSION = re.compile(
    r"\bsession\b.{0,40}\b(not found|unknown|invalid|expired|terminated|ended|closed|missing|does not exist)\b"
    r"|\b(no valid|invalid|unknown|expired|missing|no)\b.{0,20}\bsession\b",
    re.IGNORECASE | re.DOTALL,
)
_SESSION_CODES = (-32000, -32001, -32600)
HINTS = {
    403: "It knows you and says no, or the token is not the right one: check it (--bearer, --header).",
    407: "It is the proxy that wants a password.",
    413: "What was sent is larger than it takes.",
    431: "A name, URI or argument that headers repeat is longer than it takes.",
    429: "It has had enough requests for now: wait a little.",
}


def of_request(error: Exception, server: str, what: str) -> MCPError:
    """The error that whoever waits for a request (`what`) gets instead of what the transport reported."""
    if isinstance(error, Refused):
        return refused(error, server, what)
    if isinstance(error, ConnectionLost):
        said = _clause(error.message)
        return ConnectionLost(
            f"The server '{server}' did not answer {what}: {said}.",
            server=server,
            hint=ran(error.may_have_run),
            may_have_run=error.may_have_run,
        )
    if isinstance(error, SessionEnded):
        return ConnectionLost(
            f"The server '{server}' answered {what} with 404.",
            server=server,
            hint=ran(False),
            may_have_run=False,
            status=404,
        )
    if isinstance(error, MCPError):
        error.server = server
        return error
    return RemoteProtocolError(f"The server '{server}' did not answer {what}: {error}", server=server)


def refused(error: Refused, server: str, what: str) -> ConnectionLost:
    """An HTTP status, with the little that a page said."""
    may_have_run = error.status < 300 or (error.status >= 500 and error.status not in _NOT_RUN)
    said = _clause(error.body)
    page = f" ({said if len(said) <= _PAGE else said[:_PAGE] + '…'})" if said.strip() else ""
    advice = HINTS.get(error.status, "")
    if error.status == 401:
        from jupyter_mcp.protocol.probe_http import who_asks

        advice = who_asks(error.authorized, error.challenge)
    return ConnectionLost(
        f"The server '{server}' did not answer {what}: {error}{page}.",
        server=server,
        hint=f"{ran(may_have_run)} {advice}".rstrip(),
        may_have_run=may_have_run,
        status=error.status,
        body=error.body,
    )


def ran(may_have_run: bool) -> str:
    """The sentence that whoever wants to repeat a request needs."""
    return "It may have been run." if may_have_run else "It was not run."


def _clause(text: str) -> str:
    return " ".join(text.split()).rstrip(".")


def asked_again(connection: Connection, call: Call, error: ConnectionLost) -> bool:
    """Whether a request under which the connection broke is sent once more, unasked.

    A server that was started again meanwhile breaks a connection that was kept open, and answers on the next.
    """
    broke = error.may_have_run and error.status is None
    return broke and connection.ready and not call.cancelled and call.method in _REPEATABLE


# -- sessions -----------------------------------------------------------------------------------------------------


def names_the_session(error: RequestError) -> bool:
    """Whether an error says that the server does not know our session."""
    return error.code in _SESSION_CODES and _SESSION.search(error.message) is not None


def may_repeat(connection: Connection, call: Call) -> bool:
    """Whether a request that was not run is sent again in a new session without asking anybody.

    A tool may depend on what earlier calls did to the session that is gone; one that only reads is taken at its word.
    """
    if call.method in _REPEATABLE:
        return True
    listing = connection.listing("tools") if call.method == "tools/call" else None
    for tool in listing.items if listing is not None else ():
        if tool["name"] == call.name:
            return tool.get("annotations", {}).get("readOnlyHint") is True
    return False


def not_repeated(server: str, call: Call) -> ConnectionLost:
    """The session is gone, and the call with it."""
    return ConnectionLost(
        f"The server '{server}' ended the session before {call.method} {call.name}".rstrip()
        + "; a new session was begun.",
        server=server,
        hint=f"{ran(False)} Do it again if it does not need what was done before.",
        may_have_run=False,
    )


def no_session(server: str, call: Call) -> ConnectionLost:
    """A new session does not help either."""
    return ConnectionLost(
        f"The server '{server}' began a new session and did not know it at once ({call.method} {call.name}".rstrip()
        + ").",
        server=server,
        hint=ran(False),
        may_have_run=False,
    )
