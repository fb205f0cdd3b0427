"""Fixtures and rules for every room."""

from __future__ import annotations

import gc
import os
import tempfile
from pathlib import Path

import pytest

# Rules that a developer keeps for themselves are no part of the tests; kernels inherit this.
os.environ["JUPYTER_CONFIG_DIR"] = str(Path(tempfile.gettempdir()) / f"jupyter-mcp-tests-{os.getpid()}" / "config")

PAGES = Path(__file__).parent / "e2e"
KERNEL_ROOM = Path(__file__).parent / "kernel"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Which tests share a worker of pytest-xdist.

    Those in a page, so that only one browser runs at a time; those of one module of the kernel room, so that each of
    its kernels is started once.
    """
    for item in items:
        if PAGES in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("browser"))
        elif KERNEL_ROOM in item.path.parents:
            item.add_marker(pytest.mark.xdist_group(item.path.stem))


def pytest_collection_finish() -> None:
    gc.set_threshold(20_000, 20, 50)
    _set_aside()


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    if nextitem is not None and nextitem.path != item.path:
        _set_aside()


def _set_aside() -> None:
    """Garbage is looked for among what tests make, not again and again in half a million objects that stay.

    Without it three quarters of the time of a worker that runs cells goes there: IPython collects at each reset, and
    libraries that came with one test are never given up again.
    """
    gc.collect()
    gc.freeze()
