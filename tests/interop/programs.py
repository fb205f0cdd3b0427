"""Where the Makefile puts other people's servers and clients; a test skips, with the reason, without what it needs."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
DRIVERS = Path(__file__).parent / "drivers"


def python_server(name: str) -> str:
    """Path of a server written in Python (its console script)."""
    program = BUILD / "servers" / "bin" / name
    if not program.exists():
        pytest.skip(f"{name} is not installed in build/servers (make interop puts it there)")
    return str(program)


def npm_server(name: str) -> str:
    """Path of a server written in TypeScript."""
    program = BUILD / "npm" / "node_modules" / ".bin" / name
    if shutil.which("node") is None:
        pytest.skip(f"{name} needs Node, which is not installed")
    if not program.exists():
        pytest.skip(f"{name} is not installed in build/npm (make interop puts it there)")
    return str(program)


def peer_python(name: str) -> str:
    """The interpreter of the environment in which an official client lives."""
    interpreter = BUILD / "peers" / name / "bin" / "python"
    if not interpreter.exists():
        pytest.skip(f"no client environment build/peers/{name} (make interop makes it)")
    return str(interpreter)


def demo_server() -> list[str]:
    """Our demo server, as a command."""
    return [sys.executable, "-m", "jupyter_mcp.demo"]
