"""What a configuration asks the person for: asked once, filled in, masked, forgotten; and variables of an envFile."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import ConfigError, MCPError, UsageError
from jupyter_mcp.host.host import Host
from jupyter_mcp.host.questions import Answer, Question
from jupyter_mcp.host.specs import ServerSpec, read_config
from jupyter_mcp.host.specs.envfile import parse_env
from jupyter_mcp.host.specs.inputs import form_of, needed, read_inputs

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio

INPUTS = [
    {"id": "house", "type": "promptString", "description": "House domain"},
    {"id": "house-token", "type": "promptString", "description": "Token", "password": True},
    {"id": "level", "type": "pickString", "options": ["low", {"label": "High", "value": "high"}], "default": "low"},
]


class Person:
    """Answers the forms of a host; keeps what was asked."""

    def __init__(self, *answers: Answer) -> None:
        self.asked: list[Question] = []
        self.answers = list(answers)

    async def ask(self, question: Question) -> Answer:
        self.asked.append(question)
        return self.answers.pop(0)


def _specs(entries: dict[str, Any], inputs: Any = INPUTS) -> list[ServerSpec]:
    found = read_config({"inputs": inputs, "servers": entries})
    assert all(isinstance(one, ServerSpec) for one in found)
    return [one for one in found if isinstance(one, ServerSpec)]


def _demo(*args: str, **env: str) -> dict[str, Any]:
    from jupyter_mcp.host.specs.spec import DEMO_COMMAND

    return {"command": DEMO_COMMAND[0], "args": [*DEMO_COMMAND[1:], *args], "env": env}


def test_prompts_and_picks_become_one_form_and_a_password_is_masked_in_it():
    inputs, problems = read_inputs(INPUTS)
    form = form_of(inputs.values())
    assert problems == []
    assert form["required"] == ["house", "house-token", "level"]
    assert form["properties"]["house-token"] == {
        "type": "string",
        "title": "Token",
        "format": "password",
        "minLength": 1,
    }
    assert form["properties"]["level"] == {
        "type": "string",
        "title": "level",
        "enum": ["low", "high"],
        "default": "low",
    }


def test_an_input_with_a_secrets_name_is_masked_although_the_file_forgot_to_say_so():
    inputs, _ = read_inputs([{"id": "api-key", "type": "promptString"}])
    assert inputs["api-key"].secret


def test_inputs_that_only_an_editor_has_and_twins_are_said_and_the_others_work():
    raw = [{"id": "a", "type": "command", "command": "x"}, {"type": "promptString"}, INPUTS[0], INPUTS[0]]
    inputs, problems = read_inputs(raw)
    assert list(inputs) == ["house"]
    assert [p.split(" ")[-1] for p in problems] == ["has", "id", "used"]


def test_only_what_a_server_refers_to_is_needed_wherever_it_stands():
    (spec,) = _specs({"a": {"url": "https://${input:house}/mcp", "headers": {"X": "Bearer ${input:house-token}"}}})
    assert needed(spec) == ["house", "house-token"]
    (spec,) = _specs({"a": {"command": "x", "args": ["${input:level}"], "cwd": "${input:house}"}})
    assert needed(spec) == ["level", "house"]


def test_given_values_are_filled_in_and_are_not_looked_at_again():
    (spec,) = _specs({"a": {"command": "x", "args": ["${input:house}"]}})
    assert spec.expanded({"KEY": "v"}, {"house": "${KEY}"}).args == ("${KEY}",)


def test_what_may_stay_empty_is_left_out_with_its_option():
    (spec,) = _specs({"a": {"command": "x", "args": ["--to", "${input:house}", "end"], "env": {"H": "${input:house}"}}})
    free = replace(spec, inputs={"house": replace(spec.inputs["house"], required=False)})
    assert free.expanded({}, {"house": ""}).args == ("end",)
    assert free.expanded({}, {"house": ""}).env == {}
    assert free.expanded({}, {"house": "there"}).args == ("--to", "there", "end")


async def test_a_server_is_connected_with_what_the_person_gave_and_nothing_of_it_is_shown():
    person = Person(Answer("accept", {"house-token": "s3cret-value-9"}))
    host = Host(ui=person)
    try:
        (spec,) = _specs({"d": _demo(HOUSE_TOKEN="${input:house-token}")})
        entry = await host.connect(spec)
        assert entry.ready
        assert [question.kind for question in person.asked] == ["inputs"]
        assert "s3cret-value-9" not in repr(entry.spec)
        assert host.redactor.text("it said s3cret-value-9") == "it said •••"
        assert "s3cret-value-9" not in repr(host.journal.entries)
        await host.reconnect("d")
        assert len(person.asked) == 1
    finally:
        await host.aclose()


async def test_two_servers_that_need_the_same_are_asked_for_once():
    person = Person(Answer("accept", {"level": "high"}))
    host = Host(ui=person)
    try:
        specs = _specs({name: _demo(LEVEL="${input:level}") for name in ("a", "b")})
        done = await asyncio.wait_for(host.connect_many(specs), 30)
        assert not [one for one in done if isinstance(one, MCPError)]
        assert len(person.asked) == 1
        await host.disconnect("a")
        person.answers.append(Answer("accept", {"level": "low"}))
        await host.connect(specs[0])
        assert len(person.asked) == 1  # b has it still
        await host.disconnect("a")
        await host.disconnect("b")
        await host.connect(specs[0])
        assert len(person.asked) == 2
    finally:
        await host.aclose()


async def test_a_value_given_in_vain_is_asked_for_again():
    person = Person(Answer("accept", {"house": "no-such-command-1"}), Answer("accept", {"house": "no-such-command-2"}))
    host = Host(ui=person)
    (spec,) = _specs({"a": {"command": "${input:house}"}})
    for _ in range(2):
        with pytest.raises(MCPError):
            await host.connect(spec)
    assert len(person.asked) == 2
    await host.aclose()


async def test_no_value_is_no_connection_and_says_which_one_was_needed():
    host = Host(ui=Person(Answer("cancel")))
    (spec,) = _specs({"a": _demo(X="${input:house}")})
    with pytest.raises(ConfigError, match="a is not connected: it needs House domain, and no value was given"):
        await host.connect(spec)
    await host.aclose()


async def test_where_nobody_can_be_asked_the_error_says_how_to_script_it_and_the_script_works():
    host = Host()
    (spec,) = _specs({"a": _demo(X="${input:level}")})
    try:
        with pytest.raises(ConfigError) as error:
            await host.connect(spec)
        assert 'mcp.answer({"level": …}, server="a", kind="inputs")' in str(error.value.hint)
        host.answers.add({"level": "high"}, server="a")  # a script for servers' forms gives nothing of ours away
        with pytest.raises(ConfigError):
            await host.connect(spec)
        host.answers.add({"level": "no such level"}, kind="inputs", times=1)
        with pytest.raises(UsageError, match="does not fit"):
            await host.connect(spec)
        host.answers.add({"level": "high"}, kind="inputs")
        assert (await host.connect(spec)).ready
    finally:
        await host.aclose()


# --- envFile ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("A=1", "1"),
        ("  export A = 1  ", "1"),
        ("A=", ""),
        ("A=a b # comment", "a b"),
        ("A=a#b", "a#b"),
        ("A='a # \\n b' # c", "a # \\n b"),
        ('A="x\\ny \\" z"', 'x\ny " z'),
        ("A=C:\\dir", "C:\\dir"),
        ("A=${B}", "${B}"),
    ],
)
def test_lines_of_an_env_file_are_read_as_dotenv_files_are(line: str, value: str):
    assert parse_env(f"# head\n\n{line}\n", file=".env") == {"A": value}


@pytest.mark.parametrize("line", ["sk-secret", "A='open", "1A=x", "=x"])
def test_a_line_that_is_none_is_named_by_its_number_and_not_quoted(line: str):
    with pytest.raises(ConfigError, match=r"Line 2 of \.env is not NAME=value") as error:
        parse_env(f"A=1\n{line}", file=".env")
    assert "secret" not in str(error.value)


def test_an_env_file_is_read_at_connecting_and_env_goes_before_it(tmp_path: Path):
    (tmp_path / ".vscode").mkdir()
    (tmp_path / ".env").write_text("A=file\nB=file\nMY_TOKEN=tok-from-file\n")
    path = tmp_path / ".vscode" / "mcp.json"
    entry = {"command": "x", "env": {"A": "entry"}, "envFile": "${workspaceFolder}/.env"}
    path.write_text(json.dumps({"servers": {"a": entry}}))
    (spec,) = read_config(path)
    assert isinstance(spec, ServerSpec)
    assert spec.env == {"A": "entry"}
    assert spec.describe() == "x (env: A) (envFile: ${workspaceFolder}/.env)"
    filled = spec.expanded({})
    assert filled.env == {"A": "entry", "B": "file", "MY_TOKEN": "tok-from-file"}
    host = Host()
    host.redactor.learn_spec(spec, filled)
    assert "tok-from-file" not in host.redactor.text("tok-from-file")
    (tmp_path / ".env").unlink()
    with pytest.raises(ConfigError, match="There is no file"):
        spec.expanded({})


def test_a_yes_to_a_projects_server_is_for_its_env_file_too_and_the_person_sees_that_there_is_one():
    from jupyter_mcp.host.policy.servers import connect_deed, shown

    spec = ServerSpec("a", "stdio", command="x", env={"A": "1"}, env_file=".env")
    deed = connect_deed(spec, "project")
    assert shown(spec, deed)["env"] == ["A", "those in .env"]
    assert connect_deed(replace(spec, env_file="other.env"), "project").fingerprint != deed.fingerprint
