"""`Note`: one sentence that a magic returns when it has nothing else to show."""

from __future__ import annotations

from typing import Any, Literal

Tone = Literal["plain", "good", "warning", "error"]


class Note:
    """One sentence of ours."""

    def __init__(self, text: str, tone: Tone = "plain") -> None:
        self.text = text
        self.tone: Tone = tone

    def __mcp_view__(self) -> Any:
        from jupyter_mcp.notebook.render.views import NoteView

        return NoteView(self.text, self.tone)

    def __repr__(self) -> str:
        return self.text
