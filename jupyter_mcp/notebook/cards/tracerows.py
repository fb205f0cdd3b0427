"""The rows of the live trace, and what stands below one that is opened. Pure, over what the journal shows (redacted).

A request with all that came of it is one row; its messages, and what HTTP did about it, are rows below.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

from jupyter_mcp.notebook.cards.copying import copied
from jupyter_mcp.notebook.objects.trace import said
from jupyter_mcp.notebook.render import html
from jupyter_mcp.notebook.render.text import cut, flat, portable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jupyter_mcp.host.journal import WireEntry
    from jupyter_mcp.host.journal.exchanges import Exchange

__all__ = ["as_json", "detail", "heading", "moment", "row_below", "row_of", "took"]

MAX_JSON = 20_000  # characters of a message that are drawn
_OPEN = 4  # messages below a row that are unfolded at once
_ARROWS = {"send": "→", "receive": "←"}
_TONES = {"ok": "ok", "error": "error", "cancelled": "warn", "input_required": "info", "open": "info"}
_WORDS = {"input_required": "needs input", "open": "waiting"}


def row_of(exchange: Exchange) -> dict[str, Any]:
    """The row of an exchange, closed."""
    method = exchange.method if exchange.first.http is None and exchange.method else said(exchange.first)
    row: dict[str, Any] = {
        "id": f"x{exchange.number}",
        "what": f"{_ARROWS[exchange.direction]} {portable(flat(method, 120))}",
        "target": portable(flat(exchange.target, 200)),
        "server": flat(exchange.server, 60),
        "took": took(exchange.duration),
        "era": exchange.era or "",
        "at": moment(exchange.time),
        "badges": _badges(exchange),
        "marks": [f"{exchange.rounds} rounds"] if exchange.rounds > 1 else [],
    }
    return {**row, "expandable": True, "open": False} if len(exchange.entries) > 1 else row


def row_below(entry: WireEntry) -> dict[str, Any]:
    """The row of one message of an exchange."""
    return {
        "id": f"m{entry.number}",
        "depth": 1,
        "what": f"{_ARROWS[entry.direction]} {portable(flat(said(entry), 120))}",
        "target": "" if entry.http is None else portable(flat(entry.http.text, 200)),
        "server": "",
        "took": f"{entry.size:,} B" if entry.size else "",
        "era": "",
        "at": moment(entry.time),
        "badges": [],
    }


def _badges(exchange: Exchange) -> list[dict[str, str]]:
    status = exchange.status
    if status is None:
        return []
    listens = status == "open" and exchange.method == "subscriptions/listen"  # it is answered when it ends
    return [{"text": "listening" if listens else _WORDS.get(status, status), "tone": _TONES.get(status, "")}]


def moment(time: float) -> str:
    """A time of day to the millisecond."""
    return datetime.fromtimestamp(time).strftime("%H:%M:%S.%f")[:-3]


def took(seconds: float | None) -> str:
    """A duration as a person reads it; "" when there is none."""
    if seconds is None:
        return ""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms" if seconds >= 0.001 else "< 1 ms"
    return f"{seconds:.2f} s" if seconds < 60 else f"{seconds / 60:.1f} min"


# --- below a row -----------------------------------------------------------------------------------------------------


def heading(exchange: Exchange) -> str:
    """A line about an exchange."""
    method = exchange.method or said(exchange.first)
    parts = [exchange.server, exchange.status or "", took(exchange.duration), exchange.era or ""]
    if exchange.rounds > 1:
        parts.append(f"{exchange.rounds} rounds")
    sizes = [f"{size:,} B {way}" for size, way in ((exchange.sent, "sent"), (exchange.received, "received")) if size]
    told = " · ".join(flat(part, 60) for part in (*parts, *sizes) if part)
    return f"{flat(method, 120)} {flat(exchange.target, 200)}".strip() + f" · {told}"


def detail(entries: Sequence[WireEntry]) -> str:
    """The messages as JSON, each with a button that copies it; safe HTML."""
    return "".join(_fold(entry, at < _OPEN) for at, entry in enumerate(entries))


def _fold(entry: WireEntry, opened: bool) -> str:
    words = f"{_ARROWS[entry.direction]} {flat(said(entry), 120)}"
    told = " · ".join(part for part in (moment(entry.time), f"{entry.size:,} B" if entry.size else "") if part)
    short = "; it was too big to be kept whole" if entry.summary else ""
    head = f"{html.escape(words)} {html.muted(html.escape(f'{told}{short}'))}"
    return html.details(head, copied("", cut(as_json(entry.message), MAX_JSON), words), open_=opened)


def as_json(message: Mapping[str, Any]) -> str:
    """A message as text to read."""
    return json.dumps(message, indent=2, ensure_ascii=False, default=str)
