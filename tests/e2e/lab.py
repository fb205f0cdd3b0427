"""A real JupyterLab server and its pages, driven by playwright: what the browser tests need and nothing more.

The server has its own configuration, data, runtime and settings folders, a random token and a free port on loopback,
and one kernelspec for each ipykernel version in build/kernels. Pages are driven through the application object that
`--expose-app-in-browser` gives, and looked at as a person would: by role and label.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.error import URLError
from urllib.request import urlopen

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from playwright.sync_api import BrowserContext, ConsoleMessage, Locator, Page

_nbformat: Any = importlib.import_module("nbformat")  # untyped

ROOT = Path(__file__).parents[2]
CURRENT = version("ipykernel")
SCREENSHOTS = ROOT / "build" / "screenshots"
CHROMIUM_ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SECONDS = 40.0


class LabServer:
    """`jupyter lab` in folders of its own. Use as a context manager.

    Args:
        folder: for everything that it keeps.
        front: a folder of build/front whose front end is started instead, with our labextension as it is built here.
            Its kernels are this environment's all the same.
        ours: whether its pages have our extension.
    """

    def __init__(self, folder: Path, front: str = "", *, ours: bool = True) -> None:
        self.folder = folder
        self._front = front
        self._ours = ours
        self.notebooks = folder / "notebooks"
        self.token = secrets.token_hex(16)
        self._process: subprocess.Popen[bytes] | None = None
        self._log = folder / "lab.log"

    def __enter__(self) -> LabServer:
        self.notebooks.mkdir(parents=True)
        self._make_kernelspecs()
        self._make_settings()
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [self._python, "-m", self._application, *self._arguments()],
                env=self._environment(),
                cwd=self.notebooks,
                stdout=log,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        self._wait_until_it_answers()
        return self

    def __exit__(self, *_: object) -> None:
        process = self._process
        if process is None:
            return
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(5)

    @property
    def _python(self) -> str:
        return str(ROOT / "build" / "front" / self._front / "bin" / "python") if self._front else sys.executable

    @property
    def _application(self) -> str:
        return "notebook" if self._front.startswith("notebook") else "jupyterlab"

    def address(self, name: str) -> str:
        """Where a notebook opens."""
        path = f"notebooks/{name}?" if self._application == "notebook" else f"lab/tree/{name}?reset&"
        return f"{self.url}/{path}token={self.token}"

    def _arguments(self) -> list[str]:
        return [
            "--no-browser",
            "--allow-root",
            "--ip=127.0.0.1",
            f"--port={self.port}",
            "--ServerApp.port_retries=0",
            f"--IdentityProvider.token={self.token}",
            f"--ServerApp.root_dir={self.notebooks}",
            "--expose-app-in-browser",
            "--LabApp.news_url=None",
            "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
            "--LabApp.extension_manager=readonly",
        ]

    def _environment(self) -> dict[str, str]:
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("JUPYTER", "IPYTHON"))}
        folders = {
            "JUPYTER_CONFIG_DIR": "config",
            "JUPYTER_DATA_DIR": "data",
            "JUPYTER_RUNTIME_DIR": "runtime",
            "IPYTHONDIR": "ipython",
            "JUPYTERLAB_SETTINGS_DIR": "settings",
            "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        }
        environment.update({name: str(self.folder / folder) for name, folder in folders.items()})
        if self._front:
            place = self.folder / "extensions"
            (place / "labextensions").mkdir(parents=True, exist_ok=True)
            (place / "labextensions" / "jupyter-mcp-host").symlink_to(ROOT / "labextension" / "dist")
            environment["JUPYTER_PATH"] = str(place)
        servers = ROOT / "build" / "servers" / "bin"
        environment["PATH"] = os.pathsep.join([str(servers), str(Path(sys.executable).parent), environment["PATH"]])
        return environment

    def _make_kernelspecs(self) -> None:
        installed = [folder.name for folder in (ROOT / "build" / "kernels").glob("[0-9]*")]
        for number in [*installed, CURRENT]:
            folder = self.folder / "data" / "kernels" / f"ipykernel-{number}"
            folder.mkdir(parents=True)
            argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
            spec: dict[str, Any] = {"argv": argv, "display_name": f"ipykernel {number}", "language": "python"}
            if number != CURRENT:
                spec["env"] = {"PYTHONPATH": str(ROOT / "build" / "kernels" / number)}
            (folder / "kernel.json").write_text(json.dumps(spec))

    def _make_settings(self) -> None:
        folder = self.folder / "settings" / "@jupyterlab" / "apputils-extension"
        folder.mkdir(parents=True)
        if not self._ours:
            pages = self.folder / "config" / "labconfig"
            pages.mkdir(parents=True)
            disabled = {"disabledExtensions": {"jupyter-mcp-host": True}}
            (pages / "page_config.json").write_text(json.dumps(disabled))
        quiet = {"fetchNews": "false", "checkForUpdates": False}
        (folder / "notification.jupyterlab-settings").write_text(json.dumps(quiet))

    def has_kernel(self, number: str) -> bool:
        """Whether there is a kernelspec for that ipykernel."""
        return (self.folder / "data" / "kernels" / f"ipykernel-{number}").is_dir()

    def _wait_until_it_answers(self) -> None:
        end = time.monotonic() + 60
        while time.monotonic() < end:
            assert self._process is not None
            if self._process.poll() is not None:
                break
            try:
                with urlopen(f"{self.url}/api?token={self.token}", timeout=2):
                    return
            except (URLError, OSError):
                time.sleep(0.2)
        pytest.fail(f"JupyterLab did not start:\n{self._log.read_text()[-3000:]}")

    def write(self, name: str, cells: Sequence[str], kernel: str = CURRENT) -> str:
        """Write a notebook of code cells; returns its name."""
        notebook: Any = _nbformat.v4.new_notebook()
        notebook.cells = [_nbformat.v4.new_code_cell(code) for code in cells]
        self._save(name, notebook, kernel)
        return name

    def copy(self, source: Path, kernel: str = CURRENT, name: str | None = None) -> str:
        """Copy a notebook of the repository, for one kernel, without outputs."""
        notebook: Any = _nbformat.read(source, as_version=4)
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
        name = name or source.name
        self._save(name, notebook, kernel)
        return name

    def _save(self, name: str, notebook: Any, kernel: str) -> None:
        spec = f"ipykernel-{kernel}"
        notebook.metadata["kernelspec"] = {"name": spec, "display_name": spec, "language": "python"}
        _nbformat.write(notebook, self.notebooks / name)

    def copy_saved(self, name: str, other: str) -> None:
        """A saved notebook under another name, as somebody else would get it."""
        shutil.copy(self.notebooks / name, self.notebooks / other)

    def write_saved(self, name: str, notebook: Any) -> None:
        """A saved notebook that somebody has changed."""
        _nbformat.write(notebook, self.notebooks / name)

    def read(self, name: str) -> Any:
        """A saved notebook."""
        return _nbformat.read(self.notebooks / name, as_version=4)


READY = """() => {
    const widget = window.jupyterapp && window.jupyterapp.shell && window.jupyterapp.shell.currentWidget;
    const session = widget && widget.context && widget.context.isReady && widget.content.widgets
        && widget.context.sessionContext.session;
    return !!(session && session.kernel && session.kernel.status === 'idle');
}"""
_PANEL = ".jp-NotebookPanel:not(.lm-mod-hidden)"
_WIDGETS = "window.jupyterapp.shell.currentWidget.content.widgets"


@dataclass
class Notebook:
    """An open notebook."""

    page: Page
    name: str

    def run(self, index: int) -> None:
        """Run a cell; returns at once."""
        script = """i => {
            const notebook = window.jupyterapp.shell.currentWidget.content;
            notebook.activeCellIndex = i;
            window.jupyterapp.commands.execute('notebook:run-cell');
        }"""
        self.page.evaluate(script, index)

    def run_all(self) -> None:
        """ "Run all cells"; returns at once."""
        self.command("notebook:run-all-cells")

    def command(self, name: str, arguments: dict[str, Any] | None = None) -> None:
        """Execute a command of the application without waiting for it."""
        self.page.evaluate(
            "([name, args]) => { window.jupyterapp.commands.execute(name, args); }", [name, arguments or {}]
        )

    def interrupt(self) -> None:
        """The button in the toolbar."""
        self.command("notebook:interrupt-kernel")

    def wait_done(self, index: int, seconds: float = SECONDS) -> None:
        """Until the cell has been run (it has a number and is not running)."""
        script = f"""i => {{
            const model = {_WIDGETS}[i].model;
            return model.executionCount && (!model.executionState || model.executionState === 'idle');
        }}"""
        self.page.wait_for_function(script, arg=index, timeout=seconds * 1000)

    def running(self, index: int) -> bool:
        """Whether the page has the cell as running ([*]), also where it has scrolled away and is not drawn."""
        script = f"i => {_WIDGETS}[i].prompt === '*' || ({_WIDGETS}[i].promptNode?.textContent ?? '').includes('*')"
        return bool(self.page.evaluate(script, index))

    @property
    def kernel_status(self) -> str:
        """What the status bar says of the kernel."""
        return self.page.evaluate("window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel.status")

    def outputs(self, index: int) -> list[dict[str, Any]]:
        """A cell's outputs as they would be saved."""
        return self.page.evaluate(f"i => {_WIDGETS}[i].model.sharedModel.toJSON().outputs || []", index)

    def text(self, index: int) -> str:
        """Printed text, plain text of displays and errors, of one cell."""
        return "\n".join(_plain(output) for output in self.outputs(index))

    def cell(self, index: int) -> Locator:
        """One cell on the page."""
        return self.page.locator(f"{_PANEL} .jp-Notebook .jp-Cell").nth(index)

    def output(self, index: int) -> Locator:
        """The output area of a cell, as rendered."""
        return self.cell(index).locator(".jp-Cell-outputArea")

    def button(self, name: str, index: int | None = None) -> Locator:
        """A button by its accessible name."""
        where = self.page if index is None else self.cell(index)
        return where.get_by_role("button", name=re.compile(rf"^{re.escape(name)}\b"))

    def until_enabled(self, button: Locator) -> None:
        """Wait until a button can be pressed."""
        from playwright.sync_api import expect

        expect(button).to_be_enabled(timeout=SECONDS * 1000)

    def until_idle(self) -> None:
        """Wait until the kernel has nothing to do."""
        script = "window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel.status === 'idle'"
        self.page.wait_for_function(script, timeout=SECONDS * 1000)

    def save(self) -> None:
        """Save the document and wait for it."""
        self.page.evaluate("window.jupyterapp.shell.currentWidget.context.save()")

    def theme(self, dark: bool) -> None:
        """Switch to the light or the dark theme."""
        name = "JupyterLab Dark" if dark else "JupyterLab Light"
        self.page.evaluate("theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})", name)
        light = "false" if dark else "true"
        self.page.wait_for_function("l => document.body.dataset.jpThemeLight === l", arg=light)

    def screenshots(self, name: str, index: int | None = None) -> None:
        """Pictures for people, light and dark, in build/screenshots."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        if index is not None:
            self.cell(index).scroll_into_view_if_needed()
        for dark in (True, False):
            self.theme(dark)
            self.page.wait_for_timeout(300)
            self.page.screenshot(path=SCREENSHOTS / f"{'dark' if dark else 'light'}-{name}.png")


def _plain(output: dict[str, Any]) -> str:
    kind = output["output_type"]
    if kind == "stream":
        text = output["text"]
        return text if isinstance(text, str) else "".join(text)
    if kind == "error":
        return f"{output['ename']}: {output['evalue']}"
    text = output["data"].get("text/plain", "")
    return text if isinstance(text, str) else "".join(text)


class Browser:
    """Pages of one Chromium with an empty profile."""

    def __init__(self, server: LabServer, context: BrowserContext) -> None:
        self.server = server
        self._context = context
        self.problems: list[str] = []

    def new_page(self) -> Page:
        """A page with nothing in it yet."""
        return self._context.new_page()

    def open(self, name: str, page: Page | None = None) -> Notebook:
        """Open a notebook in a fresh page (or that one) and wait for its kernel."""
        page = page or self.new_page()
        page.on("console", self._console)
        page.goto(self.server.address(name))
        page.wait_for_function(READY, timeout=90_000)
        page.evaluate("window.jupyterapp.shell.collapseLeft?.()")
        return Notebook(page, name)

    def at(self, server: LabServer) -> Browser:
        """The same Chromium with the pages of another server."""
        return Browser(server, self._context)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.problems.append(message.text)

    def stderr(self) -> str:
        """What the cells of the open pages have written to stderr: nothing of ours ever should."""
        script = """() => {
            const widget = window.jupyterapp && window.jupyterapp.shell.currentWidget;
            if (!widget || !widget.content || !widget.content.widgets) return '';
            const outputs = widget.content.widgets.flatMap(cell => cell.model.sharedModel.toJSON().outputs || []);
            return outputs.filter(o => o.name === 'stderr').map(o => [].concat(o.text).join('')).join('');
        }"""
        return "".join(page.evaluate(script) for page in self._pages())

    def state(self, name: str) -> str:
        """For a failed test: a picture in build/screenshots, and what the pages say, as text."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        said = [f"console: {problem}" for problem in self.problems]
        for page in self._pages():
            page.screenshot(path=SCREENSHOTS / f"failed-{re.sub('[^a-zA-Z0-9_.-]+', '-', name)}.png")
            count = page.evaluate(f"() => {_WIDGETS}.length")
            notebook = Notebook(page, name)
            said += [f"kernel: {notebook.kernel_status}"]
            said += [
                f"[{index}] {'(running) ' * notebook.running(index)}{notebook.text(index)}" for index in range(count)
            ]
        return "\n".join(said)

    def _pages(self) -> list[Page]:
        return [page for page in self._context.pages if page.url.startswith(self.server.url)]

    def close_pages(self) -> None:
        """Close all pages and their kernels."""
        for page in self._pages():
            page.evaluate("""async () => {
                const manager = window.jupyterapp && window.jupyterapp.serviceManager;
                if (manager) await manager.sessions.shutdownAll();
            }""")
        for page in self._context.pages[1:]:
            page.close()


def chromium(folder: Path) -> tuple[str, Path]:
    """Path of a Chromium and of an empty profile; skips without one."""
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        path: str | None = importlib.import_module("browser").find()
    finally:
        sys.path.pop(0)
    if path is None:
        pytest.skip("no Chrome or Chromium (set $CHROMIUM, or python scripts/browser.py --install)")
    profile = folder / "profile"
    shutil.rmtree(profile, ignore_errors=True)
    return path, profile


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
