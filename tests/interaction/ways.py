"""The matrix: every transport times every revision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from jupyter_mcp.protocol.revisions import ALL, era, features

if TYPE_CHECKING:
    from jupyter_mcp.protocol.revisions import Era


@dataclass(frozen=True)
class Way:
    """One cell of the matrix."""

    transport: str
    revision: str

    @property
    def era(self) -> Era:
        return era(self.revision)

    def __str__(self) -> str:
        return f"{self.transport}-{self.revision}"


def through(ways: list[Way]) -> pytest.MarkDecorator:
    """Run a test on these cells only."""
    return pytest.mark.parametrize("way", ways, ids=str, indirect=True)


WAYS = [Way(transport, revision) for transport in ("memory", "stdio") for revision in ALL]
WITH_FORMS = [way for way in WAYS if features(way.revision).elicitation]
WITHOUT_FORMS = [way for way in WAYS if not features(way.revision).elicitation]
PROCESSES = [way for way in WAYS if way.transport == "stdio"]
