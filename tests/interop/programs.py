"""Where the Makefile puts other people's servers and clients; a test skips, with the reason, without what it needs."""

from __future__ import annotations

import shutil
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
MORE = BUILD / "more"
DRIVERS = Path(__file__).parent / "drivers"
ROWS = Path(__file__).with_name("servers.toml")


def python_server(name: str) -> str:
    """Path of a server written in Python (its console script)."""
    program = BUILD / "servers" / "bin" / name
    if not program.exists():
        pytest.skip(f"{name} is not installed in build/servers (make setup puts it there)")
    return str(program)


def npm_server(name: str) -> str:
    """Path of a server written in TypeScript."""
    program = BUILD / "npm" / "node_modules" / ".bin" / name
    if shutil.which("node") is None:
        pytest.skip(f"{name} needs Node, which is not installed")
    if not program.exists():
        pytest.skip(f"{name} is not installed in build/npm (make setup puts it there)")
    return str(program)


def npm_package(name: str) -> Path:
    """The folder in which a package of npm's lies that the tests import."""
    if shutil.which("node") is None:
        pytest.skip(f"{name} needs Node, which is not installed")
    if not (BUILD / "npm" / "node_modules" / name).exists():
        pytest.skip(f"{name} is not installed in build/npm (make setup puts it there)")
    return BUILD / "npm"


def inspector() -> list[str]:
    """The official Inspector without its page, as a command. It wants a newer Node than the rest."""
    program = BUILD / "npm" / "node_modules" / ".bin" / "mcp-inspector"
    node = BUILD / "conformance" / "node_modules" / ".bin" / "node"
    if not program.exists():
        pytest.skip("the Inspector is not installed in build/npm (make setup puts it there)")
    if not node.exists():
        pytest.skip("the Inspector needs Node 22, which is not in build/conformance (make setup puts it there)")
    return [str(node), str(program), "--cli"]


def peer_python(name: str) -> str:
    """The interpreter of the environment in which an official client lives."""
    interpreter = BUILD / "peers" / name / "bin" / "python"
    if not interpreter.exists():
        pytest.skip(f"no client environment build/peers/{name} (make setup makes it)")
    return str(interpreter)


def demo_server() -> list[str]:
    """Our demo server, as a command."""
    return [sys.executable, "-m", "jupyter_mcp.demo"]


def rows() -> dict[str, dict[str, Any]]:
    """What servers.toml says, by name."""
    return tomllib.loads(ROWS.read_text(encoding="utf-8"))


def home(name: str, of: dict[str, dict[str, Any]]) -> Path:
    """The folder that a row is installed in; rows that ask for the same Python packages share the first one's."""
    row = of[name]
    if "locked" in row:
        return BUILD / ("npm" if row["locked"] == "npm" else "servers")
    if "npm" in row:
        return MORE / "npm"
    return MORE / next(other for other, its in of.items() if its.get("pip") == row["pip"])


def commands(folder: Path) -> Path:
    """Where the programs are in a folder made by npm or venv."""
    if (folder / "node_modules").exists():
        return folder / "node_modules" / ".bin"
    return folder / ("Scripts" if sys.platform == "win32" else "bin")
