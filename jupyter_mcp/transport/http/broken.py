"""What went wrong on the way to an HTTP server, as one sentence; whether the request may have run.

The library's exceptions stop here. Above: `wire`.
"""

from __future__ import annotations

import errno
import os
import re
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import ConnectionLost
from jupyter_mcp.protocol.framing import printable

if TYPE_CHECKING:
    import aiohttp


def explained(error: Exception, where: str, seconds: float = 0.0, proxy: str | None = None) -> ConnectionLost:
    """The library's error as one sentence, with whether the request may have run."""
    import aiohttp

    if isinstance(error, aiohttp.ClientHttpProxyError):
        text = f"The proxy refused to connect to {where} (HTTP {error.status} {printable(error.message, 80)})."
        return ConnectionLost(text, may_have_run=False)
    if isinstance(error, aiohttp.ClientProxyConnectionError):
        text = f"The proxy {proxy or ''} cannot be reached ({_reason(error)})."
        return ConnectionLost(text, may_have_run=False)
    if type(error).__module__.startswith("aiohttp_socks"):
        text = f"The SOCKS proxy made no connection to {where} ({printable(str(error), 120)})."
        return ConnectionLost(text, may_have_run=False)
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return ConnectionLost(f"The name of {where} cannot be found.", may_have_run=False, hint="Check the address.")
    if isinstance(error, aiohttp.ClientSSLError):
        return _about_tls(error, where)
    if isinstance(error, aiohttp.ClientConnectorError):
        code = _code(error)
        words = "refuses connections" if code == errno.ECONNREFUSED else f"cannot be reached ({_reason(error, code)})"
        return ConnectionLost(f"{where} {words}.", may_have_run=False, hint="Is the server running?")
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return ConnectionLost(f"{where} did not accept a connection within {seconds:g} s.", may_have_run=False)
    if isinstance(error, aiohttp.InvalidURL):
        return ConnectionLost(f"The URL of {where} cannot be used.", may_have_run=False)
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return ConnectionLost(f"{where} closed the connection without an answer.")
    if _is_encoding(error):
        return ConnectionLost(f"{where} sent an answer that is not compressed as its Content-Encoding says.")
    if isinstance(error, aiohttp.ClientPayloadError):
        return ConnectionLost(f"{where} closed the connection in the middle of its answer.")
    if isinstance(error, aiohttp.ClientResponseError):
        return ConnectionLost(f"{where} answered with something that is not HTTP ({printable(error.message, 80)}).")
    return ConnectionLost(f"The connection to {where} broke ({_reason(error)}).")


def _is_encoding(error: BaseException | None) -> bool:
    """Whether the bytes came and could not be unpacked."""
    from aiohttp.http_exceptions import ContentEncodingError

    if isinstance(error, ContentEncodingError):
        return True
    return error is not None and (_is_encoding(error.__cause__) or "content-encoding" in str(error).lower())


_URL = re.compile(r" for \w+://\S+")  # a URL may hold secrets; where is said anyway


def _code(error: aiohttp.ClientConnectorError) -> int | None:
    """The system's number; several addresses that all failed are told in one text."""
    found = re.search(r"Errno (\d{1,5})", str(error.os_error))
    return error.os_error.errno or (int(found[1]) if found else None)


def _reason(error: Exception, code: int | None = None) -> str:
    if code is not None:
        return os.strerror(code)
    inner = getattr(error, "os_error", None) or error
    words = getattr(inner, "strerror", None) or str(inner) or type(inner).__name__
    return printable(_URL.sub("", str(words)), 120)


def _about_tls(error: Any, where: str) -> ConnectionLost:
    inner = getattr(error, "certificate_error", None) or getattr(error, "os_error", None) or error
    words = printable(getattr(inner, "verify_message", "") or getattr(inner, "reason", "") or str(inner), 120)
    if getattr(inner, "reason", "") in _NO_TLS:
        return ConnectionLost(
            f"{where} does not speak TLS.",
            may_have_run=False,
            hint="Its URL may begin with http:// instead of https://.",
        )
    return ConnectionLost(
        f"No secure connection to {where}: {words}.",
        may_have_run=False,
        hint="For a certificate of your own authority give --ca FILE (ca=FILE in Python); --insecure checks nothing.",
    )


_NO_TLS = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG")  # of OpenSSL


def other_scheme(error: Exception, scheme: str) -> str | None:
    """What a connection may be about that came about and led to nothing: TLS and none, mixed up."""
    import aiohttp

    if scheme == "https" and isinstance(error, aiohttp.ConnectionTimeoutError):
        return "Does it speak TLS? If not, its URL begins with http://."
    broke = isinstance(error, (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError))
    if scheme == "http" and broke and not isinstance(error, aiohttp.ClientConnectorError):
        return "If it speaks TLS, its URL begins with https://."
    return None
