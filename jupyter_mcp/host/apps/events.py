"""What comes out of the bridge of a page: what to send, to do and to know. Values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "Asked",
    "Ended",
    "Event",
    "Flooded",
    "Id",
    "Logged",
    "Opened",
    "Reported",
    "Resized",
    "Send",
    "WantsToGo",
    "Withdrawn",
]

Id = int | str


@dataclass(frozen=True, slots=True)
class Send:
    """Send this to the frame."""

    message: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """The page wants something done: `method` with its checked `params`. Answer by `answer` or `refuse`."""

    id: Id
    method: str
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """The page does not wait any more for what it asked under this id."""

    id: Id


@dataclass(frozen=True, slots=True)
class Opened:
    """The page is initialized; `name` and `version` are what it calls itself."""

    name: str
    version: str


@dataclass(frozen=True, slots=True)
class Reported:
    """What models should know of the page from now on; the last word holds."""

    content: list[Mapping[str, Any]]
    structured: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Logged:
    """A line for the log."""

    level: str
    logger: str | None
    data: Any


@dataclass(frozen=True, slots=True)
class Resized:
    """The size of what the page shows, in CSS pixels; None where it did not say."""

    width: int | None
    height: int | None


@dataclass(frozen=True, slots=True)
class WantsToGo:
    """The page asks to be closed."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The page has put away what it had, or never had anything: its frame may go."""


@dataclass(frozen=True, slots=True)
class Flooded:
    """The page sends more than anybody could work on: it has to be ended."""


Event = Send | Asked | Withdrawn | Opened | Reported | Logged | Resized | WantsToGo | Ended | Flooded
