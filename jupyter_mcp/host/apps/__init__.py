"""MCP Apps: pages that a server brings for its tools' results, and what such a page may ask of us.

    meta        what a tool says about its page, and who may call the tool
    resource    the page itself: read, checked, with what it says it needs
    csp         the Content Security Policy of a page, from the origins that it declares
    sandbox     the frame that it is put into: its document, its policy, what the browser may let it use
    context     what a page is told of the notebook's looks
    messages    each message of a page, checked
    bridge      the state machine between a page and us: messages in, `events` out, within `limits`; no clock, no I/O
    session     does what a page asks for: policy, journal, the server, the person
    shared      what pages report for models, and whether the person lets it go along

A page is a program of somebody else's in the person's browser. It is drawn by `notebook.cards.apps` in a frame without
an origin; whatever it sends is untrusted, and it reaches nothing but what `session` does for it.

Source: SEP-1865, "MCP Apps", revision 2026-01-26 (extension `io.modelcontextprotocol/ui`). Imported by whoever lists or
calls tools, so this file and `meta` import nothing else.
"""

from __future__ import annotations

from jupyter_mcp.host.apps.meta import EXTENSION, MIME_TYPE, PROTOCOL_VERSION, may_call, resource_uri, settings

__all__ = ["EXTENSION", "MIME_TYPE", "PROTOCOL_VERSION", "may_call", "resource_uri", "settings"]
