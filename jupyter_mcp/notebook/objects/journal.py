"""`mcp.host.journal`: the file that what happens is written to, as an object of the notebook.

`host.activity` and `host.trace` show what is on record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.objects.act import get_host

if TYPE_CHECKING:
    from pathlib import Path


class NotebookJournal:
    """What is kept of this kernel's messages and acts, beyond the kernel."""

    @property
    def file(self) -> Path | None:
        """The file that is being written; None when there is none."""
        file = get_host().journal.file
        return None if file is None or file.stopped else file.path

    def write_to(self, file: str | Path, limit: int | None = None) -> Path:
        """Append every message and act from now on to a file, one JSON object a line, secrets redacted.

        Args:
            file: made when it is not there; readable by you alone from now on.
            limit: bytes that it may have in all (64 MiB when None); its last line says when they are used up.

        Returns:
            the absolute path.

        Raises:
            UsageError: it cannot be written, or has no room.
        """
        return get_host().journal.write_to(file, limit).path

    def stop_writing(self) -> Path | None:
        """End the file; returns its path, None when none was being written."""
        stopped = get_host().journal.stop_writing()
        return None if stopped is None else stopped.path

    def __mcp_view__(self) -> Any:
        from jupyter_mcp.notebook.render.views import NoteView

        return NoteView(self._said(), "plain")

    def _said(self) -> str:
        file = get_host().journal.file
        if file is None:
            return "Nothing is being written; .write_to(FILE) begins."
        return f"{file.path.name}: {file.stopped}" if file.stopped else f"Writing to {file.path.name}."

    def __repr__(self) -> str:
        return f"<journal: {self._said()}>"
