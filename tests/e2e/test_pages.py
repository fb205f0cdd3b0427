"""A page that a server wants opened, in a real page: judged first, opened by the person's click, gone on from."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from tests.e2e.lab import CURRENT, Browser, Notebook
from tests.e2e.test_forms import kernel as kernel
from tests.e2e.test_forms import open_notebook

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

SERVER = """
%load_ext jupyter_mcp
import asyncio, pathlib
from jupyter_mcp.server import AsyncContext, Server

shop = Server("shop")

@shop.tool
async def login(url: str, ctx: AsyncContext, until: str = "") -> str:
    answer = await ctx.elicit_url("Please sign in to the shop.", url)
    while answer.action == "accept" and until and not pathlib.Path(until).exists():
        await asyncio.sleep(0.05)
    return f"RESULT {answer.action}"
"""


class Site:
    """A page on this machine that knows who came.

    Attributes:
        url: of the page.
        visits: the Referer of each visit (None without one).
        flag: a file that is there once somebody came.
    """

    def __init__(self, folder: Path) -> None:
        self.visits: list[str | None] = []
        self.flag = folder / "visited"
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.path.startswith("/login"):
                    site.visits.append(self.headers.get("Referer"))
                    site.flag.touch()
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(b"<h1>Signed in</h1>")

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/login?state=4711"


@pytest.fixture
def site(tmp_path: Path) -> Generator[Site]:
    found = Site(tmp_path)
    thread = threading.Thread(target=found.server.serve_forever, daemon=True)
    thread.start()
    yield found
    found.server.shutdown()
    found.server.server_close()
    thread.join(5)


def asked(browser: Browser, kernel: str, era: str, *arguments: str) -> Notebook:
    """A notebook whose second cell waits for the page."""
    call = f"r = %mcp call shop.login {' '.join(arguments)}\nprint(r.text)"
    notebook = open_notebook(browser, kernel, call, setup=f"{SERVER}\n%mcp connect shop --era {era} $shop")
    notebook.run(1)
    notebook.button("Open", 1).wait_for()
    return notebook


def visit(notebook: Notebook) -> None:
    """Click the link, which opens a tab of its own."""
    with notebook.page.context.expect_page() as opened:
        notebook.output(1).get_by_role("link").click()
    opened.value.get_by_text("Signed in").wait_for()
    opened.value.close()


def test_opened_by_a_click_and_sent_again(browser: Browser, kernel: str, site: Site) -> None:
    notebook = asked(browser, kernel, "modern", f"url={site.url}")
    output = notebook.output(1)
    assert output.get_by_role("link").count() == 0, "no link before the person agreed"
    assert site.url in output.inner_text()
    notebook.screenshots(f"page-asked-{kernel}", 1)
    notebook.button("Open", 1).click()
    notebook.button("Retry", 1).wait_for()
    assert output.get_by_role("link").count() == 1
    assert site.visits == [], "nothing was fetched, previewed or framed"
    notebook.screenshots(f"page-opened-{kernel}", 1)
    visit(notebook)
    assert site.visits == [None], "once, and the page is not told where the person came from"
    assert notebook.running(1)
    notebook.button("Retry", 1).click()
    notebook.wait_done(1)
    assert "RESULT accept" in notebook.text(1)
    notebook.button("Retry", 1).wait_for(state="detached")
    assert "Agreed to open it; the request was sent again" in output.inner_text()
    assert "state=4711" not in output.inner_text(), "what is saved holds no one-time code"
    notebook.screenshots(f"page-record-{kernel}", 1)


def test_a_server_that_holds_the_call_goes_on_by_itself(browser: Browser, kernel: str, site: Site) -> None:
    notebook = asked(browser, kernel, "legacy", f"url={site.url}", f"until={site.flag}")
    notebook.button("Open", 1).click()
    notebook.button("Cancel call", 1).wait_for()
    notebook.screenshots(f"page-waiting-{kernel}", 1)
    visit(notebook)
    notebook.wait_done(1)
    assert "RESULT accept" in notebook.text(1)
    notebook.button("Cancel call", 1).wait_for(state="hidden")
    assert "Agreed to open it" in notebook.text(1)


def test_the_link_is_there_though_the_server_did_not_wait(browser: Browser, site: Site) -> None:
    notebook = asked(browser, CURRENT, "legacy", f"url={site.url}")
    notebook.button("Open", 1).click()
    notebook.wait_done(1)
    assert "RESULT accept" in notebook.text(1)
    visit(notebook)
    assert "state=4711" not in notebook.text(1)
    notebook.screenshots("page-left", 1)
    notebook.button("Close", 1).click()
    notebook.button("Close", 1).wait_for(state="detached")
    assert notebook.output(1).get_by_role("link").count() == 0
    assert "Agreed to open it" in notebook.output(1).inner_text()


@pytest.mark.parametrize(("era", "button"), [("modern", "Cancel"), ("legacy", "Cancel call")])
def test_giving_up_at_the_page(browser: Browser, site: Site, era: str, button: str) -> None:
    notebook = asked(browser, CURRENT, era, f"url={site.url}", f"until={site.flag}")
    notebook.button("Open", 1).click()
    notebook.output(1).get_by_text("in a new tab").wait_for()  # the first step has a Cancel too
    notebook.button(button, 1).click()
    notebook.wait_done(1)
    assert ("RESULT cancel" if era == "modern" else "Cancelled: shop.login was cancelled") in notebook.text(1)
    notebook.output(1).get_by_text("Agreed to open it, then cancelled").wait_for()
    assert site.visits == []


def test_an_address_that_imitates_another_is_shown_both_ways_and_declined(browser: Browser) -> None:
    url = "https://user@xn--pple-43d.com:8443/sign-in"
    notebook = asked(browser, CURRENT, "modern", f"url={url}")
    shown = notebook.output(1).inner_text()
    for expected in ("xn--pple-43d.com:8443", "аpple.com", "mixes Cyrillic and Latin", "before the @", "port 8443"):
        assert expected in shown
    notebook.screenshots("page-warned", 1)
    notebook.button("Decline", 1).click()
    notebook.wait_done(1)
    assert "RESULT decline" in notebook.text(1)
