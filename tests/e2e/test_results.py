"""Results and running calls in a real page: sorted, unfolded, read, played, cancelled, several at once, never run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.e2e.lab import CURRENT, Browser

if TYPE_CHECKING:
    from collections.abc import Generator

    from playwright.sync_api import Locator

    from tests.e2e.lab import Notebook

SETUP = '''
%load_ext jupyter_mcp
import asyncio, base64, json, math, struct, sys, threading, time, zlib
import jupyter_mcp as mcp
from jupyter_mcp.server import AsyncContext, Server, ToolResult

lab = Server("lab")
hurry = threading.Event()
EVIL = "<img src=x onerror=window.evil=1><script>window.evil=1</script>"

def png(width, height):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    line = lambda y: b"\\0" + bytes(v for x in range(width) for v in (x * 255 // width, y * 255 // height, 140))
    rows = b"".join(line(y) for y in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")

def wav(seconds):
    samples = b"".join(struct.pack("<h", int(9000 * math.sin(n * 0.06))) for n in range(int(8000 * seconds)))
    head = struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + len(samples), b"WAVE", b"fmt ", 16, 1, 1, 8000, 16000, 2, 16,
                       b"data", len(samples))
    return head + samples

def b64(data):
    return base64.b64encode(data).decode()

@lab.tool
def cities(count: int = 300) -> dict:
    """Cities with their people."""
    rows = [{"city": f"City {n:03d}", "people": (n * 7919) % 1000 * 1000, "sea": n % 3 == 0} for n in range(count)]
    return {"rows": rows, "source": "made up"}

@lab.tool
def station() -> dict:
    """A nested object."""
    return {"station": {"name": "North", "sensors": [{"id": f"s{n}", "values": list(range(n))} for n in range(30)],
                        "place": {"lat": 48.1, "lon": 11.6, "note": "behind the barn"}}}

@lab.tool
def everything() -> ToolResult:
    """One of each kind of content."""
    drawing = ("<svg xmlns='http://www.w3.org/2000/svg' width='120' height='60' onload='window.evil=1'>"
               "<script>window.evil=1</script><rect width='120' height='60' fill='#2a7'/></svg>")
    table = "| city | days |\\n|---|---|\\n| Paris | 3 |\\n| Rome | 4 |\\n"
    text = f"# Report\\n\\n- **Paris** is warm\\n- {EVIL}\\n\\n{table}"
    return ToolResult([
        {"type": "text", "text": text, "annotations": {"audience": ["user"], "priority": 0.9}},
        {"type": "image", "data": b64(png(160, 90)), "mimeType": "image/png"},
        {"type": "image", "data": b64(drawing.encode()), "mimeType": "image/svg+xml"},
        {"type": "audio", "data": b64(wav(0.5)), "mimeType": "audio/wav"},
        {"type": "resource_link", "uri": "notes://today", "name": "today", "title": "Notes of today"},
        {"type": "resource", "resource": {"uri": "file:///x.html", "mimeType": "text/html", "text": EVIL}},
    ])

@lab.resource("notes://today")
def today() -> str:
    return "Water the plants."

@lab.tool
def refuse(why: str = "the table is locked") -> str:
    """Fails."""
    raise ValueError(why)

@lab.tool
async def slow(ctx: AsyncContext, steps: int = 800, name: str = "a") -> str:
    """Takes its time and says how far it is."""
    for step in range(steps):
        await ctx.progress(step, steps, f"step {step} of {name}")
        await asyncio.sleep(0 if hurry.is_set() else 0.1)
    return f"{name} is through"

@lab.tool
def nothing() -> None:
    """Returns nothing."""
'''
FLOOD = '''
import pathlib
pathlib.Path("flood.py").write_text("""
import asyncio
from jupyter_mcp.server import AsyncContext, Server
server = Server("flood")

@server.tool
async def flood(ctx: AsyncContext, seconds: float = 4.0, rate: int = 200) -> str:
    loop = asyncio.get_running_loop()
    began, sent = loop.time(), 0
    while sent < seconds * rate:
        sent += 1
        await ctx.progress(sent, seconds * rate, f"row {sent}")
        await asyncio.sleep(max(0, began + sent / rate - loop.time()))
    return f"{sent} updates"

server.run_stdio()
""")
%mcp connect flood {sys.executable} flood.py
mcp.servers["flood"].tools.flood.form()
'''
MEASURE = """
before, began = time.process_time(), time.monotonic()
time.sleep(5)
print(f"share {(time.process_time() - before) / (time.monotonic() - began):.4f}")
"""
BUSY = "while True:\n    sum(range(1000))"
CELLS = [
    SETUP,
    "%mcp connect lab $lab",
    "%mcp call lab.cities",
    "%mcp call lab.station",
    "mcp.servers['lab'].tools.everything.form()",
    "mcp.servers['lab'].tools.slow.form()",
    "mcp.servers['lab'].tools.refuse.form()",
    BUSY,
    FLOOD,
    MEASURE,
    "hurry.set()",
]
CONNECT, TABLE, TREE, KINDS, SLOW, REFUSE, LOOP, FLOODED, MEASURED, HURRY = range(1, 11)


@pytest.fixture(scope="module")
def notebook(shared_browser: Browser) -> Generator[Notebook]:
    """One notebook and one kernel for all of it."""
    opened = shared_browser.open(shared_browser.server.write("results.ipynb", CELLS, CURRENT))
    for index in (0, CONNECT):
        opened.run(index)
        opened.wait_done(index)
    yield opened
    shared_browser.close_pages()


def run(notebook: Notebook, index: int) -> Locator:
    notebook.run(index)
    notebook.wait_done(index)
    cell = notebook.cell(index)
    cell.scroll_into_view_if_needed()
    return cell


def evil(notebook: Notebook) -> Any:
    return notebook.page.evaluate("window.evil")


def test_rows_are_a_table_that_is_sorted_by_its_headings(notebook: Notebook) -> None:
    cell = run(notebook, TABLE)
    grid = cell.get_by_role("grid")
    expect(grid).to_have_attribute("aria-rowcount", re.compile("30[01]"))
    cell.get_by_role("button", name="people").click()
    cell.get_by_role("button", name="people").click()
    first = grid.get_by_role("row").nth(1)
    expect(first).to_contain_text("996000")
    first.click()
    expect(cell).to_contain_text(re.compile("row \\d+"))
    expect(cell).to_contain_text("source")
    expect(cell).to_contain_text(re.compile(r"300 rows, 3 columns; \.df\(\) makes a data frame"))
    notebook.screenshots("results-table", TABLE)
    saved = str(notebook.outputs(TABLE))
    assert "City 000" in saved, "what is saved can be read without a kernel"
    assert "City 250" not in saved, "and is a bounded part of it"


def test_json_is_a_tree_that_is_unfolded_searched_and_copied(notebook: Notebook) -> None:
    notebook.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    cell = run(notebook, TREE)
    cell.get_by_role("button", name="All of it as a tree").click()
    tree = cell.get_by_role("treegrid")
    tree.get_by_role("row", name=re.compile("station")).last.click()
    tree.focus()
    notebook.page.keyboard.press("ArrowRight")
    expect(tree).to_contain_text("sensors")
    tree.get_by_role("row", name=re.compile("sensors")).last.click()
    cell.get_by_role("button", name="Copy path").click()
    expect(cell).to_contain_text("Copied.")
    assert notebook.page.evaluate("navigator.clipboard.readText()") == "$.station.sensors"
    notebook.screenshots("results-tree", TREE)
    cell.get_by_label("Search names and values").fill("barn")
    expect(cell).to_contain_text("$.station.place.note")
    cell.get_by_label("Search names and values").fill("")
    expect(tree).to_contain_text("sensors")


def test_each_kind_of_content_is_shown_as_what_it_is_and_nothing_runs(notebook: Notebook) -> None:
    cell = run(notebook, KINDS)
    cell.get_by_role("button", name="Call", exact=True).click()
    expect(cell.get_by_role("heading", name="Report")).to_be_visible()
    expect(cell).to_contain_text("lab says: for the person, priority 0.9")
    pictures = cell.locator("img.jmcp-media-image")
    expect(pictures).to_have_count(2)
    for at, (width, scheme) in enumerate(((160, "blob:"), (120, "data:image/svg+xml"))):
        pictures.nth(at).scroll_into_view_if_needed()
        notebook.page.wait_for_function("image => image.naturalWidth > 0", arg=pictures.nth(at).element_handle())
        assert pictures.nth(at).evaluate("image => image.naturalWidth") == width
        assert str(pictures.nth(at).get_attribute("src")).startswith(scheme)
    player = cell.locator("audio")
    notebook.page.wait_for_function("audio => audio.duration > 0.4", arg=player.element_handle())
    with notebook.page.expect_download() as saved:
        cell.get_by_role("button", name="Save image0.png").click()
    assert saved.value.suggested_filename == "image0.png"
    cell.get_by_role("button", name="Resource file:///x.html").click()
    expect(cell.get_by_text("<img src=x onerror").first).to_be_visible()
    cell.get_by_role("button", name="Read", exact=True).click()
    expect(cell).to_contain_text("Water the plants.")
    expect(cell).to_contain_text(re.compile(r"\d ms · request \d+|\d s · request \d+"))
    assert evil(notebook) is None
    cell.get_by_role("heading", name="Report").scroll_into_view_if_needed()
    notebook.screenshots("results-kinds", KINDS)
    player.scroll_into_view_if_needed()
    notebook.screenshots("results-kinds-below")


def test_several_calls_run_at_once_with_their_progress_and_one_is_cancelled(notebook: Notebook) -> None:
    cell = run(notebook, SLOW)
    cell.get_by_role("button", name="Call", exact=True).click()
    cell.get_by_role("button", name="Call again").click()
    bars = cell.get_by_role("progressbar")
    expect(bars).to_have_count(2)
    expect(cell).to_contain_text(re.compile(r"\d of 800, step \d+ of a"))
    value = bars.first.get_attribute("aria-valuenow")
    assert value is not None
    expect(bars.first).not_to_have_attribute("aria-valuenow", value)
    notebook.screenshots("results-running", SLOW)
    cell.get_by_role("button", name="Cancel call").first.click()
    expect(cell).to_contain_text("call 2 lab.slow was cancelled")
    notebook.run(HURRY)
    expect(cell).to_contain_text("a is through")
    expect(bars).to_have_count(0)
    notebook.screenshots("results-history", SLOW)


def test_a_failure_keeps_its_words_and_the_form_is_used_again(notebook: Notebook) -> None:
    cell = run(notebook, REFUSE)
    cell.get_by_role("button", name="Call", exact=True).click()
    expect(cell).to_contain_text("Error from lab.refuse")
    expect(cell).to_contain_text("the table is locked")
    cell.get_by_role("button", name="Log and stderr").click()
    expect(cell.get_by_text("Nothing logged.")).to_be_visible()
    notebook.screenshots("results-error", REFUSE)


def test_a_form_works_while_a_cell_computes_on_the_main_thread(notebook: Notebook) -> None:
    cell = run(notebook, KINDS)
    notebook.run(LOOP)
    cell.scroll_into_view_if_needed()
    cell.get_by_role("button", name="Call", exact=True).click()
    expect(cell.get_by_role("heading", name="Report")).to_be_visible()
    notebook.interrupt()
    notebook.wait_done(LOOP)
    assert "KeyboardInterrupt" in notebook.text(LOOP), "the result was there before the cell ended"


def test_two_hundred_updates_a_second_cost_little_and_do_not_queue_up(notebook: Notebook) -> None:
    cell = run(notebook, FLOODED)
    cell.get_by_role("button", name="Call", exact=True).click()
    expect(cell.get_by_role("progressbar")).to_be_visible()
    notebook.run(MEASURED)
    expect(cell).to_contain_text("800 updates")
    notebook.wait_done(MEASURED)
    print("progress at 200 updates a second:", notebook.text(MEASURED))
    assert not notebook.page.locator(f"text={'row 1,'}").count()
