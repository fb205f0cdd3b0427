"""Fixtures and rules for every room."""

from __future__ import annotations

from pathlib import Path

import pytest

PAGES = Path(__file__).parent / "e2e"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests in a page share one worker of pytest-xdist, so that only one browser runs at a time."""
    for item in items:
        if PAGES in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("browser"))
