"""Static pictures of everything a person sees: text, HTML and JSON that survive saving. Pure until `show`.

    bundle(obj)   -> {"text/plain", "text/html", "application/vnd.jupyter-mcp+json"[, "image/png"]}
    show(obj)     displays the bundle and returns obj, whose next display in this cell is left out once
    install(ip)   teaches IPython's formatters the host's values (Result, Read, PromptResult, views); uninstall(ip)

`obj` is a `Result`, `Read`, `PromptResult`, an `MCPError`, one of the views in `render.views`, a sequence of
`ServerView`s, or anything with `__mcp_view__()` that returns one of those. Cards (live widgets) stand in
`notebook.cards` and end as one of these bundles.
"""

from __future__ import annotations

from jupyter_mcp.notebook.render.bundles import MIME, Bundle, bundle
from jupyter_mcp.notebook.render.formatters import install, quiet_once, show, uninstall
from jupyter_mcp.notebook.render.views import (
    CallView,
    ConversationView,
    HelpView,
    ListView,
    LogRow,
    LogView,
    NoteView,
    QuestionRecord,
    ServersView,
    ServerView,
    TableView,
    ToolCallView,
)

__all__ = [
    "MIME",
    "Bundle",
    "CallView",
    "ConversationView",
    "HelpView",
    "ListView",
    "LogRow",
    "LogView",
    "NoteView",
    "QuestionRecord",
    "ServerView",
    "ServersView",
    "TableView",
    "ToolCallView",
    "bundle",
    "install",
    "quiet_once",
    "show",
    "uninstall",
]
