"""Install the servers of tests/interop/servers.toml that no lock holds, into build/more.

    python scripts/more_servers.py [NAME …]

Each set of Python packages gets an environment of its own, since servers disagree on the SDK's version; all of npm's
share one folder. What is installed already stays; build/more may be removed to get newer versions. One that cannot be
installed is told, and is missed by whoever runs it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.interop.programs import MORE, commands, home, rows  # noqa: E402 - after the path

LIMIT = 900.0  # seconds for one installation
AT_ONCE = 2
PIP = ("-m", "pip", "install", "-qq", "--disable-pip-version-check", "--no-input")
NPM = ("install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
NODE = "22.23.3"  # npm takes older releases of some servers for an older one; each of these fits one kind of machine
NODES = {f"node-{kind}": NODE for kind in ("darwin-x64", "linux-arm64", "linux-x64", "win-x64")}
DONE = "installed.json"  # beside what was installed: which packages were asked for


def main() -> int:
    table = rows()
    wanted = sys.argv[1:] or list(table)
    pip = {home(name, table): table[name]["pip"] for name in wanted if "pip" in table[name]}
    npm = sorted({package for name in wanted for package in table[name].get("npm", ())})
    MORE.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        jobs = [pool.submit(by_npm, MORE / "npm", npm)] if npm else []
        jobs += [pool.submit(by_pip, folder, packages) for folder, packages in pip.items()]
        failed = [folder for job in jobs if (folder := job.result()) is not None]
    if failed:
        print(f"not installed: {', '.join(failed)}")
    return 0


def by_pip(folder: Path, packages: list[str]) -> str | None:
    """None, or what failed."""
    if remembered(folder) == packages:
        return None
    print(f"installing {' '.join(packages)}", flush=True)
    made = run(sys.executable, "-m", "venv", "--clear", str(folder))
    if not (made and run(str(commands(folder) / "python"), *PIP, *packages)):
        return " ".join(packages)
    return remember(folder, packages)


def by_npm(folder: Path, packages: list[str]) -> str | None:
    """None, or what failed. What other servers need stays there; a Node that is new enough comes first."""
    have = remembered(folder)
    missing = [package for package in packages if package not in have]
    npm = shutil.which("npm")
    if npm is None or not missing:
        return None if not missing else "npm itself"
    print(f"installing {' '.join(missing)}", flush=True)
    folder.mkdir(exist_ok=True)
    if not (folder / "package.json").exists():
        (folder / "package.json").write_text(json.dumps({"private": True, "optionalDependencies": NODES}), "utf-8")
        run(npm, *NPM, cwd=folder)
    if run(npm, *NPM, *missing, cwd=folder):
        return remember(folder, sorted({*have, *missing}))
    left = [package for package in missing if not run(npm, *NPM, package, cwd=folder)]  # then one by one
    remember(folder, sorted({*have, *missing} - {*left}))
    return " ".join(left) or None


def remembered(folder: Path) -> list[str]:
    marker = folder / DONE
    return json.loads(marker.read_text(encoding="utf-8")) if marker.exists() else []


def remember(folder: Path, packages: list[str]) -> None:
    (folder / DONE).write_text(json.dumps(packages), encoding="utf-8")


def run(*command: str, cwd: Path = ROOT) -> bool:
    env = {**os.environ, "PATH": f"{commands(cwd)}{os.pathsep}{os.environ.get('PATH', '')}"}
    try:
        done = subprocess.run(command, cwd=cwd, env=env, check=False, timeout=LIMIT, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
