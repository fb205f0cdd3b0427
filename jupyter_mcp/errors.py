"""Every error this package raises, as one tree.

    MCPError
    ├── ConnectionFailed    could not start or reach a server        (also ConnectionError)
    ├── ConnectionLost      a server went away                       (also ConnectionError)
    ├── AuthorizationFailed the way to an access token ended         (also ConnectionError)
    ├── ProtocolError
    │   ├── LocalProtocolError    we were about to break the protocol
    │   └── RemoteProtocolError   the other side broke it
    ├── RequestError        the server answered with a JSON-RPC error
    ├── ToolError           a tool ran and reported failure (`isError`)
    ├── RequestTimeout      no answer in time                        (also TimeoutError)
    ├── Cancelled           a card or code cancelled the act
    ├── InputRefused        the person or the policy declined what the server needs
    ├── Denied              the person or the policy refused the act
    ├── ModelError
    │   ├── NoModel
    │   ├── UnsupportedContent
    │   └── ProviderError
    ├── ConfigError         a configuration file is wrong
    └── UsageError          a magic's or an argument's mistake
    Interrupted             the person pressed interrupt (a KeyboardInterrupt, outside the tree)

Each one says, in one sentence, what happened, to which server, and what to do next; that sentence is all a cell shows.
The rest (exit code, the end of stderr, the wire) is in the attributes and in `%mcp log NAME`.

This module formats nothing but those sentences. Above it stands everything; it imports only the standard library.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jupyter_mcp.host.result import Result

__all__ = [
    "AuthorizationFailed",
    "Cancelled",
    "ConfigError",
    "ConnectionFailed",
    "ConnectionLost",
    "Denied",
    "InputRefused",
    "Interrupted",
    "LocalProtocolError",
    "MCPError",
    "ModelError",
    "NoModel",
    "ProtocolError",
    "ProviderError",
    "RemoteProtocolError",
    "RequestError",
    "RequestTimeout",
    "ToolError",
    "UnsupportedContent",
    "UsageError",
]


_LONGEST = 8000  # characters of the sentence; the attributes hold the whole
# escape sequences of terminals, control characters but tab and newline, direction overrides (a text that reads as what
# it is not)
_UNFIT = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
)


def _shown(text: str) -> str:
    """A sentence as a cell can show it: it may quote a server, and half a surrogate pair costs a kernel the message."""
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}… ({len(text) - _LONGEST:,} more characters)"
    return _UNFIT.sub("", text).encode("utf-8", "replace").decode()


class OneLine:
    """Mixin: a cell shows the sentence, not the stack (IPython calls `_render_traceback_`)."""

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]


class MCPError(OneLine, Exception):
    """Base of all errors of this package.

    Args:
        message: one sentence for the person.
        server: name of the server it happened to, if any.
        hint: what to do next, appended to the sentence.
    """

    def __init__(self, message: str, *, server: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.server = server
        self.hint = hint

    def __str__(self) -> str:
        return _shown(f"{self.message} {self.hint}" if self.hint else self.message)


class ConnectionFailed(MCPError, ConnectionError):
    """A server could not be started or reached.

    Attributes:
        exit_code: exit code of the process, when it is one and it ended.
        status: HTTP status, when it is an HTTP server.
        stderr: the last lines the process wrote to stderr.
        body: the (shortened) HTTP body.
    """

    def __init__(
        self,
        message: str,
        *,
        server: str | None = None,
        hint: str | None = None,
        exit_code: int | None = None,
        status: int | None = None,
        stderr: Sequence[str] = (),
        body: str | None = None,
    ) -> None:
        super().__init__(message, server=server, hint=hint)
        self.exit_code = exit_code
        self.status = status
        self.stderr = list(stderr)
        self.body = body


class ConnectionLost(MCPError, ConnectionError):
    """A server went away while it was in use.

    Attributes:
        may_have_run: whether the request may have reached the server (so that repeating it is not safe by itself).
        exit_code, stderr, status, body: as in `ConnectionFailed`; with a status only one request was lost.
    """

    def __init__(
        self,
        message: str,
        *,
        server: str | None = None,
        hint: str | None = None,
        may_have_run: bool = True,
        exit_code: int | None = None,
        stderr: Sequence[str] = (),
        status: int | None = None,
        body: str | None = None,
    ) -> None:
        super().__init__(message, server=server, hint=hint)
        self.may_have_run = may_have_run
        self.exit_code = exit_code
        self.stderr = list(stderr)
        self.status = status
        self.body = body


class AuthorizationFailed(MCPError, ConnectionError):
    """A server wants to know who asks, and the way to an access token ended.

    Attributes:
        step: where it ended, a few words ("registration", "the token request").
        url: what was asked there, without query; "" when nobody was asked.
        said: what the other side said, printable and short; "" when it said nothing.
        declined: a person said no; asking again by itself would be rude.
    """

    def __init__(
        self,
        message: str,
        *,
        step: str = "",
        url: str = "",
        said: str = "",
        declined: bool = False,
        server: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, server=server, hint=hint)
        self.step = step
        self.url = url
        self.said = said
        self.declined = declined


class ProtocolError(MCPError):
    """Somebody broke the protocol."""


class LocalProtocolError(ProtocolError):
    """We were about to send something the protocol forbids (NaN in arguments, a method the server did not declare)."""


class RemoteProtocolError(ProtocolError):
    """The other side sent something the protocol forbids."""


class RequestError(MCPError):
    """The server answered a request with a JSON-RPC error.

    Attributes:
        code: the JSON-RPC error code (integer).
        data: the error's `data`, as sent.
    """

    def __init__(
        self, message: str, *, code: int, data: Any = None, server: str | None = None, hint: str | None = None
    ) -> None:
        super().__init__(message, server=server, hint=hint)
        self.code = code
        self.data = data

    def __str__(self) -> str:
        if not self.server:
            return super().__str__()
        said = self.message.removeprefix(f"MCP error {self.code}: ")  # the TypeScript SDK says the code in words too
        line = f"{self.server} answered with an error: {said} (code {self.code})"
        return _shown(f"{line}. {self.hint}" if self.hint else line)


class ToolError(MCPError):
    """A tool ran and reported a failure (`isError: true`).

    Attributes:
        result: the `Result`, with everything the tool said.
    """

    def __init__(
        self, message: str, *, result: Result | None = None, server: str | None = None, hint: str | None = None
    ) -> None:
        super().__init__(message, server=server, hint=hint)
        self.result = result


class RequestTimeout(MCPError, TimeoutError):
    """No answer came in time; the server has been told to stop."""


class Cancelled(MCPError):
    """A card or code cancelled the act before it ended."""


class InputRefused(MCPError):
    """The person or the policy said no to something the server needs for this call."""


class Denied(MCPError):
    """The person or the policy refused the act itself.

    Attributes:
        rule: the rule that decided, as text, or None when a person did.
    """

    def __init__(
        self, message: str, *, rule: str | None = None, server: str | None = None, hint: str | None = None
    ) -> None:
        super().__init__(message, server=server, hint=hint)
        self.rule = rule


class ModelError(MCPError):
    """A language model could not do what was asked of it."""


class NoModel(ModelError):
    """No model is configured for this."""


class UnsupportedContent(ModelError):
    """The configured model cannot take this kind of content."""


class ProviderError(ModelError):
    """The model's provider answered with an error, broke off, or did not answer at all.

    Attributes:
        status: HTTP status, when it answered with one.
        retry_after: seconds after which the provider takes another attempt, when it says so.
        partial: the text that had come when it broke off.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        partial: str = "",
        server: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, server=server, hint=hint)
        self.status = status
        self.retry_after = retry_after
        self.partial = partial


class ConfigError(MCPError):
    """A configuration (file) is wrong.

    Attributes:
        file: path of the file, or None for text given directly.
        line: 1-based line, if known.
        key: dotted key of the entry, if known.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        key: str | None = None,
        server: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, server=server, hint=hint)
        self.file = file
        self.line = line
        self.key = key


class UsageError(MCPError):
    """A magic line, an argument or a name is wrong.

    Attributes:
        usage: how it is written, shown on a line of its own below the sentence.
    """

    def __init__(
        self, message: str, *, usage: str | None = None, server: str | None = None, hint: str | None = None
    ) -> None:
        super().__init__(message, server=server, hint=hint)
        self.usage = usage

    def _render_traceback_(self) -> list[str]:
        lines = [f"{type(self).__name__}: {self}"]
        return [*lines, f"usage: {self.usage}"] if self.usage else lines


class Interrupted(OneLine, KeyboardInterrupt):
    """The person pressed interrupt: the call was cancelled, the connection stays usable.

    It derives from KeyboardInterrupt so that a loop of calls with `except Exception` stops too.
    """
