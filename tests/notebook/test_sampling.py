"""What a server may have of models without asking, in the table of the policy; taken back by a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jupyter_mcp as mcp
from jupyter_mcp.models.scripted import ScriptedModel
from jupyter_mcp.notebook.objects.policy import Allowed
from jupyter_mcp.runtime import state

if TYPE_CHECKING:
    from tests.notebook.conftest import Cells


def limits(cells: Cells) -> list[str]:
    return [record.used for record in cells.run("t = %mcp policy\nt") if isinstance(record, Allowed)]


def test_the_policy_shows_what_a_server_had_without_asking_as_long_as_it_may(cells: Cells):
    mcp.model(ScriptedModel([]))
    state.get_host().limits.allow("demo", calls=3)
    assert limits(cells) == []
    cells.run("%mcp allow demo.sampling/*")
    assert limits(cells) == ["0 of 3 calls, 0 of 50,000 tokens, at most 10 a minute"]
    cells.run("%mcp policy reset demo.sampling/*")
    assert limits(cells) == []
