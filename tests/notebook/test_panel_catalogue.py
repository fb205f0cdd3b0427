"""What a page finds of all that servers offer, and the cells that use it."""

from __future__ import annotations

import asyncio
from time import perf_counter
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import MCPError, RequestTimeout, UsageError
from jupyter_mcp.notebook.cards.explorer.index import Thing
from jupyter_mcp.notebook.panel import catalogue, lists
from jupyter_mcp.runtime import state
from jupyter_mcp.runtime.thread import get_runtime
from jupyter_mcp.server import Server

if TYPE_CHECKING:
    from tests.notebook.conftest import Cells


def ask(act: str, **data: Any) -> Any:
    return get_runtime().submit(catalogue.ACTS[act], data).result(30)


def names(**data: Any) -> list[str]:
    return [one["name"] for one in ask("catalogue", look=True, **data)["items"]]


def cell(words: str, kind: str = "") -> dict[str, str]:
    found = ask("catalogue", look=True, words=words, kind=kind)["items"]
    return ask("catalogue_cell", id=found[0]["id"])


def tool(name: str, **properties: Any) -> Thing:
    needed = [key for key, value in properties.items() if not value.pop("left", False)]
    schema = {"type": "object", "properties": properties, "required": needed}
    return Thing.of("tool", "s", {"name": name, "inputSchema": schema})


def test_everything_that_all_servers_offer_is_found(served: Cells) -> None:
    said = ask("catalogue", words="", look=True)
    assert {one["kind"] for one in said["items"]} == {"tool", "resource", "template", "prompt"}
    assert said["found"] == said["total"] == len(said["items"])
    assert said["servers"] == 1


def test_words_are_looked_for_in_any_order_and_the_name_counts_most(served: Cells) -> None:
    assert names(words="add s.")[0] == "add"
    assert names(words="nothing-of-this-kind") == []
    assert names(words="", kind="prompt") == ["review"]


def test_a_page_gets_no_more_rows_than_it_shows_and_how_many_there_are(served: Cells) -> None:
    said = ask("catalogue", words="", look=True, limit=2)
    assert len(said["items"]) == 2 < said["found"]
    assert ask("catalogue", words="", limit=-1)["items"] == []


class Lists:
    """A connection that has some lists, and cannot read others."""

    def __init__(self, *read: str, broken: bool = False) -> None:
        self.read, self.broken, self.asked = set(read), broken, []

    read: set[str]
    asked: list[str]

    def listing(self, kind: str) -> object:
        return object() if kind in self.read else None

    async def list(self, kind: str) -> None:
        self.asked.append(kind)
        if self.broken:
            raise RequestTimeout("No answer.")
        self.read.add(kind)


def test_only_lists_that_were_never_read_are_read_so_that_asking_again_and_again_asks_no_server() -> None:
    new, known, broken, away = Lists(), Lists(*lists.KINDS), Lists(broken=True), Lists()
    entries = [SimpleNamespace(connection=one, ready=one is not away) for one in (new, known, broken, away)]
    host: Any = SimpleNamespace(servers=dict(enumerate(entries)))
    for _ in range(2):
        asyncio.run(lists.read_lists(host))
    assert (new.asked, known.asked, away.asked) == (list(lists.KINDS), [], [])
    assert broken.asked == [*lists.KINDS, *lists.KINDS]


def test_what_is_new_in_a_list_is_found(served: Cells) -> None:
    assert names(words="brand new") == []
    served.put(more=(other := Server("more")))
    other.add_tool(lambda: "x", name="brand_new", title="Brand new")
    served.run("%mcp connect more $more ;")
    assert names(words="brand new") == ["Brand new"]
    served.run("%mcp disconnect more")
    assert names(words="brand new") == []


def test_a_kernel_that_used_no_server_has_nothing_and_no_host_is_made(cells: Cells) -> None:
    assert ask("catalogue", words="x", look=True) == {"items": [], "found": 0, "total": 0, "servers": 0}
    assert state.existing_host() is None


def test_a_call_names_variables_for_what_only_a_person_knows_and_cannot_run_without_them(served: Cells) -> None:
    found = cell("add", "tool")
    assert found == {"source": "%mcp call s.add a=$a", "fill": "$a"}
    with pytest.raises(MCPError, match=r"\ba\b"):
        served.run(found["source"])
    served.put(a=4)
    assert served.run(found["source"]).data == 5


def test_what_needs_nothing_is_ready_to_run(served: Cells) -> None:
    assert cell("fail", "tool") == {"source": "%mcp call s.fail", "fill": ""}


def test_prompts_and_templates_name_what_they_need(served: Cells) -> None:
    assert cell("review") == {"source": "%mcp prompt s.review language=$language", "fill": "$language"}
    found = cell("", "template")
    assert found["fill"] == "$day"
    served.put(day="today")
    assert served.run(found["source"]).text


def test_a_resource_is_read(served: Cells) -> None:
    found = cell("", "resource")
    assert found["fill"] == ""
    assert served.run(found["source"]).text


def test_a_needed_value_that_the_schema_gives_is_written_and_the_rest_is_a_variable() -> None:
    thing = tool("t", unit={"type": "string", "default": "km"}, far={"type": "number"}, note={"left": True})
    source, needed = catalogue.call_of(thing)
    assert source == "%mcp call s.t unit=km far=$far"
    assert needed == {"/far": "far"}


@pytest.mark.parametrize(
    ("name", "variable"), [("max-rows", "max_rows"), ("class", "_class"), ("2nd", "_2nd"), ("größe", "gr__e")]
)
def test_an_argument_whose_name_is_none_of_python_has_a_variable_all_the_same(name: str, variable: str) -> None:
    source, needed = catalogue.call_of(tool("t", **{name: {"type": "string"}}))
    assert list(needed.values()) == [variable]
    assert variable in source


def test_two_arguments_never_share_a_variable() -> None:
    _, needed = catalogue.call_of(tool("t", **{"a-b": {"type": "string"}, "a_b": {"type": "string"}}))
    assert len(set(needed.values())) == 2


def test_a_hostile_name_stays_inside_its_line() -> None:
    source, _ = catalogue.call_of(tool("x\n!rm -rf ~\n", **{"a\n!ls": {"type": "string"}}))
    assert "\n" not in source


def test_what_servers_write_is_bounded_and_cleaned_and_ids_are_short(cells: Cells) -> None:
    server = Server("odd")
    server.add_tool(lambda: "x", name="t" * 120, title="\x1b[31mred\nline", description="d" * 90_000)
    server.add_resource("odd://" + "u" * 50_000, lambda: "x", name="long")
    cells.put(odd=server)
    cells.run("%mcp connect odd $odd ;")
    said = ask("catalogue", words="", look=True)
    assert len(str(said)) < 3_000
    assert "\x1b" not in str(said)
    assert all(len(one["id"]) == 24 for one in said["items"])


@pytest.mark.parametrize("data", [{}, {"id": 3}, {"id": "unknown"}])
def test_what_is_not_there_is_said_in_a_sentence(served: Cells, data: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        ask("catalogue_cell", **data)


@pytest.mark.parametrize("odd", [{"words": 3}, {"limit": "x"}, {"limit": True}, {"kind": "nonsense"}])
def test_what_makes_no_sense_is_no_error(served: Cells, odd: dict[str, Any]) -> None:
    assert ask("catalogue", **odd)["total"] > 0


def test_two_thousand_tools_are_searched_at_each_key(cells: Cells) -> None:
    server = Server("big")
    for number in range(2_000):
        server.add_tool(lambda: "x", name=f"tool_{number}", description="does something useful " * 8)
    cells.put(big=server)
    cells.run("%mcp connect big $big ;")
    ask("catalogue", words="", look=True)
    times: list[float] = []
    for word in ("t", "to", "tool", "tool 1", "tool 19", "tool_199"):
        begun = perf_counter()
        said = ask("catalogue", words=word)
        times.append(perf_counter() - begun)
        assert len(said["items"]) <= catalogue.MOST
    assert min(times) < 0.25
