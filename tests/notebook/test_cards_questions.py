"""Question cards: who asks, three answers apart, one answer however often one presses, a record at the end."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from jupyter_mcp.host.questions import Answer, Cause, Question
from jupyter_mcp.notebook import cards
from tests.notebook.page import VIEW, Page, box, button, capture, walk, words

SCHEMA = {
    "type": "object",
    "properties": {
        "seat": {"type": "string", "title": "Seat"},
        "guests": {"type": "integer", "title": "Guests", "minimum": 1},
        "window": {"type": "boolean", "default": True},
    },
    "required": ["seat", "guests"],
}


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Page:
    return capture(monkeypatch)


class Asked:
    """A question on the page, and the answers it got."""

    def __init__(self, kind: Any = "elicitation", message: str = "Which seat?", **more: Any) -> None:
        cause = Cause("tools/call", "book")
        self.question = Question("q1", kind, "demo", message, more.pop("params", {}), cause=cause, **more)
        self.answers: list[Answer] = []
        self.presented: Any = cards.presenter(self.question, self.answers.append)
        self.root = self.presented.card.root

    def press(self, label: str) -> None:
        button(self.root, label).click()


def form(**more: Any) -> Asked:
    return Asked(params={"requestedSchema": SCHEMA}, **more)


def fill(asked: Asked) -> None:
    box(asked.root, "Seat").value = "12A"
    box(asked.root, "Guests").value = "2"


def test_the_card_names_the_server_the_act_and_quotes_the_message(page: Page) -> None:
    asked = form(message="Which <b>seat</b>?")
    assert words(asked.root).startswith("demo asks, while running demo.book Which &lt;b&gt;seat&lt;/b&gt;?")
    assert any("<blockquote" in w.value for w in walk(asked.root) if type(w).__name__ == "HTML")


def test_a_live_card_also_carries_text_and_page(page: Page) -> None:
    form()
    assert page.live
    assert (
        page.text
        == "demo asks, while running demo.book\n> Which seat?\nwaiting for an answer; expired if its kernel is gone"
    )
    assert "Which seat?" in page.last["text/html"]


def test_a_hunt_for_a_secret_is_warned_of(page: Page) -> None:
    asked = form(warning="it asks for a card number.")
    assert "Careful: it asks for a card number." in words(asked.root)


def test_nothing_can_be_sent_before_the_form_is_complete(page: Page) -> None:
    asked = form()
    submit = button(asked.root, "Submit")
    assert submit.disabled
    assert "Still needed: Seat, Guests" in words(asked.root)
    submit.click()
    assert asked.answers == []
    fill(asked)
    assert not submit.disabled


def test_the_review_shows_exactly_what_is_sent(page: Page) -> None:
    asked = form()
    fill(asked)
    assert "You will send to demo { &quot;seat&quot;: &quot;12A&quot;, &quot;guests&quot;: 2" in words(asked.root)
    asked.press("Submit")
    assert asked.answers == [Answer("accept", {"seat": "12A", "guests": 2, "window": True})]


def test_a_second_press_does_nothing(page: Page) -> None:
    asked = form()
    fill(asked)
    for label in ("Submit", "Submit", "Decline", "Cancel"):
        asked.press(label)
    assert [answer.action for answer in asked.answers] == ["accept"]


def test_two_threads_that_press_at_once_give_one_answer(page: Page) -> None:
    asked = form()
    fill(asked)
    gate = threading.Barrier(8)

    def press(label: str) -> None:
        gate.wait(5)
        asked.press(label)

    threads = [threading.Thread(target=press, args=(label,)) for label in ("Submit", "Decline") * 4]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert len(asked.answers) == 1


def test_a_decline_carries_its_remark(page: Page) -> None:
    asked = form()
    box(asked.root, "Remark").value = "  too dear "
    asked.press("Decline")
    assert asked.answers == [Answer("decline", remark="too dear")]


def test_cancel_is_apart_from_decline(page: Page) -> None:
    asked = form()
    asked.press("Cancel")
    assert asked.answers == [Answer("cancel")]


def test_an_answered_card_becomes_its_record_without_a_widget(page: Page) -> None:
    asked = form()
    fill(asked)
    asked.press("Submit")
    asked.presented.close(asked.answers[0])
    asked.presented.close(None)
    assert VIEW not in page.last
    assert page.text.splitlines()[:3] == ["demo asked, while running demo.book", "> Which seat?", "Accepted"]
    assert "seat: 12A" in page.text
    assert len(page.published) == 2


def test_a_withdrawn_question_says_so_and_its_buttons_are_dead(page: Page) -> None:
    asked = form()
    fill(asked)
    submit = button(asked.root, "Submit")
    asked.presented.close(None)
    submit.click()
    assert asked.answers == []
    assert "Closed: the call was cancelled" in page.text


def test_a_question_left_open_is_expired_when_the_kernel_ends(page: Page) -> None:
    asked = form()
    cards.close_all()
    assert not page.live
    assert page.text.splitlines()[-1] == "Expired: the kernel ended before it was answered"
    asked.press("Cancel")
    assert asked.answers == []


def test_a_message_alone_is_a_confirmation(page: Page) -> None:
    asked = Asked(message="Delete everything?", params={"requestedSchema": {"type": "object", "properties": {}}})
    asked.press("Confirm")
    assert asked.answers == [Answer("accept", {})]


@pytest.mark.parametrize("schema", [None, [], 3, {"properties": None}, {"properties": {"x": None}}])
def test_an_odd_schema_still_makes_a_card(page: Page, schema: Any) -> None:
    asked = Asked(params={"requestedSchema": schema})
    asked.press("Cancel")
    assert asked.answers == [Answer("cancel")]


def test_fields_of_one_title_are_told_apart(page: Page) -> None:
    same = {"a": {"type": "string", "title": "Name"}, "b": {"type": "string", "title": "Name"}}
    asked = Asked(params={"requestedSchema": {"properties": same, "required": ["a", "b"]}})
    assert "Still needed: Name (a), Name (b)" in words(asked.root)


def test_the_five_enum_spellings_send_their_values(page: Page) -> None:
    enums = {
        "plain": {"type": "string", "enum": ["a", "b"], "default": "b"},
        "named": {"type": "string", "enum": ["p1", "p3"], "enumNames": ["Low priority", "High priority"]},
        "titled": {
            "type": "string",
            "oneOf": [{"const": "#f00", "title": "Red"}, {"const": "#00f", "title": "Blue"}],
            "default": "#0f0",
        },
        "multi": {"type": "array", "items": {"enum": ["x", "y", "z"]}, "minItems": 1, "maxItems": 2, "default": ["y"]},
        "several": {
            "type": "array",
            "items": {"anyOf": [{"const": "r", "title": "Read"}, {"const": "w", "title": "Write"}]},
        },
    }
    asked = Asked(params={"requestedSchema": {"properties": enums, "required": ["named", "multi"]}})
    box(asked.root, "named").label = "High priority"
    box(asked.root, "titled").label = "Blue"
    box(asked.root, "Write").value = True
    asked.press("Submit")
    assert asked.answers[0].content == {"named": "p3", "multi": ["y"], "plain": "b", "titled": "#00f", "several": ["w"]}


def url(address: str) -> Asked:
    return Asked("url", "Log in", params={"url": address})


def links(asked: Asked) -> list[str]:
    return [w.value for w in walk(asked.root) if type(w).__name__ == "HTML" and "<a " in w.value]


def test_an_address_is_text_until_the_person_agrees(page: Page) -> None:
    asked = url('https://login.example.org/a?x="><script>')
    assert links(asked) == []
    assert "login.example.org" in words(asked.root)
    asked.press("I agree, show the link")
    assert asked.answers == []
    [link] = links(asked)
    assert 'rel="noopener noreferrer"' in link
    assert 'target="_blank"' in link
    assert "<script>" not in link
    asked.press("Done, go on")
    assert asked.answers == [Answer("accept")]


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "", "https://[bad", "//x"]
)
def test_what_is_no_web_address_never_becomes_a_link(page: Page, address: str) -> None:
    asked = url(address)
    agree = button(asked.root, "I agree, show the link")
    assert agree.disabled
    agree.click()
    assert links(asked) == []
    asked.press("Decline")
    assert asked.answers == [Answer("decline")]


def test_an_address_with_lookalike_letters_is_pointed_out(page: Page) -> None:
    assert "look like others" in words(url("https://exämple.org/").root)
    assert "look like others" not in words(url("https://example.org/").root)


def test_sampling_shows_everything_before_a_word_goes_back(page: Page) -> None:
    params = {
        "systemPrompt": "Be terse.",
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Hello"}, {"type": "text", "text": "again"}]},
            {"role": "user", "content": {"type": "text", "text": "Summarise."}},
        ],
        "maxTokens": 100,
        "temperature": 0.2,
        "modelPreferences": {"hints": [{"name": "small"}]},
    }
    asked = Asked("sampling", "", params=params)
    shown = words(asked.root)
    for expected in ("Be terse.", "Hello", "again", "Summarise.", "maxTokens 100", "temperature 0.2", "small"):
        assert expected in shown
    assert button(asked.root, "Send").disabled
    box(asked.root, "Reply").value = "A fox."
    box(asked.root, "Model").value = ""
    asked.press("Send")
    assert asked.answers[0].content == {
        "role": "assistant",
        "content": {"type": "text", "text": "A fox."},
        "model": "human",
        "stopReason": "endTurn",
    }


@pytest.mark.parametrize("params", [{}, {"messages": None}, {"messages": [3, {"role": 1}]}, {"modelPreferences": 3}])
def test_odd_sampling_params_still_make_a_card(page: Page, params: dict[str, Any]) -> None:
    asked = Asked("sampling", "", params=params)
    asked.press("Refuse")
    assert asked.answers == [Answer("decline")]


@pytest.mark.parametrize(
    ("label", "answer"),
    [
        ("Allow once", Answer("accept")),
        ("Allow for this kernel", Answer("accept", remember=True)),
        ("Deny", Answer("decline")),
    ],
)
def test_an_approval_shows_the_call_and_keeps_its_answers_apart(page: Page, label: str, answer: Answer) -> None:
    asked = Asked("approval", "", params={"tool": "delete", "arguments": {"day": "today"}, "origin": "model"})
    assert "demo.delete is about to be called by a model" in words(asked.root)
    assert "&quot;day&quot;: &quot;today&quot;" in words(asked.root)
    asked.press(label)
    assert asked.answers == [answer]
