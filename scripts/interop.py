"""Connect to every server of servers.toml, list, call and close it; print a table, write build/interop.json.

    python scripts/interop.py [NAME …]

`make interop` installs them all before. It ends with 1 when one of them did not go as its row says, which includes
one that is not installed. What a row is for and what is tried with it: tests/interop/servers.toml and rows.py.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import browser  # noqa: E402 - after the path

from tests.interop import programs  # noqa: E402
from tests.interop.rows import KINDS, Played, Row, play  # noqa: E402

OUT = ROOT / "build" / "interop.json"
HEAD = ("server", "transport", "era", "revision", "tools/resources/templates/prompts", "call", "seconds")
LONGEST = 110  # characters of a problem in the table; all of it is in the JSON and below the table


def main() -> int:
    table = programs.rows()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these rows")
    parser.add_argument("--out", type=Path, default=OUT, help="where the JSON goes")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in table]
    if unknown:
        parser.error(f"no such row in servers.toml: {', '.join(unknown)}")
    os.environ.setdefault("CHROMIUM", browser.find() or "")
    began = time.monotonic()
    found = [one(name, table) for name in options.names or table]
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(as_json(found), indent=1) + "\n", encoding="utf-8")
    print(shown(found))
    bad = [played for played in found if not played.ok]
    for played in bad:
        print(f"\n{played.name}: {played.problem}")
    print(f"\n{len(found) - len(bad)} servers went as they should, {len(bad)} did not", end="; ")
    print(f"{time.monotonic() - began:.0f} s. Written to {options.out}")
    return 1 if bad else 0


def one(name: str, table: dict[str, Row]) -> Played:
    print(f"{name} …", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(prefix="interop-", ignore_cleanup_errors=True) as work:
        return asyncio.run(play(name, table[name], programs.home(name, table), Path(work).resolve()))


def as_json(found: list[Played]) -> dict[str, Any]:
    return {"ok": all(one.ok for one in found), "servers": [one.as_json() for one in found]}


def shown(found: list[Played]) -> str:
    """The outcomes as a table in text."""
    lines = [list(HEAD), *(cells(one) for one in found)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD))]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in lines)


def cells(one: Played) -> list[str]:
    counts = "/".join(str(one.counts.get(kind, "-")) for kind in KINDS)
    problem = (one.problem or "").splitlines()
    outcome = one.call if one.ok else f"FAILED: {problem[0]}"[:LONGEST]
    era = one.era if one.after in ("", one.era) else f"{one.era}, then {one.after}"
    return [one.name, one.transport, era or "-", one.revision or "-", counts, outcome, f"{one.total:.1f}"]


if __name__ == "__main__":
    sys.exit(main())
