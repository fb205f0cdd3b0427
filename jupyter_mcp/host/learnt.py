"""Texts that are known to be secret, found in whichever way a server says them back. Pure.

    whole            also as JSON, HTML and URLs spell them
    line by line     of one that has several (a key in PEM): logs come in lines
    cut              what stands before an ellipsis, when the text was shortened in the middle of one

Above: redaction, which says what is learnt.
"""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import quote

from jupyter_mcp.protocol.secrets import MASK

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Learnt"]

_SHORTEST_LINE = 12  # characters; shorter ones of a text with several lines are in many texts
_SHORTEST_PART = 6  # what is left of a cut secret, and too short to be one
_ELLIPSES = ("…", "...", "[…")


class Learnt:
    """A set of secret texts. Other threads may go through it while it grows: it is replaced, never changed."""

    def __init__(self) -> None:
        self._forms: tuple[str, ...] = ()  # the longest first: one may be the beginning of another

    def __bool__(self) -> bool:
        return bool(self._forms)

    def __len__(self) -> int:
        return len(self._forms)

    def add(self, values: Iterable[str]) -> None:
        """These are secret from now on."""
        new = {form for value in values for form in _forms(value)}
        if not new <= set(self._forms):
            self._forms = tuple(sorted(new | set(self._forms), key=lambda form: (-len(form), form)))

    def mask(self, text: str) -> str:
        """The text without them."""
        for form in self._forms:
            if form[:_SHORTEST_PART] in text:
                text = _cut_masked(text.replace(form, MASK), form)
        return text


def _forms(value: str) -> set[str]:
    lines = [line.strip() for line in value.splitlines()] if len(value.splitlines()) > 1 else []
    whole = [value, *(line for line in lines if len(line) >= _SHORTEST_LINE)]
    return {
        form
        for one in whole
        for form in (one, escape(one), json.dumps(one)[1:-1], json.dumps(one, ensure_ascii=False)[1:-1], _quoted(one))
    }


def _quoted(text: str) -> str:
    return quote(text.encode("utf-8", "surrogatepass"), safe="")


def _cut_masked(text: str, form: str) -> str:
    """The text without what was left of this secret where an ellipsis follows; a word or two of it may be common."""
    least = max(_SHORTEST_PART, len(form) // 4)
    head, done, out = form[:least], 0, ""
    while (at := text.find(head, done)) >= 0:
        end = at + _shared(text, at, form)
        cut = text[end : end + 4].lstrip().startswith(_ELLIPSES)
        out += text[done:at] + (MASK if cut else text[at:end])
        done = end
    return out + text[done:]


def _shared(text: str, at: int, form: str) -> int:
    """How many characters of the form stand there."""
    for number, letter in enumerate(form):
        if text[at + number : at + number + 1] != letter:
            return number
    return len(form)
