"""Where a browser lands after a login: what it brought belongs to whom, and the page that it is shown. Pure.

Two places receive browsers, a listener of the kernel's machine and the Jupyter Server; both say and keep the same.

Source: RFC 6749 section 4.1.2; RFC 9700 section 4.7.
"""

from __future__ import annotations

from html import escape
from urllib.parse import parse_qsl

__all__ = ["DONE", "GONE", "POLICY", "PRIVATE", "page", "state_of"]

DONE = "You can close this tab and go back to the notebook."
GONE = "Nobody waits for this login any more. Begin it again in the notebook."
POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
"""The page's Content-Security-Policy: nothing is loaded, nobody frames it."""
PRIVATE = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
"""Headers by which its address, which holds the code, is neither kept nor told."""

_LONGEST = 16_384  # characters of a query


def state_of(query: str) -> str:
    """The one `state` that a query brings; "" when it brings none or several."""
    if len(query) > _LONGEST:
        return ""
    found = [value for name, value in parse_qsl(query, keep_blank_values=True) if name == "state"]
    return found[0] if len(found) == 1 else ""


def page(text: str, *, good: bool) -> str:
    """The page: no script, nothing loaded, nothing of what the browser brought.

    Args:
        text: one sentence.
        good: whether the notebook has got what it waited for.
    """
    title = "Back to the notebook" if good else "This login is not known here"
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark">'
        f'<meta name="viewport" content="width=device-width"><title>{escape(title)}</title></head>'
        '<body style="font:1.1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:15vh auto;padding:0 1rem">'
        f'<h1 style="font-size:1.4rem">{escape(title)}</h1><p>{escape(text)}</p></body></html>'
    )
