"""Notebook objects in a magic line: only a value that is wholly `$name` or `{expression}`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jupyter_mcp.errors import UsageError
from jupyter_mcp.notebook.namespace import Namespace

NAMES = Namespace({"name": "Ann", "n": 3, "rows": [1, 2], "path": Path("a/b"), "_secret": 1}, {"n": 4, "local": "here"})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$name", "Ann"),
        ("$n", 4),
        ("$local", "here"),
        ("{n + 1}", 5),
        ("{ name.upper() }", "ANN"),
        ("{[x * n for x in rows]}", [4, 8]),
        ("{{'a': n}['a']}", None),
        ("{rows[0]}", 1),
        ("{n, 1}", (4, 1)),
    ],
)
def test_a_whole_value_is_an_object(text: str, value: Any):
    typed = NAMES.read(text)
    if value is None:  # it starts with the escape for a brace
        assert not typed.is_object
    else:
        assert typed.value == value


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("costs $n", "costs $n"),
        ("$n!", "$n!"),
        ("${HOME}", "${HOME}"),
        ("$5", "$5"),
        ("a {n}", "a {n}"),
        ("$$name", "$name"),
        ("$$", "$"),
        ("$$$x", "$$x"),
        ("{{n}}", "{n}"),
        ("{{n", "{n"),
        ("{}", "{}"),
        ("{ }", "{ }"),
        ('{"a": 1}', '{"a": 1}'),
        ("", ""),
        ("pa$$word", "pa$$word"),
    ],
)
def test_everything_else_is_text(text: str, plain: str):
    typed = NAMES.read(text)
    assert not typed.is_object
    assert typed.text == plain


def test_an_unknown_name_is_an_error_with_the_nearest_one():
    with pytest.raises(UsageError, match=r"no notebook variable 'nam'.*\$name.*\$\$nam"):
        NAMES.read("$nam")


def test_names_of_the_machinery_are_not_offered():
    with pytest.raises(UsageError) as caught:
        NAMES.read("$secret")
    assert "_secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "says"), [("{nam}", "NameError"), ("{1/0}", "ZeroDivisionError"), ("{rows[9]}", "IndexError")]
)
def test_an_expression_that_fails_says_how(text: str, says: str):
    with pytest.raises(UsageError, match=says) as caught:
        NAMES.read(text)
    assert text in str(caught.value)


@pytest.mark.parametrize("text", ["{len(rows}", "{hello world}", '{"a": n}', "{n = 2}", "{import os}"])
def test_what_is_neither_an_expression_nor_json_is_refused_and_never_guessed(text: str):
    with pytest.raises(UsageError, match="neither an expression"):
        NAMES.read(text)


def test_an_expression_changes_nothing_in_the_notebook():
    names: dict[str, Any] = {"n": 1}
    Namespace(names).read("{(n := 2)}")
    assert names == {"n": 1}


def test_where_text_is_needed_text_numbers_and_paths_do():
    assert NAMES.text("$name") == "Ann"
    assert NAMES.text("{n}") == "4"
    assert NAMES.text("$path") == str(Path("a/b"))
    with pytest.raises(UsageError, match="list"):
        NAMES.text("$rows")
