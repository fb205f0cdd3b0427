"""Find a Chrome or Chromium for the tests that open a page; with --install, get Debian's where there is none.

Looks at $CHROMIUM, then at the usual names on PATH, then at macOS's applications. Prints the path, or
why there is none. It ends with 0 either way: without a browser the tests in a page skip, and say so. They
import `find` from here.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
APPLICATIONS = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
APT_LIMIT = 900.0  # seconds for each apt command


def find() -> str | None:
    """Path of a browser, or None. A $CHROMIUM that does not exist is an error, not a reason to take another one."""
    named = os.environ.get("CHROMIUM")
    if named:
        found = shutil.which(named)
        if found is None:
            raise SystemExit(f"$CHROMIUM names {named!r}, which is not a program")
        return found
    on_path = (shutil.which(name) for name in NAMES)
    return next((path for path in on_path if path), None) or next((p for p in APPLICATIONS if Path(p).exists()), None)


def install() -> str | None:
    """Debian's Chromium by apt, when we may; None, with the reason on stdout, when not."""
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0:
        print("no Chrome or Chromium, and no way to install one (not root, or no apt)")
        return None
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    commands = (
        [apt, "-q", "update"],
        [apt, "-q", "-y", "install", "--no-install-recommends", "chromium", "fonts-dejavu-core", "bubblewrap"],
    )
    for command in commands:
        print("running", " ".join(command), flush=True)
        done = subprocess.run(command, env=environment, check=False, timeout=APT_LIMIT, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            print(f"{' '.join(command)} ended with {done.returncode}")
            return None
    return find()


def main() -> None:
    path = find() or (install() if "--install" in sys.argv[1:] else None)
    print(f"browser: {path}" if path else "browser: none; the tests in a page will be skipped (set CHROMIUM=…)")


if __name__ == "__main__":
    main()
