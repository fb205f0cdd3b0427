"""Names of tools for models: the characters that providers take, stable, and nobody's but their own."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from jupyter_mcp.host.conversation.names import ToolNames, model_name

FIT = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
SERVERS = st.from_regex(r"[A-Za-z0-9_-]{1,32}", fullmatch=True)
TOOLS = st.one_of(
    st.text(max_size=100),
    st.sampled_from(["get.weather", "a__b", "näme", "x" * 200, "add"]),
    st.from_regex(r"[a-z_]{1,6}", fullmatch=True),
)


def test_an_ordinary_name_is_the_server_two_underscores_and_the_tool() -> None:
    assert model_name("demo", "add") == "demo__add"
    assert model_name("my-server_2", "get-env_x") == "my-server_2__get-env_x"


def test_a_name_that_does_not_fit_ends_in_a_digest_and_still_says_what_it_is() -> None:
    for tool in ("files.read", "größe", "a b", "x" * 100):
        assert re.fullmatch(r"demo__[A-Za-z0-9_-]+_[0-9a-f]{10}", model_name("demo", tool))


def test_a_server_that_begins_with_a_digit_gets_a_name_that_begins_with_a_letter() -> None:
    assert re.fullmatch(r"t3d__cube_[0-9a-f]{10}", model_name("3d", "cube"))


@given(SERVERS, TOOLS)
def test_every_name_has_only_characters_that_every_provider_takes(server: str, tool: str) -> None:
    assert FIT.match(model_name(server, tool))


@given(st.lists(st.tuples(SERVERS, TOOLS), unique=True, max_size=12))
def test_names_can_be_read_back_and_stay_the_same(tools: list[tuple[str, str]]) -> None:
    names = ToolNames()
    given_ = {tool: names.give(*tool) for tool in tools}
    assert len(set(given_.values())) == len(tools)
    for tool, name in given_.items():
        assert names.meant(name) == tool
        assert names.give(*tool) == name


def test_two_tools_whose_joined_names_are_equal_have_two_names() -> None:
    names = ToolNames()
    assert names.give("a", "b__c") != names.give("a__b", "c")
    assert names.give("a_", "b") != names.give("a", "_b")


def test_no_tool_can_take_the_name_of_another_by_being_called_like_its_digest() -> None:
    odd = model_name("demo", "files.read")
    thief = odd.removeprefix("demo__")
    assert model_name("demo", thief) != odd


def test_the_same_tool_has_the_same_name_in_every_conversation() -> None:
    one, other = ToolNames(), ToolNames()
    other.give("x", "y")
    assert one.give("demo", "files.read") == other.give("demo", "files.read")


def test_a_name_that_was_never_given_means_nothing() -> None:
    assert ToolNames().meant("demo__add") is None
