"""Options of `%mcp call`: what goes along in `_meta`, how long it may take; in the background and from Python too."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import RequestTimeout, UsageError
from jupyter_mcp.notebook import api
from jupyter_mcp.protocol.shapes import mapping_of

if TYPE_CHECKING:
    from tests.notebook.conftest import Cells


def last_meta() -> Any:
    """The `_meta` of the call that went out last."""
    from jupyter_mcp.runtime import state

    sent = [mapping_of(entry.message) for entry in state.get_host().journal.entries("s")]
    calls = [mapping_of(one.get("params")) for one in sent if one.get("method") == "tools/call"]
    return mapping_of(calls[-1].get("_meta"))


@pytest.mark.parametrize(
    "line",
    [
        'add a=1 --meta {"example.org/t": {"ids": [1, "# it\'s;"]}}',
        'add --meta {"example.org/t": {"ids": [1, "# it\'s;"]}} {"a": 1}',
        'add {"a": 1} --meta {"example.org/t": {"ids": [1, "# it\'s;"]}} --timeout 20',
        "add a=1 --meta $along",
        "add a=1 --meta { {'example.org/t': along['example.org/t']} }",
    ],
)
def test_meta_goes_along_wherever_it_stands(served: Cells, line: str):
    along = {"example.org/t": {"ids": [1, "# it's;"]}}
    served.put(along=along)
    assert served.run(f"%mcp call s {line}").text == "2"
    assert last_meta()["example.org/t"] == along["example.org/t"]


def test_a_call_in_the_background_takes_them_too(served: Cells):
    call = served.run('%mcp call s add a=1 --background --meta {"x.org/a": 1} --timeout 20')
    assert call.result(timeout=30).text == "2"
    assert last_meta()["x.org/a"] == 1
    call = api.servers["s"].tools["add"].call({"a": 2}, meta={"x.org/a": 2}, background=True)
    assert call.result(timeout=30).text == "3"
    assert last_meta()["x.org/a"] == 2


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("--meta", "JSON is missing after --meta"),
        ("--meta [1]", "_meta is an object"),
        ("--meta hello", "cannot read --meta as JSON"),
        ("--meta '{\"a\": 1} x'", "one JSON object; what is"),
        ('--meta {"progressToken": 1}', "progressToken is set by the protocol"),
        ("--meta $nothing", "no notebook variable"),
        ("--timeout soon", "--timeout is a number above 0"),
        ("--timeout 0", "--timeout is a number above 0"),
    ],
)
def test_what_cannot_be_sent_along_is_one_line(served: Cells, option: str, says: str):
    with pytest.raises(UsageError, match=says) as caught:
        served.run(f"%mcp call s add a=1 {option}")
    assert "\n" not in str(caught.value)


def test_a_timeout_ends_this_call_alone(served: Cells):
    async def never() -> str:
        """Never ends."""
        import asyncio

        await asyncio.Event().wait()
        return "no"

    served["echo_server"].add_tool(never)
    served.run("%mcp reconnect s;")
    with pytest.raises(RequestTimeout):
        served.run("%mcp call s never --timeout 0.2")
    assert served.run("%mcp call s add a=1").text == "2"


def test_a_secret_in_meta_is_filled_and_masked(served: Cells, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TRACE_KEY", "s3cret-value-17")
    assert served.run('%mcp call s add a=1 --fill TRACE_KEY --meta {"x.org/key": "${TRACE_KEY}"}').text == "2"
    from jupyter_mcp.runtime import state

    trace = json.dumps([mapping_of(one.message) for one in state.get_host().journal.entries("s")])
    assert "x.org/key" in trace
    assert "s3cret-value-17" not in trace


def test_tab_offers_them():
    from jupyter_mcp.notebook import suggest

    assert {"--meta", "--timeout"} <= {text for text, _ in suggest.for_line(" call s.add --", cell=False).items}
