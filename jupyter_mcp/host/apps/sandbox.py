"""The frame of a page: two documents, one in the other, neither with an origin. Pure.

    the notebook's page
      frame   sandbox="allow-scripts"; its document is ours: the page's policy, and a script that passes messages on
        frame   sandbox="allow-scripts"; its document is the page

The outer document carries the policy in a `meta` element before everything else, and the inner one, which has no
address of its own, inherits it: whatever the page's HTML looks like, it cannot come before its policy. And because the
inner frame is navigated inside a document whose `frame-src` we wrote, a page cannot send what it knows elsewhere by
going there itself, which a single frame could (ADR 34). The two talk as the specification's sandbox proxy does, so a
proxy from a second origin can take the place of the outer document: only `src` instead of `srcdoc` changes.

Source: SEP-1865 "Sandbox proxy"; HTML Standard, "sandbox", "srcdoc"; CSP Level 3, section 7.8 (inheritance).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from jupyter_mcp.host.apps.resource import PERMISSIONS

if TYPE_CHECKING:
    from collections.abc import Collection

    from jupyter_mcp.host.apps.resource import Page

__all__ = ["SANDBOX", "Sandbox", "sandbox_of"]

SANDBOX = "allow-scripts"
"""No same origin, no forms, no popups, no downloads, no navigation of anything but itself."""

_DOCTYPE = re.compile(r"\ufeff?\s*<!doctype[^>]*>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sandbox:
    """What the two frames are made of.

    Attributes:
        proxy: the outer document.
        allow: what the browser may let the page use: the `allow` attribute of both frames.
        csp: the policy, for browsers that enforce it by attribute too; "" where frames of others may be inside the
            page, which would have to agree to it.
        resource: the params of `ui/notifications/sandbox-resource-ready`.
    """

    proxy: str
    allow: str
    csp: str
    resource: dict[str, Any]


def sandbox_of(page: Page, relay: str, granted: Collection[str] = ()) -> Sandbox:
    """The frames of a page.

    Args:
        page: what is shown.
        relay: the script of the outer document, ours.
        granted: what of `page.wants` the person has allowed.
    """
    allowed = [name for name in page.wants if name in granted]
    text = page.policy.text
    resource: dict[str, Any] = {"html": with_policy(page.html, text), "sandbox": SANDBOX}
    if page.policy.declared:
        resource["csp"] = page.policy.wire()
    if allowed:
        resource["permissions"] = {name: {} for name in allowed}
    return Sandbox(
        proxy=f"<!doctype html>{_meta(text)}<title>MCP App</title>{_STYLE}<script>{relay}</script>",
        allow="; ".join(PERMISSIONS[name] for name in allowed),
        csp="" if page.policy.frames else text,
        resource=resource,
    )


_STYLE = (
    "<style>html,body{margin:0;height:100%;overflow:hidden}"
    "iframe{display:block;border:0;width:100%;height:100%}</style>"
)


def with_policy(html: str, policy: str) -> str:
    """The document with its policy before everything that could do anything.

    It holds by inheritance already; this is for the proxy of a second origin, which may be another's.
    """
    found = _DOCTYPE.match(html)
    rest = html[found.end() :] if found else html
    return f"<!doctype html>{_meta(policy)}{rest}"


def _meta(policy: str) -> str:
    return f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
