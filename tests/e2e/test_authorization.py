"""A server that wants a login: the card in a running cell, a real page of an authorization server, and the way back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from jupyter_mcp.testing.authorization import Browser as Scripted
from jupyter_mcp.testing.authorization import InThread
from tests.e2e.axe import violations
from tests.e2e.lab import CURRENT, Browser, Notebook
from tests.e2e.test_forms import open_notebook

if TYPE_CHECKING:
    from collections.abc import Generator

LINK = re.compile("Open 127.0.0.1")
FOLD = "The browser did not come back, or I have a token"


@pytest.fixture
def there() -> Generator[InThread]:
    """An authorization server and a protected server."""
    with InThread() as found:
        yield found


def connecting(browser: Browser, there: InThread, *cells: str) -> Notebook:
    """A notebook whose second cell waits at the login."""
    more = "\n".join(cells)
    cell = f"%mcp connect docs {there.url}\n{more}"
    notebook = open_notebook(browser, CURRENT, cell, setup="%load_ext jupyter_mcp\nprint('ready')")
    notebook.run(1)
    notebook.output(1).get_by_role("link", name=LINK).wait_for()
    return notebook


def approve(notebook: Notebook, button: str = "Approve") -> str:
    """Click the link, and a button of the page that opens; the words of the page where that leads."""
    with notebook.page.context.expect_page() as opened:
        notebook.output(1).get_by_role("link", name=LINK).click()
    page = opened.value
    page.get_by_role("button", name=button).click()
    page.wait_for_url(re.compile("/callback"))
    said = page.locator("body").inner_text()
    page.close()
    return said


def unfold(notebook: Notebook) -> None:
    """Show the other ways; where there are signs of another machine they are shown from the beginning."""
    if not notebook.button("Use this token", 1).is_visible():
        notebook.button(FOLD, 1).click()


def test_a_person_follows_the_link_approves_and_the_cell_goes_on(browser: Browser, there: InThread) -> None:
    notebook = connecting(browser, there, "r = %mcp call docs.read_notes", "print(r.text)", "%mcp whoami docs")
    said = notebook.output(1).inner_text()
    assert there.url in said and urlsplit(there.issuer.issuer).netloc in said and "notes:read" in said
    assert notebook.running(1)
    notebook.screenshots("login-asked", 1)
    assert violations(notebook.page) == []
    assert "You can close this tab" in approve(notebook)
    notebook.wait_done(1)
    shown = notebook.output(1).inner_text()
    assert "The browser came back" in shown and "Buy milk" in notebook.text(1)
    assert f"docs: logged in at {there.issuer.issuer}" in shown
    assert not [secret for secret in there.issuer.book.issued if secret in str(notebook.outputs(1))]
    notebook.screenshots("login-done", 1)


def test_a_no_at_the_page_ends_the_cell_in_one_line(browser: Browser, there: InThread) -> None:
    notebook = connecting(browser, there)
    approve(notebook, "Decline")
    notebook.wait_done(1)
    assert "AuthorizationFailed" in notebook.text(1) and "denied" in notebook.text(1)


def test_who_is_on_another_machine_pastes_the_address_and_a_wrong_one_is_said(
    browser: Browser, there: InThread
) -> None:
    notebook = connecting(browser, there)
    link = notebook.output(1).get_by_role("link", name=LINK).get_attribute("href")
    assert link is not None
    unfold(notebook)
    field = notebook.output(1).get_by_label("The address the browser came to")
    field.fill("http://127.0.0.1:1/callback?code=x&state=y")
    notebook.button("Use this address", 1).click()
    expect(notebook.output(1)).to_contain_text("not the address")
    field = notebook.output(1).get_by_label("The address the browser came to")
    notebook.screenshots("login-pasted-wrong", 1)
    field.fill(Scripted(follow=False).open(link))
    notebook.button("Use this address", 1).click()
    notebook.wait_done(1)
    assert notebook.text(1).count("docs") and "AuthorizationFailed" not in notebook.text(1)


def test_a_token_of_ones_own_goes_in_the_card_and_stays_in_memory(browser: Browser, there: InThread) -> None:
    me = there.issuer.book.clients.add("me", secret="my-own-secret-4711")
    form = {"grant_type": "client_credentials", "scope": "notes:read", "resource": there.url}
    token = there.issuer.book.token(form, me)["access_token"]
    notebook = connecting(browser, there, "%mcp whoami docs")
    unfold(notebook)
    notebook.output(1).get_by_label("A token").fill(token)
    notebook.button("Use this token", 1).click()
    notebook.wait_done(1)
    assert "let in by a token that you gave" in notebook.output(1).inner_text()
    assert token not in str(notebook.outputs(1))


def test_an_interrupted_cell_leaves_no_listener_and_asks_again(browser: Browser, there: InThread) -> None:
    notebook = connecting(browser, there)
    notebook.interrupt()
    notebook.wait_done(1)
    assert "Interrupted" in notebook.text(1)
    notebook.run(1)
    notebook.output(1).get_by_role("link", name=LINK).wait_for()
    approve(notebook)
    notebook.wait_done(1)
    assert "AuthorizationFailed" not in notebook.text(1)


FAR = """%load_ext jupyter_mcp
import os, time
from jupyter_mcp.notebook.panel import pages
os.environ["SSH_CONNECTION"] = "192.0.2.1 2 192.0.2.2 22"
end = time.monotonic() + 30
while pages.login_page() is None and time.monotonic() < end:
    time.sleep(0.05)
print("ready", pages.login_page())
"""


def test_from_another_machine_the_browser_comes_back_to_the_jupyter_server(browser: Browser, there: InThread) -> None:
    cell = f"%mcp connect docs {there.url}\n%mcp whoami docs"
    notebook = open_notebook(browser, CURRENT, cell, setup=FAR)
    assert "JupyterPage" in notebook.text(0), "the page tells the kernel while its cell computes"
    notebook.run(1)
    notebook.output(1).get_by_role("link", name=LINK).wait_for()
    with notebook.page.context.expect_page() as opened:
        notebook.output(1).get_by_role("link", name=LINK).click()
    page = opened.value
    page.get_by_role("button", name="Approve").click()
    page.wait_for_url(re.compile("/jupyter-mcp/oauth/callback"))
    assert "go back to the notebook" in page.locator("body").inner_text()
    assert page.url.startswith(browser.server.url)
    page.close()
    notebook.wait_done(1)
    assert f"docs: logged in at {there.issuer.issuer}" in notebook.output(1).inner_text()
