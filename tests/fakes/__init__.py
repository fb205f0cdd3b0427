"""Small fake servers whose faults are chosen by the test; `command(...)` gives what to spawn."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

SERVER = Path(__file__).with_name("server.py")
OWN_TOOLS = 18  # tools it has by itself


def command(**options: Any) -> tuple[str, list[str]]:
    """Command and arguments of `server.py` with these options (see its docstring)."""
    return sys.executable, ["-u", str(SERVER), json.dumps(options)]
