"""MCP Apps in a real JupyterLab: three of the official example servers, and one that tries everything it should not."""

from __future__ import annotations

import importlib
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e import told
from tests.e2e.lab import CURRENT, ROOT, Browser, Notebook

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from playwright.sync_api import FrameLocator

PROGRAMS = ROOT / "build" / "npm" / "node_modules" / ".bin"
BASIC, SCENARIO, PDF, EVIL, CALLED, PAINT, BROOD = range(1, 8)


class Sink(ThreadingHTTPServer):
    """Hears whoever gets out."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Listen)
        self.heard: list[str] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()


class _Listen(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        assert isinstance(self.server, Sink)
        self.server.heard.append(self.path)
        self.send_response(200)
        self.end_headers()

    do_POST = do_GET

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on stderr."""


@pytest.fixture(scope="module")
def sink() -> Generator[Sink]:
    made = Sink()
    yield made
    made.shutdown()
    made.server_close()


@pytest.fixture(scope="module")
def notebook(shared_browser: Browser, sink: Sink, tmp_path_factory: pytest.TempPathFactory) -> Generator[Notebook]:
    """One notebook for all: a cell for each app."""
    document = _pdf(tmp_path_factory.mktemp("pdf") / "two-pages.pdf")
    setup = f"""import sys
sys.path.insert(0, {str(ROOT)!r})
import jupyter_mcp as mcp
from tests.e2e import hostile, told
%load_ext jupyter_mcp
mcp.connect("demo"); mcp.allow("pdf.*"); mcp.allow("scenario.*"); mcp.allow("evil.*")
mcp.connect("told", told.server()); mcp.allow("told.*"); mcp.model(told.model())"""
    lab = shared_browser.server.url
    cells = [
        setup,
        f"%mcp connect basic {PROGRAMS}/mcp-server-basic-vanillajs --stdio\n%mcp call basic.get-time",
        f"%mcp connect scenario {PROGRAMS}/mcp-scenario-modeler-server --stdio;\n%mcp call scenario.get-scenario-data",
        f"%mcp connect pdf {PROGRAMS}/mcp-pdf-server --stdio {document};\n%mcp call pdf.display_pdf url={document}",
        f'mcp.connect("evil", hostile.server({sink.server_port}, {lab!r}));\n%mcp call evil.show',
        "print(hostile.CALLED)",
        "%%mcp ask\nPaint something.",
        "%%mcp ask\nBrood on something.",
    ]
    name = shared_browser.server.write("apps.ipynb", cells, CURRENT)
    opened = shared_browser.open(name)
    opened.run(0)
    opened.wait_done(0)
    yield opened
    shared_browser.close_pages()


def _pdf(path: Path) -> Path:
    """A document of two pages."""
    pyplot: Any = importlib.import_module("matplotlib.pyplot")  # untyped
    backend: Any = importlib.import_module("matplotlib.backends.backend_pdf")
    with backend.PdfPages(path) as pages:
        for number in (1, 2):
            figure = pyplot.figure(figsize=(5, 4))
            figure.text(0.2, 0.5, f"Page {number} of a document", fontsize=20)
            pages.savefig(figure)
            pyplot.close(figure)
    return path


def needs(name: str) -> None:
    if not (PROGRAMS / name).exists():
        pytest.skip(f"{name} is not installed (make setup)")


def page_of(notebook: Notebook, index: int) -> FrameLocator:
    """The document of the app below a cell: inside the frame inside our frame."""
    return notebook.cell(index).frame_locator("iframe.jmcp-app-frame").frame_locator("iframe")


def pictures(notebook: Notebook, name: str, index: int) -> None:
    """Pictures of an app below a long result."""
    notebook.cell(index).locator("iframe.jmcp-app-frame").scroll_into_view_if_needed()
    notebook.screenshots(name)


def show(notebook: Notebook, index: int) -> FrameLocator:
    """Run the cell of an app; its document."""
    notebook.run(index)
    notebook.wait_done(index)
    return page_of(notebook, index)


def test_the_basic_example_shows_its_result_and_looks_like_the_notebook(notebook: Notebook) -> None:
    needs("mcp-server-basic-vanillajs")
    page = show(notebook, BASIC)
    page.get_by_text(re.compile(r"\d{4}-\d\d-\d\dT")).wait_for()
    frame = notebook.cell(BASIC).locator("iframe.jmcp-app-frame")
    assert frame.get_attribute("sandbox") == "allow-scripts" and frame.get_attribute("allow") == ""
    assert frame.get_attribute("referrerpolicy") == "no-referrer"
    notebook.theme(dark=True)
    page.locator("html[data-theme=dark]").wait_for()
    notebook.theme(dark=False)
    page.locator("html[data-theme=light]").wait_for()
    notebook.page.wait_for_function("e => e.clientHeight > 300", arg=frame.element_handle())
    notebook.screenshots("app-basic", BASIC)


def test_what_the_basic_example_calls_is_asked_about_in_its_cell(notebook: Notebook) -> None:
    needs("mcp-server-basic-vanillajs")
    page = page_of(notebook, BASIC)
    before = page.get_by_text(re.compile(r"\d{4}-\d\d-\d\dT")).inner_text()
    page.get_by_role("button", name="Get Server Time").click()
    approve = notebook.button("Allow once", BASIC)
    approve.wait_for()
    notebook.screenshots("app-approval", BASIC)
    approve.click()
    page.get_by_text(before).wait_for(state="detached")


def test_a_link_is_shown_in_full_and_opened_by_the_person(notebook: Notebook) -> None:
    needs("mcp-server-basic-vanillajs")
    page, cell = page_of(notebook, BASIC), notebook.cell(BASIC)
    page.get_by_role("button", name="Open Link").click()
    question = cell.get_by_role("group", name=re.compile("wants to open a page at modelcontextprotocol.io"))
    question.get_by_text("https://modelcontextprotocol.io/", exact=True).wait_for()
    notebook.screenshots("app-link", BASIC)
    question.get_by_role("button", name="No").click()
    question.wait_for(state="detached")
    page.get_by_role("button", name="Open Link").click()
    with notebook.page.context.expect_page() as opened:
        question.get_by_role("button", name="Open page").click()
    opened.value.close()


def test_an_app_fills_the_window_and_comes_back(notebook: Notebook) -> None:
    needs("mcp-server-basic-vanillajs")
    cell = notebook.cell(BASIC)
    cell.get_by_role("button", name="Fill the window").click()
    back = notebook.page.get_by_role("button", name="Back to the notebook")
    back.wait_for()
    size: Any = notebook.page.evaluate("(e => [e.clientWidth, e.clientHeight])(document.querySelector('dialog:modal'))")
    assert size == [1200, 1000]
    notebook.page.keyboard.press("Escape")
    cell.get_by_role("button", name="Fill the window").wait_for()
    page_of(notebook, BASIC).get_by_role("button", name="Get Server Time").wait_for()


def test_the_scenario_modeler_draws_what_it_got_from_its_server(notebook: Notebook) -> None:
    needs("mcp-scenario-modeler-server")
    page = show(notebook, SCENARIO)
    page.locator("canvas").first.wait_for()
    page.get_by_text(re.compile("Scenario", re.IGNORECASE)).first.wait_for()
    notebook.page.wait_for_timeout(1_000)  # its chart grows into place, for the picture only
    pictures(notebook, "app-scenario", SCENARIO)


def test_the_pdf_viewer_reads_its_document_through_tools_that_models_do_not_have(notebook: Notebook) -> None:
    needs("mcp-pdf-server")
    page = show(notebook, PDF)
    notebook.cell(PDF).locator(
        "iframe.jmcp-app-frame"
    ).scroll_into_view_if_needed()  # a frame out of sight draws nothing
    read = page.get_by_text("Page 1 of a document").first  # of the layer over the picture, which is transparent
    read.wait_for(state="attached", timeout=60_000)
    pictures(notebook, "app-pdf", PDF)
    cell = notebook.cell(PDF)
    cell.get_by_text("About this app").click()
    cell.get_by_text("It may reach https://unpkg.com").wait_for()
    cell.get_by_text("It asks to use the clipboard").wait_for()
    cell.get_by_role("button", name="Allow").click()
    cell.get_by_text("It may use the clipboard").wait_for()
    assert cell.locator("iframe.jmcp-app-frame").get_attribute("allow") == "clipboard-write"
    read.wait_for(state="attached", timeout=60_000)


def test_a_hostile_page_gets_nothing_from_the_notebook_and_sends_nothing_anywhere(
    notebook: Notebook, sink: Sink
) -> None:
    page = show(notebook, EVIL)
    page.get_by_text("all was tried").wait_for(timeout=60_000)
    said = dict(line.split(": ", 1) for line in page.locator("#log").inner_text().splitlines())
    pictures(notebook, "app-hostile", EVIL)
    assert sink.heard == []
    assert notebook.page.url.startswith("http") and "/lab/tree/apps.ipynb" in notebook.page.url
    got = {what: how for what, how in said.items() if "GOT" in how}
    assert got == {}
    expected = {
        "before initialize": "error -32600",
        "initialize": "ok",
        "what it was granted": '{"permissions":{},"csp":{}}',
        "a tool for models": "error -32000",
        "another server's tool": "error -32602",
        "another server's tool, bare": "error -32602",
        "sampling": "error -32601",
        "a script as a link": "error -32602",
        "a huge message": "error -32000",
        "in the flood": "error -32000",
        "the window by itself": 'RESULT {"mode":"inline"}',
    }
    assert {what: said.get(what) for what in expected} == expected
    assert said["its own tool"].startswith("RESULT") and said["after the flood"] == "RESULT {}"
    assert said["a file"].startswith("error")
    notebook.run(CALLED)
    notebook.wait_done(CALLED)
    assert notebook.text(CALLED).strip() == "['itself']", "no other window was listened to"


def test_what_was_refused_can_be_read(notebook: Notebook) -> None:
    cell = notebook.cell(EVIL)
    cell.get_by_text("About this app").click()
    cell.get_by_text("It reaches no other site").wait_for()
    cell.get_by_text("Not allowed: * (connectDomains)").wait_for()


def test_the_app_of_a_models_call_is_there_while_the_call_is_written_and_stays(notebook: Notebook) -> None:
    notebook.run(PAINT)
    page = page_of(notebook, PAINT)
    page.get_by_text(re.compile("^input-partial")).first.wait_for()
    notebook.wait_done(PAINT)
    page.get_by_text(f'result "painted {told.TEXT}"').wait_for()
    lines = page.locator("#told li").all_inner_texts()
    assert lines[0] in ('input-partial {"what":"a calm"}', 'input-partial {"what":"a calm sea"}')
    assert lines[-2:] == [f'input {{"what":"{told.TEXT}"}}', f'result "painted {told.TEXT}"']
    assert all(line.startswith("input-partial") for line in lines[:-2])
    notebook.cell(PAINT).get_by_text("It is painted.").wait_for()
    notebook.screenshots("app-asked", PAINT)


def test_an_app_is_told_that_its_call_was_cancelled(notebook: Notebook) -> None:
    notebook.run(BROOD)
    page = page_of(notebook, BROOD)
    page.get_by_text(f'input {{"what":"{told.TEXT}"}}').wait_for()
    notebook.button("Stop", BROOD).click()
    notebook.wait_done(BROOD)
    page.get_by_text('cancelled "Not done: the person interrupted."').wait_for()
    assert page.locator("#told li").last.inner_text().startswith("cancelled")


def test_an_app_that_is_closed_leaves_a_line_and_one_that_is_saved_too(
    notebook: Notebook, shared_browser: Browser
) -> None:
    cell = notebook.cell(EVIL)
    cell.get_by_role("button", name="Close app").click()
    cell.locator("iframe").wait_for(state="detached")
    cell.get_by_text("runs in a live notebook only").wait_for()
    notebook.save()
    saved = shared_browser.server.read("apps.ipynb")
    text = str(saved.cells[EVIL].outputs)
    assert "The app of evil.show (ui://evil/page.html) runs in a live notebook only." in text
    assert "A hostile app" not in str(saved), "the page of a server is in no file"
    assert "widget-view" not in text
