"""Run the quickstart notebook in a real kernel and print it here, cell by cell, as text; then open it in JupyterLab.

The notebook that runs and opens is a copy in build/demo, so that playing with it leaves the checkout as it was.
JupyterLab opens only when stdout is a terminal. Ends with 1 when a cell fails that is not meant to.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

if TYPE_CHECKING:
    from collections.abc import Callable

notebooks: Any = nbformat  # has no types
ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "notebooks" / "quickstart.ipynb"
COPY = ROOT / "build" / "demo" / SOURCE.name
CELL_LIMIT = 120  # seconds
WIDTH = 100
PICTURE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def paint(code: str) -> Callable[[str], str]:
    """Wrap text in a terminal style where stdout is a terminal that wants it."""
    plain = not sys.stdout.isatty() or "NO_COLOR" in os.environ
    return (lambda text: text) if plain else (lambda text: f"\x1b[{code}m{text}\x1b[0m")


bold, dim, red = paint("1"), paint("2"), paint("31")


def say(text: str = "") -> None:
    print(text, flush=True)


def say_markdown(source: str) -> None:
    """Prose as paragraphs of the terminal's width, headings in bold, pictures by what they show."""
    for paragraph in PICTURE.sub(r"[picture: \1]", source).split("\n\n"):
        first, *rest = paragraph.splitlines() or [""]
        if first.startswith("#"):
            say("\n" + bold(first.lstrip("# ")) + "\n")
        elif first.startswith("- "):
            say("\n".join([first, *rest]) + "\n")
        else:
            say(textwrap.fill(" ".join([first, *rest]), WIDTH, break_long_words=False, break_on_hyphens=False) + "\n")


def output_text(output: Any) -> str:
    """The text form of one output of a cell; what has none is named by its type."""
    if output.output_type == "stream":
        return ANSI.sub("", output.text)
    if output.output_type == "error":
        return ANSI.sub("", "\n".join(output.traceback) or f"{output.ename}: {output.evalue}")
    data = output.data
    if "text/plain" in data:
        return data["text/plain"]
    return f"<{next(iter(data), 'nothing')}>"


def say_outputs(cell: Any) -> None:
    for output in cell.outputs:
        text = output_text(output).rstrip("\n")
        style = red if output.output_type == "error" else str
        say("\n".join(style(f"    {line}") for line in text.splitlines()))
    say()


class Printer:
    """Prints the cells in order: prose, then code when it starts, then its outputs when it has ended."""

    def __init__(self, notebook: Any) -> None:
        self.cells = notebook.cells
        self.next = 0

    def prose_up_to(self, index: int) -> None:
        for cell in self.cells[self.next : index]:
            if cell.cell_type == "markdown":
                say_markdown(cell.source)
        self.next = index + 1

    def start(self, cell: Any, cell_index: int) -> None:
        self.prose_up_to(cell_index)
        say("\n".join(f"{dim('>>>' if n == 0 else '...')} {line}" for n, line in enumerate(cell.source.splitlines())))

    def done(self, cell: Any, cell_index: int, execute_reply: Any) -> None:
        del cell_index, execute_reply
        say_outputs(cell)


async def execute(notebook: Any) -> None:
    """Run every cell in a kernel of this environment. Raises `CellExecutionError` at the first that fails."""
    printer = Printer(notebook)

    async def start(cell: Any, cell_index: int) -> None:
        if cell.cell_type == "code":
            printer.start(cell, cell_index)

    async def done(cell: Any, cell_index: int, execute_reply: Any) -> None:
        printer.done(cell, cell_index, execute_reply)

    client = NotebookClient(
        notebook,
        timeout=CELL_LIMIT,
        kernel_name="python3",
        extra_arguments=["--IPKernelApp.log_level=ERROR"],  # ipykernel 7.4 warns of every kernel on loopback TCP
        resources={"metadata": {"path": str(COPY.parent)}},
        on_cell_execute=start,
        on_cell_executed=done,
    )
    await client.async_execute()
    printer.prose_up_to(len(printer.cells))


def run() -> int:
    notebook = notebooks.read(SOURCE, as_version=4)
    say(dim(f"notebooks/{SOURCE.name}, run now in a Jupyter kernel"))
    try:
        asyncio.run(execute(notebook))
    except CellExecutionError as failed:
        say(red(ANSI.sub("", str(failed))))
        return 1
    notebooks.write(notebook, COPY)
    count = sum(cell.cell_type == "code" for cell in notebook.cells)
    say(f"{count} cells ran. The notebook with these outputs: {COPY.relative_to(ROOT)}")
    return 0


def open_in_lab() -> None:
    """Replace this process by JupyterLab on the copy; Ctrl-C ends it as usual."""
    say(bold("\nOpening it in JupyterLab (Ctrl-C ends it)"))
    lab = Path(sys.executable).with_name("jupyter-lab")
    root = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    os.execv(lab, [str(lab), str(COPY), *root])


def main() -> int:
    COPY.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(SOURCE, COPY)
    code = run()
    if code == 0 and sys.stdout.isatty():
        open_in_lab()
    return code


if __name__ == "__main__":
    sys.exit(main())
