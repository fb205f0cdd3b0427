"""Names that nobody would choose: each is its own tool, in full, and can be shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.host import Host
from jupyter_mcp.host.result import PromptResult, Read, Result
from jupyter_mcp.host.specs import ServerSpec
from tests import fakes

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

pytestmark = pytest.mark.anyio

NAMES = [
    "send",
    "send ",
    " send",
    "Send",
    "天気",
    "a\nb",
    "a.send",
    "=?base64?aGk=?=",
    "🎉",
    "x" * 3000,
    "\ud800",
    "<b>x</b>",
]


@pytest.fixture
async def host() -> AsyncGenerator[Host]:
    host = Host()
    command, args = fakes.command(only=True, tools=[{"name": name, "inputSchema": {}} for name in NAMES])
    await host.connect(ServerSpec.parse("a", [command, *args], era="legacy"))
    yield host
    await host.aclose()


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
async def test_a_name_means_the_tool_of_that_very_name(host: Host, name: str):
    ways = [(f"a.{name}",), (name, "a"), *([] if name == "a.send" else [(name,)])]
    found = [(await host.resolve("tool", *way))[1]["name"] for way in ways]
    assert set(found) == {name}
    assert (await host.call_tool("a", found[0])).text == name


async def test_blanks_around_a_name_are_forgiven_where_no_tool_has_them(host: Host):
    _, item = await host.resolve("tool", " a.Send ")
    assert item["name"] == "Send"


async def test_names_are_told_short_and_in_one_line(host: Host):
    with pytest.raises(UsageError) as failed:
        await host.resolve("tool", "a.zzzzzzzzz")
    assert len(str(failed.value)) < 400 and "\n" not in str(failed.value)
    str(failed.value).encode()


@pytest.mark.parametrize("name", ["a\nb", "\ud800", "x" * 3000, "\x1b[31mred"], ids=range(4))
def test_what_shows_itself_by_its_name_does_so_in_one_line(name: str):
    raw: dict[str, Any] = {"content": [{"type": "text", "text": name}]}
    contents = {"contents": [{"uri": name, "text": name, "mimeType": name}]}
    for value in (
        Result(raw, server="s", tool=name),
        Read(contents, server="s", uri=name),
        Read(contents, server="s", uri=name).contents[0],
        PromptResult({"messages": []}, server="s", prompt=name),
    ):
        shown = repr(value)
        assert "\n" not in shown and "\x1b" not in shown and len(shown) < 700
        shown.encode()
