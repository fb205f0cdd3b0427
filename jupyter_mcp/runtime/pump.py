"""Widget messages are handled while the main thread waits, for ipykernel 6.29 … 7.4.

The main thread handles the front end's messages one after the other, and a cell is one of them: while it runs, nobody
takes the next. So whoever waits takes them himself. Messages of widgets (comm_open, comm_msg, comm_close) are handled
at once; everything else (the next cells of "Run all") is handed to the kernel's own receiver, which queues it behind
the running cell, in order. "Idle" at the end of a widget message would be taken for the state of the kernel, so "busy"
is said again while the cell goes on.

What of ipykernel is used is looked up by name, version by version; `find` returns None when it is not there, and
questions are then asked by `input()`.

    kernel            where messages for the main thread arrive                   the kernel's receiver
    ipykernel 7       stream of the in-process pair "shell channel -> main"       shell_main (waits for a lock)
    7, no subshells   shell_stream                                                shell_main
    ipykernel 6       shell_stream; what it has read already is in msg_queue      schedule_dispatch (msg_queue)
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from jupyter_mcp.runtime import frontend
from jupyter_mcp.runtime.cells import cells
from jupyter_mcp.runtime.place import flush

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

__all__ = ["Pump", "find", "unroute"]

log = logging.getLogger("jupyter_mcp.runtime")
COMM = frozenset({"comm_open", "comm_msg", "comm_close"})
Message = list[Any]


class Pump:
    """Takes the messages that wait for the main thread. One per kernel; nested waits share it."""

    def __init__(self, kernel: Any, stream: Any) -> None:
        self.kernel = kernel
        self._stream = stream
        self._receiver: Callable[[Message], Any] = stream._recv_callback
        self._listeners = 0
        self._received = False
        self._waits = 0
        self._idle_said = False

    def once(self) -> None:
        """Handle what has arrived. Main thread, inside a running cell or a callback; never blocks."""
        import zmq

        while True:
            try:
                message = self._stream.socket.recv_multipart(zmq.NOBLOCK, copy=False)
            except zmq.Again:
                break
            self._received = True
            self._dispatch(message)
        self.show_busy()

    def show_busy(self) -> None:
        """Say that the cell goes on when a subshell, which handles some widgets' messages, has said "idle"."""
        if self._idle_said:
            self._idle_said = False
            self._say_busy(frontend.parent())

    @contextmanager
    def blocking(self) -> Generator[None]:
        """Around a wait that blocks the loop and calls `once` again and again."""
        self._take_queued()
        try:
            with self._noticing_idle():
                yield
        finally:
            self._rearm()

    @contextmanager
    def listening(self) -> Generator[None]:
        """Around a wait that lets the loop run: messages are sorted as the loop receives them."""
        self._take_queued()
        if self._listeners == 0:
            self._stream.on_recv(self._dispatch, copy=False)
        self._listeners += 1
        try:
            with self._noticing_idle():
                yield
        finally:
            self._listeners -= 1
            if self._listeners == 0:
                self._stream.on_recv(self._receiver, copy=False)

    def _dispatch(self, message: Message) -> None:
        if self._type(message) in COMM:
            self._handle(message)
            return
        queued = self._receiver(message)
        if inspect.isawaitable(queued):
            asyncio.ensure_future(queued).add_done_callback(_log_failure)

    def _type(self, message: Message) -> str:
        """Message type by a look at the header: unpacking all of it would count as the one time it may be read."""
        session = self.kernel.session
        try:
            _, frames = session.feed_identities(message, copy=False)
            return session.unpack(frames[1].bytes)["msg_type"]
        except Exception:  # ipykernel's own signals ("stop aborting") are no messages
            return ""

    def _handle(self, message: Message) -> None:
        kernel = self.kernel
        try:
            identities, frames = kernel.session.feed_identities(message, copy=False)
            content = kernel.session.deserialize(frames, content=True, copy=False)
        except Exception:
            log.exception("an invalid message arrived")
            return
        before = frontend.parent()
        flush()
        kernel.set_parent(identities, content, channel="shell")
        kernel._publish_status("busy", "shell")  # busy and idle: the page holds back further edits until idle
        try:
            kernel.shell_handlers[content["header"]["msg_type"]](self._stream, identities, content)
        except Exception:
            log.exception("a widget's message handler failed")
        finally:
            flush()
            kernel._publish_status("idle", "shell")
            if before is not None:
                kernel.set_parent(*before, channel="shell")
                self._say_busy(before)

    def _say_busy(self, here: tuple[Any, dict[str, Any]] | None) -> None:
        if here is not None and cells.running and here[1]["header"].get("msg_type") == "execute_request":
            self.kernel._publish_status("busy", "shell", here[1])

    @contextmanager
    def _noticing_idle(self) -> Generator[None]:
        """Notice the statuses that other threads publish. They cannot say "busy" for the cell: it may end meanwhile."""
        kernel = self.kernel
        self._waits += 1
        if self._waits == 1:
            publish = kernel._publish_status

            def noticed(status: str, *args: Any, **kwargs: Any) -> None:
                publish(status, *args, **kwargs)
                if status == "idle" and threading.current_thread() is not threading.main_thread():
                    self._idle_said = True

            kernel._publish_status = noticed
        try:
            yield
        finally:
            self._waits -= 1
            if self._waits == 0:
                del kernel._publish_status
                self._idle_said = False

    def _take_queued(self) -> None:
        """ipykernel 6 keeps what it has read in a queue: widget messages come out of it, the rest stays in order."""
        queue = getattr(self.kernel, "msg_queue", None)
        if queue is None:
            return
        items = [queue.get_nowait() for _ in range(queue.qsize())]
        widgets: list[Message] = []
        for item in items:
            arguments = item[2]
            if arguments and self._type(list(arguments[0])) in COMM:
                widgets.append(list(arguments[0]))
            else:
                queue.put_nowait(item)
        for message in widgets:
            self._handle(message)

    def _rearm(self) -> None:
        """The stream watches an edge of its socket that reading past it may have consumed: let it look again."""
        if not self._received:
            return
        self._received = False
        import zmq

        try:
            asyncio.get_running_loop().call_soon(self._stream.flush, zmq.POLLIN)
        except RuntimeError:  # no loop is running: the kernel looks when it starts one
            log.debug("no loop to look at the stream again")


_pumps: dict[int, tuple[Any, Pump | None]] = {}


def find() -> Pump | None:
    """The pump of this process's kernel, or None (no kernel, or one whose inside we do not know)."""
    kernel = frontend.kernel()
    if kernel is None:
        return None
    known = _pumps.get(id(kernel))
    if known is None or known[0] is not kernel:
        known = (kernel, _make(kernel))
        _pumps[id(kernel)] = known
    return known[1]


def _make(kernel: Any) -> Pump | None:
    try:
        stream = _stream(kernel)
        fits = (
            callable(stream._recv_callback)
            and callable(stream.socket.recv_multipart)
            and set(kernel.shell_handlers) >= COMM
            and all(callable(getattr(kernel, name)) for name in ("set_parent", "get_parent", "_publish_status"))
            and all(callable(getattr(kernel.session, name)) for name in ("feed_identities", "deserialize", "unpack"))
        )
    except (AttributeError, TypeError) as error:
        log.info("no pump for %s: %s", type(kernel).__name__, error)
        return None
    return Pump(kernel, stream) if fits else None


def _stream(kernel: Any) -> Any:
    thread = getattr(kernel, "shell_channel_thread", None)
    if thread is not None:
        return thread.manager._shell_channel_to_main.to_stream
    return kernel.shell_stream


def _log_failure(task: asyncio.Future[Any]) -> None:
    if not task.cancelled() and task.exception() is not None:
        log.error("the kernel failed on a message", exc_info=task.exception())


def unroute(*things: Any) -> int:
    """ipykernel 7.4: let the front end choose the thread for these comms (or widgets, with their children) again.

    7.4 sends what a widget gets from the page to the loop that last used it, the main thread, also when that is busy
    with a foreign cell. Returns the number of comms changed; 0 on every other version.
    """
    changed = 0
    for thing in things:
        comm = getattr(thing, "comm", thing)
        if comm is not None and callable(getattr(comm, "_reply_subshell_for", None)):
            comm._reply_subshell_for = None
            changed += 1
        changed += unroute(*(getattr(thing, "children", None) or ()))
    return changed
