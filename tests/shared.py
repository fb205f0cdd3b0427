"""Where the specification's schemas and the collected cases lie, when they are there.

They are data of other projects and are not copied here; a test that reads them skips, with a reason, without them.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(os.environ.get("JUPYTER_MCP_SHARED", Path(__file__).parents[2] / "shared"))


def shared_path(relative: str) -> Path:
    """Path of a shared file; skips the test when it is absent."""
    path = ROOT / relative
    if not path.exists():
        pytest.skip(f"no shared data: {relative} (set JUPYTER_MCP_SHARED to the folder that holds it)")
    return path
