"""Build labextension/ and link it into this environment, so that JupyterLab and Notebook find it.

    python scripts/labextension.py            build what has changed, link it
    python scripts/labextension.py --check    besides, its format, lint, types and tests

Without Node 20 it says so and ends well: everything else works, and cards whose kernel is gone show what JupyterLab
says of such widgets. `hatch_build.py` builds with it too, so it needs nothing but jupyter-builder (which brings jlpm).
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "labextension"
BUILT = SOURCE / "dist"
NAME = "jupyter-mcp-host"
NODE = 20  # the oldest that the build works with
MADE_FROM = ("package.json", "yarn.lock", "tsconfig.json")
FOLDERS = ("src", "schema", "style")


def main(arguments: list[str]) -> int:
    """Build, link and check; the exit code."""
    reason = no_node()
    if reason is not None:
        print(f"labextension: {reason}: cards whose kernel is gone will not show their saved form in JupyterLab")
        return 0
    if stale():
        print("labextension: building (the first time this takes a few minutes)", flush=True)
        build()
    link(Path(sys.prefix) / "share" / "jupyter" / "labextensions" / NAME)
    return check() if "--check" in arguments else 0


def no_node() -> str | None:
    """Why nothing can be built here; None when it can."""
    node = shutil.which("node")
    if node is None:
        return "Node is not installed"
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    number = said.lstrip("v").partition(".")[0]
    if not number.isdigit() or int(number) < NODE:
        return f"Node {NODE} or newer is needed, here is {said or 'one that does not start'}"
    return None


def build() -> None:
    """Install what the lock names and build into labextension/dist.

    Raises:
        subprocess.CalledProcessError: one of the two failed; what it said stands above.
    """
    jlpm("install", "--immutable")
    jlpm("run", "build:prod")
    (BUILT / "made-from").write_text(fingerprint(), encoding="utf-8")


def stale() -> bool:
    """Whether what is built is missing or was made from other sources."""
    made_from = BUILT / "made-from"
    whole = (BUILT / "static" / "style.js").is_file() and made_from.is_file()
    return not whole or made_from.read_text(encoding="utf-8") != fingerprint()


def fingerprint() -> str:
    """Of everything that the build is made from."""
    digest = hashlib.sha256()
    sources = sorted(path for name in FOLDERS for path in (SOURCE / name).rglob("*.*") if path.is_file())
    for path in [*(SOURCE / name for name in MADE_FROM), *sources]:
        digest.update(f"{path.relative_to(SOURCE).as_posix()}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def link(place: Path) -> None:
    """Let the Jupyter of this environment find what is built, as it is and as it will be built next."""
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.is_symlink() or place.is_file():
        place.unlink()
    elif place.is_dir():  # an installed copy
        shutil.rmtree(place)
    try:
        place.symlink_to(BUILT, target_is_directory=True)
    except OSError:  # Windows without the right to make links
        shutil.copytree(BUILT, place)


def check() -> int:
    """Format, lint, types and tests; the exit code of the first that fails."""
    for part in ("lint", "types", "test"):
        code = jlpm("run", part, check=False)
        if code:
            return code
    return 0


def jlpm(*arguments: str, check: bool = True) -> int:
    """JupyterLab's yarn, which finds `jupyter-builder` of this environment."""
    here = str(Path(sys.executable).parent)
    environment = {**os.environ, "PATH": os.pathsep.join([here, os.environ.get("PATH", "")])}
    command = [sys.executable, "-c", "from jupyter_builder.jlpm import main; main()", *arguments]
    return subprocess.run(command, cwd=SOURCE, env=environment, check=check, stdin=subprocess.DEVNULL).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
