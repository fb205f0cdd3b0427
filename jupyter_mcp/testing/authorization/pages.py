"""What a person sees of the authorization server: a page that asks, and a page that says what is wrong."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from jupyter_mcp.testing.authorization.records import Wish

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title><style>
:root {{ color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }}
main {{ max-width: 32rem; margin: 4rem auto; padding: 0 1rem }}
button {{ font: inherit; padding: .5rem 1.25rem; margin-right: .75rem }}
li, code {{ overflow-wrap: anywhere }}
</style></head><body><main><h1>{title}</h1>
{body}
</main></body></html>
"""
_CONSENT = """<p><strong>{client}</strong> wants to use <code>{resource}</code> as you ({subject}):</p>
<ul>{scopes}</ul>
<p>You will be sent back to <code>{host}</code>.</p>
<form method="post" action="{action}">
<input type="hidden" name="request" value="{request}">
<button name="decision" value="approve">Approve</button>
<button name="decision" value="decline">Decline</button>
</form>"""


def consent(wish: Wish, *, request: str, action: str, subject: str) -> str:
    """The page with Approve and Decline. All that the client said of itself is escaped.

    Args:
        wish: what is asked for.
        request: what the form brings back.
        action: where the form goes.
        subject: who the person is.
    """
    scopes = "".join(f"<li>{escape(scope)}</li>" for scope in wish.scopes) or "<li>nothing in particular</li>"
    body = _CONSENT.format(
        client=escape(wish.client.name),
        resource=escape(wish.resource),
        subject=escape(subject),
        scopes=scopes,
        host=escape(urlsplit(wish.redirect).netloc),
        action=escape(action),
        request=escape(request),
    )
    return _PAGE.format(title="Test authorization server", body=body)


def problem(text: str) -> str:
    """A page that says what is wrong."""
    return _PAGE.format(title="This request cannot be answered", body=f"<p>{escape(text)}</p>")
