"""The oldest JupyterLab that we say works, and Notebook 7: a form in a running cell, live cards, what is left of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.lab import CURRENT, ROOT, Browser, LabServer, Notebook
from tests.e2e.test_forms import BOOK, RESULT, fill, open_notebook, submit

if TYPE_CHECKING:
    from collections.abc import Generator

pytestmark = pytest.mark.slow
SERVERS, FORM = 1, 2


@pytest.fixture(scope="module", params=["lab42", "notebook75"])
def front(
    request: pytest.FixtureRequest, shared_browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Generator[Browser]:
    """A browser at that front end."""
    if not (ROOT / "build" / "front" / request.param / "bin" / "python").exists():
        pytest.skip(f"build/front/{request.param} is missing: make front-ends")
    with LabServer(tmp_path_factory.mktemp(request.param), request.param) as server:
        browser = shared_browser.at(server)
        yield browser
        browser.close_pages()


def restart(notebook: Notebook) -> None:
    notebook.page.evaluate("window.jupyterapp.shell.currentWidget.context.sessionContext.restartKernel()")


def test_a_form_is_filled_while_its_cell_runs_and_cards_outlive_their_kernel(front: Browser) -> None:
    notebook = open_notebook(front, CURRENT, "%mcp servers", BOOK)
    notebook.run(SERVERS)
    notebook.wait_done(SERVERS)
    notebook.button("Disconnect", SERVERS).wait_for()
    notebook.run(FORM)
    notebook.button("Submit", FORM).wait_for()
    fill(notebook, FORM)
    submit(notebook, FORM)
    notebook.wait_done(FORM)
    assert RESULT in notebook.text(FORM)
    notebook.page.screenshot(path=ROOT / "build" / "screenshots" / f"front-{front.server.folder.name}.png")
    notebook.save()
    restart(notebook)
    notebook.output(SERVERS).get_by_text("Run the cell again to use it").wait_for()
    notebook.output(SERVERS).get_by_text("demo", exact=True).first.wait_for()
    front.server.copy_saved(notebook.name, "again.ipynb")
    front.close_pages()
    again = front.open("again.ipynb")
    again.output(SERVERS).get_by_text("demo", exact=True).first.wait_for()
    again.output(FORM).get_by_text("Ada Lovelace").first.wait_for()
    shown = again.output(SERVERS).inner_text()
    assert "Error displaying widget" not in shown
    assert "Loading widget" not in shown
