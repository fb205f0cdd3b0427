"""What may be set for one connection; values only."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from jupyter_mcp._version import __version__
from jupyter_mcp.protocol.secrets import redact

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

EraChoice = Literal["auto", "legacy", "modern"]


def _client_info() -> dict[str, Any]:
    return {"name": "jupyter-mcp", "title": "Jupyter MCP", "version": __version__}


@dataclass(frozen=True, slots=True)
class ConnectOptions:
    """How to connect and how patient to be. All times are in seconds.

    Attributes:
        era: "auto" finds out, "legacy" and "modern" insist.
        timeout: how long a request may stay without an answer or progress; stands still while a question is open.
        max_timeout: how long it may take in all, progress or not.
        startup_timeout: how long the server may take to answer `initialize`.
        probe_timeout: how long it may take to answer `server/discover` before `initialize` is tried.
        client_info: who we say we are (an Implementation).
        max_rounds: so many input_required answers to one request are followed.
        max_pages: so many pages of one list are read.
        heartbeat: how long a connection may be idle before the server is asked for a sign of life; 0 is never.
        clean: masks what is secret in names and URIs that go into spans (see `spans`).
    """

    era: EraChoice = "auto"
    timeout: float = 60.0
    max_timeout: float = 1800.0
    startup_timeout: float = 60.0
    probe_timeout: float = 3.0
    client_info: Mapping[str, Any] = field(default_factory=_client_info)
    max_rounds: int = 10
    max_pages: int = 200
    heartbeat: float = 60.0
    clean: Callable[[str], str] = redact
