"""A scripted person with a browser: opens the address a client shows, presses a button, is sent back.

It is blocking, so that it works on any thread (`visit` is the same, awaited); nothing is remembered between visits.
"""

from __future__ import annotations

import asyncio
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlencode, urljoin

from jupyter_mcp.errors import MCPError

if TYPE_CHECKING:
    from http.client import HTTPMessage
    from typing import IO

LIMIT = 20.0  # seconds for a page
_REDIRECTS = (301, 302, 303, 307, 308)


class HasUrl(Protocol):
    """A question about a page."""

    @property
    def url(self) -> str:
        """Of the page."""
        ...


class Browser:
    """A person who approves, or does not.

        back = Browser().open(address)                 # presses Approve; `back` is where the server sends the browser
        Browser(press="decline", follow=True).open(address)    # and goes there
        mcp.answer(Browser().visit, kind="login")              # whenever a login is asked for

    Args:
        press: the button: "approve" or "decline".
        follow: go where the server sends the browser, as a real one does; else that address is only returned.

    Attributes:
        visited: the addresses that were opened, the first one of each visit.
        last: the text of the last page.
    """

    def __init__(self, *, press: str = "approve", follow: bool = False) -> None:
        self.press = press
        self.follow = follow
        self.visited: list[str] = []
        self.last = ""

    async def visit(self, address: str | HasUrl) -> str:
        """The same as `open`, awaited; it may be a scripted answer to the question whether to log in."""
        return await asyncio.to_thread(self.open, address)

    def open(self, address: str | HasUrl) -> str:
        """Open the address and press the button; where the server sends the browser after that.

        Args:
            address: of the authorization request, or a question that has it as its `url`.

        Raises:
            MCPError: the server showed a page without that button: the request was not in order.
        """
        if not isinstance(address, str):
            address = address.url
        self.visited.append(address)
        page = self._load(address)
        if page.goes_to is None:
            form = _Form.read(page.text)
            if form is None:
                raise MCPError(f"The page has no button to press (status {page.status}): {_words(page.text)}")
            posted = {**form.fields, "decision": self.press}
            page = self._load(urljoin(address, form.action), posted)
        if page.goes_to is None:
            raise MCPError(f"The server sent the browser nowhere (status {page.status}): {_words(page.text)}")
        if self.follow:
            self._load(page.goes_to)
        return page.goes_to

    def _load(self, address: str, posted: dict[str, str] | None = None) -> _Page:
        data = urlencode(posted).encode() if posted is not None else None
        request = urllib.request.Request(address, data=data)  # noqa: S310
        try:
            with _OPENER.open(request, timeout=LIMIT) as response:
                page = _Page(response.status, response.read().decode("utf-8", "replace"))
        except urllib.error.HTTPError as error:
            with error:
                page = _Page(error.code, error.read().decode("utf-8", "replace"))
                if error.code in _REDIRECTS and (location := error.headers.get("Location")):
                    page.goes_to = urljoin(address, location)
        self.last = page.text
        return page


@dataclass
class _Page:
    status: int
    text: str
    goes_to: str | None = None


class _Staying(urllib.request.HTTPRedirectHandler):
    """A redirect is what we want to see."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        """urllib's: None goes nowhere."""


_OPENER = urllib.request.build_opener(_Staying, urllib.request.ProxyHandler({}))


@dataclass
class _Form:
    action: str = ""
    fields: dict[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def read(cls, page: str) -> _Form | None:
        """The first form of a page."""
        reader = _FormReader()
        reader.feed(page)
        return reader.form


class _FormReader(HTMLParser):
    form: _Form | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """HTMLParser's."""
        given = dict(attrs)
        if tag == "form" and self.form is None:
            self.form = _Form(given.get("action") or "")
        elif tag == "input" and self.form is not None and (name := given.get("name")):
            self.form.fields[name] = given.get("value") or ""


def _words(page: str) -> str:
    reader = _WordReader()
    reader.feed(page)
    return " ".join(" ".join(reader.words).split())[:300]


class _WordReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self._hidden = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden = tag == "style"

    def handle_endtag(self, tag: str) -> None:
        self._hidden = False

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.words.append(data)
