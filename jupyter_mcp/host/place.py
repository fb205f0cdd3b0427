"""`NotebookPlace`: where the notebook of this kernel lies, and where what belongs to this person is kept. A value.

Whoever makes a host knows it (`runtime` does for a kernel); a host without one reads and writes no file of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["NotebookPlace"]


@dataclass(frozen=True, slots=True)
class NotebookPlace:
    """
    Attributes:
        path: the notebook's file, absolute; None where nobody said (a terminal, a notebook executed from memory).
        folder: the notebook's folder, else the one that the process began in.
        data: the person's own folder for what this package remembers; None: nothing is remembered beyond the session.
        config: the person's own folder for what they configure by hand; None: there is none.
    """

    path: Path | None
    folder: Path
    data: Path | None = None
    config: Path | None = None
