"""One JupyterLab and one Chromium for all tests of this folder; a fresh page and fresh kernels for each test."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.e2e.lab import CHROMIUM_ARGUMENTS, Browser, LabServer, chromium

if TYPE_CHECKING:
    from collections.abc import Generator

FOLDER = Path(__file__).parent
WAIT = 30_000
"""Milliseconds that a page may take for anything that it has been asked; a busy machine draws slowly."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(FOLDER):
            item.add_marker(pytest.mark.e2e)
            item.add_marker(pytest.mark.timeout(300))


@pytest.fixture(scope="package")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Generator[LabServer]:
    pytest.importorskip("jupyterlab", reason="no JupyterLab (pip install jupyter-mcp-host[lab])")
    pytest.importorskip("playwright", reason="no playwright")
    folder = tmp_path_factory.mktemp("lab")
    chromium(folder)  # skip before the server is started
    with LabServer(folder) as server:
        yield server


@pytest.fixture(scope="package")
def shared_browser(lab: LabServer, tmp_path_factory: pytest.TempPathFactory) -> Generator[Browser]:
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=WAIT)
    path, profile = chromium(tmp_path_factory.mktemp("browser"))
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            profile,
            executable_path=path,
            headless=True,
            args=CHROMIUM_ARGUMENTS,
            viewport={"width": 1200, "height": 1000},
        )
        context.set_default_timeout(WAIT)
        yield Browser(lab, context)
        context.close()


FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "call":
        item.stash[FAILED] = report.failed
    return report


@pytest.fixture
def browser(shared_browser: Browser, request: pytest.FixtureRequest) -> Generator[Browser]:
    shared_browser.problems.clear()
    yield shared_browser
    if request.node.stash.get(FAILED, False):
        print(shared_browser.state(request.node.name))
    said = shared_browser.stderr()
    shared_browser.close_pages()
    assert not said, f"cells show what belongs in a log:\n{said}"
