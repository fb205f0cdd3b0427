"""JSON from an authorization server, by tornado's own client.

Redirects are not followed, answers are bounded in size and time, addresses are https or on this machine. A proxy that
only environment variables name is not used: give a verifier another `fetch` where one is needed.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import quote_plus, urlencode

from jupyter_mcp.errors import ConnectionFailed
from jupyter_mcp.server.authorization.urls import wrong_url

LIMIT = 1024 * 1024
SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Asked:
    """A request to an authorization server.

    Attributes:
        url: where it goes.
        form: what is posted; None for a GET.
        credentials: id and secret of the one who asks, sent by HTTP Basic.
    """

    url: str
    form: Mapping[str, str] | None = field(default=None, repr=False)
    credentials: tuple[str, str] | None = field(default=None, repr=False)


Fetch = Callable[[Asked], Awaitable["dict[str, Any]"]]
"""Sends it; the answer is the JSON object of a 200. Raises ConnectionFailed for everything else."""


async def fetch(asked: Asked) -> dict[str, Any]:
    """A `Fetch` over HTTP."""
    from tornado.httpclient import HTTPRequest
    from tornado.simple_httpclient import SimpleAsyncHTTPClient

    if problem := wrong_url(asked.url.partition("?")[0]):
        raise ConnectionFailed(f"This is not an address to ask about tokens: {problem}.")
    headers = {"Accept": "application/json"}
    if asked.credentials is not None:
        headers["Authorization"] = "Basic " + _basic(*asked.credentials)
    request = HTTPRequest(
        asked.url,
        method="GET" if asked.form is None else "POST",
        headers=headers,
        body=None if asked.form is None else urlencode(asked.form),
        follow_redirects=False,
        connect_timeout=SECONDS,
        request_timeout=SECONDS,
    )
    client = SimpleAsyncHTTPClient(force_instance=True, max_body_size=LIMIT)
    try:
        response = await client.fetch(request, raise_error=False)
    except Exception as error:
        raise ConnectionFailed(f"{asked.url} cannot be reached: {type(error).__name__}.") from None
    finally:
        client.close()
    if response.code != 200:
        raise ConnectionFailed(f"{asked.url} answered with status {response.code}.", status=response.code)
    return _object(asked.url, response.body)


def _object(url: str, body: bytes) -> dict[str, Any]:
    try:
        found: object = json.loads(body)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ConnectionFailed(f"{url} did not answer with a JSON object.")
    return cast("dict[str, Any]", found)


def _basic(name: str, secret: str) -> str:
    """Both are form-encoded before they are joined (RFC 6749, 2.3.1)."""
    return base64.b64encode(f"{quote_plus(name)}:{quote_plus(secret)}".encode()).decode()
