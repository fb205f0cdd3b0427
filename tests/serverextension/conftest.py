"""One Jupyter Server and one kernel for a module of tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.serverextension.jupyter import Jupyter, Kernel

if TYPE_CHECKING:
    from collections.abc import Generator


@pytest.fixture(scope="module")
def jupyter(tmp_path_factory: pytest.TempPathFactory) -> Generator[Jupyter]:
    found = Jupyter(tmp_path_factory.mktemp("jupyter"))
    yield found
    found.close()


@pytest.fixture(scope="module")
def kernel(jupyter: Jupyter) -> Generator[Kernel]:
    found = jupyter.kernel()
    found.run("%load_ext jupyter_mcp")
    yield found
    found.close()
