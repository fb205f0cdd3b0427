"""CPU of starting: `python startup.py WHAT [SERVER COMMAND …]` prints {"cpu": seconds}.

load_ext and first_connect stand on a kernel as it is before the person's first line: ipykernel and ipywidgets are
loaded and not counted. The SDK's variants stand on a bare interpreter with asyncio loaded: it has no kernel beside it.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
from typing import Any


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def kernel_like() -> Any:
    """The shell of a kernel that has everything loaded that JupyterLab's kernels have."""
    import ipykernel.ipkernel
    import ipywidgets
    from IPython.core.interactiveshell import InteractiveShell

    assert ipykernel and ipywidgets
    return InteractiveShell.instance()


def load_ext(command: list[str]) -> float:
    shell = kernel_like()
    before = cpu()
    shell.extension_manager.load_extension("jupyter_mcp")
    return cpu() - before


def import_mcp(command: list[str]) -> float:
    before = cpu()
    import mcp

    assert mcp
    return cpu() - before


def first_connect(command: list[str]) -> float:
    shell = kernel_like()
    before = cpu()
    shell.extension_manager.load_extension("jupyter_mcp")
    import jupyter_mcp

    server = jupyter_mcp.connect("bench", *command)
    spent = cpu() - before
    assert server.state == "ready", server.state
    jupyter_mcp.disconnect("bench")
    return spent


def connect_with(adapter: str, command: list[str]) -> float:
    async def connected() -> float:
        async with __import__(adapter).connect(command):
            return cpu()

    before = cpu()
    return asyncio.run(connected()) - before


def raw_connect(command: list[str]) -> float:
    return connect_with("raw_client", command)


def sdk_connect(command: list[str]) -> float:
    return connect_with("sdk_client", command)


if __name__ == "__main__":
    print(json.dumps({"cpu": globals()[sys.argv[1]](sys.argv[2:])}))
