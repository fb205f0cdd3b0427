"""A server asks the person to open a page: the whole address as text, a link only after consent, never by itself."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from jupyter_mcp.notebook.cards import kit
from jupyter_mcp.notebook.cards.question import QuestionCard
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.questions import host_of
from jupyter_mcp.notebook.render.text import clean

__all__ = ["UrlCard"]

MAX_URL = 4_000


class UrlCard(QuestionCard):
    """Address, consent, link. Nothing is fetched; the link opens by the person's own click only."""

    def _body(self) -> list[Any]:
        self._url = clean(str(self.question.params.get("url") or "")).strip()
        self._problem = _problem(self._url)
        host = host_of(self._url)
        odd = "" if host.isascii() and "xn--" not in host else " (it has letters that look like others: check it)"
        facts = [
            ["<b>site</b>", f"<b>{html.escape(host)}</b>{html.escape(odd)}"],
            ["<b>full address</b>", html.code(self._url[:MAX_URL])],
        ]
        self._link = kit.markup("")
        self._agree = self.action("I agree, show the link", self._consent, "primary", f"Show a link to {host}")
        self._done = self.action("Done, go on", lambda: self.answer("accept"), "success", "Tell the server you agreed")
        kit.hide(self._done, True)
        if self._problem:
            self._agree.disabled = True
            self.say(self._problem, "error")
        else:
            self.say("Only open it if you trust this site with what it will ask for. The page is not loaded before.")
        return [kit.markup(html.table([], facts)), self._link]

    def _foot(self) -> list[Any]:
        decline = self.action("Decline", lambda: self.answer("decline"), "danger", "Say no; the server is told so")
        cancel = self.action("Cancel", lambda: self.answer("cancel"), "", "Close the question without a choice")
        return [self._agree, self._done, decline, cancel]

    def _consent(self) -> None:
        if self._problem or self._answered is not None:
            return
        anchor = html.tag(
            "a", html.escape(f"Open {host_of(self._url)} in a new tab"), href=self._url, target="_blank",
            rel="noopener noreferrer", referrerpolicy="no-referrer",
        )  # fmt: skip
        kit.paint(self._link, html.note(anchor))
        kit.hide(self._agree, True)
        kit.hide(self._done, False)
        self.say("Open the page, finish there, then press Done.")


def _problem(url: str) -> str:
    """Why an address is not offered as a link."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return "The address is not valid; it cannot be opened."
    if parts.scheme.lower() not in ("https", "http") or not host:
        return "Only http and https addresses can be opened; decline or cancel."
    return "The address is too long to be shown in full." if len(url) > MAX_URL else ""
