"""An agent's bridge to a notebook at a Jupyter Server: `jupyter-mcp-host stdio --url`, as a process of its own."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from jupyter_mcp.errors import RequestError
from jupyter_mcp.host.host import Host
from jupyter_mcp.host.specs import ServerSpec

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator

    from tests.serverextension.jupyter import Jupyter, Kernel

pytestmark = pytest.mark.anyio
SERVE = """
%load_ext jupyter_mcp
import jupyter_mcp as mcp
answer = 42
endpoint = mcp.serve("answer", name="analysis")
"""
READ = "notebook://analysis/variables/answer"


@pytest.fixture(scope="module")
def served(jupyter: Jupyter) -> Generator[Kernel]:
    kernel = jupyter.kernel()
    kernel.run(SERVE)
    yield kernel
    kernel.close()


@pytest.fixture
async def host() -> AsyncGenerator[Host]:
    found = Host()
    yield found
    await found.aclose()


async def bridge(host: Host, url: str, token: str, *more: str) -> Any:
    command = [sys.executable, "-m", "jupyter_mcp.cli", "stdio", "--url", url, *more]
    return await host.connect(ServerSpec.parse("nb", command, env={"JUPYTER_TOKEN": token}))


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
async def test_a_live_variable_is_read_through_the_jupyter_server(
    host: Host, jupyter: Jupyter, served: Kernel, name: str
) -> None:
    served.run("answer = 42")
    await bridge(host, jupyter.url.replace("127.0.0.1", name), jupyter.token)
    assert "42" in (await host.read("nb", READ)).text
    served.run("answer = 43")
    assert "43" in (await host.read("nb", READ)).text


async def test_a_kernel_is_meant_by_its_id(host: Host, jupyter: Jupyter, served: Kernel) -> None:
    await bridge(host, f"{jupyter.url}/lab", jupyter.token, "--kernel", served.id)
    assert (await host.read("nb", READ)).text


async def test_a_restarted_kernel_is_no_silent_successor_and_goes_on_when_it_is_asked_again(
    host: Host, jupyter: Jupyter
) -> None:
    kernel = jupyter.kernel()
    kernel.run(SERVE.replace("analysis", "moving"))
    await bridge(host, jupyter.url, jupyter.token, "--kernel", kernel.id)
    moving = READ.replace("analysis", "moving")
    assert "42" in (await host.read("nb", moving)).text
    kernel.restart()
    kernel.run(SERVE.replace("analysis", "moving").replace("42", "44"))
    with pytest.raises(RequestError, match="started anew"):
        await host.read("nb", moving)
    assert "44" in (await host.read("nb", moving)).text
    kernel.close()


async def test_who_may_not_is_told_so_in_one_sentence(host: Host, jupyter: Jupyter, served: Kernel) -> None:
    await bridge(host, jupyter.url, "not-the-token")
    result = await host.call_tool("nb", "list_variables", {"notebook": "analysis"}, check=False)
    assert "does not take the token (403)" in result.text
    assert "not-the-token" not in result.text
