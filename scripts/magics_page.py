"""Write docs/magics.md from the table of verbs (make docs); a test fails when the page is not what this writes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from jupyter_mcp.notebook.verbs import table
from jupyter_mcp.notebook.verbs.base import FAMILIES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jupyter_mcp.notebook.verbs.base import Verb

PAGE = Path(__file__).resolve().parents[1] / "docs" / "magics.md"
HEAD = """# Magics

`%mcp VERB …` on a line of its own (one a line), or `%%mcp VERB …` as the first line of a cell whose rest is its body.
`%mcp` alone shows the servers. `%mcp help VERB` says in the notebook what this page says, which `make docs` writes from
the table of verbs.
"""


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def rows(head: str, pairs: Iterable[tuple[str, str]]) -> list[str]:
    """A table of two columns; nothing when it would be empty."""
    lines = [f"| `{cell(left)}` | {cell(right)} |" for left, right in pairs]
    return ["", f"| {head} | |", "|---|---|", *lines] if lines else []


def section(verb: Verb) -> list[str]:
    options = [
        (f"--{option.name} {option.metavar}" if option.metavar else f"--{option.name}", option.help)
        for option in verb.grammar.options
    ]
    lines = ["", f"### {verb.name}", "", verb.summary, "", "```ipython", verb.usage_line, "```"]
    lines += rows("word", verb.details)
    lines += rows("option", options)
    if verb.body:
        lines += ["", f"With a body (`%%mcp {verb.name}`): {verb.body}."]
    if verb.examples:
        lines += ["", "For example:", "", "```ipython", *verb.examples, "```"]
    if verb.python:
        lines += ["", "In Python: " + ", ".join(f"`{name}`" for name in verb.python) + "."]
    return lines


def page() -> str:
    lines = [HEAD.rstrip()]
    for family in FAMILIES:
        lines += ["", f"## {family.capitalize()}"]
        for verb in table().values():
            if verb.family == family:
                lines += section(verb)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.relative_to(PAGE.parents[1])}: {len(table())} verbs")
