"""Question cards: who asks, three answers apart, one answer however often one presses, a record at the end."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from jupyter_mcp.host.questions import Answer, Cause, Question
from jupyter_mcp.notebook import cards
from jupyter_mcp.notebook.cards import live, urlcard
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
    monkeypatch.setattr(urlcard, "_left", [])
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


def test_a_form_that_is_asked_again_keeps_what_was_right(page: Page) -> None:
    asked = form(problems={"guests": "Too many."}, draft={"seat": "12A", "window": False})
    assert box(asked.root, "Seat").value == "12A"
    assert "Too many." in words(asked.root)
    assert "Still needed: Guests" in words(asked.root)
    box(asked.root, "Guests").value = "2"
    asked.press("Submit")
    assert asked.answers == [Answer("accept", {"seat": "12A", "guests": 2, "window": False})]


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


def url(address: str, step: Any = "consent", **more: Any) -> Asked:
    return Asked("url", "Log in", params={"url": address}, step=step, **more)


def links(asked: Asked) -> list[str]:
    return [w.value for w in walk(asked.root) if type(w).__name__ == "HTML" and "<a " in w.value]


LOGIN = "https://login.example.org/a?x=1&y=é"


def test_an_address_is_text_until_the_person_agrees(page: Page) -> None:
    asked = url(LOGIN)
    assert links(asked) == []
    assert "<a " not in page.last["text/html"]
    shown = words(asked.root)
    assert shown.startswith("demo asks you to open a page, while running demo.book Log in site login.example.org")
    assert "https:// login.example.org /a?x=1&amp;y=é" in shown, "the host is set apart, nothing is left out"
    asked.press("Open")
    assert asked.answers == [Answer("accept")]
    assert links(asked) == []


@pytest.mark.parametrize("step", ["retry", "wait"])
def test_once_agreed_there_is_one_link_that_tells_the_page_nothing(page: Page, step: str) -> None:
    asked = url(LOGIN, step)
    [link] = links(asked)
    assert link.count("<a ") == 1
    assert 'href="https://login.example.org/a?x=1&amp;y=é" target="_blank" rel="noopener noreferrer"' in link
    assert 'referrerpolicy="no-referrer"' in link
    for banned in ("<script", "<iframe", "<img", "onclick", "http-equiv"):
        assert banned not in page.last["text/html"] + " ".join(w.value for w in walk(asked.root) if hasattr(w, "value"))


@pytest.mark.parametrize(
    ("step", "label", "action"),
    [
        ("consent", "Open", "accept"),
        ("consent", "Decline", "decline"),
        ("consent", "Cancel", "cancel"),
        ("retry", "Retry", "accept"),
        ("retry", "Cancel", "cancel"),
        ("wait", "Close", "accept"),
        ("wait", "Cancel call", "cancel"),
    ],
)
def test_each_step_has_its_own_answers(page: Page, step: str, label: str, action: Any) -> None:
    asked = url(LOGIN, step)
    asked.press(label)
    assert asked.answers == [Answer(action)]


def test_the_next_step_takes_the_place_of_the_one_before(page: Page) -> None:
    first = url(LOGIN)
    first.press("Open")
    first.presented.close(first.answers[0])
    second = url(LOGIN, "retry")
    assert len(page.outputs) == 1
    assert page.live
    second.press("Retry")
    second.presented.close(second.answers[0])
    assert len(page.outputs) == 1
    assert page.text.splitlines() == [
        "demo asked you to open a page, while running demo.book",
        "> Log in",
        "  site: login.example.org",
        "Agreed to open it; the request was sent again",
    ]


def test_a_server_that_says_that_the_page_is_done_stands_in_the_record(page: Page) -> None:
    url(LOGIN, "retry").presented.close(Answer("accept", by="server"))
    assert "demo said that it is done; the request was sent again" in page.text


def test_who_agreed_keeps_the_link_when_the_server_does_not_wait_for_them(page: Page) -> None:
    asked = url("https://login.example.org/?code=s3cr3t", "wait")
    asked.presented.close(None)
    asked.presented.close(None)
    assert page.live, "the link is there when the call is over"
    assert "Agreed to open it" in page.text
    assert "cancelled" not in page.text
    assert "s3cr3t" not in page.last["text/plain"] + page.last["text/html"], "the plain side names the site only"
    [link] = links(asked)
    assert "code=s3cr3t" in link
    assert "The call is over" in words(asked.root)
    buttons = [w for w in walk(asked.root) if type(w).__name__ == "Button"]
    assert [w.description for w in buttons if w.layout.display != "none"] == ["Close"]
    asked.press("Close")
    assert asked.answers == []
    assert not page.live
    assert "Agreed to open it" in page.text
    assert "<a " not in str(page.last)


def test_a_server_that_waited_for_the_person_leaves_the_record(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = url(LOGIN, "wait")
    monkeypatch.setattr(urlcard, "_SOON", 0.0)
    asked.presented.close(None)
    assert not page.live
    assert "Agreed to open it" in page.text


def test_links_that_nobody_closes_do_not_pile_up(page: Page) -> None:
    for number in range(20):
        question = Question(f"q{number}", "url", "demo", "Log in", {"url": LOGIN}, step="wait")
        presented: Any = cards.presenter(question, lambda _: None)
        presented.close(None)
    assert len(live._live) == 8  # pyright: ignore[reportPrivateUsage]


def test_giving_up_at_the_page_is_told_apart(page: Page) -> None:
    url(LOGIN, "retry").presented.close(Answer("cancel"))
    assert "Agreed to open it, then cancelled" in page.text
    assert "<a " not in page.last["text/html"]


def test_a_record_names_the_site_only_because_addresses_hold_one_time_codes(page: Page) -> None:
    asked = url("https://login.example.org/?code=s3cr3t", "retry")
    assert "code=s3cr3t" in page.text, "whoever has to open it sees all of it"
    asked.presented.close(Answer("accept"))
    assert "s3cr3t" not in str(page.last)
    assert "<a " not in str(page.last)


def test_without_a_known_call_there_is_none_to_cancel(page: Page) -> None:
    question = Question("q9", "url", "demo", "Log in", {"url": LOGIN}, step="wait")
    presented: Any = cards.presenter(question, lambda _: None)
    assert [w.description for w in walk(presented.card.root) if type(w).__name__ == "Button"] == ["Close"]


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "", "https://[bad", "//x", None]
)
@pytest.mark.parametrize(("step", "open_"), [("consent", "Open"), ("retry", "Retry"), ("wait", "Close")])
def test_what_is_no_web_address_never_becomes_a_link(page: Page, address: Any, step: str, open_: str) -> None:
    asked = url(address, step)
    button(asked.root, open_).click()
    assert asked.answers == []
    assert links(asked) == []
    assert "<a " not in page.last["text/html"]
    asked.presented.close(Answer("accept"))
    assert "<a " not in page.last["text/html"]


def test_an_address_in_another_alphabet_is_shown_both_ways(page: Page) -> None:
    asked = url("https://xn--pple-43d.com/")
    shown = words(asked.root)
    assert "site xn--pple-43d.com reads as а pple.com" in shown, "the foreign letter is marked"
    assert "Careful: аpple.com is spelt xn--pple-43d.com in DNS" in shown
    asked.presented.close(Answer("decline"))
    assert "xn--pple-43d.com in DNS" in page.text
    assert "reads as" not in words(url("https://example.org/").root)


def test_markup_in_an_address_stays_text(page: Page) -> None:
    url("https://example.org/?b='onmouseover='x", "retry")
    assert "onmouseover='x" not in page.last["text/html"]
    assert "&#x27;onmouseover=&#x27;x" in page.last["text/html"]


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
        ("Allow for this session", Answer("accept", scope="session")),
        ("Deny", Answer("decline")),
    ],
)
def test_an_approval_shows_the_call_and_keeps_its_answers_apart(page: Page, label: str, answer: Answer) -> None:
    asked = Asked("approval", "", params={"tool": "delete", "arguments": {"day": "today"}, "origin": "model"})
    assert "demo.delete is about to be called by a model" in words(asked.root)
    assert "&quot;day&quot;: &quot;today&quot;" in words(asked.root)
    asked.press(label)
    assert asked.answers == [answer]
