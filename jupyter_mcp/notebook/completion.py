"""Tab on `%mcp` lines and in `%%mcp` bodies: hooks the matcher into IPython's completer. What to offer is `suggest`'s.

It works wherever the magic stands (`r = %mcp …`, the third line of a cell), reads cached lists only, and never raises:
a completer that fails takes Python's completion down with it.
"""

from __future__ import annotations

import logging
import re
import sys
from typing import TYPE_CHECKING, Any

from IPython.core import completer
from IPython.core.completer import SimpleCompletion
from IPython.core.getipython import get_ipython

if TYPE_CHECKING:
    from IPython.core.completer import CompletionContext, SimpleMatcherResult
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["install", "mcp_matcher", "uninstall"]

_matcher: Any = getattr(completer, "context_matcher")  # noqa: B009 - untyped in IPython
_log = logging.getLogger(__name__)
_LINE = re.compile(r"^\s*(?:[^%'\"#()]*=\s*)?%mcp(?=\s|$)(?P<rest>.*)$", re.DOTALL)
_CELL = re.compile(r"^\s*%%mcp(?=\s|$)(?P<rest>.*)$", re.DOTALL)


@_matcher(identifier="jupyter_mcp")
def mcp_matcher(context: CompletionContext) -> SimpleMatcherResult:
    """What may follow, for IPython."""
    try:
        return _matches(context)
    except Exception:
        _log.exception("completion failed")
        return {"completions": []}


def install(shell: InteractiveShell) -> None:
    """Add the matcher to a shell, once."""
    matchers: list[Any] = _matchers(shell)
    if mcp_matcher not in matchers:
        matchers.insert(0, mcp_matcher)


def uninstall(shell: InteractiveShell) -> None:
    """Take it out again."""
    matchers = _matchers(shell)
    while mcp_matcher in matchers:
        matchers.remove(mcp_matcher)


def _matchers(shell: InteractiveShell) -> list[Any]:
    completer: Any = shell.Completer
    return [] if completer is None else completer.custom_matchers


def _matches(context: CompletionContext) -> SimpleMatcherResult:
    lines = context.full_text.split("\n")
    number = min(context.cursor_line, len(lines) - 1)
    before = lines[number][: context.cursor_position]
    first = next((index for index, line in enumerate(lines) if line.strip()), 0)
    cell = _CELL.match(lines[first])
    if cell is not None and number > first:
        from jupyter_mcp.notebook import suggest

        return _result(suggest.for_body(cell["rest"], "\n".join([*lines[first + 1 : number], before])))
    found = _CELL.match(before) if cell is not None else _LINE.match(before)
    if found is None:
        return _python(before)
    if not found["rest"]:
        return {"completions": []}  # still on the word itself: IPython completes the magic's name
    from jupyter_mcp.notebook import suggest

    return _result(suggest.for_line(found["rest"], cell=cell is not None))


def _python(before: str) -> SimpleMatcherResult:
    """Arguments and names of our objects in ordinary code."""
    shell: Any = get_ipython()
    if shell is None or "jupyter_mcp.notebook.api" not in sys.modules:
        return {"completions": []}
    from jupyter_mcp.notebook import pytab

    suggestions = pytab.for_python(before, shell.user_ns)
    return {"completions": []} if suggestions is None else _result(suggestions)


def _result(found: Any) -> SimpleMatcherResult:
    return {
        "completions": [SimpleCompletion(text, type=kind) for text, kind in found.items],
        "suppress": found.ours,
        "matched_fragment": found.fragment,
        "ordered": True,
    }
