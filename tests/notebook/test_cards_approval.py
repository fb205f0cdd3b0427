"""Cards that ask for leave: what is shown is what is sent, how long a yes holds, a no with its reason, a queue."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jupyter_mcp.host import visible
from jupyter_mcp.host.questions import Answer, Cause, Question
from jupyter_mcp.notebook import cards
from jupyter_mcp.notebook.cards import kit
from tests.notebook.page import VIEW, Page, box, button, capture, walk, words

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "seats": {"type": "integer", "minimum": 1, "maximum": 9},
        "day": {"type": "string", "default": "today"},
        "window": {"type": "boolean", "default": True},
    },
    "required": ["seats"],
}
ALL = ["once", "session", "notebook", "project", "user"]


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Page:
    return capture(monkeypatch)


class Asked:
    """An approval on the page, and the answers it got."""

    def __init__(self, arguments: Any = None, *, server: str = "demo", kind: Any = "approval", **params: Any) -> None:
        given = {"tool": "book", "title": "book", "arguments": {"seats": 2} if arguments is None else arguments}
        more = {key: params.pop(key) for key in ("problems", "draft") if key in params}
        shown = {**given, "origin": "model", "reason": "begun by a model", "scopes": ALL, **params}
        shown = params if kind == "server" else shown
        cause = Cause("tools/call", str(shown.get("tool"))) if kind == "approval" else None
        self.question = Question("q", kind, server, f"Run {server}.book?", shown, cause=cause, **more)
        self.answers: list[Answer] = []
        self.presented: Any = cards.presenter(self.question, self.answers.append)
        self.root = self.presented.card.root

    def press(self, label: str) -> None:
        button(self.root, label).click()

    def toggle(self, label: str) -> None:
        made = button(self.root, label)
        made.value = not made.value

    @property
    def labels(self) -> list[str]:
        """The buttons on the page, in their order."""
        found = [w for w in walk(self.root) if type(w).__name__ in ("Button", "ToggleButton")]
        return [w.description for w in found if w.layout.display != "none"]

    @property
    def shown(self) -> Any:
        """What stands under "You will send", read back."""
        [picture] = [w.value for w in walk(self.root) if type(w).__name__ == "HTML" and "You will send" in w.value]
        if "no arguments" in picture:
            return {}
        [text] = re.findall(r"<pre[^>]*>(.*?)</pre>", picture, re.DOTALL)
        return json.loads(unescape(text))

    @property
    def sent(self) -> Any:
        """What the answer makes of the arguments."""
        [answer] = self.answers
        return (answer.content or {"arguments": self.question.params["arguments"]})["arguments"]


def test_it_says_what_is_asked_by_whom_and_why(page: Page) -> None:
    asked = Asked(title="Book seats", reason="ask_first demo.book", leaves=["these arguments: to the program demo"])
    shown = words(asked.root)
    assert shown.startswith("demo.book is about to be called by a model demo calls it “Book seats”")
    assert "asked because ask_first demo.book" in shown
    assert "leaves the notebook these arguments: to the program demo" in shown


def test_the_servers_word_about_its_tool_is_named_as_its_word(page: Page) -> None:
    hints = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": "yes", "openWorldHint": False}
    first = Asked(annotations=hints)
    shown = words(first.root)
    first.presented.close(None)
    assert "changes things destructive closed world says demo; nobody checks it" in shown
    assert "idempotent" not in shown, "what is neither true nor false is not said"
    second = Asked(annotations=hints, trusted=True)
    assert "says demo, whose word you trust" in words(second.root)
    second.presented.close(None)
    assert "demo does not say what it does to things" in words(Asked(annotations={}).root)


@pytest.mark.parametrize(
    ("label", "scope"),
    [
        ("Allow once", ""),
        ("Allow for this session", "session"),
        ("Allow in this notebook", "notebook"),
        ("Allow in this project", "project"),
    ],
)
def test_a_yes_holds_as_long_as_its_button_says(page: Page, label: str, scope: Any) -> None:
    asked = Asked()
    asked.press(label)
    assert asked.answers == [Answer("accept", scope=scope)]


@pytest.mark.parametrize("offered", [["once"], ["once", "session"], ["once", "session", "project"]])
def test_only_what_is_offered_can_be_chosen(page: Page, offered: list[str]) -> None:
    allowing = [label for label in Asked(scopes=offered).labels if label.startswith("Allow")]
    assert len(allowing) == len(offered)


def test_a_no_carries_the_reason_for_whoever_began_it(page: Page) -> None:
    asked = Asked()
    assert box(asked.root, "Reason").tooltip == "The model gets to read it"
    box(asked.root, "Reason").value = " not on Sundays "
    asked.press("Deny")
    assert asked.answers == [Answer("decline", remark="not on Sundays")]


def test_cancel_is_no_choice_and_what_escape_presses(page: Page) -> None:
    asked = Asked()
    assert kit.ESCAPE in button(asked.root, "Cancel")._dom_classes
    asked.press("Cancel")
    assert asked.answers == [Answer("cancel")]


# --- the arguments ---------------------------------------------------------------------------------------------------


def test_the_arguments_are_changed_in_the_tools_own_form(page: Page) -> None:
    asked = Asked(schema=SCHEMA)
    asked.toggle("Change")
    box(asked.root, "seats").value = "4"
    assert asked.shown == {"seats": 4}, "what was left out stays out, whatever its default"
    assert "You will send to demo, changed by you" in words(asked.root)
    asked.press("Allow once")
    assert asked.answers == [Answer("accept", {"arguments": {"seats": 4}})]


def test_what_does_not_fit_cannot_be_allowed(page: Page) -> None:
    asked = Asked(schema=SCHEMA)
    asked.toggle("Change")
    box(asked.root, "seats").value = "12"
    for label in ("Allow once", "Allow for this session"):
        assert button(asked.root, label).disabled
        asked.press(label)
    assert asked.answers == []
    assert "1 to 9, not 12" in words(asked.root)
    assert not button(asked.root, "Deny").disabled


def test_closing_the_form_goes_back_to_what_was_asked(page: Page) -> None:
    asked = Asked(schema=SCHEMA)
    asked.toggle("Change")
    box(asked.root, "seats").value = "12"
    asked.toggle("Change")
    assert asked.shown == {"seats": 2}
    asked.press("Allow once")
    assert asked.answers == [Answer("accept")]


def test_as_json_everything_can_be_changed(page: Page) -> None:
    asked = Asked(schema=SCHEMA)
    asked.toggle("Change")
    asked.toggle("Edit as JSON")
    text = box(asked.root, "Arguments as JSON")
    assert json.loads(text.value) == {"seats": 2}
    text.value = '{"seats": 3, "extra": [1, null]'
    assert button(asked.root, "Allow once").disabled
    text.value += "}"
    asked.press("Allow once")
    assert asked.sent == {"seats": 3, "extra": [1, None]}


@pytest.mark.parametrize(
    "arguments",
    [{"seats": "two"}, {"seats": 2, "day": "\u202eyadot"}, {}],
)
def test_what_the_form_cannot_show_as_it_is_opens_as_json(page: Page, arguments: dict[str, Any]) -> None:
    asked = Asked(arguments, schema=SCHEMA)
    asked.toggle("Change")
    assert json.loads(box(asked.root, "Arguments as JSON").value) == arguments
    assert asked.shown == arguments


@pytest.mark.parametrize("arguments", [{"seats": 2, "extra": 1}, {"seats": 2, "day": ""}])
def test_what_has_no_field_or_is_empty_is_shown_in_the_form_too(page: Page, arguments: dict[str, Any]) -> None:
    asked = Asked(arguments, schema=SCHEMA)
    asked.toggle("Change")
    assert asked.shown == arguments
    box(asked.root, "seats").value = "3"
    asked.press("Allow once")
    assert asked.sent == {**arguments, "seats": 3}


def test_true_and_one_are_two_values(page: Page) -> None:
    asked = Asked({"flag": 1}, schema={"type": "object"})
    asked.toggle("Change")
    asked.toggle("Edit as JSON")
    box(asked.root, "Arguments as JSON").value = '{"flag": true}'
    asked.press("Allow once")
    assert asked.answers[0].content == {"arguments": {"flag": True}}


def test_what_was_refused_is_still_there_with_the_reason(page: Page) -> None:
    draft = {"arguments": {"seats": 8}}
    asked = Asked(schema=SCHEMA, problems={"arguments": "demo.book is denied by the rule."}, draft=draft)
    assert "Careful: demo.book is denied by the rule." in words(asked.root)
    assert box(asked.root, "seats").value == "8"
    assert asked.shown == {"seats": 8}


def test_without_a_schema_nothing_can_be_changed(page: Page) -> None:
    assert "Change" not in Asked().labels


def test_a_long_argument_is_folded_and_whole(page: Page) -> None:
    text = "word " * 40_000 + "the end"
    asked = Asked({"text": text}, schema={"type": "object", "properties": {"text": {"type": "string"}}})
    [picture] = [w.value for w in walk(asked.root) if type(w).__name__ == "HTML" and "You will send" in w.value]
    assert picture.startswith("<details><summary>")
    assert "200,0" in picture
    assert "the end" in picture
    assert asked.shown == {"text": text}
    asked.toggle("Change")
    assert box(asked.root, "text").value == text
    asked.press("Allow once")
    assert asked.sent == {"text": text}


def test_characters_that_cannot_be_seen_are_named_and_shown(page: Page) -> None:
    asked = Asked({"path": "exe.\u202egpj"})
    assert "Careful: it holds characters that cannot be seen: U+202E RIGHT-TO-LEFT OVERRIDE." in words(asked.root)
    assert "exe.\\u202egpj" in words(asked.root)
    assert asked.shown == {"path": "exe.\u202egpj"}


@pytest.mark.parametrize("name", ["\u202eevil", "a\u200bb", "x\x1b[31m", "<b>bold</b>"])
def test_names_and_words_of_the_server_hide_nothing(page: Page, name: str) -> None:
    asked = Asked(tool=name, title=name, reason=name, leaves=[name])
    every = " ".join(w.value for w in walk(asked.root) if type(w).__name__ == "HTML")
    for hidden in ("\u202e", "\u200b", "\x1b", "<b>bold"):
        assert hidden not in every
    assert visible.marked(name) in unescape(every)


JSON: Any = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from(["seats", "day", "window", "other", "a\u202eb"])


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(arguments=st.dictionaries(NAMES, JSON, max_size=4), change=st.booleans())
def test_whatever_is_asked_what_is_shown_is_what_is_sent(page: Page, arguments: dict[str, Any], change: bool) -> None:
    asked = Asked(arguments, schema=SCHEMA)
    if change:
        asked.toggle("Change")
    assert visible.same(asked.shown, arguments)
    asked.press("Allow once")
    assert visible.same(asked.sent, arguments)
    asked.presented.close(asked.answers[0])


@pytest.mark.parametrize(
    "params", [{"arguments": 3}, {"annotations": []}, {"scopes": 7}, {"leaves": "x"}, {"schema": 1}]
)
def test_odd_params_still_make_a_card(page: Page, params: dict[str, Any]) -> None:
    asked = Asked(**params) if "arguments" not in params else Asked(params["arguments"])
    asked.press("Deny")
    assert asked.answers == [Answer("decline")]


# --- clients of ours, and servers of a project -----------------------------------------------------------------------


def test_what_a_client_wants_is_whole_and_cannot_be_changed(page: Page) -> None:
    code = "\n".join(f"line_{number} = 1" for number in range(400))
    asked = Asked({"code": code + "\x1b[2K"}, client="agent", tool="execute_code", schema=SCHEMA, server="nb")
    assert words(asked.root).startswith("the client agent wants to run nb.execute_code")
    assert "line_399 = 1⟨U+001B⟩[2K" in words(asked.root)
    assert asked.labels[:4] == ["Allow once", "Allow this client", "Allow in this notebook", "Never"]


@pytest.mark.parametrize(
    ("label", "answer"),
    [
        ("Allow this client", Answer("accept", scope="client")),
        ("Allow in this notebook", Answer("accept", scope="session")),
        ("Never", Answer("decline", scope="never")),
    ],
)
def test_a_clients_answers_are_kept_apart(page: Page, label: str, answer: Answer) -> None:
    asked = Asked({"code": "1"}, client="agent", tool="execute_code")
    asked.press(label)
    assert asked.answers == [answer]


COMMAND = "python -m their.server --data '/srv/my data' " + "x" * 5_000 + "end"


def test_a_projects_server_is_shown_to_the_letter(page: Page) -> None:
    asked = Asked(
        kind="server", command=COMMAND, words=[], cwd="/srv", env=["KEY", "all of yours"], source=".mcp.json",
        origin="project", reason="demo comes from a file of the project", scopes=["once", "session", "notebook"],
    )  # fmt: skip
    shown = unescape(words(asked.root))
    assert shown.startswith("demo is to be started: a file of the project names it")
    for expected in (
        COMMAND,
        "/srv",
        "KEY, all of yours",
        ".mcp.json",
        "it may do whatever you may",
    ):
        assert expected in shown
    assert asked.labels[:3] == ["Start once", "Start for this session", "Start in this notebook"]
    asked.press("Start in this notebook")
    assert asked.answers == [Answer("accept", scope="notebook")]
    asked.presented.close(asked.answers[0])
    assert "Started in this notebook" in page.text


def test_an_address_is_reached_and_not_started(page: Page) -> None:
    asked = Asked(kind="server", url="https://ex\u200bample.org/mcp", headers=["X-Key"], way="", scopes=["once"])
    assert "demo is to be reached" in words(asked.root)
    assert "https://ex⟨U+200B⟩ample.org/mcp" in words(asked.root)
    assert "Allow once" in asked.labels


# --- several at once -------------------------------------------------------------------------------------------------


def test_several_stand_in_a_row_and_the_next_opens_when_one_is_answered(page: Page) -> None:
    first, second, third = Asked(), Asked(), Asked()
    assert "1 of 3 questions" in words(first.root)
    assert "2 of 3 questions · { &quot;seats&quot;: 2 }" in words(second.root), "what it is about is seen"
    assert "Allow once" not in second.labels
    first.press("Allow once")
    assert "1 of 2 questions" in words(second.root)
    assert "Allow once" in second.labels
    assert "2 of 2 questions" in words(third.root)
    second.presented.close(None)
    assert "of" not in words(third.root).split("demo.book")[0]


def test_nobody_has_to_wait_for_their_turn(page: Page) -> None:
    _, second = Asked(), Asked()
    second.press("Look at it now")
    second.press("Deny")
    assert second.answers == [Answer("decline")]


def test_everything_of_one_server_is_denied_at_once(page: Page) -> None:
    first, other, second = Asked(), Asked(server="other"), Asked()
    assert not any(label.startswith("Deny all") for label in other.labels)
    box(first.root, "Reason").value = "stop"
    first.press("Deny all 2 from demo")
    assert first.answers == second.answers == [Answer("decline", remark="stop")]
    assert other.answers == []


def test_one_alone_is_not_counted(page: Page) -> None:
    asked = Asked()
    assert "1 of 1" not in words(asked.root)
    assert not any(label.startswith("Deny all") for label in asked.labels)


def test_cards_that_ended_with_the_extension_count_no_more(page: Page) -> None:
    Asked()
    cards.close_all()
    assert "of" not in words(Asked().root).split("demo.book")[0]


# --- the record ------------------------------------------------------------------------------------------------------


def test_the_record_says_what_was_asked_what_was_sent_and_how_long_it_holds(page: Page) -> None:
    asked = Asked({"seats": 2, "day": "today"}, schema=SCHEMA)
    asked.presented.close(Answer("accept", {"arguments": {"seats": 4}}, scope="notebook"))
    assert VIEW not in page.last
    assert page.text.splitlines() == [
        "demo.book was to be called by a model",
        "demo does not say what it does to things",
        "asked because: begun by a model",
        "seats: 2",
        "day: today",
        "Allowed in this notebook",
        "The arguments were changed; sent was:",
        "seats: 4",
    ]


def test_the_record_of_a_no_has_its_reason_and_who_gave_it(page: Page) -> None:
    Asked().presented.close(Answer("decline", remark="not today", by="script"))
    assert page.text.splitlines()[-2:] == ["Denied (by a scripted answer)", "reason, told to the model: not today"]


def test_the_record_keeps_no_secret_and_hides_nothing(page: Page) -> None:
    key = "sk-" + "a1B2" * 6
    asked = Asked({"api_key": key, "path": "a\u202eb"})
    asked.presented.close(Answer("accept", {"arguments": {"api_key": key, "path": "c\u200bd"}}))
    everything = json.dumps(page.last)
    assert key not in everything
    assert "a⟨U+202E⟩b" in page.text
    assert "c⟨U+200B⟩d" in page.text


def test_the_record_of_a_command_keeps_no_secret(page: Page) -> None:
    asked = Asked(kind="server", command="serve --token abc123def456", cwd="/home/ada/project", scopes=["once"])
    assert "abc123def456" in words(asked.root), "it is this that is allowed"
    asked.presented.close(Answer("decline"))
    assert "abc123def456" not in json.dumps(page.last)
    assert "/home/ada" not in json.dumps(page.last)
