"""What a page is told of prompts, and the cells that come of its forms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import MCPError, UsageError
from jupyter_mcp.notebook.panel import prompts
from jupyter_mcp.runtime import state
from jupyter_mcp.runtime.thread import get_runtime
from jupyter_mcp.server import Server

if TYPE_CHECKING:
    from tests.notebook.conftest import Cells

FILLED = {"server": "s", "prompt": "review", "arguments": {"language": "python", "style": "a\nb"}}


def ask(act: str, **data: Any) -> Any:
    return get_runtime().submit(prompts.ACTS[act], data).result(30)


def test_each_prompt_comes_with_its_arguments_and_which_are_needed(served: Cells) -> None:
    (found,) = ask("prompts")["prompts"]
    assert (found["server"], found["name"]) == ("s", "review")
    assert [(one["name"], one["required"]) for one in found["arguments"]] == [("language", True), ("style", False)]


def test_a_kernel_that_used_no_server_has_none_and_no_host_is_made(cells: Cells) -> None:
    assert ask("prompts") == {"prompts": [], "left_off": 0}
    assert state.existing_host() is None


def test_what_a_server_writes_about_its_prompts_is_bounded_and_salvaged(cells: Cells) -> None:
    server = Server("odd")
    server.add_prompt(lambda: "x", name="p", title="\x1b[31mred\x1b[0m\nline", description="d" * 90_000)
    cells.put(odd=server)
    cells.run("%mcp connect odd $odd ;")
    (found,) = ask("prompts")["prompts"]
    assert found["title"] == "red line"
    assert len(found["description"]) < 2_100


def test_an_argument_goes_on_as_its_server_suggests(served: Cells) -> None:
    asked = {"server": "s", "prompt": "review", "argument": "language"}
    assert ask("prompt_complete", **asked, value="p", others={}) == {"values": ["python", "perl"]}
    assert ask("prompt_complete", **asked, value="", others={}) == {"values": ["python", "perl", "rust"]}


def test_messages_come_as_text_as_markdown_and_as_a_question(served: Cells) -> None:
    found = ask("prompt_messages", **FILLED)
    said = "Review this python code; be a\nb."
    assert found["messages"] == [{"role": "user", "text": said}]
    assert found["markdown"] == f"**user**\n\n{said}"
    assert found["ask"] == f"%%mcp ask\n{said}"
    assert state.get_host().journal.acts()[-1].origin == "person"


def test_the_cell_that_is_written_gets_the_same_messages(served: Cells) -> None:
    source = ask("prompt_cell", **FILLED)["source"]
    assert served.run(source).dicts[0]["content"]["text"] == "Review this python code; be a\nb."


@pytest.mark.parametrize(
    "odd",
    [{}, {"server": 3, "prompt": "review"}, {"server": "s", "prompt": "review", "arguments": {"language": ["x"]}}],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(served: Cells, odd: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="has to be a text"):
        ask("prompt_messages", **odd)


def test_a_server_that_is_gone_is_named(served: Cells) -> None:
    with pytest.raises(MCPError, match="nowhere"):
        ask("prompt_messages", server="nowhere", prompt="review", arguments={})
