"""The local model, end to end: a real model behind llama.cpp's own HTTP server, reached through the real pydantic-ai.

What so small a model says is not looked at, but for what cannot come out otherwise: it says something, calls a tool
that there is, keeps to its limits. Answers are short, since a machine without a spare core takes a second for a word.
"""

from __future__ import annotations

import asyncio
import os
import select
import signal
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import ProviderError, UnsupportedContent, UsageError
from jupyter_mcp.models.base import ModelRequest
from jupyter_mcp.models.book import ModelBook
from jupyter_mcp.models.gateway import GatewayModel
from jupyter_mcp.models.gateway_clients import Access
from jupyter_mcp.models.local import LocalModel
from jupyter_mcp.models.providers import PROVIDERS

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(300)]

WEATHER = {
    "name": "weather",
    "description": "The weather of a city",
    "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}


def said(role: str, *blocks: Any) -> dict[str, Any]:
    return {"role": role, "content": [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks]}


def question(text: str, most: int = 8, **more: Any) -> ModelRequest:
    return ModelRequest([said("user", text)], max_tokens=most, temperature=0, **more)


@asynccontextmanager
async def local(path: str | None = None) -> AsyncGenerator[LocalModel]:
    model = LocalModel(path)
    try:
        yield model
    finally:
        await model.aclose()


def process(model: LocalModel) -> Any:
    return model._starter.running.process  # pyright: ignore[reportPrivateUsage, reportOptionalMemberAccess]


def reached(model: LocalModel) -> GatewayModel:
    found = model._reached  # pyright: ignore[reportPrivateUsage]
    assert found is not None
    return found[1]


async def test_it_answers_streams_keeps_to_its_limit_and_says_that_it_was_loaded() -> None:
    notes: list[str] = []
    pieces: list[str] = []
    async with local() as model:
        whole, _ = await asyncio.gather(  # both at once, and one process
            model.generate(question("What is the capital of France?", 20), on_note=notes.append),
            model.generate(question("hello", 1), on_note=notes.append),
        )
        cut = await model.generate(question("Tell me a long story.", 4), pieces.append, notes.append)
    assert "Paris" in whole.text
    assert (whole.model, cut.model) == (2 * (model.path.stem,)), "its file's name, not where it lies"
    assert (whole.stop_reason, cut.stop_reason) == ("endTurn", "maxTokens")
    assert (cut.text, cut.usage.output_tokens) == ("".join(pieces), 4)
    assert len(pieces) > 1
    assert notes == ["The model local is being loaded."]


async def test_it_calls_a_tool_and_reads_its_result() -> None:
    async with local() as model:
        asked = question("What is the weather in Paris?", 48, tools=[WEATHER])
        reply = await model.generate(asked, lambda piece: None)
        [call] = reply.tool_uses
        assert (call["name"], list(call["input"]), reply.stop_reason) == ("weather", ["city"], "toolUse")
        result = {"type": "tool_result", "toolUseId": call["id"], "content": [{"type": "text", "text": "sunny"}]}
        messages = [*asked.messages, {"role": "assistant", "content": reply.content}, said("user", result)]
        after = await model.generate(ModelRequest(messages, tools=[WEATHER], max_tokens=8, temperature=0))
    assert after.text
    assert not after.text.startswith("<tool")
    assert after.tool_uses == []


async def test_the_servers_own_errors_are_told_and_it_stays_usable() -> None:
    async with local() as model:
        with pytest.raises(ProviderError, match=r"longer than .* takes \(400\)") as caught:
            await model.generate(question("word " * 9000))
        assert caught.value.status == 400
        pixel = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
        with pytest.raises(UnsupportedContent, match="The model local does not take images"):
            await model.generate(ModelRequest([said("user", "look", pixel)]))
        there = reached(model)
        wrong = Access(PROVIDERS["ollama"], there.access.url, lambda: "another key", own=False)
        with pytest.raises(ProviderError, match=r"refused the key \(401\)"):
            await GatewayModel("ollama:x", "x", wrong).generate(question("hello"))
        assert (await model.generate(question("hello", 2))).text


async def test_it_ends_when_it_is_let_go_of_and_begins_again_when_it_is_asked() -> None:
    async with local() as model:
        await model.generate(question("hello", 1))
        first = process(model)
        await model.aclose()
        assert first.returncode == 0
        await model.generate(question("hello", 1))
        assert process(model).pid != first.pid


async def test_when_its_process_dies_it_is_said_and_the_next_request_starts_another() -> None:
    async with local() as model:
        await model.generate(question("hello", 1))
        begun = asyncio.Event()
        task = asyncio.ensure_future(
            model.generate(question("Tell me a very long story.", 400), lambda piece: begun.set())
        )
        await begun.wait()
        process(model).kill()
        with pytest.raises(ProviderError, match=r"The local model ended with exit code -9"):
            await task
        assert (await model.generate(question("hello", 1))).usage.output_tokens == 1


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="the end of another's process cannot be waited for here")
async def test_it_ends_with_the_kernel_however_that_ends() -> None:
    program = (
        "import asyncio, sys\n"
        "from jupyter_mcp.models.local import LocalModel\n"
        "from jupyter_mcp.models.base import ModelRequest\n"
        "async def main():\n"
        "    model = LocalModel()\n"
        "    hello = {'role': 'user', 'content': {'type': 'text', 'text': 'hello'}}\n"
        "    await model.generate(ModelRequest([hello], max_tokens=1))\n"
        "    print(model._starter.running.process.pid, flush=True)\n"
        "    await asyncio.sleep(1000)\n"
        "asyncio.run(main())\n"
    )
    kernel = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE)
    assert kernel.stdout is not None
    child = int(await kernel.stdout.readline())
    kernel.send_signal(signal.SIGKILL)
    await kernel.wait()
    assert await asyncio.to_thread(ended, child)


def ended(pid: int) -> bool:
    """Wait for a process that is not our child."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], 60)[0])
    finally:
        os.close(handle)


async def test_a_file_that_is_no_model_is_told(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.gguf"
    wrong.write_bytes(b"hello")
    async with local(str(wrong)) as model:
        with pytest.raises(ProviderError, match=r"local:wrong\.gguf could not be loaded: ."):
            await model.generate(question("hello"))


async def test_the_words_for_it() -> None:
    book = ModelBook({})
    model = book.set("local")
    assert (model.name, repr(model)) == ("local", "<model local: a demonstration, often wrong>")
    with pytest.raises(UsageError, match="There is no file"):
        book.set("local:nowhere.gguf")
    await book.aclose()


async def test_its_process_gets_no_key_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "in-the-environment")
    async with local() as model:
        await model.generate(question("hello", 1))
        pid = process(model).pid
        environment = await asyncio.to_thread(read_environment, pid)
    assert b"in-the-environment" not in environment


def read_environment(pid: int) -> bytes:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read()
    except FileNotFoundError:
        pytest.skip("this system does not show the environment of a process")
