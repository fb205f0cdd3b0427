"""The protocol room does no I/O: not even its imports do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import jupyter_mcp.protocol

ROOM = Path(jupyter_mcp.protocol.__file__).parent
FORBIDDEN = ("anyio", "httpx", "aiohttp", "asyncio", "IPython", "tornado", "socket", "ssl", "ipywidgets")
AT_FIRST_USE = ("jsonschema", "referencing", "uritemplate")


def test_importing_every_protocol_module_brings_no_io_library_and_no_late_one() -> None:
    modules = sorted(path.stem for path in ROOM.glob("*.py") if path.stem != "__init__")
    assert "jsonrpc" in modules and "probe" in modules
    program = "\n".join(
        (
            "import sys",
            *(f"import jupyter_mcp.protocol.{name}" for name in modules),
            f"print([name for name in {(*FORBIDDEN, *AT_FIRST_USE)!r} if name in sys.modules])",
        )
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert run.stdout.strip() == "[]"


def test_no_protocol_module_names_a_clock_randomness_or_the_environment() -> None:
    for path in ROOM.glob("*.py"):
        lines = path.read_text("utf-8").splitlines()
        imports = [line.strip() for line in lines if line.strip().startswith(("import ", "from "))]
        for word in ("time", "random", "os", "secrets", "asyncio", "pathlib", "subprocess"):
            assert f"import {word}" not in imports, f"{path.name} imports {word}"
            assert not any(line.startswith(f"from {word} ") for line in imports), f"{path.name} imports from {word}"
