"""What pages tell models: what each reports of itself, and what the person let it say. Nothing goes without the person.

A report is kept for as long as its page is open, the last one only, and goes along with each question once the person
has switched that on for the page. A message that a page wanted to say goes along with the next question, once.
Written on the runtime's loop.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Shared", "Word"]

_MOST_MESSAGES = 20


@dataclass(eq=False)
class Word:
    """What one page tells.

    Attributes:
        server, name: whose page, and the tool that it belongs to.
        content, structured: the last report; both empty when there is none.
        agreed: whether it goes along with questions.
    """

    server: str
    name: str
    content: Sequence[Mapping[str, Any]] = field(default_factory=list[Any])
    structured: Mapping[str, Any] | None = None
    agreed: bool = False

    @property
    def empty(self) -> bool:
        """Whether there is nothing to tell."""
        return not self.content and not self.structured


@dataclass(frozen=True, slots=True)
class Said:
    """A message that a page wanted to say and the person let it.

    Attributes:
        server, name: as of `Word`.
        content: its blocks.
    """

    server: str
    name: str
    content: Sequence[Mapping[str, Any]]


class Shared:
    """For all pages of a host."""

    def __init__(self) -> None:
        self._words: list[Word] = []
        self._said: list[Said] = []

    def join(self, server: str, name: str) -> Word:
        """A page is shown: where it reports to."""
        word = Word(server, name)
        self._words.append(word)
        return word

    def leave(self, word: Word) -> None:
        """It is gone, and what it reported with it."""
        if word in self._words:
            self._words.remove(word)

    def say(self, word: Word, content: Sequence[Mapping[str, Any]]) -> None:
        """The person lets a page say something with the next question; of too many the oldest is dropped."""
        self._said.append(Said(word.server, word.name, content))
        del self._said[:-_MOST_MESSAGES]

    @property
    def agreed(self) -> list[Word]:
        """What goes along with each question."""
        return [word for word in self._words if word.agreed and not word.empty]

    def take(self) -> list[Said]:
        """The messages that go along with this question; they are gone then."""
        said, self._said = self._said, []
        return said
