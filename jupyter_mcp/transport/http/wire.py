"""HTTP requests and their answers as bytes: the one place that knows the HTTP library.

It sends one request and hands out the answer's status, headers and body as they come. Every failure is a
`ConnectionLost` that says whether the request may have run: it cannot have when no connection came about, and may have
in every other case. It knows nothing of MCP. Nothing is kept between requests but connections: no cookies, no
credentials of the environment (.netrc).

Above: `transport` and `sse`. The library is aiohttp, imported when a wire is opened (docs/adr/0012).
"""

from __future__ import annotations

import asyncio
import errno
import os
import re
import sys
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit, urlunsplit

from jupyter_mcp._version import __version__
from jupyter_mcp.errors import ConnectionFailed, ConnectionLost
from jupyter_mcp.protocol import headers as names
from jupyter_mcp.protocol.framing import printable
from jupyter_mcp.transport.base import Refused
from jupyter_mcp.transport.http.ways import basic_authorization, proxy_for, socks_connector, ssl_context

if TYPE_CHECKING:
    from collections.abc import Mapping

    import aiohttp
    import yarl

    from jupyter_mcp.transport.http.options import HttpOptions

MOST_REDIRECTS = 5
START_LIMIT = 2.0  # seconds for the text of a refusal
_LONG_HEADER = 2**16
_UNSENDABLE = re.compile(r"[\x00-\x20\x7f]")  # in a URL
_READ_AHEAD = 2**18
# what is ours to say; a person's header of that name is left out
_OURS = {"accept", "content-type", "content-length", "transfer-encoding", "connection", "accept-encoding"} | {
    name.lower() for name in (names.LAST_EVENT_ID, names.SESSION, names.VERSION, names.METHOD, names.NAME)
}


class TooBig(Exception):
    """An answer has more bytes than it may have."""


class Answer:
    """An answer whose body is still to be read.

    Attributes:
        status, reason: of the status line.
        header: gives one header, "" when it is absent.
        media_type: the content type without parameters, in lower case.
        authorized: whether the request brought an `Authorization` header.
    """

    __slots__ = ("_response", "_where", "authorized", "media_type", "reason", "status")

    def __init__(self, response: aiohttp.ClientResponse, where: str, authorized: bool = False) -> None:
        self._response = response
        self._where = where
        self.authorized = authorized
        self.status = response.status
        self.reason = printable(response.reason or "", 80)
        self.media_type = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()

    def header(self, name: str) -> str:
        return self._response.headers.get(name, "")

    async def some(self) -> bytes:
        """The next bytes of the body, whatever has come; b"" at its end. Raises `ConnectionLost`."""
        try:
            return await self._response.content.readany()
        except Exception as error:
            raise explained(error, self._where) from error

    async def all(self, limit: int) -> bytes:
        """The whole body. Raises `ConnectionLost`; `TooBig` (and the answer is closed)."""
        parts: list[bytes] = []
        size = 0
        while part := await self.some():
            parts.append(part)
            size += len(part)
            if size > limit:
                self.close()
                raise TooBig
        return parts[0] if len(parts) == 1 else b"".join(parts)

    async def start(self, limit: int, seconds: float | None = None) -> bytes:
        """The first bytes of the body, at most `limit`, that come within a few seconds; what goes wrong is its end."""
        data = b""
        try:
            async with asyncio.timeout(START_LIMIT if seconds is None else seconds):
                while len(data) < limit and (part := await self.some()):
                    data += part
        except (ConnectionLost, TimeoutError):
            pass
        self.close()
        return data[:limit]

    def resolve(self, location: str) -> yarl.URL | None:
        """Where a reference in this answer leads, when that is of the same origin."""
        return _within(self._response.url, location)

    def close(self) -> None:
        """Done with it: the connection goes on when the body was read to its end, and is cut otherwise."""
        self._response.close()


class Wire:
    """The connections to one server.

    Args:
        url: used as it is, byte for byte, apart from user information (sent as a header) and fragment.
        options: see there.

    Attributes:
        where: host and port, for errors.
    """

    def __init__(self, url: str, options: HttpOptions) -> None:
        scheme, _, rest = url.partition("#")[0].partition("://")
        end = min((at for at in map(rest.find, "/?") if at >= 0), default=len(rest))
        user, at, host = rest[:end].rpartition("@")
        self._url = f"{scheme.lower()}://{host}{rest[end:]}"
        self.where = options.socket or printable(host, 100)
        self._options = options
        self._headers = {"User-Agent": f"jupyter_mcp/{__version__}", "Accept-Encoding": "gzip, deflate"}
        given = {name: value for name, value in options.headers.items() if name.lower() not in _OURS}
        if at and "authorization" not in (name.lower() for name in given):
            given["Authorization"] = basic_authorization(user)
        for name in given:
            if name.lower() == "user-agent":
                del self._headers["User-Agent"]
        self._headers |= given
        self._authorized = any(name.lower() == "authorization" for name in given)
        self._session: aiohttp.ClientSession | None = None

    def open(self) -> None:
        """Get ready; nothing is sent. Raises `ConnectionFailed` for a URL or an option that cannot work."""
        self._check()
        from aiohttp import ClientSession, ClientTimeout, DummyCookieJar
        from yarl import URL

        options = self._options
        self._proxy, proxy_user = proxy_for(self._url, options)
        self._proxy_headers = {"Proxy-Authorization": basic_authorization(proxy_user)} if proxy_user else {}
        self._target = _verbatim(URL, self._url)
        self._session = ClientSession(
            connector=self._connector(proxy_user),
            cookie_jar=DummyCookieJar(),
            trust_env=False,
            timeout=ClientTimeout(connect=options.connect_timeout, sock_connect=options.connect_timeout),
            max_line_size=_LONG_HEADER,
            max_field_size=_LONG_HEADER,
            read_bufsize=_READ_AHEAD,
        )

    def _check(self) -> None:
        try:
            parts = urlsplit(self._url)
            fine = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
        except ValueError:
            fine = False
        if not fine or _UNSENDABLE.search(self._url):
            raise ConnectionFailed(
                "The address is not a URL that HTTP can use.", hint="It begins with http:// or https://."
            )
        for name, value in self._headers.items():
            if not re.fullmatch(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+", name) or re.search(r"[\x00-\x08\x0a-\x1f\x7f]", value):
                raise ConnectionFailed(
                    f"The header {printable(name, 40)} cannot be sent: it holds a line end or the like."
                )

    def _connector(self, proxy_user: str) -> aiohttp.BaseConnector:
        import aiohttp

        options = self._options
        if options.socket:
            if sys.platform == "win32":
                raise ConnectionFailed("There are no Unix sockets on Windows.")
            if self._url.startswith("https:"):
                raise ConnectionFailed("TLS over a Unix socket is not spoken here.", hint="Give an http:// URL.")
            return aiohttp.UnixConnector(options.socket, limit=0)
        special = options.insecure or options.ca is not None or options.cert is not None
        secure = ssl_context(options) if special or self._url.startswith("https:") else True
        if self._proxy is not None and self._proxy.startswith("socks"):
            connector = socks_connector(self._proxy, proxy_user)
            self._proxy = None  # the connector knows it
            return connector(limit=0, ssl=secure)
        return aiohttp.TCPConnector(limit=0, ssl=secure)

    async def send(
        self, method: str, headers: Mapping[str, str], body: bytes | None = None, target: yarl.URL | None = None
    ) -> Answer:
        """Send one request and return its answer, redirects within the origin followed.

        Args:
            target: where to, if not to the wire's own URL; from `Answer.resolve`.

        Raises:
            ConnectionLost: with `may_have_run`.
            Refused: a redirect that is not followed.
        """
        if target is None:
            target = self._target
        followed = 0
        while True:
            response = await self._once(method, target, headers, body)
            if response.status not in (301, 302, 303, 307, 308) or "Location" not in response.headers:
                return Answer(response, self.where, self._authorized)
            if followed == MOST_REDIRECTS:
                response.close()
                raise Refused(response.status, "Too many redirects", f"redirected {followed} times, then again")
            target = self._follow(method, target, response)
            followed += 1

    async def _once(
        self, method: str, target: yarl.URL, headers: Mapping[str, str], body: bytes | None
    ) -> aiohttp.ClientResponse:
        session = self._session
        if session is None or session.closed:
            raise ConnectionLost("The connection has been closed.", may_have_run=False)
        all_headers = {**self._headers, **headers}
        proxied: dict[str, Any] = {}
        if self._proxy:
            proxied = {"proxy": self._proxy, "proxy_headers": self._proxy_headers}
            if target.scheme == "http":  # no tunnel: the proxy reads the request itself
                all_headers |= self._proxy_headers
        try:
            return await session.request(
                method, target, data=body, headers=all_headers, allow_redirects=False, **proxied
            )
        except Exception as error:
            lost = explained(error, self.where, self._options.connect_timeout, self._proxy)
            lost.hint = lost.hint or _other_scheme(error, target.scheme)
            raise lost from error

    def _follow(self, method: str, target: yarl.URL, response: aiohttp.ClientResponse) -> yarl.URL:
        """Where a redirect leads, when it stays on the origin (or goes from http to https on the same host)."""
        status, location = response.status, response.headers["Location"]
        response.close()
        there = _within(target, location)
        if there is None:
            raise Refused(status, response.reason or "", _elsewhere(target, location), advised=True)
        if status == 303 and method == "POST":
            raise Refused(status, response.reason or "", f"it redirects a POST to a page, {_shown(there)}")
        if status in (301, 308) and target == self._target:
            self._target = there  # for good, it says
        return there

    async def close(self) -> None:
        """Close every connection."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()


def _verbatim(URL: type[yarl.URL], url: str) -> yarl.URL:
    """As it is, unless it holds what would break the line that it is sent in."""
    return URL(url, encoded=url.isascii() and not _UNSENDABLE.search(url))


def _within(base: yarl.URL, location: str) -> yarl.URL | None:
    """The URL that a reference means, when it is of the same origin."""
    try:
        there = urlsplit(urljoin(str(base), location))
        new = _verbatim(type(base), urlunsplit(there._replace(fragment="")))
        return new if there.username is None and _same_origin(base, new) else None
    except ValueError:
        return None


def _elsewhere(base: yarl.URL, location: str) -> str:
    """Where a redirect leads that is not followed, in words without anybody's password."""
    try:
        there = urlsplit(urljoin(str(base), location))
    except ValueError:
        there = urlsplit("")
    if there.scheme not in ("http", "https") or not there.netloc:
        return f"it redirects to what is no address: {printable(location.rpartition('@')[2], 100)}"
    named = printable(urlunsplit(there._replace(netloc=there.netloc.rpartition("@")[2], fragment="")))
    return f"it redirects to {named}; use that URL"


def _same_origin(a: yarl.URL, b: yarl.URL) -> bool:
    if a.host != b.host:
        return False
    if a.scheme == b.scheme:
        return a.port == b.port
    return (a.scheme, b.scheme) == ("http", "https") and (a.port == b.port or (a.port, b.port) == (80, 443))


def _shown(url: yarl.URL) -> str:
    return printable(str(url.with_user(None)))


# --- what went wrong -------------------------------------------------------------------------------------------------


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


def _other_scheme(error: Exception, scheme: str) -> str | None:
    """What a connection may be about that came about and led to nothing: TLS and none, mixed up."""
    import aiohttp

    if scheme == "https" and isinstance(error, aiohttp.ConnectionTimeoutError):
        return "Does it speak TLS? If not, its URL begins with http://."
    broke = isinstance(error, (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError))
    if scheme == "http" and broke and not isinstance(error, aiohttp.ClientConnectorError):
        return "If it speaks TLS, its URL begins with https://."
    return None
