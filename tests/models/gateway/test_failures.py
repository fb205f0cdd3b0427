"""A provider that refuses, fails, breaks off or says nothing: what the person is told, and what is tried again."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import ProviderError
from jupyter_mcp.models.gateway import Patience
from tests.models.gateway.provider import Answer, completion, failure, provider, stream
from tests.models.gateway.test_requests import HELLO, KEY, model

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.anyio

CALM = Patience(attempts=1)


@pytest.mark.parametrize(
    ("answer", "status", "sentence"),
    [
        (failure(401, "Incorrect API key"), 401, "OpenAI refused the key (401). Look at OPENAI_API_KEY."),
        (failure(403, "not yours"), 403, "OpenAI refused the key (403). Look at OPENAI_API_KEY."),
        (
            failure(404, "no such model", code="model_not_found"),
            404,
            "OpenAI has no model 'small' (404): no such model",
        ),
        (failure(400, "bad picture"), 400, "OpenAI answered with an error (400): bad picture"),
        (
            failure(400, "17 tokens too many", code="context_length_exceeded"),
            400,
            "The request is longer than small takes (400): 17 tokens too many",
        ),
        (
            failure(429, "slow down", {"retry-after": "7"}),
            429,
            "OpenAI takes no more requests right now (429). It says to wait 7 s.",
        ),
        (
            failure(429, "no credit left", code="insufficient_quota"),
            429,
            "The quota at OpenAI is used up (429): no credit left",
        ),
        (failure(500, "oh no"), 500, "OpenAI answered with an error (500): oh no"),
        (failure(503, "x" * 1000), 503, f"OpenAI answered with an error (503): {'x' * 300}…"),
        (
            Answer("<html>a proxy's page</html>", 502),
            502,
            "OpenAI answered with an error (502): <html>a proxy's page</html>",
        ),
    ],
)
@pytest.mark.parametrize("streams", [False, True])
async def test_each_refusal_is_one_sentence_with_its_status(
    answer: Answer, status: int, sentence: str, streams: bool
) -> None:
    async with provider(answer) as there:
        with pytest.raises(ProviderError) as caught:
            await model(there, patience=CALM).generate(HELLO, print if streams else None)
    assert (str(caught.value), caught.value.status) == (sentence, status)


async def test_when_to_come_again_is_kept_for_who_asks() -> None:
    async with provider(failure(429, headers={"retry-after": "7"})) as there:
        with pytest.raises(ProviderError) as caught:
            await model(there, patience=CALM).generate(HELLO)
    assert caught.value.retry_after == 7


async def test_the_key_is_not_in_what_is_quoted_or_chained() -> None:
    async with provider(failure(400, f"the key {KEY} is wrong")) as there:
        with pytest.raises(ProviderError) as caught:
            await model(there).generate(HELLO)
    assert str(caught.value).endswith("the key … is wrong")
    assert caught.value.__cause__ is caught.value.__context__ is None


@pytest.mark.parametrize("first", [failure(429), failure(500), failure(503), failure(529)])
@pytest.mark.parametrize("streams", [False, True])
async def test_what_may_pass_is_tried_again_and_the_person_is_told(first: Answer, streams: bool) -> None:
    notes: list[str] = []
    good = stream("at last") if streams else completion("at last")
    async with provider(first, first, good) as there:
        reply = await model(there).generate(HELLO, print if streams else None, notes.append)
    assert (reply.text, len(there.got)) == ("at last", 3)
    assert [note.rpartition(" Attempt ")[2] for note in notes] == ["2 of 3 in 0 s.", "3 of 3 in 0 s."]


async def test_after_the_last_attempt_it_is_an_error() -> None:
    async with provider(failure(500, "oh no")) as there:
        with pytest.raises(ProviderError, match="oh no"):
            await model(there).generate(HELLO)
    assert len(there.got) == 3


@pytest.mark.parametrize(
    "answer",
    [failure(400), failure(401), failure(404), failure(429, code="insufficient_quota", type="insufficient_quota")],
)
async def test_what_would_fail_again_is_not_tried_again(answer: Answer) -> None:
    async with provider(answer) as there:
        with pytest.raises(ProviderError):
            await model(there).generate(HELLO)
    assert len(there.got) == 1


async def test_a_provider_that_wants_a_long_wait_is_not_waited_for() -> None:
    async with provider(failure(429, headers={"retry-after": "3600"})) as there:
        with pytest.raises(ProviderError) as caught:
            await model(there).generate(HELLO)
    assert (len(there.got), caught.value.retry_after) == (1, 3600)


def test_waits_grow_and_end() -> None:
    patience = Patience(attempts=4, first=1, longest=20)
    assert [patience.wait(attempt, None) for attempt in (1, 2, 3, 4)] == [1, 2, 4, None]
    assert [patience.wait(1, 20), patience.wait(1, 21), patience.wait(1, 0)] == [20, None, 0]


@pytest.mark.parametrize("end", ["cut", "unfinished"])
async def test_half_a_stream_is_an_error_that_keeps_what_had_come_and_is_not_begun_anew(end: str) -> None:
    pieces: list[str] = []
    whole = stream("one ", "two ", "three", finish=None if end == "unfinished" else "stop")
    if end == "cut":
        whole.cut = whole.encoded()[1].index(b"three")
    async with provider(whole) as there:
        with pytest.raises(ProviderError) as caught:
            await model(there).generate(HELLO, pieces.append)
    assert caught.value.partial == "".join(pieces)
    assert pieces[:2] == ["one ", "two "]
    assert str(caught.value).startswith(f"The reply broke off after {len(''.join(pieces))} characters. ")
    assert len(there.got) == 1


async def test_half_a_reply_that_was_not_shown_is_asked_for_again() -> None:
    half = completion("one two three")
    half.cut = 60
    async with provider(half, completion("whole")) as there:
        assert (await model(there).generate(HELLO)).text == "whole"
    assert len(there.got) == 2


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (completion(""), "OpenAI answered with nothing."),
        (completion("", finish="length"), "The model of OpenAI used all its tokens without saying anything."),
        (completion("", finish="content_filter"), "OpenAI refused to answer this."),
        (stream(), "OpenAI answered with nothing."),
    ],
)
async def test_a_reply_without_content_is_an_error(answer: Answer, sentence: str) -> None:
    streams = isinstance(answer.body, list)
    async with provider(answer) as there:
        with pytest.raises(ProviderError) as caught:
            await model(there).generate(HELLO, print if streams else None)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("body", ["", "hello", {"choices": []}, {"hello": 1}, [{"hello": 1}, "data: {not json\n\n"]])
@pytest.mark.parametrize("streams", [False, True])
async def test_what_is_no_reply_at_all_is_an_error_and_nothing_else(body: Any, streams: bool) -> None:
    async with provider(Answer(body)) as there:
        with pytest.raises(ProviderError, match="OpenAI"):
            await model(there, patience=CALM).generate(HELLO, print if streams else None)


@pytest.mark.parametrize("streams", [False, True])
async def test_silence_has_an_end_and_is_not_repeated(streams: bool) -> None:
    async with provider(Answer(silent=True)) as there:
        with pytest.raises(ProviderError, match=r"OpenAI was silent for 0\.2 s"):
            await model(there, timeout=0.2).generate(HELLO, print if streams else None)
    assert len(there.got) == 1


async def test_where_nothing_listens_it_is_said_and_asked_whether_it_runs() -> None:
    async with provider(completion("x")) as there:
        pass  # it is closed again, and its port is free
    with pytest.raises(ProviderError, match=r"Ollama cannot be reached.*Is it running\?"):
        await model(there, "ollama").generate(HELLO)


async def test_waiting_for_another_attempt_can_be_cancelled() -> None:
    noted = asyncio.Event()
    told: Callable[[str], None] = lambda note: noted.set()  # noqa: E731
    async with provider(failure(500)) as there:
        patience = Patience(first=15)
        task = asyncio.ensure_future(model(there, patience=patience).generate(HELLO, on_note=told))
        await noted.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert len(there.got) == 1


async def test_a_failure_of_who_listens_is_not_the_providers() -> None:
    def broken(piece: str) -> None:
        raise ValueError("the card is gone")

    async with provider(stream("one")) as there:
        with pytest.raises(ValueError, match="the card is gone"):
            await model(there).generate(HELLO, broken)
    assert len(there.got) == 1
