"""The matrix: every transport times every revision; what asks, times both ways of going on after an answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import pytest

from jupyter_mcp.protocol.revisions import ALL, era, features

if TYPE_CHECKING:
    from _pytest.mark.structures import ParameterSet

    from jupyter_mcp.protocol.revisions import Era


@dataclass(frozen=True)
class Way:
    """One cell of the matrix."""

    transport: str
    revision: str
    replay: Literal["auto", "always"] = "auto"

    @property
    def era(self) -> Era:
        return era(self.revision)

    def __str__(self) -> str:
        return f"{self.transport}-{self.revision}" + ("-replay" if self.replay == "always" else "")


def through(ways: list[Way]) -> pytest.MarkDecorator:
    """Run a test on these cells only."""
    return pytest.mark.parametrize("way", rows(ways), indirect=True)


def rows(ways: list[Way]) -> list[ParameterSet]:
    """Parameters of a test. A process for each costs most: those of the middle revisions are for `make test-all`."""
    middle = {"2025-03-26", "2025-06-18"}
    return [
        pytest.param(
            way, id=str(way), marks=[pytest.mark.slow] if way.transport == "stdio" and way.revision in middle else []
        )
        for way in ways
    ]


WAYS = [Way(transport, revision) for transport in ("memory", "stdio", "http") for revision in ALL]
WAYS.append(Way("sse", "2024-11-05"))
ASKING = [*WAYS, *(replace(way, replay="always") for way in WAYS if way.era == "modern")]
WITH_FORMS = [way for way in ASKING if features(way.revision).elicitation]
WITH_PAGES = [way for way in ASKING if features(way.revision).url_elicitation]
WITHOUT_FORMS = [way for way in WAYS if not features(way.revision).elicitation]
PROCESSES = [way for way in WAYS if way.transport == "stdio"]
