"""One view of an app in a page: the `Screen` of its session. On the runtime's loop.

Messages to the frame go as bytes, packed when they are long; those from it are checked by the bridge, and those from
the view itself (where it stands, what the person pressed) here. A view that is scrolled out of a long notebook and
back, or moved, makes its frame anew: its document says so, and the bridge begins again.
"""

from __future__ import annotations

import asyncio
import gzip
import itertools
import json
import math
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from jupyter_mcp.host.apps.resource import IN_WORDS
from jupyter_mcp.host.apps.sandbox import sandbox_of
from jupyter_mcp.host.apps.session import Session
from jupyter_mcp.notebook.components.frame import relay
from jupyter_mcp.protocol.shapes import is_list, is_mapping

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jupyter_mcp.host.apps.app import App
    from jupyter_mcp.host.apps.asking import Wish
    from jupyter_mcp.host.apps.shared import Word
    from jupyter_mcp.host.host import Host

__all__ = ["View", "packed"]

_LONG = 64 << 10  # bytes; shorter ones are not worth packing
_MODE_SECONDS = 10.0
_REPORT = 4_000  # characters of a report that a person is shown


class View:
    """One view.

    Args:
        id: what it calls itself.
        tell: sends it a message: kind, buffers, more.
        stands: where it stood when it came.
        over: called when its session has ended by itself.
    """

    def __init__(
        self, id: str, tell: Callable[..., None], stands: object, over: Callable[[], object] = lambda: None
    ) -> None:
        self.id = id
        self._tell = tell
        self._stands = stands
        self._over = over
        self._session: Session | None = None
        self._numbers = itertools.count(1)
        self._answers: dict[int, asyncio.Future[Any]] = {}

    @property
    def live(self) -> bool:
        """Whether it shows a page."""
        return self._session is not None

    # --- its session -------------------------------------------------------------------------------------------------

    async def show(self, host: Host, app: App, word: Word) -> None:
        """Show a page, from the beginning; also instead of the one it showed."""
        before, self._session = self._session, None
        if before is not None:
            before.drop()
        made = sandbox_of(app.page, relay(), app.granted)
        session = Session(host, app, made.resource, self, word)
        await session.stands(self._stands)
        self._session = session
        self._tell("frame", [made.proxy.encode()], view=self.id, allow=made.allow, csp=made.csp)
        self._tell("about", view=self.id, lines=_facts(app), wants=_wants(app))

    def follow_call(self) -> None:
        """More is known of the call that it shows."""
        if self._session is not None:
            self._session.follow_call()

    async def end(self, reason: str = "") -> None:
        """Let the page say goodbye, and take it away."""
        if self._session is not None:
            await self._session.end(reason)

    def drop(self, reason: str = "") -> None:
        """It is gone from the page, or is to go at once; then it is told why."""
        session = self._session
        if not reason:
            self._session = None
        if session is not None:
            session.drop(reason)

    def failed(self, text: str) -> None:
        """There is no page to show."""
        self._tell("failed", view=self.id, text=text)

    # --- from the view -----------------------------------------------------------------------------------------------

    async def heard(self, message: Mapping[str, Any]) -> None:
        """A message of the view, untrusted."""
        session, kind = self._session, message.get("type")
        if kind == "context":
            self._stands = message.get("context")
            if session is not None:
                await session.stands(self._stands)
        elif kind == "answer":
            self._answer(message.get("number"), message.get("yes") is True)
        elif kind == "mode":
            self._answer(message.get("number"), message.get("mode"))
            if session is not None and isinstance(message.get("mode"), str):
                await session.shown_as(message["mode"])
        elif kind == "message" and session is not None:
            await session.receive(message.get("message"))

    def _answer(self, number: object, answer: object) -> None:
        future = self._answers.get(number) if isinstance(number, int) else None
        if future is not None and not future.done():
            future.set_result(answer)

    # --- Screen ------------------------------------------------------------------------------------------------------

    def send(self, message: Mapping[str, Any]) -> None:
        data, zipped = packed(message)
        self._tell("message", [data], view=self.id, zipped=zipped)

    def resize(self, width: int | None, height: int | None) -> None:
        self._tell("size", view=self.id, width=width, height=height)

    async def confirm(self, wish: Wish) -> bool:
        names = [{"name": file.name} for file in wish.files]
        more = {"question": wish.question, "detail": wish.detail, "warnings": wish.warnings, "yes": wish.yes}
        buffers = [file.data for file in wish.files]
        return await self._ask("confirm", buffers, url=wish.url, files=names, **more) is True

    async def show_as(self, mode: str) -> str:
        shown = "inline"
        with suppress(TimeoutError):
            shown = await asyncio.wait_for(self._ask("mode", mode=mode), _MODE_SECONDS)
        return "fullscreen" if shown == "fullscreen" else "inline"

    def opened(self, name: str) -> None:
        self._tell("opened", view=self.id, name=name[:120])

    def reported(self, word: Word) -> None:
        text = report_of(word)
        self._tell("shared", view=self.id, characters=len(text), text=text[:_REPORT])

    def stop(self, reason: str) -> None:
        if self._session is not None:
            self._session = None
            self._tell("stop", view=self.id, reason=reason)
            self._over()

    async def _ask(self, kind: str, buffers: list[bytes] | None = None, **more: Any) -> Any:
        number = next(self._numbers)
        future = self._answers[number] = asyncio.get_running_loop().create_future()
        try:
            self._tell(kind, buffers or [], view=self.id, number=number, **more)
            return await future
        finally:
            del self._answers[number]
            self._tell("withdraw", view=self.id, number=number)


def packed(message: Mapping[str, Any]) -> tuple[bytes, bool]:
    """A message as bytes of JSON, and whether they are packed (gzip). What JSON cannot hold becomes null."""
    try:
        text = json.dumps(message, ensure_ascii=False, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(message), ensure_ascii=False)
    data = text.encode("utf-8", "replace")
    return (gzip.compress(data, 3), True) if len(data) > _LONG else (data, False)


def _finite(value: Any) -> Any:
    if is_mapping(value):
        return {key: _finite(one) for key, one in value.items()}
    if is_list(value):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def report_of(word: Word) -> str:
    """What a page reports for models, as the person is shown it."""
    parts = [str(block.get("text") or f"[{block.get('type')}]") for block in word.content]
    if word.structured:
        parts.append(json.dumps(word.structured, ensure_ascii=False, indent=1))
    return "\n".join(parts)


def _facts(app: App) -> list[str]:
    """What a person may want to know before they use it."""
    page, policy = app.page, app.page.policy
    reach = f"may reach {', '.join(policy.origins)}" if policy.origins else "reaches no other site"
    lines = [f"It is a page of the server {app.server} ({page.uri}). It {reach}, and nothing of this notebook."]
    lines.append(f"What it asks {app.server} for is decided by your rules (%mcp policy), and recorded (%mcp activity).")
    granted = [IN_WORDS[name] for name in page.wants if name in app.granted]
    return [*lines, *(f"It may use {words}." for words in granted), *(f"Not allowed: {one}." for one in policy.refused)]


def _wants(app: App) -> list[dict[str, str]]:
    return [{"name": one, "words": IN_WORDS[one]} for one in app.page.wants if one not in app.granted]
