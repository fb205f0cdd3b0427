"""Bounded views of objects: never the full repr, never a copy, none of the object's own code.

`summary` says what an object is, `view` shows a piece of it that is bounded in bytes, rows and depth (`kernel.pool`
bounds the time), `fingerprint` tells whether a sample of it changed. Others add views by `register`, by the entry
point group "jupyter_mcp.views", or by a method `_mcp_view_(wanted)`.
"""

from jupyter_mcp.kernel.views.base import Column, Summary, View, ViewError, Wanted
from jupyter_mcp.kernel.views.pictures import captured_by
from jupyter_mcp.kernel.views.registry import columns, fingerprint, needs_main_thread, register, reset, summary, view

__all__ = [
    "Column",
    "Summary",
    "View",
    "ViewError",
    "Wanted",
    "captured_by",
    "columns",
    "fingerprint",
    "needs_main_thread",
    "register",
    "reset",
    "summary",
    "view",
]
