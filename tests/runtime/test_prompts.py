"""The dialogue in text, typed line by line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.host.questions import Answer, Cause, Question, QuestionKind
from jupyter_mcp.runtime.prompts import Dialogue

if TYPE_CHECKING:
    from collections.abc import Mapping

BOOK: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Name", "minLength": 2},
        "guests": {"type": "integer", "title": "Guests", "minimum": 1, "maximum": 8, "default": 2},
        "seat": {"type": "string", "title": "Seat", "enum": ["w", "a"], "enumNames": ["Window", "Aisle"]},
        "extras": {"type": "array", "title": "Extras", "items": {"type": "string", "enum": ["wifi", "meal"]}},
        "vegan": {"type": "boolean", "title": "Vegan"},
        "note": {"type": "string", "title": "Note"},
    },
    "required": ["name", "seat"],
}


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

    def ask(self, question: Question) -> Answer:
        answer = Dialogue(self.read, self.said.append).ask(question)
        assert next(self._lines, None) is None, "it asked for less than was typed"
        return answer

    @property
    def text(self) -> str:
        return "\n".join(self.said)


def question(kind: QuestionKind = "elicitation", params: Mapping[str, Any] | None = None, **more: Any) -> Question:
    given = {"requestedSchema": BOOK} if params is None else params
    return Question("q", kind, "demo", more.pop("message", "Please book"), given, **more)


def test_a_form_is_asked_field_by_field_reviewed_and_sent() -> None:
    person = Person("Ada", "window", "3", "wifi, meal", "yes", "hello", "y")
    answer = person.ask(question(cause=Cause("tools/call", "book")))
    assert answer == Answer(
        "accept",
        content={"name": "Ada", "seat": "w", "guests": 3, "extras": ["wifi", "meal"], "vegan": True, "note": "hello"},
    )
    assert person.said[0] == "demo asks (during demo.book): Please book"
    assert "  2. Seat: Window" in person.said


def test_enter_keeps_the_default_and_leaves_optional_fields_out() -> None:
    person = Person("Ada", "2", "", "", "", "", "")
    assert person.ask(question()).content == {"name": "Ada", "seat": "a", "guests": 2}
    assert "Guests (optional) [2]: " in person.prompts
    assert "  4. Extras: (left out)" in person.said


def test_what_does_not_fit_is_asked_again_with_the_reason() -> None:
    person = Person("A", "Ada", "roof", "w", "2.5", "9", "4", "", "", "", "y")
    assert person.ask(question()).content == {"name": "Ada", "seat": "w", "guests": 4}
    for reason in ("At least 2 characters", "not one of the choices", "not an integer", "from 1 to 8"):
        assert reason in person.text


def test_an_empty_required_field_is_not_accepted_but_an_empty_text_can_be_written() -> None:
    schema = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}
    person = Person("", '""', "y")
    assert person.ask(question(params={"requestedSchema": schema})).content == {"word": ""}
    assert "required" in person.text


def test_a_field_can_be_skipped_gone_back_to_and_changed_in_the_review() -> None:
    person = Person("Ada", ":back", "Eve", "w", ":skip", "", "", "", "1", "Zoe", "y")
    assert person.ask(question()).content == {"name": "Zoe", "seat": "w"}


def test_a_required_field_cannot_be_skipped() -> None:
    person = Person(":skip", ":cancel")
    assert person.ask(question()) == Answer("cancel")
    assert "cannot be left out" in person.text


@pytest.mark.parametrize("lines", [(":decline too private",), ("Ada", "w", "", "", "", "", ":decline too private")])
def test_declining_keeps_the_remark_at_any_point(lines: tuple[str, ...]) -> None:
    assert Person(*lines).ask(question()) == Answer("decline", remark="too private")


def test_the_end_of_input_is_a_cancel() -> None:
    assert Person("Ada").ask(question()) == Answer("cancel")


def test_an_interrupt_is_left_to_the_caller() -> None:
    def interrupted(_prompt: str) -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Dialogue(interrupted, print).ask(question())


def test_a_text_that_begins_with_a_colon_is_written_with_two() -> None:
    person = Person("::cancel", "w", "", "", "", "", "y")
    assert person.ask(question()).content == {"name": ":cancel", "seat": "w", "guests": 2}


def test_help_is_shown_and_unknown_commands_show_it_too() -> None:
    person = Person(":help", ":what", ":cancel")
    person.ask(question())
    assert person.text.count(":decline [remark]") == 2


def test_an_empty_form_is_only_confirmed() -> None:
    assert Person("y").ask(question(params={"requestedSchema": {"type": "object"}})) == Answer("accept", content={})


def test_control_characters_of_a_server_do_not_reach_the_terminal() -> None:
    schema = {
        "type": "object",
        "properties": {"x\x1b[2J": {"type": "string", "title": "T\x07", "description": "\x1b[31mred"}},
    }
    person = Person("v", "y")
    person.ask(question(params={"requestedSchema": schema}, message="hi\x1b[2Jthere\nsecond line"))
    assert not any(char in person.text + "".join(person.prompts) for char in "\x1b\x07")
    assert "second line" in person.text


def test_warnings_and_earlier_problems_stand_above_the_form() -> None:
    person = Person(":cancel")
    person.ask(question(warning="It asks for a password.", problems={"name": "Too short."}))
    assert person.said[1:3] == ["! It asks for a password.", "! name: Too short."]


def test_secret_fields_are_read_without_echo_and_not_shown_in_the_review() -> None:
    schema = {"type": "object", "properties": {"pin": {"type": "string", "format": "password"}}}
    person = Person("y")
    answer = Dialogue(person.read, person.said.append, lambda prompt: "1234").ask(
        question(params={"requestedSchema": schema})
    )
    assert answer.content == {"pin": "1234"}
    assert "1234" not in person.text


def test_lists_and_long_texts_and_groups() -> None:
    schema = {
        "type": "object",
        "properties": {
            "tags": {"type": "array", "items": {"type": "string"}},
            "body": {"type": "string"},
            "range": {"type": "object", "properties": {"from": {"type": "integer"}, "to": {"type": "integer"}}},
        },
        "required": ["tags", "body"],
    }
    person = Person("a, b", "one\\", "two", "y", "1", "2", "y")
    content = person.ask(question(params={"requestedSchema": schema})).content
    assert content == {"tags": ["a", "b"], "body": "one\ntwo", "range": {"from": 1, "to": 2}}


def page(url: str = "https://example.org/pay", **more: Any) -> Question:
    return question("url", {"url": url}, **more)


def test_a_page_to_open_is_shown_and_confirmed() -> None:
    person = Person("perhaps", "yes")
    assert person.ask(page()) == Answer("accept")
    assert "  site     example.org" in person.said
    assert "  address  https://example.org/pay" in person.said
    assert Person("n").ask(page()) == Answer("decline")


def test_a_name_in_another_alphabet_is_shown_both_ways_and_warned_of() -> None:
    person = Person(":cancel")
    assert person.ask(page("https://xn--pple-43d.com/", warning="letters can imitate")) == Answer("cancel")
    assert "  site     xn--pple-43d.com  (reads аpple.com)" in person.said
    assert "! letters can imitate" in person.said


def test_a_long_address_is_shown_to_its_end() -> None:
    person = Person("n")
    url = f"https://example.org/?state={'a' * 5_000}end"
    person.ask(page(url))
    assert f"  address  {url}" in person.said


def test_what_may_not_be_opened_can_only_be_refused() -> None:
    person = Person("y", "n")
    assert person.ask(page("javascript:alert(1)")) == Answer("decline")
    assert "! Only http and https pages are opened, not javascript: addresses." in person.said


def test_once_agreed_enter_sends_the_request_again() -> None:
    person = Person("")
    assert person.ask(page(step="retry")) == Answer("accept")
    assert person.said == ["Open it in your browser:\n  https://example.org/pay"]
    assert "Press Enter when you are done there" in person.prompts[0]
    assert Person(":cancel").ask(page(step="retry")) == Answer("cancel")


def test_a_server_that_goes_on_by_itself_is_not_waited_for() -> None:
    person = Person()
    Dialogue(person.read, person.said.append).tell(page(step="wait"))
    assert person.prompts == []
    assert "demo goes on when it knows that you are done" in person.text


def test_sampling_is_answered_by_several_lines() -> None:
    blocks = [{"type": "text", "text": "Two"}, {"type": "image", "data": "", "mimeType": "image/png"}]
    messages = [{"role": "user", "content": {"type": "text", "text": "One"}}, {"role": "user", "content": blocks}]
    person = Person("first", "second", ".")
    answer = person.ask(question("sampling", {"messages": messages, "systemPrompt": "Be brief", "maxTokens": 5}))
    assert answer.content == {"text": "first\nsecond"}
    assert person.said[1:5] == ["system: Be brief", "user: One", "user: Two", "user: (image, not shown)"]


def test_what_a_configuration_asks_for_is_a_form_too_with_its_passwords_typed_unseen() -> None:
    schema = {
        "type": "object",
        "properties": {
            "house": {"type": "string", "title": "House"},
            "token": {"type": "string", "title": "Token", "format": "password"},
        },
        "required": ["house", "token"],
    }
    person = Person("home", "y")
    answer = Dialogue(person.read, person.said.append, lambda prompt: "tok-1234").ask(
        question("inputs", {"requestedSchema": schema}, message="demo needs some values to be connected.")
    )
    assert answer == Answer("accept", content={"house": "home", "token": "tok-1234"})
    assert "tok-1234" not in person.text
    assert "needs some values" in person.text


def test_nothing_that_a_server_wrote_turns_the_direction_of_a_line_or_moves_the_cursor() -> None:
    odd = "a\u202eb\x1b[31mc\u2066d" * 50
    one = {"type": "string", "title": odd, "description": odd, "default": odd, "pattern": f"{odd}|.*"}
    schema = {"type": "object", "title": odd, "description": odd, "properties": {"f": one, odd: {"enum": [odd, "x"]}}}
    person = Person("", "1", "y")
    person.ask(question(params={"requestedSchema": schema}, message=odd))
    shown = person.text + "".join(person.prompts)
    assert "abcd" in shown.replace(" ", ""), "the test would see nothing otherwise"
    assert not set(shown) & set("\u202e\u2066\x1b")


LOGIN: dict[str, Any] = {
    "url": "https://login.example/authorize?state=4711",
    "issuer": "https://login.example",
    "scopes": ["notes:read", "notes:write"],
    "redirect_uri": "http://127.0.0.1:1/callback",
}


def test_a_login_says_where_and_for_what_and_goes_on_at_enter() -> None:
    person = Person("")
    assert person.ask(question("login", LOGIN, message="")) == Answer("accept")
    assert LOGIN["url"] in person.text and "notes:read, notes:write" in person.text


def test_a_login_takes_a_pasted_address_without_showing_it() -> None:
    pasted = "http://127.0.0.1:1/callback?code=abc&state=4711"
    hidden: list[str] = []
    person = Person()

    def secretly(prompt: str) -> str:
        hidden.append(prompt)
        return pasted

    answer = Dialogue(person.read, person.said.append, secretly).ask(question("login", LOGIN, message=""))
    assert answer == Answer("accept", {"redirect": pasted})
    assert hidden and not person.prompts and "abc" not in person.text


def test_a_login_can_be_given_up_and_says_what_was_wrong() -> None:
    person = Person(":cancel")
    wrong = question("login", LOGIN, message="", problems={"redirect": "It is another address."})
    assert person.ask(wrong).action == "cancel"
    assert "It is another address." in person.text
