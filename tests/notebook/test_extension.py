"""Loading and unloading; what loading costs."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from IPython.core.interactiveshell import InteractiveShell

from jupyter_mcp.notebook import completion
from tests.notebook.conftest import Cells, echo_server

if TYPE_CHECKING:
    import pytest

ROOMS = ("protocol", "transport", "client", "server", "host", "runtime", "demo")


def loaded_by(code: str) -> list[str]:
    """The modules that this code brings along, in a fresh interpreter with IPython."""
    program = (
        "import sys, json\n"
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "from traitlets.config import Config\n"
        "config = Config(); config.HistoryManager.enabled = False\n"
        "shell = InteractiveShell.instance(config=config)\n"
        "before = set(sys.modules)\n"
        f"{code}\n"
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    found: list[str] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_loading_imports_the_standard_library_and_ipython_only():
    found = loaded_by("shell.run_line_magic('load_ext', 'jupyter_mcp')")
    ours = [name for name in found if name.startswith("jupyter_mcp")]
    others = {name.partition(".")[0] for name in found} - {"jupyter_mcp", "IPython"} - sys.stdlib_module_names
    assert others == set()
    assert not [name for name in ours if name.split(".")[1:2] and name.split(".")[1] in ROOMS]
    assert len(ours) <= 10


def test_completion_of_other_code_imports_nothing_of_ours():
    code = (
        "shell.run_line_magic('load_ext', 'jupyter_mcp')\n"
        "from IPython.core.completer import provisionalcompleter\n"
        "before = set(sys.modules)\n"
        "with provisionalcompleter(): list(shell.Completer.completions('import o', 8))"
    )
    assert [name for name in loaded_by(code) if name.startswith("jupyter_mcp")] == []


def test_the_first_line_does_not_load_widgets_or_a_network_library():
    found = loaded_by("shell.run_line_magic('load_ext', 'jupyter_mcp'); shell.run_line_magic('mcp', 'help;')")
    assert not {name.partition(".")[0] for name in found} & {"ipywidgets", "httpx", "aiohttp", "tornado"}


def test_loading_twice_is_loading_once(cells: Cells):
    cells.run("%load_ext jupyter_mcp\n%reload_ext jupyter_mcp")
    matchers: list[Any] = cells.shell.Completer.custom_matchers
    assert matchers.count(completion.mcp_matcher) == 1
    cells.run("%mcp help")
    assert len(cells.shown) == 1


def test_unloading_takes_everything_back_and_closes_the_servers(cells: Cells):
    cells.put(server=echo_server())
    cells.run("s = %mcp connect s $server")
    server = cells["s"]
    cells.run("%unload_ext jupyter_mcp")
    assert server.state == "closed"
    assert completion.mcp_matcher not in cells.shell.Completer.custom_matchers
    assert cells.shell.find_line_magic("mcp") is None
    assert cells.shell.find_cell_magic("mcp") is None


def test_it_can_be_loaded_again_and_used(cells: Cells):
    cells.put(server=echo_server())
    cells.run("%mcp connect s $server;\n%unload_ext jupyter_mcp\n%load_ext jupyter_mcp")
    cells.run("%mcp connect s $server;")
    assert cells.run("%mcp call s add a=1").text == "2"


def test_unloading_what_was_never_used_is_quiet():
    found = loaded_by(
        "shell.run_line_magic('load_ext', 'jupyter_mcp'); shell.run_line_magic('unload_ext', 'jupyter_mcp')"
    )
    assert not [name for name in found if name.startswith("jupyter_mcp.host")]


def test_a_terminal_shows_the_value_as_ipython_does(capsys: pytest.CaptureFixture[str]):
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False
    InteractiveShell.clear_instance()
    shell: Any = InteractiveShell.instance(config=config)
    try:
        shell.run_line_magic("load_ext", "jupyter_mcp")
        shell.user_ns["server"] = echo_server()
        shell.run_cell("%mcp connect s $server;")
        capsys.readouterr()
        shell.run_cell("%mcp call s add a=1 b=2")
        shown = capsys.readouterr().out
        assert shown.count("Out[") == 1
        assert "s.add" in shown
        shell.run_cell("%mcp call s add a=1 b=2\nx = 1")
        assert "3" in capsys.readouterr().out
        shell.run_cell("x = %mcp call s add a=1 b=2")
        assert capsys.readouterr().out == ""
    finally:
        shell.run_line_magic("unload_ext", "jupyter_mcp")
        InteractiveShell.clear_instance()
