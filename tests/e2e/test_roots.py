"""The folders that servers are told about, in a real page: found by walking, shared, and saved as they are."""

from __future__ import annotations

from tests.e2e.lab import CURRENT, Browser
from tests.e2e.test_forms import open_notebook


def test_a_folder_is_found_by_walking_shared_and_told_to_the_server(browser: Browser) -> None:
    notebook = open_notebook(
        browser,
        CURRENT,
        "import os, tempfile\nos.chdir(tempfile.mkdtemp())\nos.makedirs('data/deep')",
        "%mcp roots",
        "import jupyter_mcp as mcp\n[root['name'] for root in mcp.host.roots]",
        "import sys; python = sys.executable\n%mcp connect boxed --sandbox $python -m jupyter_mcp.demo",
    )
    notebook.run(1)
    notebook.wait_done(1)
    notebook.run(2)
    cell = notebook.cell(2)
    notebook.button("Add a folder", 2).click()
    cell.get_by_label("folders").select_option("data")
    notebook.button("Open", 2).click()
    cell.get_by_label("folders").select_option("deep")
    notebook.screenshots("roots-picking", 2)
    notebook.button("Share", 2).click()
    cell.get_by_text("deep is shared.").wait_for()
    notebook.screenshots("roots", 2)
    notebook.run(3)
    notebook.wait_done(3)
    assert "'deep'" in notebook.text(3)
    assert "deep" in notebook.text(2), "what would be saved"
    notebook.run(4)
    notebook.wait_done(4)
    notebook.screenshots("sandboxed", 4)
    assert "sandboxed: writes only in its roots" in notebook.text(4) or "bubblewrap" in notebook.text(4)
