"""A notebook that is served in a real kernel, as a person does it: the first of the two steps."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.runtime.kernels import LiveKernel, Run, live_kernel

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

FIRST = """
%load_ext jupyter_mcp
import json
import pandas as pd
import jupyter_mcp as mcp
api_key = "not for everybody"
df = pd.DataFrame({{"region": ["north", "south"], "total": [{first}, 20.0]}})
model = {{"slope": 2.5}}
"""
FORECAST = '''
@mcp.tool
def forecast(month: int{more}) -> float:
    """Sales in a month.

    Args:
        month: from 1 to 12.
    """
    return {result}
'''
SERVE = "%mcp serve df model --name sales"
TOLD = "print(json.dumps([[key, _.config(key), str(_.config(key, http=True))] for key in ('claude-code', 'mcp.json')]))"
ENDLESS = "print('begun', flush=True)\nwhile True: pass"
MOVES = ("JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "XDG_DATA_HOME", "JUPYTER_PLATFORM_DIRS", "JPY_SESSION_NAME")


class Notebook:
    """A kernel in which a notebook is served.

    Attributes:
        home: the person's home folder.
        kernel: it.
        texts: what is printed for each client: (for the bridge, for URL and token).
    """

    def __init__(self, kernel: LiveKernel, home: Path) -> None:
        self.kernel = kernel
        self.home = home
        self.texts: dict[str, tuple[str, str]] = {}

    def serve(self, first: float = 10.5) -> Run:
        """What the person does after each start of the kernel."""
        self.kernel.run(FIRST.format(first=first))
        self.kernel.run(FORECAST.format(more="", result="2.5 * month"))
        shown = self.kernel.run(SERVE, allow_stdin=True)  # as a page does
        told = json.loads(self.kernel.run(TOLD).text)
        self.texts = {key: (bridge, direct) for key, bridge, direct in told}
        return shown

    def restart(self) -> None:
        """What the restart button does."""
        self.kernel.manager.restart_kernel()
        self.kernel.client.wait_for_ready(timeout=60)

    @contextmanager
    def busy(self) -> Generator[None]:
        """While a cell runs, and it does run until the end of this."""
        run = self.kernel.start(ENDLESS)
        self.kernel.until(lambda: "begun" in run.text)
        try:
            yield
            assert not run.idle
        finally:
            self.kernel.interrupt()
            self.kernel.finish(run)
        assert run.error is not None and run.error.startswith("KeyboardInterrupt")


@contextmanager
def notebook(home: Path) -> Generator[Notebook]:
    """A kernel of a person whose home folder that is, where Jupyter is as it was installed."""
    with pytest.MonkeyPatch.context() as patch:
        for name in MOVES:
            patch.delenv(name, raising=False)
        patch.setenv("HOME", str(home))
        with live_kernel() as kernel:
            yield Notebook(kernel, home)
