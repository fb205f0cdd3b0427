"""help: made from the table of verbs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.verbs.base import FAMILIES, Invocation, Verb

if TYPE_CHECKING:
    from collections.abc import Sequence


class Help:
    """A page of help: renders, and prints as text."""

    def __init__(
        self,
        title: str,
        summary: str,
        usage: Sequence[str] = (),
        sections: Sequence[tuple[str, Sequence[tuple[str, str]]]] = (),
        examples: Sequence[str] = (),
    ) -> None:
        self.title = title
        self.summary = summary
        self.usage = list(usage)
        self.sections = [(name, list(rows)) for name, rows in sections if rows]
        self.examples = list(examples)

    def __mcp_view__(self) -> Any:
        from jupyter_mcp.notebook.render.views import HelpView

        return HelpView(self.title, self.summary, self.usage, self.sections, self.examples)

    def __repr__(self) -> str:
        rows = [f"    {term}  {text}" for _, section in self.sections for term, text in section]
        return "\n".join([f"{self.title}: {self.summary}", *(f"  {line}" for line in self.usage), *rows])


def show_help(call: Invocation) -> Help:
    words = call.words
    if not words:
        return all_verbs()
    from jupyter_mcp.notebook.verbs import find

    return page(find(words[0]))


def all_verbs() -> Help:
    """Every verb in one line, by family."""
    from jupyter_mcp.notebook.verbs import table

    sections = [
        (family, [(verb.usage, verb.summary) for verb in table().values() if verb.family == family])
        for family in FAMILIES
    ]
    return Help(
        "%mcp",
        "The Model Context Protocol in this notebook. `%mcp help VERB` or `%mcp VERB --help` says more.",
        ["%mcp VERB …", "%%mcp connect|call|ask|answer|policy|roots … (with a body)", "%mcp (alone: the servers)"],
        sections,
        ["%mcp connect demo", "%mcp tools", "%mcp call demo.add a=1 b=2"],
    )


def page(verb: Verb) -> Help:
    """The help of one verb."""
    usage = [verb.usage_line]
    if verb.body:
        usage.append(f"%%mcp {verb.name} …  with a body: {verb.body}")
    options = [
        (f"--{option.name} {option.metavar}" if option.metavar else f"--{option.name}", option.help)
        for option in verb.grammar.options
    ]
    python = [(name, "") for name in verb.python]
    return Help(
        f"%mcp {verb.name}",
        verb.summary,
        usage,
        [("words", list(verb.details)), ("options", options), ("in Python", python)],
        verb.examples,
    )


def start() -> Help:
    """What `%mcp` shows before anything is connected."""
    return Help(
        "%mcp",
        "No server is connected yet.",
        (),
        [
            (
                "to begin",
                [
                    ("%mcp connect demo", "the bundled demo server"),
                    ("%mcp connect NAME COMMAND …", "any server that is a command"),
                    ("%mcp connect --from FILE", "the servers of a configuration file"),
                    ("%mcp help", "everything else"),
                ],
            )
        ],
    )


VERBS = (
    Verb(
        "help",
        "what happened",
        "help [VERB]",
        "All verbs, or one in full.",
        show_help,
        most=1,
        examples=("%mcp help", "%mcp help call"),
        completes=("verb",),
    ),
)
