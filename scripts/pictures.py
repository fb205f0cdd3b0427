"""Take the pictures of README and guide anew, in a real JupyterLab: docs/images.

    python scripts/pictures.py [NAME …]      all, or those named ("forms", "explorer")

Each function below opens a notebook, does what a person would, and takes pictures of one cell. They need what the
browser tests need (`make setup`).
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
sys.path.insert(0, str(ROOT))

from tests.e2e import explored, formed, test_approvals, test_forms, test_results, test_trace  # noqa: E402
from tests.e2e.lab import CHROMIUM_ARGUMENTS, CURRENT, Browser, LabServer, Notebook, chromium  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Locator

SETTLE = 600  # milliseconds after which nothing moves any more
CARD = ".jmcp"


def opened(browser: Browser, *cells: str, run: int | None = None) -> Notebook:
    """A notebook of these cells of which the first (by default all) have been run."""
    notebook = browser.open(browser.server.write("pictures.ipynb", list(cells), CURRENT))
    for index in range(len(cells) if run is None else run):
        notebook.run(index)
        notebook.wait_done(index)
    notebook.theme(dark=False)
    return notebook


def take(notebook: Notebook, what: Locator, name: str, *, dark: bool = False) -> None:
    """A picture of a part of the page, with nothing pointed at."""
    notebook.theme(dark)
    notebook.page.mouse.move(2, 2)
    notebook.page.evaluate("document.activeElement && document.activeElement.blur()")
    notebook.page.wait_for_timeout(SETTLE)
    what.screenshot(path=IMAGES / f"{name}.png")
    print(f"docs/images/{name}.png")


def card(notebook: Notebook, index: int) -> Locator:
    return notebook.output(index).locator(CARD).first


def press(cell: Locator, name: str) -> None:
    cell.get_by_role("button", name=name, exact=True).first.click()


def form(browser: Browser) -> None:
    """The form that a server's question becomes, in the cell that waits."""
    notebook = opened(browser, test_forms.SETUP, "%mcp call demo.book city=Barcelona", run=1)
    notebook.run(1)
    notebook.button("Submit", 1).wait_for()
    test_forms.fill(notebook, 1)
    notebook.until_enabled(notebook.button("Submit", 1))
    take(notebook, notebook.cell(1), "form")
    notebook.button("Cancel", 1).click()
    notebook.wait_done(1)


def approval(browser: Browser) -> None:
    """What a model wants to do, put to the person."""
    notebook = opened(browser, test_approvals.SETUP, test_approvals.ONE, run=1)
    notebook.run(1)
    notebook.button("Allow once", 1).wait_for()
    take(notebook, notebook.cell(1), "approval")
    notebook.button("Allow once", 1).click()
    notebook.wait_done(1)


def explorer(browser: Browser) -> None:
    """The explorer's tabs."""
    notebook = opened(browser, explored.SETUP, "%mcp connect demo;\n%mcp connect lab $lab;", "%mcp")
    cell, page = notebook.cell(2), notebook.page

    def choose(tab: str, row: str) -> None:
        cell.get_by_role("tab", name=tab).click()
        cell.get_by_role("row").filter(has_text=row).first.locator(".jmcp-rows-words").click()
        cell.get_by_role("heading", name=row).wait_for()
        page.wait_for_timeout(SETTLE)

    choose("Tools", "Weather forecast")
    cell.get_by_label("city").first.fill("Paris")
    page.keyboard.press("Tab")
    notebook.until_enabled(cell.get_by_role("button", name="Call", exact=True))
    press(cell, "Call")
    cell.get_by_text("fits its output schema").wait_for()
    take(notebook, card(notebook, 2), "explorer")
    choose("Resources", "readings.csv")
    press(cell, "Read")
    cell.get_by_role("columnheader", name="degrees").wait_for()
    take(notebook, card(notebook, 2), "explorer-resources")
    take(notebook, card(notebook, 2), "explorer-dark", dark=True)
    choose("Prompts", "Plan a trip")
    cell.get_by_label("country").fill("Japan")
    cell.get_by_label("city").fill("Kyoto")
    page.wait_for_timeout(SETTLE)
    press(cell, "See its messages")
    cell.get_by_text("Plan 3 days in Kyoto").wait_for()
    take(notebook, card(notebook, 2), "explorer-prompts")


def forms(browser: Browser) -> None:
    """A form of a deep schema, and the same as JSON."""
    call = "import jupyter_mcp as mcp\nmcp.servers['studio'].tools.draw.form()"
    notebook = opened(browser, formed.SETUP, "%mcp connect studio $studio", call)
    cell = notebook.cell(2)
    cell.get_by_label("name", exact=True).fill("North")
    for place, value in enumerate(("3", "4.5")):
        press(cell, "Add to values")
        cell.get_by_label("Entry of values", exact=True).nth(place).fill(value)
    cell.get_by_label("look", exact=True).select_option(label="line")
    notebook.page.keyboard.press("Tab")
    take(notebook, card(notebook, 2), "forms")
    press(cell, "Edit as JSON")
    cell.get_by_label("Arguments as JSON").wait_for()
    take(notebook, card(notebook, 2), "forms-json")


def results(browser: Browser) -> None:
    """A table that is sorted, kinds of content, calls that run."""
    cells = [test_results.CELLS[0], "%mcp connect lab $lab;", *test_results.CELLS[2:6]]
    notebook = opened(browser, *cells)
    table = notebook.cell(test_results.TABLE)
    table.get_by_role("button", name="people").click()
    take(notebook, card(notebook, test_results.TABLE), "results-table")
    kinds = notebook.cell(test_results.KINDS)
    notebook.until_enabled(kinds.get_by_role("button", name="Call", exact=True))
    press(kinds, "Call")
    kinds.get_by_text("is done").first.wait_for()
    take(notebook, card(notebook, test_results.KINDS), "results-kinds")
    slow = notebook.cell(test_results.SLOW)
    press(slow, "Call")
    press(slow, "Call again")
    slow.get_by_text(re.compile(r"step [1-9]\d+ of")).first.wait_for()
    take(notebook, card(notebook, test_results.SLOW), "results-running")


def trace(browser: Browser) -> None:
    """The live trace with one request opened."""
    notebook = opened(browser, test_forms.SETUP, test_trace.MAKE, "%mcp trace")
    cell = notebook.cell(2)
    cell.get_by_role("row").filter(has_text="weather").first.click()
    cell.get_by_role("button", name="Send again").wait_for()
    take(notebook, card(notebook, 2), "trace")


def login(browser: Browser) -> None:
    """The card of a server that wants a login."""
    from jupyter_mcp.testing.authorization import InThread

    with InThread() as there:
        notebook = opened(browser, "%load_ext jupyter_mcp", f"%mcp connect docs {there.url}", run=1)
        notebook.run(1)
        asks = notebook.output(1).locator(".jmcp-asks")
        asks.get_by_role("link").wait_for()
        fold = asks.get_by_role("button", name=re.compile("did not come back"))
        if asks.get_by_role("button", name="Use this token").is_visible():
            fold.click()
        take(notebook, asks, "login")
        notebook.interrupt()


def panel(browser: Browser) -> None:
    """The side panel: a server, its catalogue, the notebook served; then a question that waits."""
    cells = ["%load_ext jupyter_mcp\n%mcp connect demo", "sales, region = [3, 1, 2], 'north'"]
    notebook = opened(browser, *cells, "%mcp call demo.book city=Barcelona", run=2)
    page = notebook.page
    page.get_by_role("tab", name="MCP", exact=True).click()
    side = page.get_by_role("region", name="MCP", exact=True)
    side.get_by_role("searchbox", name="Search what servers offer").fill("weather")
    side.get_by_text("1 of 16").wait_for()
    side.get_by_role("switch").check()
    side.get_by_text("sales, region").wait_for()
    page.set_viewport_size({"width": 1100, "height": 860})
    take(notebook, side, "panel")
    notebook.run(2)
    side.get_by_role("button", name="Show its cell").wait_for()
    test_forms.fill(notebook, 2)
    take(notebook, page.locator("#main"), "panel-question")
    notebook.interrupt()
    notebook.wait_done(2)


PICTURES: dict[str, Callable[[Browser], None]] = {
    one.__name__: one for one in (form, approval, explorer, forms, results, trace, login, panel)
}


def main() -> int:
    from playwright.sync_api import sync_playwright

    wanted = sys.argv[1:] or list(PICTURES)
    unknown = [name for name in wanted if name not in PICTURES]
    if unknown:
        print(f"no such pictures: {', '.join(unknown)}; there are: {', '.join(PICTURES)}")
        return 2
    with tempfile.TemporaryDirectory() as folder, LabServer(Path(folder) / "lab") as server, sync_playwright() as run:
        path, profile = chromium(Path(folder))
        context = run.chromium.launch_persistent_context(
            profile,
            executable_path=path,
            headless=True,
            args=CHROMIUM_ARGUMENTS,
            viewport={"width": 1200, "height": 2000},
        )
        context.set_default_timeout(20_000)
        browser = Browser(server, context)
        for name in wanted:
            PICTURES[name](browser)
            browser.close_pages()
        context.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
