"""Tab on magic lines, in bodies, and on our objects in Python."""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from IPython.core.completer import provisionalcompleter

from jupyter_mcp.notebook import fetched, suggest, verbs
from jupyter_mcp.server import Server

if TYPE_CHECKING:
    from tests.notebook.conftest import Cells


def weather_server() -> Server:
    server = Server("weather", version="1")
    schema = {
        "type": "object",
        "properties": {
            "city": {"type": "string", "default": "New York"},
            "units": {"type": "string", "enum": ["metric", "imperial"]},
            "days": {"anyOf": [{"enum": [1, 2]}, {"type": "null"}]},
            "raw": {"type": "boolean"},
        },
        "required": ["city"],
    }

    @server.tool
    def forecast(city: str, units: str = "metric", days: int = 1, raw: bool = False) -> str:
        """Forecast."""
        return city

    @server.tool
    def compare(a: str) -> str:
        """Compare."""
        return a

    @server.resource("notes://{day}/{part}")
    def note(day: str, part: str) -> str:
        """A note."""
        return day + part

    @server.resource("text://hello world")
    def hello() -> str:
        """A greeting."""
        return "hello"

    @server.prompt
    def trip(country: str, city: str) -> str:
        """Plan a trip."""
        return country + city

    asked: list[tuple[str, dict[str, Any]]] = []

    @server.completion("trip", "country")
    def countries(value: str) -> list[str]:
        asked.append((value, {}))
        return [name for name in ("Spain", "Sweden", "France") if name.lower().startswith(value.lower())]

    @server.completion("trip", "city")
    def cities(value: str, context: dict[str, str]) -> list[str]:
        return {"Spain": ["Madrid", "Málaga"], "France": ["Paris"]}.get(context.get("country", ""), [])

    @server.completion("notes://{day}/{part}", "day")
    def days(value: str) -> list[str]:
        return ["monday", "tuesday"]

    server.asked = asked  # type: ignore[attr-defined]
    server.schema = schema  # type: ignore[attr-defined]
    return server


@pytest.fixture
def tab(cells: Cells) -> Any:
    """What Tab offers at the end of a text."""
    fetched.fetched.forget()
    cells.put(server=weather_server())
    cells.run("w = %mcp connect w $server")
    entry = cells["w"].entry
    listing = entry.connection.listing("tools")
    for item in listing.items:
        if item["name"] == "forecast":
            item["inputSchema"] = cells["server"].schema
    cells.put(w=cells["w"])

    def complete(text: str) -> list[str]:
        with provisionalcompleter():
            return [found.text for found in cells.shell.Completer.completions(text, len(text))]

    return complete


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("%mcp c", ["connect", "call", "complete", "cancel"]),
        ("r = %mcp c", ["connect", "call", "complete", "cancel"]),
        ("x = 1\n%mcp to", ["tools"]),
        ("for i in y:\n    %mcp too", ["tools"]),
        ("%%mcp c", ["connect", "call"]),
        ("%%mcp pol", ["policy"]),
        ("%mcp call w.", ["w.forecast", "w.compare"]),
        ("%mcp call fo", ["forecast"]),
        ("%mcp call w c", ["compare"]),
        ("%%mcp call w.f", ["w.forecast"]),
        ("%mcp call w.forecast ", ["city=", "units=", "days=", "raw="]),
        ("%mcp call w forecast city=x ", ["units=", "days=", "raw="]),
        ("%mcp call forecast u", ["units="]),
        ("%mcp call forecast units=", ["metric", "imperial"]),
        ("%mcp call forecast units=i", ["imperial"]),
        ("%mcp call forecast raw=", ["true", "false"]),
        ("%mcp call forecast days=", ["1", "2", "null"]),
        ("%mcp call forecast city=", ['"New York"']),
        ("%mcp call forecast city='a b' un", ["units="]),
        ("%mcp call forecast --", ["--background", "--no-raise", "--yes", "--timeout", "--meta", "--fill", "--help"]),
        ("%mcp call forecast --yes --n", ["--no-raise"]),
        ("%mcp tools ", ["w"]),
        ("%mcp tools --s", ["--search"]),
        ("%mcp disconnect ", ["w"]),
        ("%mcp log w --level w", ["warning"]),
        ("%mcp answer ", ["accept", "decline", "cancel", "clear"]),
        ("%mcp answer --server ", ["w"]),
        ("%mcp allow w.f", ["w.forecast"]),
        ("%mcp policy ", ["why", "accept", "reset"]),
        ("%mcp policy why w.c", ["w.compare"]),
        ("%mcp help rec", ["reconnect"]),
        ("%mcp connect x --e", ["--env", "--era"]),
        ("%mcp connect x --era m", ["modern"]),
        ("%mcp connect ", ["demo"]),
        ("%mcp read w ", ["text://hello world", "notes://{day}/{part}"]),
        ("%mcp read notes", ["notes://{day}/{part}"]),
        ("%mcp read w notes://{day}/{part} ", ["day=", "part="]),
        ("%mcp prompt w.trip ", ["country=", "city="]),
        ("%mcp prompt tr", ["trip"]),
        ("%mcp complete trip ", ["country", "city"]),
        ("%%mcp call forecast\nun", ["units: "]),
        ("%%mcp call forecast\ncity: x\n", ["units: ", "days: ", "raw: "]),
        ("%%mcp call forecast\nunits: m", ["metric"]),
        ('%%mcp call forecast\n{"un', ["units"]),
        ('%%mcp call forecast\n{"city": "x", "', ["city", "units", "days", "raw"]),
        ('%%mcp call forecast\n{"units": ', ['"metric"', '"imperial"']),
        ("w.tools.", ["compare", "forecast"]),
        ("w.tools.fo", ["forecast"]),
        ("w.tools['f", ["forecast"]),
        ("w.tools.forecast(", ["city=", "units=", "days=", "raw="]),
        ("x = w.tools.forecast('y', un", ["units="]),
        ("w.tools['forecast'](un", ["units="]),
        ("w.tools.forecast(units=", ["'metric'", "'imperial'"]),
        ('w.tools.forecast(units="m', ['"metric"']),
        ("w.prompts.trip(", ["country=", "city="]),
        ("mcp.servers.w.tools.fo", ["forecast"]),
        ("mcp.servers['", ["w"]),
    ],
)
def test_tab_offers(tab: Any, cells: Cells, text: str, offered: list[str]):
    import jupyter_mcp

    cells.put(mcp=jupyter_mcp)
    assert tab(text) == offered


@pytest.mark.parametrize("text", ["%mcp", "mcp_thing = 3", "print('%mcp c", "x = 5 %mcp"])
def test_other_code_is_left_alone(tab: Any, text: str):
    assert "call" not in tab(text)


def test_the_words_of_a_command_are_left_to_ipython(tab: Any):
    assert not suggest.for_line(" connect x python some").ours
    assert not suggest.for_line(" connect --from some").ours


def offered_for(line: str) -> list[str]:
    return [text for text, _ in suggest.for_line(line).items]


def test_the_values_of_a_prompts_argument_come_at_the_next_tab(tab: Any):
    assert offered_for(" prompt w.trip country=S") == []
    assert wait_for(lambda: offered_for(" prompt w.trip country=S")) == ["Spain", "Sweden"]
    assert offered_for(" prompt w.trip country=Sp") == ["Spain"]  # from what is known, at once
    assert tab("%mcp prompt w.trip country=S") == ["Spain", "Sweden"]


def test_a_second_argument_depends_on_the_first(tab: Any):
    assert wait_for(lambda: offered_for(" prompt w.trip country=Spain city=")) == ["Madrid", "Málaga"]
    assert wait_for(lambda: offered_for(" prompt w.trip country=France city=")) == ["Paris"]


def test_the_variables_of_a_template_are_completed(tab: Any):
    assert wait_for(lambda: offered_for(" read w notes://{day}/{part} day=")) == ["monday", "tuesday"]


def test_fast_typing_asks_once(tab: Any, cells: Cells):
    for text in ("S", "Sp", "Spa", "Spai"):
        offered_for(f" prompt w.trip country={text}")
    assert wait_for(lambda: cells["server"].asked) is not None
    wait_for(lambda: not fetched.fetched._asked)  # pyright: ignore[reportPrivateUsage]
    assert [value for value, _ in cells["server"].asked] == ["Spai"]


def test_two_thousand_tools_do_not_slow_typing_down(tab: Any, cells: Cells):
    listing = cells["w"].entry.connection.listing("tools")
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    listing.items.extend({"name": f"tool_{number}", "inputSchema": schema} for number in range(2_000))
    suggest.for_line(" call ")
    for line in (" call ", " call w.tool_19", " call w tool_1", " call tool_77 ", " allow w."):
        began = time.perf_counter()
        found = suggest.for_line(line)
        took = time.perf_counter() - began
        assert found.items
        assert took < 0.1, f"{line}: {took * 1000:.1f} ms"  # 10 ms on a free machine; this one may be busy


def test_it_never_raises(tab: Any, monkeypatch: pytest.MonkeyPatch):
    for text in (
        '%mcp call w.forecast "',
        "%mcp call w.forecast city={",
        "%mcp zzz ",
        "%mcp call w.x {",
        "%mcp # c",
        "%mcp ;",
    ):
        tab(text)
    for name in verbs.table():
        for more in ("", " ", " x", " x y ", " --", " --x ", " w", " w ", " a=", ' {"'):
            suggest.for_line(f" {name}{more}")
            suggest.for_body(f" {name}{more}", '{"a')

    def broken(_rest: str, *, cell: bool = False) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(suggest, "for_line", broken)
    tab("%mcp call ")


def wait_for(true: Any, seconds: float = 20.0) -> Any:
    """The first true value; events happen on another thread, so it is looked for again and again."""
    tick = threading.Event()
    end = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < end
        tick.wait(0.02)
    return found


def test_after_a_file_the_names_of_its_servers_are_offered(tmp_path: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    one: Any = {
        "mcpServers": {"weather": {"command": "uvx"}, "notes": {"url": "https://h/mcp"}, "broken": {"args": []}}
    }
    (tmp_path / "some.json").write_text(json.dumps(one))
    assert offered_for(" connect --from some.json ") == ["weather", "notes", "broken"]
    assert offered_for(" connect --from some.json no") == ["notes"]
    assert offered_for(" connect --from some.json notes ") == ["weather", "broken"]
    assert offered_for(" connect --from some.json notes weather br") == ["broken"]
    for nothing in ("none.json", ".", "'a\0b'", "~nobody/x.json"):
        assert offered_for(f" connect --from {nothing} ") == []
    (tmp_path / "bad.json").write_text('{"mcpServers": [')
    assert offered_for(" connect --from bad.json ") == []
