"""HTTP requests and their answers as bytes: the one place that knows the HTTP library.

It sends one request and hands out the answer's status, headers and body as they come. Every failure is a
`ConnectionLost` that says whether the request may have run: it cannot have when no connection came about, and may have
in every other case. It knows nothing of MCP. Nothing is kept between requests but connections: no cookies, no
credentials of the environment (.netrc).

Above: `transport` and `sse`. The library is aiohttp, imported when a wire is opened (docs/adr/0012).
"""

from __future__ import annotations

import asyncio
import io
import re
import sys
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit, urlunsplit

from jupyter_mcp._version import __version__
from jupyter_mcp.errors import ConnectionFailed, ConnectionLost
from jupyter_mcp.protocol import headers as names
from jupyter_mcp.protocol.framing import printable
from jupyter_mcp.transport.base import Refused
from jupyter_mcp.transport.http.authorization import MOST_ANSWERS, Challenge
from jupyter_mcp.transport.http.broken import explained, other_scheme
from jupyter_mcp.transport.http.ways import (
    basic_authorization,
    guarded_resolver,
    proxy_for,
    socks_connector,
    ssl_context,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import aiohttp
    import yarl

    from jupyter_mcp.transport.http.options import HttpOptions

MOST_REDIRECTS = 5
START_LIMIT = 2.0  # seconds for the text of a refusal
_REFUSAL = 2**16  # bytes read of a refusal that is answered, so that its connection goes on
_LONG_HEADER = 2**16
_UNSENDABLE = re.compile(r"[\x00-\x20\x7f]")  # in a URL
_LARGE = 2**20  # bytes of a body that aiohttp would hold up the loop for
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

    def __init__(self, response: aiohttp.ClientResponse, where: str) -> None:
        self._response = response
        self._where = where
        self.authorized = "Authorization" in response.request_info.headers
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

    def challenge(self) -> Challenge:
        """What the server wants, when the answer is a 401 or 403."""
        asked, headers = self._response.request_info, self._response.headers
        return Challenge(
            self.status,
            str(self._response.url),
            asked.method,
            headers.getall("WWW-Authenticate", []),
            headers.get("DPoP-Nonce", ""),
            asked.headers.get(names.VERSION, ""),
            asked.headers.get("Authorization", ""),
        )

    def resolve(self, location: str) -> yarl.URL | None:
        """Where a reference in this answer leads, when that is of the same origin."""
        return _within(self._response.url, location)

    def close(self) -> None:
        """Done with it: the connection goes on when the body was read to its end, and is cut otherwise."""
        self._response.close()


def not_held(held: bool) -> None:
    """Nobody's clock is to be stopped."""


class Wire:
    """The connections to one server.

    Args:
        url: used as it is, byte for byte, apart from user information (sent as a header) and fragment.
        options: see there.
        may_connect: says of an address that a name stands for whether it may be connected to; by default any may.
            It is not asked where a proxy looks up the names.

    Attributes:
        where: host and port, for errors.
        on_hold: told True when somebody begins to answer a refusal, which may take long, and False when it is over.
    """

    def __init__(self, url: str, options: HttpOptions, may_connect: Callable[[str], bool] | None = None) -> None:
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
        self._may_connect = may_connect
        self.on_hold: Callable[[bool], None] = not_held
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

    def at(self, url: str) -> yarl.URL | None:
        """Another URL of the wire's origin, as a target; None when it is of another. The wire is open."""
        return _within(self._target, url)

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
        resolver = None if self._may_connect is None else guarded_resolver(self._may_connect)
        return aiohttp.TCPConnector(limit=0, ssl=secure, resolver=resolver)

    async def send(
        self,
        method: str,
        headers: Mapping[str, str],
        body: bytes | None = None,
        target: yarl.URL | None = None,
        seconds: float | None = None,
    ) -> Answer:
        """Send one request and return its answer, redirects within the origin followed, refusals answered.

        Args:
            target: where to, if not to the wire's own URL; from `Answer.resolve`.
            seconds: for the head of an answer. The time in which a refusal is answered does not count.

        Raises:
            TimeoutError: nothing came in that time.
            ConnectionLost: with `may_have_run`.
            Refused: a redirect that is not followed.
            MCPError: from the `Authorization`.
        """
        answers = 0 if self._options.authorization is None or method == "DELETE" else MOST_ANSWERS
        while True:
            async with asyncio.timeout(seconds):
                answer = await self._followed(method, headers, body, target)
            if answer.status not in (401, 403) or not answers or not await self._may_go_on(answer):
                return answer
            answers -= 1
            await answer.start(_REFUSAL)

    async def _may_go_on(self, answer: Answer) -> bool:
        """Whether the refused request is worth another attempt."""
        authorization = self._options.authorization
        assert authorization is not None
        self.on_hold(True)
        try:
            return await authorization.answer(answer.challenge())
        except BaseException:
            answer.close()
            raise
        finally:
            self.on_hold(False)

    async def _followed(
        self, method: str, headers: Mapping[str, str], body: bytes | None, target: yarl.URL | None
    ) -> Answer:
        if target is None:
            target = self._target
        followed = 0
        while True:
            response = await self._once(method, target, headers, body)
            if response.status not in (301, 302, 303, 307, 308) or "Location" not in response.headers:
                return Answer(response, self.where)
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
        authorization = self._options.authorization
        all_headers = {**self._headers, **headers}
        if authorization is not None:
            all_headers = _with(all_headers, await authorization.headers(method, str(target)))
        proxied: dict[str, Any] = {}
        if self._proxy:
            proxied = {"proxy": self._proxy, "proxy_headers": self._proxy_headers}
            if target.scheme == "http":  # no tunnel: the proxy reads the request itself
                all_headers |= self._proxy_headers
        try:
            response = await session.request(
                method,
                target,
                data=body if body is None or len(body) < _LARGE else io.BytesIO(body),  # so it goes out in parts
                headers=all_headers,
                allow_redirects=False,
                **proxied,
            )
        except Exception as error:
            lost = explained(error, self.where, self._options.connect_timeout, self._proxy)
            lost.hint = lost.hint or other_scheme(error, target.scheme)
            raise lost from error
        if authorization is not None and (nonce := response.headers.get("DPoP-Nonce")):
            authorization.learn(str(target), nonce)
        return response

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


def _with(headers: dict[str, str], others: Mapping[str, str]) -> dict[str, str]:
    """The headers with others in their place, whatever their case."""
    replaced = {name.lower() for name in others}
    return {**{name: value for name, value in headers.items() if name.lower() not in replaced}, **others}


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
