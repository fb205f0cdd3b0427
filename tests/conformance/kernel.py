"""The server under test as a notebook: declared in the cells of a real kernel, offered by `%mcp serve`.

    python -m tests.conformance.kernel [--busy]

What `server` declares on a `Server` is declared here in cells, by `@mcp.tool`, `@mcp.resource` and `@mcp.prompt`: each
module of this folder that has an `add_to` is a cell. The endpoint wants its token, the suites have none, so the program
prints the URL of a proxy that adds it, and serves until its standard input ends. With `--busy` the kernel then computes
in Python for as long as it lives, and plain functions are declared with `thread=True`.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.conformance import beside, contents, questions, rounds, stateless, tasks
from tests.conformance.proxy import adding_token
from tests.runtime.kernels import CURRENT, live_kernel

if TYPE_CHECKING:
    from collections.abc import Generator

    from tests.runtime.kernels import LiveKernel

PARTS = (contents, questions, rounds, stateless, tasks)
START = "%load_ext jupyter_mcp\nimport jupyter_mcp as mcp\n"
SERVE = "endpoint = %mcp serve --name conformance\nprint(endpoint.url, endpoint.token)"
BUSY = "count = 0\nwhile True:\n    count += 1"


@contextmanager
def notebook() -> Generator[LiveKernel]:
    """A kernel that knows which notebook it is of, and leaves nothing behind."""
    with tempfile.TemporaryDirectory(prefix="conformance") as place:
        told = {"JUPYTER_RUNTIME_DIR": place, "JPY_SESSION_NAME": str(Path(place) / "conformance.ipynb")}
        os.environ.update(told)  # this process is for nothing else
        with live_kernel(CURRENT, START) as kernel:
            yield kernel


def declare(kernel: LiveKernel, *, busy: bool) -> None:
    """Run the cells that declare everything."""
    decorators = "Beside(mcp)" if busy else "mcp"
    if busy:
        kernel.run(inspect.getsource(beside))
    for part in PARTS:
        kernel.run(f"{inspect.getsource(part)}\n\nadd_to({decorators})")


def served(kernel: LiveKernel) -> tuple[str, str]:
    """URL and token of the endpoint, from now on."""
    words = kernel.run(SERVE).text.split()
    return words[-2], words[-1]


async def main(busy: bool) -> None:
    """Until standard input ends."""
    with notebook() as kernel:
        declare(kernel, busy=busy)
        url, token = served(kernel)
        computing = kernel.start(BUSY) if busy else None
        if computing is not None:
            kernel.until(lambda: bool(computing.of("execute_input")))
        async with adding_token(url, token) as open_url:
            print(open_url, flush=True)
            await asyncio.to_thread(sys.stdin.read)
        if computing is not None:
            kernel.settle()
            assert not computing.idle, "the kernel was not busy all the time"


if __name__ == "__main__":
    asyncio.run(main("--busy" in sys.argv))
