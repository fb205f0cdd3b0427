"""`RepeatCell`: the cell that repeats an act or a traced request, with no secret in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.objects.note import Note

if TYPE_CHECKING:
    from jupyter_mcp.host.journal.repeat import Repeat


class RepeatCell(Note):
    """A cell as text.

    Attributes:
        text: of the cell.
        fills: variables that have to be in the environment when it is run: what was secret, and is not written.
    """

    def __init__(self, repeat: Repeat, *, python: bool = False) -> None:
        super().__init__(repeat.python if python else repeat.magic)
        self.fills = repeat.fills
        self._of = f"{repeat.method} {repeat.name} of {repeat.server}"

    def __mcp_view__(self) -> Any:
        from jupyter_mcp.notebook.render.views import NoteView

        needs = f" Before it is run, {', '.join(self.fills)} must be in the environment." if self.fills else ""
        return NoteView(f"The cell that repeats {self._of}:{needs}", "plain", self.text.split("\n"))

    def __str__(self) -> str:
        return self.text
