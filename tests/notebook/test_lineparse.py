"""The grammar of a magic line."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_mcp.errors import UsageError
from jupyter_mcp.notebook.lineparse import Grammar, Line, Option, Scanner, parse, split_verb

CALL = Grammar(options=(Option("yes"), Option("timeout", "S")), pairs=True, json=True)
CONNECT = Grammar(
    options=(
        Option("env", "K=V", repeat=True),
        Option("era", "E", choices=("auto", "legacy", "modern")),
        Option("inherit-env"),
    ),
    command=True,
)


def call(line: str, *, windows: bool = False) -> Line:
    return parse(line, CALL, windows=windows)


def connect(line: str, *, windows: bool = False) -> Line:
    return parse(line, CONNECT, windows=windows)


def words(line: Line) -> list[str]:
    return [word.text for word in line.words]


def pairs(line: Line) -> list[tuple[str, str, bool]]:
    return [(word.key, word.value, word.forced) for word in line.pairs]


# --- JSON on the line (the rows of the case "braces in a magic line") ------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"q": "a", "n": 1}', {"q": "a", "n": 1}),
        ('{"t": "{12}"}', {"t": "{12}"}),
        ('{"t": "costs $n and ${name}"}', {"t": "costs $n and ${name}"}),
        ('{"t": "{name}", "u": "{{x}}"}', {"t": "{name}", "u": "{{x}}"}),
        ('{"t": "50%", "u": "a|b;c#d"}', {"t": "50%", "u": "a|b;c#d"}),
        ('{"t": "x ; y # z", "u": " #"}', {"t": "x ; y # z", "u": " #"}),
        ('{"path": "C:\\\\new", "é": "\\u00e9"}', {"path": "C:\\new", "é": "é"}),
        ("{}", {}),
    ],
)
def test_json_arrives_as_written(text: str, value: Any):
    line = call(f"s echo {text}")
    assert words(line) == ["s", "echo"]
    assert line.body == value
    assert not line.silent


def test_a_brace_in_json_is_never_expanded_but_refused_with_its_column_and_the_text():
    with pytest.raises(UsageError) as caught:
        call('s echo {"n": {n}}')
    assert "column 8" in str(caught.value)
    assert '{"n": {n}}' in str(caught.value)


@pytest.mark.parametrize("name", ["NaN", "Infinity", "-Infinity"])
def test_what_is_not_json_is_named(name: str):
    with pytest.raises(UsageError, match=f"{name} is not valid JSON"):
        call(f'x {{"m": {name}}}')


def test_a_key_given_twice_in_json_is_an_error():
    with pytest.raises(UsageError, match="'a' is given twice"):
        call('x {"a": 1, "a": 2}')


def test_options_a_semicolon_and_a_comment_may_follow_the_json():
    line = call('x {"a": 1} --yes ; # done')
    assert line.body == {"a": 1}
    assert line.flag("yes")
    assert line.silent


@pytest.mark.parametrize("text", ['x {"a": 1} y', 'x {"a": 1} {"b": 2}', 'x a=1 {"b": 2}', 'x {"b": 2} a=1'])
def test_json_stands_alone(text: str):
    with pytest.raises(UsageError):
        call(text)


def test_deep_json_is_an_error_and_no_crash():
    with pytest.raises(UsageError):
        call("x " + '{"a":' * 100_000)


# --- words and quoting -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a b", ["a", "b"]),
        ("'a b' \"c d\"", ["a b", "c d"]),
        ("'it''s'", ["its"]),
        ('"it\'s"', ["it's"]),
        ("a\\ b", ["a b"]),
        ('"a \\"b\\" c"', ['a "b" c']),
        ("'a\\b'", ["a\\b"]),
        ('"a\\nb"', ["a\\nb"]),
        ('"a\\\\b"', ["a\\b"]),
        ("C:\\Users\\x", ["C:\\Users\\x"]),
        ("\\\\server\\share", ["\\\\server\\share"]),
        ("\\d+\\.\\w", ["\\d+\\.\\w"]),
        ("''", [""]),
        ("a '' b", ["a", "", "b"]),
        ("日本 é", ["日本", "é"]),
    ],
)
def test_words_are_quoted_as_in_a_shell(text: str, found: list[str]):
    assert words(call(text)) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('"C:\\Program Files\\x.exe" -y', ["C:\\Program Files\\x.exe"]),
        ('"C:\\dir\\"', ["C:\\dir\\"]),
        ('"C:\\new\\\\x"', ["C:\\new\\\\x"]),
        ("C:\\dir\\ x", ["C:\\dir\\", "x"]),
        ('"say \\"hi\\""', ['say "hi"']),
    ],
)
def test_windows_paths_keep_their_backslashes(text: str, found: list[str]):
    assert words(connect(f"-- s {text}", windows=True))[1 : 1 + len(found)] == found


def test_an_open_quote_is_named_with_its_column():
    with pytest.raises(UsageError, match="column 3 is not closed"):
        call('x "abc')


def test_a_completer_can_read_an_open_quote():
    scanner = Scanner('a "b c', tolerant=True)
    assert [scanner.word().text, (scanner.at_end(), scanner.word().text)[1]] == ["a", "b c"]


# --- comments and the semicolon --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found", "silent"),
    [
        ("a # b ; c", ["a"], False),
        ("a #b", ["a"], False),
        ("a#b", ["a#b"], False),
        ("a '#b'", ["a", "#b"], False),
        ("a \\#b", ["a", "#b"], False),
        ("a;", ["a"], True),
        ("a ;", ["a"], True),
        ("a ; # c", ["a"], True),
        ("a; # c", ["a"], True),
        ("a; b", ["a;", "b"], False),
        ("a 'b;'", ["a", "b;"], False),
        ("a b\\;", ["a", "b;"], False),
        (";", [], True),
        ("", [], False),
        ("# only", [], False),
    ],
)
def test_comments_and_the_semicolon(text: str, found: list[str], silent: bool):
    line = call(text)
    assert words(line) == found
    assert line.silent is silent


def test_the_verb_is_the_first_word():
    assert split_verb(" tools demo") == ("tools", " demo")
    assert split_verb("tools;") == ("tools", ";")
    assert split_verb("") == ("", "")
    assert split_verb("# c")[0] == ""
    assert split_verb(" ;") == ("", ";")


# --- pairs -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a=1", [("a", "1", False)]),
        ("a=", [("a", "", False)]),
        ("a='x y'", [("a", "x y", False)]),
        ('a="x=y"', [("a", "x=y", False)]),
        ("a=b=c", [("a", "b=c", False)]),
        ("a:=1", [("a", "1", True)]),
        ('a:={"b": [1, 2]} c=1', [("a", '{"b": [1, 2]}', True), ("c", "1", False)]),
        ('a:="x \\" y"', [("a", '"x \\" y"', True)]),
        ("a=[1, 2]", [("a", "[1, 2]", False)]),
        ('a={"b": "}"}', [("a", '{"b": "}"}', False)]),
        ("a={n + 1}", [("a", "{n + 1}", False)]),
        ("a={d['k v']}", [("a", "{d['k v']}", False)]),
        ("a={open", [("a", "{open", False)]),
        ("a=[x]y", [("a", "[x]y", False)]),
        ("a={n};", [("a", "{n}", False)]),
        ("a=x;", [("a", "x", False)]),
        (
            "my-key=1 a.b=2 $filter=3 @id=4",
            [("my-key", "1", False), ("a.b", "2", False), ("$filter", "3", False), ("@id", "4", False)],
        ),
        ("url=https://x/?q=1&r=2", [("url", "https://x/?q=1&r=2", False)]),
        ("color=#fff", [("color", "#fff", False)]),
    ],
)
def test_pairs(text: str, found: list[tuple[str, str, bool]]):
    assert pairs(call(f"x {text}")) == found


@pytest.mark.parametrize("text", ["notes://day?x=1", "'a=b'x", "=1", "a/b=1", "http://x=y"])
def test_an_address_is_no_pair(text: str):
    line = call(text)
    assert line.pairs == []
    assert len(line.words) == 1


# --- options ---------------------------------------------------------------------------------------------------------


def test_options_take_values_in_both_spellings():
    assert call("x --timeout 5").options == {"timeout": ["5"]}
    assert call("x --timeout=5").options == {"timeout": ["5"]}
    assert call("--yes x").options == {"yes": []}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x --tiemout 5", "--timeout"),
        ("x --zzz", "options: --yes"),
        ("x --timeout", "S is missing after --timeout"),
        ("x --yes=1", "takes no value"),
        ("x --timeout 1 --timeout 2", "only one --timeout"),
    ],
)
def test_wrong_options_say_what_is_right(text: str, says: str):
    with pytest.raises(UsageError, match=says):
        call(text)


def test_two_dashes_end_the_options():
    line = call("x -- --yes a=--b")
    assert words(line) == ["x", "--yes"]
    assert pairs(line) == [("a", "--b", False)]


def test_a_quoted_dash_is_a_word():
    assert words(call("x '--yes'")) == ["x", "--yes"]


def test_help_is_always_there():
    assert call("--help").help
    assert call("x -h").help


# --- connect ---------------------------------------------------------------------------------------------------------


def test_options_of_a_command_are_the_commands():
    line = connect("s --env A=b python x.py --env C --help -- '#x'")
    assert words(line) == ["s", "python", "x.py", "--env", "C", "--help", "--", "#x"]
    assert line.options == {"env": ["A=b"]}
    assert not line.help


def test_two_dashes_before_the_command():
    assert words(connect("s -- python x.py")) == ["s", "python", "x.py"]
    assert words(connect("s -- --odd -x")) == ["s", "--odd", "-x"]


def test_options_stand_anywhere_after_a_url():
    line = connect("d https://host/mcp?a=b --era legacy --env K")
    assert words(line) == ["d", "https://host/mcp?a=b"]
    assert line.options == {"era": ["legacy"], "env": ["K"]}


def test_json_arguments_of_a_command_are_quoted_as_in_a_shell():
    assert words(connect("""s cmd '{"a": 1}'"""))[2] == '{"a": 1}'


def test_the_command_line_ends_at_a_comment():
    assert words(connect("demo           # the bundled one")) == ["demo"]


def test_choices_are_checked():
    with pytest.raises(UsageError, match="auto, legacy, modern"):
        connect("s --era old cmd")


# --- anything --------------------------------------------------------------------------------------------------------


@given(st.text(max_size=60), st.booleans())
def test_any_text_is_read_or_refused(text: str, windows: bool):
    for grammar in (CALL, CONNECT, Grammar()):
        with contextlib.suppress(UsageError):
            parse(text, grammar, windows=windows)


@given(st.lists(st.text(st.characters(blacklist_categories=("Cs",)), max_size=12), max_size=5))
def test_single_quotes_keep_everything(texts: list[str]):
    line = " ".join("'" + text.replace("'", "'\"'\"'") + "'" for text in texts)
    assert words(parse(line, Grammar())) == texts
