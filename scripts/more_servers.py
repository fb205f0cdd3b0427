"""Install the servers of tests/interop/servers.toml into build/more; one that cannot be installed is told and left out.

    python scripts/more_servers.py [NAME …]

Each Python server gets an environment of its own, since they disagree on the SDK's version; all of npm's share one.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
MORE = ROOT / "build" / "more"
LIMIT = 600.0  # seconds for one installation
PIP = ("-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-input")
NPM = ("install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")


def main() -> int:
    servers: dict[str, Any] = tomllib.loads((ROOT / "tests/interop/servers.toml").read_text(encoding="utf-8"))
    wanted = sys.argv[1:] or list(servers)
    MORE.mkdir(parents=True, exist_ok=True)
    failed = [name for name in wanted if not install(name, servers[name])]
    if failed:
        print(f"not installed, their tests will be skipped: {', '.join(failed)}")
    return 0


def install(name: str, server: dict[str, Any]) -> bool:
    print(f"installing {name}", flush=True)
    return by_npm(server["npm"]) if "npm" in server else by_pip(MORE / name, server["pip"])


def by_pip(folder: Path, packages: list[str]) -> bool:
    scripts = folder / ("Scripts" if sys.platform == "win32" else "bin")
    return run(sys.executable, "-m", "venv", str(folder)) and run(str(scripts / "python"), *PIP, *packages)


def by_npm(packages: list[str]) -> bool:
    npm, folder = shutil.which("npm"), MORE / "npm"
    if npm is None:
        return False
    folder.mkdir(exist_ok=True)
    if not (folder / "package.json").exists():
        (folder / "package.json").write_text(json.dumps({"private": True}), encoding="utf-8")
    return run(npm, *NPM, *packages, cwd=folder)


def run(*command: str, cwd: Path = ROOT) -> bool:
    try:
        return subprocess.run(command, cwd=cwd, check=False, timeout=LIMIT).returncode == 0
    except subprocess.TimeoutExpired:
        return False


if __name__ == "__main__":
    sys.exit(main())
