"""The guide says what is true: its examples are run in a real kernel, and what it shows is what came out.

In README.md and docs/guide/*.md a block marked `python` is a cell. The block marked `text` after it, if there is one,
is its whole output as text. The cells of one page run one after the other in one kernel. Other blocks are not run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.runtime.kernels import Run, live_kernel

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))]
BLOCK = re.compile(r"^```(?P<mark>\w+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
ANSI = re.compile(r"\x1b\[[0-9;]*m")
CELL_LIMIT = 60  # seconds


@dataclass
class Example:
    """A cell of the guide and what the page says comes out of it (None: the page does not say)."""

    line: int
    source: str
    output: str | None = field(default=None)


def examples(text: str) -> list[Example]:
    found: list[Example] = []
    previous = ""
    for block in BLOCK.finditer(text):
        line = text.count("\n", 0, block.start()) + 1
        if block["mark"] == "python":
            found.append(Example(line, block["body"].rstrip("\n")))
        elif block["mark"] == "text" and previous == "python":
            found[-1].output = block["body"].rstrip("\n")
        previous = block["mark"]
    return found


def text_of(run: Run) -> str:
    """Everything a cell put out, as text, in order."""
    pieces: list[str] = []
    for message in run.messages:
        content = message["content"]
        match message["header"]["msg_type"]:
            case "stream":
                pieces.append(content["text"].rstrip("\n"))
            case "display_data" | "execute_result":
                pieces.append(content["data"].get("text/plain", ""))
            case "error":
                pieces.append(ANSI.sub("", "\n".join(content["traceback"])))
            case _:
                pass
    return "\n".join(pieces)


def run(page: list[Example], folder: Path) -> list[str]:
    """What each cell put out, run headless in a kernel of this environment in an empty folder.

    Its runtime files and its person's own lie there too, so that no other notebook has the name of one that is served,
    and no rule outlives the page.
    """
    lines = ["import os"]
    for kind in ("RUNTIME", "DATA", "CONFIG"):
        place = folder if kind == "RUNTIME" else folder.with_name(f"{folder.name}-{kind.lower()}")
        lines.append(f"os.environ['JUPYTER_{kind}_DIR'] = {str(place)!r}")
    lines += [f"get_ipython().starting_dir = {str(folder)!r}", f"%cd -q {folder}"]
    with live_kernel(setup="\n".join(lines)) as kernel:
        return [text_of(kernel.finish(kernel.start(example.source), CELL_LIMIT)) for example in page]


def test_there_is_a_guide_with_examples() -> None:
    assert sum(len(examples(page.read_text(encoding="utf-8"))) for page in PAGES) > 20


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_the_page_shows_is_what_comes_out(page: Path, tmp_path: Path) -> None:
    shown = examples(page.read_text(encoding="utf-8"))
    came = run(shown, tmp_path)
    for example, output in zip(shown, came, strict=True):
        where = f"{page.name}, line {example.line}: {example.source}"
        if example.output is None:
            assert "Error" not in output, f"{where}\n{output}"
        else:
            assert output.rstrip() == example.output, where


def test_an_example_takes_the_text_block_right_after_it() -> None:
    page = "```python\n1 + 1\n```\nis\n```text\n2\n```\n```json\n{}\n```\n```text\nnot an output\n```\n"
    assert [(one.line, one.source, one.output) for one in examples(page)] == [(1, "1 + 1", "2")]


def test_a_page_that_shows_something_else_is_noticed(tmp_path: Path) -> None:
    assert run([Example(1, "print(1)\n2"), Example(2, "1/0")], tmp_path)[0] == "1\n2"
