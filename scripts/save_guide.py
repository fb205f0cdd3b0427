"""Run the examples of README.md and docs/guide and save what they put out (make docs), after a change that is meant to
change it. Only outputs that a page shows already are written anew; read the difference before committing it.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.docs.test_guide import BLOCK, PAGES, examples, run  # noqa: E402


def renewed(text: str) -> str:
    """The page with fresh outputs in the `text` blocks that follow its cells."""
    with tempfile.TemporaryDirectory() as folder:
        outputs = iter(run(examples(text), Path(folder)))
    pieces: list[str] = []
    position, output, previous = 0, "", ""
    for block in BLOCK.finditer(text):
        if block["mark"] == "python":
            output = next(outputs).rstrip()
        elif block["mark"] == "text" and previous == "python":
            pieces += [text[position : block.start("body")], f"{output}\n" if output else ""]
            position = block.end("body")
        previous = block["mark"]
    return "".join([*pieces, text[position:]])


def main() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        fresh = renewed(text)
        if fresh.count("Error: ") > text.count("Error: "):
            print(f"{page.relative_to(ROOT)}: left alone, because something that worked now fails")
            continue
        page.write_text(fresh, encoding="utf-8")
        print(f"{page.relative_to(ROOT)}: {'changed' if fresh != text else 'as it was'}")


if __name__ == "__main__":
    main()
