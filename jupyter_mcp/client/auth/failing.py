"""The sentences that a flow ends in: the step, the URL, what the other side said. Pure.

What the other side says may repeat what we sent: our secrets are taken out, then it is made printable and short.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote, quote_plus, urlsplit, urlunsplit

from jupyter_mcp.errors import AuthorizationFailed
from jupyter_mcp.protocol.framing import printable
from jupyter_mcp.protocol.secrets import MASK, redact_text

if TYPE_CHECKING:
    from jupyter_mcp.client.auth.steps import Request, Response

_LONGEST = 300
_LONGEST_URL = 200


def shown(url: str) -> str:
    """A URL for an error: without query, fragment and user information, printable and short."""
    try:
        parts = urlsplit(url)
        plain = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
    except ValueError:
        plain = url.partition("?")[0].rpartition("@")[2]
    return printable(plain, _LONGEST_URL)


def said(text: str, secrets: tuple[str, ...] = ()) -> str:
    """What somebody said, for an error."""
    for secret in secrets:
        for spelt in {secret, quote(secret, safe=""), quote_plus(secret), json.dumps(secret)[1:-1]}:
            text = text.replace(spelt, MASK)
    return printable(redact_text(" ".join(text[: _LONGEST * 10].split())), _LONGEST)


def failed(step: str, url: str, what: str, words: str = "", hint: str | None = None) -> AuthorizationFailed:
    """The error of a step.

    Args:
        what: a clause whose subject is the URL ("answered with HTTP 500").
        words: of the other side, as `said` gives them.
    """
    where = shown(url)
    quoted = f": “{words}”" if words else ""
    return AuthorizationFailed(
        f"Logging in failed at {step}: {where} {what}{quoted}.", step=step, url=where, said=words, hint=hint
    )


def refused(request: Request, response: Response, hint: str | None = None) -> AuthorizationFailed:
    """An answer that is no success, with the error it names (RFC 6749, 5.2) or a little of its text."""
    error = json_object(response)
    if error is not None and isinstance(error.get("error"), str):
        description = error.get("error_description")
        text = error["error"] + (f" ({description})" if isinstance(description, str) and description else "")
    elif error is not None:
        text = ""
    else:
        text = _text(response)
    return failed(request.step, request.url, f"answered with HTTP {response.status}", said(text, request.secrets), hint)


def _text(response: Response) -> str:
    """A little of an answer that is text; a page says nothing that belongs into a sentence."""
    if response.media_type not in ("", "text/plain") or b"<" in response.body[:200]:
        return ""
    return response.body[:_LONGEST].decode("utf-8", "replace")


def json_object(response: Response) -> dict[str, Any] | None:
    """The JSON object of an answer; None when it holds anything else."""
    try:
        found: object = json.loads(response.body)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None
