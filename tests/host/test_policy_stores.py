"""Where a policy is kept: which files hold, what of them, and what becomes of one that is wrong."""

from __future__ import annotations

import itertools
import json
import os
import stat
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from jupyter_mcp.errors import ConfigError, UsageError
from jupyter_mcp.host.place import NotebookPlace
from jupyter_mcp.host.policy import Deed, Origin, Policy, Scope
from jupyter_mcp.host.policy.sheet import digest
from jupyter_mcp.host.policy.stores import project_file

KEPT: tuple[Scope, ...] = ("notebook", "project", "user")
_seconds = itertools.count(1)
ONLY_POSIX = pytest.mark.skipif(sys.platform == "win32", reason="modes are POSIX's")


@pytest.fixture
def place(tmp_path: Path) -> NotebookPlace:
    folder = tmp_path / "project" / "notebooks"
    folder.mkdir(parents=True)
    (tmp_path / "project" / ".git").mkdir()
    path = folder / "a.ipynb"
    path.write_text("{}", encoding="utf-8")
    return NotebookPlace(path, folder, tmp_path / "data" / "jupyter_mcp", tmp_path / "config" / "jupyter_mcp")


def call(name: str = "add", origin: Origin = "model", **more: Any) -> Deed:
    return Deed("demo", "tools/call", name, origin=origin, **more)


def opened(place: NotebookPlace) -> Policy:
    """The policy of a kernel that looks at its files with every decision."""
    return Policy(place, clock=map(float, itertools.count()).__next__)


def at(place: NotebookPlace, scope: str) -> Path:
    """The file of a scope."""
    assert place.config is not None
    assert place.data is not None
    if scope == "user":
        return place.config / "policy.toml"
    if scope == "project":
        return project_file(place)
    [found] = (place.data / "policy" / "notebooks").glob("*.toml")
    return found


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    seconds = next(_seconds)  # two writes within one tick of the clock are two
    os.utime(path, (seconds, seconds))
    return path


def files(place: NotebookPlace) -> set[str]:
    root = place.folder.parent.parent
    return {
        str(path.relative_to(root)) for path in root.rglob("*") if path.is_file() and not path.name.endswith(".lock")
    }


# --- scopes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scope", KEPT)
def test_a_rule_lasts_in_its_scope_and_nothing_else_is_written(place: NotebookPlace, scope: Scope):
    before = files(place)
    said = opened(place).deny("demo.delete", scope=scope, where={"path": {"glob": "/etc/*"}}, origin=["model"])
    new = {path for path in files(place) - before if not path.endswith("accepted.json")}
    assert len(new) == 1
    assert at(place, scope).exists()
    [rule] = opened(place).rules
    assert (rule.about, rule.effect, rule.scope, rule.accepted) == (said.about, "deny", scope, True)


@pytest.mark.parametrize("scope", KEPT)
def test_an_approval_lasts_in_its_scope_and_is_void_when_the_tool_changes(place: NotebookPlace, scope: Scope):
    opened(place).remember(call(fingerprint="sha256:1"), scope)
    policy = opened(place)
    assert policy.decide(call(fingerprint="sha256:1")).verdict == "go"
    assert policy.decide(call(fingerprint="sha256:2")).verdict == "ask"
    policy.remember(call(fingerprint="sha256:2"), scope)
    assert [one.fingerprint for one in policy.approvals] == ["sha256:2"]


@pytest.mark.parametrize("scope", ["session", *KEPT])
def test_what_was_said_is_taken_back_in_its_scope_whole_or_by_its_pattern(place: NotebookPlace, scope: Scope):
    policy = opened(place)
    policy.deny("demo.delete", scope=scope)
    policy.allow("demo.add", scope=scope)
    policy.disable("demo.add", scope)
    policy.remember(call(), scope)
    assert policy.reset("demo.add", scope=scope) == 3
    assert [str(rule) for rule in policy.rules] == ["deny demo.delete"]
    assert policy.reset(scope=scope) == 1
    assert (policy.rules, policy.approvals, policy.switches) == ([], [], [])
    assert policy.reset(scope=scope) == 0


def test_another_notebook_of_the_project_has_its_own_rules(place: NotebookPlace):
    policy = opened(place)
    policy.allow("demo.add", scope="notebook")
    policy.allow("demo.book", scope="project")
    assert place.path is not None
    other = NotebookPlace(place.path.with_name("b.ipynb"), place.folder, place.data, place.config)
    assert [str(rule) for rule in opened(other).rules] == ["allow demo.book"]


def test_a_host_without_a_place_keeps_the_session_only():
    policy = Policy()
    assert policy.scopes == ("once", "session")
    with pytest.raises(UsageError, match=r"for 'user' here; there is session"):
        policy.deny("demo", scope="user")


def test_a_notebook_without_a_name_has_no_scope_of_its_own(tmp_path: Path):
    policy = Policy(NotebookPlace(None, tmp_path, tmp_path / "data", tmp_path / "config"))
    assert policy.scopes == ("once", "session", "project", "user")
    assert policy.decide(call()).scopes == ("once", "session", "project", "user")
    with pytest.raises(UsageError, match="not known"):
        policy.deny("demo", scope="notebook")


def test_nothing_is_kept_for_once(place: NotebookPlace):
    with pytest.raises(UsageError, match="'once'"):
        opened(place).allow("demo.add", scope="once")


def test_a_person_who_only_looks_leaves_no_trace(place: NotebookPlace):
    before = files(place)
    policy = opened(place)
    policy.decide(call())
    assert (policy.rules, policy.pending, policy.problems) == ([], [], [])
    assert files(place) == before


def test_a_deny_in_the_persons_own_rules_holds_against_all_others(place: NotebookPlace):
    policy = opened(place)
    policy.deny("demo", scope="user")
    for scope in ("project", "notebook", "session"):
        policy.allow("demo.add", scope=scope)
    assert policy.decide(call()).verdict == "deny"


def test_what_another_kernel_or_an_editor_writes_holds_at_once(place: NotebookPlace):
    policy = opened(place)
    assert policy.decide(call()).verdict == "ask"
    opened(place).allow("demo.add", scope="user")
    assert policy.decide(call()).verdict == "go"
    put(at(place, "user"), '[[rule]]\neffect = "deny"\npattern = "demo"\n')
    assert policy.decide(call()).verdict == "deny"
    at(place, "user").unlink()
    assert policy.decide(call()).verdict == "ask"


def test_many_decisions_in_a_moment_do_not_each_look_at_the_files(place: NotebookPlace):
    now = 1.0
    policy = Policy(place, clock=lambda: now)
    assert policy.decide(call()).verdict == "ask"
    opened(place).allow("demo.add", scope="user")
    assert policy.decide(call()).verdict == "ask"
    policy.deny("demo.book")  # what is said here holds at once
    assert policy.decide(call("book")).verdict == "deny"
    now = 2.0
    assert policy.decide(call()).verdict == "go"
    policy.deny("demo.add", scope="user")
    assert policy.decide(call()).verdict == "deny"


# --- a file by hand --------------------------------------------------------------------------------------------------

BY_HAND = """\
# who may do what
[[rule]]   # first
effect = "deny"
pattern = "demo.delete"
note = "never"

[team]
owner = "ada"   # ours

[[rule]]
effect = "ask_first"
pattern = "demo.*"
method = "tools/call"
where = { n = { gt = 3 } }
annotations = { destructiveHint = true }
origin = "model"
"""


def test_a_file_by_hand_is_read_and_what_is_not_ours_in_it_stays(place: NotebookPlace):
    path = put(at(place, "user"), BY_HAND)
    policy = opened(place)
    assert [str(rule) for rule in policy.rules] == [
        "deny demo.delete",
        "ask_first demo.* (tools/call, n > 3, destructiveHint is true (the server's own word), begun by model)",
    ]
    assert policy.problems == ["your own policy.toml: team means nothing here."]
    policy.allow("demo.delete", scope="user")
    text = path.read_text(encoding="utf-8")
    for kept in ("# who may do what", "# ours", 'owner = "ada"', "n = { gt = 3 }"):
        assert kept in text
    assert [str(rule) for rule in opened(place).rules][-1] == "allow demo.delete"
    assert len(opened(place).rules) == 2


def test_rules_in_one_line_are_rules_too(place: NotebookPlace):
    path = put(at(place, "user"), 'rule = [{effect = "deny", pattern = "demo"}]\n')
    policy = opened(place)
    policy.allow("other", scope="user")
    assert [str(rule) for rule in opened(place).rules] == ["deny demo", "allow other"]
    assert path.read_text(encoding="utf-8").startswith("rule = [")


@pytest.mark.parametrize(
    "text",
    [
        '[[rule]]\neffect = "allow"\npattern = "demo"\n}} trailing',
        '[[rule]]\neffect = "allow',
        "\0",
        "a = 1\na = 2\n",
        "x = " + "[" * 5_000,
        '[[rule]]\neffect = "deny"\npattern = "a"\n' + "# " + "x" * 300_000,
    ],
)
def test_a_file_that_is_no_toml_makes_everything_ask_and_is_not_written_to(place: NotebookPlace, text: str):
    path = put(at(place, "user"), text)
    policy = opened(place)
    assert policy.decide(call(origin="person")).verdict == "ask"
    assert policy.decide(call(origin="person", yes=True)).verdict == "go"
    [problem] = policy.problems
    assert problem.startswith("your own policy.toml cannot be read (")
    assert "everything is asked about" in problem
    if len(text) < 200_000:
        with pytest.raises(ConfigError):
            policy.deny("demo", scope="user")
    assert path.read_text(encoding="utf-8") == text


def test_a_file_that_is_no_text_or_no_file_makes_everything_ask(place: NotebookPlace):
    path = at(place, "user")
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\xff\xfe\x00")
    policy = opened(place)
    assert policy.decide(call(origin="person")).verdict == "ask"
    assert "UTF-8" in policy.problems[0]
    path.unlink()
    path.mkdir()
    assert policy.decide(call(origin="person")).verdict == "ask"
    path.rmdir()
    assert policy.decide(call(origin="person")).verdict == "go"


@ONLY_POSIX
def test_a_path_that_leads_nowhere_makes_everything_ask(place: NotebookPlace):
    path = at(place, "user")
    path.parent.mkdir(parents=True)
    path.symlink_to(path)  # round and round
    assert opened(place).decide(call(origin="person")).verdict == "ask"


@ONLY_POSIX
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root reads everything")
def test_a_folder_that_may_not_be_read_makes_everything_ask(place: NotebookPlace):
    path = put(at(place, "user"), '[[rule]]\neffect = "deny"\npattern = "demo"\n')
    path.parent.chmod(0)
    try:
        assert opened(place).decide(call(origin="person")).verdict == "ask"
    finally:
        path.parent.chmod(0o700)


@pytest.mark.parametrize(
    ("entry", "verdict", "says"),
    [
        ('effect = "allow"\npattern = "demo.add"\nwher = {n = 1}', "ask", "did you mean where?"),
        ('effect = "deny"\npattern = "demo.add"\nwher = {n = 1}', "deny", "did you mean where?"),
        ('effect = "dney"\npattern = "demo.add"', "ask", "not allow, ask_first or deny"),
        ('pattern = "demo.add"', "ask", "not allow, ask_first or deny"),
        ('effect = "deny"', "ask", "not a pattern"),
        ('effect = "deny"\npattern = "a b"', "ask", "not a pattern"),
        ('effect = "deny"\npattern = ["demo"]', "ask", "not a pattern"),
        ('effect = "allow"\npattern = "demo.add"\nmethod = 5', "ask", "cannot be read"),
        ('effect = "allow"\npattern = "demo.add"\norigin = "nobody"', "ask", "nobody"),
        ('effect = "allow"\npattern = "demo.add"\norigin = 5', "ask", "cannot be read"),
        ('effect = "allow"\npattern = "demo.add"\nwhere = {n = {gt = "x"}}', "ask", "is a number"),
    ],
)
def test_a_rule_that_cannot_be_read_whole_still_asks_or_denies(
    place: NotebookPlace, entry: str, verdict: str, says: str
):
    put(at(place, "user"), f"[[rule]]\n{entry}\n")
    policy = opened(place)
    assert policy.decide(call(origin="person")).verdict == verdict
    [problem] = policy.problems
    assert problem.startswith("your own policy.toml: rule 1")
    assert says in problem


@pytest.mark.parametrize("text", ["rule = 5", 'rule = ["deny demo"]', '[rule]\neffect = "allow"\npattern = "demo"'])
def test_what_is_no_list_of_rules_asks_or_is_one_rule(place: NotebookPlace, text: str):
    put(at(place, "user"), text)
    policy = opened(place)
    expected = "go" if text.startswith("[") else "ask"
    assert policy.decide(call(origin="person")).verdict == expected


def test_a_file_that_contradicts_itself_is_read_by_its_stricter_word_and_says_so(place: NotebookPlace):
    rules = "".join(f'[[rule]]\neffect = "{effect}"\npattern = "demo.add"\n' for effect in ("allow", "deny", "ask"))
    put(at(place, "user"), rules)
    policy = opened(place)
    assert policy.decide(call()).verdict == "deny"
    assert [problem.partition(": ")[0] for problem in policy.problems] == [
        "your own policy.toml contradicts itself"
    ] * 2
    assert "rule 1 is “allow demo.add”, rule 2 is “deny demo.add”; the stricter one holds" in policy.problems[0]


def test_odd_switches_and_approvals_are_named_and_only_tighten(place: NotebookPlace):
    put(
        at(place, "user"),
        '[[switch]]\npattern = "demo"\non = "yes"\n[[switch]]\non = false\n'
        '[[switch]]\npattern = "x"\non = true\nno = 1\n'
        '[[approval]]\nserver = "demo"\n[[approval]]\nserver = "d"\nmethod = "m"\nname = "n"\norigin = "nobody"\n',
    )
    policy = opened(place)
    assert policy.disabled("demo") is not None
    assert policy.disabled("x") is not None
    assert policy.approvals == []
    assert len(policy.problems) == 5


def test_too_many_rules_ask_about_everything(place: NotebookPlace):
    put(at(place, "user"), '[[rule]]\neffect="allow"\npattern="a"\n' * 1_001)
    assert opened(place).decide(call(origin="person")).verdict == "ask"


# --- what came with a project ----------------------------------------------------------------------------------------

THEIRS = '[[rule]]\neffect = "{effect}"\npattern = "demo.add"\n'


def test_a_projects_rules_only_tighten_until_that_exact_content_was_accepted(place: NotebookPlace):
    path = put(at(place, "project"), THEIRS.format(effect="allow"))
    policy = opened(place)
    assert policy.decide(call()).verdict == "ask"
    [(store, sheet)] = policy.pending
    assert (store.source, store.text()) == ("../.jupyter-mcp/policy.toml", path.read_text(encoding="utf-8"))
    with pytest.raises(UsageError, match="waits to be accepted"):
        policy.accept("0" * 64)
    with pytest.raises(UsageError, match="waits to be accepted"):
        policy.accept("sha256:")
    assert policy.accept(sheet.digest[:20]) == ["../.jupyter-mcp/policy.toml"]
    assert policy.decide(call()).verdict == "go"
    assert opened(place).decide(call()).verdict == "go"
    assert policy.pending == []
    put(path, THEIRS.format(effect="allow") + "# another\n")
    assert policy.decide(call()).verdict == "ask"
    with pytest.raises(UsageError, match="waits to be accepted"):
        policy.accept(sheet.digest)


def test_a_content_is_accepted_only_as_it_was_shown(place: NotebookPlace):
    """Of the few letters of a digest that a person types, two contents could be made alike."""
    text = THEIRS.format(effect="allow")
    policy = opened(place)
    file = put(at(place, "project"), text)
    letters = digest(text).removeprefix("sha256:")
    with pytest.raises(UsageError, match="was not shown yet"):
        policy.accept(letters[:12])
    assert [sheet.digest for _, sheet in policy.pending] == [f"sha256:{letters}"]
    put(file, THEIRS.format(effect="allow").replace("demo", "mail"))
    with pytest.raises(UsageError, match="Nothing with the content"):
        policy.accept(letters[:12])
    put(file, text)
    assert policy.accept(letters[:12]) == ["../.jupyter-mcp/policy.toml"]
    assert policy.decide(call()).verdict == "go"


def test_a_whole_digest_needs_no_look(place: NotebookPlace):
    text = THEIRS.format(effect="allow")
    put(at(place, "project"), text)
    policy = opened(place)
    policy.accept(digest(text))
    assert policy.decide(call()).verdict == "go"


def test_a_projects_denials_hold_at_once_and_need_no_yes(place: NotebookPlace):
    put(at(place, "project"), THEIRS.format(effect="deny"))
    policy = opened(place)
    assert policy.decide(call(origin="person", yes=True)).verdict == "deny"
    assert policy.pending == []


def test_a_projects_approvals_and_switches_loosen_nothing_until_accepted(place: NotebookPlace):
    put(
        at(place, "project"),
        '[[approval]]\nserver = "demo"\nmethod = "tools/call"\nname = "add"\norigin = "model"\n'
        '[[switch]]\npattern = "demo.add"\non = true\n[[switch]]\npattern = "other"\non = false\n',
    )
    policy = opened(place)
    policy.disable("demo", "user")
    assert policy.disabled("demo", "add") is not None
    assert policy.disabled("other") is not None
    policy.reset(scope="user")
    assert policy.decide(call()).verdict == "ask"
    [(_, sheet)] = policy.pending
    policy.accept(sheet.digest)
    assert policy.decide(call()).verdict == "go"


def test_a_project_does_not_vouch_for_its_own_servers(place: NotebookPlace):
    start = Deed("theirs", "connect", "connect", origin="project", fingerprint="sha256:1")
    put(
        at(place, "project"),
        '[[approval]]\nserver = "theirs"\nmethod = "connect"\nname = "connect"\norigin = "project"\n'
        'fingerprint = "sha256:1"\n',
    )
    policy = opened(place)
    policy.accept(policy.pending[0][1].digest)
    decision = policy.decide(start)
    assert (decision.verdict, decision.scopes) == ("ask", ("once", "session", "notebook", "user"))
    policy.remember(start, "notebook")
    assert policy.decide(start).verdict == "go"


def test_files_of_all_folders_above_hold_and_the_nearest_is_written(place: NotebookPlace):
    above = put(place.folder.parent / ".jupyter-mcp" / "policy.toml", THEIRS.format(effect="deny"))
    near = put(place.folder / ".jupyter-mcp" / "policy.toml", "")
    policy = opened(place)
    assert policy.decide(call()).verdict == "deny"
    policy.ask_first("demo.book", scope="project")
    assert "demo.book" in near.read_text(encoding="utf-8")
    assert "demo.book" not in above.read_text(encoding="utf-8")
    assert [rule.source for rule in policy.rules] == ["../.jupyter-mcp/policy.toml", ".jupyter-mcp/policy.toml"]


def test_what_the_person_adds_to_what_they_accepted_stays_accepted(place: NotebookPlace):
    policy = opened(place)
    policy.allow("demo.add", scope="project")
    policy.allow("demo.book", scope="project")
    assert policy.decide(call()).verdict == "go"
    assert opened(place).decide(call("book")).verdict == "go"


def test_what_the_person_adds_to_what_they_did_not_accept_waits_with_it(place: NotebookPlace):
    put(at(place, "project"), THEIRS.format(effect="allow"))
    policy = opened(place)
    policy.allow("demo.book", scope="project")
    assert policy.decide(call()).verdict == "ask"
    assert policy.decide(call("book")).verdict == "ask"
    assert len(policy.pending) == 1


def test_rules_in_a_notebooks_metadata_only_tighten_until_accepted(place: NotebookPlace):
    assert place.path is not None

    def save(*effects: str) -> None:
        rules = [{"effect": effect, "pattern": f"demo.{effect}"} for effect in effects]
        put(place.path or Path(), json.dumps({"metadata": {"jupyter_mcp": {"policy": {"rule": rules}}}}))

    save("deny", "allow")
    policy = opened(place)
    assert policy.decide(call("deny", "person")).verdict == "deny"
    assert policy.decide(call("allow")).verdict == "ask"
    [(store, sheet)] = policy.pending
    assert store.source == "the metadata of a.ipynb"
    assert "demo.allow" in store.text()
    policy.accept(sheet.digest)
    assert policy.decide(call("allow")).verdict == "go"
    save("allow")
    assert policy.decide(call("allow")).verdict == "ask"
    put(place.path, '{"metadata": {"jupyter_mcp": ')
    assert policy.rules == []


def test_without_a_data_folder_what_is_accepted_holds_for_the_session(place: NotebookPlace):
    bare = NotebookPlace(place.path, place.folder)
    put(project_file(bare), THEIRS.format(effect="allow"))
    policy = opened(bare)
    policy.accept(policy.pending[0][1].digest)
    assert policy.decide(call()).verdict == "go"
    assert opened(bare).decide(call()).verdict == "ask"


@pytest.mark.parametrize("scope", ["project", "user"])
def test_kernels_that_write_one_file_at_once_take_turns(place: NotebookPlace, scope: Scope):
    def say(kernel: int) -> None:
        policy = opened(place)
        for number in range(10):
            policy.allow(f"k{kernel}.t{number}", scope=scope)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(say, range(4)))
    assert {rule.pattern for rule in opened(place).rules} == {f"k{k}.t{n}" for k in range(4) for n in range(10)}
    assert all(rule.accepted for rule in opened(place).rules)


# --- who may read and write ------------------------------------------------------------------------------------------


@ONLY_POSIX
def test_what_belongs_to_the_person_is_for_their_eyes_only(place: NotebookPlace):
    policy = opened(place)
    for scope in KEPT:
        policy.allow("demo.add", scope=scope)
    assert place.data is not None
    for path in (at(place, "user"), at(place, "notebook"), place.data / "policy" / "accepted.json"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(at(place, "project").stat().st_mode) == 0o644
    assert [path.name for path in at(place, "project").parent.iterdir()] == ["policy.toml"]


@ONLY_POSIX
def test_a_file_of_the_person_that_others_may_write_only_tightens(place: NotebookPlace):
    text = THEIRS.format(effect="allow") + '[[rule]]\neffect = "deny"\npattern = "demo.delete"\n'
    path = put(at(place, "user"), text)
    path.chmod(0o666)
    policy = opened(place)
    assert policy.decide(call()).verdict == "ask"
    assert policy.decide(call("delete", "person")).verdict == "deny"
    assert "Others than you may write" in policy.problems[0]
    path.chmod(0o600)
    assert policy.decide(call()).verdict == "go"


@ONLY_POSIX
def test_a_list_of_accepted_contents_that_others_may_write_accepts_nothing(place: NotebookPlace):
    put(at(place, "project"), THEIRS.format(effect="allow"))
    policy = opened(place)
    policy.accept(policy.pending[0][1].digest)
    assert place.data is not None
    (place.data / "policy" / "accepted.json").chmod(0o666)
    assert opened(place).decide(call()).verdict == "ask"


def test_a_broken_list_of_accepted_contents_accepts_nothing(place: NotebookPlace):
    put(at(place, "project"), THEIRS.format(effect="allow"))
    assert place.data is not None
    for text in ("[]", '{"x": 1}', "{", '"' + "x" * 10):
        put(place.data / "policy" / "accepted.json", text).chmod(0o600)
        assert opened(place).decide(call()).verdict == "ask"


@ONLY_POSIX
def test_a_link_in_a_project_leads_no_writing_out_of_it(place: NotebookPlace, tmp_path: Path):
    outside = put(tmp_path / "outside.toml", "[theirs]\n")
    link = at(place, "project")
    link.parent.mkdir()
    link.symlink_to(outside)
    opened(place).allow("demo.add", scope="project")
    assert outside.read_text(encoding="utf-8") == "[theirs]\n"
    link.unlink()
    link.parent.rmdir()
    (tmp_path / "elsewhere").mkdir()
    link.parent.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigError, match="cannot be written"):
        opened(place).allow("demo.add", scope="project")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_folder_that_cannot_be_written_is_one_clear_line(place: NotebookPlace):
    assert place.data is not None
    place.data.parent.mkdir()
    place.data.write_text("a file in the way", encoding="utf-8")
    with pytest.raises(ConfigError, match="your rules for this notebook cannot be written"):
        opened(place).deny("demo", scope="notebook")


# --- switches --------------------------------------------------------------------------------------------------------


def test_the_nearest_switch_decides_and_in_one_scope_the_more_specific(place: NotebookPlace):
    policy = opened(place)
    policy.disable("demo", "user")
    assert str(policy.disabled("demo")) == "disable demo"
    assert policy.disabled("demo", "add") is not None
    policy.enable("demo.add")
    assert policy.disabled("demo", "add") is None
    assert policy.disabled("demo", "delete") is not None
    assert policy.disabled("other") is None
    policy.disable("demo.*")
    assert policy.disabled("demo", "add") is not None  # said later, about all of it
    policy.enable("demo.add")
    assert policy.disabled("demo", "add") is None


@pytest.mark.parametrize("scope", KEPT)
def test_a_switch_lasts_in_its_scope_and_the_later_one_about_more_replaces(place: NotebookPlace, scope: Scope):
    policy = opened(place)
    policy.disable("demo.add", scope)
    policy.disable("demo.delete", scope)
    policy.enable("demo", scope)
    assert [str(one) for one in opened(place).switches] == ["enable demo"]


def test_what_is_switched_off_is_refused_to_all_but_the_person(place: NotebookPlace):
    policy = opened(place)
    policy.allow("demo.*")
    policy.disable("demo.add")
    decision = policy.decide(call())
    assert (decision.verdict, decision.reason) == ("deny", "demo.add is switched off (disable demo.add)")
    assert policy.decide(call("book")).verdict == "go"
    assert policy.decide(call(origin="person")).verdict == "go"
    policy.disable("demo")
    sampling = Deed("demo", "sampling/createMessage", "sampling/createMessage", origin="server")
    assert policy.decide(sampling).reason == "demo is switched off (disable demo)"


# --- why -------------------------------------------------------------------------------------------------------------


def test_why_tells_the_rule_its_file_the_losers_and_the_default(place: NotebookPlace):
    put(at(place, "project"), THEIRS.format(effect="allow"))
    policy = opened(place)
    policy.deny("demo.*", scope="user")
    policy.allow("demo.a*")
    why = policy.why(call())
    assert why.verdict == "demo.add is refused when a model begins it"
    assert [(line.what, line.said, line.place, line.note) for line in why.lines] == [
        ("decides", "deny demo.*", "your own policy.toml (user)", ""),
        ("loses", "allow demo.add", "../.jupyter-mcp/policy.toml (project)", "not accepted yet"),
        ("loses", "allow demo.a*", "said here", "a deny in your own rules is final"),
        ("without rules", "is asked about: begun by a model", "", ""),
    ]


def test_why_tells_an_approval_and_when_it_holds_no_more(place: NotebookPlace):
    policy = opened(place)
    policy.remember(call(fingerprint="sha256:1"), "notebook")
    why = policy.why(call(fingerprint="sha256:1"))
    assert why.verdict == "demo.add runs when a model begins it"
    assert [line.what for line in why.lines] == ["decides", "approved", "without rules"]
    assert "holds no more" in policy.why(call(fingerprint="sha256:2")).lines[1].note
