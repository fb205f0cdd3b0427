"""What `mcp.save()` returns: what became of each server, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jupyter_mcp.notebook.objects.found import shown_path
from jupyter_mcp.notebook.objects.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from jupyter_mcp.host.saving import Saved

__all__ = ["SavedServers"]


class SavedServers(Table["Saved"]):
    """What was written where.

    Attributes:
        file: the file.
        notes: what has to be known although the table is not shown.
    """

    kind = "saved"
    columns = ("server", "what", "note")

    def __init__(self, saved: Sequence[Saved], file: Path, folder: Path) -> None:
        super().__init__(saved)
        self.file = file
        self.title = f"Saved in {shown_path(file, folder)}"
        self.notes = [f"{one.name}: {one.note}" for one in saved if one.note]

    def row(self, record: Saved) -> tuple[str, str, str]:
        return (record.name, record.outcome, record.note)
