"""`%mcp trace` as a table of exchanges, and as a card that sends again by the rules."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import UsageError
from jupyter_mcp.notebook import api
from jupyter_mcp.notebook.cards.runner import HostRunner
from jupyter_mcp.notebook.cards.trace import TracePanel
from jupyter_mcp.notebook.objects.act import get_host
from tests.notebook.page import button, capture, words
from tests.notebook.test_cards_trace import say

if TYPE_CHECKING:
    from tests.notebook.conftest import Cells


def test_exchanges_are_one_row_each_and_take_the_filter(served: Cells) -> None:
    served.run("%mcp call s add a=1;\n%mcp trace s --exchanges --filter method:tools/call")
    assert "Exchanges" in served.text
    row = next(line for line in served.text.splitlines() if "tools/call" in line)
    assert row.split()[:4] == ["s", "→", "tools/call", "add"]
    found = served.run("e = %mcp trace --exchanges\ne")
    assert [one.target for one in found if one.method == "tools/call"] == ["add"]
    assert {"duration", "sent", "received", "rounds"} <= set(found.record(found[0]))
    for wrong in ("--exchanges --cell last", "--exchanges --export x"):
        with pytest.raises(UsageError, match="--exchanges goes with --filter only"):
            served.run(f"%mcp trace {wrong}")
    with pytest.raises(UsageError, match="methd"):
        served.run("%mcp trace --exchanges --filter methd:x")


def settled(resend: Any) -> None:
    """Until what came of it is drawn: then it can be sent once more."""
    ready = threading.Event()

    def changed(change: Any) -> None:
        if not change["new"]:
            ready.set()

    resend.observe(changed, names="disabled")
    assert not resend.disabled or ready.wait(20)


def test_a_request_that_is_sent_again_is_the_persons_act_and_keeps_to_the_rules(
    served: Cells, monkeypatch: pytest.MonkeyPatch
) -> None:
    capture(monkeypatch)
    served.run("%mcp call s add a=1;")
    panel = TracePanel(get_host().journal, HostRunner(), "s", "method:tools/call")
    try:
        first = api.host.trace("method:tools/call direction:send")[-1]
        say(panel, type="open", id=f"x{first.number}")
        resend = button(panel.card.root, "Send again")
        resend.click()
        settled(resend)
        again = api.host.activity[-1]
        assert (again.name, again.origin, again.outcome) == ("add", "person", "ok")
        served.run("%mcp deny s.add;")
        resend.click()
        settled(resend)
        assert api.host.activity[-1].outcome == "denied"
        assert "s.add is denied by the rule" in words(panel.card.root)
    finally:
        panel.card.discard()
