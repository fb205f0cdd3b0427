"""What the extension costs a page: its start, and nothing more before a notebook has loaded jupyter_mcp."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.e2e.lab import CURRENT, Notebook

if TYPE_CHECKING:
    from collections.abc import Generator

    from playwright.sync_api import Page

    from tests.e2e.lab import Browser

LOAD = "%load_ext jupyter_mcp"
TIMED = """
window.activated = {};
window._JUPYTERLAB = new Proxy({}, {set(all, name, container) {
    all[name] = name !== 'jupyter-mcp-host' ? container : {...container, get: async module => {
        const factory = await container.get(module);
        return () => {
            const made = factory();
            for (const plugin of made.default ?? []) {
                const activate = plugin.activate;
                plugin.activate = (...given) => {
                    const begun = performance.now();
                    try {
                        return activate(...given);
                    } finally {
                        window.activated[plugin.id] = performance.now() - begun;
                    }
                };
            }
            return made;
        };
    }};
    return true;
}});
"""
LOADED = """() => performance.getEntriesByType('resource')
    .map(one => new URL(one.name).pathname)
    .filter(path => path.includes('/jupyter-mcp-host/') && path.endsWith('.js') && !path.includes('remoteEntry'))"""


@pytest.fixture(scope="module")
def notebook(shared_browser: Browser) -> Generator[Notebook]:
    page = shared_browser.new_page()
    page.add_init_script(TIMED)
    yield shared_browser.open(shared_browser.server.write("start.ipynb", [LOAD], CURRENT), page)
    shared_browser.close_pages()


def loaded(page: Page) -> list[str]:
    return page.evaluate(LOADED)


def test_each_of_its_plugins_is_activated_once_and_returns_at_once(notebook: Notebook) -> None:
    """The bar is 50 ms for all of them; a number for people to look at, since tests share their machine."""
    took: dict[str, Any] = notebook.page.evaluate("window.activated")
    assert len(took) == 3
    print("activation in ms:", {name: round(value, 2) for name, value in took.items()})


def test_what_the_panel_and_all_beside_it_are_made_of_is_loaded_with_the_first_kernel_that_uses_it(
    notebook: Notebook,
) -> None:
    page = notebook.page
    before = loaded(page)
    assert len(before) <= 2, before
    assert page.locator("#jupyter-mcp-panel").count() == 0
    notebook.run(0)
    expect(page.get_by_role("tab", name="MCP", exact=True)).to_be_visible()
    assert set(loaded(page)) > set(before)
