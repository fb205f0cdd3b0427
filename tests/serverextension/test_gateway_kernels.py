"""Served notebooks behind a Jupyter Server on older ipykernels, by both ways, while a cell computes."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from jupyter_mcp.host.host import Host
from jupyter_mcp.host.specs import ServerSpec
from tests.runtime.kernels import ROOT
from tests.serverextension.jupyter import Kernel

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator
    from pathlib import Path

    from tests.serverextension.jupyter import Jupyter

pytestmark = pytest.mark.anyio
SERVE = """
%load_ext jupyter_mcp
import ipykernel
import jupyter_mcp as mcp
from jupyter_mcp.kernel import control
answer = 42
endpoint = mcp.serve("answer", name="older")
print(ipykernel.__version__)
"""
FAR = """
honest = control._handlers["state"]
control.handle("state", lambda data: dict(honest(data), here=""))
"""
BUSY = """
import pathlib
print("begun", flush=True)
while not pathlib.Path({told!r}).exists(): pass
print("over", flush=True)
"""


@pytest.fixture
async def host() -> AsyncGenerator[Host]:
    found = Host()
    yield found
    await found.aclose()


@pytest.fixture(params=["6.29.5", "6.31.0"])
def older(jupyter: Jupyter, request: pytest.FixtureRequest) -> Generator[tuple[Kernel, str]]:
    """A kernel of an older ipykernel, from a kernelspec of its own, and the version."""
    version: str = request.param
    place = ROOT / "build" / "kernels" / version
    if not place.is_dir():
        pytest.skip(f"ipykernel {version} is not installed: python scripts/kernels.py")
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": argv, "display_name": version, "language": "python", "env": {"PYTHONPATH": f"{place}:{ROOT}"}}
    folder = jupyter.folder / "data" / "kernels" / f"older-{version}"
    folder.mkdir(parents=True)
    (folder / "kernel.json").write_text(json.dumps(spec))
    status, text, _ = jupyter.ask("api/kernels", method="POST", body={"name": folder.name})
    assert status == 201, text
    kernel = Kernel(jupyter, json.loads(text)["id"])
    yield kernel, version
    kernel.close()


async def test_both_ways_answer_while_a_cell_computes(
    host: Host, jupyter: Jupyter, older: tuple[Kernel, str], tmp_path: Path
) -> None:
    kernel, version = older
    url = f"{jupyter.url}/jupyter-mcp/kernels/{kernel.id}"
    for way in ("", FAR):
        told = tmp_path / f"told-{bool(way)}"
        assert version in kernel.run(SERVE + way)
        await host.connect(ServerSpec.parse("nb", url, bearer=jupyter.token))
        kernel.begin(BUSY.format(told=str(told)))
        kernel.until_said("begun")
        assert "42" in (await host.read("nb", "notebook://older/variables/answer", fresh=True)).text
        told.touch()  # the cell computes until it is told that the read is done
        kernel.until_said("over")
        await host.disconnect("nb")
        by_control = "True" in kernel.run("import sys\nprint('jupyter_mcp.kernel.relay' in sys.modules)")
        assert by_control == bool(way), "each way was the one that was meant"
        kernel.run("endpoint.stop()")
