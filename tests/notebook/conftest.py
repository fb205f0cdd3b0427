"""A shell to run cells in, and servers to talk to."""

from __future__ import annotations

import atexit
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from jupyter_mcp.server import Server

if TYPE_CHECKING:
    from collections.abc import Iterator

ECHO = {"type": "object", "additionalProperties": True}


def echo_server() -> Server:
    """`echo` returns its arguments as JSON; the others are what the tests need."""
    server = Server("echo", version="1")

    @server.tool
    def echo(**arguments: Any) -> dict[str, Any]:
        """Return the arguments."""
        return arguments

    @server.tool
    def add(a: int, b: int = 1) -> int:
        """Add two numbers."""
        return a + b

    @server.tool("get-env")
    def get_env(name: str) -> str:
        """Say a name."""
        return name

    @server.tool
    def fail(why: str = "broken") -> str:
        """Report a failure."""
        raise ValueError(why)

    @server.resource("notes://{day}")
    def note(day: str) -> str:
        """The note of a day."""
        return f"note of {day}"

    @server.resource("text://hello")
    def hello() -> str:
        """A greeting."""
        return "hello"

    @server.prompt
    def review(language: str, style: str = "kind") -> str:
        """Review code."""
        return f"Review this {language} code; be {style}."

    @server.completion("review", "language")
    def languages(value: str) -> list[str]:
        return [name for name in ("python", "perl", "rust") if name.startswith(value)]

    return server


@dataclass
class Cells:
    """Runs cells in one shell and keeps what they displayed.

    Attributes:
        shell: the IPython shell.
        shown: the bundles displayed by the last cell, display_data and Out alike, in order.
    """

    shell: Any
    shown: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    errors: list[str] = field(default_factory=list[str])

    def run(self, source: str) -> Any:
        """The value of the cell; raises what it raised."""
        self.shown.clear()
        self.errors.clear()
        result: Any = self.shell.run_cell(source, store_history=True)
        error = result.error_before_exec or result.error_in_exec
        if error is not None:
            raise error
        return result.result

    def put(self, **names: Any) -> None:
        """Names of the notebook."""
        self.shell.user_ns.update(names)

    @property
    def text(self) -> str:
        """The plain text of all that was displayed."""
        return "\n".join(str(bundle.get("text/plain", "")) for bundle in self.shown)

    def __getitem__(self, name: str) -> Any:
        return self.shell.user_ns[name]


class _Kernel:
    """Makes the shell look like a kernel nobody sits at: display_data and execute_result, no input()."""

    _allow_stdin = False

    def get_parent(self, channel: str = "shell") -> dict[str, Any]:
        return {}


@pytest.fixture
def cells(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cells]:
    """A shell with the extension loaded; all that it displays is kept."""
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    InteractiveShell.clear_instance()
    shell: Any = InteractiveShell.instance(config=config)
    found = Cells(shell)

    def publish(data: dict[str, Any], *_: Any, **more: Any) -> None:
        found.shown.append(dict(data))

    def show_out(data: dict[str, Any], _: Any = None) -> None:
        found.shown.append(dict(data))

    def show_error(_kind: Any, _value: Any, lines: list[str]) -> None:
        found.errors.extend(lines)

    monkeypatch.setattr(shell.display_pub, "publish", publish)
    monkeypatch.setattr(shell.displayhook, "write_output_prompt", lambda: None)
    monkeypatch.setattr(shell.displayhook, "write_format_data", show_out)
    monkeypatch.setattr(shell, "_showtraceback", show_error)
    shell.kernel = _Kernel()
    shell.run_line_magic("load_ext", "jupyter_mcp")
    yield found
    shell.run_line_magic("unload_ext", "jupyter_mcp")
    shell.reset(new_session=False)
    shell.restore_sys_module_state()  # this and the next: a shell is kept otherwise, and all that its cells made
    atexit.unregister(shell.atexit_operations)
    InteractiveShell.clear_instance()


@pytest.fixture
def served(cells: Cells) -> Cells:
    """The same, with the echo server connected as `s`."""
    cells.put(echo_server=echo_server())
    cells.run("%mcp connect s $echo_server ;")
    return cells
