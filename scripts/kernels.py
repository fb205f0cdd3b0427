"""Install the ipykernel versions the tests run against into build/kernels/<version>.

Each is installed alone (`pip --no-deps --target`); a kernel started with that folder on PYTHONPATH uses it instead of
the one in the environment. Quick when they are there already. `python scripts/kernels.py [VERSION …]`.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "build" / "kernels"
VERSIONS = ("6.29.5", "6.31.0", "7.0.1", "7.2.0", "7.3.0")


def installed(version: str) -> bool:
    """Whether that version is there, whole (its metadata is written last)."""
    return (FOLDER / version / f"ipykernel-{version}.dist-info" / "RECORD").is_file()


def install(version: str) -> None:
    """Install one version beside the others, under its final name only when it is complete."""
    target, unfinished = FOLDER / version, FOLDER / f".{version}"
    for folder in (target, unfinished):
        shutil.rmtree(folder, ignore_errors=True)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*command, "--target", str(unfinished), f"ipykernel=={version}"], check=True)
    unfinished.rename(target)


def main(versions: list[str]) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for version in versions or VERSIONS:
        if not installed(version):
            print(f"ipykernel {version} -> {(FOLDER / version).relative_to(FOLDER.parents[1])}")
            install(version)


if __name__ == "__main__":
    main(sys.argv[1:])
