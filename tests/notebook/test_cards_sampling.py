"""The cards of a request for sampling: consent, the answer while it is written, the record that is saved."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jupyter_mcp.host.questions import Answer, Cause, Question, SamplingOffer
from jupyter_mcp.host.sampling import request
from jupyter_mcp.host.sampling.live import LiveReply
from jupyter_mcp.models.base import ModelReply
from jupyter_mcp.notebook import cards
from jupyter_mcp.notebook.render.bundles import bundle
from jupyter_mcp.notebook.render.views import QuestionRecord
from jupyter_mcp.protocol import secrets
from tests.notebook.page import Page, box, button, capture, walk, words

SECRET = "sk-abcdefghijklmnop1234"
PARAMS: dict[str, Any] = {
    "systemPrompt": "Be terse.",
    "messages": [
        {"role": "user", "content": {"type": "text", "text": "Hello <b>you</b>"}},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": f"The key is {SECRET}."},
                {"type": "image", "data": "aGk=", "mimeType": "image/png"},
            ],
        },
    ],
    "maxTokens": 100,
    "temperature": 0.2,
    "modelPreferences": {"hints": [{"name": "small"}], "speedPriority": 1},
    "tools": [{"name": "look", "description": "looks at things", "inputSchema": {}}],
}


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Page:
    return capture(monkeypatch)


def offered(**more: Any) -> SamplingOffer:
    shown, masks = request.masked(PARAMS, secrets.redact)
    given: dict[str, Any] = {
        "model": "big",
        "why": "the hint 'small' fits it",
        "models": ("big", "other"),
        "unable": {"blind": "The model blind does not take images."},
        "masked": shown,
        "masks": masks,
        "scopes": ("once", "session", "notebook"),
        "allowance": {"calls": 20, "tokens": 500, "per_minute": 5},
        "clean": secrets.redact,
    }
    return SamplingOffer(**{**given, **more})


class Asked:
    def __init__(self, **more: Any) -> None:
        offer = more.pop("offer", None) or offered()
        cause = Cause("tools/call", "sum")
        self.question = Question("q1", "sampling", "demo", "", PARAMS, cause=cause, offer=offer, **more)
        self.answers: list[Answer] = []
        self.presented: Any = cards.presenter(self.question, self.answers.append)
        self.root = self.presented.card.root

    def press(self, label: str) -> None:
        button(self.root, label).click()

    def toggle(self, label: str) -> None:
        [found] = [
            w for w in walk(self.root) if type(w).__name__ in ("ToggleButton", "Checkbox") and label in w.description
        ]
        found.value = not found.value


def test_everything_that_the_model_would_be_sent_is_shown_and_by_whom_and_why(page: Page) -> None:
    shown = words(Asked().root)
    assert shown.startswith("demo asks for a model's answer, while running demo.sum")
    for expected in (
        "Be terse.",
        "Hello &lt;b&gt;you&lt;/b&gt;",
        "maxTokens 100",
        "temperature 0.2",
        "small",
        "speedPriority 1",
        "look",
        "looks at things",
        "the hint &#x27;small&#x27; fits it",
        "The model blind does not take images",
    ):
        assert expected in shown, expected


def test_what_looks_secret_is_masked_until_that_is_switched_off_and_what_is_shown_is_what_is_meant(page: Page) -> None:
    asked = Asked()
    assert SECRET not in words(asked.root)
    assert "The key is •••" in words(asked.root)
    asked.toggle("Mask what looks secret (1 place)")
    assert SECRET in words(asked.root)
    asked.press("Ask big")
    assert asked.answers == [Answer("accept", {"redact": False})]


def test_a_plain_yes_changes_nothing(page: Page) -> None:
    asked = Asked()
    asked.press("Ask big")
    asked.press("Ask big")
    assert asked.answers == [Answer("accept")]


def test_another_model_can_be_picked(page: Page) -> None:
    asked = Asked()
    [pick] = [w for w in walk(asked.root) if type(w).__name__ == "Dropdown"]
    pick.value = "other"
    asked.press("Ask other")
    assert asked.answers == [Answer("accept", {"model": "other"})]


def test_the_words_can_be_changed_and_only_the_changes_are_sent_back(page: Page) -> None:
    asked = Asked()
    asked.toggle("Change")
    box(asked.root, "user, message 1").value = f"Bye, {SECRET}"
    box(asked.root, "Most tokens").value = 40
    assert "Bye, •••" in words(asked.root), "what is shown follows the changes, masked"
    asked.press("Ask big")
    content = asked.answers[0].content
    assert content is not None
    assert set(content) == {"messages", "maxTokens"}
    assert content["maxTokens"] == 40
    assert content["messages"][0]["content"] == {"type": "text", "text": f"Bye, {SECRET}"}
    assert content["messages"][1] == PARAMS["messages"][1]


def test_a_system_prompt_that_is_emptied_is_left_out(page: Page) -> None:
    asked = Asked()
    asked.toggle("Change")
    box(asked.root, "System prompt").value = ""
    asked.press("Ask big")
    assert asked.answers[0].content == {"systemPrompt": None}


def test_always_for_this_server_comes_with_its_limits(page: Page) -> None:
    asked = Asked()
    asked.toggle("Always")
    box(asked.root, "answers").value = 3
    asked.press("Always in this kernel")
    allowance = {"calls": 3, "tokens": 500, "per_minute": 5}
    assert asked.answers == [Answer("accept", {"allowance": allowance}, scope="session")]


def test_where_a_yes_may_hold_only_once_no_longer_one_is_offered(page: Page) -> None:
    asked = Asked(offer=offered(scopes=("once",)))
    labels = [w.description for w in walk(asked.root) if type(w).__name__ == "Button"]
    assert not [label for label in labels if "Always" in label]


def test_the_person_may_write_the_answer(page: Page) -> None:
    asked = Asked()
    asked.toggle("Write it myself")
    assert button(asked.root, "Send my answer").disabled
    box(asked.root, "Your answer").value = "A fox."
    asked.press("Send my answer")
    assert asked.answers == [Answer("accept", {"text": "A fox."})]


def test_refusing_and_closing_are_kept_apart(page: Page) -> None:
    for label, action in (("Refuse", "decline"), ("Cancel", "cancel")):
        asked = Asked()
        asked.press(label)
        assert asked.answers == [Answer(action)]  # pyright: ignore[reportArgumentType]


def test_what_was_wrong_with_a_change_is_said_and_the_change_is_still_there(page: Page) -> None:
    asked = Asked(problems={"maxTokens": "The server asked for at most 100."}, draft={"systemPrompt": "Be long."})
    assert "The server asked for at most 100." in words(asked.root)
    assert box(asked.root, "System prompt").value == "Be long."


# --- the answer ------------------------------------------------------------------------------------------------------


def review(live: LiveReply, **more: Any) -> Asked:
    return Asked(step="review", live=live, **more)


def test_the_answer_grows_and_cannot_be_sent_before_it_is_whole(page: Page) -> None:
    live = LiveReply("big")
    asked = review(live)
    assert "big is writing" in words(asked.root)
    live.delay("another attempt in 2 s")
    live.add("A <fo")
    assert button(asked.root, "Send").disabled
    assert "another attempt in 2 s" in words(asked.root)
    live.add("x>")
    live.end(ModelReply([{"type": "text", "text": "A <fox>."}], "big-1"))
    assert box(asked.root, "Answer").value == "A <fox>."
    asked.press("Send")
    assert asked.answers == [Answer("accept")]


def test_a_changed_answer_is_what_is_sent(page: Page) -> None:
    live = LiveReply("big")
    live.end(ModelReply([{"type": "text", "text": "A fox."}], "big-1"))
    asked = review(live)
    box(asked.root, "Answer").value = "A hen."
    assert "Changed by you." in words(asked.root)
    asked.press("Send")
    assert asked.answers[0].content == {"content": [{"type": "text", "text": "A hen."}]}


def test_calls_of_tools_are_changed_as_json_and_broken_json_is_not_sent(page: Page) -> None:
    live = LiveReply("big")
    use = {"type": "tool_use", "id": "1", "name": "look", "input": {"x": 1}}
    live.end(ModelReply([use], "big-1", "toolUse"))
    asked = review(live)
    box(asked.root, "Answer").value = "[{"
    assert button(asked.root, "Send").disabled
    assert "This is no JSON" in words(asked.root)
    box(asked.root, "Answer").value = json.dumps([{**use, "input": {"x": 2}}])
    asked.press("Send")
    assert asked.answers[0].content == {"content": [{**use, "input": {"x": 2}}]}


def test_refusing_while_it_is_written_is_an_answer(page: Page) -> None:
    asked = review(LiveReply("big"))
    asked.press("Cancel")
    assert asked.answers == [Answer("cancel")]


def test_pieces_that_come_after_the_card_is_over_change_nothing(page: Page) -> None:
    live = LiveReply("big")
    asked = review(live)
    asked.presented.close(None)
    live.add("late")
    live.end(ModelReply([{"type": "text", "text": "late"}], "big"))
    assert "late" not in page.text


# --- the record ------------------------------------------------------------------------------------------------------


def saved(answer: Answer | None, **more: Any) -> str:
    offer = more.pop("offer", offered())
    question = Question("q1", "sampling", "demo", "", more.pop("params", PARAMS), offer=offer, **more)
    made = bundle(QuestionRecord(question, answer))
    return f"{made['text/plain']}\n{made['text/html']}\n{json.dumps(made, ensure_ascii=False, default=str)}"


@pytest.mark.parametrize(
    ("answer", "more", "expected"),
    [
        (Answer("accept"), {}, "big was asked (1 place masked)"),
        (Answer("accept", {"redact": False, "model": "other"}), {}, "other was asked (nothing masked)"),
        (Answer("accept", {"allowance": {}}, scope="session"), {}, "without asking, until this kernel ends"),
        (Answer("accept", {"text": "mine"}), {}, "Answered by the person"),
        (Answer("decline"), {}, "Refused"),
        (Answer("accept", {"content": [{"type": "text", "text": "A fox."}]}), {"step": "review"}, "Sent to the server"),
        (Answer("decline"), {"step": "review"}, "Not sent: refused"),
        (Answer("cancel", by="model", remark="over quota"), {"step": "review"}, "big gave no answer"),
        (Answer("accept", {"content": {"type": "text", "text": "x"}}, by="model", remark="by big"), {}, "by big"),
    ],
)
def test_the_record_says_how_it_ended(answer: Answer, more: dict[str, Any], expected: str) -> None:
    assert expected in saved(answer, **more)


def test_no_secret_is_in_the_record_of_a_request_or_an_answer_however_it_was_sent() -> None:
    said = {"content": [{"type": "text", "text": f"It is {SECRET}"}]}
    params = {**PARAMS, "systemPrompt": f"use {SECRET}"}
    for answer in (Answer("accept", {"redact": False}), Answer("accept", said, by="model"), Answer("accept", said)):
        for step in ("consent", "review"):
            for offer in (offered(), None):
                assert SECRET not in saved(answer, step=step, params=params, offer=offer)


def test_the_record_of_the_review_has_the_answer_and_not_the_request_again() -> None:
    found = saved(Answer("accept", {"content": {"type": "text", "text": "A fox."}}), step="review")
    assert "A fox." in found
    assert "Be terse." not in found


def test_the_record_has_the_words_that_the_person_put_instead_masked() -> None:
    edits = {"messages": [{"role": "user", "content": {"type": "text", "text": f"Shorter, {SECRET}"}}], "redact": False}
    found = saved(Answer("accept", edits))
    assert "asked in these words instead:" in found
    assert "Shorter, •••" in found
    assert SECRET not in found
