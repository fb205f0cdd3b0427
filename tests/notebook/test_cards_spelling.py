"""What cards write into cells means what was said, and never more, whatever servers and people say."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.inputtransformer2 import TransformerManager

from jupyter_mcp.notebook.cards.spelling import magic_line, prompt_line, read_line
from jupyter_mcp.notebook.lineparse import Grammar, parse
from jupyter_mcp.notebook.namespace import Namespace

ODD = st.text() | st.text(alphabet="a '\"\\$`{}[]=#;\n\r\t\x1c\x85\u2028,:")
HOSTILE = ["x'\nimport os #", "x\rimport os", "x\u2028import os", "x\x85import os", "x\x1cimport os", "a\vb", "a\fb"]


def meaning(line: str) -> tuple[list[str], dict[str, str]]:
    """The words and arguments of a `%mcp prompt` line, as the magic reads them."""
    head = "%mcp prompt "
    assert line.startswith(head)
    read = Namespace({}).read
    found = parse(line[len(head) :], Grammar(pairs=True, json=True), read=read)
    body = dict(found.body) if found.body is not None else {}
    return [word.text for word in found.words], {**body, **{pair.key: read(pair.value).text for pair in found.pairs}}


@given(ODD, ODD)
def test_a_prompts_arguments_arrive_as_they_were_filled_in(one: str, two: str) -> None:
    line = prompt_line("demo", "review", {"code": one, "language": two})
    assert meaning(line) == (["demo.review"], {"code": one, "language": two})


@pytest.mark.parametrize(
    "text", ["$df", "{1 + 1}", "$$x", "{{x}}", "[1]", "two\nlines", "a\tb", "C:\\new", 'it\'s "so"']
)
def test_text_that_looks_like_something_else_stays_text(text: str) -> None:
    assert meaning(prompt_line("demo", "review", {"code": text}))[1] == {"code": text}


def test_plain_words_stay_plain() -> None:
    assert (
        prompt_line("d", "p", {"language": "python", "city": "New York"})
        == "%mcp prompt d.p language=python city='New York'"
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_that_a_server_names_begins_a_line_of_its_own(text: str) -> None:
    """IPython ends lines at more characters than a newline."""
    for source in (
        read_line("d", text),
        prompt_line("d", text, {"a": "b"}),
        prompt_line("d", "p", {"a": text}),
        magic_line("d", text, {"a": 1}),
        magic_line("d", "t", {"a": text}),
        magic_line("d", "t", {"a": text, "rows": 1}, {"/rows": "rows"}),
    ):
        assert len(source.splitlines()) == 1
        assert len(ast.parse(TransformerManager().transform_cell(source)).body) == 1
