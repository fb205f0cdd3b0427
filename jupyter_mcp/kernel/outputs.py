"""A cell of IPython run for a client: its text, pictures and error are kept here, and reach no output of the notebook.

Everything IPython puts out has one way each: the streams (`capture`), `display` (the publisher), the last value (the
display hook), the traceback, `input()`. Each is routed by the same context variable, so that what others put out at the
same time goes where it belongs. Bounded in characters, pictures and bytes. Main thread.
"""

from __future__ import annotations

import base64
import binascii
import builtins
import getpass
import re
import sys
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, cast

from jupyter_mcp.kernel import capture
from jupyter_mcp.kernel.capture import Kept

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

__all__ = ["Outputs", "routed"]

MAX_TEXT = 64 * 1024
MAX_TRACEBACK = 8 * 1024
MAX_PICTURES, MAX_PICTURE_BYTES = 8, 4 * 2**20
_PICTURES = ("image/png", "image/jpeg")
_TEXTS = ("text/markdown", "text/plain", "text/html", "image/svg+xml", "application/json")
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_NO_INPUT = "nobody can answer input() in code that a client runs"


class Outputs:
    """What a cell put out.

    Args:
        heard: told of text as it comes, on the main thread ("stdout" or "stderr", text).

    Attributes:
        stdout, stderr, shown: what was printed, what was displayed.
        value: the last value, as text; None when there is none.
        pictures: MIME type and bytes of what was displayed as a picture, and how many more there were.
        error: {"type", "message", "traceback"} of the exception it ended with, or None.
    """

    def __init__(self, heard: Callable[[str, str], object] = lambda stream, text: None) -> None:
        self.stdout, self.stderr, self.shown = Kept(MAX_TEXT), Kept(MAX_TEXT), Kept(MAX_TEXT)
        self.value: str | None = None
        self.pictures: list[tuple[str, bytes]] = []
        self.left_out = 0
        self.error: dict[str, str] | None = None
        self._heard = heard
        self._bytes = 0

    def write(self, stream: str, text: str) -> None:
        """As a sink: what is printed."""
        (self.stderr if stream == "stderr" else self.stdout).add(text)
        self._heard(stream, text)

    def display(self, data: Mapping[str, Any]) -> None:
        """What is displayed."""
        text = self._take(data)
        if text:
            self.shown.add(f"{text}\n")

    def result(self, data: Mapping[str, Any]) -> None:
        """The last value."""
        text = self._take(data, plain=True)
        if text is not None:
            kept = Kept(MAX_TEXT)
            kept.add(text)
            self.value = kept.text

    def fail(self, kind: str, message: str, lines: list[str]) -> None:
        """The exception it ended with."""
        kept, said = Kept(MAX_TRACEBACK), Kept(MAX_TRACEBACK)
        kept.add(_ANSI.sub("", "\n".join(lines)))
        said.add(message)
        self.error = {"type": kind, "message": said.text, "traceback": kept.text}

    @property
    def cut(self) -> bool:
        """Whether something was left out."""
        return self.stdout.cut or self.stderr.cut or self.shown.cut or bool(self.left_out)

    def _take(self, data: Mapping[str, Any], *, plain: bool = False) -> str | None:
        """Keep the picture of a bundle; its text."""
        for mime in _PICTURES:
            if mime in data and (picture := _bytes(data[mime])):
                if len(self.pictures) < MAX_PICTURES and self._bytes + len(picture) <= MAX_PICTURE_BYTES:
                    self.pictures.append((mime, picture))
                    self._bytes += len(picture)
                else:
                    self.left_out += 1
                return _text(data.get("text/plain")) if plain else None
        order = ("text/plain", *_TEXTS) if plain else _TEXTS
        return next((_text(data[mime]) for mime in order if mime in data), None)


def _bytes(found: Any) -> bytes | None:
    if isinstance(found, bytes | bytearray):
        return bytes(found)
    try:
        return base64.b64decode(found) if isinstance(found, str) else None
    except (binascii.Error, ValueError):
        return None


def _text(found: Any) -> str | None:
    if isinstance(found, list):
        return "".join(str(part) for part in cast("list[Any]", found))
    return None if found is None else str(found)


def _mine() -> Outputs | None:
    sink = capture.current.get()
    return sink if isinstance(sink, Outputs) else None


@contextmanager
def routed(shell: Any, outputs: Outputs) -> Generator[None]:
    """Inside, what this context puts out by way of the shell is kept in `outputs`. Main thread."""
    with ExitStack() as stack:
        stack.enter_context(capture.capturing(outputs))
        for change in (_publisher, _display_hook, _tracebacks, _no_input, _payloads):
            stack.enter_context(change(shell))
        yield


@contextmanager
def _replaced(target: Any, name: str, value: Any) -> Generator[None]:
    own = cast("dict[str, Any]", vars(target))
    had, before = name in own, own.get(name)
    setattr(target, name, value)
    try:
        yield
    finally:
        if had:
            setattr(target, name, before)
        else:
            delattr(target, name)


@contextmanager
def _publisher(shell: Any) -> Generator[None]:
    publisher = shell.display_pub
    publish, clear = publisher.publish, publisher.clear_output

    def routed_publish(data: Any, *args: Any, **kwargs: Any) -> Any:
        mine = _mine()
        return publish(data, *args, **kwargs) if mine is None else mine.display(data)

    def routed_clear(*args: Any, **kwargs: Any) -> Any:
        return clear(*args, **kwargs) if _mine() is None else None

    with _replaced(publisher, "publish", routed_publish), _replaced(publisher, "clear_output", routed_clear):
        yield


@contextmanager
def _display_hook(shell: Any) -> Generator[None]:
    """The last value of a cell: IPython sets its own hook while a cell runs, so both places are changed."""
    trap, real, outer = shell.display_trap, shell.display_trap.hook, sys.displayhook

    def routed_hook(value: Any = None) -> Any:
        mine = _mine()
        if mine is None:
            return real(value)
        if value is not None and not _quiet(real):
            bundle, _metadata = shell.display_formatter.format(value)
            mine.result(bundle)
        return None

    trap.hook = sys.displayhook = routed_hook
    try:
        yield
    finally:
        trap.hook = real
        if sys.displayhook is routed_hook:
            sys.displayhook = outer


def _quiet(hook: Any) -> bool:
    """Whether the cell ends with a semicolon."""
    try:
        return bool(hook.quiet())
    except Exception:  # it looks at the history, which this cell may not be in
        return False


@contextmanager
def _tracebacks(shell: Any) -> Generator[None]:
    real = shell._showtraceback

    def routed_traceback(etype: Any, evalue: Any, stb: Any) -> Any:
        mine = _mine()
        if mine is None:
            return real(etype, evalue, stb)
        lines = [str(line) for line in cast("list[Any]", stb)] if isinstance(stb, list) else [str(stb)]
        mine.fail(etype.__name__, _said(evalue), lines)
        return None

    with _replaced(shell, "_showtraceback", routed_traceback):
        yield


def _said(error: Any) -> str:
    try:
        return str(error)
    except Exception:
        return "(its text cannot be had)"


@contextmanager
def _no_input(_shell: Any) -> Generator[None]:
    """`input()` would ask the person at the notebook for a client; it fails, and at once."""
    real, real_secret = builtins.input, getpass.getpass

    def no_input(*args: Any) -> Any:
        if _mine() is None:
            return real(*args)
        raise EOFError(_NO_INPUT)

    def no_secret(*args: Any, **kwargs: Any) -> Any:
        if _mine() is None:
            return real_secret(*args, **kwargs)
        raise EOFError(_NO_INPUT)

    builtins.input, getpass.getpass = no_input, no_secret
    try:
        yield
    finally:
        if builtins.input is no_input:
            builtins.input = real
        if getpass.getpass is no_secret:
            getpass.getpass = real_secret


@contextmanager
def _payloads(shell: Any) -> Generator[None]:
    """What would open a pager or a new cell on the page (`thing?`) is dropped."""
    manager = getattr(shell, "payload_manager", None)
    if manager is None:
        yield
        return
    before = list(manager.read_payload())
    try:
        yield
    finally:
        manager.clear_payload()
        for payload in before:
            manager.write_payload(payload, single=False)
