"""A line to one kernel: many requests on its control channel at a time, each with its own answer.

`reach.control` asks once and hangs up; a gateway that hands on streams asks again and again, and many clients at once.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.serverextension.reach import REQUEST, KernelSilent, answers, connected, data_of

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Line", "Lines"]

IDLE_SECONDS = 60.0
"""A line on which nothing was asked for so long is hung up."""


class Lines:
    """The lines of one Jupyter Server.

    Args:
        kernels: its kernel manager.
    """

    def __init__(self, kernels: Any) -> None:
        self._kernels = kernels
        self._lines: dict[str, Line] = {}

    def to(self, kernel_id: str) -> Line:
        """The line to a kernel. Raises KeyError: there is no such kernel."""
        line = self._lines.get(kernel_id)
        if line is None or line.over:
            line = self._lines[kernel_id] = Line(self._kernels.get_kernel(kernel_id))
        return line

    def close(self) -> None:
        """Hang up all."""
        for kernel_id in list(self._lines):
            self.forget(kernel_id)

    def forget(self, kernel_id: str) -> None:
        """Hang up: the kernel is gone, or another."""
        line = self._lines.pop(kernel_id, None)
        if line is not None:
            line.close()


class Line:
    """One of them.

    Args:
        manager: of the kernel.

    Attributes:
        over: it has been hung up.
    """

    def __init__(self, manager: Any) -> None:
        self.over = False
        self._client = connected(manager)
        self._waiting: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._reading = asyncio.ensure_future(self._read())
        self._idle: asyncio.TimerHandle | None = None

    async def ask(self, kind: str, data: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """What the kernel answers.

        Args:
            kind, data: of the request. seconds: how long an answer may take.

        Raises:
            KernelSilent: there was none; then the line has been hung up.
            KernelSaidNo: it was an error.
        """
        if self.over:
            raise KernelSilent("The line to the kernel has been hung up.")
        message = self._client.session.msg(REQUEST, {"version": 1, "kind": kind, "data": dict(data)})
        answer = self._waiting[message["header"]["msg_id"]] = asyncio.get_running_loop().create_future()
        try:
            self._wind()
            await self._send(message)
            async with asyncio.timeout(seconds):
                reply = await answer
        except TimeoutError as reason:
            self.close()  # a kernel that started anew may have other addresses: the next request looks them up
            raise KernelSilent(f"The kernel did not answer within {seconds:g} s.") from reason
        finally:
            self._waiting.pop(message["header"]["msg_id"], None)
            self._wind()
        return data_of(reply)

    async def _send(self, message: dict[str, Any]) -> None:
        """Past the session's own way: it sends behind the back of the socket that `_read` waits on, and what comes in
        just then would be noticed with the next message only. Behind an Enterprise Gateway there is no socket.
        """
        channel = self._client.control_channel
        socket = getattr(channel, "socket", None)
        if socket is None:
            channel.send(message)
        else:
            await socket.send_multipart(self._client.session.serialize(message))

    def close(self) -> None:
        """Hang up; whoever waits is told that there was no answer."""
        if self.over:
            return
        self.over = True
        if self._idle is not None:
            self._idle.cancel()
        self._reading.cancel()
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(KernelSilent("The kernel went away before it answered."))
        self._client.stop_channels()

    async def _read(self) -> None:
        while True:
            try:
                reply = cast("dict[str, Any]", await self._client.control_channel.get_msg(timeout=None))
            except (ValueError, KeyError, TypeError):  # a message that is none; the next one is read all the same
                continue
            answer = self._waiting.get(answers(reply))
            if answer is not None and not answer.done():
                answer.set_result(reply)

    def _wind(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        if not self._waiting and not self.over:
            self._idle = asyncio.get_running_loop().call_later(IDLE_SECONDS, self.close)
