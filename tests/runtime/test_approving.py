"""Leave to act, asked line by line: shown whole, answered by a letter, changed as JSON, denied with a reason."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_mcp.host import visible
from jupyter_mcp.host.questions import Answer, Cause, Question, QuestionKind
from jupyter_mcp.runtime.approving import Others
from jupyter_mcp.runtime.prompts import Dialogue

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
ALL = ["once", "session", "notebook", "project", "user"]


class Person:
    """Types the given lines; keeps what was shown."""

    def __init__(self, *lines: str) -> None:
        self._lines = iter(lines)
        self.prompts: list[str] = []
        self.said: list[str] = []

    def read(self, prompt: str) -> str:
        self.prompts.append(prompt)
        line = next(self._lines, None)
        if line is None:
            raise EOFError
        return line

    def ask(self, question: Question, others: Others | None = None) -> Answer:
        waiting = others or Others()
        answer = Dialogue(self.read, self.said.append, None, lambda _: waiting).ask(question)
        assert next(self._lines, None) is None, "it asked for less than was typed"
        return answer

    @property
    def text(self) -> str:
        return "\n".join(self.said)

    @property
    def shown(self) -> Any:
        """The JSON that was shown last."""
        last = max(at for at, line in enumerate(self.said) if line.startswith("  you will send"))
        lines = [line for line in self.said[last + 1 :] if line.startswith("    ")]
        return json.loads("\n".join(lines))


def approval(arguments: Mapping[str, Any] | None = None, **params: Any) -> Question:
    more = {key: params.pop(key) for key in ("problems", "draft") if key in params}
    given_ = {"tool": "delete", "title": "delete", "arguments": arguments or {"path": "a.txt"}, "origin": "model"}
    shown = {**given_, "reason": "begun by a model", "schema": SCHEMA, "scopes": ALL, **params}
    cause = Cause("tools/call", str(shown["tool"]))
    return Question("q", "approval", "demo", "Run demo.delete?", shown, cause=cause, **more)


def test_a_title_without_end_is_cut() -> None:
    person = Person("n")
    person.ask(approval(title="a title " * 100_000))
    assert "demo calls it “a title" in person.text
    assert len(person.text) < 2_000


def test_it_shows_what_the_card_shows() -> None:
    hints = {"destructiveHint": True, "openWorldHint": False}
    person = Person("n")
    person.ask(approval(title="Delete a file", annotations=hints, leaves=["these arguments: to the program demo"]))
    assert person.said == [
        "demo.delete is about to be called by a model",
        "  demo calls it “Delete a file”",
        "  destructive, closed world: says demo; nobody checks it",
        "  asked because: begun by a model",
        "  leaves the notebook: these arguments: to the program demo",
        "  you will send:",
        "    {",
        '      "path": "a.txt"',
        "    }",
    ]


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("y", Answer("accept")),
        ("YES", Answer("accept")),
        ("s", Answer("accept", scope="session")),
        ("b", Answer("accept", scope="notebook")),
        ("project", Answer("accept", scope="project")),
        ("n", Answer("decline")),
        ("n not on Sundays", Answer("decline", remark="not on Sundays")),
        (":decline not on Sundays", Answer("decline", remark="not on Sundays")),
        (":cancel", Answer("cancel")),
    ],
)
def test_a_word_answers_and_says_how_long(typed: str, answer: Answer) -> None:
    assert Person(typed).ask(approval()) == answer


def test_only_what_is_offered_can_be_said() -> None:
    person = Person("s", "p", "never", "d", "y")
    assert person.ask(approval(scopes=["once"])) == Answer("accept")
    assert person.prompts[0] == "Allow it? [y]es once, [e]dit, [n]o [reason], :cancel: "


def test_the_end_of_input_is_no_yes() -> None:
    assert Person("", "what").ask(approval()) == Answer("cancel")


def test_the_arguments_are_written_anew_and_shown_before_they_are_sent() -> None:
    person = Person("e", '{"path": \\', '"b.txt", "n": 1}', "s")
    assert person.ask(approval()) == Answer("accept", content={"arguments": {"path": "b.txt", "n": 1}}, scope="session")
    assert person.shown == {"path": "b.txt", "n": 1}
    assert "  you will send, changed by you:" in person.said


@pytest.mark.parametrize("typed", ["{", "[1]", '{"a": NaN}', "", "null"])
def test_what_is_no_object_changes_nothing(typed: str) -> None:
    person = Person("e", typed, "y")
    assert person.ask(approval()) == Answer("accept")


def test_without_a_schema_nothing_can_be_changed() -> None:
    person = Person("e", "y")
    assert person.ask(approval(schema=None)) == Answer("accept")
    assert "[e]dit" not in person.prompts[0]


def test_what_was_refused_is_still_there_with_the_reason() -> None:
    draft = {"arguments": {"path": "c.txt"}}
    person = Person("y")
    answer = person.ask(approval(problems={"arguments": "denied by a rule."}, draft=draft))
    assert answer.content == draft
    assert "! denied by a rule." in person.said
    assert person.shown == {"path": "c.txt"}


def test_what_looks_like_a_secret_is_masked_until_it_is_asked_for() -> None:
    person = Person("y")
    person.ask(approval({"api_key": "abc123def456"}))
    assert "abc123def456" not in person.text
    assert "“show” shows it" in person.text
    person = Person("show", "y")
    person.ask(approval({"api_key": "abc123def456"}))
    assert person.shown == {"api_key": "abc123def456"}


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(["a", "b\u202e", "c"]), st.none() | st.integers() | st.text(), min_size=1))
def test_whatever_is_asked_all_of_it_is_shown(arguments: dict[str, Any]) -> None:
    person = Person("show", "y")
    assert person.ask(approval(arguments)) == Answer("accept")
    assert visible.same(person.shown, arguments)
    assert not any(one in person.text for one in "\x1b\u202e\x07")


def test_characters_that_cannot_be_seen_are_named() -> None:
    person = Person("n")
    person.ask(approval({"path": "exe.\u202egpj"}, tool="de\u200blete", reason="a\x1b[2Jb"))
    assert "! It holds characters that cannot be seen: U+202E RIGHT-TO-LEFT OVERRIDE" in person.said
    assert person.said[0] == "demo.de⟨U+200B⟩lete is about to be called by a model"
    assert "\x1b" not in person.text


def test_what_a_client_wants_to_run_is_shown_whole_and_may_be_allowed_for_it_or_never() -> None:
    code = "\n".join(f"line_{number} = '\x1b[2K{number}'" for number in range(300))
    question = approval({"code": code}, tool="execute_code", client="agent", schema=None)
    person = Person("c")
    assert person.ask(question) == Answer("accept", scope="client")
    assert person.said[0] == "the client agent wants to run demo.execute_code"
    assert "line_0 = '⟨U+001B⟩[2K0'" in person.text
    assert "line_299" in person.text
    assert "\x1b" not in person.text
    assert Person("y").ask(question) == Answer("accept")
    assert Person("a").ask(question) == Answer("accept", scope="session")
    assert Person("", "what", "n").ask(question) == Answer("decline")
    assert Person("never").ask(question) == Answer("decline", scope="never")


def start(**params: Any) -> Question:
    kind: QuestionKind = "server"
    return Question("q", kind, "demo", "Start demo?", {"scopes": ["once", "session"], "origin": "project", **params})


def test_a_projects_server_is_shown_to_the_letter() -> None:
    command = "python -m theirs " + "x" * 4_000 + "end"
    person = Person("s")
    answer = person.ask(start(command=command, cwd="/srv", env=["KEY"], source=".mcp.json", reason="a file says so"))
    assert answer == Answer("accept", scope="session")
    assert person.said == [
        "demo is to be started: a file of the project names it",
        "  asked because: a file says so",
        f"  command    {command}",
        "  folder     /srv",
        "  variables  KEY",
        "  sandbox    none: it may do whatever you may",
        "  named in   .mcp.json",
    ]
    assert person.prompts == ["Start it? [y]es once, this [s]ession, [n]o [reason], :cancel: "]


def test_a_secret_in_a_command_is_masked_until_it_is_asked_for() -> None:
    person = Person("show", "n")
    person.ask(start(command="serve --token abc123def456"))
    first = next(line for line in person.said if "command" in line)
    assert "abc123def456" not in first
    assert "abc123def456" in person.text


def test_several_are_counted_and_all_of_a_server_can_be_denied() -> None:
    denied: list[Answer] = []
    person = Person("d too many")
    answer = person.ask(approval(), Others(3, 2, denied.append))
    assert answer == Answer("decline", remark="too many")
    assert denied == [answer]
    assert person.said[0] == "(1 of 3 questions) demo.delete is about to be called by a model"
    assert "[d]eny all 2 from demo" in person.prompts[0]
