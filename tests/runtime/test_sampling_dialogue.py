"""Sampling, typed line by line."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from jupyter_mcp.host.questions import Answer, Question, SamplingOffer
from jupyter_mcp.host.sampling.live import LiveReply
from jupyter_mcp.models.base import ModelReply
from jupyter_mcp.protocol import secrets
from jupyter_mcp.runtime.prompts import Dialogue

if TYPE_CHECKING:
    from collections.abc import Mapping

SECRET = "sk-abcdefghijklmnop1234"
PARAMS: dict[str, Any] = {
    "systemPrompt": "Be brief",
    "messages": [
        {"role": "user", "content": {"type": "text", "text": f"the key is {SECRET}"}},
        {"role": "user", "content": {"type": "image", "data": "aGk=", "mimeType": "image/png"}},
    ],
    "maxTokens": 50,
    "tools": [{"name": "look", "inputSchema": {}}],
}
OFFER = SamplingOffer(
    "big",
    "it is the default",
    ("big", "other"),
    {"blind": "The model blind does not take images."},
    masks=1,
    scopes=("once", "session", "notebook"),
    allowance={"calls": 20, "tokens": 500},
    clean=secrets.redact,
)


def ask(*lines: str, live: LiveReply | None = None, **more: Any) -> tuple[Answer, str]:
    """The answer, and everything that was printed."""
    typed, said = iter(lines), list[str]()

    def read(prompt: str) -> str:
        said.append(prompt)
        return next(typed)

    question = Question(
        "q", "sampling", "demo", "", PARAMS, offer=OFFER, live=live, step="review" if live else "consent", **more
    )
    answer = Dialogue(read, said.append).ask(question)
    return answer, "\n".join(said)


def test_what_the_model_would_be_sent_is_shown_masked_and_a_yes_is_plain() -> None:
    answer, said = ask("y")
    assert answer == Answer("accept")
    for expected in (
        "big would answer: it is the default",
        "blind does not take images",
        "system: Be brief",
        "user: the key is •••",
        "(image, not shown)",
        "at most 50 tokens",
        "look",
        "masked: 1",
    ):
        assert expected in said, expected
    assert SECRET not in said


def test_what_is_secret_is_printed_when_asked_for_and_sent_when_switched() -> None:
    answer, said = ask("show", "mask", "y")
    assert SECRET in said
    assert answer.content == {"redact": False}


def test_always_takes_limits_and_says_what_is_none() -> None:
    answer, said = ask("a calls=x", "a calls=3")
    assert "calls=x is no limit" in said
    assert (answer.scope, answer.content) == ("session", {"allowance": {"calls": 3, "tokens": 500}})
    assert ask("b")[0].scope == "notebook"


def test_another_model_and_another_request() -> None:
    answer, said = ask("m nix", "m oth", "e", '{"maxTokens": 99}', "e", '{"maxTokens": 9}', "y")
    assert "There are big, other." in said
    assert "at most 50 tokens" in said
    assert answer.content == {"model": "other", "maxTokens": 9}


def test_the_person_writes_refuses_or_closes() -> None:
    assert ask("w", "by", "hand", ".")[0].content == {"text": "by\nhand"}
    assert ask("n")[0] == Answer("decline")
    assert ask(":cancel")[0] == Answer("cancel")


def written(*content: Mapping[str, Any]) -> LiveReply:
    live = LiveReply("big")
    live.end(ModelReply(list(content), "big-1"))
    return live


def test_the_answer_is_printed_and_sent() -> None:
    answer, said = ask("y", live=written({"type": "text", "text": f"A fox\nwith {SECRET}"}))
    assert answer == Answer("accept")
    assert "  A fox\n  with •••" in said


def test_the_answer_is_printed_as_it_is_written() -> None:
    live = LiveReply("big")
    seen: list[str] = []
    first = threading.Event()

    def say(line: str) -> None:
        seen.append(line)
        if line == "  one":
            first.set()

    def write() -> None:
        live.add("one\ntw")
        assert first.wait(10), "its first line is printed while the second is written"
        live.end(ModelReply([{"type": "text", "text": "one\ntwo"}], "big"))

    writer = threading.Thread(target=write)
    writer.start()
    question = Question("q", "sampling", "demo", "", PARAMS, offer=OFFER, live=live, step="review")
    answer = Dialogue(lambda prompt: "n", say).ask(question)
    writer.join(10)
    assert answer == Answer("decline")
    assert seen[-2:] == ["  one", "  two"]


def test_an_answer_is_written_anew_as_text_or_as_json() -> None:
    answer, _ = ask("e", "hen", ".", "y", live=written({"type": "text", "text": "fox"}))
    assert answer.content == {"content": [{"type": "text", "text": "hen"}]}
    use = {"type": "tool_use", "id": "1", "name": "look", "input": {"x": 1}}
    answer, said = ask("e", "[", "e", '[{"type": "text", "text": "no"}]', "y", live=written(use))
    assert "This is no JSON" in said
    assert answer.content == {"content": [{"type": "text", "text": "no"}]}


def test_a_model_that_failed_is_told_and_nothing_is_sent() -> None:
    live = LiveReply("big")
    live.end(None, "over quota")
    answer, said = ask(live=live)
    assert (answer.action, answer.by) == ("cancel", "model")
    assert "! over quota" in said
