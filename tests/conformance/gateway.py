"""The server under test as a notebook at the address of its Jupyter Server: declared in cells, then served.

    python -m tests.conformance.gateway

The Jupyter Server wants its token, the suites have none, so the program prints the URL of a proxy that adds it, and
serves until its standard input ends.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
import tempfile
from pathlib import Path

from tests.conformance.kernel import PARTS, START
from tests.conformance.proxy import adding_token
from tests.serverextension.jupyter import Jupyter


async def main() -> None:
    """Until standard input ends."""
    with tempfile.TemporaryDirectory(prefix="conformance") as place:
        jupyter = Jupyter(Path(place))
        try:
            kernel = jupyter.kernel()
            kernel.run(START)
            for part in PARTS:
                kernel.run(f"{inspect.getsource(part)}\n\nadd_to(mcp)")
            kernel.run("endpoint = mcp.serve(name='conformance')")
            url = f"{jupyter.url}/jupyter-mcp/kernels/{kernel.id}"
            async with adding_token(url, jupyter.token) as open_url:
                print(open_url, flush=True)
                await asyncio.to_thread(sys.stdin.read)
            kernel.close()
        finally:
            jupyter.close()


if __name__ == "__main__":
    asyncio.run(main())
