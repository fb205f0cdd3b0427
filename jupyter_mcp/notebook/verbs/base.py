"""What a verb is, and the line it is called with.

A verb is a row of a table: name, usage, one sentence, options, examples, and a function from an `Invocation` to the
object the magic returns. Parsing is `lineparse`'s, showing is `magics`'; the verbs only do their work, by the same
functions as the Python names. `%mcp help`, completion and the documentation are made from the table.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.arguments import Pair, Typed
from jupyter_mcp.notebook.lineparse import Grammar, Line, Word

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from jupyter_mcp.notebook.namespace import Namespace
    from jupyter_mcp.notebook.use import Use

FAMILIES = ("connections", "lists", "acts", "decisions", "this notebook", "what happened")


@dataclass(frozen=True)
class Verb:
    """
    Attributes:
        name: as typed.
        family: one of `FAMILIES`, its place in the help.
        usage: what follows `%mcp`.
        summary: one sentence.
        run: does it.
        grammar: what the line may hold.
        most: how many words it takes at most; None for any number.
        body: what the body of `%%mcp NAME` holds, or "" when the verb has no cell form.
        details: (term, explanation) rows for its help, beside the options.
        examples: whole lines.
        completes: what its words are, in order, for Tab ("server", "tool", "resource", "prompt", "verb", "pattern", …).
        python: the names of the Python API that do the same.
    """

    name: str
    family: str
    usage: str
    summary: str
    run: Callable[[Invocation], Any]
    grammar: Grammar = field(default_factory=Grammar)
    most: int | None = 0
    body: str = ""
    details: Sequence[tuple[str, str]] = ()
    examples: Sequence[str] = ()
    completes: Sequence[str] = ()
    python: Sequence[str] = ()

    @property
    def usage_line(self) -> str:
        return f"%mcp {self.usage}"


@dataclass
class Invocation:
    """One typed line (and body), read.

    Attributes:
        verb: whose line it is.
        line: the parsed line.
        body: the cell's body, None for a line.
        names: looks notebook objects up.
        use: what becomes of the value: "statement", "last" (of the cell) or "used" (assigned, passed on).
    """

    verb: Verb
    line: Line
    names: Namespace
    body: str | None = None
    use: Use = "used"

    @property
    def shown(self) -> bool:
        """Whether the magic displays what it returns."""
        return self.use != "used" and not self.line.silent

    @property
    def words(self) -> list[str]:
        """The words as text, notebook objects filled in."""
        return [self.text(word) for word in self.line.words]

    def text(self, word: Word) -> str:
        return self.names.text(word.text) if word.typed is None else self.names.text_of(word.typed)

    def value(self, word: Word) -> Any:
        """The word's notebook object, else its text."""
        typed = word.typed or self.names.read(word.text)
        return typed.value if typed.is_object else typed.text

    def pairs(self) -> list[Pair]:
        """`key=value` pairs, notebook objects filled in."""
        return [self._pair(word) for word in self.line.pairs]

    def option(self, name: str) -> str | None:
        value = self.line.last(name)
        return None if value is None else self.names.text(value)

    def options(self, name: str) -> list[str]:
        return [self.names.text(value) for value in self.line.options.get(name, [])]

    def number(self, name: str) -> float | None:
        """An option that is a number above zero."""
        text = self.option(name)
        if text is None:
            return None
        try:
            value = float(text)
        except ValueError:
            value = 0.0
        if not 0 < value < float("inf"):
            raise self.wrong(f"--{name} is a number above 0, not {text!r}.")
        return value

    def wrong(self, message: str, *, hint: str | None = None) -> UsageError:
        """A mistake of the line itself: the error shows how the verb is written."""
        return UsageError(message, usage=self.verb.usage_line, hint=hint)

    def need(self, count: int, what: str) -> list[str]:
        """The words, at least so many. Raises `UsageError` that says what is missing."""
        words = self.words
        if len(words) < count:
            raise self.wrong(f"{what} is missing.")
        return words

    def _pair(self, word: Word) -> Pair:
        # A forced value is JSON to the letter; only a whole `$name` can be an object there.
        if word.forced and not word.value.startswith("$"):
            return Pair(word.key, Typed(word.value), forced=True)
        return Pair(word.key, self.names.read(word.value), word.forced)
