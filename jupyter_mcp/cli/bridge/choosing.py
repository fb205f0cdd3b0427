"""Which of the live notebooks an agent means: a pure function of where it works and what it was told.

The one it was told by name. Else the nearest whose folder is the working directory, above it or below it. A notebook
elsewhere on this machine is never taken unasked: two agents in two projects must not meet by accident.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jupyter_mcp.kernel.identity import Live

HOW = "Run %load_ext jupyter_mcp and %mcp serve in a notebook"


@dataclass(frozen=True, slots=True)
class Several:
    """More than one could be meant.

    Attributes:
        notebooks: those, the nearest first.
    """

    notebooks: Sequence[Live]


@dataclass(frozen=True, slots=True)
class Nobody:
    """None could be.

    Attributes:
        why: a sentence that says so, and what to do.
    """

    why: str


def choose(
    alive: Sequence[Live], place: str, wanted: str | None = None, before: str | None = None
) -> Live | Several | Nobody:
    """The notebook, or why there is none.

    Args:
        alive: the notebooks that are served now.
        place: the working directory.
        wanted: a slug, or a notebook's file name, that the person gave.
        before: the slug that was chosen last.
    """
    if wanted is not None:
        return _named(alive, wanted)
    kept = [one for one in alive if one.slug == before]
    if kept:
        return kept[0]
    if not alive:
        return Nobody(f"No notebook is being served. {HOW}.")
    near = nearest(alive, place)
    if len(near) == 1 and before is None:  # what took the place of one that was meant is not meant yet
        return near[0]
    return Several(near or alive)


def _named(alive: Sequence[Live], wanted: str) -> Live | Several | Nobody:
    found = [one for one in alive if one.slug == wanted] or [
        one for one in alive if one.notebook in (wanted, f"{wanted}.ipynb")
    ]
    if not found:
        others = f" Served are: {', '.join(one.slug for one in alive)}." if alive else ""
        return Nobody(f"The notebook {wanted!r} is not being served. {HOW} of that name.{others}")
    return found[0] if len(found) == 1 else Several(found)


def nearest(alive: Sequence[Live], place: str) -> list[Live]:
    """Those whose folder is on one line with the place and that are equally near, the nearest there are."""
    here = _resolved(place)
    far = [(distance, one) for one in alive if (distance := _distance(_resolved(one.folder), here)) is not None]
    least = min((distance for distance, _ in far), default=0)
    return [one for distance, one in far if distance == least]


def _distance(folder: Path, here: Path) -> int | None:
    """How many steps up or down; None when neither lies in the other."""
    if not folder.is_relative_to(here) and not here.is_relative_to(folder):
        return None
    return abs(len(folder.parts) - len(here.parts))


def _resolved(text: str) -> Path:
    try:
        return Path(text).resolve()
    except (OSError, ValueError, RuntimeError):
        return Path(text)


def described(one: Live) -> str:
    """One notebook in a line."""
    return f"{one.slug} ({one.notebook} in {one.folder})"
