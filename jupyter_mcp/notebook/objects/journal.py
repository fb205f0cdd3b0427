"""`mcp.host.journal`: the file that what happens is written to, and what is never shown of it.

`host.activity` and `host.trace` show what is on record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import UsageError
from jupyter_mcp.notebook.objects.act import get_host
from jupyter_mcp.notebook.objects.table import Table

if TYPE_CHECKING:
    from pathlib import Path

    from jupyter_mcp.host.hiding import HideRule, RuleKind


class Hidden(Table["HideRule"]):
    """What a person said is never shown."""

    kind = "hidden"
    title = "Hidden"
    columns = ("what", "of this name or pattern")
    empty = "nothing but what looks like a secret, and what was filled in for servers"

    def row(self, record: HideRule) -> tuple[str, str]:
        return (record.kind, record.what)


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

    def hide(self, *, key: str | None = None, header: str | None = None, pattern: str | None = None) -> Hidden:
        """Never show these again, neither in what comes nor in what is on record; for this session.

        Args:
            key: values by the name of their key; `*` and `?` stand for any characters.
            header: the same for headers, which end with their line.
            pattern: a regular expression; what it finds is masked.

        Returns:
            all that is hidden.

        Raises:
            UsageError: nothing is named, or a pattern that cannot be used.
        """
        named: dict[RuleKind, str | None] = {"key": key, "header": header, "pattern": pattern}
        if not any(what is not None for what in named.values()):
            raise UsageError("Hide what? There are key=, header= and pattern=.")
        for kind, what in named.items():
            if what is not None:
                get_host().redactor.hide(kind, what)
        return self.hidden

    @property
    def hidden(self) -> Hidden:
        """What you said is never shown; what looks like a secret is hidden besides."""
        return Hidden(get_host().redactor.rules)

    def unhide(self) -> int:
        """Take back all that you said; returns how many there were. A file that was written stays as it is."""
        redactor = get_host().redactor
        rules, redactor.rules = redactor.rules, ()
        return len(rules)

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
