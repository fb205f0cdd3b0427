"""Slips are said where they are made: rules about nothing, variables that are not there, lists that cannot be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jupyter_mcp.errors import RequestError, UsageError
from jupyter_mcp.notebook import api
from jupyter_mcp.server import Server

if TYPE_CHECKING:
    from tests.notebook.conftest import Cells


@pytest.mark.parametrize("verb", ["deny", "allow", "ask_first", "enable", "disable"])
def test_a_rule_about_a_name_that_nothing_has_holds_and_is_remarked_on(served: Cells, verb: str):
    note = served.run(f"%mcp {verb} s.ad")
    assert str(note).endswith("Nothing of s is called ad now; did you mean s.add?")
    assert str(note).startswith(f"{verb} s.ad. ")
    assert (
        str(served.run(f"%mcp {verb} s.add s.*")) == f"{verb} s.add, {verb} s.*"
        if verb
        in (
            "deny",
            "allow",
            "ask_first",
        )
        else f"{verb} s.add, s.*"
    )


def test_the_rule_is_there_all_the_same(served: Cells):
    served.run("%mcp deny s.later")
    from jupyter_mcp.runtime import state

    assert "deny s.later" in [str(rule) for rule in state.get_host().policy.rules]


@pytest.mark.parametrize(("word", "near"), [("nope", ""), ("$prise", "; did you mean price\\?")])
def test_a_variable_that_is_not_there_is_named(served: Cells, word: str, near: str):
    served.put(price=5)
    with pytest.raises(UsageError, match=f"no variable '{word.removeprefix('$')}' .*--context.{near}") as caught:
        served.run(f"%%mcp ask --context {word}\ngo")
    assert "$$" not in str(caught.value), "how a text is written is no help here"


def broken() -> Server:
    """A server whose templates cannot be listed."""
    server = Server("half")
    server.add_resource("half://one", lambda: "1", name="one")
    return server


@pytest.fixture
def half(served: Cells, monkeypatch: pytest.MonkeyPatch) -> Cells:
    from jupyter_mcp.client.connection import Connection

    served.put(half_server=broken())
    served.run("%mcp connect half $half_server ;")
    real = Connection.list

    async def listing(self: Connection, kind: str, **more: object) -> object:
        if self is api.servers["half"].entry.connection and kind == "templates":
            raise RequestError("table is locked", code=-32603, server="half")
        return await real(self, kind, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Connection, "list", listing)
    entry = api.servers["half"].entry
    assert entry.connection is not None
    monkeypatch.setattr(entry.connection, "listing", _without_templates(entry.connection.listing))
    return served


def _without_templates(listing: object) -> object:
    return lambda kind: None if kind == "templates" else listing(kind)  # type: ignore[operator]


@pytest.mark.parametrize("line", ["resources", "resources half"])
def test_a_list_that_fails_hides_nothing_but_itself(half: Cells, line: str):
    half.run(f"%mcp {line}")
    text = half.shown[-1]["text/plain"]
    assert "half://one" in text
    assert "cannot list its templates: " in text
    assert "table is locked" in text
    assert ("text://hello" in text) == (line == "resources"), "those of other servers are there too"
