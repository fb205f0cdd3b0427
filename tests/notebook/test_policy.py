"""Rules, switches and the reasons of decisions, as lines of a notebook and as Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import jupyter_mcp as mcp
from jupyter_mcp.errors import ConfigError, Denied, UsageError
from jupyter_mcp.notebook.objects.act import get_host
from jupyter_mcp.runtime import state

if TYPE_CHECKING:
    from pathlib import Path

    from tests.notebook.conftest import Cells


@pytest.fixture
def notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A notebook of a project, whose person has files of their own."""
    path = tmp_path / "project" / "a.ipynb"
    path.parent.mkdir()
    path.write_text("{}", encoding="utf-8")
    monkeypatch.setenv("JPY_SESSION_NAME", str(path))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "config"))
    state.close()
    return path


def rows(table: Any) -> list[tuple[str, ...]]:
    return [tuple(row) for row in table.rows()]


# --- saying ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("deny s.add", "deny s.add"),
        ("allow s.* other", "allow s.*"),
        ("ask_first s.add --where 'a>5' --where !b", "ask_first s.add (a > 5, b is not given)"),
        ("deny s.add --where name=/data/*", "deny s.add (name like /data/*)"),
        ("deny s.add --where a=5 --where c=true", "deny s.add (a = 5, c = true)"),
        ("deny s.add --where b=x", "deny s.add (b = x)"),
        ("deny s.add --where name~^x", "deny s.add (name matching ^x)"),
        ("deny s.add --where b", "deny s.add (b is given)"),
        ("""deny s.add --where '{"a": {"in": [1, 2]}}'""", "deny s.add (a in [1, 2])"),
        ("deny s.* --origin model --origin app", "deny s.* (begun by model or app)"),
        ("deny s.* --method resources/*", "deny s.* (resources/*)"),
        (
            "deny * --annotation destructiveHint --annotation readOnlyHint=false",
            "deny * (destructiveHint is true (the server's own word), readOnlyHint is false (the server's own word))",
        ),
    ],
)
def test_a_line_says_a_rule_with_its_conditions(served: Cells, line: str, says: str):
    served.run(f"%mcp {line}")
    assert str(mcp.policy[0]) == says
    assert says.partition(" (")[0].partition(" ")[2] in served.text


def test_python_says_the_same_as_a_line(served: Cells):
    served.run("%mcp deny s.add --where 'a>5' --origin model --method tools/call")
    mcp.deny("t.add", where={"a": {"gt": 5}}, origin="model", method="tools/call")
    one, other = mcp.policy
    assert str(one).replace("s.add", "t.add") == str(other)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("deny", "PATTERN is missing"),
        ("deny s.add --where 'a>many'", "after > comes a number"),
        ("deny s.add --where ''", "no condition"),
        ("deny s.add --where '!a=5'", "no condition"),
        ("deny s.add --where '{'", "no JSON"),
        ("deny s.add --method tool/call", "No act has the method"),
        ("deny s.add --origin robot", "--origin is one of"),
        ("deny s.add --annotation readOnlyHint=maybe", "not an annotation"),
        ("deny s.add --scope once", "--scope is one of"),
        ("deny 'a b'", "not a pattern"),
        ("disable", "PATTERN is missing"),
        ("policy why", "why tells about one act"),
        ("policy why s.add --scope user", "--scope has no meaning with `policy why`"),
        ("policy why add_nothing", "is not SERVER.TOOL"),
        ("policy a=1", "key=value goes with"),
        ("policy reset s.nothing", "Nothing was said about s.nothing"),
        ("policy accept 0123456789", "waits to be accepted"),
    ],
)
def test_a_wrong_line_about_rules_is_one_sentence(served: Cells, line: str, says: str):
    with pytest.raises(UsageError) as caught:
        served.run(f"%mcp {line}")
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(mcp.policy) == 0


def test_a_body_may_be_lines_or_what_a_policy_file_holds(served: Cells):
    served.run("%%mcp policy\nallow s.*\ndisable other\ndeny: s.fail")
    assert [row[:2] for row in rows(mcp.policy)] == [("allow", "s.*"), ("deny", "s.fail"), ("disable", "other")]
    served.run("%mcp policy reset")
    served.run('%%mcp policy\n[[rule]]\neffect = "deny"\npattern = "s.add"\nwhere = {a = {gt = 5}}\n')
    assert [str(rule) for rule in mcp.policy] == ["deny s.add (a > 5)"]
    with pytest.raises(UsageError, match="the body: rule 1 cannot be read"):
        served.run('%%mcp policy\n[[rule]]\neffect = "deny"\npattern = "s.add"\nwher = {}\n')
    with pytest.raises(UsageError, match="cannot be read"):
        served.run("%%mcp policy\n[[rule]\n")


def test_a_rule_about_arguments_holds_for_a_typed_line(served: Cells):
    served.run("%mcp deny s.add --where 'a>5'")
    assert served.run("%mcp call s.add a=5").data == 6
    with pytest.raises(Denied, match=r"'deny s\.add \(a > 5\)'"):
        served.run("%mcp call s.add a=6")


def test_a_denied_resource_is_neither_read_nor_watched(served: Cells):
    served.run("%mcp deny s.text://*")
    for line in ("read s text://hello", "watch s text://hello"):
        with pytest.raises(Denied, match=r"'deny s\.text://\*'"):
            served.run(f"%mcp {line}")


# --- scopes ----------------------------------------------------------------------------------------------------------


def test_rules_of_all_scopes_are_one_table_that_names_their_places(notebook: Path, served: Cells):
    for scope in ("user", "project", "notebook", "session"):
        served.run(f"%mcp ask_first s.{scope} --scope {scope}")
    served.run("%mcp disable s.fail --scope notebook")
    table = served.run("%mcp policy")
    assert rows(table) == [
        ("ask_first", "s.user", "", "user", "your own policy.toml"),
        ("ask_first", "s.project", "", "project", ".jupyter-mcp/policy.toml"),
        ("ask_first", "s.notebook", "", "notebook", "your rules for this notebook"),
        ("ask_first", "s.session", "", "session", "said here"),
        ("disable", "s.fail", "", "notebook", "your rules for this notebook"),
    ]
    assert str(notebook.parent) not in served.text
    assert (notebook.parent / ".jupyter-mcp" / "policy.toml").exists()
    served.run("%mcp policy reset s.notebook --scope notebook")
    served.run("%mcp policy reset")
    assert [row[1] for row in rows(mcp.policy)] == ["s.user", "s.project", "s.fail"]


def test_a_new_kernel_of_the_notebook_has_its_rules(notebook: Path, served: Cells):
    mcp.deny("s.add", scope="notebook")
    mcp.deny("s.echo")
    state.close()
    assert [str(rule) for rule in mcp.policy] == ["deny s.add"]


def test_a_projects_rules_are_shown_accepted_by_their_content_and_then_hold(notebook: Path, served: Cells):
    file = notebook.parent / ".jupyter-mcp" / "policy.toml"
    file.parent.mkdir()
    file.write_text('[[rule]]\neffect = "allow"\npattern = "s.*"\n[[switch]]\npattern = "x"\non = true\n', "utf-8")
    served.run("%mcp policy")
    assert "not accepted yet" in served.text
    assert "only tightens until you accept it: %mcp policy accept " in served.text
    assert mcp.policy.why("s.add").verdict == "ask"
    waiting = served.run("%mcp policy accept")
    assert rows(waiting) == [
        (".jupyter-mcp/policy.toml", "allow s.*"),
        (".jupyter-mcp/policy.toml", "enable x"),
    ]
    line = waiting.hint.removeprefix("Accept exactly this: ")
    assert mcp.policy.why("s.add").verdict == "ask"  # looking is not accepting
    served.run(line)
    assert mcp.policy.why("s.add").verdict == "go"
    assert rows(mcp.policy.accept()) == []
    with pytest.raises(UsageError, match="waits to be accepted"):
        served.run(line)


def test_a_broken_file_is_said_in_the_table_and_everything_is_asked(notebook: Path, served: Cells):
    file = notebook.parent / ".jupyter-mcp" / "policy.toml"
    file.parent.mkdir()
    file.write_text("not toml", "utf-8")
    served.run("%mcp policy")
    assert ".jupyter-mcp/policy.toml cannot be read" in served.text
    with pytest.raises(Denied):
        served.run("%mcp call s.echo")
    served.run("%mcp call s.echo --yes")
    with pytest.raises(ConfigError, match="no TOML"):
        served.run("%mcp deny s.add --scope project")


# --- switches --------------------------------------------------------------------------------------------------------


def test_what_is_switched_off_is_for_no_model_and_on_again_with_a_line(served: Cells):
    served.run("%mcp disable s.add")
    assert served.text == "disable s.add"
    assert mcp.policy.why("s.add").verdict == "deny"
    assert served.run("%mcp call s.add a=1").data == 2
    served.run("%mcp enable s.add")
    assert mcp.policy.why("s.add").verdict == "ask"
    mcp.disable("s", scope="session")
    assert get_host().policy.disabled("s") is not None
    mcp.enable("s")
    assert get_host().policy.disabled("s") is None


def test_lists_and_cards_mark_what_models_do_not_have(served: Cells):
    served.run("%mcp tools s")
    assert "for models" not in served.text
    served.run("%mcp disable s.add s.notes://* s.text://hello s.review")
    for verb, marked in (("tools", "s.add"), ("prompts", "s.review"), ("resources", "text://hello")):
        served.run(f"%mcp {verb} s")
        [line] = [line for line in served.text.splitlines() if line.startswith(marked)]
        assert line.rstrip().endswith("off")
    assert any(line.startswith("notes://{day}") and line.rstrip().endswith("off") for line in served.text.splitlines())
    served.run("%mcp tools s")
    assert not any(line.rstrip().endswith("off") for line in served.text.splitlines() if line.startswith("s.echo"))
    served.run("%mcp disable s")
    served.run("import jupyter_mcp as mcp\nmcp.servers['s']")
    assert "Switched off for models (disable s); %mcp enable s" in served.text


# --- why -------------------------------------------------------------------------------------------------------------


def test_why_names_the_rule_the_losers_and_what_holds_without_rules(served: Cells):
    served.run("%mcp ask_first s.*")
    served.run("%mcp allow s.add --where 'a<5'")
    why = served.run("%mcp policy why s.add a=3")
    assert why.title == "s.add runs when a model begins it"
    assert rows(why) == [
        ("decides", "allow s.add (a < 5)", "said here", ""),
        ("loses", "ask_first s.*", "said here", "“allow s.add (a < 5)” is more specific"),
        ("without rules", "is asked about: begun by a model", "", ""),
    ]
    for text in ("s.add runs when a model begins it", "loses", "without rules"):
        assert text in served.text
    assert served.run("%mcp policy why s.add a=7 --origin person").verdict == "ask"


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("why s.add", "s.add is asked about when a model begins it"),
        ("why add", "s.add is asked about when a model begins it"),
        ("why s.add --origin code", "s.add runs when the notebook's code begins it"),
        ("why s.notes://today", "s.notes://today runs when a model begins it"),
        ("why s.review --method prompts/get", "s.review runs when a model begins it"),
        ("why s.sampling/createMessage", "s.sampling/createMessage is asked about"),
        ("why s.roots/list", "s.roots/list runs"),
        ("why s.connect --origin person", "s.connect runs"),
    ],
)
def test_why_answers_for_every_kind_of_act(served: Cells, line: str, title: str):
    assert served.run(f"%mcp policy {line}").title == title


def test_why_knows_what_a_tool_says_of_itself_and_whether_its_approval_still_holds(served: Cells):
    from jupyter_mcp.host.policy import Deed

    host = get_host()
    host.policy.remember(Deed("s", "tools/call", "add", origin="model", fingerprint="sha256:other"))
    why = mcp.policy.why("s.add")
    assert why.verdict == "ask"
    assert "holds no more" in [line.note for line in why][1]
    assert rows(mcp.policy) == [("approved", "s.add", "begun by a model", "session", "said here")]
