"""What a server writes to stdout, as messages for the receiver.

Bytes are cut into lines, each line is read and handed on in the same call. Beside that, patience with careless writers:
a message that got no line end, one that stands behind a text in its line, and an answer that cannot be read.

Above: `stdio`. What one line holds is in `protocol.framing`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

from jupyter_mcp.protocol.framing import LineDecoder, Pieces
from jupyter_mcp.transport.base import Noise, unreadable

if TYPE_CHECKING:
    from jupyter_mcp.transport.base import Message, Receiver

# Seconds
QUIET = 0.5  # for the line end of what may be a message without one
GLUED = 1.0  # for a proper answer, when one stood behind a text in its line

MOST_GLUED = 100  # such answers at a time


class Output:
    """Feed it bytes.

    Args:
        receiver: gets what they hold.
    """

    def __init__(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self._decoder = LineDecoder()
        self._pieces = Pieces()
        self._glued: deque[tuple[Message, int]] = deque()
        self._silence: asyncio.TimerHandle | None = None
        self._heard = 0.0  # when bytes without a line end came last
        self._over = False

    def feed(self, data: bytes) -> None:
        """Take what was read."""
        self._take(self._decoder.feed(data))
        if not data.endswith(b"\n"):
            self._heard = asyncio.get_running_loop().time()
            self._watch()

    def eof(self) -> None:
        """No more will come: what has no line end is a line all the same, and what was put off is due."""
        if self._over:
            return
        self._over = True
        if self._silence is not None:
            self._silence.cancel()
        self._take(self._decoder.eof())
        while self._glued:
            self._take_glued()

    def _take(self, lines: list[bytes]) -> None:
        receiver = self._receiver
        for line in lines:
            parsed = self._pieces.read(line)
            if parsed is None:
                continue
            if parsed.batch:
                receiver.on_batch(parsed.messages, len(line))
            else:
                for message in parsed.messages:
                    receiver.on_message(message, len(line))
            if parsed.answers is not None:
                receiver.on_request_failed(parsed.answers, unreadable(parsed.why))
            if parsed.glued is not None:
                self._put_off(parsed.glued, len(line))
            if parsed.noise is not None:
                receiver.on_noise(Noise("stdout", parsed.noise))

    # -- an answer behind a text --------------------------------------------------------------------------------------

    def _put_off(self, answer: Message, size: int) -> None:
        if len(self._glued) < MOST_GLUED:
            self._glued.append((answer, size))
            asyncio.get_running_loop().call_later(GLUED, self._take_glued)

    def _take_glued(self) -> None:
        """Hand one on: nothing happens when a proper answer has come meanwhile."""
        if self._glued:
            self._receiver.on_message(*self._glued.popleft())

    # -- a message without a line end ---------------------------------------------------------------------------------

    def _watch(self) -> None:
        if self._silence is None and not self._over:
            self._silence = asyncio.get_running_loop().call_at(self._heard + QUIET, self._fell_silent)

    def _fell_silent(self) -> None:
        self._silence = None
        if self._over:
            return
        if asyncio.get_running_loop().time() < self._heard + QUIET * 0.9:
            self._watch()
        elif (line := self._decoder.whole()) is not None:
            self._take([line])
