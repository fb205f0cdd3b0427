"""What the benchmark found, as rows: ratios, bars, a table in text, and JSON."""

from __future__ import annotations

import platform
from dataclasses import dataclass, field
from typing import Any

LIMIT = "limit"  # the key of a bar that is no ratio but a number for ours alone


@dataclass
class Row:
    """One number, ours and everybody else's.

    Attributes:
        ours, peers, raw: this project's, other projects' by name, and that of the floor written by hand.
        better: "less" or "more".
        bars: what is wanted: by the name of a peer, or "raw", the ratio ours / theirs; by "limit" ours itself.
    """

    name: str
    unit: str
    ours: float
    peers: dict[str, float] = field(default_factory=dict[str, float])
    raw: float | None = None
    better: str = "less"
    bars: dict[str, float] = field(default_factory=dict[str, float])

    def ratios(self) -> dict[str, float]:
        """Ours divided by each other value that there is."""
        others = {**self.peers, **({"raw": self.raw} if self.raw is not None else {})}
        return {name: self.ours / value for name, value in others.items() if value}

    def missed(self) -> list[str]:
        """The bars that are not met; one whose peer was not measured is not counted."""
        found = {**self.ratios(), LIMIT: self.ours}
        over = {name: bar for name, bar in self.bars.items() if name in found}
        more = self.better == "more"
        return [name for name, bar in over.items() if (found[name] < bar if more else found[name] > bar)]

    def wanted(self) -> str:
        """The bars in words, each with how it went."""
        sign, missed = (">=" if self.better == "more" else "<="), self.missed()

        def one(name: str, bar: float) -> str:
            what = f"{sign} {bar:g} {self.unit}" if name == LIMIT else f"{sign} {bar:g}× {name}"
            return f"{what}{' MISSED' if name in missed else ''}"

        return ", ".join(one(name, bar) for name, bar in self.bars.items())


def table(rows: list[Row]) -> str:
    """The rows as text, a column for each competitor."""
    names = list(dict.fromkeys(name for row in rows for name in row.peers))
    head = ["what", "unit", "ours", *names, "raw", *(f"ours / {name}" for name in names), "ours / raw", "bar"]
    body = [head]
    for row in rows:
        ratios = row.ratios()
        values = [row.ours, *(row.peers.get(name) for name in names), row.raw]
        shown = [figure(value) for value in values]
        compared = [figure(ratios.get(name), "×") for name in [*names, "raw"]]
        body.append([row.name, row.unit, *shown, *compared, row.wanted() or "-"])
    last = len(head) - 1
    widths = [max(len(line[column]) for line in body) for column in range(len(head))]
    return "\n".join(
        "  ".join(pad(cell, widths[n], 1 < n < last) for n, cell in enumerate(line)).rstrip() for line in body
    )


def figure(value: float | None, suffix: str = "") -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}{suffix}" if value >= 100 else f"{value:.3g}{suffix}"


def pad(text: str, width: int, right: bool) -> str:
    return text.rjust(width) if right else text.ljust(width)


def as_json(rows: list[Row]) -> dict[str, Any]:
    machine = {"python": platform.python_version(), "system": platform.system(), "machine": platform.machine()}
    keys = ("name", "unit", "better", "ours", "peers", "raw", "bars")
    return {
        "machine": machine,
        "rows": [
            {**{key: getattr(row, key) for key in keys}, "ratios": row.ratios(), "missed": row.missed()} for row in rows
        ],
    }
