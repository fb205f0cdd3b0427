"""`%mcp` in a shell: what the lines do, what they return, what they show."""

from __future__ import annotations

import json
import os
import stat
import threading
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import ConnectionFailed, Denied, MCPError, ToolError, UsageError
from jupyter_mcp.notebook import api, verbs
from tests.notebook.conftest import Cells, echo_server

if TYPE_CHECKING:
    from pathlib import Path


def echoed(value: Any) -> Any:
    return json.loads(value.text)


# --- arguments arrive as written -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        '{"q": "a", "n": 1}',
        '{"t": "{12}"}',
        '{"t": "costs $n and ${name}"}',
        '{"t": "{name}", "u": "{{x}}"}',
        '{"t": "50%", "u": "a|b;c#d"}',
    ],
)
def test_json_on_the_line_reaches_the_tool_as_written(served: Cells, text: str):
    served.put(name="Ann", n=3)
    assert echoed(served.run(f"%mcp call s echo {text}")) == json.loads(text)


def test_braces_in_json_are_an_error_that_shows_the_text_and_the_column(served: Cells):
    served.put(n=3)
    with pytest.raises(UsageError, match=r'column 8: \{"n": \{n\}\}'):
        served.run('%mcp call s echo {"n": {n}}')


def test_a_json_body_keeps_numbers_and_order(served: Cells):
    text = '{"t": "line1\\nline2", "list": [1, 2.0, null, true], "nested": {"k": "}"}}'
    result = served.run(f"%%mcp call s echo\n{text}")
    assert json.dumps(json.loads(result.text)) == json.dumps(json.loads(text))


def test_a_python_dict_body_is_read_and_never_run(served: Cells):
    result = served.run("%%mcp call s echo\n{'t': 'single quotes', 'ok': True, 'none': None}")
    assert echoed(result) == {"t": "single quotes", "ok": True, "none": None}
    with pytest.raises(UsageError, match="column"):
        served.run("%%mcp call s echo\n{'t': print('no')}")


def test_a_body_with_an_apostrophe_does_not_stumble(served: Cells):
    assert echoed(served.run("%%mcp call s echo\nt: it's (a ; body\n")) == {"t": "it's (a ; body"}


def test_an_open_bracket_on_the_line_does_not_stumble(served: Cells):
    assert echoed(served.run("%mcp call s echo t=(open")) == {"t": "(open"}


def test_notebook_objects_are_whole_values_only(served: Cells):
    served.put(name="Ann", n=3)
    result = served.run("%mcp call s echo who=$name sum={n + 1} text='costs $n' raw=$$name brace={{n}}")
    assert echoed(result) == {"who": "Ann", "sum": 4, "text": "costs $n", "raw": "$name", "brace": "{n}"}


def test_names_of_a_function_are_found(served: Cells):
    served.run("def f(who):\n    return get_ipython().run_line_magic('mcp', 'call s echo who=$who')\nr = f('local')")
    assert echoed(served["r"]) == {"who": "local"}


def test_names_of_a_loop_are_found(served: Cells):
    served.run("found = []\nfor x in (1, 2):\n    r = %mcp call s echo x=$x\n    found.append(r.data)")
    assert served["found"] == [{"x": 1}, {"x": 2}]


def test_line_and_body_together(served: Cells):
    assert echoed(served.run("%%mcp call s echo a=1\nb: 2")) == {"a": 1, "b": 2}
    with pytest.raises(UsageError, match="a is given twice"):
        served.run("%%mcp call s echo a=1\na: 2")


@pytest.mark.parametrize("name", ["s.echo", "s echo", "echo"])
def test_a_tool_has_three_names(served: Cells, name: str):
    assert echoed(served.run(f"%mcp call {name} a=1")) == {"a": 1}


# --- what is shown, what is returned ---------------------------------------------------------------------------------


def test_the_last_line_of_a_cell_is_shown_once_and_bound(served: Cells):
    value = served.run("%mcp call s add a=1 b=2")
    assert value.data == 3 or value.text == "3"
    assert len(served.shown) == 1
    assert served["_"] is value


def test_a_line_in_the_middle_is_shown_and_bound_to_underscore(served: Cells):
    served.run("%mcp call s add a=1 b=2\nr = _\nx = 1")
    assert len(served.shown) == 1
    assert "3" in served.text
    assert served["r"].text == "3"


def test_python_goes_on_binding_underscore_afterwards(served: Cells):
    served.run("%mcp call s add a=1 b=2\nx = 1")
    served.run("7 * 6")
    assert served["_"] == 42


def test_an_assigned_value_shows_nothing(served: Cells):
    served.run('x = %mcp call s echo {"n": 1}')
    assert served.shown == []
    assert echoed(served["x"]) == {"n": 1}


def test_an_assigned_value_is_shown_when_it_is_asked_for(served: Cells):
    served.run("x = %mcp call s add a=1 b=2\nx")
    assert len(served.shown) == 1
    served.run("x")
    assert len(served.shown) == 1


def test_a_semicolon_hides_the_card_and_keeps_the_value(served: Cells):
    served.run("%mcp call s add a=1 b=2;")
    assert served.shown == []
    assert served["_"].text == "3"
    served.run("x = %mcp call s add a=1 b=2;\n%mcp tools s;\ny = _")
    assert served.shown == []
    assert served["x"].text == "3"
    assert len(served["y"]) == 4


def test_the_same_object_is_shown_again_in_a_later_cell(served: Cells):
    served.run("%mcp call s add a=1 b=2\nr = _")
    served.run("r")
    assert len(served.shown) == 1


def test_lines_in_a_loop_are_all_shown(served: Cells):
    served.run("for x in range(3):\n    %mcp call s add a=$x b=1")
    assert [bundle["text/plain"].split()[-1] for bundle in served.shown] == ["1", "2", "3"]


def test_a_value_that_is_returned_is_not_shown(served: Cells):
    served.run("def f():\n    return get_ipython().run_line_magic('mcp', 'call s add a=1')\nr = [f(), f()]")
    assert served.shown == []


def test_what_is_shown_is_text_and_html_and_json(served: Cells):
    served.run("%mcp tools s")
    assert set(served.shown[0]) == {"text/plain", "text/html", "application/vnd.jupyter-mcp+json"}


# --- errors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "says", "usage"),
    [
        ("cal s add", "Did you mean call?", "%mcp call"),
        ("zzzz", "There are: connect", "%mcp VERB"),
        ("call", "TOOL is missing", "%mcp call"),
        ("call s add x", "'x' is not key=value", "%mcp call"),
        ("call add hello", "'hello' is not key=value", "%mcp call"),
        ("call s add a=1 --yess", "did you mean --yes?", "%mcp call"),
        ("call s add a=one", "a: 'one' is not an integer", "%mcp call s.add a=integer"),
        ("call s add b=1", "needs a", "s.add a=integer"),
        ("call s add c=1", "no argument 'c'", "%mcp call s.add"),
        ("disconnect", "NAME is missing", "%mcp disconnect"),
        ("servers x", "does not take 'x'", "%mcp servers"),
        ("read", "URI is missing", "%mcp read"),
        ("read s", "URI is missing", "%mcp read"),
        ("policy what", "policy takes nothing", "%mcp policy"),
        ("log s --level loud", "--level is one of", "%mcp log"),
        ("connect", "NAME is missing", "%mcp connect"),
        ("connect x cmd 'open", "quote at column", "%mcp connect"),
        ("answer a=1 decline", "one thing", "%mcp answer"),
        ("answer --times 2", "the answer is missing", "%mcp answer"),
    ],
)
def test_a_wrong_line_is_one_sentence_and_the_usage(served: Cells, line: str, says: str, usage: str):
    with pytest.raises(UsageError) as caught:
        served.run(f"%mcp {line}")
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.usage is not None
    assert caught.value.usage.startswith(usage)
    assert len(served.errors) == 2
    assert served.errors[1].startswith("usage: ")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("call s ad a=1", "Did you mean s.add?"),
        ("call ad a=1", "Did you mean s.add?"),
        ("call x.add a=1", "There is no server 'x'"),
        ("call nobody add a=1", "There is no server 'nobody'"),
        ("tools q", "There is no server 'q'"),
        ("log q", "There is no server 'q'"),
        ("disconnect q", "There is no server 'q'"),
        ("prompt revieww", "s.review"),
        ("unwatch", "Nothing is watched"),
        ("cancel", "No background call"),
    ],
)
def test_a_wrong_name_is_one_line_with_the_nearest_one(served: Cells, line: str, says: str):
    with pytest.raises(UsageError, match=says):
        served.run(f"%mcp {line}")
    assert served.errors[0].startswith("UsageError: ")


def test_a_failing_tool_raises_one_line_and_no_raise_returns_it(served: Cells):
    with pytest.raises(ToolError, match="broken"):
        served.run("%mcp call s fail")
    assert len(served.errors) == 1
    result = served.run("%mcp call s fail why=really --no-raise")
    assert result.is_error
    assert "really" in result.text


def test_a_bug_keeps_its_traceback(served: Cells, monkeypatch: pytest.MonkeyPatch):
    from jupyter_mcp.notebook.verbs import lists

    def broken(*_: Any) -> Any:
        return 1 / 0

    monkeypatch.setattr(lists, "_listed", broken)
    with pytest.raises(ZeroDivisionError):
        served.run("%mcp tools s")
    assert len(served.errors) > 2


def test_a_body_for_a_verb_without_one_is_refused(served: Cells):
    with pytest.raises(UsageError, match="takes no body"):
        served.run("%%mcp tools s\nx")


def test_nothing_connected_says_how_to_begin(cells: Cells):
    for line in ("tools", "call add a=1", "ping", "read x://y"):
        with pytest.raises(UsageError, match="connect"):
            cells.run(f"%mcp {line}")


# --- the verbs -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(verbs.table()))
def test_every_verb_has_help_and_its_examples_are_read(served: Cells, name: str):
    page = served.run(f"%mcp {name} --help")
    verb = verbs.find(name)
    assert verb.summary in served.text
    assert verb.usage_line in served.text
    assert page is not None
    from jupyter_mcp.notebook.lineparse import parse, split_verb

    for example in verb.examples:
        found, rest = split_verb(example.partition("%mcp")[2])
        assert found == name
        line = parse(rest, verb.grammar)
        assert verb.most is None or len(line.words) <= verb.most


def test_help_lists_every_verb(served: Cells):
    served.run("%mcp help")
    for verb in verbs.table().values():
        assert verb.usage in served.text
    served.run("%mcp --help")
    assert "connect NAME" in served.text


def test_mcp_alone_shows_how_to_begin_then_the_servers(cells: Cells):
    cells.run("%mcp")
    assert "connect demo" in cells.text
    cells.put(server=echo_server())
    cells.run("%mcp connect s $server;\n%mcp   # what is there")
    assert "s" in cells.text
    assert "4 tools" in cells.text


def test_lists_and_their_search(served: Cells):
    served.run("t = %mcp tools\nu = %mcp tools s --search 'add two'\np = %mcp prompts s\nr = %mcp resources")
    assert len(served["t"]) == 4
    assert [tool.name for tool in served["u"]] == ["add"]
    assert served["p"].review.name == "review"
    assert [item.key for item in served["r"]] == ["text://hello"]
    served.run("%mcp resources")
    assert "notes://{day}" in served.text


def test_reading(served: Cells):
    assert served.run("%mcp read s text://hello").text == "hello"
    assert served.run("%mcp read text://hello").text == "hello"
    assert served.run("%mcp read s notes://{day} day=today").text == "note of today"
    assert served.run("%mcp read notes://monday").text == "note of monday"
    with pytest.raises(MCPError):
        served.run("%mcp read s text://nothing")


def test_prompts(served: Cells):
    assert "python" in served.run("%mcp prompt s.review language=python").text
    assert "42" in served.run("%mcp prompt review language=42 style=strict").text
    assert "rust" in served.run('%mcp prompt s review {"language": "rust"}').text
    with pytest.raises(UsageError, match="language"):
        served.run("%mcp prompt review")


def test_complete(served: Cells):
    found = served.run("%mcp complete s review language p")
    assert [row[0] for row in found] == ["python", "perl"]
    assert "python" in served.text
    assert len(served.run("%mcp complete review language")) == 3


def test_ping_shows_no_time(served: Cells):
    ping = served.run("%mcp ping s")
    assert ping.seconds > 0
    assert served.text == "s answers."
    assert served.run("%mcp ping").server == "s"


def test_policy_rules(served: Cells):
    served.run("%mcp deny s.fail s.ec*")
    with pytest.raises(Denied, match=r"deny s\.ec\*"):
        served.run("%mcp call s echo")
    assert "deny" in served.run("%mcp policy why s.fail")[0][1]
    served.run("%mcp policy")
    assert "s.ec*" in served.text
    served.run("%mcp policy reset")
    assert echoed(served.run("%mcp call s echo")) == {}
    served.run("%%mcp policy\nallow s.*\n# no\ndeny: s.fail")
    assert [str(rule) for rule in served.run("p = %mcp policy\np")] == ["allow s.*", "deny s.fail"]
    with pytest.raises(UsageError, match="line 2"):
        served.run("%%mcp policy\nallow x\nforbid y")


def test_ask_first_is_consented_by_yes(served: Cells):
    served.run("%mcp ask_first s.add")
    with pytest.raises(Denied):
        served.run("%mcp call s add a=1")
    assert served.run("%mcp call s add a=1 --yes").text == "2"


def test_scripted_answers(served: Cells):
    def nobody(_question: Any) -> None:
        return None

    def ask() -> list[str]:
        return [row[0] for row in served.run("t = %mcp answer\nt")]

    served.put(f=nobody, values={"a": 1})
    served.run("%mcp answer decline --server s --times 1")
    served.run('%mcp answer {"city": "Paris"} --match seat')
    served.run("%mcp answer city=Paris seats=2")
    served.run("%mcp answer $f")
    served.run("%mcp answer $values")
    served.run("%%mcp answer\ncity: Rome")
    assert len(ask()) == 6
    assert "Paris" not in " ".join(ask())
    served.run("%mcp answer clear")
    assert ask() == []


def test_roots(served: Cells, tmp_path: Path):
    served.put(folder=tmp_path)
    served.run("%mcp roots $folder")
    assert tmp_path.name in served.text
    assert str(tmp_path.parent) not in served.text
    assert api.host.roots[0]["uri"] == tmp_path.as_uri()
    served.run("%mcp roots none")
    assert api.host.roots == []


def test_one_root_more_and_one_less_for_all_or_for_one_server(served: Cells, tmp_path: Path):
    for name in ("data", "out"):
        (tmp_path / name).mkdir()
    served.put(folder=tmp_path, data=tmp_path / "data", out=tmp_path / "out")
    served.run("%mcp roots $folder\n%mcp roots add $data\n%mcp roots remove $folder")
    assert [root["name"] for root in api.host.roots] == ["data"]
    served.run("%mcp roots add $out --server s")
    assert [root["name"] for root in api.host.roots.of("s")] == ["data", "out"]
    assert [root["name"] for root in api.host.roots] == ["data"]
    served.run("%mcp roots list --server s")
    assert "Roots of s" in served.text
    assert "do not hold it there" in served.text
    served.run("%mcp roots reset --server s")
    served.run("%%mcp roots\n" + str(tmp_path))
    assert api.host.roots.of("s") == api.host.roots == [{"uri": tmp_path.as_uri(), "name": tmp_path.name}]
    for wrong, why in (
        ("add", "add which FOLDER"),
        ("list x", "takes no folder"),
        ("add /no/such", "no folder /no/such"),
    ):
        with pytest.raises(UsageError, match=why):
            served.run(f"%mcp roots {wrong}")
    with pytest.raises(UsageError, match="no server 'nobody'"):
        served.run("%mcp roots add $data --server nobody")


def test_activity_and_trace(served: Cells, tmp_path: Path):
    served.run("%mcp call s add a=1;\n%mcp activity")
    assert "s.add" in served.text
    assert "person" in served.text
    assert served.run("a = %mcp activity s\na.df()") is not None
    act = api.host.activity[-1]
    assert (act.name, act.result) == ("add", "text + data: 2 (1 character)")
    assert act.reason
    served.run("%mcp trace s --filter 'tools/call add'")
    assert "tools/call" in served.text
    assert "prompts/list" not in served.text
    file = tmp_path / "trace.jsonl"
    served.put(file=file)
    served.run("%mcp trace --export $file;")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert any(line["message"].get("method") == "tools/call" for line in lines)
    with pytest.raises(UsageError, match="cannot write"):
        served.run("%mcp trace --export /no/such/folder/x.jsonl")


def test_the_journal_goes_to_a_file_until_it_is_switched_off(served: Cells, tmp_path: Path):
    file = tmp_path / "journal.jsonl"
    served.put(file=file)
    served.run("%mcp trace --file $file --limit 1")
    assert "from now on" in served.text
    assert api.host.journal.file == file
    served.run("%mcp call s add a=1;\n%mcp trace --file off")
    assert "No longer writing" in served.text
    kinds = [json.loads(line)["kind"] for line in file.read_text().splitlines()]
    assert (kinds[0], kinds[-1], "act" in kinds, "message" in kinds) == ("file", "file", True, True)
    assert api.host.journal.file is None
    assert "Nothing is being written" in repr(api.host.journal)
    served.run("%mcp trace --file off")
    assert "Nothing is being written" in served.text
    for wrong in ("s --file x", "--file x --filter y", "--file x --export y", "--limit 2"):
        with pytest.raises(UsageError, match="--file"):
            served.run(f"%mcp trace {wrong}")


def test_a_call_is_repeated_by_the_cell_that_the_journal_makes(served: Cells, monkeypatch: pytest.MonkeyPatch):
    sent = {"text": "a $b {c} ${d}; # é", "password": "hunter2secret", "list": [1, None, True]}
    first = echoed(served.run(f"%mcp call s echo {json.dumps(sent)}"))
    monkeypatch.setenv("PASSWORD", "hunter2secret")
    for line in ("activity --cell -1", "activity s --cell last", "trace --cell last", "trace s --cell last --python"):
        cell = served.run(f"c = %mcp {line}\nc")
        assert cell.fills == ("PASSWORD",), line
        assert "hunter2secret" not in served.text + cell.text
        assert "PASSWORD must be in the environment" in served.text
        assert echoed(served.run(cell.text)) == first == sent, cell.text


def test_a_read_and_a_prompt_are_repeated_by_their_cells(served: Cells):
    for line in ("read s notes://today", "prompt s.review language=python"):
        first = served.run(f"r = %mcp {line}\nr")
        for python in (False, True):
            assert served.run(api.host.activity.cell(python=python).text).text == first.text


def test_only_a_row_that_is_there_and_was_a_call_makes_a_cell(served: Cells):
    for wrong, why in (("first", "number of a row"), ("99", "no .99. here"), ("0", "connect cannot be repeated")):
        with pytest.raises(UsageError, match=why):
            served.run(f"%mcp activity --cell {wrong}")


def test_a_placeholder_is_filled_only_when_the_line_names_it(served: Cells, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("DAY", "today")
    assert echoed(served.run("%mcp call s echo q=${DAY} r=${X} --fill DAY")) == {"q": "today", "r": "${X}"}
    assert echoed(served.run("%mcp call s echo q=${DAY}")) == {"q": "${DAY}"}
    assert "today" in served.run("%mcp read s 'notes://${DAY}' --fill DAY").text
    with pytest.raises(UsageError, match="NO_SUCH is not set in the environment"):
        served.run("%mcp call s echo q=${NO_SUCH} --fill NO_SUCH")
    with pytest.raises(UsageError, match="there is no"):
        served.run("%mcp call s echo q=1 --fill DAY")


def test_what_a_person_hides_is_no_longer_shown_of_what_was_done(served: Cells):
    served.run("%mcp call s echo iban=DE4711 q=AB123456;\n%mcp activity")
    before = repr(list(api.host.activity)) + repr(list(api.host.trace))
    assert "DE4711" in before
    assert "AB123456" in before
    served.run("%mcp hide key iban\n%mcp hide pattern '[A-Z]{2}\\d{6}'\n%mcp trace")
    assert api.host.journal.hidden.rows() == [("key", "iban"), ("pattern", "[A-Z]{2}\\d{6}")]
    after = repr(list(api.host.activity)) + repr(list(api.host.trace))
    assert [secret for secret in ("DE4711", "AB123456") if secret in after] == []
    assert api.host.activity.cell(-1).fills == ("IBAN", "Q")
    served.run("%mcp hide reset")
    assert "2 rules taken back" in served.text
    assert len(api.host.journal.hidden) == 0
    for wrong in ("key", "value x", "reset x"):
        with pytest.raises(UsageError, match="hide takes"):
            served.run(f"%mcp hide {wrong}")
    with pytest.raises(UsageError, match="no regular expression"):
        served.run("%mcp hide pattern '('")
    with pytest.raises(UsageError, match="Hide what"):
        api.host.journal.hide()


def test_a_log_line_that_was_kept_is_hidden_too(served: Cells):
    entry = api.server("s").entry
    entry.say("server", "customer 4711 came", level="info")
    api.host.journal.hide(pattern=r"customer \d+")
    assert [line.text for line in entry.lines() if "came" in line.text] == ["••• came"]


@pytest.mark.skipif(os.name == "nt", reason="rights are others there")
def test_an_exported_trace_is_for_its_owner_alone(served: Cells, tmp_path: Path):
    file = tmp_path / "trace.jsonl"
    file.touch(0o644)
    served.put(file=file)
    served.run("%mcp trace --export $file;")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_log_of_a_server_that_is_gone_can_still_be_read(served: Cells):
    served.run("%mcp disconnect s")
    with pytest.raises(UsageError):
        served.run("%mcp tools s")
    assert served.run("%mcp log s") is not None


def test_reconnect(served: Cells):
    server = served.run("%mcp reconnect s")
    assert server.state == "ready"
    assert served.run("%mcp call s add a=1").text == "2"


def test_background_calls(served: Cells):
    call = served.run("%mcp call s add a=1 b=2 --background")
    assert call.result(timeout=30).text == "3"
    assert call.status == "done"
    assert served.run("%mcp call s fail --background --no-raise").result(30).is_error


def test_a_background_call_can_be_cancelled(served: Cells):
    from jupyter_mcp.errors import Cancelled

    begun = threading.Event()

    async def slow() -> str:
        """Never ends."""
        import asyncio

        begun.set()
        await asyncio.sleep(60)
        return "no"

    served["echo_server"].add_tool(slow)
    served.run("%mcp reconnect s;")
    call = served.run("%mcp call s slow --background")
    assert begun.wait(30)
    assert call.status == "running"
    served.run("%mcp cancel s.slow")
    with pytest.raises(Cancelled):
        call.result(30)
    assert call.status == "cancelled"


def test_watching(served: Cells):
    told = threading.Event()
    watch = api.servers["s"].watch("text://hello", lambda _: told.set())
    served["echo_server"].resource_updated("text://hello")
    assert told.wait(30)
    assert watch.changes >= 1
    served.run("%mcp unwatch s text://hello")
    assert not watch.active
    served.run("w = %mcp watch text://hello\n%mcp unwatch")
    assert not served["w"].active


# --- connecting ------------------------------------------------------------------------------------------------------


def test_a_missing_command_is_one_line(cells: Cells):
    with pytest.raises(ConnectionFailed, match="no-such-command-at-all"):
        cells.run("%mcp connect x no-such-command-at-all --odd")
    assert len(cells.errors) == 1


def test_the_network_of_a_sandbox_is_named_only_with_a_sandbox(cells: Cells):
    with pytest.raises(UsageError, match="--network goes with --sandbox"):
        cells.run("%mcp connect x --network cmd")


def test_a_url_where_nobody_listens_is_said_at_once(cells: Cells):
    with pytest.raises(ConnectionFailed, match=r"127\.0\.0\.1:9"):
        cells.run("%mcp connect web http://127.0.0.1:9/mcp --bearer x --header A=b")


def test_a_bad_server_name_is_refused(cells: Cells):
    with pytest.raises(UsageError, match="cannot name a server"):
        cells.run("%mcp connect a.b cmd")


def test_an_unknown_variable_in_connect_points_to_the_environment(cells: Cells):
    with pytest.raises(UsageError, match=r"\$\{HOME\}"):
        cells.run("%mcp connect x $HOME")


def test_the_demo_server_is_one_line_away(cells: Cells):
    server = cells.run("%mcp connect demo        # bundled")
    assert server.state == "ready"
    assert "demo" in cells.text
    assert "tools" in cells.text
    assert cells.run("%mcp call demo.add a=1 b=2").text == "3"
    cells.run("%mcp disconnect demo")
    assert "disconnected" in cells.text


def test_many_servers_are_connected_from_a_body_and_one_bad_one_costs_itself(cells: Cells):
    cells.run("%%mcp connect\n# two\ndemo:\nbroken: no-such-command-at-all x\n")
    assert "demo" in cells.text
    assert "no-such-command-at-all" in cells.text
    cells.run("f = %mcp servers")
    assert cells["f"]["demo"].state == "ready"


def test_servers_come_from_a_file(cells: Cells, tmp_path: Path):
    import sys

    file = tmp_path / "mcp.json"
    entry = {"command": sys.executable, "args": ["-m", "jupyter_mcp.demo"]}
    file.write_text(json.dumps({"mcpServers": {"one": entry, "two": entry, "bad": {"args": []}}}))
    cells.put(file=file)
    with pytest.raises(MCPError, match="one was not approved"):  # it may have come with the project: nobody said yes
        cells.run("%mcp connect one --from $file")
    cells.run("%mcp answer accept --kind server")
    found = cells.run("%mcp connect --from $file")
    assert sorted(found) == ["one", "two"]
    assert len(found.problems) == 1
    assert "bad" in cells.text
    cells.run("%mcp disconnect one two;")
    assert list(cells.run("%mcp connect two --from $file")) == ["two"]
    with pytest.raises(UsageError, match="no server 'three'"):
        cells.run("%mcp connect three --from $file")
    with pytest.raises(MCPError, match="nowhere"):
        cells.run("%mcp connect --from nowhere.json")


def test_a_variable_of_the_notebook_can_be_given_to_the_process(cells: Cells):
    import sys

    cells.put(key="s3cret-value", python=sys.executable)
    cells.run("s = %mcp connect d --env DEMO_KEY=$key --env PATH -- $python -m jupyter_mcp.demo")
    spec = cells["s"].entry.spec
    assert spec.env == {"DEMO_KEY": "s3cret-value"}
    assert spec.pass_env == ("PATH",)
    cells.run("%mcp servers\ns")
    assert "DEMO_KEY" in cells.text
    assert "s3cret-value" not in str(cells.shown)
    with pytest.raises(UsageError, match="no notebook variable 'kee'"):
        cells.run("%mcp connect e --env K=$kee cmd")


def test_the_logs_of_all_servers(served: Cells):
    served.put(other=echo_server())
    served.run("%mcp connect t $other;\n%mcp log")
    assert "all servers" in served.text


def test_other_magics_around_ours(served: Cells):
    served.run("%%capture out\n%mcp tools s\n%mcp call s add a=1")
    assert len(served["out"].outputs) == 2
    served.run("%time x = get_ipython().run_line_magic('mcp', 'call s add a=1')")
    assert served["x"].text == "2"
    served.run("r = get_ipython().run_cell_magic('mcp', 'call s echo', '{\"a\": 1}')")
    assert echoed(served["r"]) == {"a": 1}


def test_automagic_works_too(served: Cells):
    served.run("mcp call s add a=1 b=4")
    assert "5" in served.text


@pytest.mark.parametrize("kind", ["tools", "resources", "prompts"])
def test_the_lists_of_a_server_that_is_not_there_are_its_failure_in_one_line(cells: Cells, kind: str) -> None:
    with pytest.raises(ConnectionFailed):
        cells.run("%mcp connect bad no-such-command-anywhere")
    for line in (f"%mcp {kind} bad", f"%mcp {kind} bad --search x"):
        with pytest.raises(UsageError) as said:
            cells.run(line)
        assert "\n" not in str(said.value) and ".)" not in str(said.value)
        assert str(said.value).startswith("bad is not connected (The server 'bad' cannot be started")
        assert str(said.value).endswith("%mcp reconnect bad tries again.")
    cells.run(f"import jupyter_mcp as mcp\nmcp.servers['bad'].{kind}")
    assert "bad is not connected" in cells.text and "<" not in cells.text
