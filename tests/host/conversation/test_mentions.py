"""What a question names to go along, and what only looks like it."""

from __future__ import annotations

import pytest

from jupyter_mcp.errors import UsageError
from jupyter_mcp.host.conversation.mentions import PromptLine, ResourceMention, read_question

SERVERS = ["demo", "docs"]
PROMPTS = ["demo.review", "docs.review", "demo.plan-trip"]


def resources(text: str) -> list[str]:
    return [f"{one.server} {one.uri}" for one in read_question(text, SERVERS, PROMPTS).resources]


@pytest.mark.parametrize(
    ("text", "uri"),
    [
        ("see @demo:notes://today.", "notes://today"),
        ("(@demo:notes://today)", "notes://today"),
        ("@demo:notes://today, please", "notes://today"),
        ("@demo:file:///a/b_(1).txt?", "file:///a/b_(1).txt"),
        ("@demo:<file:///a b.txt> x", "file:///a b.txt"),
        ("@demo:urn:x:1", "urn:x:1"),
        ("“@demo:notes://today”", "notes://today”"),
    ],
)
def test_a_resource_is_named_up_to_the_sentences_own_marks(text: str, uri: str) -> None:
    assert resources(text) == [f"demo {uri}"]


def test_each_is_named_once_in_order_and_stays_in_the_text() -> None:
    asked = read_question("@docs:a://1 and @demo:b://2 and @docs:a://1", SERVERS, PROMPTS)
    assert asked.resources == [ResourceMention("docs", "a://1"), ResourceMention("demo", "b://2")]
    assert asked.text == "@docs:a://1 and @demo:b://2 and @docs:a://1"


@pytest.mark.parametrize(
    "text",
    ["ada@demo:x", "mail ada@example.org", "@ada said: hi", "@someone:hello", "`a.@demo:x`", "@demo: hi", "//@demo:x"],
)
def test_what_only_looks_like_a_mention_is_text(text: str) -> None:
    assert resources(text) == []


@pytest.mark.parametrize("text", ["@dmeo:notes://today", "@nobody:notes://today"])
def test_a_server_that_is_not_there_is_an_error(text: str) -> None:
    with pytest.raises(UsageError, match="names no connected server"):
        read_question(text, SERVERS, PROMPTS)


def test_a_prompt_line_goes_and_its_arguments_are_read_as_in_a_shell() -> None:
    asked = read_question('/demo.review language=python style="very kind" empty=\nBe quick.', SERVERS, PROMPTS)
    arguments = {"language": "python", "style": "very kind", "empty": ""}
    assert asked.prompts == [PromptLine("demo", "review", arguments)]
    assert asked.text == "Be quick."


def test_a_bare_name_is_enough_when_only_one_server_has_it() -> None:
    assert read_question("/plan-trip city=Paris", SERVERS, PROMPTS).prompts[0].server == "demo"
    with pytest.raises(UsageError, match=r"offered by 2 servers\. Write /demo\.review or /docs\.review"):
        read_question("/review", SERVERS, PROMPTS)


@pytest.mark.parametrize("line", ["/usr/bin/env", "/tmp", "/ is root", "a /demo.review", "/* x */", "/s/x/y"])
def test_what_only_looks_like_a_prompt_is_text(line: str) -> None:
    asked = read_question(line, SERVERS, PROMPTS)
    assert (asked.text, list(asked.prompts)) == (line, [])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("/demo.reviw", r"Did you mean /demo\.review\?"),
        ("/demo.review python", "'python' is not key=value"),
        ("/demo.review a=1 a=2", "a is given twice"),
        ("/demo.review text='open", "no closing quotation"),
    ],
)
def test_a_mistake_in_a_prompt_line_is_an_error(line: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_question(line, SERVERS, PROMPTS)


def test_a_slash_alone_asks_for_the_list() -> None:
    asked = read_question(" / ", SERVERS, PROMPTS)
    assert (asked.wants_list, asked.text) == (True, "")
