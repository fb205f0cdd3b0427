"""Which key goes where: that of the provider that was named, to that provider, whatever the environment holds."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jupyter_mcp.errors import ProviderError
from jupyter_mcp.models.base import ModelRequest
from jupyter_mcp.models.book import ModelBook
from jupyter_mcp.models.gateway import GatewayModel
from jupyter_mcp.models.gateway_clients import Access
from jupyter_mcp.models.providers import PROVIDERS
from tests.models.gateway.provider import Answer, Provider, completion, provider

pytestmark = pytest.mark.anyio

HELLO = ModelRequest([{"role": "user", "content": {"type": "text", "text": "hello"}}], max_tokens=20)
ALL_KEYS = sorted({key for one in PROVIDERS.values() for key in one.keys})
FURTHER = {
    "ANTHROPIC_AUTH_TOKEN": "token-in-the-environment",
    "ANTHROPIC_CUSTOM_HEADERS": "x-custom: header-in-the-environment",
    "OPENAI_ORG_ID": "organisation-in-the-environment",
    "OPENAI_PROJECT_ID": "project-in-the-environment",
    "OPENAI_ADMIN_KEY": "admin-in-the-environment",
    "OPENAI_CUSTOM_HEADERS": "x-custom: header-in-the-environment",
    "OLLAMA_API_KEY": "ollama-in-the-environment",
    "OPENAI_BASE_URL": "http://127.0.0.1:9/in-the-environment",
    "ANTHROPIC_BASE_URL": "http://127.0.0.1:9/in-the-environment",
    "OLLAMA_BASE_URL": "http://127.0.0.1:9/in-the-environment",
    "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:9/in-the-environment",
    "GOOGLE_GENAI_USE_VERTEXAI": "true",
    "GOOGLE_CLOUD_PROJECT": "cloud-in-the-environment",
    "HTTP_PROXY": "http://127.0.0.1:9",
    "ALL_PROXY": "http://127.0.0.1:9",
}
MESSAGE = {
    "id": "m1",
    "type": "message",
    "role": "assistant",
    "model": "claude",
    "content": [{"type": "text", "text": "hi"}],
    "stop_reason": "stop_sequence",
    "stop_sequence": "END",
    "usage": {"input_tokens": 3, "output_tokens": 2},
}
CANDIDATES = {
    "candidates": [{"content": {"role": "model", "parts": [{"text": "hi"}]}, "finishReason": "STOP"}],
    "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2},
    "modelVersion": "gemini",
}
ANSWERS = {"openai": completion("hi"), "anthropic": Answer(MESSAGE), "google": Answer(CANDIDATES)}


@pytest.fixture(autouse=True)
def full_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that a library might help itself to."""
    for name in ALL_KEYS:
        monkeypatch.setenv(name, f"{name}-in-the-environment")
    for name, value in FURTHER.items():
        monkeypatch.setenv(name, value)


def everything(there: Provider) -> str:
    return json.dumps([[got.path, got.headers, got.body] for got in there.got])


@pytest.mark.parametrize("name", PROVIDERS)
async def test_an_address_that_is_not_the_providers_gets_no_key_of_the_environment(name: str) -> None:
    async with provider(ANSWERS[PROVIDERS[name].wire]) as there:
        asked = ModelBook().set(f"{name}:some-model", url=there.url)
        assert (await asked.generate(HELLO)).text == "hi"
    assert "in-the-environment" not in everything(there)


@pytest.mark.parametrize("name", PROVIDERS)
async def test_a_key_that_was_given_is_the_only_one_that_is_sent(name: str) -> None:
    async with provider(ANSWERS[PROVIDERS[name].wire]) as there:
        await ModelBook().set(f"{name}:some-model", url=there.url, key="the-given-key").generate(HELLO)
    assert "the-given-key" in everything(there)
    assert "in-the-environment" not in everything(there)


@pytest.mark.parametrize("name", [name for name, one in PROVIDERS.items() if one.keys])
async def test_the_provider_that_was_named_gets_its_own_key_and_no_other(name: str) -> None:
    """As if the provider's own address were here, which is what `own` says."""
    named = PROVIDERS[name]
    async with provider(ANSWERS[named.wire]) as there:
        access = Access(named, there.url, lambda: named.key({key: f"{key}-in-the-environment" for key in ALL_KEYS}))
        await GatewayModel(f"{name}:m", "m", access).generate(HELLO)
    sent = everything(there)
    assert f"{named.keys[0]}-in-the-environment" in sent
    for key in set(ALL_KEYS) - {named.keys[0]}:
        assert f"{key}-in-the-environment" not in sent
    for value in FURTHER.values():
        mine = name == "openai" and value.startswith(("organisation", "project"))
        assert (value in sent) is mine or not value.endswith("environment")


@pytest.mark.parametrize(
    ("name", "usage"),
    [("anthropic", ("stopSequence", 3, 2)), ("google", ("endTurn", 3, 2)), ("openai", ("endTurn", 11, 7))],
)
async def test_each_kind_of_api_is_spoken(name: str, usage: tuple[Any, ...]) -> None:
    async with provider(ANSWERS[PROVIDERS[name].wire]) as there:
        reply = await ModelBook().set(f"{name}:some-model", url=there.url, key="k").generate(HELLO)
    assert (reply.text, (reply.stop_reason, reply.usage.input_tokens, reply.usage.output_tokens)) == ("hi", usage)


@pytest.mark.parametrize("name", ["anthropic", "google"])
async def test_their_errors_are_told_like_any_other(name: str) -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "too busy", "code": 529}}
    async with provider(Answer(error, 529)) as there:
        asked = ModelBook().set(f"{name}:some-model", url=there.url, key="k")
        with pytest.raises(ProviderError, match=r"\(529\): too busy") as caught:
            await asked.generate(HELLO)
    assert caught.value.status == 529


async def test_the_key_of_a_variable_is_read_when_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "one")
    async with provider(completion("hi")) as there:
        asked = ModelBook().set("openai:m", url=there.url, key="${MY_KEY}")
        await asked.generate(HELLO)
        monkeypatch.setenv("MY_KEY", "two")
        await asked.generate(HELLO)
    assert [got.headers["authorization"] for got in there.got] == ["Bearer one", "Bearer two"]
