"""A conversation with the real local model: real servers, real tokens; and the notebook of the guide with it.

So small a model may answer anything, so what it says is not compared. What has to hold is what the host promises: every
request is well formed, every call has a stated outcome, the turn ends within its rounds and the next one goes on.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import pytest
from IPython.core.interactiveshell import InteractiveShell

from jupyter_mcp.errors import ProviderError
from jupyter_mcp.host.conversation import Conversation, Limits
from jupyter_mcp.host.conversation.turn import Outcome, Stop
from jupyter_mcp.models.local import LocalModel
from jupyter_mcp.models.messages import problems
from tests.host.conversation.helpers import Watch, connected, demo

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from jupyter_mcp.host.conversation import Turn
    from jupyter_mcp.models.base import ModelReply, ModelRequest

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(600)]
NOTEBOOK = Path(__file__).parents[3] / "notebooks" / "agent.ipynb"
SHORT = Limits(answer=120)


class Kept(LocalModel):
    """The local model without chance, and what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[ModelRequest] = []

    async def generate(self, request: ModelRequest, on_text: Any = None, on_note: Any = None) -> ModelReply:
        self.requests.append(request)
        return await super().generate(replace(request, temperature=0), on_text, on_note)


@pytest.fixture
async def model() -> AsyncGenerator[Kept]:
    model = Kept()
    yield model
    await model.aclose()


async def asked(conversation: Conversation, question: str, watch: Watch | None = None) -> Turn:
    """The turn that comes of a question; a model that says nothing at all is its provider's error, and leaves one."""
    try:
        return await conversation.ask(question, on_event=watch, max_rounds=3)
    except ProviderError:
        return conversation.turns[-1]


async def test_a_conversation_with_it_keeps_every_promise_of_the_host(model: Kept) -> None:
    host = await connected({"demo": demo()})
    conversation = Conversation(host, model, limits=SHORT)
    watch = Watch()
    try:
        first = await asked(conversation, "What is 17 plus 25? Use the add tool.", watch)
        second = await asked(conversation, "Thank you. Say hello.")
    finally:
        await host.aclose()
    for turn in (first, second):
        assert turn.stop in set(get_args(Stop)) - {"running", "interrupted"}
        assert {call.outcome for call in turn.calls} <= set(get_args(Outcome)) - {"running"}
    assert first.calls or first.text
    assert first.spent.output_tokens
    assert "RoundEnded" in watch.kinds()
    for request in model.requests:
        assert problems([*request.messages], [*request.tools], request.tool_choice) == []
        assert request.max_tokens == SHORT.answer
    said = ["".join(block.get("text", "") for block in message["content"]) for message in model.requests[-1].messages]
    assert said[0] == "What is 17 plus 25? Use the add tool."
    assert "Thank you. Say hello." in said


@pytest.mark.slow
@pytest.mark.timeout(1_800)
def test_the_notebook_of_the_guide_runs_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    sources = {cell["id"]: "".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"}
    [chosen] = [cell["id"] for cell in notebook["cells"] if "model" in cell["metadata"].get("tags", [])]
    sources[chosen] = "%mcp model local"
    usual = Limits.within

    def short(limits: Limits, context: int | None) -> Limits:
        return replace(usual(limits, context), answer=48, rounds=2)

    monkeypatch.setattr(Limits, "within", short)
    shell: Any = InteractiveShell.instance()
    shown: list[str] = []

    def show(data: dict[str, Any], *_: Any, **__: Any) -> None:
        shown.append(data["text/plain"])

    monkeypatch.setattr(shell.display_pub, "publish", show)
    monkeypatch.setattr(shell.displayhook, "write_format_data", show)
    failed: list[tuple[str, BaseException]] = []
    try:
        for source in sources.values():
            result = shell.run_cell(source, store_history=True)
            error = result.error_before_exec or result.error_in_exec
            if error is not None and not isinstance(error, ProviderError | NameError):
                failed.append((source, error))  # a name is missing where the model said nothing at all
    finally:
        shell.run_line_magic("unload_ext", "jupyter_mcp")
        InteractiveShell.clear_instance()
    assert failed == []
    assert any(text.startswith("local answers from now on.") for text in shown)
    assert any("local, " in text.splitlines()[-1] for text in shown if text)
